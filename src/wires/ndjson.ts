/** Reads newline-delimited JSON, `{"a":1}\n{"a":2}\n`. The text may be cut anywhere. */
import { Pile } from "../core/pile.ts";
import { frame, type SseEvent } from "./sse.ts";

/** Returns complete lines only, and no blank ones. */
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

  /** Ends the line: at the end of the stream, one without a line end counts, too. */
  flush(): SseEvent[] {
    const line = this.#line.toString().trim();
    this.#line.clear();
    return frame(line);
  }
}
