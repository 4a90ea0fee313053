/** Tool names that a target forbids go there under another name, and come back under their own. */
import { entryOf } from "./read.ts";

export interface NameRule {
  /** Matches one character that is forbidden; with the flag `g`. Absent: none is. */
  readonly forbidden?: RegExp;
  readonly max: number;
  /** What a name must begin with, if the first character is special. */
  readonly first?: RegExp;
}

export class Names {
  readonly #rule: NameRule;
  readonly #sent = new Map<string, string>();
  readonly #taken: Set<string>;
  /** The name that was sent, then ours: what a `WireContext` holds. */
  readonly context: Record<string, string> = {};

  /** `names`: all that are declared, so that no new name meets one of them. */
  constructor(names: Iterable<string>, rule: NameRule) {
    this.#rule = rule;
    this.#taken = new Set(names);
    for (const name of this.#taken) this.out(name);
  }

  /** The name as the target gets it. Depends on nothing but the name, so that a cached prefix stays what it was. */
  readonly out = (name: string): string => {
    const known = this.#sent.get(name);
    if (known !== undefined) return known;
    const { forbidden, max, first } = this.#rule;
    let base = forbidden ? name.replace(forbidden, "_") : name;
    if (first && !first.test(base)) base = `_${base}`;
    let sent = base;
    if (base !== name || base.length > max) {
      for (let salt = 0; salt === 0 || this.#taken.has(sent); salt++) sent = `${base.slice(0, max - 9)}_${hash(`${name}${salt || ""}`)}`;
      this.#taken.add(sent);
      this.context[sent] = name;
    }
    this.#sent.set(name, sent);
    return sent;
  };
}

/** Our name of what a server calls by another. */
export const ownName = (context: { readonly names: Readonly<Record<string, string>> }, name: string): string =>
  entryOf(context.names, name) ?? name;

/** Eight hexadecimal digits (FNV-1a). */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, "0");
}
