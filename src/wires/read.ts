/**
 * Reading JSON. A request is read strictly: a value of another type than is asked for is a `BadRequest` that says where it stands
 * (`messages[2].tool_calls[0].function.name must be a string; it is 5`). An answer is read as far as it goes. `null` is the same as nothing.
 */
import { BadRequest } from "../core/errors.ts";
import { isObject, setOwn } from "../core/json.ts";
import type { Json, JsonObject } from "../core/nouns.ts";

/** What nests deeper is nobody's request and nobody's answer, and would exhaust the stack of whoever walks it. */
export const MAX_DEPTH = 512;

const bad = (message: string): BadRequest => new BadRequest({ code: "bad-request", message, status: 400 });

/** The body of a request, given as JSON text or as what it stands for. */
export function readBody(body: unknown): JsonObject {
  const value = typeof body === "string" ? parse(body) : body;
  if (!isObject(value)) throw bad("the body must be a JSON object");
  if (deeperThan(value, MAX_DEPTH)) throw bad(`the body nests deeper than ${MAX_DEPTH} levels`);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw bad(`the body is not JSON: ${(error as Error).message}`);
  }
}

/** `undefined`: it is no JSON text. */
export function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Whether a value nests deeper than so many levels. */
export function deeperThan(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (levels === 0 || deeperThan(item, levels - 1)) return true;
  } else for (const key in value) if (levels === 0 || deeperThan((value as JsonObject)[key]!, levels - 1)) return true;
  return false;
}

// ---- Strictly

/** Where a key stands. The place of a value is a text; it is put together where something is wrong, and for the elements of lists. */
export const inside = (at: string, key: string): string => (at === "" ? key : `${at}.${key}`);

export function fail(at: string, what: string, value?: Json): never {
  const text = JSON.stringify(value ?? undefined) ?? "missing";
  throw bad(`${at} ${what}; it is ${text.length > 60 ? `${text.slice(0, 57)}...` : text}`);
}

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

function typed<T extends keyof Types>(type: T, value: Json | undefined, at: string, key: string): Types[T] | undefined {
  if (value === undefined || value === null) return undefined;
  const is = Array.isArray(value) ? "list" : typeof value;
  return is === type ? (value as Types[T]) : fail(inside(at, key), `must be ${TYPES[type]}`, value);
}

/** `at` and `key`: where the value stands. */
type Read<T> = (value: Json | undefined, at: string, key: string) => T;

export const text: Read<string | undefined> = (value, at, key) => typed("string", value, at, key);
export const number: Read<number | undefined> = (value, at, key) => typed("number", value, at, key);
export const flag: Read<boolean | undefined> = (value, at, key) => typed("boolean", value, at, key);
export const object: Read<JsonObject | undefined> = (value, at, key) => typed("object", value, at, key);
export const list: Read<readonly Json[]> = (value, at, key) => typed("list", value, at, key) ?? [];

/** A string that must be there. */
export const name: Read<string> = (value, at, key) =>
  text(value, at, key) || fail(inside(at, key), "must be a string that is not empty", value);

/** What a table has for the word that stands here. */
export function oneOf<T>(table: Readonly<Record<string, T>>, word: Json | undefined, at: string, key: string): T {
  if (typeof word === "string" && Object.hasOwn(table, word)) return table[word]!;
  return fail(inside(at, key), `must be one of ${Object.keys(table).join(", ")}`, word);
}

/** Each element of a list of objects, with its place. */
export function each<T>(value: Json | undefined, at: string, key: string, read: (item: JsonObject, at: string) => T): T[] {
  const place = inside(at, key);
  return list(value, at, key).map((item, i) => {
    const element = `${place}[${i}]`;
    return read(isObject(item) ? item : fail(element, "must be an object", item), element);
  });
}

// ---- Tables

/** The words of a text. */
export const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** What an API calls a field, and what the nouns call it: one table for both directions. */
export type FieldNames = { readonly [key: string]: string };

const typesOf = <T extends keyof Types>(type: T, names: string) => names.split(" ").map((name) => [name, type] as const);

/** What the nouns' fields hold. */
const NOUNS: ReadonlyMap<string, keyof Types> = new Map([
  ...typesOf("number", "temperature topP topK minP seed presencePenalty frequencyPenalty repeatPenalty maxTokens budget"),
  ...typesOf("boolean", "strict deferred isError parallelCalls show"),
  ...typesOf("object", "parameters response schema"),
]);

/** Of these, `false` is the same as nothing. */
const ONLY_TRUE = words("deferred isError");

/** The fields that a table names, by the nouns' names, and what is left. Of two keys for one field the last one given counts. */
export function fields<T extends object>(from: JsonObject, names: FieldNames, at: string): [read: Partial<T>, rest: JsonObject] {
  const read: Record<string, unknown> = {};
  for (const key in names) {
    const noun = names[key]!;
    const value = Object.hasOwn(from, key) ? typed(NOUNS.get(noun) ?? "string", from[key], at, key) : undefined;
    if (value !== undefined && (value !== false || !ONLY_TRUE.has(noun))) read[noun] = value;
  }
  return [read as Partial<T>, restOf(from, (key) => !Object.hasOwn(names, key)) ?? NOTHING];
}

/** The same fields, written. */
export function written(thing: object, names: FieldNames): { [key: string]: unknown } {
  const draft: { [key: string]: unknown } = {};
  for (const key in names) {
    const value = (thing as Record<string, unknown>)[names[key]!];
    if (value !== undefined) draft[key] = value;
  }
  return draft;
}

/** The entries of an object that are not null, or those of them that are wanted; `undefined`: there are none. */
export function restOf(value: JsonObject, isWanted?: (key: string) => boolean): JsonObject | undefined {
  let rest: { [key: string]: Json } | undefined;
  for (const key in value) {
    if (value[key] === null || isWanted?.(key) === false) continue;
    rest ??= {};
    setOwn(rest, key, value[key]!);
  }
  return rest;
}

// ---- As far as it goes: whatever has another type than it should is not there

export const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
export const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : NOTHING);
export const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);

const NOTHING: JsonObject = Object.freeze({});

// ---- Without what is undefined

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
  return isEmpty(given) ? undefined : given;
}

export function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

/** The list with one more. An array that is pushed to makes room for many; most feeds have one event. */
export function added<T>(list: T[], item: T): T[] {
  if (list.length === 0) return [item];
  list.push(item);
  return list;
}

export const someOf = <T>(list: T[]): T[] | undefined => (list.length > 0 ? list : undefined);
