// Tool calls whose arguments do not fit the schema are passed on, counted and named in a warning.
import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/nouns.ts";
import { createMetrics } from "../../src/gateway/metrics.ts";
import { outsideSchema } from "../../src/gateway/validate.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { ask, json, scripted } from "./start.ts";

const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false };
const calling = (args: string): Event[] => [
  { type: "start" },
  { type: "tool-start", id: "a", index: 0, name: "read" },
  { type: "tool-delta", id: "a", json: args },
  { type: "tool-end", id: "a", index: 0, name: "read", arguments: JSON.parse(args), json: args },
  { type: "finish", reason: "tool-calls" },
];
const request = {
  model: "m",
  messages: [{ role: "user", content: "Hi" }],
  tools: [{ type: "function", function: { name: "read", parameters: { $schema: "http://json-schema.org/draft-07/schema#", ...schema } } }],
};

describe("arguments outside the schema", () => {
  test.each([true, false])("are passed on, counted and named in a warning (stream: %s)", async (stream) => {
    const metrics = createMetrics();
    const gateway = await startGateway({ upstreams: { up: scripted(() => calling('{"path":7}')) }, metrics });
    const { body } = await ask(gateway.url, "POST", "/v1/chat/completions", {
      headers: json,
      body: JSON.stringify({ ...request, stream }),
    });
    expect(body).toContain('{\\"path\\":7');
    expect(await gateway.ended(1)).toMatchObject([{ calls: { complete: 1 }, outside: [{ name: "read", why: "/path must be string" }] }]);
    expect(await metrics.print()).toMatch(/dragoman_calls_outside_schema_total\{.*\} 1/);
  });
  test('validate = "off" skips the check', async () => {
    const models = [{ name: "m", upstream: "up", validate: "off" as const }];
    const gateway = await startGateway({ upstreams: { up: scripted(() => calling("{}")) }, models });
    await ask(gateway.url, "POST", "/v1/chat/completions", { headers: json, body: JSON.stringify(request) });
    expect(await gateway.ended(1)).toMatchObject([{ calls: { complete: 1 }, outside: [] }]);
  });
});

/** Two alternatives, each with two of its own, and so on: an exponential schema. */
const branching = (depth: number) =>
  Object.fromEntries([
    ...Array.from({ length: depth }, (_, i) => [`d${i}`, { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] }]),
    [`d${depth}`, { type: "string" }],
  ]);

describe("a schema", () => {
  test.each([
    [schema, { path: "x" }, undefined],
    [schema, {}, "/path is missing"],
    [{ $ref: "#/$defs/a", $defs: { a: schema } }, { path: 1 }, "/path must be string"],
    [{ type: "strange", properties: 3 }, {}, undefined],
    [undefined, { anything: 1 }, undefined],
    [{ ...schema, description: "x".repeat(100_000) }, {}, "/path is missing"],
    // A schema's author must not be able to stall the gateway.
    [{ properties: { a: { pattern: "^(a+)+$" } } }, { a: `${"a".repeat(64)}!` }, undefined],
    [{ $ref: "#/$defs/d0", $defs: branching(40) }, {}, undefined],
  ])("%#", async (parameters, args, expected) => {
    expect(await outsideSchema({ name: "f", ...(parameters ? { parameters } : {}) }, args)).toBe(expected);
  });
});

test("a schema that took too long is not checked again", async () => {
  const tool = { name: "f", parameters: { properties: { a: { pattern: "^(b+)+$" } }, required: ["c"] } };
  expect(await outsideSchema(tool, { a: "x" })).toBe("/a must match the pattern ^(b+)+$");
  expect(await outsideSchema(tool, { a: `${"b".repeat(64)}!` })).toBeUndefined();
  expect(await outsideSchema(structuredClone(tool), { a: "x" })).toBeUndefined();
});
