/** A reader that keeps the text it has read until an event takes it, so that every character of the input leaves with exactly one event. */
import { Pile } from "../../core/pile.ts";
import { MAX_NAME, Reader } from "../../core/reader.ts";
import type { Marks } from "../../core/window.ts";

export class RawReader extends Reader {
  /** The text that no event has taken yet: all of `#before`, then the last piece from `#from` on. */
  readonly #before = new Pile();
  #from = 0;

  /** How many characters no event has taken yet, */
  get waiting(): number {
    return this.#before.length + this.piece.length - this.#from;
  }
  /** and how many of those were read. */
  get waitingRead(): number {
    return this.waiting - this.end + this.pos;
  }

  /** To be called before the next piece is added. */
  keepPiece(): void {
    const { piece } = this;
    const from = this.#from;
    if (from < piece.length) this.#before.add(from === 0 ? piece : piece.slice(from));
    this.#from = 0;
  }

  /** Takes the text that was read. */
  cutRaw(): string {
    const { piece, inPiece } = this;
    const from = this.#from;
    const before = this.#before.toString();
    if (before !== "") this.#before.clear();
    if (inPiece >= 0) {
      this.#from = inPiece;
      const raw = from === 0 && inPiece === piece.length ? piece : piece.slice(from, inPiece);
      return before === "" ? raw : before + raw;
    }
    this.#before.add(before.slice(inPiece));
    return before.slice(0, inPiece);
  }

  /** Reads on in a word up to one of the marks, which is the answer and stays unread. `null`: the word is too long. */
  readWord(stops: Marks, max = MAX_NAME): string | null | undefined {
    const mark = this.until(stops);
    this.word += this.run;
    if (this.backTo(max)) return null;
    if (mark === undefined) this.calm(stops.leads, max);
    return mark;
  }
}
