/**
 * Counts the tokens of a chat with the server's own tokenizer, including what the model's template adds.
 *
 *     vLLM, SGLang   POST /tokenize {"model", "messages", "tools"} -> {"count": 42}
 *     llama-server   POST /apply-template {"model", "messages", "tools"} -> {"prompt"}, then POST /tokenize {"model", "content"} -> {"tokens": […]}
 */
import type { Json, JsonObject } from "../core/nouns.ts";
import type { CallOptions, ServerId } from "./engine.ts";
import type { HttpServer } from "./http/http.ts";

/** `chat`: the body of a request for chat completions. `undefined`: this server does not count. */
export async function countOnServer(
  http: HttpServer,
  server: ServerId,
  chat: JsonObject,
  options: CallOptions,
): Promise<number | undefined> {
  const { messages = [], tools } = chat;
  const model: JsonObject = chat.model === undefined ? {} : { model: chat.model }; // servers with several models need it in every request
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

/** The server's answer; empty if it does not know the path. */
async function post(http: HttpServer, path: string, body: JsonObject, options: CallOptions): Promise<{ [key: string]: Json }> {
  const { status, text } = await http.brief("POST", path, { ...options, body: JSON.stringify(body) });
  return status === 200 ? (JSON.parse(text) as { [key: string]: Json }) : {};
}
