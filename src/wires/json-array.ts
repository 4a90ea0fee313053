/** Reads a JSON array that is streamed element by element, `[{"a":1}\n,{"a":2}]`. The text may be cut anywhere. */
import { Pile } from "../core/pile.ts";
import { Balance } from "./json-text.ts";
import { frame, type SseEvent } from "./sse.ts";

/** Returns the JSON text of each element, an object, as soon as it is complete. A single object without the array is accepted, too. */
export class ArrayReader {
  readonly #element = new Pile();
  #balance: Balance | undefined;

  feed(text: string): SseEvent[] {
    const elements: SseEvent[] = [];
    let from = 0;
    while (from < text.length) {
      if (!this.#balance) {
        from = text.indexOf("{", from);
        if (from < 0) break;
        this.#balance = new Balance();
      }
      const end = this.#balance.read(text, from);
      this.#element.add(end < 0 ? text.slice(from) : text.slice(from, end));
      if (end < 0) break;
      elements.push(...this.flush());
      this.#balance = undefined;
      from = end;
    }
    return elements;
  }

  /** Returns the element so far; at the end of the stream, that is one that was cut off. */
  flush(): SseEvent[] {
    const element = this.#element.toString();
    this.#element.clear();
    return frame(element);
  }
}
