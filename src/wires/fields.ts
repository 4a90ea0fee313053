/**
 * Reads an object of an API's JSON. Each field is asked for by name and type; the fields that no reader asked for, at any level, are those
 * that the nouns have no place for: `rest`. A request is read strictly: a value of another type is a `BadRequest` that says where it is
 * (`messages[2].tool_calls[0].function.name must be a string; it is 5`). In an answer such values are ignored.
 */
import { deeperThan, MAX_DEPTH } from "../core/check.ts";
import { BadRequest } from "../core/errors.ts";
import { isObject, setOwn } from "../core/json.ts";
import type { Json, JsonObject, Opaque, WireId } from "../core/nouns.ts";
import { opaques } from "./opaque.ts";
import { parseBody, withNumbersOf } from "./raw.ts";
import { entryOf, isEmpty, isList, isText, SETTINGS, snake, words } from "./read.ts";

const bad = (message: string): BadRequest => new BadRequest({ code: "bad-request", message, status: 400 });

/** The body of a request, given as JSON text or already parsed. */
export function readBody(body: unknown): JsonObject {
  const value = isText(body) ? parse(body) : body;
  if (!isObject(value)) throw bad("the body must be a JSON object");
  const isShort = isText(body) && body.length <= 2 * MAX_DEPTH; // each level takes two brackets
  if (!isShort && deeperThan(value, MAX_DEPTH)) throw bad(`the body nests deeper than ${MAX_DEPTH} levels`);
  return value;
}

function parse(text: string): unknown {
  try {
    return parseBody(text);
  } catch (error) {
    throw bad(`the body is not JSON: ${(error as Error).message}`);
  }
}

export function fail(at: string, what: string, value?: Json): never {
  const text = JSON.stringify(value ?? undefined) ?? "missing";
  throw bad(`${at} ${what}; it is ${text.length > 60 ? `${text.slice(0, 57)}...` : text}`);
}

const BLANK = "must be a string that is not empty";

// ---- Types

interface Types {
  string: string;
  number: number;
  boolean: boolean;
  object: JsonObject;
  list: readonly Json[];
}

const TYPES: Readonly<Record<keyof Types, string>> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  list: "a list",
};

/** From an API's name of a field to the nouns' name of it: one table for both directions. */
export type FieldNames = { readonly [key: string]: string };

const typesOf = <T extends keyof Types>(type: T, names: string) => names.split(" ").map((name) => [name, type] as const);

/** The types of the nouns' fields; all others are strings. */
const NOUNS: ReadonlyMap<string, keyof Types> = new Map([
  ...typesOf(
    "number",
    `${SETTINGS} topK minP repeatPenalty maxTokens budget inputTokens outputTokens thinkingTokens cachedTokens cacheWriteTokens`,
  ),
  ...typesOf("boolean", "strict deferred isError parallelCalls show enabled"),
  ...typesOf("object", "parameters response schema"),
]);

/** Fields for which `false` means the same as absence. */
const ONLY_TRUE = words("deferred isError");

// ---- Reading

/** Which wire's object is read, and how. */
export interface Reading {
  readonly wire: WireId;
  /** Values of another type are refused; otherwise they count as absent. */
  readonly strict?: boolean;
  /** Keys that other wires may leave out without a warning. */
  readonly quiet?: ReadonlySet<string> | undefined;
  /** Keys may also be spelled `in_snake_case`, and a list of one element may lack its brackets. */
  readonly lax?: boolean | undefined;
}

export class Fields {
  readonly value: JsonObject;
  readonly #reading: Reading;
  readonly #parent: Fields | undefined;
  readonly #key: string;
  /** The index of this object, if the key holds a list. */
  readonly #index: number | undefined;
  /** The keys that have not been asked for yet. */
  readonly #left: (string | undefined)[];
  /** Whether any key may be in snake case. */
  readonly #hasSnakes: boolean;
  /** Inner objects that are read as part of this one: what is left of them counts as left of this one. */
  #inner: Fields[] | undefined;

  constructor(value: JsonObject, reading: Reading, key = "", parent?: Fields, index?: number) {
    this.value = value;
    this.#reading = reading;
    this.#key = key;
    this.#parent = parent;
    this.#index = index;
    const keys = Object.keys(value);
    this.#left = keys;
    this.#hasSnakes = reading.lax === true && keys.some((key) => key.includes("_"));
  }

  /** The path of this object; built only for errors and for values that are kept. */
  get at(): string {
    return this.#parent ? this.#parent.place(this.#key, this.#index) : this.#key;
  }
  place(key: string, index?: number): string {
    const { at } = this;
    return (at === "" ? key : `${at}.${key}`) + (index === undefined ? "" : `[${index}]`);
  }
  fail(key: string, what: string): never {
    return fail(this.place(key), what, this.value[key]);
  }

  #spelled(key: string): string {
    return this.#hasSnakes && this.value[key] === undefined ? snake(key) : key;
  }
  /** The value of a key, which still counts as not asked for. */
  peek(key: string): Json | undefined {
    return this.value[this.#spelled(key)] ?? undefined;
  }
  /** Needs no check for own keys: no key that we ask for is on the prototype of objects. */
  json(key: string): Json | undefined {
    if (this.#left.length === 0) return undefined;
    const name = this.#spelled(key);
    const value = this.value[name];
    if (value === undefined) return undefined; // most keys are absent
    const at = this.#left.indexOf(name);
    if (at >= 0) this.#left[at] = undefined;
    return value ?? undefined;
  }

  #typed<T extends keyof Types>(type: T, key: string): Types[T] | undefined {
    const value = this.json(key);
    if (value === undefined) return undefined;
    if ((isList(value) ? "list" : typeof value) === type) return value as Types[T];
    return this.#reading.strict ? fail(this.place(key), `must be ${TYPES[type]}`, value) : undefined;
  }

  /** The first of several spellings that is not empty. */
  text(key: string, other?: string, third?: string): string | undefined {
    const text = this.#typed("string", key);
    if (other === undefined) return text;
    const more = this.text(other, third);
    return text || (more ?? text);
  }
  number(key: string, other?: string): number | undefined {
    const number = this.#typed("number", key);
    if (other === undefined) return number;
    const more = this.number(other);
    return number ?? more;
  }
  flag(key: string): boolean | undefined {
    return this.#typed("boolean", key);
  }
  /** A string that must be present and not empty. */
  name(key: string): string {
    return this.text(key) || this.fail(key, BLANK);
  }
  /** A list of such strings. */
  names(key: string): string[] {
    return this.list(key).map((item, i) => (isText(item) && item) || fail(this.place(key, i), BLANK, item));
  }
  /** The table's entry for the value of this key. */
  word<T>(key: string, table: Readonly<Record<string, T>>): T {
    const word = this.json(key);
    return entryOf(table, word) ?? fail(this.place(key), `must be one of ${Object.keys(table).join(", ")}`, word);
  }
  list(key: string): readonly Json[] {
    const only = this.#reading.lax ? this.json(key) : undefined;
    return only === undefined || isList(only) ? (this.#typed("list", key) ?? []) : [only];
  }

  /** Marks keys as asked for whose values are expressed in another way, or always the same. */
  ask(...keys: string[]): void {
    for (const key of keys) this.json(key);
  }

  /** An inner object that becomes a noun of its own, with its own rest. */
  thing(key: string): Fields | undefined {
    const value = this.#typed("object", key);
    return value && new Fields(value, this.#reading, key, this);
  }
  /** An inner object that is part of this one. */
  object(key: string): Fields | undefined {
    const inner = this.thing(key);
    if (!inner) return undefined;
    this.#inner = this.#inner ? [...this.#inner, inner] : [inner]; // `push` would reserve room for many
    return inner;
  }
  /** Like `object`, but empty where there is none. */
  inner(key: string): Fields {
    return this.object(key) ?? new Fields({}, this.#reading, key, this);
  }
  /** Reads each element of a list of objects as a `thing`. */
  each<T>(key: string, read: (item: Fields, i: number) => T): T[] {
    const reading = this.#reading;
    const list = this.list(key);
    if (list.length === 0) return [];
    return list.map((item, i) => {
      const value = isObject(item) ? item : reading.strict ? fail(this.place(key, i), "must be an object", item) : {};
      return read(new Fields(value, reading, key, this, i), i);
    });
  }

  /** The fields that a table names, under the nouns' names. If two keys mean one field, the last one of the table that is present counts. */
  read<T extends object>(names: FieldNames): Partial<T> {
    const read: Record<string, unknown> = {};
    for (const key in names) {
      const noun = names[key]!;
      const value = this.#typed(NOUNS.get(noun) ?? "string", key);
      if (value !== undefined && (value !== false || !ONLY_TRUE.has(noun))) read[noun] = value;
    }
    return read as Partial<T>;
  }
  /** Like `read`, but `undefined` if there are no such fields. */
  some<T extends object>(names: FieldNames): Partial<T> | undefined {
    const read = this.read<T>(names);
    return isEmpty(read) ? undefined : read;
  }

  // ---- What is left

  /** What was not asked for; `undefined`: nothing. In an answer null counts as absent: servers send every field that they know. */
  rest(): JsonObject | undefined {
    let rest: { [key: string]: Json } | undefined;
    for (const key of this.#left) {
      if (key === undefined) continue;
      const value = this.value[key];
      if (value === undefined || (value === null && !this.#reading.strict)) continue;
      rest ??= {};
      setOwn(rest, key, value);
    }
    for (const inner of this.#inner ?? []) {
      const left = inner.rest();
      if (left) rest = { ...rest, [inner.#key]: left };
    }
    return rest && withNumbersOf(this.value, rest);
  }
  /** The rest, as the state of the noun that the object became. */
  state(): Opaque[] | undefined {
    const rest = this.rest();
    return rest && opaques(this.#reading.wire, rest, this.#reading.quiet, (kind) => this.#inner?.some((inner) => inner.#key === kind));
  }
}
