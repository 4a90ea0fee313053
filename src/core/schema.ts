/** JSON Schema as far as reading, declaring and constraining need it: references, unions, nullable, properties and elements. */
import { isObject } from "./json.ts";
import type { Json, JsonObject } from "./nouns.ts";

export type JsonType = "string" | "number" | "integer" | "boolean" | "null" | "array" | "object";

/** A schema, and the document that its references point into. */
export interface SchemaNode {
  readonly schema: JsonObject;
  readonly root: JsonObject;
}

export const schemaNode = (schema: JsonObject | undefined): SchemaNode | undefined => schema && { schema, root: schema };

const MAX_BRANCHES = 64;
const NONE: readonly JsonType[] = [];

/** The schema behind a local reference (`#/$defs/x`). */
export function followRef(ref: string, root: JsonObject): JsonObject | undefined {
  let at: Json | undefined = root;
  for (const step of ref.replace(/^#\/?/, "").split("/").filter(Boolean)) {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return isObject(at) ? at : undefined;
}

/** Every alternative that a schema allows, references followed and unions flattened. Bounded: a schema may refer to itself. */
export function branches(node: SchemaNode): JsonObject[] {
  const { $ref, anyOf, oneOf, allOf } = node.schema;
  if ($ref === undefined && anyOf === undefined && oneOf === undefined && allOf === undefined) return [node.schema];
  const found: JsonObject[] = [];
  const queue: JsonObject[] = [node.schema];
  const seen = new Set<JsonObject>();
  for (let schema = queue.shift(); schema && found.length < MAX_BRANCHES; schema = queue.shift()) {
    if (seen.has(schema)) continue;
    seen.add(schema);
    const { $ref } = schema;
    const target = typeof $ref === "string" && $ref.startsWith("#") ? followRef($ref, node.root) : undefined;
    const inner = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []));
    if (target) queue.push(target);
    queue.push(...inner);
    if (!target && (inner.length === 0 || schema.type !== undefined || schema.properties !== undefined)) found.push(schema);
  }
  return found;
}

/** What was asked of a schema before: scanners ask the same for every value of every call. */
const typesOf = new WeakMap<JsonObject, { readonly root: JsonObject; readonly types: readonly JsonType[] }>();

/** The types that a schema names; none: it allows anything. */
export function schemaTypes(node: SchemaNode | undefined): readonly JsonType[] {
  if (!node) return NONE;
  const known = typesOf.get(node.schema);
  if (known?.root === node.root) return known.types;
  const types: JsonType[] = [];
  typesOf.set(node.schema, { root: node.root, types });
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

/** Some write types in capitals. */
const typeNamed = (type: string): JsonType => type.toLowerCase() as JsonType;

function literals(schema: JsonObject): readonly Json[] {
  if (schema.const !== undefined) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : [];
}

export function typeOf(value: Json): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value as "string" | "number" | "boolean" | "object";
}

/** The schema of a key of an object. */
export function propertySchema(node: SchemaNode | undefined, key: string): SchemaNode | undefined {
  if (!node) return undefined;
  let rest: JsonObject | undefined;
  for (const schema of branches(node)) {
    const own = isObject(schema.properties) && Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    if (isObject(own)) return { schema: own, root: node.root };
    if (isObject(schema.additionalProperties)) rest ??= schema.additionalProperties;
  }
  return rest && { schema: rest, root: node.root };
}

/** The schema of what is inside a value: of a key's value, or without a key of the elements. */
export const innerSchema = (node: SchemaNode | undefined, key: string | undefined): SchemaNode | undefined =>
  key === undefined ? elementSchema(node) : propertySchema(node, key);

/** The schema of an array's elements. */
export function elementSchema(node: SchemaNode | undefined): SchemaNode | undefined {
  if (!node) return undefined;
  for (const { items } of branches(node)) if (isObject(items)) return { schema: items, root: node.root };
  return undefined;
}
