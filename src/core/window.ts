/**
 * A view of text that arrives in pieces, with the few questions a parser may ask of it. Every question answers `undefined` while the
 * text at hand cannot decide it, so no caller can see where a piece ended; and none is asked twice of the same characters.
 */

/** What JSON escapes in a string. */
export const ESCAPED = `"\\${String.fromCharCode(...Array(32).keys())}`;

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
  /** The first characters, and what JSON escapes: all else in a string up to a mark stands for itself. */
  readonly plainEnd = charTable(ESCAPED);
  readonly #root: Branch;

  constructor(list: Iterable<string>) {
    this.list = [...new Set(list)];
    for (const mark of this.list) this.leads[mark.charCodeAt(0)] = this.plainEnd[mark.charCodeAt(0)] = 1;
    this.#root = branchOf(this.list, 0);
  }

  /** The mark at `at`; `""` if there is none; `undefined` if `end` comes too early to tell, unless it is the `last` end. */
  at(codes: Uint16Array, at: number, end: number, last: boolean): string | undefined {
    let branch = this.#root;
    let found = "";
    for (let i = at; ; i++) {
      const { mark, only, codes: leads } = branch;
      if (mark !== "") found = mark;
      if (only !== "") {
        let same = i - at;
        while (same < only.length && at + same < end && only.charCodeAt(same) === codes[at + same]) same++;
        if (same === only.length) return only;
        return at + same >= end && !last ? undefined : found;
      }
      if (i >= end && leads.length > 0) return last ? found : undefined;
      let child = 0;
      while (child < leads.length && leads[child] !== codes[i]) child++;
      if (child === leads.length) return found;
      branch = branch.next[child] as Branch;
    }
  }
}

export const isBlank = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9;

/** More room than this is given back. */
const MUCH = 65_536;

export class Window {
  /**
   * The characters at hand, as numbers: reading those is one small load, where reading a character of a string asks for its representation
   * first, at every place in the compiled code.
   */
  codes = new Uint16Array(32);
  /** So many they are. */
  end = 0;
  /** The same as text: what was left of earlier pieces, and the last piece. */
  #rest = "";
  #piece = "";
  /** Everything before it was read. */
  pos = 0;
  /** How far reading may go now: the end of the text at hand, or a limit inside it. */
  stop = 0;
  /** No more text will come. */
  ended = false;
  /** Where the last question began; it ended at `pos`. */
  from = 0;
  add(text: string): void {
    const { pos, end } = this;
    let { codes } = this;
    const kept = end - pos;
    if (kept > 0 || this.#rest !== "") this.#rest = this.slice(pos, end);
    this.#piece = text;
    const size = kept + text.length;
    if (size > codes.length || codes.length > MUCH) {
      codes = new Uint16Array(size * 2);
      codes.set(this.codes.subarray(pos, end));
      this.codes = codes;
    } else for (let i = 0; i < kept; i++) codes[i] = codes[pos + i] as number;
    for (let i = 0; i < text.length; i++) codes[kept + i] = text.charCodeAt(i);
    this.pos = 0;
    this.end = this.stop = size;
  }

  slice(from: number, to: number): string {
    const at = this.#rest.length;
    if (from < at) return this.#rest.slice(from, to) + (to > at ? this.#piece.slice(0, to - at) : "");
    return from === at && to === this.end ? this.#piece : this.#piece.slice(from - at, to - at);
  }

  /** What the last question passed over. */
  get run(): string {
    return this.slice(this.from, this.pos);
  }
  /** What is at hand and was not read. */
  get ahead(): string {
    return this.slice(this.pos, this.stop);
  }

  /** Nothing behind `stop` will ever come. */
  get last(): boolean {
    return this.ended && this.stop === this.end;
  }

  /**
   * Passes over text up to the next mark and answers with it, unread; `""` at the end of all input. There, half a mark is text, unless
   * `cautious`: then it is left unread.
   */
  until(marks: Marks, cautious = false): string | undefined {
    const { codes, stop } = this;
    const { leads } = marks;
    for (let at = this.pos; at < stop; at++) {
      const code = codes[at] as number;
      if (code >= 128 || leads[code] === 0) continue;
      const mark = marks.at(codes, at, stop, this.last && !cautious);
      if (mark === "") continue;
      this.#pass(at);
      return mark === undefined && this.last ? "" : mark;
    }
    return this.#passAll();
  }

  /** The mark that stands here, unread; `""` if there is none. At the end of all input half a mark is none, unless `cautious`: then it is undecided. */
  match(marks: Marks, cautious = false): string | undefined {
    return marks.at(this.codes, this.pos, this.stop, this.last && !cautious);
  }

  /** Passes over blanks. Answers with the code of what stands behind them, unread; -1 at the end of all input. */
  blanks(): number | undefined {
    const { codes, stop } = this;
    let at = this.pos;
    while (at < stop && isBlank(codes[at] as number)) at++;
    this.#pass(at);
    if (at < stop) return codes[at];
    return this.last ? -1 : undefined;
  }

  /** Passes over characters up to the first that `stops` holds (or, with `wide`, that is not ASCII), unread. Answers with its code, or -1 at the end. */
  span(stops: Uint8Array, wide: boolean): number | undefined {
    const { codes, stop } = this;
    for (let at = this.pos; at < stop; at++) {
      const code = codes[at] as number;
      if (code < 128 ? stops[code] === 1 : wide) {
        this.#pass(at);
        return code;
      }
    }
    return this.#passAll() === "" ? -1 : undefined;
  }

  #pass(to: number): void {
    this.from = this.pos;
    this.pos = to;
  }
  /** Passes over all but half a surrogate pair. */
  #passAll(): "" | undefined {
    const { stop, last } = this;
    this.#pass(!last && stop > this.pos && isHigh(this.codes[stop - 1] as number) ? stop - 1 : stop);
    return last ? "" : undefined;
  }
}

/** Whether no character of the text is in the table, nor half of a surrogate pair. */
export function hasNone(text: string, table: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 128 ? table[code] === 1 : code >= 0xd800 && code < 0xe000) return false;
  }
  return true;
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
