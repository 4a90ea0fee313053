/** Newline-delimited JSON, `{"a":1}\n{"a":2}\n`, as text that may be cut anywhere. */
import { Pile } from "../core/pile.ts";
import { frame, type SseEvent } from "./sse.ts";

/** Gives complete lines only, without the blank ones. */
export class LineReader {
  readonly #line = new Pile();

  feed(text: string): SseEvent[] {
    const lines: SseEvent[] = [];
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      this.#line.add(text.slice(from, end));
      lines.push(...this.flush());
      from = end + 1;
    }
    this.#line.add(text.slice(from));
    return lines;
  }

  /** The end: what is left is a line, too. */
  flush(): SseEvent[] {
    const line = this.#line.toString().trim();
    this.#line.clear();
    return frame(line);
  }
}
