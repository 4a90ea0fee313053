// A value is checked against a JSON Schema with the same result as a compiling validator, and in words that a model can act on.
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/nouns.ts";
import { schemaProblems } from "../../../src/engines/schema/check.ts";
import { schemaFault } from "../../../src/engines/schema/fault.ts";
import { someSchema, someValue } from "../../schemas.ts";

const said = (schema: Json, value: Json): string[] =>
  schemaProblems(schema, value).map(({ path, message }) => `${path.join(".")}: ${message}`);

test.each<[Json, Json, string[]]>([
  [{ type: "integer" }, 1.5, [": must be integer"]],
  [{ type: ["string", "null"] }, 1, [": must be string or null"]],
  [{ type: "string", nullable: true }, null, []],
  [{ enum: ["a", 1, { b: [] }] }, { b: [] }, []],
  [{ const: { a: 1, b: 2 } }, { b: 2, a: 1 }, []],
  [{ minimum: 3, exclusiveMinimum: true }, 3, [": must be more than 3"]],
  [{ multipleOf: 0.1 }, 0.3, []],
  [{ multipleOf: 0.01 }, 1e307, []],
  [{ maxLength: 1 }, "😀", []],
  [{ pattern: "^\\d+$" }, "x", [": must match the pattern ^\\d+$"]],
  [{ format: "date-time" }, "2026-02-30T00:00:00Z", [": must be a time like 2026-01-31T23:59:59Z"]],
  [{ format: "email" }, '"a b"@example.com', []],
  [{ items: [{ type: "string" }], additionalItems: false }, ["a", 1], ["1: is not allowed"]],
  [{ prefixItems: [true], items: { type: "string" } }, [1, 2], ["1: must be string"]],
  [{ properties: { a: { required: ["b"] } } }, { a: {} }, ["a.b: is missing"]],
  [{ additionalProperties: false, patternProperties: { "^x-": {} } }, { "x-a": 1, y: 2 }, ["y: there is no such parameter"]],
  [{ $ref: "#/$defs/a", $defs: { a: { type: "null" } } }, 1, [": must be null"]],
  [{ $ref: "#/$defs/", $defs: { "": { type: "null" } } }, 1, [": must be null"]],
  [{ $ref: "#/$defs/no", $defs: { no: false } }, 1, [": must not fit {}"]],
  [{ properties: { a: { anyOf: [{ type: "string" }] }, b: { $ref: "#/properties/a/anyOf/0" } } }, { b: 1 }, ["b: must be string"]],
  [{ anyOf: [{ const: "a" }, { const: "b" }] }, "c", [': must be "a", or must be "b"']],
  [{ anyOf: [{ type: "null" }, { type: "object", required: ["a"] }] }, {}, ["a: is missing"]],
  [{ oneOf: [{ minimum: 1 }, { maximum: 1 }] }, 1, [": must fit exactly one of the alternatives, but fits several"]],
  [JSON.parse('{ "if": { "required": ["a"] }, "then": { "required": ["b"] } }'), { a: 1 }, ["b: is missing"]],
  [{ dependencies: { a: ["b"] } }, { a: 1 }, ["b: is missing"]],
  [false, 1, [": is not allowed"]],
  [{ type: "thing", pattern: "(", required: 1, properties: [], anyOf: 3, $ref: "#/%", format: "what" }, {}, []],
])("%j with %j", (schema, value, problems) => {
  expect(said(schema, value)).toEqual(problems);
});

test("`__proto__` is an ordinary key", () => {
  const value = JSON.parse('{"__proto__": 1}') as JsonObject;
  expect(said({ additionalProperties: false }, value)).toEqual(["__proto__: there is no such parameter"]);
  expect(said({ required: ["toString"] }, {})).toEqual(["toString: is missing"]);
});

test("a value may have more problems than fit on the stack", () => {
  const keys = Array.from({ length: 200_000 }, (_, i) => `k${i}`);
  expect(schemaProblems({ properties: { a: { required: keys } } }, { a: {} })).toHaveLength(keys.length);
});

test("undefined keywords are ignored", () => {
  const schema = { type: "string", enum: undefined, const: undefined, not: undefined, required: undefined } as unknown as JsonObject;
  expect([schemaFault(schema), said(schema, "x")]).toEqual([undefined, []]);
});

test.each<[string, Json, Json]>([
  ["an alternative in another document", { oneOf: [{ $ref: "https://example.com/a.json" }, { type: "object" }] }, {}],
  ["an alternative referred to by name", { oneOf: [{ $ref: "#person" }, { type: "object" }] }, {}],
  ["an alternative with a format that is not checked", { oneOf: [{ format: "ipv4" }, { format: "hostname" }] }, "10.0.0.1"],
  ["an alternative with a faulty pattern", { oneOf: [{ pattern: "(" }, { type: "string" }] }, "x"],
  ["the negation of another document", { not: { $ref: "https://example.com/a.json" } }, 1],
  ["the negation of a negation", { not: { not: { not: { unevaluatedProperties: false } } } }, { a: 1 }],
  ["the negation of no schema", { not: 3 }, 1],
  ["a condition in another document", JSON.parse('{"if": {"$ref": "a.json"}, "then": {"type": "string"}, "else": {"type": "null"}}'), 1],
  ["a limit for what is in another document", { contains: { $ref: "a.json" }, maxContains: 1 }, [1, 2]],
  ["the negation of a schema without end", { not: { $ref: "#/$defs/a" }, $defs: { a: { allOf: [{ $ref: "#/$defs/a" }] } } }, 1],
])("what cannot be checked is never a problem: %s", (_, schema, value) => {
  expect(said(schema, value)).toEqual([]);
});

test("what can be checked beside it still is", () => {
  expect(said({ oneOf: [{ $ref: "a.json" }, { type: "object" }, { required: [] }] }, {})).toHaveLength(1);
  expect(said({ not: { anyOf: [{ type: "null" }, { const: 1 }] } }, 1)).toHaveLength(1);
  expect(said({ contains: { $ref: "a.json", type: "string" } }, [1])).toHaveLength(1);
});

test("a schema that refers to itself, or branches endlessly, ends", () => {
  expect(said({ $ref: "#" }, 1)).toEqual([]);
  expect(said({ anyOf: [{ $ref: "#" }, { $ref: "#" }, { $ref: "#" }] }, 1)).toEqual([]);
  expect(said({ type: "object", properties: { next: { $ref: "#" } } }, { next: { next: 1 } })).toEqual(["next.next: must be object"]);
});

test.each<[Json, string | undefined]>([
  [{ type: "object", properties: { a: { type: ["string", "null"] }, b: true } }, undefined],
  [{ $ref: "#/$defs/any", $defs: { any: true } }, undefined],
  [1, "it must be an object"],
  [{ properties: { a: { type: "text" } } }, "properties.a.type must be one of string, number, integer, boolean, null, array, object"],
  [{ properties: [] }, "properties must be an object of schemas"],
  [{ anyOf: [{}, { required: "a" }] }, "anyOf.1.required must be a list of names"],
  [{ items: { pattern: "(" } }, "items.pattern must be a regular expression"],
  [{ items: [{}, 1] }, "items.1 must be an object"],
  [{ $ref: "#/$defs/a" }, "$ref must be a reference to something in the schema"],
  [{ minLength: "1" }, "minLength must be a number"],
])("a fault in the schema itself is found: %j", (schema, fault) => {
  expect(schemaFault(schema)).toBe(fault);
});

describe("agrees with Ajv", () => {
  test.each([
    ["2020-12", Ajv2020],
    ["7", Ajv],
  ] as const)("draft %s", (_, Compiler) => {
    const ajv = new Compiler({ strict: false, logger: false, addUsedSchema: false });
    fc.assert(
      fc.property(someSchema(), someValue, (schema, value) => {
        expect([schemaFault(schema), schemaProblems(schema, value).length === 0]).toEqual([undefined, ajv.validate(schema, value)]);
      }),
      { numRuns: 500 },
    );
  });
});
