/** JSON Schema as far as reading, declaring and constraining need it: references, unions, nullable, properties and elements. */
import { isObject } from "./json.ts";
import type { Json, JsonObject } from "./nouns.ts";

export type JsonType = "string" | "number" | "integer" | "boolean" | "null" | "array" | "object";

/** A schema, the document that its references point into, and a cache: scanners ask the same questions for every call. */
export interface SchemaNode {
  readonly schema: JsonObject;
  readonly root: JsonObject;
  types?: readonly JsonType[];
  properties?: Map<string, SchemaNode>;
}

export const schemaNode = (schema: JsonObject | undefined): SchemaNode | undefined => schema && { schema, root: schema };

const MAX_BRANCHES = 64;
const NONE: readonly JsonType[] = [];

/** The schema that a local reference (`#/$defs/x`) points to. */
export function followRef(ref: string, root: JsonObject): JsonObject | undefined {
  let at: Json | undefined = root;
  let path = ref;
  try {
    path = decodeURIComponent(ref);
  } catch {
    // a percent sign that stands for itself
  }
  const steps = path === "#" ? [] : path.replace(/^#\/?/, "").split("/");
  for (const step of steps) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    at = at && typeof at === "object" && Object.hasOwn(at, key) ? (at as JsonObject)[key] : undefined; // `#/anyOf/0`, too
  }
  return typeof at === "boolean" ? booleanSchema(at) : isObject(at) ? at : undefined;
}

/** `true` and `false` as schemas. */
export const booleanSchema = (schema: boolean): JsonObject => (schema ? {} : { not: {} });

/** Every alternative that a schema allows, references followed and unions flattened. Bounded: a schema may refer to itself. */
export function branches(node: SchemaNode): JsonObject[] {
  const { $ref, anyOf, oneOf, allOf } = node.schema;
  if ($ref === undefined && anyOf === undefined && oneOf === undefined && allOf === undefined) return [node.schema];
  const found: JsonObject[] = [];
  const queue = new Set([node.schema]); // it grows while it is read
  for (const schema of queue) {
    const { $ref } = schema;
    const target = typeof $ref === "string" && $ref.startsWith("#") ? followRef($ref, node.root) : undefined;
    const inner = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []));
    if (target) inner.unshift(target);
    for (const one of inner) queue.add(one);
    if (inner.length === 0 || schema.type !== undefined || schema.properties !== undefined) found.push(schema);
    else if (schema.nullable === true) found.push({ type: "null" });
    if (found.length === MAX_BRANCHES) break;
  }
  return found;
}

/** The types that a schema allows; empty: any. */
export function schemaTypes(node: SchemaNode | undefined): readonly JsonType[] {
  if (!node) return NONE;
  if (node.types) return node.types;
  const types: JsonType[] = [];
  node.types = types;
  for (const schema of branches(node)) {
    const { type } = schema;
    if (typeof type === "string") types.push(typeNamed(type));
    else if (Array.isArray(type)) types.push(...type.filter((one) => typeof one === "string").map(typeNamed));
    else if (isObject(schema.properties)) types.push("object");
    else if (isObject(schema.items)) types.push("array");
    else types.push(...literals(schema).map(typeOf));
    if (schema.nullable === true) types.push("null");
  }
  return types;
}

/**
 * Gemini's schemas have types in capitals, and others have the names of Python or of a database. Only the names of strings matter, and Qwen's
 * own parser knows the same: `02134` must not become a number where a tool says `str`.
 */
const typeNamed = (type: string): JsonType => (/^(str|text|(var)?char)$/i.test(type) ? "string" : (type.toLowerCase() as JsonType));

function literals(schema: JsonObject): readonly Json[] {
  if (schema.const !== undefined) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : [];
}

export function typeOf(value: Json): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value as "string" | "number" | "boolean" | "object";
}

/** The schema of an object's property. */
export function propertySchema(node: SchemaNode | undefined, key: string): SchemaNode | undefined {
  if (!node) return undefined;
  const known = node.properties?.get(key);
  if (known) return known;
  const all = branches(node);
  const own = all
    .map(({ properties }) => (isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined))
    .filter(isObject);
  const schema = own.length > 1 ? { anyOf: own } : (own[0] ?? all.map(({ additionalProperties }) => additionalProperties).find(isObject));
  const found = schema && { schema, root: node.root };
  if (own.length > 0 && found) {
    node.properties ??= new Map();
    node.properties.set(key, found);
  }
  return found;
}

/** The schema of a property, or of the element with this index. */
export const innerSchema = (node: SchemaNode | undefined, place: string | number): SchemaNode | undefined =>
  typeof place === "number" ? elementSchema(node, place) : propertySchema(node, place);

/** The schema of an array's element: a tuple has one for each. */
function elementSchema(node: SchemaNode | undefined, index: number): SchemaNode | undefined {
  if (!node) return undefined;
  const own = branches(node).flatMap(({ prefixItems, items, additionalItems }) => {
    const tuple = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    const schema = tuple[index] ?? (Array.isArray(items) ? additionalItems : items);
    return isObject(schema) ? [schema] : [];
  });
  const schema = own.length > 1 ? { anyOf: own } : own[0];
  return schema && { schema, root: node.root };
}
