/** Reads tools that a user has in a file or types in: OpenAI's tools, as a list or inside a request, or bare function objects. */
import { isObject } from "../core/json.ts";
import type { Tool } from "../core/nouns.ts";
import { getWire } from "./registry.ts";

/** Throws an `Error` if there is no list of tools, and a `BadRequest` if an element is not a tool. */
export function declaredTools(json: unknown): Tool[] {
  const tools = isObject(json) && "tools" in json ? json.tools : json;
  if (!Array.isArray(tools)) throw new Error('must be a list of tools, or a request with "tools"');
  const body = { messages: [{ role: "user", content: "" }], tools };
  return getWire("openai-chat").decodeRequest({ path: "/v1/chat/completions", query: {}, headers: {}, body }).tools ?? [];
}
