/**
 * Whether a value is what a JSON Schema asks for, and if not, where and why. Our own, since libraries compile schemas to code, which a page with a
 * content security policy, an extension and a worker forbid, and since a hostile schema must cost no more than so many looks. The test holds it
 * against Ajv.
 *
 *     schemaProblems({ properties: { days: { type: "integer" } } }, { days: "3" })   // [{ path: ["days"], message: "must be integer" }]
 *
 * All drafts from 4 on, without `unevaluated…`, `$dynamicRef` and references to other documents: those let everything pass.
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject } from "../core/nouns.ts";
import { followRef } from "../core/schema.ts";

export interface Problem {
  readonly path: readonly string[];
  readonly message: string;
}

/** Alternatives inside of alternatives, and schemas that lead to themselves, have no end: what comes behind so many looks passes. */
const MAX_LOOKS = 100_000;

/** Never throws: what is wrong with the schema itself lets everything pass, and `schemaFault` says it. */
export function schemaProblems(schema: Json, value: Json, looks = MAX_LOOKS): Problem[] {
  const root = isObject(schema) ? schema : {};
  return new Check(value, [], { root, left: looks }).all(schema);
}

const MAX_DEPTH = 200;

/** One value, held against schemas. */
class Check {
  readonly value: Json;
  readonly path: readonly string[];
  readonly #whole: { readonly root: JsonObject; left: number };
  readonly #depth: number;
  problems: Problem[] = [];

  constructor(value: Json, path: readonly string[], whole: { readonly root: JsonObject; left: number }, depth = 0) {
    this.value = value;
    this.path = path;
    this.#whole = whole;
    this.#depth = depth;
  }

  get root(): JsonObject {
    return this.#whole.root;
  }

  all(schema: Json | undefined): Problem[] {
    if (schema === false) this.fail("is not allowed");
    if (!isObject(schema) || this.#whole.left-- <= 0 || this.#depth > MAX_DEPTH) return this.problems;
    if (schema.nullable === true && this.value === null) return this.problems;
    for (const [keyword, rule] of Object.entries(schema))
      if (rule !== undefined && Object.hasOwn(RULES, keyword)) RULES[keyword]!(rule, this, schema);
    return this.problems;
  }

  fail(message: string, key?: string): void {
    this.problems.push({ path: key === undefined ? this.path : [...this.path, key], message });
  }

  /** What the same value, or one inside of it, has against a schema. */
  against(schema: Json | undefined, key?: string | number, value = this.value): Problem[] {
    const path = key === undefined ? this.path : [...this.path, String(key)];
    return new Check(value, path, this.#whole, this.#depth + 1).all(schema);
  }
  fits(schema: Json | undefined, value = this.value): boolean {
    return this.against(schema, undefined, value).length === 0;
  }
  take(problems: readonly Problem[]): void {
    this.problems.push(...problems);
  }
}

type Rule = (rule: Json, check: Check, schema: JsonObject) => void;

const listOf = (json: Json | undefined): readonly Json[] => (Array.isArray(json) ? json : []);
const mapOf = (json: Json | undefined): JsonObject => (isObject(json) ? json : {});

/** A rule for values of one kind, with an operand of one kind; `undefined`: it is kept to. */
const numbers =
  (problem: (value: number, rule: number, schema: JsonObject) => string | undefined): Rule =>
  (rule, check, schema) => {
    const message = typeof check.value === "number" && typeof rule === "number" ? problem(check.value, rule, schema) : undefined;
    if (message !== undefined) check.fail(message);
  };

/** How many of something: `at least 2 items`. */
const counted =
  (what: string, side: "least" | "most", count: (value: Json) => number | undefined): Rule =>
  (rule, check) => {
    const n = count(check.value);
    if (n === undefined || typeof rule !== "number" || (side === "least" ? n >= rule : n <= rule)) return;
    check.fail(`must have at ${side} ${rule} ${what}`);
  };

const charactersOf = (value: Json): number | undefined => (typeof value === "string" ? [...value].length : undefined);
const itemsOf = (value: Json): number | undefined => (Array.isArray(value) ? value.length : undefined);
const propertiesOf = (value: Json): number | undefined => (isObject(value) ? Object.keys(value).length : undefined);

/** By what a keyword says, in the order in which the schema has them. */
const RULES: Readonly<Record<string, Rule>> = {
  $ref: (rule, check) => {
    if (typeof rule === "string" && rule.startsWith("#")) check.take(check.against(followRef(rule, check.root)));
  },

  type: (rule, check) => {
    const types = [rule].flat().filter((type): type is string => typeof type === "string" && Object.hasOwn(TYPES, type));
    if (types.length > 0 && !types.some((type) => TYPES[type]!(check.value))) check.fail(`must be ${types.join(" or ")}`);
  },
  enum: (rule, check) => {
    const values = listOf(rule);
    const text = textOf(check.value);
    if (!values.some((one) => textOf(one) === text)) check.fail(`must be one of ${JSON.stringify(values).slice(1, -1)}`);
  },
  const: (rule, check) => {
    if (textOf(rule) !== textOf(check.value)) check.fail(`must be ${JSON.stringify(rule)}`);
  },

  minimum: numbers((value, rule, { exclusiveMinimum }) =>
    exclusiveMinimum === true ? more(value, rule) : value < rule ? `must be at least ${rule}` : undefined,
  ),
  maximum: numbers((value, rule, { exclusiveMaximum }) =>
    exclusiveMaximum === true ? less(value, rule) : value > rule ? `must be at most ${rule}` : undefined,
  ),
  exclusiveMinimum: numbers(more),
  exclusiveMaximum: numbers(less),
  multipleOf: numbers((value, rule) => {
    const times = value / rule;
    return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times)) ? undefined : `must be a multiple of ${rule}`;
  }),

  minLength: counted("characters", "least", charactersOf),
  maxLength: counted("characters", "most", charactersOf),
  pattern: (rule, check) => {
    if (typeof check.value === "string" && patternOf(rule)?.test(check.value) === false) check.fail(`must match the pattern ${rule}`);
  },
  format: (rule, check) => {
    const format = typeof rule === "string" && Object.hasOwn(FORMATS, rule) ? FORMATS[rule] : undefined;
    if (format && typeof check.value === "string" && !format.fits(check.value)) check.fail(`must be ${format.words}`);
  },

  minItems: counted("items", "least", itemsOf),
  maxItems: counted("items", "most", itemsOf),
  uniqueItems: (rule, check) => {
    const items = rule === true ? listOf(check.value) : [];
    if (new Set(items.map(textOf)).size < items.length) check.fail("must not have the same item twice");
  },
  prefixItems: (rule, check) => {
    const values = listOf(check.value);
    for (const [i, schema] of listOf(rule).entries()) if (i < values.length) check.take(check.against(schema, i, values[i]!));
  },
  items: (rule, check, { prefixItems, additionalItems }) => {
    const tuple = Array.isArray(rule) ? rule : listOf(prefixItems);
    const rest = Array.isArray(rule) ? additionalItems : rule;
    for (const [i, value] of listOf(check.value).entries()) {
      if (i >= tuple.length) check.take(check.against(rest, i, value));
      else if (tuple === rule) check.take(check.against(tuple[i], i, value));
    }
  },
  contains: (rule, check, { minContains = 1, maxContains = Number.POSITIVE_INFINITY }) => {
    if (!Array.isArray(check.value)) return;
    const n = check.value.filter((value) => check.fits(rule, value)).length;
    if (n < Number(minContains) || n > Number(maxContains)) check.fail("has too few or too many items of the kind that it must contain");
  },

  minProperties: counted("properties", "least", propertiesOf),
  maxProperties: counted("properties", "most", propertiesOf),
  required: (rule, check) => {
    if (!isObject(check.value)) return;
    for (const key of listOf(rule)) if (typeof key === "string" && !Object.hasOwn(check.value, key)) check.fail("is missing", key);
  },
  properties: (rule, check) => {
    const value = mapOf(check.value);
    for (const [key, schema] of Object.entries(mapOf(rule)))
      if (Object.hasOwn(value, key)) check.take(check.against(schema, key, value[key]!));
  },
  patternProperties: (rule, check) => {
    for (const [pattern, schema] of Object.entries(mapOf(rule))) {
      const matching = Object.entries(mapOf(check.value)).filter(([key]) => patternOf(pattern)?.test(key));
      for (const [key, value] of matching) check.take(check.against(schema, key, value));
    }
  },
  additionalProperties: (rule, check, { properties, patternProperties }) => {
    const patterns = Object.keys(mapOf(patternProperties)).map(patternOf);
    for (const [key, value] of Object.entries(mapOf(check.value))) {
      if (Object.hasOwn(mapOf(properties), key) || patterns.some((pattern) => pattern?.test(key))) continue;
      if (rule === false) check.fail("there is no such parameter", key);
      else check.take(check.against(rule, key, value));
    }
  },
  propertyNames: (rule, check) => {
    for (const key of Object.keys(mapOf(check.value))) check.take(check.against(rule, key, key));
  },
  dependentRequired: (rule, check) => {
    for (const [key, keys] of Object.entries(mapOf(rule))) if (Object.hasOwn(mapOf(check.value), key)) RULES.required!(keys, check, {});
  },
  dependentSchemas: (rule, check) => {
    for (const [key, schema] of Object.entries(mapOf(rule))) if (Object.hasOwn(mapOf(check.value), key)) check.take(check.against(schema));
  },
  dependencies: (rule, check, schema) => {
    for (const [key, needs] of Object.entries(mapOf(rule)))
      RULES[Array.isArray(needs) ? "dependentRequired" : "dependentSchemas"]!({ [key]: needs }, check, schema);
  },

  allOf: (rule, check) => {
    for (const schema of listOf(rule)) check.take(check.against(schema));
  },
  anyOf: (rule, check) => void alternatives(listOf(rule), check),
  oneOf: (rule, check) => {
    if (alternatives(listOf(rule), check) > 1) check.fail("must fit one of the alternatives, and fits several");
  },
  not: (rule, check) => {
    if (check.fits(rule)) check.fail(`must not fit ${JSON.stringify(rule)}`);
  },
  if: (rule, check, schema) => check.take(check.against(check.fits(rule) ? schema.then : schema.else)),
};

function more(value: number, rule: number): string | undefined {
  return value > rule ? undefined : `must be more than ${rule}`;
}
function less(value: number, rule: number): string | undefined {
  return value < rule ? undefined : `must be less than ${rule}`;
}

/** How many fit. If none does, the one that is nearest says what is wrong: an object of another shape is nearer than no object. */
function alternatives(schemas: readonly Json[], check: Check): number {
  const lists = schemas.map((schema) => check.against(schema));
  const fitting = lists.filter((problems) => problems.length === 0).length;
  if (fitting > 0 || lists.length === 0) return fitting;
  const isInside = (problems: readonly Problem[]): boolean => problems.every(({ path }) => path.length > check.path.length);
  const [nearest] = lists.filter(isInside).sort((a, b) => a.length - b.length);
  if (nearest) check.take(nearest);
  else check.fail([...new Set(lists.flat().map(({ message }) => message))].slice(0, MAX_WORDS).join(", or "));
  return 0;
}

const MAX_WORDS = 8;

const TYPES: Readonly<Record<string, (value: Json) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
};

const matching = (pattern: RegExp) => (text: string) => pattern.test(text);
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number);
  return (
    day !== undefined && day > 0 && day <= new Date(Date.UTC(2000 + (year! % 400), month!, 0)).getUTCDate() && month! > 0 && month! < 13
  );
}

/** Those that a model gets wrong; others are a word for the reader. */
const FORMATS: Readonly<Record<string, { words: string; fits(text: string): boolean }>> = {
  date: { words: "a date like 2026-01-31", fits: isDate },
  time: { words: "a time like 23:59:59Z", fits: matching(TIME) },
  "date-time": {
    words: "a time like 2026-01-31T23:59:59Z",
    fits: (text) => isDate(text.slice(0, 10)) && /^[t\s]$/i.test(text.charAt(10)) && TIME.test(text.slice(11)),
  },
  email: { words: "an e-mail address", fits: matching(/^[^\s@]+@[^\s@]+$/) },
  uri: { words: "a URL", fits: (text) => /^[a-z][a-z\d+.-]*:\S+$/i.test(text) },
  uuid: { words: "a UUID", fits: matching(/^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i) },
  ipv4: { words: "an IPv4 address", fits: matching(/^((25[0-5]|2[0-4]\d|1?\d?\d)(\.|$)){4}(?<!\.)$/) },
};

/** Alike for values that are: the order of keys means nothing. */
const textOf = (json: Json): string =>
  JSON.stringify(json, (_, value: Json) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  );

/** Compiled once, for all items of a list. */
const patterns = new Map<string, RegExp | undefined>();
const MAX_PATTERNS = 256;

/** `undefined`: it is none. */
function patternOf(source: Json): RegExp | undefined {
  if (typeof source !== "string") return undefined;
  if (!patterns.has(source)) {
    if (patterns.size >= MAX_PATTERNS) patterns.clear();
    patterns.set(source, regExpOf(source, "u") ?? regExpOf(source));
  }
  return patterns.get(source);
}

function regExpOf(source: string, flags?: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined; // patterns are written for either kind of regular expression
  }
}

// ---- What is wrong with a schema

/** The place of the first thing that is no JSON Schema; `undefined`: there is none. */
export function schemaFault(schema: Json, path = "", root = mapOf(schema)): string | undefined {
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
  /** Schemas: one, or several in a list or by their names. */
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
