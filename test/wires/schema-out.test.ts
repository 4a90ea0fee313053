import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { JsonObject, Request } from "../../src/core/nouns.ts";
import { eventsOf } from "../../src/core/unfold.ts";
import { getWire } from "../../src/wires/registry.ts";
import {
  closedSchema,
  fromGeminiSchema,
  geminiSchema,
  inlineRefs,
  objectSchema,
  ollamaSchema,
  type SchemaOut,
  strictSchema,
} from "../../src/wires/schema-out.ts";

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more });
const losses = ({ lost }: SchemaOut) => lost.map(({ path, keyword }) => `${path}:${keyword}`);

describe("references", () => {
  test("are replaced by what they name, with what stands beside them", () => {
    const schema = object({ a: { $ref: "#/$defs/A", description: "mine" } }, { $defs: { A: { type: "string", description: "its" } } });
    expect(inlineRefs(schema)).toEqual({ schema: object({ a: { type: "string", description: "mine" } }), lost: [] });
  });
  test("a schema without any is the same object", () => {
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
  test("one that doubles at every step is bounded", () => {
    const defs: Record<string, JsonObject> = {};
    for (let i = 0; i < 40; i++) defs[`d${i}`] = object({ a: { $ref: `#/$defs/d${i + 1}` }, b: { $ref: `#/$defs/d${i + 1}` } });
    const out = inlineRefs({ $ref: "#/$defs/d0", $defs: defs });
    expect(JSON.stringify(out.schema).length).toBeLessThan(1_000_000);
    expect(out.lost.length).toBeGreaterThan(0);
  });
  test("what cannot be found is anything", () => {
    expect(inlineRefs(object({ a: { $ref: "https://x/y" }, b: { $ref: "#/nowhere" } }))).toEqual({
      schema: object({ a: {}, b: {} }),
      lost: [
        { path: "properties.a", keyword: "$ref" },
        { path: "properties.b", keyword: "$ref" },
      ],
    });
  });
});

describe("Gemini's parameters", () => {
  test.each<[string, JsonObject, JsonObject, string[]]>([
    ["types", { type: "string" }, { type: "STRING" }, []],
    ["null as a type", { type: ["string", "null"] }, { type: "STRING", nullable: true }, []],
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
      "an allOf that says two things",
      { type: "string", allOf: [{ pattern: "a" }, { pattern: "b" }] },
      { type: "STRING", pattern: "a" },
      [":pattern"],
    ],
    ["const", { const: "x" }, { type: "STRING", enum: ["x"] }, []],
    ["an enum of numbers", { enum: [1, "a"] }, { type: "STRING", enum: ["1", "a"] }, [":enum"]],
    [
      "what it does not know",
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
      "a property that is called like a keyword",
      object({ const: { type: "string" } }),
      { type: "OBJECT", properties: { const: { type: "STRING" } } },
      [],
    ],
  ])("%s", (_, schema, expected, lost) => {
    const out = geminiSchema(schema);
    expect(out.schema).toEqual(expected);
    expect(losses(out)).toEqual(lost);
  });
  test("and back", () => {
    expect(fromGeminiSchema({ type: "OBJECT", properties: { type: { type: "STRING", nullable: true } } })).toEqual(
      object({ type: { type: ["string", "null"] } }),
    );
    const schema = object({ a: { type: ["string", "null"] } });
    expect(fromGeminiSchema(schema)).toEqual(schema);
  });
});

describe("Anthropic's tools", () => {
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
  test("structured output has closed objects", () => {
    expect(closedSchema(object({ a: object({}) })).schema).toEqual(
      object({ a: object({}, { additionalProperties: false }) }, { additionalProperties: false }),
    );
  });
});

describe("Ollama's tools", () => {
  test("what its server would drop is said otherwise", () => {
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
  test("a strict schema stays as it is", () => {
    const schema = object(
      { a: { type: ["string", "null"] }, b: object({}, { required: [], additionalProperties: false }) },
      { required: ["a", "b"], additionalProperties: false },
    );
    expect(strictSchema(schema)).toEqual({ schema, lost: [] });
  });
  test("another is closed, and what may be absent may be null", () => {
    const out = strictSchema(
      object({ a: { type: "string" }, b: { enum: ["x"] }, c: { $ref: "#/$defs/C" } }, { required: ["a"], $defs: { C: {} } }),
    );
    expect(out.schema).toMatchObject({
      additionalProperties: false,
      required: ["a", "b", "c"],
      properties: {
        a: { type: "string" },
        b: { anyOf: [{ enum: ["x"] }, { type: "null" }] },
        c: { anyOf: [{ $ref: "#/$defs/C" }, { type: "null" }] },
      },
    });
    expect(losses(out)).toEqual([":required"]);
  });
});

test("no schema makes any of them throw", () => {
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
      for (const translate of [inlineRefs, geminiSchema, ollamaSchema, objectSchema, closedSchema, strictSchema])
        expect(translate(given).schema).toBeTypeOf("object");
      expect(fromGeminiSchema(given)).toBeTypeOf("object");
    }),
  );
});

describe("what strict mode made null", () => {
  const parameters = {
    type: "object",
    properties: {
      a: { type: "string" },
      b: { type: "string" },
      c: { type: ["string", "null"] },
      list: { type: "array", items: { $ref: "#/$defs/item" } },
      any: { description: "anything" },
    },
    required: ["a"],
    $defs: { item: { type: "object", properties: { x: { type: "number" }, y: { enum: [1, null] } } } },
  };
  const request: Request = {
    model: "m",
    messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    tools: [{ name: "f", parameters, strict: true }],
  };
  const given = { a: null, b: null, c: null, list: [{ x: null, y: null }], any: null, new: null };
  const wanted = { a: null, c: null, list: [{ y: null }], any: null };

  test.each(["openai-chat", "openai-responses"] as const)("is absent again in the calls of %s, streamed or not", (id) => {
    const wire = getWire(id);
    const { context } = wire.encodeRequest(request);
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
    expect(JSON.parse(deltas)).toEqual({ ...wanted, new: null });
    expect(collect(again).content).toMatchObject([{ arguments: { ...wanted, new: null }, json: deltas }]);
  });
  test("but not where the tool was not strict, or the schema says null itself", () => {
    const loose = { ...request, tools: [{ name: "f", parameters }] };
    expect(getWire("openai-chat").encodeRequest(loose).context.nulls).toBeUndefined();
    const all = { type: "object", properties: { b: { type: ["string", "null"] } }, required: ["b"], additionalProperties: false };
    const strict = { ...request, tools: [{ name: "f", parameters: all, strict: true }] };
    expect(getWire("openai-chat").encodeRequest(strict).context.nulls).toBeUndefined();
  });
  test("a call that was cut is passed on as it came", () => {
    const { context } = getWire("openai-chat").encodeRequest(request);
    const decoder = getWire("openai-chat").createStreamDecoder(context);
    const call = { index: 0, id: "c", function: { name: "f", arguments: '{"a":"x","b":nu' } };
    const chunk = { choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: "length" }] };
    const events = [...decoder.feed(`data: ${JSON.stringify(chunk)}\n\n`), ...decoder.flush()];
    expect(events).toContainEqual({ type: "tool-delta", id: "c", json: '{"a":"x","b":nu' });
    expect(events).toContainEqual(expect.objectContaining({ type: "tool-end", truncated: true }));
  });
});
