/**
 * A view of text that arrives in pieces, with the few questions a parser may ask of it. Every question answers `undefined` while the
 * text at hand cannot decide it, so no caller can see where a piece ended; and none is asked twice of the same characters.
 */

const isHigh = (code: number): boolean => code >= 0xd800 && code < 0xdc00;

/** A tree of first characters, second characters, …, down to where only one mark is left. */
interface Branch {
  /** The mark that ends here. */
  readonly mark: string;
  /** The only mark that goes on from here. */
  readonly only: string;
  /** `next[i]` is where `codes[i]` leads. */
  readonly codes: readonly number[];
  readonly next: readonly Branch[];
}

function branchOf(marks: readonly string[], depth: number): Branch {
  const longer = marks.filter((mark) => mark.length > depth);
  const codes = longer.length > 1 ? [...new Set(longer.map((mark) => mark.charCodeAt(depth)))] : [];
  return {
    mark: marks.find((mark) => mark.length === depth) ?? "",
    only: longer.length === 1 ? (longer[0] ?? "") : "",
    codes,
    next: codes.map((code) =>
      branchOf(
        longer.filter((mark) => mark.charCodeAt(depth) === code),
        depth + 1,
      ),
    ),
  };
}

/** Strings to look for, all of them beginning with an ASCII character. A mark may begin with another one: the longer wins. */
export class Marks {
  readonly list: readonly string[];
  /** The first characters. */
  readonly leads = new Uint8Array(128);
  /** The first character, where all marks share one: lets a long text be searched natively. */
  readonly lead: string | undefined;
  readonly #root: Branch;

  constructor(list: Iterable<string>) {
    this.list = [...new Set(list)];
    for (const mark of this.list) this.leads[mark.charCodeAt(0)] = 1;
    const lead = this.list[0]?.[0];
    this.lead = this.list.every((mark) => mark[0] === lead) ? lead : undefined;
    this.#root = branchOf(this.list, 0);
  }

  /** Whether no mark, nor a half surrogate pair at its end, is in a piece of text. */
  absentFrom(text: string): boolean {
    const { leads } = this;
    let code = 0;
    for (let i = 0; i < text.length; i++) {
      code = text.charCodeAt(i);
      if (code < 128 && leads[code] === 1) return false;
    }
    return !isHigh(code);
  }

  /** The mark at `at`; `""` if there is none; `undefined` if `end` comes too early to tell, unless it is the `last` end. */
  at(text: string, at: number, end: number, last: boolean): string | undefined {
    let branch = this.#root;
    let found = "";
    for (let i = at; ; i++) {
      const { mark, only, codes } = branch;
      if (mark !== "") found = mark;
      if (only !== "") {
        let same = i - at;
        while (same < only.length && at + same < end && only.charCodeAt(same) === text.charCodeAt(at + same)) same++;
        if (same === only.length) return only;
        return at + same >= end && !last ? undefined : found;
      }
      if (codes.length === 0) return found;
      if (i >= end) return last ? found : undefined;
      const code = text.charCodeAt(i);
      let child = 0;
      while (child < codes.length && codes[child] !== code) child++;
      if (child === codes.length) return found;
      branch = branch.next[child] as Branch;
    }
  }
}

export const isBlank = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9;

export class Window {
  text = "";
  /** Everything before it was read. */
  pos = 0;
  /** How far reading may go now: the end of the text at hand, or a limit inside it. */
  stop = 0;
  /** No more text will come. */
  ended = false;
  /** Where the last question began; it ended at `pos`. */
  from = 0;
  /** The code of the character before the text at hand. */
  #before = 10;

  add(text: string): void {
    if (this.pos > 0) this.#before = this.text.charCodeAt(this.pos - 1);
    this.text = this.pos < this.text.length ? this.text.slice(this.pos) + text : text;
    this.pos = 0;
    this.stop = this.text.length;
  }

  /** What the last question passed over. */
  get run(): string {
    const { text, from, pos } = this;
    return from === 0 && pos === text.length ? text : text.slice(from, pos);
  }

  /** Whether a line begins so many characters before here, or all input does. */
  beginsLine(back: number): boolean {
    return (this.pos > back ? this.text.charCodeAt(this.pos - back - 1) : this.#before) === 10;
  }

  /** Nothing behind `stop` will ever come. */
  get last(): boolean {
    return this.ended && this.stop === this.text.length;
  }

  /**
   * Passes over text up to the next mark and answers with it, unread; `""` at the end of all input. There, half a mark is text, unless
   * `cautious`: then it is left unread.
   */
  until(marks: Marks, cautious = false): string | undefined {
    const { text, stop, pos } = this;
    const { leads, lead } = marks;
    let at = pos;
    for (; at < stop; at++) {
      const code = text.charCodeAt(at);
      if (code >= 128 || leads[code] === 0) {
        // Long plain stretches are left to the engine's own search.
        if (lead !== undefined && stop - at > 32) {
          const next = text.indexOf(lead, at);
          at = next < 0 || next >= stop ? stop - 1 : next - 1;
        }
        continue;
      }
      const mark = marks.at(text, at, stop, this.last && !cautious);
      if (mark === "") continue;
      this.#pass(at);
      return mark === undefined && this.last ? "" : mark;
    }
    const last = this.last;
    if (!last && stop > pos && isHigh(text.charCodeAt(stop - 1))) at = stop - 1;
    this.#pass(at);
    return last ? "" : undefined;
  }

  /** The mark that stands here, unread; `""` if there is none. At the end of all input half a mark is none, unless `cautious`: then it is undecided. */
  match(marks: Marks, cautious = false): string | undefined {
    return marks.at(this.text, this.pos, this.stop, this.last && !cautious);
  }

  /** Passes over blanks. Answers with the code of what stands behind them, unread; -1 at the end of all input. */
  blanks(): number | undefined {
    const { text, stop, pos } = this;
    let at = pos;
    while (at < stop && isBlank(text.charCodeAt(at))) at++;
    this.#pass(at);
    if (at < stop) return text.charCodeAt(at);
    return this.last ? -1 : undefined;
  }

  /** Passes over characters up to the first that `stops` holds (or, with `wide`, that is not ASCII), unread. Answers with its code, or -1 at the end. */
  span(stops: Uint8Array, wide: boolean): number | undefined {
    const { text, stop, pos } = this;
    let at = pos;
    for (; at < stop; at++) {
      const code = text.charCodeAt(at);
      if (code < 128 ? stops[code] === 1 : wide) {
        this.#pass(at);
        return code;
      }
    }
    const last = this.last;
    if (!last && stop > pos && isHigh(text.charCodeAt(stop - 1))) at = stop - 1;
    this.#pass(at);
    return last ? -1 : undefined;
  }

  #pass(to: number): void {
    this.from = this.pos;
    this.pos = to;
  }
}

/** A table for `span`: the characters given. */
export function charTable(chars: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const char of chars) table[char.charCodeAt(0)] = 1;
  return table;
}

/** A table for `span`: all ASCII but the characters given. */
export function charTableExcept(chars: string): Uint8Array {
  return charTable(chars).map((bit) => 1 - bit);
}
