/**
 * Grammars in llama.cpp's notation (GBNF), which xgrammar reads too:
 *
 *     root ::= "<|tool_call>call:" f
 *     f ::= "f{n:" integer "}"
 *
 * What this room calls an atom may stand in a sequence as it is; a body may be a choice.
 */

/** Rules under construction. The same body is one rule, whoever asks for it. */
export class Rules {
  readonly #bodies = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #made = new Map<string, string>();
  readonly #taken = new Map<string, number>();

  get size(): number {
    return this.#bodies.size;
  }

  /** The rule with this body; if it is new, it is named after the hint. */
  rule(hint: string, body: string): string {
    if (/^[\w-]+$/.test(body)) return body;
    const name = this.#names.get(body) ?? this.reserve(hint);
    this.fill(name, body);
    return name;
  }

  choice(hint: string, atoms: readonly string[]): string {
    return this.rule(hint, [...new Set(atoms)].join(" | "));
  }

  /** What was made under this key before, or is made now. */
  once(key: string, make: () => string): string {
    const made = this.#made.get(key) ?? make();
    this.#made.set(key, made);
    return made;
  }

  /** A rule whose body comes later, because it will mention itself. */
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
const hex = (char: string): string => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be escaped
export const literal = (text: string): string => `"${text.replace(/["\\\x00-\x1f\x7f]/g, (char) => ESCAPES[char] ?? hex(char))}"`;

/** Characters inside of brackets. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be escaped
const inClass = (chars: string): string => chars.replace(/["\\\]^[\-\x00-\x1f\x7f]/g, hex);

export const optional = (body: string): string => (body === "" ? "" : `(${body})?`);

/** Blanks as JSON printers put them: none, one, or a new line; no more, since a weak model would go on for ever. */
export const blanks = (rules: Rules): string => rules.rule("ws", '(" " | "\\n"{1,2} [ \\t]{0,20})?');

/**
 * Any text that has none of the marks in it: an automaton with a state for every beginning of a mark, as one rule each. The last reference
 * of a rule costs llama.cpp no stack.
 */
export const until = (rules: Rules, marks: readonly string[]): string =>
  rules.once(`until ${marks.join(" ")}`, () => automaton(rules, marks));

function automaton(rules: Rules, marks: readonly string[]): string {
  const beginnings = [...new Set(marks.flatMap((mark) => Array.from({ length: mark.length }, (_, i) => mark.slice(0, i))))];
  const alphabet = [...new Set(marks.join(""))];
  const names = new Map(beginnings.map((beginning) => [beginning, rules.reserve("text")]));
  for (const [beginning, name] of names) {
    const targets = new Map<string, string>();
    let left = "";
    for (const char of alphabet) {
      const seen = beginning + char;
      let next = seen;
      while (!names.has(next)) next = next.slice(1);
      const ends = marks.some((mark) => seen.endsWith(mark));
      if (ends || next !== "") left += char;
      if (!ends && next !== "") targets.set(next, (targets.get(next) ?? "") + char);
    }
    const steps = [...targets].map(([next, chars]) => `[${inClass(chars)}] ${names.get(next)}`);
    rules.fill(name, [`[^${inClass(left)}] ${names.get("")}`, ...steps, '""'].join(" | "));
  }
  return names.get("") ?? '""';
}

/** A word that is none of these, without the excluded characters (as they stand in brackets); an atom. */
export function otherWord(words: readonly string[], excluded: string): string {
  const behind = (beginning: string): string => {
    const nexts = [...new Set(words.flatMap((word) => (word.startsWith(beginning) ? [word.charAt(beginning.length)] : [])))].join("");
    const other = `[^${excluded}${inClass(nexts)}] [^${excluded}]*`;
    const steps = Array.from(nexts, (char) => `${literal(char)} ${behind(beginning + char)}`);
    return `(${[other, ...steps, ...(beginning === "" || words.includes(beginning) ? [] : ['""'])].join(" | ")})`;
  };
  return behind("");
}
