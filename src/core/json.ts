/**
 * JSON text: how strings and numbers are spelled, one writer of it, and one builder of the value that it stands for. Both are sinks of
 * the reader in `reader.ts`, which turns JSON, or another syntax of the same shape, into calls of `Sink`.
 */
import type { Json, JsonObject } from "./nouns.ts";
import { Pile } from "./pile.ts";

/** What a reader says, in the order in which it is written. Strings come in runs of JSON text, escaped and never cut inside an escape. */
export interface Sink {
  /** An answer is who listens to what is inside, up to `shut`. */
  open(bracket: "{" | "["): Sink | undefined;
  shut(): void;
  /** A key, decoded, and as JSON text with the colon behind it. */
  key(key: string, json: string): void;
  comma(): void;
  /** Blanks between tokens, where the syntax has JSON's own. */
  space(blanks: string): void;
  string(): void;
  run(json: string): void;
  done(): void;
  /** A number, `true`, `false` or `null`, as JSON text. */
  scalar(json: string): void;
  /** The reader need not go on. */
  readonly halted?: boolean;
}

/** The text as it stands between the quotes of a JSON string. Half a surrogate pair is escaped, so that no encoder can spoil it. */
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
const NUMBER = /^([+-]?)(\d+(?:_\d+)*)?(?:\.(\d+(?:_\d+)*)?)?(?:[eE]([+-]?\d+))?$/;

/** A number as JSON spells it (`+1.5`, `07`, `108.`, `.5`, `1_000`), digit for digit; `undefined` if it is none. */
export function jsonNumber(text: string): string | undefined {
  if (JSON_NUMBER.test(text)) return text;
  const match = NUMBER.exec(text);
  if (!match) return undefined;
  const [, sign, whole, fraction, exponent] = match;
  if (whole === undefined && fraction === undefined) return undefined;
  const digits = (whole ?? "0").replaceAll("_", "").replace(/^0+(?=\d)/, "");
  return `${sign === "-" ? "-" : ""}${digits}${fraction ? `.${fraction.replaceAll("_", "")}` : ""}${exponent ? `e${exponent}` : ""}`;
}

/** The JSON text of a number or a literal, also as Python spells it; `undefined` if it is none. */
export function jsonScalar(text: string): string | undefined {
  if (text === "None") return "null";
  return /^([tT]rue|[fF]alse|null)$/.test(text) ? text.toLowerCase() : jsonNumber(text);
}

type Draft = Json[] | { [key: string]: Json };

/** Builds a value while its text is still being written. */
export class JsonBuilder implements Sink {
  #root: Json | undefined;
  #draft: Draft | undefined;
  readonly #outer: Draft[] = [];
  #key = "";
  readonly #text = new Pile();
  #inString = false;
  /** The open string stands in its container already. */
  #placed = false;

  /** What is there so far: an unfinished string keeps what was written, a key without a value is dropped. */
  get value(): Json | undefined {
    if (this.#inString) this.#place();
    return this.#root;
  }
  get complete(): boolean {
    return this.#root !== undefined && this.#draft === undefined && !this.#inString;
  }

  open(bracket: "{" | "["): undefined {
    const draft: Draft = bracket === "{" ? {} : [];
    this.#put(draft);
    if (this.#draft) this.#outer.push(this.#draft);
    this.#draft = draft;
  }
  shut(): void {
    this.#draft = this.#outer.pop();
  }
  key(key: string): void {
    this.#key = key;
  }
  comma(): void {}
  space(): void {}
  string(): void {
    this.#inString = true;
    this.#placed = false;
  }
  run(json: string): void {
    this.#text.add(unescapeJson(json));
  }
  done(): void {
    this.#place();
    this.#inString = false;
    this.#text.clear();
  }
  scalar(json: string): void {
    this.#put(json === "null" ? null : json === "true" ? true : json === "false" ? false : Number(json));
  }

  #place(): void {
    if (this.#placed && Array.isArray(this.#draft)) this.#draft.pop();
    this.#placed = true;
    this.#put(this.#text.toString());
  }
  #put(value: Json): void {
    const draft = this.#draft;
    if (draft === undefined) this.#root = value;
    else if (Array.isArray(draft)) draft.push(value);
    else setOwn(draft, this.#key, value);
  }
}

/** A string longer than this is cheaper to parse at the end than to build on the way. */
const LONG = 1024;

/** Writes JSON text as it becomes certain: a comma, a key and blanks wait for the value that they belong to. Never closes what was cut. */
export class JsonWriter implements Sink {
  /** What was written and not taken yet. */
  delta = "";
  readonly #taken = new Pile();
  #builder: JsonBuilder | undefined = new JsonBuilder();
  #gap = "";
  #comma = false;
  #empty = true;
  readonly #closers: string[] = [];
  #inString = false;
  #stringLength = 0;

  /** The next piece of the text. */
  take(): string {
    const { delta } = this;
    this.#taken.add(delta);
    this.delta = "";
    return delta;
  }

  get text(): string {
    return this.#taken.toString() + this.delta;
  }

  /** Whether the value is whole. */
  get complete(): boolean {
    return !this.#empty && this.#closers.length === 0 && !this.#inString;
  }

  /** The value so far: an unfinished string keeps what was written, a key without a value is dropped. */
  get value(): Json | undefined {
    if (this.#builder) return this.#builder.value;
    return JSON.parse(this.text + (this.#inString ? '"' : "") + this.#closers.toReversed().join("")) as Json;
  }

  open(bracket: "{" | "["): undefined {
    this.#begin(bracket);
    this.#closers.push(bracket === "{" ? "}" : "]");
    this.#empty = true;
    this.#builder?.open(bracket);
  }
  shut(): void {
    if (this.#gap !== "") {
      if (!this.#comma) this.delta += this.#gap;
      this.#gap = "";
      this.#comma = false;
    }
    this.delta += this.#closers.pop();
    this.#empty = false;
    this.#builder?.shut();
  }
  key(key: string, json: string): void {
    if (this.#gap === "") this.#gap = this.#empty ? json : `,${json}`;
    else this.#gap += this.#empty || this.#comma ? json : `,${json}`;
    this.#empty = true;
    this.#comma = false;
    this.#builder?.key(key);
  }
  comma(): void {
    if (this.#empty || this.#comma) return;
    this.#gap += ",";
    this.#comma = true;
  }
  space(blanks: string): void {
    this.#gap += blanks;
  }
  string(): void {
    this.#begin('"');
    this.#inString = true;
    this.#stringLength = 0;
    this.#builder?.string();
  }
  run(json: string): void {
    this.delta += json;
    if (this.#builder === undefined) return;
    this.#stringLength += json.length;
    if (this.#stringLength > LONG) this.#builder = undefined;
    else this.#builder.run(json);
  }
  done(): void {
    this.delta += '"';
    this.#inString = false;
    this.#builder?.done();
  }
  scalar(json: string): void {
    this.#begin(json);
    this.#builder?.scalar(json);
  }

  #begin(text: string): void {
    if (this.#gap !== "") {
      this.delta += this.#gap;
      this.#gap = "";
    }
    this.delta += this.#empty || this.#comma ? text : `,${text}`;
    this.#comma = false;
    this.#empty = false;
  }
}

/** Sets a key as an own property, `__proto__` included. */
export function setOwn<T>(target: Record<string, T>, key: string, value: T): void {
  if (key === "__proto__") Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  else target[key] = value;
}

export const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
