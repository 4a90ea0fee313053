/** Reading a request's JSON: every value knows where it stands, so that an error can say it, and which of its keys nobody has read. */
import { BadRequest } from "../core/errors.ts";
import { isObject, setOwn } from "../core/json.ts";
import type { Json, JsonObject } from "../core/nouns.ts";

/** What nests deeper is nobody's request and nobody's answer, and would exhaust the stack of whoever walks it. */
export const MAX_DEPTH = 512;

/** The body of a request, given as JSON text or as what it stands for. */
export function readBody(body: unknown): Field {
  const value = typeof body === "string" ? parse(body) : body;
  if (!isObject(value)) throw bad("the body must be a JSON object");
  if (deeperThan(value, MAX_DEPTH)) throw bad(`the body nests deeper than ${MAX_DEPTH} levels`);
  return new Field(value);
}

/** One value of a request. `null` is the same as nothing; a value of another type than is read is a `BadRequest`. */
export class Field {
  readonly value: Json | undefined;
  readonly #parent: Field | undefined;
  readonly #key: string | number;
  /** The keys that were read; most values have none. */
  #read: Set<string> | undefined;

  constructor(value: Json | undefined, parent?: Field, key: string | number = "") {
    this.value = value ?? undefined;
    this.#parent = parent;
    this.#key = key;
  }

  /** `messages[2].tool_calls[0].function.name` */
  get path(): string {
    const above = this.#parent?.path ?? "";
    if (typeof this.#key === "number") return `${above}[${this.#key}]`;
    return above === "" ? this.#key : `${above}.${this.#key}`;
  }

  get given(): boolean {
    return this.value !== undefined;
  }

  /** The value of a key, which counts as read. */
  at(key: string): Field {
    if (!isObject(this.value) || !Object.hasOwn(this.value, key)) return new Field(undefined, this, key);
    this.#read ??= new Set();
    this.#read.add(key);
    return new Field(this.value[key], this, key);
  }

  /** Another value in this place. */
  as(value: Json | undefined): Field {
    return new Field(value, this.#parent, this.#key);
  }

  string(): string | undefined {
    return this.#typed("a string", (value) => typeof value === "string");
  }
  number(): number | undefined {
    return this.#typed("a number", (value) => typeof value === "number");
  }
  boolean(): boolean | undefined {
    return this.#typed("true or false", (value) => typeof value === "boolean");
  }
  object(): JsonObject | undefined {
    return this.#typed("an object", isObject);
  }
  list(): Field[] {
    const list = this.#typed("a list", (value): value is Json[] => Array.isArray(value)) ?? [];
    return list.map((item, i) => new Field(item, this, i));
  }

  /** A string that must be there. */
  name(): string {
    return this.string() || this.fail("must be a string that is not empty");
  }

  /** What a table has for this key. */
  oneOf<T>(table: Readonly<Record<string, T>>): T {
    const found = typeof this.value === "string" && Object.hasOwn(table, this.value) ? table[this.value] : undefined;
    return found ?? this.fail(`must be one of ${Object.keys(table).join(", ")}`);
  }

  /** What nobody has read. */
  rest(): JsonObject | undefined {
    const entries = isObject(this.value) ? Object.entries(this.value) : [];
    const unread = entries.filter(([key, value]) => !this.#read?.has(key) && value !== null);
    return unread.length > 0 ? Object.fromEntries(unread) : undefined;
  }

  fail(what: string): never {
    const found = this.value === undefined ? "missing" : shown(this.value);
    throw bad(`${this.path} ${what}; it is ${found}`);
  }

  #typed<T extends Json>(what: string, is: (value: Json) => value is T): T | undefined {
    if (this.value === undefined) return undefined;
    return is(this.value) ? this.value : this.fail(`must be ${what}`);
  }
}

/** Whether a value nests deeper than so many levels. */
export function deeperThan(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => levels === 0 || deeperThan(item, levels - 1));
  for (const key in value) if (levels === 0 || deeperThan((value as JsonObject)[key]!, levels - 1)) return true;
  return false;
}

type Optional<T, K extends keyof T> = object extends Pick<T, K> ? undefined : never;

/** The object without the keys that are undefined. */
export function defined<T extends object>(fields: { [K in keyof T]: T[K] | Optional<T, K> }): T {
  const given: Record<string, unknown> = {};
  for (const key in fields) if (fields[key] !== undefined) setOwn(given, key, fields[key]);
  return given as T;
}

/** The same; `undefined`, if nothing is left. */
export function some<T extends object>(fields: { [K in keyof T]: T[K] | Optional<T, K> }): T | undefined {
  const given = defined<T>(fields);
  return Object.keys(given).length > 0 ? given : undefined;
}

/** `undefined`: it is no JSON text. */
export function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

// What a server says is read as far as it goes: whatever has another type than it should is not there.

export const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
export const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);

/** The entries of an object but for these keys and for nulls; `undefined`: there are none. */
export function restOf(value: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let rest: { [key: string]: Json } | undefined;
  for (const key in value) {
    if (known.has(key) || value[key] === null) continue;
    rest ??= {};
    setOwn(rest, key, value[key]!);
  }
  return rest;
}

/** The words of a text. */
export const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

export const someOf = <T>(list: T[]): T[] | undefined => (list.length > 0 ? list : undefined);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw bad(`the body is not JSON: ${(error as Error).message}`);
  }
}

function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

const bad = (message: string): BadRequest => new BadRequest({ code: "bad-request", message, status: 400 });
