/** The plain text of a custom call, out of the JSON that stands for it (`{"input":"…`), while it is being written. */
import { JSON_SYNTAX } from "../core/json-syntax.ts";
import { NO_LIMIT, NO_MARKS, Reader } from "../core/reader.ts";

export class CustomInput {
  readonly #reader = new Reader(256).begin(JSON_SYNTAX, undefined, NO_MARKS, undefined, 1);

  /** The next piece of the JSON; the piece of text that it holds. */
  add(json: string): string {
    const reader = this.#reader;
    reader.add(json);
    for (;;) {
      const outcome = reader.read();
      if (outcome === "field")
        reader.keeps = reader.key === "input" && /["']/.test(reader.slice(reader.pos, reader.pos + 1)) ? NO_LIMIT : 0;
      else if (outcome !== "value") break;
    }
    // Half a character, written as an escape, waits for its other half.
    const { word } = reader;
    const end = /[\ud800-\udbff]$/.test(word) ? word.length - 1 : word.length;
    reader.word = word.slice(end);
    return word.slice(0, end);
  }
}
