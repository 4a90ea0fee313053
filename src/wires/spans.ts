/** Values as they stand in a JSON text, for arguments whose bytes must survive: `JSON.parse` keeps neither `1.0` nor 2^53 + 1. */
import type { Json } from "../core/nouns.ts";
import { oneLine } from "./raw.ts";
import { parsed } from "./read.ts";
import { Balance } from "./unfinished.ts";

/** The JSON text of each value of this key, in the order in which they stand; such values are not looked into. The text must be valid. */
export function valuesOf(text: string, key: string): string[] {
  const found: string[] = [];
  const wanted = JSON.stringify(key);
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const end = stringEnd(text, at);
    const colon = pastBlanks(text, end);
    if (text[colon] === ":" && end - at === wanted.length && text.startsWith(wanted, at)) {
      const from = pastBlanks(text, colon + 1);
      at = valueEnd(text, from);
      found.push(text.slice(from, at));
    } else at = end;
  }
  return found;
}

/** The arguments of calls as they were written, to be asked for in the order in which they stand. */
export class ArgumentTexts {
  readonly #body: unknown;
  readonly #key: string;
  #texts: string[] | undefined;
  #next = 0;

  /** `body`: a request or an answer. Where it is no text, nobody knows how it was written. */
  constructor(body: unknown, key: string) {
    this.#body = body;
    this.#key = key;
  }

  /** The text that stands for this value, without line ends; those before it stood for something else. */
  take(value: Json): string | undefined {
    const wanted = JSON.stringify(value);
    this.#texts ??= typeof this.#body === "string" ? valuesOf(this.#body, this.#key) : [];
    while (this.#next < this.#texts.length) {
      const json = this.#texts[this.#next++]!;
      if (JSON.stringify(parsed(json)) === wanted) return oneLine(json);
    }
    return undefined;
  }
}

/** Behind the string that begins here. */
function stringEnd(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at < 0) return text.length;
    let escapes = at;
    while (text[escapes - 1] === "\\") escapes--;
    if ((at - escapes) % 2 === 0) return at + 1;
  }
}

function valueEnd(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return stringEnd(text, from);
  if (first === "{" || first === "[") return new Balance().read(text, from);
  let at = from;
  while (at < text.length && !",]} \t\r\n".includes(text[at]!)) at++;
  return at;
}

function pastBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t\r\n".includes(text[at]!)) at++;
  return at;
}
