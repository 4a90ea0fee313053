/** Inspects JSON text without parsing it: where strings and values end, and what a cut text holds so far: `{"input":"*** Begin Pa`. */
import { isObject } from "../core/json.ts";
import type { JsonObject } from "../core/nouns.ts";
import { parsed } from "./read.ts";

const [QUOTE, COMMA, COLON, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN, CLOSE] = [34, 44, 58, 91, 92, 93, 123, 125];

/** Where the string whose text begins at `from` ends: at its closing quote, or, if the text was cut, before any incomplete escape. */
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

/** The index after the value that begins at `from`. The text must be valid. */
export function valueEnd(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return stringEnd(text, from + 1) + 1;
  if (first === "{" || first === "[") return new Balance().read(text, from);
  let at = from;
  while (at < text.length && !",]} \t\r\n".includes(text[at]!)) at++;
  return at;
}

/** Counts the brackets of a value that arrives in pieces, to find its end without parsing it. */
export class Balance {
  #depth = 0;
  inString = false;
  #escaped = false;
  #opened = false;

  /** An object or a list was opened, and every bracket is closed again. */
  get complete(): boolean {
    return this.#opened && this.#depth === 0;
  }

  /** Reads up to the end of the value and returns the index after it; -1: the value is not complete yet. */
  read(text: string, from = 0): number {
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.inString) {
        if (this.#escaped) this.#escaped = false;
        else if (code === BACKSLASH) this.#escaped = true;
        else if (code === QUOTE) this.inString = false;
      } else if (code === QUOTE) this.inString = true;
      else if (code === OPEN || code === OPEN_LIST) {
        this.#depth++;
        this.#opened = true;
      } else if ((code === CLOSE || code === CLOSE_LIST) && this.#depth > 0 && --this.#depth === 0) return at + 1;
    }
    return -1;
  }
}

/**
 * The content of an object whose text was cut: a cut string keeps what there is of it, a key without a value is left out. An object that
 * nests deeper than `maxDepth` counts as empty.
 */
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
