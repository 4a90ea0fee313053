/** A JSON Schema as grammar rules, in the syntax of a dialect's values. What a grammar cannot express is allowed, and reported. */
import { isObject } from "../../core/json.ts";
import type { Json, JsonObject } from "../../core/nouns.ts";
import { keepNumbers, numberText } from "../../core/numbers.ts";
import { branches, followRef, schemaTypes, typeOf } from "../../core/schema.ts";
import { pythonJson } from "../print.ts";
import { allApart, wordsOf } from "./apart.ts";
import { literal, optional, type Rules, row } from "./gbnf.ts";
import { integers } from "./integers.ts";
import { constrains, isNote, isWithin, merged } from "./merge.ts";
import type { Kind, ObjectSyntax, Scalar, ValueSyntax } from "./values.ts";

/** References become rules, so recursion is harmless; this limits the copies made where other keywords accompany a reference. */
const MAX_DEPTH = 32;
const MAX_RULES = 4000;
/** How many schemas are written, copies included: they may double at every step, and yet share their rules. */
const MAX_WRITTEN = 12_000;
/** Higher counts are not enforced: each costs llama.cpp a rule. */
const MAX_COUNT = 256;
/** Of what a rule does not enforce, so much is reported again wherever it is referred to. */
const MAX_REPORTS = 64;
/** Up to this many required keys may come in any order; more must follow the schema's order. */
const MAX_FREE = 4;

/** Keywords that the rules cannot enforce, by their beginnings. */
const BEYOND = /^(?:not$|if$|multipleOf|unique|contains$|dependen|patternProp|m..Properties|\$(?:dynamic|recursive)Ref)/;
/** The same for strings. */
const BEYOND_TEXT = /^(?:pattern|format)$/;
/** Beside words, nothing else is enforced. */
const BESIDE_WORDS = /^(?!(?:type|nullable|enum|const)$)/;
const UNEVALUATED = /^unevaluated/;
/** Keywords for one type of values, which are not enforced if the schema names no type. */
const OF_ONE_TYPE = /^(?:m(?:in|ax)(?:imum|Length|Items)|exclusiveM..imum|required|propertyNames|additionalProperties|unevaluated.*)$/;
/** Values of such keywords that constrain nothing. */
const IDLE: JsonObject = {
  not: false,
  required: true, // of an older draft, where the keyword belongs to the property
  exclusiveMinimum: true, // of an older draft, where `minimum` has the number
  exclusiveMaximum: true,
  uniqueItems: false,
  minProperties: 0,
  propertyNames: true,
  additionalProperties: true,
  unevaluatedItems: true,
  unevaluatedProperties: true,
};

const WHOLE = '("0" | [1-9] [0-9]{0,31})'; // limited, because a weak model may write digits forever
const FRACTION = '("." [0-9]{1,31})? ([eE] [+-]? [0-9]{1,3})?';
const TYPES = ["string", "number", "boolean", "null", "array", "object"];
/** Whether values of this type are of this kind. */
const isOf = (kind: Kind, type: string): boolean =>
  kind === "others" ? type !== "string" : kind === (type === "integer" ? "number" : type);
const ANY: JsonObject = {};

export type Report = (path: string, keyword: string) => void;

/** Where a schema is in its document, and how its values are written. */
interface Place {
  /** The document that references point into. */
  readonly root: JsonObject;
  readonly report: Report;
  readonly syntax: ValueSyntax;
  /** A JSON pointer into the document. */
  readonly path: string;
  readonly hint: string;
  readonly depth: number;
  /** The references followed since anything was last written: to follow one of them again would be left recursion. */
  readonly open: readonly JsonObject[];
  /** An object that declares no keys allows none. */
  readonly closed?: boolean;
}

/** The rule of a schema and, once it is written, what it does not enforce: every place that refers to it reports that. */
interface Written {
  readonly name: string;
  reports?: readonly (readonly [path: string, keyword: string])[];
}

interface Pair {
  readonly body: string;
  readonly required: boolean;
}

/** Returns a function that writes the rule of a whole schema; its `closed`: a schema that declares no keys allows none. */
export function schemaRules(rules: Rules, syntax: ValueSyntax) {
  /** The rules of schemas that references point to, by syntax. */
  const known = new Map<ValueSyntax, Map<JsonObject, Written>>();
  const merges = new Map<JsonObject, Map<string, JsonObject>>();
  /** The open references at which an alternative was left out. */
  const cut = new Set<JsonObject>();

  let count = 0;

  const relaxed = (at: Place, keyword: string): string => {
    at.report(at.path, keyword);
    return any(at);
  };

  const written = (schema: Json | undefined, at: Place): string => value(schema, at) ?? relaxed(at, schema === false ? "false" : "$ref");

  /** A place inside this one, after something was written: any reference may be followed again. */
  const inside = (at: Place, step: string, key: string): Place => ({
    ...at,
    syntax: at.syntax.inner ?? at.syntax,
    path: `${at.path}/${step}`,
    hint: `${at.hint}-${key}`,
    depth: at.depth + 1,
    open: [],
    closed: false,
  });

  /** `undefined`: the schema allows nothing, or leads back to itself without adding anything. */
  const value = (schema: Json | undefined, at: Place): string | undefined => {
    if (!isObject(schema)) return schema === false ? undefined : any(at);
    if (at.depth > MAX_DEPTH || rules.size > MAX_RULES || count++ > MAX_WRITTEN) return relaxed(at, "depth");
    const { $ref, allOf, ...whole } = schema;
    const deeper = { ...at, depth: at.depth + 1 };
    const both = (a: JsonObject, b: JsonObject) => merged(a, b, (keyword) => at.report(at.path, keyword));
    if ($ref !== undefined) return reference($ref, schema, at);
    if (Array.isArray(allOf)) {
      if (allOf.includes(false)) return undefined;
      if (allOf.length === 1 && !constrains(whole)) return value(allOf[0], deeper);
      return follow(
        once(schema, "", () => together(schema, at)),
        deeper,
      );
    }
    const { anyOf, oneOf, ...rest } = whole;
    const union = anyOf ?? oneOf;
    const own = anyOf === undefined || oneOf === undefined ? rest : { ...rest, oneOf }; // each alternative of one, with all of the other
    if (Array.isArray(union) && union.length > 0) {
      const alternative = (part: Json) => (constrains(own) && part !== false ? both(own, isObject(part) ? inner(part, at) : ANY) : part);
      const parts = union.map(alternative);
      const silent = { ...at, report: () => {} };
      if (anyOf === undefined && !allApart(parts, (part) => together(resolved(part, silent), silent))) at.report(at.path, "oneOf");
      return choice(
        parts.map((part) => value(part, deeper)),
        at,
      );
    }
    unforced(own, BEYOND, at);
    const listed = Array.isArray(own.enum) ? own.enum : [];
    const literals = own.const === undefined ? listed : [own.const];
    if (literals.length === 0) {
      if (own.enum !== undefined) at.report(at.path, "enum");
      return typed(own, at);
    }
    // An array whose `enum` lists no array: the choices are meant for its items.
    if (String(schemaTypes({ schema: own, root: at.root })) === "array" && own.const === undefined && !literals.some(Array.isArray)) {
      const { enum: words, ...others } = own;
      return typed({ ...others, items: { enum: words as Json } }, at);
    }
    unforced(own, BESIDE_WORDS, at);
    const { type, nullable } = own;
    const types = type === undefined ? TYPES : schemaTypes({ schema: { type, nullable: nullable ?? false }, root: ANY });
    const isOfType = (one: Json) => types.some((type) => type === typeOf(one) || (type === "integer" && Number.isInteger(one)));
    const some = literals.some(isOfType);
    if (!some) at.report(at.path, "type");
    if (own.const !== undefined && own.enum !== undefined && !listed.map(pythonJson).includes(pythonJson(own.const)))
      at.report(at.path, "enum");
    const spelling = (one: Json, i: number) =>
      literals === listed ? numberText(listed, String(i), one) : numberText(schema, "const", one);
    const all = literals.map((one, i) => (some && !isOfType(one) ? undefined : constant(one, at, spelling(one, i))));
    return choice(nullable === true ? [...all, constant(null, at)] : all, at);
  };

  const unforced = (schema: JsonObject, keywords: RegExp, { report, path }: Place): void => {
    for (const key in schema) if ((schema[key] ?? undefined) !== IDLE[key] && keywords.test(key) && !isNote(key)) report(path, key);
  };

  /** A schema that is merged with others: its own `unevaluated…` would then see their keywords, too. */
  const inner = (part: JsonObject, at: Place): JsonObject => {
    unforced(part, UNEVALUATED, at);
    return part;
  };

  const target = ($ref: Json | undefined, at: Place): JsonObject | undefined =>
    typeof $ref === "string" && $ref.startsWith("#") ? followRef($ref, at.root) : undefined;

  const resolved = (part: JsonObject, at: Place, seen: readonly JsonObject[] = []): JsonObject => {
    const { $ref, ...own } = inner(part, at);
    if ($ref === undefined) return part;
    const found = target($ref, at);
    if (!found) at.report(at.path, "$ref");
    if (!found || seen.includes(found)) return own;
    return merged(resolved(found, at, [...seen, found]), own, (keyword) => at.report(at.path, keyword));
  };

  const reference = ($ref: Json, schema: JsonObject, at: Place): string | undefined => {
    const found = target($ref, at);
    if (!found) return relaxed(at, "$ref");
    const { $ref: _, ...beside } = schema;
    const sum = () => merged(inner(found, at), beside, (keyword) => at.report(at.path, keyword));
    return follow(isWithin(beside, found) ? found : once(found, pythonJson(beside), sum), at, found);
  };

  /** `found`: what was referred to, if the schema also has what stands beside the reference. */
  const follow = (schema: JsonObject, at: Place, found = schema): string | undefined => {
    if (at.open.includes(found)) {
      cut.add(found);
      return undefined;
    }
    const name = named(schema, { ...at, open: [...at.open, found] }, value);
    cut.delete(found);
    return name;
  };

  /** The one schema that is made of this one and what `key` says, so that it has one rule, too. */
  const once = (schema: JsonObject, key: string, make: () => JsonObject): JsonObject => {
    const copies = merges.get(schema) ?? new Map<string, JsonObject>();
    merges.set(schema, copies);
    const copy = copies.get(key) ?? make();
    copies.set(key, copy);
    return copy;
  };

  /** The parts of `allOf` and what is beside them as one schema. */
  const together = ({ allOf, ...whole }: JsonObject, at: Place): JsonObject =>
    (Array.isArray(allOf) ? allOf : [])
      .filter(isObject)
      .reduce((sum, part) => merged(sum, resolved(part, at), (keyword) => at.report(at.path, keyword)), whole);

  /** The one rule of this schema in this syntax; its body may refer to it. */
  const named = (schema: JsonObject, at: Place, write: typeof value): string | undefined => {
    const all = known.get(at.syntax) ?? new Map<JsonObject, Written>();
    known.set(at.syntax, all);
    const found = all.get(schema);
    for (const [path, keyword] of found?.reports ?? []) at.report(at.path + path, keyword);
    if (found) return found.name;
    const own: Written = { name: rules.reserve(at.hint) };
    const reports: [string, string][] = [];
    const report: Report = (path, keyword) => {
      at.report(path, keyword);
      if (reports.length < MAX_REPORTS) reports.push([path.slice(at.path.length), keyword]);
    };
    // Inside other references the rule may lack what leads back to them. Then it serves only here.
    const isWhole = at.open.length < 2;
    if (isWhole) all.set(schema, own);
    const body = write(schema, { ...at, report });
    own.reports = reports;
    if (body === undefined) all.delete(schema);
    else rules.fill(own.name, body);
    if (body !== undefined && !isWhole && [...cut].every((one) => one === schema) && !all.has(schema)) all.set(schema, own);
    return body && own.name;
  };

  const any = ({ syntax, path, report }: Place): string => {
    const { verbatim, inner } = syntax;
    if (verbatim && inner) return text(syntax);
    if (syntax.object.unpaired) report(path, "additionalProperties");
    const types = verbatim ? ["string", "array", "object"] : TYPES;
    const at: Place = { root: ANY, report: () => {}, syntax, path: "", hint: "value", depth: 0, open: [] };
    return named(ANY, at, () => types.flatMap((type) => ofType(type, ANY, { ...at, hint: type }) ?? []).join(" | ")) ?? "";
  };

  const text = ({ string }: ValueSyntax): string => string() ?? "";

  const choice = (atoms: readonly (string | undefined)[], at: Place): string | undefined => {
    const some = atoms.filter((atom) => atom !== undefined);
    if (at.syntax.verbatim && some.includes(text(at.syntax))) return text(at.syntax);
    return some.length > 0 ? rules.choice(at.hint, some) : undefined;
  };

  /** Objects and lists become schemas of constants, so that blanks in them stay free. */
  const constant = (one: Json, at: Place, spelling?: string): string | undefined => {
    const { kind, scalar } = at.syntax;
    if (kind && !isOf(kind, typeOf(one))) return undefined;
    const wrap = (item: Json, key: string): JsonObject => {
      const schema = { const: item };
      const text = numberText(one as object, key, item);
      if (text) keepNumbers(schema, new Map([["const", text]]));
      return schema;
    };
    if (Array.isArray(one)) {
      const prefixItems = one.map((item, i) => wrap(item, String(i)));
      return list({ prefixItems, minItems: one.length, maxItems: one.length }, at);
    }
    if (spelling) return isExact(one) ? rules.choice(at.hint, [literal(spelling), scalar(one)]) : literal(spelling);
    if (!isObject(one)) return scalar(one as Scalar);
    const properties = Object.fromEntries(Object.entries(one).map(([key, item]) => [key, wrap(item, key)]));
    return object({ properties, required: Object.keys(one), additionalProperties: false }, at);
  };

  const typed = (schema: JsonObject, at: Place): string | undefined => {
    const types = new Set<string>(schemaTypes({ schema, root: at.root }));
    if (types.size === 0 && schema.properties) types.add("object");
    if (types.size === 0 && (schema.items ?? schema.prefixItems) !== undefined) types.add("array");
    if (types.size === 0 || types.has("string")) unforced(schema, BEYOND_TEXT, at);
    if (types.size === 0) {
      unforced(schema, OF_ONE_TYPE, at);
      return any(at);
    }
    const all = at.syntax.verbatim && types.has("string") ? ["string"] : [...types];
    return choice(
      all.map((type) => ofType(type, schema, at)),
      at,
    );
  };

  const ofType = (type: string, schema: JsonObject, at: Place): string | undefined => {
    const { scalar, kind } = at.syntax;
    if (kind && (type === "integer" || TYPES.includes(type)) && !isOf(kind, type)) return undefined;
    if (type === "string") return string(schema, at);
    if (type === "integer" || type === "number") return number(type, schema, at);
    if (type === "boolean") return rules.choice(type, [scalar(true), scalar(false)]);
    if (type === "null") return scalar(null);
    if (type === "array") return list(schema, at);
    return type === "object" ? object(schema, at) : relaxed(at, "type");
  };

  const string = (schema: JsonObject, { syntax, path, report }: Place): string => {
    const { minLength, maxLength } = schema;
    if (!minLength && maxLength === undefined) return text(syntax);
    const both = quantifier(minLength ?? 0, maxLength);
    // Too high a limit does not lift the other one.
    const length = both ?? quantifier(minLength ?? 0, undefined);
    const counted = length && syntax.string(length);
    if (!counted && minLength) report(path, "minLength");
    if (!(counted && both) && maxLength !== undefined) report(path, "maxLength");
    return counted || text(syntax);
  };

  const number = (type: string, schema: JsonObject, { path, hint, report }: Place): string => {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
    const least = numeric(minimum) ?? -Infinity;
    // In older drafts, and in OpenAPI 3.0, `true` excludes the minimum or the maximum itself.
    const above = numeric(exclusiveMinimum === true ? minimum : exclusiveMinimum) ?? -Infinity;
    const below = numeric(exclusiveMaximum === true ? maximum : exclusiveMaximum) ?? Infinity;
    const lowest = Math.max(Math.ceil(least), Math.floor(above) + 1);
    const highest = Math.min(Math.floor(numeric(maximum) ?? Infinity), Math.ceil(below) - 1);
    const [first, last] = [Math.abs(lowest) <= 2 ** 53 ? lowest : -Infinity, Math.abs(highest) <= 2 ** 53 ? highest : Infinity];
    const isRange = type === "integer" && first <= last;
    const bounds = { minimum: minimum || undefined, maximum, exclusiveMinimum, exclusiveMaximum }; // the sign is enforced, so `minimum: 0` is not reported
    for (const [keyword, bound] of Object.entries(bounds))
      if (bound !== undefined && bound !== false && !(isRange && (bound === true || isExact(bound)))) report(path, keyword);
    if (isRange && (first > -Infinity || last < Infinity)) return rules.choice(hint, integers(first, last));
    const sign = least >= 0 || above >= 0 ? "" : '"-"?';
    return rules.rule(type, row(sign, WHOLE, type === "number" && FRACTION));
  };

  const list = (schema: JsonObject, at: Place): string => {
    const { open, comma, close, item: around = (value: string) => value } = at.syntax.list;
    const least = numeric(schema.minItems) ?? 0;
    const maxItems = numeric(schema.maxItems);
    const isOlder = Array.isArray(schema.items);
    const prefixItems = isOlder ? schema.items : schema.prefixItems;
    const items = (isOlder ? schema.additionalItems : schema.items) ?? schema.unevaluatedItems;
    const item = (one: Json | undefined, step: string) => around(property(one, inside(at, step, "item")));
    const tuple = Array.isArray(prefixItems) && prefixItems.length > 0 ? prefixItems : undefined;
    const given = tuple ?? [items ?? true];
    const end = given.indexOf(false);
    const begun = given.slice(0, Math.min(end < 0 ? given.length : end, maxItems ?? Infinity));
    const closed = begun.length < given.length || items === false || maxItems === begun.length;
    const rest = closed && (tuple || begun.length === 0) ? "" : item(items, "items");
    const missing = Math.max(0, least - begun.length);
    const more = closed ? "" : quantifier(missing, maxItems === undefined ? undefined : maxItems - begun.length);
    // Too high a limit does not lift the other one.
    const fewest = more ?? quantifier(missing, undefined);
    if (fewest === undefined || (closed && missing > 0)) at.report(at.path, "minItems");
    if (more === undefined && maxItems !== undefined) at.report(at.path, "maxItems");
    let body = closed ? "" : `(${row(comma, rest)})${fewest ?? "*"}`;
    for (let i = begun.length - 1; i >= 0; i--) {
      const one = row(i > 0 && comma, tuple ? item(begun[i], `prefixItems/${i}`) : rest, body);
      body = i < least ? one : optional(one);
    }
    return rules.rule(at.hint, row(open, body, close) || '""');
  };

  const object = (schema: JsonObject, at: Place): string => {
    const { open, close, sort, pair, otherPair, unpaired } = at.syntax.object;
    const declared = isObject(schema.properties) ? schema.properties : ANY;
    const additional = schema.additionalProperties ?? schema.unevaluatedProperties;
    const required = Array.isArray(schema.required) ? schema.required.filter((key) => typeof key === "string") : [];
    const names = namesOf(schema, at);
    const given = [...new Set([...Object.keys(declared), ...required, ...(names ?? []).map(String)])];
    const keys = sort ? sort(given.map((key) => [key, null])).map(([key]) => key) : given;
    const pairs = keys.flatMap((key): Pair[] => {
      const isName = names === undefined || names.includes(key);
      const property = isName && (Object.hasOwn(declared, key) ? declared[key] : additional);
      const isRequired = required.includes(key);
      if (property === false && !isRequired) return [];
      const place = inside(at, `properties/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, key);
      const body = ofKinds(property, place, at, (atom, kind) => pair(key, atom, kind));
      return [{ body, required: isRequired }];
    });
    const patterns = isObject(schema.patternProperties) ? Object.values(schema.patternProperties) : [];
    const rest = names === undefined && (additional ?? (keys.length + patterns.length === 0 && !at.closed));
    // Which pattern a key matches is not enforced, so its value may follow any of them.
    const [one, ...more] = [...patterns, rest].filter((part) => part !== false);
    const others = more.length > 0 ? { anyOf: [one ?? true, ...more] } : one;
    const place = inside(at, patterns.length > 0 ? "patternProperties" : "additionalProperties", "other");
    if (others !== undefined && unpaired) at.report(at.path, "additionalProperties");
    const other =
      others === undefined ? "" : ofKinds(others, place, at, (atom, kind) => rules.rule(`${at.hint}-other`, otherPair(keys, atom, kind)));
    const arranged = at.syntax.object.comma === "" ? inAnyOrder : inTurn;
    return rules.rule(at.hint, row(open, arranged(pairs, other, at.syntax.object, at.hint), close) || '""');
  };

  /** The names that keys may have, if they are listed. */
  const namesOf = ({ propertyNames, patternProperties }: JsonObject, at: Place): readonly Json[] | undefined => {
    if (propertyNames === undefined || propertyNames === true) return undefined;
    const own = isObject(propertyNames) ? resolved(propertyNames, at) : { not: ANY };
    const { type = "string", const: _, enum: __, ...others } = own;
    const words = wordsOf(own);
    if (type === "string" && !constrains(others) && !(words && patternProperties)) return words;
    at.report(at.path, "propertyNames");
    return undefined;
  };

  /** Where strings are raw text, hardly any other value can be told from a string, even if the schema allows both. */
  const property = (schema: Json | undefined, at: Place): string => {
    const { syntax, root } = at;
    const kinds = syntax.verbatim && isObject(schema) ? branches({ schema, root }).map((schema) => schemaTypes({ schema, root })) : [];
    const types = kinds.flat();
    if (types.length > 0 && !types.includes("string") && kinds.every((some) => some.length > 0))
      return written(schema, { ...at, syntax: syntax.noStrings ?? syntax });
    const atom = written(schema, at);
    const lost = types.some((type) => type !== "string" && !syntax.verbatim?.includes(type));
    if (lost && atom !== text(syntax)) at.report(at.path, "type");
    return atom;
  };

  /** A pair for each kind of value that the schema allows. */
  const ofKinds = (schema: Json | undefined, place: Place, { syntax }: Place, pair: (atom: string, kind?: Kind) => string): string => {
    if (!syntax.innerOthers) return pair(property(schema, place));
    const places = [place, ...syntax.innerOthers.map((syntax) => ({ ...place, syntax }))];
    const pairs = (write: typeof value) =>
      places.flatMap((at) => {
        const atom = write(schema, at);
        return atom === undefined ? [] : pair(atom, at.syntax.kind);
      });
    const found = pairs(value);
    const all = found.length > 0 ? found : pairs(written);
    return all.length > 1 ? `(${all.join(" | ")})` : all.join("");
  };

  /** Pairs in their order, with commas between those present. */
  const inTurn = (pairs: readonly Pair[], other: string, { comma, nothing }: ObjectSyntax, hint: string): string => {
    let more = other && `(${row(comma, other)})*`;
    const anchor = pairs.findIndex((pair) => pair.required);
    if (anchor >= 0) {
      const bodies = pairs.map(({ body, required }, i) => {
        if (i < anchor) return optional(row(body, comma));
        return i === anchor ? body : required ? row(comma, body) : optional(row(comma, body));
      });
      return row(...bodies, more);
    }
    // No key is required: whichever comes first has no comma before it.
    let first = nothing === undefined ? optional(row(other, more)) : other ? `(${row(other, more)} | ${nothing})` : nothing;
    for (const { body } of pairs.toReversed()) {
      const pair = rules.rule(`${hint}-pair`, body);
      first = rules.rule(`${hint}-first`, `${row(pair, more)} | ${first || '""'}`);
      more = rules.rule(`${hint}-more`, row(optional(row(comma, pair)), more));
    }
    return first;
  };

  /** Where each pair has its own tags, models write the pairs in any order. Each set of required pairs still to come is a rule. */
  const inAnyOrder = (pairs: readonly Pair[], other: string, { nothing }: ObjectSyntax, hint: string): string => {
    const named = pairs.map(({ body, required }) => ({ pair: rules.rule(`${hint}-pair`, body), required }));
    const must = named.flatMap(({ pair, required }) => (required ? pair : []));
    const may = named.flatMap(({ pair, required }) => (required ? [] : pair));
    // A rule of its own: llama.cpp counts the rules in a group as often as the group may be repeated.
    const any = rules.choice(`${hint}-any`, [...may, ...(other ? [other] : [])]);
    const free = any && rules.rule(`${hint}-free`, `${any}${other ? "*" : (quantifier(0, may.length) ?? "*")}`);
    if (must.length === 0 && nothing !== undefined) return any ? `(${any} ${free} | ${nothing})` : nothing;
    if (must.length > MAX_FREE) return row(...must.flatMap((pair) => [free, pair]), free);
    const rest = (left: readonly string[]): string => {
      const ways = left.map((pair, i) => row(pair, rest(left.toSpliced(i, 1))));
      return ways.length > 1 ? rules.rule(`${hint}-rest`, row(free, `(${ways.join(" | ")})`)) : row(free, ...ways);
    };
    return rest(must);
  };

  return (root: JsonObject, hint: string, report: Report, closed = false): string =>
    written(root, { root, report, syntax, path: "", hint, depth: 0, open: [], closed });
}

/** Whether a double prints the number that was meant: not an integer over 2^53. */
const isExact = (value: Json): value is number => typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER;

const numeric = (value: Json | undefined): number | undefined => (typeof value === "number" ? value : undefined);

/** `{2,5}`; `undefined` if a count is invalid or above `MAX_COUNT`. */
function quantifier(least: Json, most: Json | undefined): string | undefined {
  const cheap = (count: Json) => Number.isInteger(count) && Number(count) >= 0 && Number(count) <= MAX_COUNT;
  if (!cheap(least) || (most !== undefined && (!cheap(most) || Number(most) < Number(least)))) return undefined;
  return most === undefined && least === 0 ? "*" : `{${least},${most ?? ""}}`;
}
