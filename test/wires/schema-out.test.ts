import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { JsonObject, Request } from "../../src/core/nouns.ts";
import { schemaNode } from "../../src/core/schema.ts";
import { eventsOf } from "../../src/core/unfold.ts";
import { getWire } from "../../src/wires/registry.ts";
import {
  constrainedSchema,
  fromGeminiSchema,
  geminiSchema,
  inlineRefs,
  objectSchema,
  ollamaSchema,
  type SchemaOut,
  strictSchema,
} from "../../src/wires/schema-out.ts";
import { withoutNulls } from "../../src/wires/spans.ts";

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more });
const losses = ({ lost }: SchemaOut) => lost.map(({ path, keyword }) => `${path}:${keyword}`);

describe("references", () => {
  test("are replaced by what they refer to, keeping the keywords beside them", () => {
    const schema = object({ a: { $ref: "#/$defs/A", description: "mine" } }, { $defs: { A: { type: "string", description: "its" } } });
    expect(inlineRefs(schema)).toEqual({ schema: object({ a: { type: "string", description: "mine" } }), lost: [] });
  });
  test("a schema without references is returned as the same object", () => {
    const schema = object({ a: { type: "string" } });
    expect(inlineRefs(schema).schema).toBe(schema);
  });
  test("a cycle ends, and is reported", () => {
    const node = object({ next: { $ref: "#/$defs/Node" } });
    const out = inlineRefs({ $ref: "#/$defs/Node", $defs: { Node: node } });
    expect(JSON.stringify(out.schema).length).toBeLessThan(1000);
    expect(JSON.stringify(out.schema)).not.toContain("$ref");
    expect(losses(out)).toEqual(["properties.next.properties.next.properties.next:$ref"]);
  });
  test("references that double at every step are bounded", () => {
    const defs: Record<string, JsonObject> = {};
    for (let i = 0; i < 40; i++) defs[`d${i}`] = object({ a: { $ref: `#/$defs/d${i + 1}` }, b: { $ref: `#/$defs/d${i + 1}` } });
    const out = inlineRefs({ $ref: "#/$defs/d0", $defs: defs });
    expect(JSON.stringify(out.schema).length).toBeLessThan(1_000_000);
    expect(out.lost.length).toBeGreaterThan(0);
  });
  test("many references to a long schema are bounded", () => {
    const names = Array.from({ length: 2000 }, (_, i) => `p${i}`);
    const big = object(Object.fromEntries(names.map((name) => [name, { type: "string" }])));
    const out = inlineRefs(object(Object.fromEntries(names.map((name) => [name, { $ref: "#/$defs/big" }])), { $defs: { big } }));
    expect(JSON.stringify(out.schema).length).toBeLessThan(2_000_000);
    expect(out.lost.length).toBeGreaterThan(0);
  });
  test("a long chain of references ends before the stack does, and is reported", () => {
    const defs: Record<string, JsonObject> = { d3900: { type: "string" } };
    for (let i = 0; i < 3900; i++) defs[`d${i}`] = object({ a: { $ref: `#/$defs/d${i + 1}` } });
    const schema = object({ a: { $ref: "#/$defs/d0" } }, { $defs: defs });
    for (const translate of [inlineRefs, geminiSchema, ollamaSchema, constrainedSchema])
      expect(translate(schema).lost).toMatchObject([{ keyword: "$ref" }]);
  });
  test("an unknown reference becomes a schema that allows anything", () => {
    expect(inlineRefs(object({ a: { $ref: "https://x/y" }, b: { $ref: "#/nowhere" } }))).toEqual({
      schema: object({ a: {}, b: {} }),
      lost: [
        { path: "properties.a", keyword: "$ref" },
        { path: "properties.b", keyword: "$ref" },
      ],
    });
  });
});

describe("schemas for Gemini's `parameters`", () => {
  test.each<[string, JsonObject, JsonObject, string[]]>([
    ["types", { type: "string" }, { type: "STRING" }, []],
    ["null as a type", { type: ["string", "null"] }, { type: "STRING", nullable: true }, []],
    ["nothing but null", { type: "null" }, { type: "NULL" }, []],
    ["several types", { type: ["string", "number"] }, { anyOf: [{ type: "STRING" }, { type: "NUMBER" }] }, []],
    ["oneOf", { oneOf: [{ type: "string" }, { type: "null" }] }, { type: "STRING", nullable: true }, []],
    ["anyOf", { anyOf: [{ type: "string" }, { type: "integer" }] }, { anyOf: [{ type: "STRING" }, { type: "INTEGER" }] }, []],
    [
      "allOf",
      { allOf: [object({ a: {} }, { required: ["a"] }), object({ b: {} }, { required: ["b"] })] },
      { type: "OBJECT", properties: { a: {}, b: {} }, required: ["a", "b"] },
      [],
    ],
    [
      "an allOf with two patterns",
      { type: "string", allOf: [{ pattern: "a" }, { pattern: "b" }] },
      { type: "STRING", pattern: "a" },
      [":pattern"],
    ],
    ["const", { const: "x" }, { type: "STRING", enum: ["x"] }, []],
    ["an enum with null", { type: ["string", "null"], enum: ["a", null] }, { type: "STRING", nullable: true, enum: ["a"] }, []],
    [
      "several types with alternatives",
      { type: ["string", "number"], anyOf: [{ minLength: 1 }, { minimum: 2 }] },
      { anyOf: [{ type: "STRING" }, { type: "NUMBER" }] },
      [":anyOf"],
    ],
    ["an enum of numbers", { enum: [1, "a"] }, { type: "STRING", enum: ["1", "a"] }, [":enum"]],
    [
      "two lists of alternatives",
      { anyOf: [{ type: "string" }, { type: "integer" }], oneOf: [{ minLength: 1 }, { minimum: 1 }] },
      { anyOf: [{ type: "STRING" }, { type: "INTEGER" }] },
      [":anyOf"],
    ],
    [
      "a tuple",
      { type: "array", prefixItems: [{ type: "string" }, { type: "number" }, { type: "string" }], items: false, maxItems: 3 },
      { type: "ARRAY", items: { anyOf: [{ type: "STRING" }, { type: "NUMBER" }] }, maxItems: 3 },
      [":prefixItems"],
    ],
    [
      "a tuple of an older draft",
      { type: "array", items: [{ type: "string" }], additionalItems: { type: "number" } },
      { type: "ARRAY", items: { anyOf: [{ type: "STRING" }, { type: "NUMBER" }] } },
      [":prefixItems"],
    ],
    ["a tuple of one kind", { prefixItems: [{ type: "string" }] }, { type: "ARRAY", items: { type: "STRING" } }, [":prefixItems"]],
    ["items of any kind", { type: "array", items: true }, { type: "ARRAY", items: {} }, []],
    ["a list of anything", { type: "array" }, { type: "ARRAY", items: {} }, []],
    ["a key that is forbidden", object({ a: false }), { type: "OBJECT", properties: { a: {} } }, ["properties.a:not"]],
    [
      "required keys without a property",
      object({ a: { type: "string" } }, { required: ["a", "b"] }),
      { type: "OBJECT", properties: { a: { type: "STRING" } }, required: ["a"] },
      [":required"],
    ],
    ["an object without a type", { properties: { a: { type: "string" } } }, { type: "OBJECT", properties: { a: { type: "STRING" } } }, []],
    ["an empty enum", { type: "string", enum: [] }, { type: "STRING" }, [":enum"]],
    [
      "unknown keywords",
      { type: "string", $schema: "s", additionalProperties: false, exclusiveMinimum: 1 },
      { type: "STRING" },
      [":additionalProperties", ":exclusiveMinimum"],
    ],
    [
      "references",
      object({ a: { $ref: "#/$defs/A" } }, { $defs: { A: { type: "number" } } }),
      { type: "OBJECT", properties: { a: { type: "NUMBER" } } },
      [],
    ],
    [
      "a property named like a keyword",
      object({ const: { type: "string" } }),
      { type: "OBJECT", properties: { const: { type: "STRING" } } },
      [],
    ],
  ])("%s", (_, schema, expected, lost) => {
    const out = geminiSchema(schema);
    expect(out.schema).toEqual(expected);
    expect(losses(out)).toEqual(lost);
  });
  test("Gemini schemas become JSON Schema", () => {
    expect(fromGeminiSchema({ type: "OBJECT", properties: { type: { type: "STRING", nullable: true } } })).toEqual(
      object({ type: { type: ["string", "null"] } }),
    );
    const schema = object({ a: { type: ["string", "null"] } });
    expect(fromGeminiSchema(schema)).toEqual(schema);
  });
  test("snake_case keywords, as Python's google-genai writes them, are read, but not properties of such names", () => {
    const any_of = [{ type: "INTEGER" }, { type: "ARRAY", items: { type: "STRING", max_length: "9" }, min_items: 1 }];
    const given = { type: "OBJECT", properties: { any_of: { any_of, nullable: true } }, property_ordering: ["any_of"], min_properties: 1 };
    const anyOf = [{ type: "integer" }, { type: "array", items: { type: "string", maxLength: 9 }, minItems: 1 }, { type: "null" }];
    expect(fromGeminiSchema(given)).toEqual(object({ any_of: { anyOf } }, { propertyOrdering: ["any_of"], minProperties: 1 }));
    expect(fromGeminiSchema({ type: "OBJECT", additional_properties: { type: "NUMBER" } })).toEqual({
      type: "object",
      additionalProperties: { type: "number" },
    });
  });
  test.each([
    [
      { type: "object", anyOf: [{ type: "string" }, { type: "null" }], default: null },
      { anyOf: [{ type: "string" }, { type: "null" }], default: null },
    ],
    [
      { type: "OBJECT", anyOf: [{ type: "OBJECT" }, { type: "STRING" }], nullable: true },
      { anyOf: [{ type: "object" }, { type: "string" }, { type: "null" }] },
    ],
  ])("a union that also says type object, as google-genai writes it for Python functions, is read as the union", (given, expected) => {
    expect(fromGeminiSchema(object({ a: given }))).toEqual(object({ a: expected }));
  });
  test.each([
    { type: "object", anyOf: [{ type: "object", required: ["a"] }, { type: "object" }] },
    { type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] },
  ])("alternatives inside one object are kept", (given) => {
    expect(fromGeminiSchema(given)).toEqual(given);
  });
});

describe("schemas that must all fit", () => {
  const given = { type: "object", allOf: [object({ a: { type: "string" } }), object({ a: { minLength: 3 }, constructor: {} })] };
  const merged = object({ a: { type: "string", minLength: 3 }, constructor: {} });
  test("are merged, and so is what they say of a property", () => {
    for (const translate of [ollamaSchema, objectSchema]) expect(translate(given)).toEqual({ schema: merged, lost: [] });
  });
  test("what contradicts is reported", () => {
    const other = { ...given, allOf: [...given.allOf, object({ a: { minLength: 4 } })] };
    for (const translate of [ollamaSchema, objectSchema])
      expect(translate(other)).toEqual({ schema: merged, lost: [{ path: "", keyword: "minLength" }] });
  });
});

describe("schemas for Anthropic", () => {
  test("alternatives at the top become one object", () => {
    const out = objectSchema({
      oneOf: [object({ a: { type: "string" }, x: {} }, { required: ["a", "x"] }), object({ b: {}, x: {} }, { required: ["b", "x"] })],
    });
    expect(out.schema).toEqual({ type: "object", properties: { a: { type: "string" }, x: {}, b: {} }, required: ["x"] });
    expect(losses(out)).toEqual([":oneOf"]);
    expect(objectSchema({}).schema).toEqual({ type: "object" });
    const plain = object({ a: { anyOf: [] } });
    expect(objectSchema(plain).schema).toBe(plain);
  });
  test("alternatives that parts of an allOf bring in are merged, too", () => {
    const either = { anyOf: [object({ a: { type: "string" } }, { required: ["a"] }), object({ b: {} })] };
    const out = objectSchema({ allOf: [object({ c: {} }), either, { $ref: "#/$defs/d" }], $defs: { d: { oneOf: [object({ d: {} })] } } });
    expect(out.schema).toMatchObject({ type: "object", properties: { a: { type: "string" }, b: {}, c: {}, d: {} } });
    expect(Object.keys(out.schema).toSorted()).toEqual(["$defs", "properties", "type"]);
    expect(losses(out)).toEqual([":anyOf", ":anyOf"]);
    const endless = objectSchema({ allOf: [{ $ref: "#" }, object({ a: {} })] });
    expect(endless.schema).toEqual(object({ a: {} }));
    expect(losses(endless)).toEqual([":allOf"]);
  });
  test("a property that alternatives declare differently may be any of these", () => {
    const [a, b] = [object({ kind: { const: "a" }, x: {} }), object({ kind: { const: "b" }, x: {} })];
    const kind = { anyOf: [{ const: "a" }, { const: "b" }] };
    expect(objectSchema({ anyOf: [a, b] }).schema).toEqual(object({ kind, x: {} }));
    const both = object({ kind: { type: "string" }, constructor: { type: "number" } }, { oneOf: [a, b] });
    expect(objectSchema(both).schema).toEqual(object({ kind: { type: "string", ...kind }, constructor: { type: "number" }, x: {} }));
  });
  test.each<[string, JsonObject, JsonObject, string[]]>([
    [
      "bounds",
      { type: "integer", minimum: 1, maximum: 10, description: "How many" },
      { type: "integer", description: "How many\n\nminimum: 1, maximum: 10" },
      [":minimum", ":maximum"],
    ],
    [
      "lengths",
      { type: "array", minItems: 2, maxItems: 3, items: { type: "string", maxLength: 5 } },
      { type: "array", items: { type: "string", description: "maxLength: 5" }, description: "minItems: 2, maxItems: 3" },
      [":minItems", ":maxItems", "items:maxLength"],
    ],
    ["at least one element", { type: "array", minItems: 1 }, { type: "array", minItems: 1 }, []],
    ["formats", { type: "string", format: "email" }, { type: "string", format: "email" }, []],
    ["other formats", { type: "integer", format: "int32" }, { type: "integer", description: 'format: "int32"' }, [":format"]],
    ["patterns", { type: "string", pattern: "^(?:a|b)+$" }, { type: "string", pattern: "^(?:a|b)+$" }, []],
    ["patterns with lookaround", { type: "string", pattern: "^(?!a)" }, { type: "string", description: 'pattern: "^(?!a)"' }, [":pattern"]],
    ["oneOf", { oneOf: [{ type: "string" }, { type: "null" }] }, { anyOf: [{ type: "string" }, { type: "null" }] }, []],
    [
      "Gemini's order",
      { type: "string", propertyOrdering: ["a"] },
      { type: "string", description: 'propertyOrdering: ["a"]' },
      [":propertyOrdering"],
    ],
    ["enums of objects", { enum: [{ a: 1 }] }, { description: 'enum: [{"a":1}]' }, [":enum"]],
    ["the URI of the schema language", { $schema: "x", type: "null" }, { type: "null" }, []],
  ])("structured output is limited to what the API accepts, and the description asks for the rest: %s", (_title, given, schema, lost) => {
    const out = constrainedSchema(given);
    expect(out.schema).toEqual(schema);
    expect(losses(out)).toEqual(lost);
  });
  test("structured output keeps references that are not recursive, except inside an allOf", () => {
    const name = { type: "string" };
    const closed = object({ n: name }, { additionalProperties: false });
    const $defs = { R: closed };
    const given = object({ r: { $ref: "#/$defs/R" }, s: { allOf: [{ $ref: "#/$defs/R" }], description: "s" } }, { $defs });
    expect(constrainedSchema(given)).toEqual({
      schema: object({ r: { $ref: "#/$defs/R" }, s: { ...closed, description: "s" } }, { $defs, additionalProperties: false }),
      lost: [],
    });
    const endless = constrainedSchema(object({ next: { $ref: "#" } }));
    expect(JSON.stringify(endless.schema)).not.toContain("$ref");
    expect(endless.lost).toHaveLength(1);
  });
  test("structured output replaces references into what is rewritten", () => {
    const given = object({ a: { oneOf: [{ type: "string" }, { type: "null" }] }, b: { $ref: "#/properties/a/oneOf/0" } });
    expect(constrainedSchema(given)).toEqual({
      schema: object({ a: { anyOf: [{ type: "string" }, { type: "null" }] }, b: { type: "string" } }, { additionalProperties: false }),
      lost: [],
    });
  });
  test.each([
    { prefixItems: [{ type: "string" }, { type: "number" }], items: false },
    { items: [{ type: "string" }, { type: "number" }], additionalItems: false },
  ])("structured output describes a tuple: %j", (tuple) => {
    const out = constrainedSchema({ type: "array", ...tuple });
    expect(out.schema).toEqual({
      type: "array",
      items: { anyOf: [{ type: "string" }, { type: "number" }] },
      description: 'prefixItems: [{"type":"string"},{"type":"number"}]',
    });
    expect(losses(out)).toEqual([":prefixItems"]);
  });
  test("strict tools are limited in the same way, others are not, and Anthropic's own clients are not changed", () => {
    const parameters = object({ n: { type: "integer", minimum: 1 } });
    const given = { name: "f", parameters };
    const anthropic = getWire("anthropic");
    const sent = (request: Partial<Request>) => {
      const { body, context } = anthropic.encodeRequest({ model: "m", messages: [], ...request });
      const { tools, output_config } = body as {
        tools?: { input_schema: JsonObject }[];
        output_config?: { format: { schema: JsonObject } };
      };
      return {
        schema: tools?.[0]?.input_schema ?? output_config?.format.schema,
        told: context.warnings.map(({ message }) => message).join(),
      };
    };
    const held = object({ n: { type: "integer", description: "minimum: 1" } }, { additionalProperties: false });
    expect(sent({ tools: [{ ...given, strict: true }] })).toEqual({
      schema: held,
      told: expect.stringContaining("minimum at properties.n of f"),
    });
    expect(sent({ output: { schema: parameters } })).toEqual({ schema: held, told: expect.stringContaining("minimum at properties.n") });
    expect(sent({ tools: [given] }).schema).toEqual(parameters);
    expect(sent({ from: "anthropic", output: { schema: parameters } }).schema).toEqual(parameters);
  });
  test("objects in structured output are closed", () => {
    expect(constrainedSchema(object({ a: object({}) })).schema).toEqual(
      object({ a: object({}, { additionalProperties: false }) }, { additionalProperties: false }),
    );
  });
});

describe("schemas for Ollama's tools", () => {
  test("keywords that its server would drop are expressed in others", () => {
    expect(
      ollamaSchema({
        properties: { a: { const: 1 }, b: { oneOf: [{ type: "string" }] }, c: true, d: { $ref: "#/$defs/D" } },
        $defs: { D: { type: "string" } },
      }).schema,
    ).toEqual({
      type: "object",
      properties: { a: { enum: [1] }, b: { anyOf: [{ type: "string" }] }, c: {}, d: { type: "string" } },
    });
  });
});

describe("OpenAI's strict mode", () => {
  test("a strict schema is unchanged", () => {
    const schema = object(
      { a: { type: ["string", "null"] }, b: object({}, { required: [], additionalProperties: false }) },
      { required: ["a", "b"], additionalProperties: false },
    );
    expect(strictSchema(schema)).toEqual({ schema, nulls: false });
  });
  test("any other is closed, and optional properties may be null", () => {
    const out = strictSchema(
      object(
        { a: { type: "string" }, b: { enum: ["x"] }, c: { $ref: "#/$defs/C" }, d: { type: "null" } },
        { required: ["a"], $defs: { C: { type: "string" } } },
      ),
    );
    expect(out?.nulls).toBe(true);
    expect(out?.schema).toMatchObject({
      additionalProperties: false,
      required: ["a", "b", "c", "d"],
      properties: {
        a: { type: "string" },
        b: { anyOf: [{ enum: ["x"] }, { type: "null" }] },
        c: { anyOf: [{ $ref: "#/$defs/C" }, { type: "null" }] },
        d: { type: "null" },
      },
    });
  });
  test.each<[string, JsonObject]>([
    ["a map", { type: "object", additionalProperties: { type: "string" } }],
    ["an object with any keys", { type: "object" }],
    ["an open object", { type: "object", properties: {}, additionalProperties: true }],
    ["anything at all", {}],
    ["anything but", { type: "string", not: { const: "x" } }],
    ["an allOf", { allOf: [{ type: "string" }, { minLength: 1 }] }],
    ["a oneOf", { oneOf: [{ type: "string" }, { type: "number" }] }],
    ["a tuple", { type: "array", prefixItems: [{ type: "string" }] }],
    ["a tuple of an older draft", { type: "array", items: [{ type: "string" }] }],
    ["a reference to a property", { $ref: "#/properties/list" }],
  ])("%s cannot be expressed in strict mode", (_, inner) => {
    for (const schema of [object({ a: inner }), object({ list: { type: "array", items: inner } }), object({ a: { anyOf: [inner] } })])
      expect(strictSchema(schema)).toBeUndefined();
  });
  test("nor can a schema that is not an object at the top", () => {
    for (const schema of [{}, { anyOf: [object({})] }, { $ref: "#/$defs/a", $defs: { a: object({}) } }])
      expect(strictSchema(schema)).toBeUndefined();
  });
});

test("no schema makes a converter throw", () => {
  const schema = fc.dictionary(
    fc.constantFrom(
      "type",
      "properties",
      "items",
      "anyOf",
      "oneOf",
      "allOf",
      "$ref",
      "$defs",
      "enum",
      "const",
      "required",
      "additionalProperties",
    ),
    fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      fc.constantFrom("#", "#/$defs/a", "string", ["string", "null"], { a: { $ref: "#" } }, [{ $ref: "#" }, { type: "null" }]),
    ),
  );
  fc.assert(
    fc.property(schema, (value) => {
      const given = value as JsonObject;
      for (const translate of [inlineRefs, geminiSchema, ollamaSchema, objectSchema, constrainedSchema])
        expect(translate(given).schema).toBeTypeOf("object");
      expect(() => strictSchema(given)).not.toThrow();
      expect(fromGeminiSchema(given)).toBeTypeOf("object");
    }),
  );
});

describe("nulls for properties that strict mode made required", () => {
  const parameters = {
    type: "object",
    properties: {
      a: { type: "string" },
      b: { type: "string" },
      c: { type: ["string", "null"] },
      list: { type: "array", items: { $ref: "#/$defs/item" } },
      either: { anyOf: [{ $ref: "#/$defs/item" }, { type: "string" }] },
    },
    required: ["a"],
    $defs: { item: { type: "object", properties: { x: { type: "number" }, y: { enum: [1, null] } } } },
  };
  const request: Request = {
    model: "m",
    messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    tools: [{ name: "f", parameters, strict: true }],
  };
  const given = { a: null, b: null, c: null, list: [{ x: null, y: null }], either: { x: null, y: 1 }, new: null };
  const wanted = { a: null, c: null, list: [{ y: null }], either: { y: 1 }, new: null };
  const official = { official: true };

  test.each(["openai-chat", "openai-responses"] as const)("are removed again from the calls of %s, streamed or not", (id) => {
    const wire = getWire(id);
    const { context } = wire.encodeRequest(request, official);
    expect(context.warnings).toEqual([]);
    const json = JSON.stringify(given);
    const events = eventsOf({
      content: [{ type: "tool-call", id: "c", name: "f", arguments: given, json }],
      finish: { reason: "tool-calls" },
    });
    const encoder = wire.createStreamEncoder({ ...request, stream: "sse" });
    const text = [...events].map((event) => encoder.encode(event)).join("") + encoder.end();
    const decoder = wire.createStreamDecoder(context);
    const again = [...text].flatMap((piece) => decoder.feed(piece)).concat(decoder.flush());
    const deltas = again.flatMap((event) => (event.type === "tool-delta" ? event.json : [])).join("");
    expect(JSON.parse(deltas)).toEqual(wanted);
    expect(collect(again).content).toMatchObject([{ arguments: wanted, json: deltas }]);
  });
  test("and the rest of the call stays as it was written", () => {
    const json = '{ "b" : null,"a": 1.0, "c":12345678901234567890 ,\n "list": [ {"y": 1e2, "x":null} , {} ], "b":null }';
    const { context } = getWire("openai-chat").encodeRequest(request, official);
    const call = { id: "c", type: "function", function: { name: "f", arguments: json } };
    const { content } = getWire("openai-chat").decodeResponse({ choices: [{ message: { tool_calls: [call] } }] }, context);
    const cut = '{"a": 1.0, "c":12345678901234567890 ,\n "list": [ {"y": 1e2} , {} ]}';
    expect(content).toEqual([{ type: "tool-call", id: "c", name: "f", arguments: JSON.parse(cut), json: cut }]);
  });
  test("any JSON text stays JSON without the nulls, and unchanged if there are none", () => {
    const any = fc.jsonValue({ maxDepth: 4 });
    const blanks = fc.constantFrom(0, 1, "\t");
    fc.assert(
      fc.property(fc.dictionary(fc.string({ maxLength: 3 }), any), blanks, (value, indent) => {
        const json = JSON.stringify(value, null, indent);
        expect(withoutNulls(json, undefined)).toBe(json);
        const properties = Object.fromEntries(Object.keys(value).map((key) => [key, { type: "string" }]));
        const rest = Object.entries(value).filter(([, item]) => item !== null);
        expect(JSON.parse(withoutNulls(json, schemaNode({ properties })))).toEqual(Object.fromEntries(rest));
      }),
    );
  });
  test("but stay if the tool was not strict, or its schema allows null itself", () => {
    const loose = { ...request, tools: [{ name: "f", parameters }] };
    expect(getWire("openai-chat").encodeRequest(loose, official).context.nulls).toBeUndefined();
    const all = { type: "object", properties: { b: { type: ["string", "null"] } }, required: ["b"], additionalProperties: false };
    const strict = { ...request, tools: [{ name: "f", parameters: all, strict: true }] };
    expect(getWire("openai-chat").encodeRequest(strict, official).context.nulls).toBeUndefined();
  });
  test("a truncated call is passed on as it came", () => {
    const { context } = getWire("openai-chat").encodeRequest(request, official);
    const decoder = getWire("openai-chat").createStreamDecoder(context);
    const call = { index: 0, id: "c", function: { name: "f", arguments: '{"a":"x","b":nu' } };
    const chunk = { choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: "length" }] };
    const events = [...decoder.feed(`data: ${JSON.stringify(chunk)}\n\n`), ...decoder.flush()];
    expect(events).toContainEqual({ type: "tool-delta", id: "c", json: '{"a":"x","b":nu' });
    expect(events).toContainEqual(expect.objectContaining({ type: "tool-end", truncated: true }));
  });
});

describe("strict schemas", () => {
  const open = {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "number" } },
    required: ["a"],
    additionalProperties: false,
  };
  const map = {
    type: "object",
    properties: { a: { type: "object", additionalProperties: { type: "string" } } },
    additionalProperties: false,
  };
  const bodies = {
    "openai-chat": {
      messages: [{ role: "user", content: "Hi" }],
      tools: [{ type: "function", function: { name: "f", parameters: open, strict: true } }],
      response_format: { type: "json_schema", json_schema: { name: "n", schema: open, strict: true } },
    },
    "openai-responses": {
      input: "Hi",
      tools: [{ type: "function", name: "f", parameters: open, strict: true }],
      text: { format: { type: "json_schema", name: "n", schema: open, strict: true } },
    },
  };
  const read = (id: "openai-chat" | "openai-responses") =>
    getWire(id).decodeRequest({ path: "", query: {}, headers: {}, body: { model: "m", ...bodies[id] } });
  const pairs = (["openai-chat", "openai-responses"] as const).flatMap((from) =>
    (["openai-chat", "openai-responses"] as const).flatMap((to) => [{}, { official: true }].map((profile) => [from, to, profile] as const)),
  );
  test.each(pairs)("of %s go to %s unchanged, whoever serves it: %j", (from, to, profile) => {
    const { body, context } = getWire(to).encodeRequest(read(from), profile);
    expect(body).toMatchObject({ tools: bodies[to].tools, ...("text" in bodies[to] ? { text: bodies[to].text } : {}) });
    if (to === "openai-chat") expect(body).toMatchObject({ response_format: bodies[to].response_format });
    expect(context).toMatchObject({ warnings: [] });
    expect(context.nulls).toBeUndefined();
  });

  const anthropic = (input_schema: JsonObject) =>
    getWire("anthropic").decodeRequest({
      path: "",
      query: {},
      headers: {},
      body: { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }], tools: [{ name: "f", input_schema, strict: true }] },
    });
  test.each(["openai-chat", "openai-responses"] as const)("of other clients are converted for OpenAI's own servers only: %s", (id) => {
    const other = getWire(id).encodeRequest(anthropic(open));
    expect(JSON.stringify(other.body)).toContain(JSON.stringify(open));
    expect(other.context.nulls).toBeUndefined();
    const official = getWire(id).encodeRequest(anthropic(open), { official: true });
    expect(JSON.stringify(official.body)).toContain('"required":["a","b"]');
    expect(official.context).toMatchObject({ nulls: { f: open }, warnings: [] });
  });
  test.each(["openai-chat", "openai-responses"] as const)("that cannot be converted are sent without strict, with a warning: %s", (id) => {
    const { body, context } = getWire(id).encodeRequest(anthropic(map), { official: true });
    const [tool] = (body as { tools: [{ function?: JsonObject; strict?: boolean }] }).tools;
    expect(JSON.stringify(tool)).toContain(JSON.stringify(map.properties));
    expect(tool.function?.strict ?? tool.strict ?? false).toBe(false);
    expect(context.warnings).toEqual([{ code: "dropped", message: expect.stringContaining("strict of f") }]);
  });
});
