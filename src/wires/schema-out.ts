/** JSON Schema for targets that take only a part of it, with a report of what was lost on the way. */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject } from "../core/nouns.ts";
import { followRef } from "../core/schema.ts";

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

const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"] as const;
const MAPS = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"] as const;
const SINGLES = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"] as const;

/** Every schema inside a schema, rewritten. */
function mapInner(schema: JsonObject, path: string, walk: Walk): Draft {
  const at = (step: string) => (path === "" ? step : `${path}.${step}`);
  const mapped: Draft = { ...schema };
  for (const key of LISTS) {
    const list = schema[key];
    if (Array.isArray(list)) mapped[key] = list.map((item: Json, i) => walk(item, at(`${key}.${i}`)));
  }
  for (const key of MAPS) {
    const map = schema[key];
    if (isObject(map))
      mapped[key] = Object.fromEntries(Object.entries(map).map(([name, item]) => [name, walk(item, at(`${key}.${name}`))]));
  }
  for (const key of SINGLES) if (isObject(schema[key])) mapped[key] = walk(schema[key], at(key));
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
    const { $defs: _, definitions: __, ...named } = target;
    return walk({ ...named, ...rest }, path, [...open, $ref]);
  };
  if (!hasRef(schema)) return { schema, lost };
  const { $defs: _, definitions: __, ...rest } = schema;
  return { schema: walk(rest, "", []), lost };
}

const hasRef = (value: Json): boolean => {
  if (Array.isArray(value)) return value.some(hasRef);
  return isObject(value) && (typeof value.$ref === "string" || Object.values(value).some(hasRef));
};

// ---- Gemini's `parameters`

const GEMINI_KEYWORDS = new Set(
  "type format title description nullable default items minItems maxItems enum properties propertyOrdering required minProperties maxProperties minimum maximum minLength maxLength pattern example anyOf".split(
    " ",
  ),
);
/** What nobody misses. */
const SILENT = new Set(["$schema", "$id", "$comment", "$defs", "definitions"]);

/** The OpenAPI-like dialect: one upper-case type, `nullable`, enums of strings, `anyOf` only. */
export function geminiSchema(schema: JsonObject): SchemaOut {
  const inlined = inlineRefs(schema);
  const lost: SchemaLoss[] = [...inlined.lost];
  const walk: Walk = (item, path) => {
    if (!isObject(item)) return {};
    const draft = mapInner(
      unified(item, (keyword) => lost.push({ path, keyword })),
      path,
      walk,
    );
    for (const key of Object.keys(draft)) {
      if (GEMINI_KEYWORDS.has(key)) continue;
      if (!SILENT.has(key)) lost.push({ path, keyword: key });
      delete draft[key];
    }
    if (typeof draft.type === "string") draft.type = draft.type.toUpperCase();
    if (Array.isArray(draft.enum)) {
      if (draft.enum.some((value: Json) => typeof value !== "string")) lost.push({ path, keyword: "enum" });
      draft.enum = draft.enum.map((value: Json) => (typeof value === "string" ? value : JSON.stringify(value)));
      draft.type = "STRING";
    }
    return draft;
  };
  return { schema: walk(inlined.schema, ""), lost };
}

/** `oneOf`, `const` and lists of types, said with `anyOf`, `enum` and `nullable`; `allOf` grown together. */
function unified(schema: JsonObject, lose: (keyword: string) => void = () => {}): JsonObject {
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
      const { anyOf: _, ...others } = out;
      out = { ...unified(some[0], lose), ...others };
    }
  }
  return out;
}

/** Two objects as one; of two values for a keyword that cannot have both, the first stays. */
function grown(into: Draft, part: JsonObject, lose: (keyword: string) => void = () => {}): Draft {
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

const COUNTS = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/** Back from Gemini's dialect: lower-case types, `nullable` as a type, counts that came as strings. JSON Schema passes unchanged. */
export function fromGeminiSchema(schema: JsonObject): JsonObject {
  const walk: Walk = (item, path) => {
    if (!isObject(item)) return {};
    const draft = mapInner(item, path, walk);
    if (typeof draft.type === "string") draft.type = draft.type.toLowerCase();
    for (const key of COUNTS) if (typeof draft[key] === "string") draft[key] = Number(draft[key]);
    if (typeof draft.nullable !== "boolean") return draft;
    const { nullable: isNullable, ...rest } = draft;
    if (!isNullable) return rest;
    if (Array.isArray(rest.enum)) rest.enum = [...rest.enum, null];
    if (typeof rest.type === "string") rest.type = [rest.type, "null"];
    else if (Array.isArray(rest.anyOf)) rest.anyOf = [...rest.anyOf, { type: "null" }];
    return rest;
  };
  return walk(schema, "");
}

// ---- Ollama's tools

/** Its server drops these without a word, so they are said otherwise or inlined; and it wants one type at the top, and objects as properties. */
export function ollamaSchema(schema: JsonObject): SchemaOut {
  const inlined = inlineRefs(schema);
  const lost: SchemaLoss[] = [...inlined.lost];
  const walk: Walk = (item, path) => {
    if (!isObject(item)) return {};
    const { const: literal, oneOf, allOf, ...rest } = item;
    let draft: Draft = { ...rest };
    for (const part of Array.isArray(allOf) ? (allOf as readonly Json[]) : []) {
      if (isObject(part)) draft = grown(draft, part, (keyword) => lost.push({ path, keyword }));
    }
    if (literal !== undefined && draft.enum === undefined) draft.enum = [literal];
    if (oneOf !== undefined && draft.anyOf === undefined) draft.anyOf = oneOf;
    return mapInner(draft, path, walk);
  };
  const out = walk(inlined.schema, "");
  return { schema: typeof out.type === "string" ? out : { ...out, type: "object" }, lost };
}

// ---- Anthropic's tools

/** One object at the top: of alternatives, all properties, and what is required in each. */
export function objectSchema(schema: JsonObject): SchemaOut {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices === undefined && schema.allOf === undefined)
    return { schema: schema.type === "object" ? schema : { ...schema, type: "object" }, lost: [] };
  const { anyOf, oneOf: _, ...rest } = schema;
  const lost: SchemaLoss[] = choices === undefined ? [] : [{ path: "", keyword: anyOf ? "anyOf" : "oneOf" }];
  const options = (Array.isArray(choices) ? (choices as readonly Json[]) : []).map(
    (item) => inlineRefs({ ...rest, ...(isObject(item) ? item : {}) }).schema,
  );
  const own = unified(rest);
  const common = options.map(({ required }) => (Array.isArray(required) ? (required as readonly Json[]) : []));
  const required = common[0]?.filter((name) => common.every((list) => list.includes(name))) ?? [];
  let out: Draft = { ...own };
  for (const { properties } of options) if (isObject(properties)) out = grown(out, { properties });
  if (required.length > 0) out = grown(out, { required });
  return { schema: { ...out, type: "object" }, lost };
}

/** Every object closed, as structured output wants it. */
export function closedSchema(schema: JsonObject): SchemaOut {
  const lost: SchemaLoss[] = [];
  const walk: Walk = (item, path) => {
    if (!isObject(item)) return {};
    const draft = mapInner(item, path, walk);
    if (draft.type !== "object" && !isObject(draft.properties)) return draft;
    if (isObject(draft.additionalProperties) || draft.additionalProperties === true) lost.push({ path, keyword: "additionalProperties" });
    return { ...draft, additionalProperties: false };
  };
  return { schema: walk(schema, ""), lost };
}

// ---- OpenAI's strict mode

const STRICT_LOST = new Set(
  "allOf oneOf not if then else dependentRequired dependentSchemas patternProperties propertyNames contains minContains maxContains unevaluatedProperties unevaluatedItems uniqueItems minProperties maxProperties".split(
    " ",
  ),
);

/** Every object closed and all of its properties required; one that may be absent may be `null` instead. A schema that is strict stays as it is. */
export function strictSchema(schema: JsonObject): SchemaOut {
  const lost: SchemaLoss[] = [];
  const walk: Walk = (item, path) => {
    if (!isObject(item)) return {};
    const { allOf, oneOf, ...rest } = item;
    const plain: JsonObject =
      allOf === undefined && oneOf === undefined ? item : unified({ ...rest, ...(oneOf ? { oneOf } : {}), ...(allOf ? { allOf } : {}) });
    const draft = mapInner(plain, path, walk);
    for (const key of Object.keys(draft)) {
      if (!STRICT_LOST.has(key)) continue;
      lost.push({ path, keyword: key });
      delete draft[key];
    }
    if (draft.type !== "object" && !isObject(draft.properties)) return draft;
    if (isObject(draft.additionalProperties) || draft.additionalProperties === true) lost.push({ path, keyword: "additionalProperties" });
    draft.additionalProperties = false;
    const properties = isObject(draft.properties) ? draft.properties : {};
    const required = new Set(Array.isArray(draft.required) ? draft.required : []);
    const optional = Object.keys(properties).filter((name) => !required.has(name));
    if (optional.length === 0 && draft.required !== undefined) return draft;
    if (optional.length > 0) lost.push({ path, keyword: "required" });
    draft.properties = Object.fromEntries(
      Object.entries(properties).map(([name, inner]) => [name, optional.includes(name) ? nullable(inner) : inner]),
    );
    draft.required = Object.keys(properties);
    return draft;
  };
  return { schema: walk(schema, ""), lost };
}

function nullable(schema: Json): JsonObject {
  if (!isObject(schema)) return {};
  const { type } = schema;
  if (Array.isArray(schema.enum)) return { anyOf: [schema, { type: "null" }] };
  if (typeof type === "string") return type === "null" ? schema : { ...schema, type: [type, "null"] };
  if (Array.isArray(type)) return type.includes("null") ? schema : { ...schema, type: [...type, "null"] };
  return { anyOf: [schema, { type: "null" }] };
}
