/** Names the common mistakes in requests that were written by hand with another API in mind, before something breaks on them. */
import type { Json, JsonObject, Request } from "./nouns.ts";

export function checkText(text: unknown): void {
  if (typeof text !== "string") throw new TypeError("expected text: decode bytes with a TextDecoderStream");
}

const ROLES = ["system", "developer", "user", "assistant", "tool"];
const PARTS = ["text", "media", "thinking", "tool-call", "malformed"];

export function checkRequest({ messages, tools = [] }: Request): void {
  if (!Array.isArray(messages)) throw new TypeError("messages must be a list");
  for (const [i, message] of messages.entries()) {
    const at = `messages[${i}]`;
    if (!ROLES.includes(message.role)) throw new TypeError(`${at}.role must be one of ${ROLES.join(", ")}`);
    if (message.role === "tool") {
      if (message.output === undefined) throw new TypeError(`${at} must be { role: "tool", id, name, output }`);
      continue;
    }
    if (!Array.isArray(message.content)) throw new TypeError(`${at}.content must be a list like [{ type: "text", text }]`);
    const other = message.content.findIndex((part) => !PARTS.includes(part?.type));
    if (other >= 0) throw new TypeError(`${at}.content[${other}].type must be one of ${PARTS.join(", ")}`);
  }
  checkTools(tools);
}

export function checkTools(tools: Request["tools"] | readonly unknown[]): void {
  if (!Array.isArray(tools)) throw new TypeError("tools must be a list");
  const other = tools.findIndex((tool) => typeof tool?.name !== "string");
  if (other >= 0) throw new TypeError(`tools[${other}] must be like { name, description, parameters }`);
}

/** No real value nests deeper, and walking one that does would exhaust the stack. */
export const MAX_DEPTH = 512;

/** Loops, because a callback takes three times as long. */
export function deeperThan(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (levels === 0 || deeperThan(item, levels - 1)) return true;
  } else for (const key in value) if (levels === 0 || deeperThan((value as JsonObject)[key]!, levels - 1)) return true;
  return false;
}

/** Nouns hold the values of a request a few levels deeper than its body did. */
export function checkDepth(nouns: unknown): void {
  if (deeperThan(nouns as Json, 2 * MAX_DEPTH)) throw new TypeError(`values must not nest deeper than ${2 * MAX_DEPTH} levels`);
}
