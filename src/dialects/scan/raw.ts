/** A reader that keeps the text it has read until an event takes it, so that every character of the input leaves with exactly one event. */
import { Pile } from "../../core/pile.ts";
import { MAX_NAME, Reader } from "../../core/reader.ts";
import type { Marks } from "../../core/window.ts";

export class RawReader extends Reader {
  /** The text that was read and that no event has taken yet: all of `#before`, then what is at hand from `#from` up to `pos`. */
  readonly #before = new Pile();
  #from = 0;

  /** How many characters no event has taken yet, */
  get waiting(): number {
    return this.#before.length + this.end - this.#from;
  }
  /** and how many of those were read. */
  get waitingRead(): number {
    return this.#before.length + this.pos - this.#from;
  }

  override add(text: string): void {
    if (this.#from < this.pos) this.#before.add(this.slice(this.#from, this.pos));
    this.#from = 0;
    super.add(text);
  }

  /** Takes the text that was read. */
  cutRaw(): string {
    const raw = this.slice(this.#from, this.pos);
    this.#from = this.pos;
    if (this.#before.length === 0) return raw;
    const before = this.#before.toString();
    this.#before.clear();
    return before + raw;
  }

  /** Reads on in a word up to one of the marks, which is the answer and stays unread. `null`: the word is too long. */
  readWord(stops: Marks, max = MAX_NAME): string | null | undefined {
    const room = Math.max(0, max + 1 - this.word.length);
    const mark = this.until(stops, false, Math.min(this.stop, this.pos + room)); // what is beyond may be read again
    this.word += this.run;
    if (this.backTo(max)) return null;
    return mark;
  }
}
