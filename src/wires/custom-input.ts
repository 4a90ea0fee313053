/** The plain text of a custom call, out of the JSON that stands for it (`{"input":"…`), while it is being written. */
import { type Sink, unescapeJson } from "../core/json.ts";
import { JSON_SYNTAX } from "../core/json-syntax.ts";
import { Reader } from "../core/reader.ts";
import { Marks } from "../core/window.ts";

const NO_MARKS = new Marks([]);

export class CustomInput implements Sink {
  readonly #reader = new Reader().begin(JSON_SYNTAX, this, { marks: NO_MARKS, maxDepth: 256 });
  #depth = 0;
  #key = "";
  #text = "";

  /** The next piece of the JSON; the piece of text that it holds. */
  add(json: string): string {
    this.#reader.add(json);
    this.#reader.read();
    // Half a character, written as an escape, waits for its other half.
    const end = /[\ud800-\udbff]$/.test(this.#text) ? this.#text.length - 1 : this.#text.length;
    const text = this.#text.slice(0, end);
    this.#text = this.#text.slice(end);
    return text;
  }

  open(): undefined {
    this.#depth++;
  }
  shut(): void {
    this.#depth--;
  }
  key(key: string): void {
    if (this.#depth === 1) this.#key = key;
  }
  run(json: string): void {
    if (this.#depth === 1 && this.#key === "input") this.#text += unescapeJson(json);
  }
  comma(): void {}
  space(): void {}
  string(): void {}
  done(): void {}
  scalar(): void {}
}
