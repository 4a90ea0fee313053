/**
 * Grammars in llama.cpp's notation (GBNF), which xgrammar reads too:
 *
 *     root ::= "<|tool_call>call:" f
 *     f ::= "f{n:" integer "}"
 *
 * An atom, as it is called here, can be part of a sequence as it is; a body may be a choice.
 */

/** Rules under construction. Equal bodies share one rule. */
export class Rules {
  readonly #bodies = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #taken = new Map<string, number>();
  readonly #made = new Map<string, string>();

  get size(): number {
    return this.#bodies.size;
  }

  /** The rule with this body; if it is new, it is named after the hint. A single name or literal needs none. */
  rule(hint: string, body: string): string {
    if (/^([\w-]*|"(\\.|[^"\\])*")$/.test(body)) return body;
    const name = this.#names.get(body) ?? this.reserve(hint);
    this.fill(name, body);
    return name;
  }

  choice(hint: string, atoms: readonly string[]): string {
    return this.rule(hint, [...new Set(atoms)].join(" | "));
  }

  /** A rule whose body comes later, because it refers to itself. */
  reserve(hint: string): string {
    const word = hint.replace(/[^a-zA-Z0-9]+/g, "-").slice(0, 48);
    const base = /^[a-zA-Z]/.test(word) ? word : `x-${word}`;
    let name = base;
    for (let count = this.#taken.get(base) ?? 0; name === "root" || this.#bodies.has(name); count++) {
      name = `${base}-${count}`;
      this.#taken.set(base, count + 1);
    }
    this.#bodies.set(name, "");
    return name;
  }

  fill(name: string, body: string): void {
    this.#bodies.set(name, body);
    this.#names.set(body, name);
  }

  /** Makes a group of rules that refer to each other only once; `what` identifies the group. */
  once(what: string, make: () => string): string {
    const name = this.#made.get(what) ?? make();
    this.#made.set(what, name);
    return name;
  }

  /** The grammar of this root, without the rules that it does not need. */
  text(root: string): string {
    const lines = new Map([["root", root]]);
    for (const body of lines.values()) for (const name of mentioned(body)) lines.set(name, this.#bodies.get(name) ?? '""');
    return [...lines].map(([name, body]) => `${name} ::= ${body}\n`).join("");
  }
}

const mentioned = (body: string): string[] =>
  (body.match(/"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|[a-zA-Z][\w-]*/g) ?? []).filter((token) => /^[a-zA-Z]/.test(token));

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\" };
/** Not `\x`: xgrammar reads as many digits after it as there are, llama.cpp two. */
const hex = (code: number): string =>
  code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;

export function literal(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be escaped
  const escaped = text.replace(/["\\\x00-\x1f\x7f]/g, (char) => ESCAPES[char] ?? hex(char.charCodeAt(0)));
  // xgrammar prints such a character as `\x` and reads that again, so no digit may follow it.
  return `"${escaped.replace(/(\\u00..)(?=[\da-f])/gi, '$1" "')}"`;
}

const codeOf = (char: string): number => char.codePointAt(0) ?? 0;

/** A character inside brackets. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be escaped
const inClass = (char: string): string => (/[\\\]^[\-\x00-\x1f\x7f]/.test(char) ? (ESCAPES[char] ?? hex(codeOf(char))) : char);

const span = (from: string, to: string): string => (from === to ? from : `${from}-${to}`);

/** Any character but these; `a-z` is a range. Beyond ASCII, all other characters are listed, since xgrammar loses such ones from a negated class. */
export function noneOf(chars: readonly string[]): string {
  const ranges = [...new Set(chars)].map((given): [string, string] => {
    const [from = "", , to = from] = given;
    return [from, to];
  });
  if (ranges.every(([, to]) => to < "\x80")) {
    const isControl = ([, to]: [string, string]) => to < " " || to > "~"; // these come last, so that no digit follows them
    const sorted = ranges.toSorted((a, b) => Number(isControl(a)) - Number(isControl(b)));
    return `[^${sorted.map(([from, to]) => span(inClass(from), inClass(to))).join("")}]`;
  }
  const codes = ranges.map(([from, to]) => [codeOf(from), codeOf(to)] as const).toSorted(([a], [b]) => a - b);
  let next = 0;
  const others = [...codes, [MAX_CODE + 1, MAX_CODE + 1] as const].map(([from, to]) => {
    const before = next < from ? span(hex(next), hex(from - 1)) : "";
    next = Math.max(next, to + 1);
    return before;
  });
  return `[${others.join("")}]`;
}

const MAX_CODE = 0x10ffff;

/** A sequence of the atoms that are not empty. */
export const row = (...atoms: readonly (string | false)[]): string => atoms.filter(Boolean).join(" ");

export const optional = (body: string): string => (body === "" ? "" : `(${body})?`);

/** Blanks as JSON printers write them: none, one, or a line break; no more, because a weak model may go on forever. */
export const blanks = (rules: Rules, indent = 20): string => rules.rule("ws", `(" " | "\\n"{1,2} [ \\t]{0,${indent}})?`);

/** Any text without these marks: one rule for each beginning of a mark that the text so far may end with. */
export function until(rules: Rules, marks: readonly string[]): string {
  const begun = new Set(marks.flatMap((mark) => Array.from(mark, (_, i) => mark.slice(0, i))));
  const chars = [...new Set(marks.join(""))];
  /** The end of a text that may still become a mark. */
  const rest = (text: string): string => (begun.has(text) ? text : rest(text.slice(1)));
  return rules.once(`text until ${marks.join(" ")}`, () => {
    const names = new Map(Array.from(begun, (beginning) => [beginning, rules.reserve("text")]));
    for (const [beginning, name] of names) {
      const ends = chars.filter((char) => marks.some((mark) => (beginning + char).endsWith(mark)));
      const goes = chars.filter((char) => !ends.includes(char) && rest(beginning + char) !== "");
      const steps = goes.map((char) => `${literal(char)} ${names.get(rest(beginning + char))}`);
      rules.fill(name, [...steps, `${noneOf([...goes, ...ends])} ${names.get("")}`, '""'].join(" | "));
    }
    return names.get("") ?? "";
  });
}

/** A word that is none of these, without the excluded characters (as `noneOf` takes them), and with none of `first` at its beginning; an atom. */
export function otherWord(given: readonly string[], excluded: readonly string[], first: readonly string[] = []): string {
  // A given word with an excluded character cannot be written here at all, and must not bring in that character.
  const isExcluded = (char: string) => excluded.some(([from = "", , to = from]) => from <= char && char <= to);
  const words = given.filter((word) => ![...word].some(isExcluded));
  const behind = (beginning: string): string => {
    const nexts = new Set(words.flatMap((word) => (word.startsWith(beginning) ? [...word.slice(beginning.length)].slice(0, 1) : [])));
    const other = `${noneOf([...excluded, ...(beginning === "" ? first : []), ...nexts])} ${noneOf(excluded)}*`;
    const steps = Array.from(nexts, (char) => `${literal(char)} ${behind(beginning + char)}`);
    return `(${[other, ...steps, ...(beginning === "" || words.includes(beginning) ? [] : ['""'])].join(" | ")})`;
  };
  return behind("");
}
