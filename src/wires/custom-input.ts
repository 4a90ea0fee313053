/** The plain text of a custom call, out of the JSON that stands for it (`{"input":"…`), while it is being written. */
import { JSON_SYNTAX } from "../core/json-syntax.ts";
import { NO_LIMIT, NO_MARKS, Reader } from "../core/reader.ts";

export class CustomInput {
  readonly #reader = new Reader(256).begin(JSON_SYNTAX, undefined, NO_MARKS, undefined, 1);
  /** Half a character, written as an escape, waits for its other half. */
  #half = "";

  /** The next piece of the JSON; the piece of text that it holds. */
  add(json: string): string {
    const reader = this.#reader;
    let text = this.#half;
    reader.add(json);
    for (;;) {
      const outcome = reader.read();
      if (reader.keeps > 0) {
        text += reader.word;
        reader.word = "";
      }
      if (outcome === "field")
        reader.keeps = reader.key === "input" && /["']/.test(reader.slice(reader.pos, reader.pos + 1)) ? NO_LIMIT : 0;
      else if (outcome === "value") reader.keeps = 0;
      else break;
    }
    const end = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
    this.#half = text.slice(end);
    return text.slice(0, end);
  }
}
