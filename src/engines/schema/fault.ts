/** Finds faults in a schema itself: `{ type: "strnig" }` lets everything pass, and would go unnoticed. */
import { isObject } from "../../core/json.ts";
import type { Json, JsonObject } from "../../core/nouns.ts";
import { followRef } from "../../core/schema.ts";
import { patternOf, TYPES } from "./values.ts";

/** Where the schema is not JSON Schema, and why: the first fault, or `undefined`. */
export function schemaFault(schema: Json, path = "", root: JsonObject = isObject(schema) ? schema : {}): string | undefined {
  if (typeof schema === "boolean") return undefined;
  const at = (key: string | number): string => (path === "" ? String(key) : `${path}.${key}`);
  if (!isObject(schema)) return `${path || "it"} must be an object`;
  for (const [keyword, rule] of Object.entries(schema)) {
    const kind = Object.hasOwn(KINDS, keyword) ? KINDS[keyword] : undefined;
    if (!kind || rule === undefined) continue;
    if (kind.is && !kind.is(rule, root)) return `${at(keyword)} must be ${kind.words}`;
    if (!kind.holds) continue;
    const inner = kind.holds === "one" && !Array.isArray(rule) ? [["", rule] as const] : Object.entries(rule as JsonObject);
    for (const [key, one] of inner) {
      const fault = schemaFault(one, key === "" ? at(keyword) : `${at(keyword)}.${key}`, root);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

interface Kind {
  readonly words?: string;
  is?(rule: Json, root: JsonObject): boolean;
  /** The operand is a schema, or several in a list or object. */
  readonly holds?: "one" | "several";
}

const ONE: Kind = { holds: "one" };
const LIST: Kind = { holds: "several", words: "a list of schemas", is: (rule) => Array.isArray(rule) };
const MAP: Kind = { holds: "several", words: "an object of schemas", is: isObject };
const NUMBER: Kind = { words: "a number", is: (rule) => typeof rule === "number" };
const NAMES = Object.keys(TYPES).join(", ");

const kindOf = (kind: Kind, ...keywords: readonly string[]): Record<string, Kind> =>
  Object.fromEntries(keywords.map((keyword) => [keyword, kind]));

const KINDS: Readonly<Record<string, Kind>> = {
  type: { words: `one of ${NAMES}`, is: (rule) => [rule].flat().every((type) => typeof type === "string" && Object.hasOwn(TYPES, type)) },
  enum: { words: "a list", is: (rule) => Array.isArray(rule) },
  required: { words: "a list of names", is: (rule) => Array.isArray(rule) && rule.every((one) => typeof one === "string") },
  pattern: { words: "a regular expression", is: (rule) => patternOf(rule) !== undefined },
  $ref: {
    words: "a reference to something in the schema",
    is: (rule, root) => typeof rule === "string" && (!/^#(\/|$)/.test(rule) || followRef(rule, root) !== undefined),
  },
  ...kindOf(NUMBER, "minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
  ...kindOf(MAP, "properties", "patternProperties", "dependentSchemas", "$defs", "definitions"),
  ...kindOf(LIST, "allOf", "anyOf", "oneOf", "prefixItems"),
  ...kindOf(ONE, "items", "additionalItems", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"),
};
