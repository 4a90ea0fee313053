/**
 * JSON text inside a body, for arguments whose bytes must survive (`1.0`, integers over 2^53, the order of keys), and for numbers that a
 * double cannot hold, wherever they stand. Whoever prints a body with `JSON.stringify` sends the same value, as far as JavaScript has it;
 * whoever prints it with `printBody`, the same bytes.
 */
import { setOwn } from "../core/json.ts";
import type { Json, JsonObject } from "../core/nouns.ts";
import { keepNumbers, numbersOf, numberText } from "../core/numbers.ts";

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

// ---- Numbers

type Holder = JsonObject | readonly Json[];

/** A body without it has no number that a double cannot hold; few bodies have it. */
const LONG_NUMBER = /[:[,\s-]\d{16}/;
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[^\s,\]}]*/g;

/** `JSON.parse`, but numbers that would be printed otherwise remember how they were written: no engine of Node 20 tells it. */
export function parseBody(text: string): Json {
  const value = JSON.parse(text) as Json;
  if (!LONG_NUMBER.test(text)) return value;
  let n = 0;
  while (text.includes(`\\u0001${n}`)) n++;
  const mark = `\u0001${n}\u0001`;
  const found = new Map<Holder, Map<string, string>>();
  const tagged = text.replace(STRING_OR_NUMBER, (token) =>
    token[0] === '"' || String(Number(token)) === token ? token : JSON.stringify(mark + token),
  );
  const read = JSON.parse(tagged, function (this: Holder, key: string, item: Json) {
    if (typeof item !== "string" || !item.startsWith(mark)) return item;
    const number = item.slice(mark.length);
    found.set(this, (found.get(this) ?? new Map<string, string>()).set(key, number));
    return Number(number);
  }) as Json;
  for (const [holder, numbers] of found) keep(holder, numbers);
  return read;
}

/** The copy of an object, whose numbers are written as that one's were. */
export function withNumbersOf<T extends JsonObject>(holder: JsonObject, copy: T): T {
  const numbers = numbersOf(holder);
  if (numbers && copy !== holder) keep(copy, numbers);
  return copy;
}

function keep(holder: Holder, numbers: ReadonlyMap<string, string>): void {
  keepNumbers(holder, numbers);
  if (!Object.hasOwn(holder, "toJSON")) Object.defineProperty(holder, "toJSON", { value: asWritten });
}

function asWritten(this: Holder): unknown {
  if (!printing) return this;
  const copy = Array.isArray(this) ? [...this] : { ...this };
  for (const [key, value] of Object.entries(this)) {
    const text = numberText(this, key, value);
    if (text) setOwn(copy as { [key: string]: unknown }, key, new RawJson(text, value));
  }
  return copy;
}

// ---- Arguments

/** JSON text without line ends, which can only stand between two values: a body may have to be one line. Blanks before one stay: to look for those first would be quadratic. */
export const oneLine = (json: string): string => json.replace(/[\r\n]\s*/g, "");

/** A call's arguments as a value of a body: the object, or its text where printing the object would change it. */
export const argumentsValue = (call: { arguments: JsonObject; json?: string | undefined }): JsonObject | RawJson =>
  call.json === undefined || call.json === JSON.stringify(call.arguments)
    ? call.arguments
    : new RawJson(oneLine(call.json), call.arguments);

// ---- Printing

/** Not every reader takes these for letters: Python's clients end a line there, and gemini-cli gives up. */
export const withoutSeparators = (json: string): string =>
  /[\u2028\u2029]/.test(json) ? json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029") : json;

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
