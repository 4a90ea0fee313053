// llama-server, vLLM, SGLang and Ollama as far as an engine needs them (their sources of August 2026), with a real tokenizer: they know
// which ids are control tokens, and write those only on request.
import type { JsonObject } from "../../../src/core/nouns.ts";
import type { Dialect } from "../../../src/dialects/dialect.ts";
import { listDialects } from "../../../src/dialects/registry.ts";
import type { ServerId } from "../../../src/engines/engine.ts";
import { bpeVocabulary, type Vocabulary } from "../../dialects/tokenizers.ts";
import { type Seen, startServer, type TestServer } from "../../servers.ts";

export interface Completion {
  /** The output, in the pieces in which it is sent. */
  text: readonly string[];
  end?: "stop" | "length";
  /** The string at which it stopped. */
  word?: string;
}

export interface FakeOptions {
  template?: string;
  model?: string;
  context?: number;
  /** Without `/tokenize`. */
  mute?: boolean;
  /** The name of a model for which `/tokenize` answers 404, as vLLM does for one that it does not have. */
  unknown?: string;
  /** The tokenizer normalizes text, and so finds control tokens in full-width characters, too. */
  normalizes?: boolean;
  /** A llama-server with several models, which loads a model when it is used. */
  router?: boolean;
}

export interface Fake extends TestServer {
  /** The bodies of the completion requests, in order. */
  asked: (JsonObject & { prompt: string | number[] })[];
  /** How many texts were tokenized. */
  tokenized: number;
  /** Added to each id, to simulate another vocabulary. */
  shift: number;
  /** The models that a router has loaded. */
  loaded: string[];
}

const BOS = "<|begin_of_text|>";

export async function startFake(
  id: ServerId,
  answer: (body: JsonObject) => Completion,
  { template = "", model = "some-model", context = 8192, mute = false, unknown, normalizes = false, router = false }: FakeOptions = {},
): Promise<Fake> {
  const bos = vocabulary.idOf(BOS)!;
  const idsOf = (text: string, special: boolean): number[] => (special ? vocabulary.whole(text) : vocabulary.plain(text, true));
  const server = (await startServer((response, seen) => {
    const json = (body: unknown, status = 200): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    const body = (seen.body === "" ? {} : JSON.parse(seen.body)) as JsonObject;
    const path = seen.url.split("?")[0]!;
    if (router && path !== "/v1/models") {
      const query = new URL(seen.url, "http://x").searchParams;
      const name = String((seen.method === "POST" ? body.model : query.get("model")) ?? "");
      if (name === "" && path === "/props") return json({ role: "router", default_generation_settings: { params: {}, n_ctx: 0 } });
      const refuse = (message: string) => json({ error: { code: 400, message, type: "invalid_request_error" } }, 400);
      if (name === "") return refuse("model name is missing from the request");
      if (name !== model) return refuse(`model '${name}' not found`);
      if (!server.loaded.includes(name) && query.get("autoload") === "false") return refuse("model is not loaded");
      if (!server.loaded.includes(name)) server.loaded.push(name);
    }
    if (path === "/tokenize" && !mute && (unknown === undefined || body.model !== unknown) && id !== "ollama") {
      server.tokenized++;
      const given = String(body.content ?? body.prompt);
      if (/\p{Surrogate}/u.test(given)) return json({ error: { code: 500, message: "surrogates not allowed" } }, 500); // as Python does
      const text = normalizes ? given.normalize("NFKC") : given;
      const special = id !== "llama-server" || body.parse_special === true;
      const first = (body.add_special ?? body.add_special_tokens) ? [bos] : [];
      const tokens = [...first, ...idsOf(text, special)].map((token) => token + server.shift);
      const length = { vllm: context, sglang: 1e30 }[id as string]; // SGLang reports what the tokenizer file says
      return json({ tokens, ...(length === undefined ? {} : { count: tokens.length, max_model_len: length }) });
    }
    const about = ABOUT[id][path];
    if (about) return json(about({ template, model, context }));
    if (path === PATHS[id]) {
      server.asked.push(body as Fake["asked"][number]);
      const wrong = REFUSALS[id]?.(body);
      if (wrong !== undefined) return json({ error: { code: 400, message: wrong, type: "invalid_request_error" } }, 400);
      const { text: said, end = "stop", word } = answer(body);
      const text = said.map((piece) => hidden(id, body).reduce((rest, token) => rest.replaceAll(token, ""), piece));
      const stops = ((id === "ollama" ? (body.options as JsonObject).stop : body.stop) ?? []) as string[];
      const written = STREAMS[id](upTo(stops, text), { end, word, prompt: Array.isArray(body.prompt) ? body.prompt.length : 7, model });
      response.writeHead(200, { "content-type": id === "ollama" ? "application/x-ndjson" : "text/event-stream" });
      for (const piece of written) response.write(piece);
      response.end();
      return undefined;
    }
    return json({ error: "not found" }, 404);
  })) as Fake;
  return Object.assign(server, { asked: [], tokenized: 0, shift: 0, loaded: [] });
}

type Facts = { template: string; model: string; context: number };
const models = ({ model, context }: Facts, owner = "somebody") => ({
  object: "list",
  data: [{ id: model, object: "model", owned_by: owner, max_model_len: context }],
});

const ABOUT: Readonly<Record<ServerId, Readonly<Record<string, (facts: Facts) => unknown>>>> = {
  "llama-server": {
    "/props": ({ template, model, context }) => ({
      default_generation_settings: { params: {}, n_ctx: context },
      chat_template: template,
      model_path: `/m/${model}.gguf`,
    }),
    "/v1/models": models,
  },
  vllm: { "/version": () => ({ version: "0.20.0" }), "/v1/models": (facts) => models(facts, "vllm") },
  sglang: { "/model_info": ({ model }) => ({ model_path: `org/${model}` }), "/v1/models": models },
  ollama: {
    "/api/version": () => ({ version: "0.20.0" }),
    "/api/tags": ({ model }) => ({ models: [{ name: model, model }] }),
    "/api/show": ({ template, context }) => ({ template, capabilities: ["completion"], model_info: { "x.context_length": context } }),
  },
};

/** The text up to the first stop string. */
function upTo(stops: readonly string[], text: readonly string[]): string[] {
  const all = text.join("");
  const end = Math.min(all.length, ...stops.map((stop) => all.indexOf(stop)).filter((at) => at >= 0));
  let from = 0;
  return text.flatMap((piece) => {
    const kept = piece.slice(0, Math.max(0, end - from));
    from += piece.length;
    return kept === "" ? [] : [kept];
  });
}

/** The control tokens that it removes from its output. */
function hidden(id: ServerId, { skip_special_tokens, preserved_tokens = [] }: JsonObject): readonly string[] {
  if (id === "llama-server") return CONTROLS.filter((token) => !(preserved_tokens as string[]).includes(token));
  return id === "ollama" || skip_special_tokens === false ? [] : CONTROLS;
}

/** The error for a request that it does not accept. */
const REFUSALS: Readonly<Partial<Record<ServerId, (body: JsonObject) => string | undefined>>> = {
  "llama-server": ({ grammar_lazy, grammar_triggers = [], preserved_tokens = [] }) => {
    const triggers = grammar_triggers as { type: number; value: string }[];
    if (grammar_lazy && triggers.length === 0) return "Error: no triggers set for lazy grammar!";
    const lost = triggers.find(
      ({ type, value }) => type === 1 && CONTROLS.includes(value) && !(preserved_tokens as string[]).includes(value),
    );
    return lost && `Grammar trigger word should be marked as preserved token: ${lost.value}`;
  },
  vllm: ({ prompt, max_tokens, stop = [] }) => {
    if ((stop as string[]).length > 4) return "stop: List should have at most 4 items after validation";
    return typeof max_tokens === "number" && prompt !== undefined ? undefined : "it would stop after 16 tokens";
  },
  sglang: ({ max_tokens }) => (Number.isSafeInteger(max_tokens) ? undefined : "max_tokens: Input should be a valid integer"),
};

const PATHS: Readonly<Record<ServerId, string>> = {
  "llama-server": "/completion",
  vllm: "/v1/completions",
  sglang: "/v1/completions",
  ollama: "/api/generate",
};

interface End {
  end: "stop" | "length";
  word: string | undefined;
  prompt: number;
  model: string;
}

const data = (value: unknown): string => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;

function openaiStream(word: "stop_reason" | "matched_stop") {
  return (text: readonly string[], { end, word: stop, prompt, model }: End): string[] => {
    const head = { id: "cmpl-1", object: "text_completion", created: 1, model };
    const chunk = (choice: object) => data({ ...head, choices: [{ index: 0, logprobs: null, ...choice }], usage: null });
    return [
      ...text.map((piece) => chunk({ text: piece, finish_reason: null })),
      chunk({ text: "", finish_reason: end, [word]: stop ?? null }),
      data({ ...head, choices: [], usage: { prompt_tokens: prompt, completion_tokens: text.length } }),
      data("[DONE]"),
    ];
  };
}

const STREAMS: Readonly<Record<ServerId, (text: readonly string[], end: End) => string[]>> = {
  "llama-server": (text, { end, word, prompt, model }) => [
    ...text.map((content, n) =>
      data({ index: 0, content, tokens: [], stop: false, id_slot: 0, tokens_predicted: n + 1, tokens_evaluated: prompt }),
    ),
    data({
      index: 0,
      content: "",
      tokens: [],
      id_slot: 0,
      stop: true,
      model,
      truncated: false,
      stop_type: end === "length" ? "limit" : word ? "word" : "eos",
      stopping_word: word ?? "",
      tokens_evaluated: prompt,
      tokens_predicted: text.length,
      timings: { cache_n: 3 },
    }),
  ],
  vllm: openaiStream("stop_reason"),
  sglang: openaiStream("matched_stop"),
  ollama: (text, { end, prompt, model }) => [
    ...text.map((response) => `${JSON.stringify({ model, response, done: false })}\n`),
    `${JSON.stringify({ model, response: "", done: true, done_reason: end, prompt_eval_count: prompt, eval_count: text.length })}\n`,
  ],
};

/** All control tokens that occur in a dialect's prompts and outputs. */
export function controlsOf(dialect: Dialect): string[] {
  const tools = [{ name: "f", parameters: { type: "object", properties: { a: { type: "string" } } } }];
  const call = { id: "functions.f:0", name: "f", arguments: { a: "b" } };
  const prompts = dialect.variants.map((variant) =>
    dialect.render(
      {
        model: "m",
        tools,
        messages: [
          { role: "system", content: [{ type: "text", text: "s" }] },
          { role: "user", content: [{ type: "text", text: "u" }] },
          {
            role: "assistant",
            content: [
              { type: "thinking", text: "t" },
              { type: "tool-call", ...call },
            ],
          },
          { role: "tool", id: call.id, name: "f", output: "r" },
        ],
      },
      { variant },
    ),
  );
  const written = prompts.flat().flatMap(({ text, control }) => (control ? [text] : []));
  return [...new Set([...written, ...(dialect.grammar?.(tools, "auto").preserved ?? []), ...dialect.stops])];
}

/** Shared, since it is large: it has the control tokens of every dialect. */
const CONTROLS = [...new Set(listDialects().flatMap(controlsOf))].toSorted((a, b) => b.length - a.length);
export const vocabulary: Vocabulary = bpeVocabulary(CONTROLS);

export const sentTo = (seen: readonly Seen[], path: string): Seen[] => seen.filter(({ url }) => url.split("?")[0] === path);
