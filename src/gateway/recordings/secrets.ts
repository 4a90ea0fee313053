/** Removes secrets from recordings: the keys that are known, and whatever looks like a key. */
import { isObject } from "../../core/json.ts";
import { SECRET_NAME } from "../edge.ts";

/** Where a key may begin: where a word does, or right after a JSON escape such as `\n`, whose letter would pass for a part of the word. */
const START = String.raw`(?:\b|(?<=\\(?:[bfnrt]|u[0-9a-fA-F]{4})))`;

/** The formats of well-known issuers' keys. */
const KEYS = [
  "sk-[A-Za-z0-9_-]{16,}",
  "AIza[A-Za-z0-9_-]{30,}",
  "gh[pousr]_[A-Za-z0-9]{30,}",
  "github_pat_[A-Za-z0-9_]{30,}",
  "hf_[A-Za-z0-9]{30,}",
  "xox[abprs]-[A-Za-z0-9-]{10,}",
  String.raw`AKIA[A-Z0-9]{16}\b`,
];

const SHAPES = [
  `${START}(?:${KEYS.join("|")})`, // START once: looked for before each of them, it would take five times as long
  `(?<=${START}Bearer )[A-Za-z0-9._~+/-]{8,}=*`,
  String.raw`-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\\rn\s]{1,20000}-----END [A-Z ]{0,30}PRIVATE KEY-----`,
];

const SECRET = "[secret]";

export class Secrets {
  #known: readonly string[];
  #pattern: RegExp;

  constructor(known: readonly string[]) {
    this.#known = known;
    this.#pattern = patternOf(known);
  }

  add(more: readonly string[]): void {
    this.#known = [...new Set([...this.#known, ...more])];
    this.#pattern = patternOf(this.#known);
  }

  clean(text: string): string {
    return text.replace(this.#pattern, SECRET);
  }

  /** A copy in which every string and every key is clean. */
  value<T>(value: T): T;
  value(value: unknown): unknown {
    if (typeof value === "string") return this.clean(value);
    if (Array.isArray(value)) return value.map((item) => this.value(item as unknown));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.clean(key), this.value(item)]));
  }

  /** The same for the fields of a record, which keep their names; `words` are fields that hold the format's own words. */
  fields<T extends object>(record: T, words: ReadonlySet<string>): T {
    const fields = Object.entries(record).map(([name, value]) => [name, words.has(name) ? value : this.value(value as unknown)]);
    return Object.fromEntries(fields) as T;
  }

  headers(headers: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, SECRET_NAME.test(name) ? SECRET : this.clean(value)]));
  }

  /** Cleans the pieces of one text. A secret may begin in one piece and end in another. */
  pieces(pieces: readonly Buffer[]): Buffer[] {
    const whole = Buffer.concat(pieces).toString("latin1");
    const spans = [...whole.matchAll(this.#pattern)].map((match) => ({ from: match.index, to: match.index + match[0].length }));
    let start = 0;
    let next = 0; // the first span that does not end before this piece; searching from 0 each time would be quadratic
    return pieces.map((piece) => {
      const end = start + piece.length;
      let out = "";
      let at = start;
      for (; next < spans.length && spans[next]!.from < end; next++) {
        const { from, to } = spans[next]!;
        out += whole.slice(at, Math.max(at, from)) + (from >= start ? SECRET : "");
        at = Math.min(to, end);
        if (to > end) break; // the secret continues in the next piece
      }
      out += whole.slice(at, end);
      start = end;
      return Buffer.from(out, "latin1");
    });
  }
}

function patternOf(known: readonly string[]): RegExp {
  const forms = known.filter((secret) => secret.length >= 4).flatMap(formsOf);
  const literals = [...new Set(forms)].toSorted((a, b) => b.length - a.length).map(escaped);
  return new RegExp([...literals, ...SHAPES].join("|"), "g");
}

/** The secret as it is, as its UTF-8 bytes (`pieces` searches bytes), in JSON, and in a URL. */
const formsOf = (secret: string): string[] => [
  secret,
  Buffer.from(secret, "utf8").toString("latin1"),
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
];

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
