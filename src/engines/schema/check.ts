/**
 * Checks a value against a JSON Schema and says where and why it does not fit. Not with a library: those compile schemas to code, which
 * pages with a content security policy, extensions and workers forbid, and the cost of a hostile schema must be limited. The test compares
 * it with Ajv.
 *
 *     schemaProblems({ properties: { days: { type: "integer" } } }, { days: "3" })   // [{ path: ["days"], message: "must be integer" }]
 *
 * Supports all drafts from 4 on, except `unevaluated…`, `$dynamicRef` and references to other documents or by name. What is not supported
 * lets everything pass, in alternatives and negations too: where the result depends on it, there is no problem.
 */
import { isObject } from "../../core/json.ts";
import type { Json, JsonObject } from "../../core/nouns.ts";
import { followRef } from "../../core/schema.ts";
import { listOf } from "../../wires/read.ts";
import { FORMATS, patternOf, TYPES, textOf } from "./values.ts";

export interface Problem {
  readonly path: readonly string[];
  readonly message: string;
}

/** Limits the work for nested alternatives and recursive schemas: after this many checks everything passes. */
const MAX_LOOKS = 100_000;

/** Never throws: a faulty part of the schema lets everything pass (`schemaFault` reports it). */
export function schemaProblems(schema: Json, value: Json, looks = MAX_LOOKS): Problem[] {
  const root = isObject(schema) ? schema : {};
  return new Check(value, [], { root, left: looks, doubts: 0 }).all(schema);
}

const MAX_DEPTH = 200;

/** The whole check: how many schemas may still be looked at, and how often something passed because it could not be checked. */
interface Whole {
  readonly root: JsonObject;
  left: number;
  doubts: number;
}

/** Checks one value. */
class Check {
  readonly value: Json;
  readonly path: readonly string[];
  readonly #whole: Whole;
  readonly #depth: number;
  problems: Problem[] = [];

  constructor(value: Json, path: readonly string[], whole: Whole, depth = 0) {
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
    if (schema === undefined || typeof schema === "boolean") return this.problems;
    if (!isObject(schema) || this.#whole.left-- <= 0 || this.#depth > MAX_DEPTH) return this.doubt();
    if (schema.nullable === true && this.value === null) return this.problems;
    for (const [keyword, rule] of Object.entries(schema))
      if (rule !== undefined && Object.hasOwn(RULES, keyword)) RULES[keyword]!(rule, this, schema);
    return this.problems;
  }

  /** Something cannot be checked, and passes. */
  doubt(): Problem[] {
    this.#whole.doubts++;
    return this.problems;
  }

  fail(message: string, key?: string): void {
    this.problems.push({ path: key === undefined ? this.path : [...this.path, key], message });
  }

  /** The problems of the same value, or of one inside it, with a schema. */
  against(schema: Json | undefined, key?: string | number, value = this.value): Problem[] {
    const path = key === undefined ? this.path : [...this.path, String(key)];
    return new Check(value, path, this.#whole, this.#depth + 1).all(schema);
  }
  /** The same, and whether a value without problems surely has none. */
  trial(schema: Json | undefined, value = this.value): { problems: readonly Problem[]; fits: boolean; surely: boolean } {
    const { doubts } = this.#whole;
    const problems = this.against(schema, undefined, value);
    const fits = problems.length === 0;
    return { problems, fits, surely: fits && this.#whole.doubts === doubts };
  }
  take(problems: readonly Problem[]): void {
    for (const problem of problems) this.problems.push(problem); // a spread of a hundred thousand would overflow the stack
  }
}

type Rule = (rule: Json, check: Check, schema: JsonObject) => void;

const unsupported: Rule = (_, check) => void check.doubt();

const mapOf = (json: Json | undefined): JsonObject => (isObject(json) ? json : {});

/** A rule for numbers whose operand is a number; `undefined`: the value fits. */
const numbers =
  (problem: (value: number, rule: number, schema: JsonObject) => string | undefined): Rule =>
  (rule, check, schema) => {
    const message = typeof check.value === "number" && typeof rule === "number" ? problem(check.value, rule, schema) : undefined;
    if (message !== undefined) check.fail(message);
  };

/** A rule for a number of things: `at least 2 items`. */
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

/** By keyword; applied in the order in which the schema has them. */
const RULES: Readonly<Record<string, Rule>> = {
  $ref: (rule, check) => {
    const target = typeof rule === "string" && rule.startsWith("#") ? followRef(rule, check.root) : undefined;
    if (target) check.take(check.against(target));
    else check.doubt();
  },
  $dynamicRef: unsupported,
  $recursiveRef: unsupported,
  unevaluatedItems: unsupported,
  unevaluatedProperties: unsupported,

  type: (rule, check) => {
    const types = [rule].flat().filter((type): type is string => typeof type === "string" && Object.hasOwn(TYPES, type));
    if (types.length === 0) check.doubt();
    else if (!types.some((type) => TYPES[type]!(check.value))) check.fail(`must be ${types.join(" or ")}`);
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
    const times = value / rule; // may be infinite, and then says nothing
    return Math.abs(times - Math.round(times)) >= 1e-9 * Math.max(1, Math.abs(times)) ? `must be a multiple of ${rule}` : undefined;
  }),

  minLength: counted("characters", "least", charactersOf),
  maxLength: counted("characters", "most", charactersOf),
  pattern: (rule, check) => {
    if (typeof check.value !== "string") return;
    const pattern = patternOf(rule);
    if (!pattern) check.doubt();
    else if (!pattern.test(check.value)) check.fail(`must match the pattern ${rule}`);
  },
  format: (rule, check) => {
    const format = typeof rule === "string" && Object.hasOwn(FORMATS, rule) ? FORMATS[rule] : undefined;
    if (typeof check.value !== "string") return;
    if (!format) check.doubt();
    else if (!format.fits(check.value)) check.fail(`must be ${format.words}`);
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
    const trials = check.value.map((value) => check.trial(rule, value));
    const isTooFew = trials.filter(({ fits }) => fits).length < Number(minContains);
    const isTooMany = trials.filter(({ surely }) => surely).length > Number(maxContains);
    if (isTooFew || isTooMany) check.fail("has too few or too many items of the kind that it must contain");
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
    if (alternatives(listOf(rule), check) > 1) check.fail("must fit exactly one of the alternatives, but fits several");
  },
  not: (rule, check) => {
    if (check.trial(rule).surely) check.fail(`must not fit ${JSON.stringify(rule)}`);
  },
  if: (rule, check, schema) => {
    const { fits, surely } = check.trial(rule);
    if (fits === surely) check.take(check.against(fits ? schema.then : schema.else));
  },
};

function more(value: number, rule: number): string | undefined {
  return value > rule ? undefined : `must be more than ${rule}`;
}
function less(value: number, rule: number): string | undefined {
  return value < rule ? undefined : `must be less than ${rule}`;
}

/**
 * How many schemas surely fit. If none does, the nearest reports its problems: one that fails only inside the value is nearer than one that
 * fails on it.
 */
function alternatives(schemas: readonly Json[], check: Check): number {
  const trials = schemas.map((schema) => check.trial(schema));
  if (trials.some(({ fits }) => fits)) return trials.filter(({ surely }) => surely).length;
  const lists = trials.map(({ problems }) => problems);
  if (lists.length === 0) return 0;
  const isInside = (problems: readonly Problem[]): boolean => problems.every(({ path }) => path.length > check.path.length);
  const [nearest] = lists.filter(isInside).sort((a, b) => a.length - b.length);
  if (nearest) check.take(nearest);
  else check.fail([...new Set(lists.flat().map(({ message }) => message))].slice(0, MAX_WORDS).join(", or "));
  return 0;
}

const MAX_WORDS = 8;
