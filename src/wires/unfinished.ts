/** JSON text that is still being written, `{"input":"*** Begin Pa`: where a value ends, what it holds so far, and the text of a custom call in it. */
import { isObject, unescapeJson } from "../core/json.ts";
import type { JsonObject } from "../core/nouns.ts";
import { parsed } from "./read.ts";

const [QUOTE, COMMA, COLON, OPEN_LIST, BACKSLASH, CLOSE_LIST, U, OPEN, CLOSE] = [34, 44, 58, 91, 92, 93, 117, 123, 125];

/** Follows the brackets of a value that arrives in pieces: enough to know where it ends, without parsing it twice. */
export class Balance {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #opened = false;

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

/** What an object holds that was cut: a string keeps what was written of it, a key without its value is left out. */
export function partialObject(text: string): JsonObject {
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
      whole = text.slice(0, at + 1) + closers.join("");
      isKey = code === OPEN;
    }
  }
  const value = parsed(whole);
  return isObject(value) ? value : {};
}

/** Where a string ends whose text begins here: at its quote, or before the escape that was cut. */
function stringEnd(text: string, from: number): number {
  for (let at = from; ; at++) {
    const code = text.charCodeAt(at);
    if (at >= text.length || code === QUOTE) return at;
    if (code !== BACKSLASH) continue;
    const size = text.charCodeAt(at + 1) === U ? 6 : 2;
    if (at + size > text.length) return at;
    at += size - 1;
  }
}

const INPUT = /^\s*\{\s*"input"\s*:\s*"/;
/** What stands in front of the text cannot be longer: then it is another object, whose text the end of the call tells. */
const MAX_HEAD = 256;

/** The plain text of a custom call, out of the JSON that stands for it, while it is being written. */
export class CustomInput {
  #inText = false;
  #over = false;
  #rest = "";

  /** The next piece of the JSON; the piece of text that it holds. */
  add(json: string): string {
    if (this.#over) return "";
    let text = this.#rest + json;
    if (!this.#inText) {
      const head = INPUT.exec(text)?.[0];
      this.#inText = head !== undefined;
      this.#over = head === undefined && text.length > MAX_HEAD;
      this.#rest = text;
      if (head === undefined) return "";
      text = text.slice(head.length);
    }
    let end = stringEnd(text, 0);
    this.#over = text.charCodeAt(end) === QUOTE;
    const said = unescapeJson(text.slice(0, end));
    // Half a character waits for its other half, however it is written.
    const isHalf = !this.#over && (said.charCodeAt(said.length - 1) & 0xfc00) === 0xd800;
    if (isHalf) end -= text.charCodeAt(end - 1) >= 0xd800 ? 1 : 6;
    this.#rest = text.slice(end);
    return isHalf ? said.slice(0, -1) : said;
  }
}
