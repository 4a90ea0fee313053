/**
 * A window onto text that arrives in pieces, with the few questions a parser may ask of it. A question answers `undefined` until enough
 * text has arrived to decide it, so no caller can tell where a piece ended. Only what may be the beginning of a mark is examined again.
 */

/** The characters that must be escaped in a JSON string. */
export const ESCAPED = `"\\${String.fromCharCode(...Array(32).keys())}`;

/** Whether the code unit is the first (high) or second (low) half of a surrogate pair. */
export const isHigh = (code: number): boolean => code >= 0xd800 && code < 0xdc00;
const isLow = (code: number): boolean => code >= 0xdc00 && code < 0xe000;

/** Fields of a trie node, after its character: the next sibling, the first child, and the mark that ends here (its index plus 1). */
const SIBLING = 1;
const CHILD = 2;
const MARK = 3;

/** A set of strings to look for, kept as a trie. Each begins with an ASCII character. Where one mark is a prefix of another, the longer wins. */
export class Marks {
  readonly list: readonly string[];
  /** 1 for each character that begins a mark. */
  readonly leads = new Uint8Array(128);
  /** The same plus what JSON escapes: in a string that ends at one of these marks, every other character stands for itself. */
  readonly plainEnd = charTable(ESCAPED);
  /** Nodes of four numbers: a character and the three fields above. Node 0 is the root. */
  readonly #tree: Uint16Array;
  readonly #with = new Map<Uint8Array, Uint8Array>();
  /** The node at which the last `at` ran out of text. */
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

  /** The table with the marks' first characters added; cached. */
  and(table: Uint8Array): Uint8Array {
    let both = this.#with.get(table);
    if (!both) {
      both = table.map((bit, code) => bit | (this.leads[code] as number));
      this.#with.set(table, both);
    }
    return both;
  }

  /** The longest mark at `at`, `""` if there is none; `undefined` if the text ends too early to tell and is not the `last` there is. */
  at(text: string, at: number, end: number, last: boolean): string | undefined {
    const tree = this.#tree;
    let found = 0;
    let node = tree[CHILD] as number;
    for (let i = at; node > 0; i++) {
      if (i === end) {
        if (last) break;
        this.node = node;
        return undefined;
      }
      const code = text.charCodeAt(i);
      while (node > 0 && tree[node] !== code) node = tree[node + SIBLING] as number;
      if (node > 0) {
        found = (tree[node + MARK] as number) || found;
        node = tree[node + CHILD] as number;
      }
    }
    return found > 0 ? this.list[found - 1] : "";
  }

  /** Walks on from such a node. 0: the text leaves the trie, or completes every mark on its path. */
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

export class Window {
  /** The text at hand: what earlier pieces left unread, then the last piece. */
  text = "";
  end = 0;
  /** Everything before this index has been read. */
  pos = 0;
  /** How far reading may go: to `end`, or to a limit before it. */
  stop = 0;
  /** `ended`: no more text will come. `last`: neither will anything beyond `stop`. */
  ended = false;
  last = false;
  /** Where the last question started reading; it stopped at `pos`. */
  from = 0;
  /** The bits of all characters that the last `span` passed over. */
  seen = 0;
  /** The last question found the beginning of one of these marks at `pos`, up to this node: while text only continues it, there is no answer. */
  half: Marks | undefined;
  #node = 0;

  add(text: string): void {
    this.text = this.pos < this.end ? this.text.slice(this.pos) + text : text;
    this.pos = 0;
    this.end = this.stop = this.text.length;
  }

  /** Adds text if it continues that mark without completing it. */
  addHalf(text: string): boolean {
    this.#node = this.half?.on(this.#node, text) ?? 0;
    if (this.#node === 0) return false;
    this.text += text;
    this.end = this.stop = this.text.length;
    return true;
  }

  /** No more text will come. */
  finish(): void {
    this.ended = true;
    this.stopAt(this.end);
  }
  /** Sets the limit for reading, one further if it would split a surrogate pair. */
  stopAt(stop: number): void {
    const { text, pos, end } = this;
    const tears = stop > pos && stop < end && isHigh(text.charCodeAt(stop - 1)) && isLow(text.charCodeAt(stop));
    this.stop = tears ? stop + 1 : stop;
    this.last = this.ended && this.stop === end;
  }

  slice(from: number, to: number): string {
    return from === 0 && to === this.end ? this.text : this.text.slice(from, to);
  }

  /** The text that the last question passed over. */
  get run(): string {
    return this.slice(this.from, this.pos);
  }
  /** The text at hand that is still unread. */
  get ahead(): string {
    return this.slice(this.pos, this.stop);
  }

  /**
   * Passes over text up to the next mark and answers with the mark, which stays unread; `""` at the end of the input. An incomplete mark
   * there is text, unless `cautious`: then it stays unread. Reading stops at `to` in any case.
   */
  until(marks: Marks, cautious = false, to = this.stop): string | undefined {
    const { text, stop, pos, last } = this;
    const { leads } = marks;
    this.from = pos;
    for (let at = pos; at < to; at++) {
      const code = text.charCodeAt(at);
      if (code >= 128 || leads[code] === 0) continue;
      const mark = marks.at(text, at, stop, last && !cautious);
      if (mark === "") continue;
      this.pos = at;
      if (mark !== undefined) return mark;
      this.#stayHalf(marks);
      return last ? "" : undefined;
    }
    if (to === stop) return this.#passAll();
    this.pos = to;
    return undefined;
  }

  /** The mark at `pos`, which stays unread; `""` if there is none. An incomplete mark at the end of the input is none, unless `cautious`: then `undefined`. */
  match(marks: Marks, cautious = false): string | undefined {
    const mark = marks.at(this.text, this.pos, this.stop, this.last && !cautious);
    if (mark === undefined) this.#stayHalf(marks);
    return mark;
  }
  #stayHalf(marks: Marks): void {
    this.half = marks;
    this.#node = marks.node;
  }

  /** Passes over blanks. Answers with the code of the next character, which stays unread; -1 at the end of the input. */
  blanks(): number | undefined {
    const { text, stop } = this;
    let at = this.pos;
    this.from = at;
    for (; at < stop; at++) {
      const code = text.charCodeAt(at);
      if (isBlank(code)) continue;
      this.pos = at;
      return code;
    }
    this.pos = at;
    return this.last ? -1 : undefined;
  }

  /** Passes over text up to a character in `stops` (with `wide`, or one that is not ASCII). Answers with its code; it stays unread. -1 at the end of the input. */
  span(stops: Uint8Array, wide: boolean): number | undefined {
    const { text, stop, pos } = this;
    let seen = 0;
    this.from = pos;
    for (let at = pos; at < stop; at++) {
      const code = text.charCodeAt(at);
      if (code < 128 ? stops[code] === 0 : !wide) {
        seen |= code;
        continue;
      }
      this.pos = at;
      this.seen = seen;
      return code;
    }
    this.seen = seen;
    return this.#passAll() === "" ? -1 : undefined;
  }

  /** Passes over everything, except a high surrogate whose other half may still come. */
  #passAll(): "" | undefined {
    const { stop, last } = this;
    this.pos = !last && stop > this.pos && isHigh(this.text.charCodeAt(stop - 1)) ? stop - 1 : stop;
    return last ? "" : undefined;
  }
}

/** Whether the text has no character in the table and no surrogate. */
export function hasNone(text: string, table: Uint8Array): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 128 ? table[code] === 1 : code >= 0xd800 && code < 0xe000) return false;
  }
  return true;
}

/** A table for `span` with these characters. */
export function charTable(chars: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const char of chars) table[char.charCodeAt(0)] = 1;
  return table;
}

/** A table for `span` with all of ASCII except these characters. */
export function charTableExcept(chars: string): Uint8Array {
  return charTable(chars).map((bit) => 1 - bit);
}
