/**
 * Identifies the server of open models at a URL, and asks it about a model:
 *
 *     GET /props -> { "chat_template": "{% for …", "model_path": "/models/qwen3.gguf", "default_generation_settings": { "n_ctx": 8192 } }
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject } from "../core/nouns.ts";
import { listOf, objectOf, parsed } from "../wires/read.ts";
import type { About, CallOptions, ServerId } from "./engine.ts";
import { ASIDE_MS, type HttpServer } from "./http/http.ts";

/**
 * Each server is identified by something that only it has. TabbyAPI and KoboldCpp have `/props`, too, but with no setting other than the
 * context size; TensorRT-LLM and LocalAI have vLLM's `/version`.
 */
const SERVERS: readonly { id: ServerId; path: string; answers: (body: JsonObject) => boolean }[] = [
  {
    id: "llama-server",
    path: "/props",
    answers: ({ default_generation_settings: settings }) => isObject(settings) && ("params" in settings || "temperature" in settings), // the latter until 2025
  },
  { id: "ollama", path: "/api/version", answers: ({ version }) => typeof version === "string" },
  { id: "sglang", path: "/model_info", answers: ({ model_path }) => typeof model_path === "string" },
  { id: "sglang", path: "/get_model_info", answers: ({ model_path }) => typeof model_path === "string" }, // its former name
  { id: "vllm", path: "/v1/models", answers: ({ data }) => listOf(data).some((model) => OF_VLLM.test(String(objectOf(model).owned_by))) },
];
/** The `owned_by` of vLLM's models, and of Aphrodite's, which is based on vLLM. */
const OF_VLLM = /^(?:vllm|pygmalionai)/;

export async function identify(http: HttpServer, options: CallOptions = {}): Promise<ServerId | undefined> {
  const bodies = await Promise.all(SERVERS.map(({ path }) => lookUp(http, "GET", path, options)));
  return SERVERS.find(({ answers }, i) => answers(bodies[i] ?? {}))?.id;
}

/** Never throws: what a server does not report is left out. An unknown server is asked for llama-server's `/props`. */
export async function aboutModel(http: HttpServer, server: ServerId | undefined, model: string, options: CallOptions = {}): Promise<About> {
  return { ...(server && { server }), ...(await READERS[server ?? "llama-server"](http, model, options)) };
}

type Reader = (http: HttpServer, model: string, options: CallOptions) => Promise<Omit<About, "server">>;

const READERS: Readonly<Record<ServerId, Reader>> = {
  "llama-server": async (http, model, options) => {
    // Without `autoload=false`, a server with several models would load this one, and perhaps unload another.
    const props = await lookUp(http, "GET", `/props?model=${encodeURIComponent(model)}&autoload=false`, options);
    const settings = objectOf(props?.default_generation_settings);
    return {
      names: textsOf(props?.model_alias, props?.model_path),
      template: textsOf(props?.chat_template)[0],
      context: positive(settings.n_ctx),
      vision: objectOf(props?.modalities).vision === true,
    };
  },
  ollama: async (http, model, options) => {
    const shown = await lookUp(http, "POST", "/api/show", options, { model });
    const info = objectOf(shown?.model_info);
    const length = Object.entries(info).find(([key]) => key.endsWith(".context_length"))?.[1];
    // The model's own template is more precise than Ollama's translation of it.
    return { template: textsOf(info["tokenizer.chat_template"], shown?.template)[0], context: positive(length) };
  },
  vllm: listed,
  sglang: async (http, model, options) => {
    const list = await listed(http, model, options);
    const info = (await lookUp(http, "GET", "/model_info", options)) ?? (await lookUp(http, "GET", "/get_model_info", options));
    return { ...list, names: [...(list.names ?? []), ...textsOf(info?.model_path)] };
  },
};

async function listed(http: HttpServer, model: string, options: CallOptions): Promise<Omit<About, "server">> {
  const body = await lookUp(http, "GET", "/v1/models", options);
  const models = Array.isArray(body?.data) ? (body.data as Json[]).filter(isObject) : [];
  const found = models.find(({ id }) => id === model) ?? (models.length === 1 ? models[0] : undefined);
  return { names: textsOf(found?.id, found?.root), context: positive(found?.max_model_len) };
}

/** Without the tap: recordings keep the exchange itself, not its preparation. */
async function lookUp(
  http: HttpServer,
  method: "GET" | "POST",
  path: string,
  { headers, signal }: CallOptions,
  body?: JsonObject,
): Promise<JsonObject | undefined> {
  try {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const { status, text } = await http.brief(method, path, { headers, ...sent, signal }, ASIDE_MS);
    const value = parsed(text);
    return status === 200 && isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const positive = (value: Json | undefined): number | undefined => (typeof value === "number" && value > 0 ? value : undefined);
const textsOf = (...values: readonly (Json | undefined)[]): string[] =>
  values.filter((value): value is string => typeof value === "string" && value !== "");
