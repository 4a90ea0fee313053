// What defineTool makes of a schema: what the model is told, what is checked, and the types of `run`.
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { type Arguments, defineTool } from "../../src/chat/index.ts";
import type { JsonObject } from "../../src/core/nouns.ts";

const problemsOf = async (tool: ReturnType<typeof defineTool>, args: unknown) => (await tool.check(args as JsonObject)).problems;

describe("a JSON Schema", () => {
  const tool = defineTool({
    name: "book",
    parameters: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: {
        title: { type: "string", minLength: 2 },
        copies: { type: ["integer", "null"] },
        format: { enum: ["paper", "audio"] },
        when: { type: "string", format: "date" },
        to: { type: "object", properties: { zip: { type: "string" } }, required: ["zip"] },
        tags: { type: "array", items: { type: "string" } },
      },
      required: ["title"],
      additionalProperties: false,
    },
    run(args) {
      expectTypeOf(args).toEqualTypeOf<{
        title: string;
        copies?: number | null;
        format?: "paper" | "audio";
        when?: string;
        to?: { zip: string };
        tags?: string[];
      }>();
    },
  });

  test("passes arguments that fit, unchanged", async () => {
    const args = { title: "Momo", copies: null, format: "audio", when: "2026-02-28", to: { zip: "02134" }, tags: [] };
    expect(await tool.check(args)).toEqual({ arguments: args });
  });

  test.each([
    [{}, ["title: is missing"]],
    [{ title: "Momo", copies: "2" }, ["copies: must be integer or null"]],
    [{ title: "M" }, ["title: must have at least 2 characters"]],
    [{ title: "Momo", format: "film" }, ['format: must be one of "paper","audio"']],
    [{ title: "Momo", when: "2026-02-30" }, ["when: must be a date like 2026-01-31"]],
    [{ title: "Momo", to: {} }, ["to.zip: is missing"]],
    [{ title: "Momo", tags: ["a", 1] }, ["tags.1: must be string"]],
    [{ title: "Momo", color: "red" }, ["color: there is no such parameter"]],
  ])("reports what is wrong with %j", async (args, problems) => {
    expect(await problemsOf(tool, args)).toEqual(problems);
  });

  test("types properties beside alternatives, and nullable ones", () => {
    defineTool({
      name: "find",
      parameters: {
        type: "object",
        properties: { id: { type: "integer" }, name: { type: "string", nullable: true } },
        anyOf: [{ required: ["id"] }, { required: ["name"] }],
      },
      run({ id, name }) {
        expectTypeOf(id).toEqualTypeOf<number | undefined>();
        expectTypeOf(name).toEqualTypeOf<string | null | undefined>();
      },
    });
  });

  test("two tools may have schemas with the same $id, and unknown keywords are allowed", async () => {
    const schema = { $id: "https://example.org/s", type: "object", properties: { a: { type: "string", "x-note": 1 } } } as const;
    for (const name of ["one", "two"])
      expect(await problemsOf(defineTool({ name, parameters: schema }), { a: 1 })).toEqual(["a: must be string"]);
  });

  test("an invalid schema is refused at once", () => {
    expect(() => defineTool({ name: "bad", parameters: { type: "thing" } })).toThrow(
      "the tool bad: its parameters are not a valid JSON Schema: type must be one of string,",
    );
    expect(() => defineTool({ name: "" })).toThrow("name");
  });

  test("no schema: a tool without parameters", async () => {
    const ping = defineTool({ name: "ping", run: () => "pong" });
    expect(ping.tool).toEqual({ name: "ping", parameters: { type: "object", properties: {} } });
    expect(await ping.check({})).toEqual({ arguments: {} });
  });
});

describe("a Standard Schema", () => {
  test("Zod: the model gets its JSON Schema, and run gets the parsed value", async () => {
    const schema = z.object({ city: z.string().describe("The city"), days: z.number().int().default(3) });
    const tool = defineTool({
      name: "forecast",
      parameters: schema,
      run: (args) => expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>(),
    });
    expect(tool.tool.parameters).toMatchObject({
      type: "object",
      properties: { city: { type: "string", description: "The city" }, days: { type: "integer" } },
      required: ["city"],
    });
    expect(tool.tool.parameters).not.toHaveProperty("$schema");
    expect(await tool.check({ city: "Oslo" })).toEqual({ arguments: { city: "Oslo", days: 3 } });
    expect(await problemsOf(tool, { city: 7, days: 1.5 })).toEqual([
      expect.stringMatching(/^city: .*expected string/),
      expect.stringMatching(/^days: .*expected int/),
    ]);
  });

  test("Valibot needs its JSON Schema beside it", async () => {
    const schema = v.object({ at: v.object({ zip: v.pipe(v.string(), v.length(5)) }) });
    expectTypeOf<Arguments<typeof schema>>().toEqualTypeOf<{ at: { zip: string } }>();
    expect(() => defineTool({ name: "send", parameters: schema })).toThrow("its valibot schema does not provide a JSON Schema");
    const jsonSchema = { type: "object", properties: { at: { type: "object" } } };
    const tool = defineTool({ name: "send", parameters: schema, jsonSchema });
    expect(tool.tool.parameters).toBe(jsonSchema);
    expect(await problemsOf(tool, { at: { zip: "1" } })).toEqual([expect.stringMatching(/^at\.zip: Invalid length/)]);
  });
});

describe("a wrong definition is refused, with what to do", () => {
  test.each([
    ["without a name", {}, "a tool needs a name"],
    ["with something else as `run`", { name: "a", run: "npm test" }, "run must be a function"],
    ["with the AI SDK's word for its schema", { name: "a", inputSchema: {} }, "the tool a: inputSchema is called parameters here"],
    ["with the AI SDK's word for what runs", { name: "a", execute() {} }, "the tool a: execute is called run here"],
    ["with parameters that are not an object", { name: "a", parameters: { type: "string" } }, "must be the JSON Schema of an object"],
    ["with a library's schema that is not an object", { name: "a", parameters: z.string() }, "must be the JSON Schema of an object"],
    ["with properties alone", { name: "a", parameters: { city: { type: "string" } } }, 'like { type: "object", properties: { … } }'],
  ])("%s", (_, definition, words) => {
    expect(() => defineTool(definition as never)).toThrow(words);
  });

  test("any object schema is accepted, and so is a reference to one", () => {
    for (const parameters of [{}, { $ref: "#/$defs/a", $defs: { a: { type: "object" } } }, { type: ["object", "null"] }]) {
      expect(defineTool({ name: "a", parameters }).tool.parameters).toEqual(parameters);
    }
  });
});
