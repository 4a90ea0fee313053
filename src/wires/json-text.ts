/** JSON text, looked at without parsing it: where a string and a value end in it, and what it holds so far if it was cut, `{"input":"*** Begin Pa`. */
import { isObject } from "../core/json.ts";
import type { JsonObject } from "../core/nouns.ts";
import { parsed } from "./read.ts";

const [QUOTE, COMMA, COLON, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN, CLOSE] = [34, 44, 58, 91, 92, 93, 123, 125];

/** Where a string ends whose text begins here: at its quote, or before the escape that was cut. */
export function stringEnd(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && isEscaped(text, at, from)) at = text.indexOf('"', at + 1);
  if (at >= 0) return at;
  const last = text.lastIndexOf("\\");
  const isCut = last >= from && !isEscaped(text, last, from) && last + (text[last + 1] === "u" ? 6 : 2) > text.length;
  return isCut ? last : text.length;
}

function isEscaped(text: string, at: number, from: number): boolean {
  let first = at;
  while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

export function pastBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t\r\n".includes(text[at]!)) at++;
  return at;
}

/** Behind the value that begins here; the text must be valid. */
export function valueEnd(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return stringEnd(text, from + 1) + 1;
  if (first === "{" || first === "[") return new Balance().read(text, from);
  let at = from;
  while (at < text.length && !",]} \t\r\n".includes(text[at]!)) at++;
  return at;
}

/** Follows the brackets of a value that arrives in pieces: enough to know where it ends, without parsing it twice. */
export class Balance {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #opened = false;

  get inString(): boolean {
    return this.#inString;
  }

  /** An object or a list was opened, and all that was opened is closed. */
  get complete(): boolean {
    return this.#opened && this.#depth === 0;
  }

  /** Reads up to the end of the value, and answers how far that is; -1: the value goes on. */
  read(text: string, from = 0): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (code === BACKSLASH) this.#escaped = true;
        else if (code === QUOTE) this.#inString = false;
      } else if (code === QUOTE) this.#inString = true;
      else if (code === OPEN || code === OPEN_LIST) {
        this.#depth++;
        this.#opened = true;
      } else if ((code === CLOSE || code === CLOSE_LIST) && this.#depth > 0 && --this.#depth === 0) return at + 1;
    }
    return -1;
  }
}

/** What an object holds that was cut: a string keeps what was written of it, a key without its value is left out. One that nests too deep holds nothing. */
export function partialObject(text: string, maxDepth: number): JsonObject {
  const closers: string[] = [];
  let [whole, isKey] = ["", false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const ends = code === CLOSE || code === CLOSE_LIST;
    if (code === QUOTE) {
      const end = stringEnd(text, at + 1);
      if (!isKey) whole = `${text.slice(0, end)}"${closers.join("")}`;
      at = end;
    } else if (code === COLON) isKey = false;
    else if (code === COMMA) {
      whole = text.slice(0, at) + closers.join("");
      isKey = closers[0] === "}";
    } else if (ends || code === OPEN || code === OPEN_LIST) {
      if (ends) closers.shift();
      else closers.unshift(code === OPEN ? "}" : "]");
      if (closers.length > maxDepth) return {};
      whole = text.slice(0, at + 1) + closers.join("");
      isKey = code === OPEN;
    }
  }
  const value = parsed(whole);
  return isObject(value) ? value : {};
}
