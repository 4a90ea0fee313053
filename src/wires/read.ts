/** Small helpers for reading and writing JSON. A value of another type than expected counts as absent. */
import { isObject, setOwn } from "../core/json.ts";
import type { Json, JsonObject, Usage } from "../core/nouns.ts";
import type { FieldNames } from "./fields.ts";
import type { Draft } from "./wire.ts";

/** The media type of a file whose type is not given. */
export const UNTOLD = "application/octet-stream";

/** `undefined`: the text is not JSON. */
export function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The words of a text, as a set. */
export const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

type Words<Text> = Text extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : Text;

/** `topP` as `top_p`. */
export const snake = (word: string): string => word.replace(/[A-Z]/g, "_$&").toLowerCase();

/** A table from the API's spelling of a field to the nouns' name of it. */
export const spelling = <T extends string>(nouns: T, spell = snake): Readonly<Record<string, Words<T>>> =>
  Object.fromEntries(nouns.split(" ").map((noun) => [spell(noun), noun])) as Record<string, Words<T>>;

/** The settings that most APIs have. */
export const SETTINGS = "temperature topP seed presencePenalty frequencyPenalty";

/** The fields that a table names, under the API's names. */
export function written(thing: object, names: FieldNames): { [key: string]: unknown } {
  const draft: { [key: string]: unknown } = {};
  for (const key in names) {
    const value = (thing as Record<string, unknown>)[names[key]!];
    if (value !== undefined) draft[key] = value;
  }
  return draft;
}

/** The entries of an object that are not null and that are wanted; `undefined`: there are none. */
export function restOf(value: JsonObject, isWanted?: (key: string) => boolean): JsonObject | undefined {
  let rest: { [key: string]: Json } | undefined;
  for (const key in value) {
    if (value[key] === null || isWanted?.(key) === false) continue;
    rest ??= {};
    setOwn(rest, key, value[key]!);
  }
  return rest;
}

export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);
export const isText = (value: unknown): value is string => typeof value === "string";

export const textOf = (value: unknown): string | undefined => (isText(value) ? value : undefined);
export const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : NOTHING);
export const listOf = (value: unknown): readonly Json[] => (isList(value) ? value : []);

/** The table's entry for a word. Inherited properties such as `toString` are not entries. */
export const entryOf = <T>(table: Readonly<Record<string, T>>, word: unknown): T | undefined =>
  isText(word) && Object.hasOwn(table, word) ? table[word] : undefined;

const NOTHING: JsonObject = Object.freeze({});

/** Expressions with what they mean. */
export type Meanings<T> = readonly (readonly [RegExp, T])[];

/** The meaning of the first expression that matches. */
export const meaningIn = <T>(table: Meanings<T>, text: string): T | undefined => table.find(([expression]) => expression.test(text))?.[1];

// ---- Objects without undefined values

type Optional<T, K extends keyof T> = object extends Pick<T, K> ? undefined : never;

/** The object without the keys that are undefined. */
export function defined<T extends object>(fields: { [K in keyof T]: T[K] | Optional<T, K> }): T {
  const given: Record<string, unknown> = {};
  for (const key in fields) if (fields[key] !== undefined) setOwn(given, key, fields[key]);
  return given as T;
}

/** The same; `undefined` if nothing is left. */
export function some<T extends object>(fields: { [K in keyof T]: T[K] | Optional<T, K> }): T | undefined {
  const given = defined<T>(fields);
  return isEmpty(given) ? undefined : given;
}

export function isEmpty(value: object): boolean {
  for (const _ in value) return false;
  return true;
}

/** Adds an item; use the returned list. `push` to an empty array reserves room for many items, and most feeds yield one event. */
export function added<T>(list: T[], item: T): T[] {
  if (list.length === 0) return [item];
  list.push(item);
  return list;
}

/** The list with neighbours merged wherever `unite` returns a merged item. */
export function united<T>(list: readonly T[], unite: (last: T, next: T) => T | false | undefined): T[] {
  const out: T[] = [];
  for (const next of list) {
    const last = out.at(-1);
    const one = last && unite(last, next);
    if (one) out[out.length - 1] = one;
    else out.push(next);
  }
  return out;
}

export const someOf = <T>(list: T[]): T[] | undefined => (list.length > 0 ? list : undefined);

/**
 * Merges a piece into what came before it, as clients do: strings and lists are appended, objects merged, other values kept as they are.
 * `replaces`: the strings are not pieces of a text; of such a field, which servers repeat in every chunk, the last value counts.
 */
export function grow(target: Draft, piece: Draft, replaces = false): Draft {
  for (const [key, value] of Object.entries(piece)) {
    const there = entryOf(target, key);
    if (there === undefined || there === null) setOwn(target, key, value);
    else if (isText(there) && isText(value)) target[key] = replaces ? value : there + value;
    else if (isList(there) && isList(value)) target[key] = [...there, ...value];
    else if (isObject(there) && isObject(value)) target[key] = grow({ ...there }, value, replaces);
  }
  return target;
}

/** Completes counts from the total: xAI and Google count thinking only there, and some servers leave out one of the two counts. */
export function wholeUsage(usage: Usage, total = 0): Usage {
  const { inputTokens, outputTokens } = usage;
  if (total <= 0) return usage;
  const rest = total - (inputTokens ?? outputTokens ?? total);
  if (inputTokens === undefined && rest > 0) usage.inputTokens = rest;
  else if (rest > (outputTokens ?? 0)) usage.outputTokens = rest;
  return usage;
}
