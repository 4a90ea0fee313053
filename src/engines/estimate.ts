/** A rough estimate of a request's tokens, for when no tokenizer can count them. */
import type { Request } from "../core/nouns.ts";

const BYTES_PER_TOKEN = 4;
/** The tokens of a message besides its text: its role and its delimiters. */
const PER_MESSAGE = 4;
/** An image takes a few hundred tokens, whatever its size in bytes. */
const PER_MEDIA = 300;

export function estimateTokens({ messages, tools = [], output }: Request): number {
  let [bytes, tokens] = [0, 0];
  const encoder = new TextEncoder();
  const add = (text: string): void => {
    bytes += encoder.encode(text).length;
  };
  const media = (list: readonly unknown[] = []): void => {
    tokens += list.length * PER_MEDIA;
  };
  for (const message of messages) {
    tokens += PER_MESSAGE;
    if (message.role === "tool") {
      add(typeof message.output === "string" ? message.output : JSON.stringify(message.output));
      media(message.media);
      continue;
    }
    for (const part of message.content) {
      if (part.type === "media") media([part]);
      else if (part.type === "tool-call") add(part.name + (part.json ?? JSON.stringify(part.arguments)));
      else add(part.type === "malformed" ? part.raw : part.text);
    }
  }
  for (const { name, description = "", parameters = {} } of tools) {
    tokens += PER_MESSAGE;
    add(name + description + JSON.stringify(parameters));
  }
  if (output?.schema) add(JSON.stringify(output.schema));
  return tokens + Math.ceil(bytes / BYTES_PER_TOKEN);
}
