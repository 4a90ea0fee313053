/** A reader that keeps what it has read until somebody takes it: every character of the input leaves with exactly one event. */
import { Pile } from "../../core/pile.ts";
import { MAX_NAME, Reader } from "../../core/reader.ts";
import type { Marks } from "../../core/window.ts";

export class RawReader extends Reader {
  /** What no event carries yet: all that came before the last piece, and where the rest begins in that piece. */
  readonly #before = new Pile();
  #from = 0;

  /** So many characters no event carries yet; */
  get waiting(): number {
    return this.#before.length + this.piece.length - this.#from;
  }
  /** and so many of them were read. */
  get waitingRead(): number {
    return this.waiting - this.end + this.pos;
  }

  /** The last piece is about to be followed by another one. */
  keepPiece(): void {
    const { piece } = this;
    const from = this.#from;
    if (from < piece.length) this.#before.add(from === 0 ? piece : piece.slice(from));
    this.#from = 0;
  }

  /** Takes what was read. */
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

  /** Reads a word up to one of the marks, and answers with the mark, unread. `null`: longer than names may be. */
  readWord(stops: Marks, max = MAX_NAME): string | null | undefined {
    const mark = this.until(stops);
    this.word += this.run;
    if (this.backTo(max)) return null;
    if (mark === undefined) this.calm(stops.leads, max);
    return mark;
  }
}
