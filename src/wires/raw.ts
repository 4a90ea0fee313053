/**
 * JSON text inside a body, for arguments whose bytes must survive (`1.0`, integers over 2^53, the order of keys). Whoever prints a body
 * with `JSON.stringify` sends the same value; whoever prints it with `printBody`, the same bytes.
 */
import type { Json, JsonObject } from "../core/nouns.ts";

/** The texts that are being printed, and what stands for each of them meanwhile. */
let printing: { readonly texts: string[]; readonly mark: string } | undefined;

class RawJson {
  readonly #text: string;
  readonly #value: Json;

  constructor(text: string, value: Json) {
    this.#text = text;
    this.#value = value;
  }
  toJSON(): Json {
    printing?.texts.push(this.#text);
    return printing?.mark ?? this.#value;
  }
}

/** JSON text without line ends, which can only stand between two values: a body may have to be one line. */
export const oneLine = (json: string): string => json.replace(/\s*[\r\n]\s*/g, "");

/** A call's arguments as a value of a body: the object, or its text where printing the object would change it. */
export const argumentsValue = (call: { arguments: JsonObject; json?: string | undefined }): JsonObject | RawJson =>
  call.json === undefined || call.json === JSON.stringify(call.arguments)
    ? call.arguments
    : new RawJson(oneLine(call.json), call.arguments);

export function printBody(body: unknown): string {
  // A string of the body might look like the mark; then there are more marks than texts, and another one is tried.
  for (let n = 0; ; n++) {
    const [texts, mark]: [string[], string] = [[], `\u0001${n}\u0001`];
    printing = { texts, mark };
    let printed: string;
    try {
      printed = JSON.stringify(body);
    } finally {
      printing = undefined;
    }
    if (texts.length === 0) return printed;
    const pieces = printed.split(JSON.stringify(mark));
    if (pieces.length === texts.length + 1) return pieces.map((piece, i) => piece + (texts[i] ?? "")).join("");
  }
}
