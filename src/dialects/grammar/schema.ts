/** A JSON Schema as grammar rules, in the syntax of a dialect's values. What a grammar cannot say is allowed, and reported. */
import { isObject } from "../../core/json.ts";
import type { Json, JsonObject } from "../../core/nouns.ts";
import { follow, type JsonType, schemaTypes } from "../../core/schema.ts";
import { dictsort } from "../print.ts";
import { optional, type Rules } from "./gbnf.ts";
import type { Brackets, Scalar, ValueSyntax } from "./values.ts";

/** References are rules, so recursion is no matter; this bounds what is copied because something stands beside a reference. */
const MAX_DEPTH = 32;
const MAX_RULES = 4000;
/** Longer counts cost llama.cpp a rule for each. */
const MAX_COUNT = 256;

/** What no rule here can keep, by the type that it is about. */
const BEYOND: Readonly<Record<string, readonly string[]>> = {
  any: ["not", "if"],
  string: ["pattern", "format"],
  number: ["multipleOf", "exclusiveMinimum", "exclusiveMaximum"],
  array: ["uniqueItems", "contains", "unevaluatedItems"],
  object: [
    ...["patternProperties", "propertyNames", "minProperties", "maxProperties"],
    ...["dependentRequired", "dependentSchemas", "unevaluatedProperties"],
  ],
};

type Report = (path: string, keyword: string) => void;

/** Where a schema stands. */
interface Place {
  /** The document that references point into. */
  readonly root: JsonObject;
  readonly report: Report;
  readonly syntax: ValueSyntax;
  /** A JSON pointer into the document. */
  readonly path: string;
  readonly hint: string;
  readonly depth: number;
  /** The references that led here with nothing written between: to follow one again would be left recursion. */
  readonly open: ReadonlySet<JsonObject>;
  /** An object that declares no keys has none. */
  readonly closed: boolean;
}

export class SchemaRules {
  readonly #rules: Rules;
  readonly #syntax: ValueSyntax;
  /** The rules of what references point to, by the syntax that they are in. */
  readonly #references = new Map<ValueSyntax, Map<JsonObject, string>>();

  constructor(rules: Rules, syntax: ValueSyntax) {
    this.#rules = rules;
    this.#syntax = syntax;
  }

  /** The rule of a whole schema; `closed`: if it declares no keys, there are none. */
  write(root: JsonObject, hint: string, report: Report, closed = false): string {
    const place: Place = { root, report, syntax: this.#syntax, path: "", hint, depth: 0, open: new Set(), closed };
    return this.#value(root, place) ?? this.#relaxed(place, "$ref");
  }

  /** `undefined`: the schema leads back to itself, and adds nothing. */
  #value(schema: Json | undefined, at: Place): string | undefined {
    if (!isObject(schema)) return this.#any(at.syntax);
    if (at.depth > MAX_DEPTH || this.#rules.size > MAX_RULES) return this.#relaxed(at, "depth");
    if (schema.$ref !== undefined) return this.#reference(schema, at);
    if (Array.isArray(schema.allOf)) return this.#value(this.#together(schema, schema.allOf, at), { ...at, depth: at.depth + 1 });
    const union = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(union) && union.length > 0) return this.#union(schema, union, at);
    this.#beyond(schema, "any", at);
    if (schema.const !== undefined) return this.#constant(schema.const, at);
    if (Array.isArray(schema.enum) && schema.enum.length > 0)
      return this.#choice(
        schema.enum.map((value) => this.#constant(value, at)),
        at,
      );
    return this.#typed(schema, at);
  }

  #reference({ $ref, ...beside }: JsonObject, at: Place): string | undefined {
    const target = typeof $ref === "string" && $ref.startsWith("#") ? follow($ref, at.root) : undefined;
    if (!target) return this.#relaxed(at, "$ref");
    if (at.open.has(target)) return undefined;
    const open = new Set([...at.open, target]);
    if (constrains(beside)) return this.#value(merged(target, beside), { ...at, open, depth: at.depth + 1 });
    return this.#named(target, at, () => this.#value(target, { ...at, open }));
  }

  /** The rule of this schema, whoever asks for it; the body may mention it. */
  #named(schema: JsonObject, { syntax, hint }: Place, body: () => string | undefined): string | undefined {
    const known = this.#references.get(syntax) ?? new Map<JsonObject, string>();
    this.#references.set(syntax, known);
    const name = known.get(schema);
    if (name !== undefined) return name;
    const own = this.#rules.reserve(hint);
    known.set(schema, own);
    const written = body();
    if (written === undefined) known.delete(schema);
    else this.#rules.fill(own, written);
    return written && own;
  }

  #together({ allOf: _, ...beside }: JsonObject, all: readonly Json[], at: Place): JsonObject {
    return all.filter(isObject).reduce((sum, { $ref, ...schema }) => {
      const target = typeof $ref === "string" ? follow($ref, at.root) : undefined;
      return merged(merged(sum, target ?? {}), schema);
    }, beside);
  }

  #union({ anyOf: _, oneOf: __, ...beside }: JsonObject, union: readonly Json[], at: Place): string | undefined {
    const inner = { ...at, depth: at.depth + 1 };
    const alternative = (schema: Json) => (constrains(beside) && isObject(schema) ? merged(beside, schema) : schema);
    return this.#choice(
      union.map((schema) => this.#value(alternative(schema), inner)),
      at,
    );
  }

  #choice(atoms: readonly (string | undefined)[], at: Place): string | undefined {
    const some = atoms.filter((atom) => atom !== undefined);
    if (some.length === 0) return undefined;
    const text = at.syntax.verbatim && at.syntax.string();
    return text && some.includes(text) ? text : this.#rules.choice(at.hint, some);
  }

  /** Objects and lists are schemas of constants, so that blanks in them are free. */
  #constant(value: Json, at: Place): string | undefined {
    if (Array.isArray(value))
      return this.#list({ prefixItems: value.map((item) => ({ const: item })), items: false, minItems: value.length }, at);
    if (!isObject(value)) return at.syntax.scalar(value as Scalar);
    const properties = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, { const: item }]));
    return this.#object({ properties, required: Object.keys(value), additionalProperties: false }, at);
  }

  #typed(schema: JsonObject, at: Place): string | undefined {
    const types = new Set(schemaTypes({ schema, root: at.root }));
    if (types.size === 0 && schema.properties !== undefined) types.add("object");
    if (types.size === 0 && (schema.items !== undefined || schema.prefixItems !== undefined)) types.add("array");
    if (types.size === 0 || (at.syntax.verbatim && types.has("string"))) {
      this.#beyond(schema, "string", at);
      return types.size === 0 ? this.#any(at.syntax) : this.#string(schema, at);
    }
    return this.#choice(
      [...types].map((type) => this.#ofType(type, schema, at)),
      at,
    );
  }

  #ofType(type: JsonType, schema: JsonObject, at: Place): string {
    this.#beyond(schema, type === "integer" ? "number" : type, at);
    const { scalar } = at.syntax;
    switch (type) {
      case "string":
        return this.#string(schema, at);
      case "integer":
      case "number":
        return this.#number(type, schema, at);
      case "boolean":
        return this.#rules.choice("boolean", [scalar(true), scalar(false)]);
      case "null":
        return scalar(null);
      case "array":
        return this.#list(schema, at);
      case "object":
        return this.#object(schema, at);
      default:
        return this.#relaxed(at, "type");
    }
  }

  #string(schema: JsonObject, at: Place): string {
    const { minLength = 0, maxLength } = schema;
    if (minLength === 0 && maxLength === undefined) return at.syntax.string() ?? '""';
    const length = quantifier(minLength, maxLength);
    const counted = length && at.syntax.string(length);
    if (counted) return counted;
    for (const keyword of ["minLength", "maxLength"]) if (schema[keyword]) at.report(at.path, keyword);
    return at.syntax.string() ?? '""';
  }

  #number(type: "integer" | "number", { minimum, maximum }: JsonObject, at: Place): string {
    if (type === "integer" && typeof minimum === "number" && typeof maximum === "number" && maximum - minimum < MAX_COUNT) {
      const first = Math.ceil(minimum);
      const all = Array.from({ length: Math.max(0, Math.floor(maximum) - first + 1) }, (_, i) => at.syntax.scalar(first + i));
      if (all.length > 0) return this.#rules.choice(at.hint, all);
    }
    const positive = typeof minimum === "number" && minimum >= 0;
    if (minimum !== undefined && minimum !== 0) at.report(at.path, "minimum");
    if (maximum !== undefined) at.report(at.path, "maximum");
    // Digits are counted, since a weak model would go on for ever.
    const whole = '("0" | [1-9] [0-9]{0,31})';
    const sign = positive ? "" : '"-"? ';
    if (type === "integer") return this.#rules.rule("integer", sign + whole);
    return this.#rules.rule("number", `${sign}${whole} ("." [0-9]{1,31})? ([eE] [+-]? [0-9]{1,3})?`);
  }

  #list(schema: JsonObject, at: Place): string {
    const { list, inner = at.syntax } = at.syntax;
    const below = (step: string): Place => ({ ...at, syntax: inner, path: `${at.path}/${step}`, hint: `${at.hint}-item`, ...deeper(at) });
    const value = (item: Json | undefined, step: string) => this.#value(item, below(step)) ?? this.#relaxed(below(step), "$ref");
    const first = Array.isArray(schema.prefixItems) ? schema.prefixItems.map((item, i) => value(item, `prefixItems/${i}`)) : [];
    const { minItems = 0, maxItems } = schema;
    if (first.length > 0) {
      const closed = schema.items === false || maxItems === first.length;
      const rest = closed ? "" : ` (${list.comma} ${value(schema.items, "items")})*`;
      if (Number(minItems) > first.length) at.report(at.path, "minItems");
      if (maxItems !== undefined && !closed) at.report(at.path, "maxItems");
      return this.#rules.rule(at.hint, `${list.open} ${first.join(` ${list.comma} `)}${rest} ${list.close}`);
    }
    const item = schema.items === false ? undefined : value(schema.items, "items");
    if (item === undefined || maxItems === 0) return this.#rules.rule(at.hint, `${list.open} ${list.close}`);
    const least = typeof minItems === "number" ? minItems : 0;
    let more = quantifier(Math.max(0, least - 1), typeof maxItems === "number" ? maxItems - 1 : undefined);
    if (more === undefined) {
      at.report(at.path, typeof maxItems === "number" ? "maxItems" : "minItems");
      more = "*";
    }
    const items = `${item} (${list.comma} ${item})${more}`;
    return this.#rules.rule(at.hint, `${list.open} ${least > 0 ? items : optional(items)} ${list.close}`);
  }

  #object(schema: JsonObject, at: Place): string {
    const { object, inner = at.syntax } = at.syntax;
    const declared = isObject(schema.properties) ? schema.properties : {};
    const required = new Set(Array.isArray(schema.required) ? schema.required.filter((key) => typeof key === "string") : []);
    const given = [...new Set([...Object.keys(declared), ...required])];
    const keys = object.sorted ? dictsort(given.map((key) => [key, null])).map(([key]) => key) : given;
    const below = (key: string): Place => ({
      ...at,
      syntax: inner,
      path: `${at.path}/properties/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`,
      hint: `${at.hint}-${key}`,
      ...deeper(at),
    });
    const pairs = keys.map((key): Pair => {
      const place = below(key);
      const property = Object.hasOwn(declared, key) ? declared[key] : undefined;
      const types = isObject(property) ? schemaTypes({ schema: property, root: at.root }) : new Set<JsonType>();
      const value = this.#value(property, place) ?? this.#relaxed(place, "$ref");
      return { body: object.pair(key, value, types), required: required.has(key), hint: place.hint };
    });
    const open = schema.additionalProperties ?? (keys.length === 0 && !at.closed);
    const other = open === false ? undefined : this.#otherPair(open, keys, at);
    return this.#rules.rule(at.hint, [object.open, this.#pairs(pairs, other, object), object.close].filter(Boolean).join(" ") || '""');
  }

  #otherPair(schema: Json, keys: readonly string[], at: Place): string {
    const { object, inner = at.syntax } = at.syntax;
    const place: Place = { ...at, syntax: inner, path: `${at.path}/additionalProperties`, hint: `${at.hint}-other`, ...deeper(at) };
    return object.otherPair(keys, this.#value(schema, place) ?? this.#relaxed(place, "$ref"));
  }

  /** Pairs in their order, with a comma between those that are there. */
  #pairs(pairs: readonly Pair[], other: string | undefined, { comma }: Brackets): string {
    const others = other === undefined ? "" : `(${comma} ${other})*`;
    const anchor = pairs.findIndex((pair) => pair.required);
    if (anchor >= 0) {
      const written = pairs.map(({ body, required }, i) => {
        if (i < anchor) return optional(`${body} ${comma}`);
        if (i === anchor) return body;
        return required ? `${comma} ${body}` : optional(`${comma} ${body}`);
      });
      return [...written, others].filter(Boolean).join(" ");
    }
    // No key must be there: whichever is the first has no comma.
    let first = other === undefined ? "" : optional(`${other} ${others}`);
    let more = others;
    for (const { body, hint } of pairs.toReversed()) {
      const pair = this.#rules.rule(`${hint}-pair`, body);
      const begins = [pair, more].filter(Boolean).join(" ");
      first = this.#rules.rule(`${hint}-first`, `${begins} | ${first || '""'}`);
      more = this.#rules.rule(`${hint}-more`, [optional(`${comma} ${pair}`), more].filter(Boolean).join(" "));
    }
    return first;
  }

  #any(syntax: ValueSyntax): string {
    if (syntax.verbatim) return syntax.string() ?? '""';
    const at: Place = { root: ANY, report: () => {}, syntax, path: "", hint: "value", depth: 0, open: new Set(), closed: false };
    const types = ["string", "number", "boolean", "null", "array", "object"] as const;
    return this.#named(ANY, at, () => types.map((type) => this.#ofType(type, ANY, { ...at, hint: type })).join(" | ")) ?? '""';
  }

  #beyond(schema: JsonObject, type: string, { path, report }: Place): void {
    for (const keyword of BEYOND[type] ?? []) if (schema[keyword]) report(path, keyword);
  }

  #relaxed(at: Place, keyword: string): string {
    at.report(at.path, keyword);
    return this.#any(at.syntax);
  }
}

interface Pair {
  readonly body: string;
  readonly required: boolean;
  readonly hint: string;
}

const ANY: JsonObject = {};

/** Behind something written. */
const deeper = ({ depth }: Place) => ({ depth: depth + 1, open: new Set<JsonObject>(), closed: false });

const NOTES = new Set(["title", "description", "default", "examples", "$comment", "deprecated", "$defs", "definitions", "$schema", "$id"]);
const constrains = (schema: JsonObject): boolean => Object.keys(schema).some((key) => !NOTES.has(key));

function merged(a: JsonObject, b: JsonObject): JsonObject {
  const sum: Record<string, Json> = { ...a, ...b };
  if (isObject(a.properties) && isObject(b.properties)) sum.properties = { ...a.properties, ...b.properties };
  if (Array.isArray(a.required) && Array.isArray(b.required)) sum.required = [...a.required, ...b.required];
  return sum;
}

/** `{2,5}`, if it is cheap. */
function quantifier(least: Json, most: Json | undefined): string | undefined {
  const cheap = (count: Json) => typeof count === "number" && Number.isInteger(count) && count >= 0 && count <= MAX_COUNT;
  if (!cheap(least) || (most !== undefined && (!cheap(most) || Number(most) < Number(least)))) return undefined;
  return most === undefined && least === 0 ? "*" : `{${least},${most ?? ""}}`;
}
