// A reader of GBNF grammars and a matcher, so that tests can ask whether a grammar accepts a text. It works like llama.cpp: a set of
// stacks, each with a character class on top, advanced character by character. It refuses what llama.cpp refuses, and what xgrammar, which
// gets the same grammars in structural tags, reads differently: `\x41`, `[^é]`, and a control character before a possible digit of its
// number.

type Class = { type: "class"; negated: boolean; ranges: [number, number][] };
type Item = Class | { type: "rule"; name: string };
type Alternatives = Item[][];

/** The rest of a sequence, and what follows it. Interned: the same stack is the same object. */
interface Stack {
  items: Item[];
  at: number;
  below: Stack | undefined;
  id: number;
}

const MAX_REPETITION = 2000; // llama.cpp's limit, also for a repeated group's rules times their repetitions

export class Gbnf {
  readonly #rules = new Map<string, Alternatives>();
  readonly #stacks = new Map<string, Stack>();
  readonly #sequences = new Map<Item[], number>();
  #least: Map<string, number> | undefined;

  constructor(text: string) {
    new Reader(text, this.#rules).read();
    for (const alternatives of this.#rules.values())
      for (const item of alternatives.flat())
        if (item.type === "rule" && !this.#rules.has(item.name)) throw new Error(`undefined rule ${item.name}`);
    if (!this.#rules.has("root")) throw new Error("no root");
    this.#refuseLeftRecursion();
  }

  accepts(text: string): boolean {
    return this.#after(this.#begin(), text).has(undefined);
  }

  /**
   * Some text that it accepts. `choose(n)` is a number below n; after `wanted` characters the shortest way to the end is taken. `words` are
   * tried wherever they fit.
   */
  sample(choose: (n: number) => number, wanted = 120, words: readonly string[] = []): string {
    let stacks = this.#begin();
    let text = "";
    while (!(stacks.has(undefined) && (text.length >= wanted || choose(stacks.size + 1) === 0))) {
      const word = text.length < wanted && choose(3) === 0 ? words[choose(words.length)] : undefined;
      const behind = word === undefined ? undefined : this.#after(stacks, word);
      const all = [...stacks].filter((stack) => stack !== undefined);
      const stack = text.length < wanted ? all[choose(all.length)] : all.toSorted((a, b) => this.#cost(a) - this.#cost(b))[0];
      const item = stack?.items[stack.at];
      if (behind && behind.size > 0) {
        stacks = behind;
        text += word;
      } else if (stack && item?.type === "class") {
        const char = this.#member(item, choose);
        // Near the end, nothing but the chosen way is followed, or a longer one could be taken next.
        stacks = text.length < wanted ? this.#after(stacks, char) : this.#expand(this.#push(stack.items, stack.at + 1, stack.below));
        text += char;
      }
    }
    return text;
  }

  #begin(): Set<Stack | undefined> {
    return this.#expand(this.#push([{ type: "rule", name: "root" }], 0, undefined));
  }

  /** Empty, if the text does not fit. */
  #after(stacks: Set<Stack | undefined>, text: string): Set<Stack | undefined> {
    let now = stacks;
    for (const char of text) {
      const code = char.codePointAt(0) ?? 0;
      const next = new Set<Stack | undefined>();
      for (const stack of now) {
        const item = stack?.items[stack.at];
        if (stack && item?.type === "class" && item.ranges.some(([from, to]) => from <= code && code <= to) !== item.negated)
          for (const one of this.#expand(this.#push(stack.items, stack.at + 1, stack.below))) next.add(one);
      }
      now = next;
    }
    return now;
  }

  /** The minimum number of characters from here to the end. */
  #cost(stack: Stack | undefined): number {
    if (!stack) return 0;
    this.#least ??= this.#shortest();
    const least = this.#least;
    const own = stack.items
      .slice(stack.at)
      .reduce((sum, item) => sum + (item.type === "class" ? 1 : (least.get(item.name) ?? Infinity)), 0);
    return own + this.#cost(stack.below);
  }

  /** The minimum number of characters of each rule. */
  #shortest(): Map<string, number> {
    const least = new Map<string, number>();
    for (let grows = true; grows; ) {
      grows = false;
      for (const [name, alternatives] of this.#rules) {
        const costs = alternatives.map((items) =>
          items.reduce((sum, item) => sum + (item.type === "class" ? 1 : (least.get(item.name) ?? Infinity)), 0),
        );
        const cost = Math.min(...costs);
        if (cost < (least.get(name) ?? Infinity)) {
          least.set(name, cost);
          grows = true;
        }
      }
    }
    return least;
  }

  #member({ negated, ranges }: Class, choose: (n: number) => number): string {
    if (!negated) {
      const [from, to] = ranges[choose(ranges.length)] ?? [63, 63];
      return String.fromCodePoint(from + choose(Math.min(to - from + 1, 64)));
    }
    const allowed = [..."aZ09 _-.,:;!?()äß漢"].filter(
      (char) => !ranges.some(([from, to]) => from <= char.charCodeAt(0) && char.charCodeAt(0) <= to),
    );
    return allowed[choose(allowed.length)] ?? "";
  }

  /** Nothing is pushed for the end of a sequence. */
  #push(items: Item[], at: number, below: Stack | undefined): Stack | undefined {
    if (at >= items.length) return below;
    const sequence = this.#sequences.get(items) ?? this.#sequences.size;
    this.#sequences.set(items, sequence);
    const key = `${sequence} ${at} ${below?.id}`;
    const stack = this.#stacks.get(key) ?? { items, at, below, id: this.#stacks.size };
    this.#stacks.set(key, stack);
    return stack;
  }

  /** The stacks with a class on top that this one expands to; `undefined` is the end. */
  #expand(start: Stack | undefined): Set<Stack | undefined> {
    const found = new Set<Stack | undefined>();
    const seen = new Set<Stack | undefined>();
    const queue = [start];
    while (queue.length > 0) {
      const stack = queue.pop();
      if (seen.has(stack)) continue;
      seen.add(stack);
      const item = stack?.items[stack.at];
      if (!stack || item?.type !== "rule") found.add(stack);
      else {
        const rest = this.#push(stack.items, stack.at + 1, stack.below);
        for (const items of this.#rules.get(item.name) ?? []) queue.push(this.#push(items, 0, rest));
      }
    }
    return found;
  }

  #refuseLeftRecursion(): void {
    const nullable = new Set<string>();
    const empty = (item: Item) => item.type === "rule" && nullable.has(item.name);
    for (let grows = true; grows; ) {
      grows = false;
      for (const [name, alternatives] of this.#rules)
        if (!nullable.has(name) && alternatives.some((items) => items.every(empty))) {
          nullable.add(name);
          grows = true;
        }
    }
    const done = new Set<string>();
    const visit = (name: string, path: Set<string>): void => {
      if (path.has(name)) throw new Error(`left recursion in ${name}`);
      if (done.has(name)) return;
      for (const items of this.#rules.get(name) ?? [])
        for (const item of items) {
          if (item.type === "rule") visit(item.name, new Set([...path, name]));
          if (!empty(item)) break;
        }
      done.add(name);
    };
    for (const name of this.#rules.keys()) visit(name, new Set());
  }
}

/** The rules that llama.cpp counts: those it has met by their names, and those that it makes of groups and repetitions. */
class Counted {
  readonly #names = new Set<string>();
  made = 0;
  meet(name: string): void {
    this.#names.add(name);
  }
  get size(): number {
    return this.#names.size + this.made;
  }
}

class Reader {
  #at = 0;
  #made = 0;
  readonly text: string;
  readonly rules: Map<string, Alternatives>;
  readonly #counted: Counted;
  constructor(text: string, rules: Map<string, Alternatives>, counted = new Counted()) {
    this.text = text;
    this.rules = rules;
    this.#counted = counted;
  }

  read(): void {
    for (const line of this.text.split("\n").filter(Boolean)) {
      const [, name = "", body = ""] = /^([a-zA-Z0-9-]+) ::= (.*)$/.exec(line) ?? [];
      if (name === "") throw new Error(`no rule: ${line}`);
      if (this.rules.has(name)) throw new Error(`two rules ${name}`);
      this.#counted.meet(name);
      const reader = new Reader(body, this.rules, this.#counted);
      this.rules.set(name, reader.#alternatives(name));
      if (reader.#at < body.length) throw new Error(`in ${name}: cannot read ${body.slice(reader.#at, reader.#at + 40)}`);
    }
  }

  #alternatives(name: string): Alternatives {
    const all = [this.#sequence(name)];
    while (this.#take("|")) all.push(this.#sequence(name));
    return all;
  }

  #take(token: string): boolean {
    while (this.text[this.#at] === " ") this.#at++;
    if (!this.text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #sequence(name: string): Item[] {
    const items: Item[] = [];
    for (;;) {
      const before = this.#counted.size;
      const isGroup = /^ *\(/.test(this.text.slice(this.#at));
      const atom = this.#atom(name);
      if (!atom) {
        if (items.length === 0 && !/""\s*$/.test(this.text.slice(0, this.#at)))
          throw new Error(`in ${name}: nothing before ${this.text.slice(this.#at)}`);
        return items;
      }
      items.push(...this.#repeated(name, atom, isGroup ? this.#counted.size - before : 1));
    }
  }

  #atom(name: string): Item[] | undefined {
    if (this.#take('"')) return this.#chars('"').map((code) => ({ type: "class", negated: false, ranges: [[code, code]] }));
    if (this.#take("[")) {
      const negated = this.text[this.#at] === "^";
      if (negated) this.#at++;
      const ranges = this.#ranges();
      if (negated && ranges.some(([, to]) => to > 0x7f))
        throw new Error(`in ${name}: xgrammar loses what is not ASCII from a negated class`);
      return [{ type: "class", negated, ranges }];
    }
    if (this.#take("(")) {
      const own = `${name} ${this.rules.size} ${this.#made++}`;
      this.#counted.made++;
      this.rules.set(own, []);
      this.rules.set(own, this.#alternatives(name));
      if (!this.#take(")")) throw new Error(`in ${name}: ) is missing`);
      return [{ type: "rule", name: own }];
    }
    const [word] = /^[a-zA-Z0-9-]+/.exec(this.text.slice(this.#at)) ?? [];
    if (word === undefined) return undefined;
    this.#at += word.length;
    this.#counted.meet(word);
    return [{ type: "rule", name: word }];
  }

  /** `size`: how many rules the atom brought in. */
  #repeated(name: string, atom: Item[], size: number): Item[] {
    const [whole, sign, least, comma, most] = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})/.exec(this.text.slice(this.#at)) ?? [];
    if (whole === undefined) return atom;
    this.#at += whole.length;
    const min = sign ? Number(sign === "+") : Number(least);
    const max = sign ? (sign === "?" ? 1 : Infinity) : most ? Number(most) : comma ? Infinity : min;
    if (min > MAX_REPETITION || (max < Infinity && max > MAX_REPETITION)) throw new Error(`in ${name}: too many repetitions`);
    if (size * ((max < Infinity && max) || min || 1) >= MAX_REPETITION) throw new Error(`in ${name}: too many rules are repeated`);
    this.#counted.made += max === Infinity ? 1 : max - min;
    const out = Array.from({ length: min }, () => atom).flat();
    const own = (n: number | string) => `${name} ${this.rules.size} repeat ${n}`;
    if (max === Infinity) {
      const rest = own("all");
      this.rules.set(rest, [[...atom, { type: "rule", name: rest }], []]);
      return [...out, { type: "rule", name: rest }];
    }
    let rest: Item[] = [];
    for (let n = min; n < max; n++) {
      const one = own(n);
      this.rules.set(one, [[...atom, ...rest], []]);
      rest = [{ type: "rule", name: one }];
    }
    return [...out, ...rest];
  }

  #chars(end: string): number[] {
    const out: number[] = [];
    while (this.text[this.#at] !== end) out.push(this.#char());
    this.#at++;
    return out;
  }

  #ranges(): [number, number][] {
    const out: [number, number][] = [];
    while (this.text[this.#at] !== "]") {
      const from = this.#char();
      const isRange = this.text[this.#at] === "-" && this.text[this.#at + 1] !== "]";
      if (isRange) this.#at++;
      out.push([from, isRange ? this.#char() : from]);
    }
    this.#at++;
    return out;
  }

  #char(): number {
    const rest = this.text.slice(this.#at, this.#at + 10);
    if (rest === "") throw new Error("the end inside of a literal");
    const [escaped, hex, simple] = /^\\(?:[uU]((?<=u)[0-9a-fA-F]{4}|(?<=U)[0-9a-fA-F]{8})|([trn\\"[\]]))/.exec(rest) ?? [];
    if (escaped !== undefined) {
      this.#at += escaped.length;
      if (/^\\u00[017]/.test(escaped) && /^[\da-f]/i.test(this.text.slice(this.#at)))
        throw new Error(`${rest}: xgrammar reads more digits`);
      return hex === undefined ? ({ t: 9, r: 13, n: 10 }[simple ?? ""] ?? (simple ?? "").charCodeAt(0)) : Number.parseInt(hex, 16);
    }
    if (rest.startsWith("\\")) throw new Error(`unknown escape ${rest}`);
    const code = rest.codePointAt(0) ?? 0;
    this.#at += String.fromCodePoint(code).length;
    return code;
  }
}
