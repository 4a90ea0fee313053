/** Names the common mistakes in requests that were written by hand with another API in mind, before something breaks on them. */
import type { Request } from "./nouns.ts";

export function checkText(text: unknown): void {
  if (typeof text !== "string") throw new TypeError("expected text: decode bytes with a TextDecoderStream");
}

const ROLES = ["system", "developer", "user", "assistant", "tool"];

export function checkRequest({ messages, tools = [] }: Request): void {
  if (!Array.isArray(messages)) throw new TypeError("messages must be a list");
  for (const [i, message] of messages.entries()) {
    const at = `messages[${i}]`;
    if (!ROLES.includes(message.role)) throw new TypeError(`${at}.role must be one of ${ROLES.join(", ")}`);
    if (message.role === "tool") {
      if (message.output === undefined) throw new TypeError(`${at} must be { role: "tool", id, name, output }`);
    } else if (!Array.isArray(message.content)) throw new TypeError(`${at}.content must be a list like [{ type: "text", text }]`);
  }
  for (const [i, { name }] of tools.entries())
    if (typeof name !== "string") throw new TypeError(`tools[${i}] must be like { name, description, parameters }`);
}
