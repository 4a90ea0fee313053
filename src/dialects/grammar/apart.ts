/**
 * Whether the alternatives of `oneOf` exclude each other in what the grammar writes. Only then is `oneOf` as good as `anyOf`.
 *
 *     {"properties": {"kind": {"const": "circle"}}, "required": ["kind"]} and the same with "square"
 */
import { isObject } from "../../core/json.ts";
import type { Json, JsonObject } from "../../core/nouns.ts";
import { type JsonType, schemaTypes, typeOf } from "../../core/schema.ts";
import { pythonJson } from "../print.ts";

/** Limits the work: after this many comparisons, and below this depth, nothing is apart. References may recur for ever. */
const MAX_LOOKS = 5000;
const MAX_DEPTH = 16;

type Resolve = (schema: JsonObject) => JsonObject;

export function allApart(parts: readonly Json[], resolve: Resolve): boolean {
  const looks = { left: MAX_LOOKS };
  return parts.every((a, i) => parts.slice(i + 1).every((b) => apart(a, b, resolve, looks, MAX_DEPTH)));
}

/** As far as types, words and required keys tell. */
function apart(a: Json | undefined, b: Json | undefined, resolve: Resolve, looks: { left: number }, depth: number): boolean {
  if (!isObject(a) || !isObject(b)) return a === false || b === false;
  if (looks.left-- <= 0 || depth === 0) return false;
  const [one, other] = [resolve(a), resolve(b)];
  const words = wordsOf(one)?.map(pythonJson);
  const others = new Set(wordsOf(other)?.map(pythonJson));
  if (words && others.size > 0 && !words.some((word) => others.has(word))) return true;
  const [types, kinds] = [typesOf(one), typesOf(other)];
  const both = [...types, ...kinds].filter((type) => [types, kinds].every((some) => some.length === 0 || some.includes(type)));
  if (both.length === 0) return types.length > 0 && kinds.length > 0;
  if (both.some((type) => type !== "object")) return false;
  const lacking = lacks(one, other);
  const lacked = lacks(other, one);
  if ((lacking && (lacked || one.additionalProperties === false)) || (lacked && other.additionalProperties === false)) return true;
  const needed = requiredOf(other);
  return [...requiredOf(one)].some(
    (key) => needed.has(key) && apart(propertiesOf(one)[key], propertiesOf(other)[key], resolve, looks, depth - 1),
  );
}

/** The only values that the schema allows, if it lists them. */
export const wordsOf = ({ const: word, enum: words }: JsonObject): readonly Json[] | undefined =>
  word !== undefined ? [word] : Array.isArray(words) ? words : undefined;

/** The types that the schema names; integers count as numbers, because a number may be one. */
function typesOf(schema: JsonObject): readonly JsonType[] {
  const { type, nullable = false } = schema;
  if (type === undefined) return wordsOf(schema)?.map(typeOf) ?? [];
  return schemaTypes({ schema: { type, nullable }, root: {} }).map((type) => (type === "integer" ? "number" : type));
}

const propertiesOf = ({ properties }: JsonObject): JsonObject => (isObject(properties) ? properties : {});
const requiredOf = ({ required }: JsonObject): ReadonlySet<string> => new Set(Array.isArray(required) ? required.map(String) : []);

/** Keywords that may bring in other keys. */
const OPEN = ["additionalProperties", "unevaluatedProperties", "patternProperties", "allOf", "anyOf", "oneOf"];

/** Whether some key that the other requires is never written for this one. */
function lacks(schema: JsonObject, other: JsonObject): boolean {
  const keys = new Set([...requiredOf(schema), ...Object.keys(propertiesOf(schema))]);
  return OPEN.every((key) => (schema[key] ?? false) === false) && [...requiredOf(other)].some((key) => !keys.has(key));
}
