/**
 * A view of text that arrives in pieces, with the few questions a parser may ask of it. Every question answers `undefined` while the
 * text at hand cannot decide it, so no caller can see where a piece ended; and none is asked twice of the same characters.
 */

/** What JSON escapes in a string. */
export const ESCAPED = `"\\${String.fromCharCode(...Array(32).keys())}`;

/** Whether it is the first half of a surrogate pair, or the second. */
export const isHigh = (code: number): boolean => code >= 0xd800 && code < 0xdc00;
const isLow = (code: number): boolean => code >= 0xdc00 && code < 0xe000;

/** Of a node in a tree of marks: the next one that stands for the same place, the first for the place behind, and the mark that ends here. */
const SIBLING = 1;
const CHILD = 2;
const MARK = 3;

/** Strings to look for, all of them beginning with an ASCII character. A mark may begin with another one: the longer wins. */
export class Marks {
  readonly list: readonly string[];
  /** The first characters. */
  readonly leads = new Uint8Array(128);
  /** The first characters, and what JSON escapes: all else in a string up to a mark stands for itself. */
  readonly plainEnd = charTable(ESCAPED);
  /** Nodes of four numbers, the first of which is a character. The first node has none. */
  readonly #tree: Uint16Array;
  readonly #with = new Map<Uint8Array, Uint8Array>();
  /** Where the last question had to end for want of text. */
  node = 0;

  constructor(list: Iterable<string>) {
    this.list = [...new Set(list)];
    const tree = [0, 0, 0, 0];
    this.list.forEach((mark, index) => {
      let node = 0;
      for (let i = 0; i < mark.length; i++) {
        const code = mark.charCodeAt(i);
        let child = tree[node + CHILD] as number;
        while (child > 0 && tree[child] !== code) child = tree[child + SIBLING] as number;
        if (child === 0) {
          child = tree.length;
          tree.push(code, tree[node + CHILD] as number, 0, 0);
          tree[node + CHILD] = child;
        }
        node = child;
      }
      tree[node + MARK] = index + 1;
      this.leads[mark.charCodeAt(0)] = this.plainEnd[mark.charCodeAt(0)] = 1;
    });
    this.#tree = Uint16Array.from(tree);
  }

  /** The table, and the first characters of the marks. */
  and(table: Uint8Array): Uint8Array {
    let both = this.#with.get(table);
    if (!both) {
      both = table.map((bit, code) => bit | (this.leads[code] as number));
      this.#with.set(table, both);
    }
    return both;
  }

  /** The mark at `at`; `""` if there is none; `undefined` if `end` comes too early to tell, unless it is the `last` end. */
  at(codes: Uint16Array, at: number, end: number, last: boolean): string | undefined {
    const tree = this.#tree;
    let found = 0;
    let node = tree[CHILD] as number;
    for (let i = at; node > 0; i++) {
      if (i >= end) {
        if (last) break;
        this.node = node;
        return undefined;
      }
      const code = codes[i];
      while (node > 0 && tree[node] !== code) node = tree[node + SIBLING] as number;
      if (node > 0) {
        found = (tree[node + MARK] as number) || found;
        node = tree[node + CHILD] as number;
      }
    }
    return found > 0 ? this.list[found - 1] : "";
  }

  /** Where such a question ends if this text follows; 0: there is an answer. */
  on(node: number, text: string): number {
    const tree = this.#tree;
    let on = node;
    for (let i = 0; i < text.length && on > 0; i++) {
      const code = text.charCodeAt(i);
      while (on > 0 && tree[on] !== code) on = tree[on + SIBLING] as number;
      on = on > 0 ? (tree[on + CHILD] as number) : 0;
    }
    return on;
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
  codes = new Uint16Array(64);
  /** Of so many; asking the array takes longer. */
  #room = 64;
  /** So many they are. */
  end = 0;
  /** The last piece, and where it begins: what was left of earlier ones stands before it. */
  piece = "";
  #pieceAt = 0;
  /** Everything before it was read. */
  pos = 0;
  /** How far reading may go now: the end of the text at hand, or a limit inside it. */
  stop = 0;
  /** No more text will come; and nothing behind `stop` ever will. */
  ended = false;
  last = false;
  /** Where the last question began; it ended at `pos`. */
  from = 0;
  /** At `pos` stands half a mark of these: while text goes on like one, nobody has an answer. */
  half: Marks | undefined;
  #node = 0;

  add(text: string): void {
    const { pos, end } = this;
    let { codes } = this;
    const kept = end - pos;
    const size = kept + text.length;
    if (size > this.#room || this.#room > MUCH) {
      this.#room = size * 2;
      codes = new Uint16Array(this.#room);
      codes.set(this.codes.subarray(pos, end));
      this.codes = codes;
    } else if (pos > 0) for (let i = 0; i < kept; i++) codes[i] = codes[pos + i] as number;
    for (let i = 0; i < text.length; i++) codes[kept + i] = text.charCodeAt(i);
    this.piece = text;
    this.#pieceAt = kept;
    this.pos = 0;
    this.end = this.stop = size;
    this.half = undefined;
  }

  /** Adds text if it goes on like the half mark at hand and leaves it half. */
  addHalf(text: string): boolean {
    const { codes, end } = this;
    const node = this.half ? this.half.on(this.#node, text) : 0;
    if (node === 0 || end + text.length > this.#room) return false;
    for (let i = 0; i < text.length; i++) codes[end + i] = text.charCodeAt(i);
    this.piece = text;
    this.#pieceAt = end;
    this.#node = node;
    this.end = this.stop = end + text.length;
    return true;
  }

  /** Adds text that nobody needs to look at. */
  skip(text: string): void {
    this.piece = text;
    this.#pieceAt = 0;
    this.pos = this.end = this.stop = text.length;
  }
  /** Where reading stands in the last piece; negative: before it. */
  get inPiece(): number {
    return this.pos - this.#pieceAt;
  }

  /** No more text will come. */
  finish(): void {
    this.ended = true;
    this.stopAt(this.end);
  }
  /** Reading goes no farther; but no pair is torn apart. */
  stopAt(stop: number): void {
    const { codes, pos, end } = this;
    const tears = stop > pos && stop < end && isHigh(codes[stop - 1] as number) && isLow(codes[stop] as number);
    this.stop = tears ? stop + 1 : stop;
    this.last = this.ended && this.stop === end;
  }

  slice(from: number, to: number): string {
    if (from === to) return "";
    const { piece, codes } = this;
    const at = this.#pieceAt;
    if (from >= at) return from === at && to === this.end ? piece : piece.slice(from - at, to - at);
    let text = "";
    for (let i = from; i < at && i < to; i++) text += String.fromCharCode(codes[i] as number); // a few characters, and seldom
    return to > at ? text + piece.slice(0, to - at) : text;
  }

  /** What the last question passed over. */
  get run(): string {
    return this.slice(this.from, this.pos);
  }
  /** What is at hand and was not read. */
  get ahead(): string {
    return this.slice(this.pos, this.stop);
  }

  /**
   * Passes over text up to the next mark and answers with it, unread; `""` at the end of all input. There, half a mark is text, unless
   * `cautious`: then it is left unread.
   */
  until(marks: Marks, cautious = false): string | undefined {
    const { codes, stop, pos, last } = this;
    const { leads } = marks;
    this.from = pos;
    for (let at = pos; at < stop; at++) {
      const code = codes[at] as number;
      if (code >= 128 || leads[code] === 0) continue;
      const mark = marks.at(codes, at, stop, last && !cautious);
      if (mark === "") continue;
      this.pos = at;
      if (mark !== undefined) return mark;
      this.#stayHalf(marks);
      return last ? "" : undefined;
    }
    return this.#passAll();
  }

  /** The mark that stands here, unread; `""` if there is none. At the end of all input half a mark is none, unless `cautious`: then it is undecided. */
  match(marks: Marks, cautious = false): string | undefined {
    const mark = marks.at(this.codes, this.pos, this.stop, this.last && !cautious);
    if (mark === undefined) this.#stayHalf(marks);
    return mark;
  }
  #stayHalf(marks: Marks): void {
    this.half = marks;
    this.#node = marks.node;
  }

  /** Passes over blanks. Answers with the code of what stands behind them, unread; -1 at the end of all input. */
  blanks(): number | undefined {
    const { codes, stop } = this;
    let at = this.pos;
    this.from = at;
    while (at < stop && isBlank(codes[at] as number)) at++;
    this.pos = at;
    if (at < stop) return codes[at];
    return this.last ? -1 : undefined;
  }

  /** Passes over characters up to the first that `stops` holds (or, with `wide`, that is not ASCII), unread. Answers with its code, or -1 at the end. */
  span(stops: Uint8Array, wide: boolean): number | undefined {
    const { codes, stop, pos } = this;
    this.from = pos;
    for (let at = pos; at < stop; at++) {
      const code = codes[at] as number;
      if (code < 128 ? stops[code] === 1 : wide) {
        this.pos = at;
        return code;
      }
    }
    return this.#passAll() === "" ? -1 : undefined;
  }

  /** Passes over all but half a surrogate pair. */
  #passAll(): "" | undefined {
    const { stop, last } = this;
    this.pos = !last && stop > this.pos && isHigh(this.codes[stop - 1] as number) ? stop - 1 : stop;
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
