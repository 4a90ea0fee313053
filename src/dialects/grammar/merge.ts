/** Two JSON Schemas as one that allows what both allow: for the parts of `allOf`, and for what is beside a reference or a union. */
import { isObject } from "../../core/json.ts";
import type { Json, JsonObject } from "../../core/nouns.ts";
import { keepNumbers, numbersOf } from "../../core/numbers.ts";
import { schemaTypes } from "../../core/schema.ts";
import { pythonJson } from "../print.ts";

/** Keywords that constrain nothing; so do extensions, such as `x-order`. */
const NOTES =
  /^(?:title|description|default|examples?|deprecated|(?:read|write)Only|content\w+|definitions|propertyOrdering|x-.*|\$(?:comment|defs|schema|id|(?:dynamicA|a)nchor|vocabulary))$/;

export const isNote = (keyword: string): boolean => NOTES.test(keyword);

export const constrains = (schema: JsonObject): boolean => Object.keys(schema).some((key) => !isNote(key));

/** Whether the second schema says already what the first one says. */
export const isWithin = (schema: JsonObject, other: JsonObject): boolean =>
  Object.entries(schema).every(([key, rule]) => isNote(key) || (other[key] !== undefined && pythonJson(rule) === pythonJson(other[key])));

/** A schema for what both allow. Where two keywords have no sum, the second counts, and `lost` gets the keyword. */
export function merged(a: JsonObject, b: JsonObject, lost: (keyword: string) => void): JsonObject {
  const sum: Record<string, Json> = { ...a, ...b };
  keepNumbers(sum, new Map([...(numbersOf(a) ?? []), ...(numbersOf(b) ?? [])]));
  for (const [key, one] of Object.entries(a)) {
    const other = b[key];
    if (other === undefined || isNote(key) || one === other || pythonJson(one) === pythonJson(other)) continue;
    const together = sumOf(key, one, other);
    const free = key === "anyOf" ? "oneOf" : key === "oneOf" ? "anyOf" : key;
    if (together !== undefined) sum[key] = together;
    else if (sum[free] === undefined)
      sum[free] = one; // a schema with both kinds of unions means both
    else lost(key);
  }
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const)
    for (const keyword of ["additionalProperties", "items"]) if (reaches(keyword, one, other)) lost(keyword);
  return sum;
}

/** Whether this keyword of the first schema also applies to what the second one alone names. */
function reaches(keyword: string, { [keyword]: rule, properties, prefixItems }: JsonObject, other: JsonObject): boolean {
  if (rule === undefined || rule === true) return false;
  if (keyword === "items") return Array.isArray(other.prefixItems) && pythonJson(prefixItems ?? null) !== pythonJson(other.prefixItems);
  const named = isObject(properties) ? properties : {};
  return Object.keys(isObject(other.properties) ? other.properties : {}).some((key) => !Object.hasOwn(named, key));
}

/** What both values of a keyword allow; `undefined` if that cannot be said in one. */
function sumOf(key: string, a: Json, b: Json): Json | undefined {
  if (key === "properties" && isObject(a) && isObject(b)) {
    const shared = Object.keys(a).filter((name) => Object.hasOwn(b, name));
    return { ...a, ...b, ...Object.fromEntries(shared.map((name) => [name, bothOf(a[name], b[name])])) };
  }
  if (key === "items" || key === "additionalProperties") return Array.isArray(a) || Array.isArray(b) ? undefined : bothOf(a, b);
  if (typeof a === "number" && typeof b === "number") {
    if (/^(?:min|exclusiveMin)/.test(key)) return Math.max(a, b);
    return /^(?:max|exclusiveMax)/.test(key) ? Math.min(a, b) : undefined;
  }
  if (key === "type") return commonTypes(a, b);
  if (!Array.isArray(a) || !Array.isArray(b)) return undefined;
  if (key === "required") return [...a, ...b];
  if (key === "prefixItems") return (a.length > b.length ? a : b).map((_, i) => bothOf(a[i], b[i]));
  if (key === "allOf") return [...new Map([...a, ...b].map((part) => [pythonJson(part), part])).values()]; // each once, or they could double at every level
  const words = b.map(pythonJson);
  const common = key === "enum" && !numbersOf(a) ? a.filter((one) => words.includes(pythonJson(one))) : [];
  return common.length > 0 ? common : undefined;
}

function bothOf(a: Json | undefined, b: Json | undefined): Json {
  if (a === false || b === false) return false;
  if (!isObject(a) || !isObject(b)) return (isObject(a) ? a : b) ?? true;
  return pythonJson(a) === pythonJson(b) ? a : { allOf: [a, b] };
}

function commonTypes(a: Json, b: Json): Json | undefined {
  const [some, others] = [a, b].map((type) => schemaTypes({ schema: { type }, root: {} })) as [readonly string[], readonly string[]];
  const within = (type: string, list: readonly string[]) => list.includes(type) || (type === "integer" && list.includes("number"));
  const common = [...some.filter((type) => within(type, others)), ...others.filter((type) => within(type, some))];
  return common.length > 0 ? [...new Set(common)] : undefined;
}
