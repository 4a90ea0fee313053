/**
 * JSON text: the spelling of strings and numbers, and the one writer, which also builds the value. The reader in `reader.ts` turns JSON, or
 * another syntax of the same shape, into calls of the writer.
 */
import type { Json, JsonObject } from "./nouns.ts";
import { Pile } from "./pile.ts";

/** The text as it appears between the quotes of a JSON string. A lone surrogate is escaped, so that no encoder can corrupt it. */
export function escapeJson(text: string): string {
  if (text.length < 64) {
    let at = 0;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code < 32 || code === 34 || code === 92 || (code >= 0xd800 && code < 0xe000)) break;
    }
    if (at === text.length) return text;
  }
  return JSON.stringify(text).slice(1, -1);
}

export const unescapeJson = (run: string): string => (run.includes("\\") ? (JSON.parse(`"${run}"`) as string) : run);

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** No group repeats: engines keep a place on a stack for each repetition, and a number of millions of characters would overflow it. */
const NUMBER = /^([+-]?)(\d[\d_]*)?(?:\.(\d[\d_]*)?)?(?:[eE]([+-]?\d+))?$/;
const LOOSE_UNDERSCORE = /_(?!\d)/;

/** A number as JSON spells it (`+1.5`, `07`, `108.`, `.5`, `1_000`), digit for digit; `undefined` if it is not a number. */
export function jsonNumber(text: string): string | undefined {
  if (JSON_NUMBER.test(text)) return text;
  const match = NUMBER.exec(text);
  if (!match || LOOSE_UNDERSCORE.test(text)) return undefined;
  const [, sign, whole, fraction, exponent] = match;
  if (whole === undefined && fraction === undefined) return undefined;
  const digits = (whole ?? "0").replaceAll("_", "").replace(/^0+(?=\d)/, "");
  return `${sign === "-" ? "-" : ""}${digits}${fraction ? `.${fraction.replaceAll("_", "")}` : ""}${exponent ? `e${exponent}` : ""}`;
}

/** The JSON text of a number or a literal, also as Python spells it; `undefined` if it is neither. */
export function jsonScalar(text: string): string | undefined {
  return jsonNumber(text) ?? (text === "None" ? "null" : /^([tT]rue|[fF]alse|null)$/.test(text) ? text.toLowerCase() : undefined);
}

type Draft = Json[] | { [key: string]: Json };

/**
 * Writes JSON text piece by piece and builds the value along with it. A comma, a key and blanks are held back until the value that they
 * belong to begins, the last bracket until the value is wanted as a whole. Strings come in runs that are already escaped and never end
 * inside an escape. What was cut is never closed.
 */
export class JsonWriter {
  /** Text that was taken: up to the open string, and of the open string. */
  readonly #taken = new Pile();
  readonly #string = new Pile();
  /** Text that was not taken yet: the same two. */
  #delta = "";
  #run = "";
  #inString = false;
  /** The open string, decoded; only for callers that read `value` while it grows. */
  readonly #decoded: Pile | undefined;
  /** The open string was already put into its container. */
  #placed = false;
  #gap = "";
  #last = "";
  #comma = false;
  #empty = true;
  #root: Json | undefined;
  #draft: Draft | undefined;
  readonly #outer: Draft[] = [];
  #key = "";

  constructor(watched = false) {
    if (watched) this.#decoded = new Pile();
  }

  /** Makes it ready for the next value. */
  clear(): void {
    this.#taken.clear();
    this.#string.clear();
    this.#delta = this.#run = this.#gap = this.#last = "";
    this.#inString = this.#comma = false;
    this.#empty = true;
    this.#root = this.#draft = undefined;
    while (this.#outer.length > 0) this.#outer.pop(); // setting a length is slow
  }

  /** The text that was written since the last call. Only the `whole` text has the last bracket: nobody may take a part for the whole. */
  take(whole = false): string {
    if (whole) {
      this.#delta += this.#last;
      this.#last = "";
    }
    const delta = this.#delta;
    const run = this.#run;
    if (delta !== "") {
      this.#taken.add(delta);
      this.#delta = "";
    }
    if (run === "") return delta;
    this.#run = "";
    this.#string.add(run);
    this.#decoded?.add(unescapeJson(run));
    return delta + run;
  }

  get text(): string {
    return this.#taken.toString() + this.#delta + this.#string.toString() + this.#run + this.#last;
  }
  get begun(): boolean {
    return this.#root !== undefined || this.#inString;
  }
  /** Whether the value is complete. */
  get complete(): boolean {
    return this.#root !== undefined && this.#draft === undefined && !this.#inString;
  }
  /** The value so far: an unfinished string as far as it goes, a key without a value not at all. */
  get value(): Json | undefined {
    if (this.#inString) this.#place();
    return this.#root;
  }

  /** Whether the open object has this key. */
  has(key: string): boolean {
    return this.#draft !== undefined && Object.hasOwn(this.#draft, key);
  }
  /** The number of elements in the open list. */
  get count(): number {
    return Array.isArray(this.#draft) ? this.#draft.length : 0;
  }

  open(list: boolean): void {
    this.#begin(list ? "[" : "{");
    const draft: Draft = list ? [] : {};
    this.#put(draft);
    if (this.#draft) this.#outer.push(this.#draft);
    this.#draft = draft;
    this.#empty = true;
  }
  shut(): void {
    const end = (this.#comma ? "" : this.#gap) + (Array.isArray(this.#draft) ? "]" : "}");
    this.#gap = "";
    this.#comma = this.#empty = false;
    this.#draft = this.#outer.length > 0 ? this.#outer.pop() : undefined;
    if (this.#draft) this.#delta += end;
    else this.#last = end;
  }
  /** A key, and the same as JSON text with its colon. */
  key(key: string, json: string): void {
    this.#gap += this.#empty || this.#comma ? json : `,${json}`;
    this.#empty = true;
    this.#comma = false;
    this.#key = key;
  }
  comma(): void {
    if (this.#empty || this.#comma) return;
    this.#gap += ",";
    this.#comma = true;
  }
  /** Blanks between tokens. */
  space(blanks: string): void {
    this.#gap += blanks;
  }
  string(): void {
    this.#begin('"');
    this.#inString = true;
    this.#placed = false;
  }
  /** The next piece of the open string, as JSON text. */
  run(json: string): void {
    this.#run += json;
  }
  done(): void {
    this.#place();
    this.#inString = false;
    if (this.#string.length > 0) {
      this.#taken.add(this.#string.toString());
      this.#string.clear();
      this.#decoded?.clear();
    }
    this.#delta += `${this.#run}"`;
    this.#run = "";
  }
  /** A number, `true`, `false` or `null`, as JSON text. */
  scalar(json: string): void {
    this.#begin(json);
    this.#put(json === "null" ? null : json === "true" ? true : json === "false" ? false : Number(json));
  }

  #begin(text: string): void {
    this.#delta += this.#gap + (this.#empty || this.#comma ? text : `,${text}`);
    this.#gap = "";
    this.#comma = this.#empty = false;
  }
  #place(): void {
    if (this.#placed && Array.isArray(this.#draft)) this.#draft.pop();
    this.#placed = true;
    const run = this.#run;
    this.#put(this.#decoded ? this.#decoded.toString() + unescapeJson(run) : unescapeJson(this.#string.toString() + run));
  }
  #put(value: Json): void {
    const draft = this.#draft;
    if (draft === undefined) this.#root = value;
    else if (Array.isArray(draft)) draft.push(value);
    else setOwn(draft, this.#key, value);
  }
}

/** Sets an own property, even if its key is `__proto__`. */
export function setOwn<T>(target: Record<string, T>, key: string, value: T): void {
  if (key === "__proto__") Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  else target[key] = value;
}

export const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
