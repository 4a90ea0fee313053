/**
 * Embeds JSON text in a body, for arguments whose bytes must survive (`1.0`, integers over 2^53, the order of keys) and for numbers that a
 * double cannot hold. `printBody` prints such a body with the same bytes; `JSON.stringify` prints the values as JavaScript has them.
 */
import { deeperThan, MAX_DEPTH } from "../core/check.ts";
import { setOwn } from "../core/json.ts";
import type { Json, JsonObject } from "../core/nouns.ts";
import { keepNumbers, numbersOf, numberText } from "../core/numbers.ts";
import { stringEnd, valueEnd } from "./json-text.ts";
import { isList, isText } from "./read.ts";

let mark: string | undefined;
/** A placeholder for JSON text while a body is printed, and a mark for numbers while it is read. Random, so that no body can contain it. */
export const theMark = (): string => (mark ??= `\u0001${Math.random()}\u0001`);

/** The texts of the body that is being printed, each of which has the mark in its place. */
let texts: string[] | undefined;

class RawJson {
  readonly #text: string;
  readonly #value: Json;

  constructor(text: string, value: Json) {
    this.#text = text;
    this.#value = value;
  }
  toJSON(): Json {
    if (!texts) return this.#value;
    texts.push(this.#text);
    return theMark();
  }
}

// ---- Numbers

type Holder = JsonObject | readonly Json[];

/**
 * Like `JSON.parse`, but numbers that would be printed differently keep their text, whatever else is in the body: a tool must not look
 * different once a message has such a number. Node 20 cannot tell a reviver the source text.
 */
export function parseBody(text: string): Json {
  const value = JSON.parse(text) as Json;
  const marked = withMarkedNumbers(text);
  if (marked === text || deeperThan(value, MAX_DEPTH)) return value;
  const mark = theMark();
  const found = new Map<Holder, Map<string, string>>();
  const read = JSON.parse(marked, function (this: Holder, key: string, item: Json) {
    if (!isText(item) || !item.startsWith(mark)) return item;
    const number = item.slice(mark.length);
    found.set(this, (found.get(this) ?? new Map<string, string>()).set(key, number));
    return Number(number);
  }) as Json;
  for (const [holder, numbers] of found) keep(holder, numbers);
  return read;
}

/** Turns each number that would be printed differently into a string that begins with the mark. */
function withMarkedNumbers(text: string): string {
  let [marked, from] = ["", 0];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') at = stringEnd(text, at + 1);
    else if (/[\d-]/.test(text[at]!)) {
      const number = text.slice(at, valueEnd(text, at));
      if (String(Number(number)) !== number) {
        marked += text.slice(from, at) + JSON.stringify(theMark() + number);
        from = at + number.length;
      }
      at += number.length - 1;
    }
  }
  return marked + text.slice(from);
}

/** Makes a copy of `holder` print its numbers as `holder` does. */
export function withNumbersOf<T extends JsonObject>(holder: JsonObject, copy: T): T {
  const numbers = numbersOf(holder);
  if (numbers) keep(copy, numbers);
  return copy;
}

function keep(holder: Holder, numbers: ReadonlyMap<string, string>): void {
  keepNumbers(holder, numbers);
  if (!Object.hasOwn(holder, "toJSON")) Object.defineProperty(holder, "toJSON", { value: asWritten });
}

function asWritten(this: Holder): unknown {
  if (!texts) return this;
  const copy = isList(this) ? [...this] : { ...this };
  for (const [key, value] of Object.entries(this)) {
    const text = numberText(this, key, value);
    if (text) setOwn(copy as { [key: string]: unknown }, key, new RawJson(text, value));
  }
  return copy;
}

// ---- Arguments

/**
 * Removes line ends, which JSON text has only between tokens: a body may have to be one line. Blanks before a line end stay, since matching
 * them would take quadratic time.
 */
export const oneLine = (json: string): string => json.replace(/[\r\n]\s*/g, "");

/** A call's arguments as a value in a body: the object, or its text if printing the object would change it. */
export const argumentsValue = (call: { arguments: JsonObject; json?: string | undefined }): JsonObject | RawJson =>
  call.json === undefined || call.json === JSON.stringify(call.arguments)
    ? call.arguments
    : new RawJson(oneLine(call.json), call.arguments);

// ---- Printing

/** Escapes U+2028 and U+2029: Python's clients end a line there, and gemini-cli fails. */
export const withoutSeparators = (json: string): string =>
  /[\u2028\u2029]/.test(json) ? json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029") : json;

/** Prints a body as JSON. The arguments of calls and large numbers keep their bytes, which `JSON.stringify` would change. */
export function printBody(body: unknown, indent?: number): string {
  const met: string[] = [];
  texts = met;
  try {
    const printed = JSON.stringify(body, undefined, indent);
    if (met.length === 0) return printed;
    const pieces = printed.split(JSON.stringify(theMark()));
    return pieces.map((piece, i) => piece + (met[i] ?? "")).join("");
  } finally {
    texts = undefined;
  }
}
