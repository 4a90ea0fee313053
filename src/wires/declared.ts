/** Tools as OpenAI has them, a list or a whole request; or the bare function objects. For people who have them in a file, or type them. */
import { isObject } from "../core/json.ts";
import type { Tool } from "../core/nouns.ts";
import { getWire } from "./registry.ts";

/** Throws if it is neither; `BadRequest` where a tool is none. */
export function declaredTools(json: unknown): Tool[] {
  const tools = isObject(json) && "tools" in json ? json.tools : json;
  if (!Array.isArray(tools)) throw new Error('must be a list of tools, or a request with "tools"');
  const body = { messages: [{ role: "user", content: "" }], tools };
  return getWire("openai-chat").decodeRequest({ path: "/v1/chat/completions", query: {}, headers: {}, body }).tools ?? [];
}
