/** The ways in which an opening tag gives a name: `<tag=name>`, `<tag name="…">` or `<tag>name</tag>`. */
import { MAX_NAME } from "../../core/reader.ts";
import { Marks } from "../../core/window.ts";
import type { Scan } from "./scan.ts";
import type { Param } from "./values.ts";

export interface Head {
  readonly ends: Marks;
  /** The same inside a value, where the tag may be content. */
  readonly endsInside: Marks;
  /** Those ends that are already the beginning of what follows. */
  readonly next: readonly string[];
  /** How it ends where the tag of a value follows. */
  readonly whole?: readonly string[];
  /** `type`: what the head says about the value; `rest`: what follows the attributes. Heads of calls get the scanner, for its tools. */
  read(text: string, s?: Scan): { readonly name?: string | undefined; readonly type?: Param["type"] | undefined; readonly rest?: string };
}

/** The longest head. Inside a value, a longer one is content. */
export const MAX_TAG = 2 * MAX_NAME;
const EQUALS = "=";
const TAG_END = [">", "/>", "<"];
const TAG = { ends: new Marks([...TAG_END, '"', "'"]), endsInside: new Marks(TAG_END), next: ["<"] };
const ATTRIBUTE = /\s*([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|“([^”]*)”|([^\s"']\S*))/y;

/** `<tag=name>` */
export const NAME: Head = {
  ...TAG,
  read(text) {
    const name = text.trim();
    const quoted = name.length > 1 && /^["']/.test(name) && name.endsWith(name.charAt(0));
    return { name: quoted ? name.slice(1, -1) : name };
  },
};

/** `<tag name="…" string="…">` */
export const ATTRIBUTES: Head = {
  ...TAG,
  ends: new Marks([...TAG_END, '"', "'", EQUALS]),
  read(text) {
    const { found, rest } = attributesOf(text);
    const string = found.get("string");
    return { name: found.get("name"), type: string === "true" ? "string" : string === "false" ? "json" : undefined, rest };
  },
};

/** `rest`: what follows the attributes. */
export function attributesOf(text: string): { found: ReadonlyMap<string, string>; rest: string } {
  const found = new Map<string, string>();
  let end = 0;
  ATTRIBUTE.lastIndex = 0;
  for (let match = ATTRIBUTE.exec(text); match; match = ATTRIBUTE.exec(text)) {
    found.set(match[1] ?? "", match[2] ?? match[3] ?? match[4] ?? match[5] ?? "");
    end = ATTRIBUTE.lastIndex;
  }
  return { found, rest: text.slice(end).trim() };
}

/** `<tag>name</tag>`. Models sometimes write the closer twice. */
export const element = (close: string, next: string): Head => ({
  ends: new Marks([close, close + close, next]),
  endsInside: new Marks([close, "<"]),
  next: [next, "<"],
  whole: [close + next, `${close}\n${next}`],
  read: (name) => ({ name }),
});

export function openHead(s: Scan): void {
  s.word = "";
  s.quote = EQUALS;
}

/** Reads a head up to its end, which stays unread; `null` if it is too long. Inside quotes that follow a `=`, only the marks in `quotes` end it. */
export function readHead(s: Scan, ends: Marks, quotes: ReadonlyMap<string, Marks>, max: number): string | null | undefined {
  for (;;) {
    const mark = s.readWord(quotes.get(s.quote) ?? ends, max);
    if (s.quote === EQUALS && s.run.trim() !== "") s.quote = "";
    if (mark !== '"' && mark !== "'" && mark !== EQUALS) return mark;
    if (quotes.has(s.quote)) s.quote = "";
    else if (mark === EQUALS || s.quote === EQUALS) s.quote = mark;
    s.word += mark;
    s.pos++;
  }
}
