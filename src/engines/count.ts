/**
 * How many tokens a chat is for the model behind a server, counted by the server's own tokenizer: what the template adds is counted, too.
 *
 *     vLLM, SGLang   POST /tokenize {"model", "messages", "tools"} -> {"count": 42}
 *     llama-server   POST /apply-template {"model", "messages", "tools"} -> {"prompt"}, then POST /tokenize {"model", "content"} -> {"tokens": […]}
 */
import type { Json, JsonObject } from "../core/nouns.ts";
import type { CallOptions, ServerId } from "./engine.ts";
import type { HttpServer } from "./http.ts";

/** `chat`: the body of a request for chat completions. `undefined`: this server does not count. */
export async function countOnServer(
  http: HttpServer,
  server: ServerId,
  chat: JsonObject,
  options: CallOptions,
): Promise<number | undefined> {
  const { messages = [], tools } = chat;
  const model: JsonObject = chat.model === undefined ? {} : { model: chat.model }; // a server that has several needs it, whatever it is asked
  const asked: JsonObject = { ...model, messages, ...(tools === undefined ? {} : { tools }) };
  if (server === "vllm" || server === "sglang") {
    const { count } = await post(http, "/tokenize", asked, options);
    return typeof count === "number" ? count : undefined;
  }
  if (server !== "llama-server") return undefined;
  const { prompt } = await post(http, "/apply-template", asked, options);
  if (typeof prompt !== "string") return undefined;
  const { tokens } = await post(http, "/tokenize", { ...model, content: prompt, add_special: true, parse_special: true }, options);
  return Array.isArray(tokens) ? tokens.length : undefined;
}

/** What it answers; nothing, if it does not know the path. */
async function post(http: HttpServer, path: string, body: JsonObject, options: CallOptions): Promise<{ [key: string]: Json }> {
  const { status, text } = await http.brief("POST", path, { ...options, body: JSON.stringify(body) });
  return status === 200 ? (JSON.parse(text) as { [key: string]: Json }) : {};
}
