/**
 * JSON text inside a body, for arguments whose bytes must survive (`1.0`, integers over 2^53, the order of keys). Whoever prints a body
 * with `JSON.stringify` sends the same value; whoever prints it with `printBody`, the same bytes.
 */
import type { Json, JsonObject } from "../core/nouns.ts";

class RawJson {
  readonly #text: string;
  readonly #value: Json;

  constructor(text: string, value: Json) {
    this.#text = text;
    this.#value = value;
  }
  get text(): string {
    return this.#text;
  }
  toJSON(): Json {
    return this.#value;
  }
}

/** A call's arguments as a value of a body: the object, or its text where printing the object would change it. */
export function argumentsValue(call: { arguments: JsonObject; json?: string | undefined }): JsonObject {
  if (call.json === undefined || call.json === JSON.stringify(call.arguments)) return call.arguments;
  return new RawJson(call.json, call.arguments) as unknown as JsonObject;
}

export function printBody(body: unknown): string {
  const texts: string[] = [];
  // A string of the body might look like the mark; then there are more marks than texts, and another one is tried.
  for (let n = 0; ; n++) {
    const mark = `\u0001${n}\u0001`;
    texts.length = 0;
    const printed = JSON.stringify(body, function (this: Record<string, unknown>, key, value: unknown) {
      const given = this[key];
      if (!(given instanceof RawJson)) return value;
      texts.push(given.text);
      return mark;
    });
    if (texts.length === 0) return printed;
    const pieces = printed.split(JSON.stringify(mark));
    if (pieces.length === texts.length + 1) return pieces.map((piece, i) => piece + (texts[i] ?? "")).join("");
  }
}
