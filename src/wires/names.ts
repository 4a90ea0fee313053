/** Renames tools whose names the target forbids, and restores their names in the answer. */
import { entryOf } from "./read.ts";

export interface NameRule {
  /** Matches one forbidden character, with the flag `g`. Absent: every character is allowed. */
  readonly forbidden?: RegExp;
  /** Absent: any length is allowed. */
  readonly max?: number | undefined;
  /** What a name must begin with, if the first character has a rule of its own. */
  readonly first?: RegExp;
}

export class Names {
  readonly #rule: NameRule;
  readonly #sent = new Map<string, string>();
  readonly #taken: Set<string>;
  /** From the name that was sent to ours, for the `WireContext`. */
  readonly context: Record<string, string> = {};

  /** `names`: all declared names, so that no new name collides with one of them. */
  constructor(names: Iterable<string>, rule: NameRule = {}) {
    this.#rule = rule;
    this.#taken = new Set(names);
  }

  /** The name to send. It depends only on the name itself (unless hashes collide), so that a cached prefix stays valid. */
  readonly out = (name: string): string => {
    const known = this.#sent.get(name);
    if (known !== undefined) return known;
    const { forbidden, max = Number.POSITIVE_INFINITY, first } = this.#rule;
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

/** Our name for the name that the server uses. */
export const ownName = (context: { readonly names: Readonly<Record<string, string>> }, name: string): string =>
  entryOf(context.names, name) ?? name;

/** Eight hexadecimal digits (FNV-1a). */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, "0");
}
