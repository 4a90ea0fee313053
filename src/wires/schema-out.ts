/** JSON Schema for targets that take only a part of it, with a report of what was lost on the way. */
import { isObject, setOwn } from "../core/json.ts";
import type { Json, JsonObject } from "../core/nouns.ts";
import { followRef } from "../core/schema.ts";
import { isEmpty, listOf, words } from "./read.ts";

export interface SchemaLoss {
  /** `properties.a.items` */
  readonly path: string;
  readonly keyword: string;
}

export interface SchemaOut {
  readonly schema: JsonObject;
  readonly lost: readonly SchemaLoss[];
}

type Draft = { [key: string]: Json };
type Walk = (schema: Json, path: string) => Draft;

const LISTS = words("anyOf oneOf allOf prefixItems");
const MAPS = words("properties patternProperties $defs definitions dependentSchemas");
const SINGLES = words("items additionalProperties not if then else contains propertyNames");

/** Every schema inside a schema, rewritten. */
function mapInner(schema: JsonObject, path: string, walk: Walk): Draft {
  const at = (step: string) => (path === "" ? step : `${path}.${step}`);
  const mapped: Draft = { ...schema };
  for (const key in schema) {
    const value = schema[key]!;
    if (Array.isArray(value)) {
      if (LISTS.has(key)) mapped[key] = value.map((item: Json, i) => walk(item, at(`${key}.${i}`)));
    } else if (!isObject(value)) continue;
    else if (SINGLES.has(key)) mapped[key] = walk(value, at(key));
    else if (MAPS.has(key)) {
      const map: Draft = {};
      for (const name in value) setOwn(map, name, walk(value[name]!, at(`${key}.${name}`)));
      mapped[key] = map;
    }
  }
  return mapped;
}

// ---- References

/** A schema may name itself, or double at every step: it is cut where it grows beyond these. */
const MAX_NODES = 4000;
const MAX_NESTED = 3;

/** Every local `$ref` replaced by what it names. Where that has no end, anything goes, and the report says so. */
export function inlineRefs(schema: JsonObject): SchemaOut {
  const lost: SchemaLoss[] = [];
  let nodes = 0;
  const walk = (item: Json, path: string, open: readonly string[]): Draft => {
    if (!isObject(item)) return item === false ? { not: {} } : {};
    const { $ref, ...rest } = item;
    if (typeof $ref !== "string") return mapInner(item, path, (inner, at) => walk(inner, at, open));
    const target = $ref.startsWith("#") ? followRef($ref, schema) : undefined;
    const endless = ++nodes > MAX_NODES || open.filter((name) => name === $ref).length >= MAX_NESTED;
    if (!target || endless) {
      lost.push({ path, keyword: "$ref" });
      const type = target?.type;
      return walk(typeof type === "string" ? { type, ...rest } : rest, path, open);
    }
    const { $defs: _defs, definitions: _definitions, ...named } = target;
    return walk({ ...named, ...rest }, path, [...open, $ref]);
  };
  if (!hasRef(schema)) return { schema, lost };
  const { $defs: _defs, definitions: _definitions, ...rest } = schema;
  return { schema: walk(rest, "", []), lost };
}

const hasRef = (value: Json): boolean => {
  if (Array.isArray(value)) return value.some(hasRef);
  return isObject(value) && (typeof value.$ref === "string" || Object.values(value).some(hasRef));
};

// ---- Rewriting

type Lose = (keyword: string) => void;
type Rule = (schema: Draft, lose: Lose) => Draft;

const unchanged: Rule = (schema) => schema;

/** Every schema in a schema, rewritten: `before` what is inside of it was, and `after`. */
function rewrite({ schema, lost: already }: SchemaOut, before: Rule, after: Rule): SchemaOut {
  const lost = [...already];
  const walk: Walk = (item, path) => {
    if (!isObject(item)) return {};
    const lose: Lose = (keyword) => lost.push({ path, keyword });
    return after(mapInner(before({ ...item }, lose), path, walk), lose);
  };
  return { schema: walk(schema, ""), lost };
}

/** Takes keywords off. */
function drop(draft: Draft, isLost: (keyword: string) => boolean, lose: Lose): void {
  for (const key of Object.keys(draft).filter(isLost)) {
    if (!SILENT.has(key)) lose(key);
    delete draft[key];
  }
}

/** What nobody misses. */
const SILENT = words("$schema $id $comment $defs definitions");

/** `oneOf`, `const` and lists of types, said with `anyOf`, `enum` and `nullable`; `allOf` grown together. */
function unified(schema: JsonObject, lose: Lose = () => {}): Draft {
  const { const: literal, oneOf, allOf, type, ...rest } = schema;
  let out: Draft = { ...rest };
  if (literal !== undefined) out.enum = [literal];
  if (oneOf !== undefined) out.anyOf = oneOf;
  if (type !== undefined) out.type = type;
  if (Array.isArray(allOf)) for (const part of allOf) if (isObject(part)) out = grown(out, unified(part, lose), lose);
  const types = Array.isArray(out.type) ? (out.type as readonly Json[]) : undefined;
  if (types) {
    const some = types.filter((name) => name !== "null");
    if (some.length < types.length) out.nullable = true;
    delete out.type;
    if (some.length === 1) out.type = some[0]!;
    else if (some.length > 1) out.anyOf = some.map((name) => ({ type: name }));
  }
  if (Array.isArray(out.anyOf)) {
    const isNull = (item: Json) => isObject(item) && item.type === "null";
    const some = out.anyOf.filter((item: Json) => !isNull(item));
    if (some.length < out.anyOf.length) out.nullable = true;
    out.anyOf = some;
    if (some.length === 1 && isObject(some[0])) {
      const { anyOf: _anyOf, ...others } = out;
      out = { ...unified(some[0], lose), ...others };
    }
  }
  return out;
}

/** Two objects as one; of two values for a keyword that cannot have both, the first stays. */
function grown(into: Draft, part: JsonObject, lose: Lose = () => {}): Draft {
  const out: Draft = { ...into };
  for (const [key, value] of Object.entries(part)) {
    const there = out[key];
    if (isObject(there) && isObject(value)) out[key] = { ...there, ...value };
    else if (key === "required" && Array.isArray(there) && Array.isArray(value)) out[key] = [...new Set([...there, ...value])];
    else if (there === undefined) out[key] = value;
    else if (JSON.stringify(there) !== JSON.stringify(value)) lose(key);
  }
  return out;
}

// ---- Gemini's `parameters`

const GEMINI_KEYWORDS = words(
  "type format title description nullable default items minItems maxItems enum properties propertyOrdering required minProperties maxProperties minimum maximum minLength maxLength pattern example anyOf",
);

/** The OpenAPI-like dialect: one upper-case type, `nullable`, enums of strings, `anyOf` only. */
export const geminiSchema = (schema: JsonObject): SchemaOut =>
  rewrite(inlineRefs(schema), unified, (draft, lose) => {
    drop(draft, (key) => !GEMINI_KEYWORDS.has(key), lose);
    if (typeof draft.type === "string") draft.type = draft.type.toUpperCase();
    if (Array.isArray(draft.enum)) {
      if (draft.enum.some((value: Json) => typeof value !== "string")) lose("enum");
      draft.enum = draft.enum.map((value: Json) => (typeof value === "string" ? value : JSON.stringify(value)));
      draft.type = "STRING";
    }
    return draft;
  });

const COUNTS = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/** Back from Gemini's dialect: lower-case types, `nullable` as a type, counts that came as strings. JSON Schema passes unchanged. */
export const fromGeminiSchema = (schema: JsonObject): JsonObject =>
  rewrite({ schema, lost: [] }, unchanged, (draft) => {
    if (typeof draft.type === "string") draft.type = draft.type.toLowerCase();
    for (const key of COUNTS) if (typeof draft[key] === "string") draft[key] = Number(draft[key]);
    if (typeof draft.nullable !== "boolean") return draft;
    const { nullable: isNullable, ...rest } = draft;
    if (!isNullable) return rest;
    if (Array.isArray(rest.enum)) rest.enum = [...rest.enum, null];
    if (typeof rest.type === "string") rest.type = [rest.type, "null"];
    else if (Array.isArray(rest.anyOf)) rest.anyOf = [...rest.anyOf, { type: "null" }];
    return rest;
  }).schema;

// ---- Ollama's tools

/** Its server drops these without a word, so they are said otherwise or inlined; and it wants one type at the top, and objects as properties. */
export function ollamaSchema(schema: JsonObject): SchemaOut {
  const otherwise: Rule = ({ const: literal, oneOf, allOf, ...rest }, lose) => {
    let draft = rest;
    for (const part of listOf(allOf)) if (isObject(part)) draft = grown(draft, part, lose);
    if (literal !== undefined) draft.enum ??= [literal];
    if (oneOf !== undefined) draft.anyOf ??= oneOf;
    return draft;
  };
  const { schema: out, lost } = rewrite(inlineRefs(schema), otherwise, unchanged);
  return { schema: typeof out.type === "string" ? out : { ...out, type: "object" }, lost };
}

// ---- Anthropic's tools

/** One object at the top: of alternatives, all properties, and what is required in each. */
export function objectSchema(schema: JsonObject): SchemaOut {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices === undefined && schema.allOf === undefined)
    return { schema: schema.type === "object" ? schema : { ...schema, type: "object" }, lost: [] };
  const { anyOf, oneOf: _oneOf, ...rest } = schema;
  const lost: SchemaLoss[] = choices === undefined ? [] : [{ path: "", keyword: anyOf ? "anyOf" : "oneOf" }];
  const options = listOf(choices).map((item) => inlineRefs({ ...rest, ...(isObject(item) ? item : {}) }).schema);
  const own = unified(rest);
  const common = options.map(({ required }) => listOf(required));
  const required = common[0]?.filter((name) => common.every((list) => list.includes(name))) ?? [];
  let out: Draft = { ...own };
  for (const { properties } of options) if (isObject(properties)) out = grown(out, { properties });
  if (required.length > 0) out = grown(out, { required });
  return { schema: { ...out, type: "object" }, lost };
}

/** Every object closed, as structured output wants it: it allows nothing but its properties. */
export const closedSchema = (schema: JsonObject): SchemaOut =>
  rewrite({ schema, lost: [] }, unchanged, (draft, lose) => {
    if (draft.type !== "object" && !isObject(draft.properties)) return draft;
    if (draft.additionalProperties) lose("additionalProperties");
    return { ...draft, additionalProperties: false };
  });

// ---- OpenAI's strict mode

const NOT_STRICT = words(
  "allOf oneOf not if then else dependentRequired dependentSchemas patternProperties propertyNames prefixItems contains minContains maxContains unevaluatedProperties unevaluatedItems uniqueItems minProperties maxProperties",
);
/** One of these says what a value is: anything at all it may not be. */
const SAYING = ["type", "enum", "const", "anyOf", "$ref"];

/**
 * Every object closed and all of its properties required: one that may be absent may be `null` instead, and `nulls` says so. A schema that
 * is strict stays as it is; `undefined`: it cannot be said so.
 */
export function strictSchema(schema: JsonObject): { schema: JsonObject; nulls: boolean } | undefined {
  let [can, nulls] = [schema.type === "object", false];
  const out = rewrite({ schema, lost: [] }, unchanged, (draft) => {
    const { properties, additionalProperties: more } = draft;
    can &&= SAYING.some((key) => draft[key] !== undefined) && !Object.keys(draft).some((key) => NOT_STRICT.has(key));
    if (draft.type !== "object" && !isObject(properties)) return draft;
    const inner = Object.entries(isObject(properties) ? properties : {});
    can &&= more === false || (more === undefined && isObject(properties)); // a map, or an object of any kind
    can &&= inner.every(([, item]) => isObject(item) && !isEmpty(item));
    const required = listOf(draft.required);
    const isOptional = ([name]: [string, Json]) => !required.includes(name);
    nulls ||= inner.some(isOptional);
    draft.properties = Object.fromEntries(inner.map((entry) => (isOptional(entry) ? [entry[0], nullable(entry[1])] : entry)));
    draft.required = inner.map(([name]) => name);
    draft.additionalProperties = false;
    return draft;
  });
  return can ? { schema: out.schema, nulls } : undefined;
}

function nullable(schema: Json): JsonObject {
  if (!isObject(schema)) return {};
  const types = schema.enum === undefined && schema.type !== undefined ? [schema.type].flat() : undefined;
  if (types) return types.includes("null") ? schema : { ...schema, type: [...types, "null"] };
  return { anyOf: [schema, { type: "null" }] };
}
