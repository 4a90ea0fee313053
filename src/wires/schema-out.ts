/** JSON Schema for targets that accept only a part of it, with a report of what was lost. */
import { isObject, setOwn } from "../core/json.ts";
import type { Json, JsonObject } from "../core/nouns.ts";
import { booleanSchema, followRef } from "../core/schema.ts";
import { withNumbersOf } from "./raw.ts";
import { entryOf, isEmpty, isList, isText, listOf, objectOf, snake, words } from "./read.ts";

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

/** Keywords that hold a schema or a list of schemas, and keywords that hold schemas by name. */
const INNER = words("anyOf oneOf allOf prefixItems items additionalProperties not if then else contains propertyNames");
const NAMED = words("properties patternProperties $defs definitions dependentSchemas");

/** A copy of the schema in which `walk` has rewritten each schema directly inside it. */
function mapInner(schema: JsonObject, path: string, walk: Walk): Draft {
  const mapped: Draft = withNumbersOf(schema, { ...schema });
  for (const key in schema) {
    const value = schema[key]!;
    const at = path === "" ? key : `${path}.${key}`;
    if (isList(value)) {
      if (INNER.has(key)) mapped[key] = value.map((item: Json, i) => walk(item, `${at}.${i}`));
    } else if (typeof value === "boolean" && key === "items" && !schema.prefixItems) mapped[key] = walk(value, at);
    else if (!isObject(value)) continue;
    else if (INNER.has(key)) mapped[key] = walk(value, at);
    else if (NAMED.has(key)) {
      const map: Draft = {};
      for (const name in value) setOwn(map, name, walk(value[name]!, `${at}.${name}`));
      mapped[key] = map;
    }
  }
  return mapped;
}

// ---- References

/** A schema may refer to itself, or double at every step: beyond these limits its references are cut. */
const MAX_REFS = 4000;
const MAX_NESTED = 3;
/** How many schemas may be copied in place of references: a long schema may be referred to often. */
const MAX_COPIED = 40_000;
/** How many references may be inside each other: each adds levels, and walking too many would exhaust the stack. */
const MAX_OPEN = 100;

/** Replaces every local `$ref` by its target. A reference without target or end allows any value (of the target's type) and is reported. */
export function inlineRefs(schema: JsonObject): SchemaOut {
  const lost: SchemaLoss[] = [];
  let [refs, copied] = [0, 0];
  const walk = (item: Json, path: string, open: readonly string[]): Draft => {
    if (open.length > 0) copied++;
    if (!isObject(item)) return booleanSchema(item !== false);
    const { $ref, ...rest } = item;
    if (!isText($ref)) return mapInner(item, path, (inner, at) => walk(inner, at, open));
    const target = $ref.startsWith("#") ? followRef($ref, schema) : undefined;
    const isTooMuch = ++refs > MAX_REFS || copied > MAX_COPIED || open.length >= MAX_OPEN;
    if (!target || isTooMuch || open.filter((name) => name === $ref).length >= MAX_NESTED) {
      lost.push({ path, keyword: "$ref" });
      const type = target?.type;
      return walk(isText(type) ? { type, ...rest } : rest, path, open);
    }
    const { $defs: _defs, definitions: _definitions, ...named } = target;
    return walk({ ...named, ...rest }, path, [...open, $ref]);
  };
  if (!hasRef(schema)) return { schema, lost };
  const { $defs: _defs, definitions: _definitions, ...rest } = schema;
  return { schema: walk(rest, "", []), lost };
}

/** Whether every reference leads to a definition: anything else may be elsewhere once the schema is rewritten. */
const hasOnlyDefinitions = (value: Json): boolean =>
  typeof value !== "object" ||
  value === null ||
  (/^(#(\/(\$defs|definitions)\/[^/]+)?)?$/.test(isList(value) || !isText(value.$ref) ? "" : value.$ref) &&
    Object.values(value).every(hasOnlyDefinitions));

export const hasRef = (value: Json): boolean =>
  typeof value === "object" && value !== null && (isText(objectOf(value).$ref) || Object.values(value).some(hasRef));

// ---- Rewriting

type Lose = (keyword: string) => void;
/** `root`: the schema that references point into. */
type Rule = (schema: Draft, lose: Lose, root: JsonObject) => Draft;

const unchanged: Rule = (schema) => schema;

/** Rewrites a schema and all schemas inside it, each with `before` before its inner schemas are rewritten and with `after` afterwards. */
function rewrite({ schema, lost: already }: SchemaOut, before: Rule, after: Rule): SchemaOut {
  const lost = [...already];
  const walk: Walk = (item, path) => {
    if (!isObject(item)) return item === false ? walk(booleanSchema(false), path) : {};
    const lose: Lose = (keyword) => lost.push({ path, keyword });
    return withNumbersOf(item, after(mapInner(before({ ...item }, lose, schema), path, walk), lose, schema));
  };
  return { schema: walk(schema, ""), lost };
}

function drop(draft: Draft, isLost: (keyword: string) => boolean, lose: Lose): void {
  for (const key of Object.keys(draft).filter(isLost)) {
    if (!SILENT.has(key)) lose(key);
    delete draft[key];
  }
}

/** Keywords whose loss is not reported. */
const SILENT = words("$schema $id $comment $defs definitions");

/** Merges `allOf`; expresses `oneOf` and `const` as `anyOf` and `enum`. */
const plain: Rule = ({ const: literal, oneOf, allOf, ...rest }, lose, root) => {
  let draft = rest;
  if (literal !== undefined) draft.enum = [literal];
  if (oneOf !== undefined) draft = grown(draft, { anyOf: oneOf }, lose);
  for (const part of listOf(allOf).map(objectOf)) {
    const { $ref, ...own } = part;
    draft = grown(draft, isText($ref) ? { ...followRef($ref, root), ...own } : plain(own, lose, root), lose);
  }
  return draft;
};

/** Like `plain`; also expresses null, whether as a type or as an alternative, as `nullable`. */
const unified: Rule = (schema, lose, root) => {
  const { type, anyOf, ...out } = listed(newer(plain(schema, lose, root)), lose);
  const some = (list: readonly Json[]) => {
    const left = list.filter((item) => item !== "null" && objectOf(item).type !== "null");
    if (left.length < list.length) out.nullable = true;
    return left;
  };
  const types = isList(type) ? some(type) : listOf(type && [type]);
  if (types.length === 1) out.type = types[0]!;
  if (types.length > 1 && anyOf !== undefined) lose("anyOf"); // there is only one place for alternatives
  const choices = types.length > 1 ? types.map((name) => ({ type: name })) : some(listOf(anyOf));
  if (choices.length === 1 && isObject(choices[0])) return { ...unified(choices[0], lose, root), ...out };
  return choices.length > 0 ? { ...out, anyOf: choices } : out;
};

/** A tuple of an older draft, in the words of the newest. */
function newer(draft: Draft): Draft {
  const { items, additionalItems, ...rest } = draft;
  return isList(items) ? { ...rest, prefixItems: items, ...(additionalItems !== undefined && { items: additionalItems }) } : draft;
}

/** A tuple as a list whose items may each be of any of its kinds. */
function listed(draft: Draft, lose: Lose): Draft {
  const { prefixItems, items, ...rest } = draft;
  const kinds = listOf(prefixItems);
  if (kinds.length === 0) return draft;
  lose("prefixItems");
  const all = new Map([...kinds, ...(isObject(items) ? [items] : [])].map((kind) => [JSON.stringify(kind), kind]));
  const [first = {}, ...others] = all.values();
  return { ...rest, items: others.length === 0 ? first : { anyOf: [first, ...others] } };
}

/** Merges two schemas, and what both of them say of a property. Of two values for a keyword that can have only one, the first stays. */
function grown(into: JsonObject, part: JsonObject, lose: Lose): Draft {
  const out: Draft = withNumbersOf(into, { ...into });
  for (const [key, value] of Object.entries(part)) {
    const there = entryOf(out, key);
    if (isObject(there) && isObject(value)) setOwn(out, key, grown(there, value, lose));
    else if (key === "required" && isList(there) && isList(value)) out[key] = [...new Set([...there, ...value])];
    else if (there === undefined) setOwn(out, key, value);
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
    const { type = isObject(draft.properties) ? "object" : isObject(draft.items) ? "array" : undefined } = draft;
    if (isText(type)) draft.type = type.toUpperCase();
    if (draft.type === "ARRAY") draft.items ??= {};
    const known = listOf(draft.required).filter((name) => entryOf(objectOf(draft.properties), String(name)) !== undefined);
    if (known.length < listOf(draft.required).length) lose("required"); // the server refuses names without a property
    if (known.length > 0) draft.required = known;
    else delete draft.required;
    if (isList(draft.enum)) {
      const values = draft.enum.filter((value: Json) => value !== null || !draft.nullable); // `nullable` says it already
      if (values.some((value) => !isText(value))) lose("enum");
      draft.enum = values.map((value) => (isText(value) ? value : JSON.stringify(value)));
      draft.type = "STRING";
      if (values.length === 0) drop(draft, (key) => key === "enum", lose); // the server refuses an empty list
    }
    return draft;
  });

const COUNTS = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/** Google's servers accept their keywords in snake case, too, and Python's `google-genai` writes a `response_schema` that way. */
const SNAKES: Readonly<Record<string, string>> = Object.fromEntries(
  [...COUNTS, "anyOf", "propertyOrdering", "additionalProperties"].map((key) => [snake(key), key]),
);

const camel: Rule = (schema) => {
  if (!Object.keys(schema).some((key) => Object.hasOwn(SNAKES, key))) return schema;
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [entryOf(SNAKES, key) ?? key, value]));
};

/**
 * `google-genai` declares `Optional[str]` in a Python function as an object whose alternatives are string and null: Google's servers look
 * at the alternatives alone.
 */
function isOverruled({ type, anyOf }: JsonObject): boolean {
  const types = listOf(anyOf).map((item) => [objectOf(item).type ?? []].flat());
  const differs = (other: Json) => String(other).toLowerCase() !== String(type).toLowerCase();
  return isText(type) && types.every(({ length }) => length > 0) && types.flat().some(differs);
}

/** Whether any part of the schema may be in Gemini's dialect: few clients still write it, and checking is cheaper than copying. */
function isGeminis(schema: Json): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  if (isList(schema)) return schema.some(isGeminis);
  for (const key in schema as JsonObject) {
    const value = (schema as JsonObject)[key]!;
    if (Object.hasOwn(SNAKES, key) || (key === "anyOf" && isOverruled(schema as JsonObject))) return true;
    if (typeof value === "object" ? isGeminis(value) : key === "nullable" || isGeminisWord(key, value)) return true;
  }
  return false;
}
const isGeminisWord = (key: string, value: unknown): boolean =>
  key === "type" ? String(value).toLowerCase() !== value : isText(value) && COUNTS.includes(key);

/** The types by number, as clients of Google's protocol buffers send them. */
const TYPES = ["", "string", "number", "integer", "boolean", "array", "object", "null"];

/** Back from Gemini's dialect: lower-case types, null as a type, counts as numbers even if they came as strings. JSON Schema stays the same. */
export const fromGeminiSchema = (schema: JsonObject): JsonObject =>
  !isGeminis(schema)
    ? schema
    : rewrite({ schema, lost: [] }, camel, (draft) => {
        if (isText(draft.type)) draft.type = draft.type.toLowerCase().replace("type_unspecified", "");
        if (typeof draft.type === "number") draft.type = TYPES[draft.type] ?? "";
        if (draft.type === "" || isOverruled(draft)) delete draft.type;
        for (const key of COUNTS) if (isText(draft[key])) draft[key] = Number(draft[key]);
        if (typeof draft.nullable !== "boolean") return draft;
        const { nullable: isNullable, ...rest } = draft;
        if (!isNullable) return rest;
        if (isList(rest.enum)) rest.enum = [...rest.enum, null];
        if (isText(rest.type)) rest.type = [rest.type, "null"];
        else if (isList(rest.anyOf)) rest.anyOf = [...rest.anyOf, { type: "null" }];
        return rest;
      }).schema;

/** The originals of schemas that came in Gemini's dialect: Google's servers get them unchanged. */
const OWN_WORDS = new WeakMap<JsonObject, JsonObject>();

export function fromOwnWords(schema: JsonObject): JsonObject {
  const read = fromGeminiSchema(schema);
  OWN_WORDS.set(read, schema);
  return read;
}

/** `undefined`: the schema did not come in Gemini's dialect, or has been changed since. */
export function ownWordsOf(schema: JsonObject): JsonObject | undefined {
  const own = OWN_WORDS.get(schema);
  return own && JSON.stringify(fromGeminiSchema(own)) === JSON.stringify(schema) ? own : undefined;
}

// ---- Ollama's tools

/**
 * Ollama's server silently drops references, `allOf`, `oneOf` and `const`, so they are inlined or rewritten; and it wants one type at the
 * top, and objects as properties.
 */
export function ollamaSchema(given: JsonObject): SchemaOut {
  const { schema, lost } = rewrite(inlineRefs(given), plain, unchanged);
  return { schema: isText(schema.type) ? schema : { ...schema, type: "object" }, lost };
}

// ---- Anthropic's tools

/** The properties of all alternatives. One that they declare differently, such as the word that tells them apart, may be any of these. */
function propertiesOf(options: readonly JsonObject[]): Draft {
  const found = new Map<string, Map<string, Json>>();
  for (const { properties } of options)
    for (const [name, item] of Object.entries(objectOf(properties)))
      found.set(name, (found.get(name) ?? new Map<string, Json>()).set(JSON.stringify(item), item));
  const merged: Draft = {};
  for (const [name, items] of found) {
    const [first = {}, ...others] = items.values();
    setOwn(merged, name, others.length === 0 ? first : { anyOf: [first, ...others] });
  }
  return merged;
}

/** How many unions may be inside each other at the top: a schema may lead back to itself. */
const MAX_UNIONS = 8;
const UNIONS = words("anyOf oneOf allOf");

/** One object at the top. Alternatives are merged: all of their properties, and as required only what each of them requires. */
export function objectSchema(schema: JsonObject, left = MAX_UNIONS): SchemaOut {
  const type = "object";
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices === undefined && schema.allOf === undefined) return { schema: schema.type === type ? schema : { ...schema, type }, lost: [] };
  const lost: SchemaLoss[] = [];
  const lose: Lose = (keyword) => lost.push({ path: "", keyword });
  if (left === 0) {
    const out: Draft = { ...schema, type };
    drop(out, (key) => UNIONS.has(key), lose);
    return { schema: out, lost };
  }
  const { [schema.anyOf === undefined ? "oneOf" : "anyOf"]: _, ...rest } = schema;
  const options = listOf(choices).map((item) => inlineRefs({ ...rest, ...objectOf(item) }).schema);
  const [first = [], ...others] = options.map(({ required }) => listOf(required));
  const required = first.filter((name) => others.every((list) => list.includes(name)));
  const parts: JsonObject[] = options.some(({ properties }) => isObject(properties)) ? [{ properties: propertiesOf(options) }] : [];
  if (required.length > 0) parts.push({ required });
  if (choices !== undefined) lose(schema.anyOf === undefined ? "oneOf" : "anyOf");
  const out = parts.reduce((into, part) => grown(into, part, lose), plain(rest, lose, schema));
  const inner = objectSchema(out, left - 1); // what was merged may bring in others
  return { schema: inner.schema, lost: [...lost, ...inner.lost] };
}

const CONSTRAINED_KEYWORDS = words(
  "type title description default enum anyOf properties required additionalProperties items minItems pattern format $ref $defs definitions",
);
const CONSTRAINED_FORMATS = words("date-time time date duration email hostname uri ipv4 ipv6 uuid");
/** Look-around, back references, named classes and word boundaries. */
const HARD_PATTERN = /\(\?[^:]|\\[bBkpP1-9]/;

/** Keywords that the API accepts only with some values, and whether it accepts the given one. */
const CONSTRAINED: Readonly<Record<string, (value: Json) => boolean>> = {
  enum: (value) => isList(value) && !value.some((item) => typeof item === "object" && item !== null),
  minItems: (value) => value === 0 || value === 1,
  pattern: (value) => !HARD_PATTERN.test(String(value)),
  format: (value) => CONSTRAINED_FORMATS.has(String(value)),
};

/**
 * The part of JSON Schema that structured output and strict tools support; the API refuses any other keyword, and recursion. Objects allow
 * only their declared properties. The description asks for what cannot be enforced: `minimum: 1, maximum: 10`.
 */
export function constrainedSchema(schema: JsonObject): SchemaOut {
  const inlined = inlineRefs(schema);
  const finite = inlined.lost.length > 0 || !hasOnlyDefinitions(schema) ? inlined : { schema, lost: [] }; // references without recursion may stay
  const sayable: Rule = (given, lose, root) => {
    const whole = newer(plain(given, lose, root));
    const refused = (key: string) => !CONSTRAINED_KEYWORDS.has(key) || CONSTRAINED[key]?.(whole[key] ?? null) === false;
    const asked = Object.keys(whole).filter((key) => refused(key) && !SILENT.has(key));
    const said = asked.map((key) => `${key}: ${JSON.stringify(whole[key])}`).join(", ");
    const draft = listed(whole, lose);
    drop(draft, refused, lose);
    if (said !== "") draft.description = draft.description === undefined ? said : `${draft.description}\n\n${said}`;
    return draft;
  };
  return rewrite(finite, sayable, (draft, lose) => {
    if (draft.type !== "object" && !isObject(draft.properties)) return draft;
    if (draft.additionalProperties) lose("additionalProperties");
    return { ...draft, additionalProperties: false };
  });
}

// ---- OpenAI's strict mode

const NOT_STRICT = words(
  "allOf oneOf not if then else dependentRequired dependentSchemas patternProperties propertyNames prefixItems contains minContains maxContains unevaluatedProperties unevaluatedItems uniqueItems minProperties maxProperties",
);
/** Strict mode demands one of these: a schema may not allow just any value. */
const SAYING = ["type", "enum", "const", "anyOf", "$ref"];

/**
 * Closes every object and requires all of its properties; a property that was optional may be `null` instead, and `nulls` says so. A schema
 * that is already strict stays the same; `undefined`: the schema cannot be made strict.
 */
export function strictSchema(schema: JsonObject): { schema: JsonObject; nulls: boolean } | undefined {
  let [can, nulls] = [schema.type === "object" && hasOnlyDefinitions(schema), false];
  const out = rewrite({ schema, lost: [] }, unchanged, (draft) => {
    const { properties, additionalProperties: more } = draft;
    can &&=
      SAYING.some((key) => draft[key] !== undefined) && !Object.keys(draft).some((key) => NOT_STRICT.has(key)) && !isList(draft.items);
    if (draft.type !== "object" && !isObject(properties)) return draft;
    const inner = Object.entries(isObject(properties) ? properties : {});
    can &&= more === false || (more === undefined && isObject(properties)); // neither a map nor an object of any kind
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
