// Structured output from other APIs' clients on OpenAI's own servers, which accept only object schemas, and JSON mode only if the prompt
// mentions JSON.
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { Event, JsonObject, Request, WireId } from "../../src/core/nouns.ts";
import { getWire } from "../../src/wires/registry.ts";

const gemini = (generationConfig: JsonObject, text = "List three colours"): Request =>
  getWire("gemini").decodeRequest({
    path: "/v1beta/models/m:generateContent",
    query: {},
    headers: {},
    body: { contents: [{ role: "user", parts: [{ text }] }], generationConfig },
  });
const listed = gemini({
  responseMimeType: "application/json",
  responseSchema: { type: "ARRAY", items: { $ref: "#/$defs/c" }, $defs: { c: { type: "STRING" } } } as never,
});
const sent = (wire: WireId, request: Request, official = true) => getWire(wire).encodeRequest(request, { official });

const chat = (content: string) =>
  JSON.stringify({ id: "1", choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }] });
const streamed = (pieces: readonly string[]) =>
  [...pieces.map((content) => ({ delta: { content }, finish_reason: null })), { delta: {}, finish_reason: "stop" }]
    .map((choice) => `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, ...choice }] })}\n\n`)
    .join("");
const textOf = (events: readonly Event[]) => events.map((event) => (event.type === "text" ? event.text : "")).join("");

describe("an array schema", () => {
  test.each(["openai-chat", "openai-responses"] as const)("is wrapped in an object for %s", (wire) => {
    const { body, context } = sent(wire, listed);
    expect(JSON.stringify(body)).toContain(
      '"schema":{"type":"object","properties":{"value":{"type":"array","items":{"$ref":"#/$defs/c"}}},"required":["value"],"additionalProperties":false,"$defs":{"c":{"type":"string"}}}',
    );
    expect(context.wrapped).toBe(true);
    expect(sent(wire, listed, false).context.wrapped).toBeUndefined();
  });

  const { context } = sent("openai-chat", listed);
  test.each([
    ['{"value":["red","}"]}', '["red","}"]'],
    ['\n{ "value" : [1.0, {"a": {}}] \n}\n', '[1.0, {"a": {}}]'],
    ['{"value":"a \\" }"}', '"a \\" }"'],
    ['{"value":[{"a":1}', '[{"a":1}'],
    ['{"other":1}', '{"other":1}'],
    ["No.", "No."],
    ['{"val', '{"val'],
  ])("is unwrapped in the answer: %s", (said, expected) => {
    const wire = getWire("openai-chat");
    expect(wire.decodeResponse(chat(said), context).content).toEqual([{ type: "text", text: expected }]);
    for (const pieces of [[said], [...said], said.split(/(?<=")/)]) {
      const decoder = wire.createStreamDecoder(context);
      const events = [...decoder.feed(streamed(pieces)), ...decoder.flush()];
      expect(textOf(events).trim()).toBe(expected);
      expect(collect(events).finish?.reason).toBe("stop");
    }
  });

  test("is not wrapped for OpenAI's own clients", () => {
    const output = { schema: { type: "array" } };
    expect(sent("openai-chat", { ...listed, from: "openai-chat", output }).context.wrapped).toBeUndefined();
  });
});

describe("JSON without a schema", () => {
  const any = { responseMimeType: "application/json" };
  test.each(["openai-chat", "openai-responses"] as const)("is asked for in words on %s, with a warning", (wire) => {
    const { body, context } = sent(wire, gemini(any));
    expect(JSON.stringify(body)).toContain("Answer in JSON.");
    expect(context.warnings.map(({ code }) => code)).toContain("output");
  });
  test.each(["openai-chat", "openai-responses"] as const)("is not asked for twice on %s, nor on other servers", (wire) => {
    expect(JSON.stringify(sent(wire, gemini(any, "As Json, please")).body)).not.toContain("Answer in JSON.");
    expect(JSON.stringify(sent(wire, gemini(any), false).body)).not.toContain("Answer in JSON.");
  });
  test("the word JSON in instructions does not count, since OpenAI looks only at messages", () => {
    const request = gemini(any);
    request.messages = [{ role: "system", content: [{ type: "text", text: "You write JSON" }] }, ...request.messages];
    expect(JSON.stringify(sent("openai-responses", request).body)).toContain("Answer in JSON.");
    expect(JSON.stringify(sent("openai-chat", request).body)).not.toContain("Answer in JSON.");
  });
});

describe("a description of the output", () => {
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const spec = { name: "o", description: "A letter", schema };
  const body = { model: "m", messages: [{ role: "user", content: "Hi" }], response_format: { type: "json_schema", json_schema: spec } };
  const request = getWire("openai-chat").decodeRequest({ path: "", query: {}, headers: {}, body });
  test("has a place in both of OpenAI's APIs", () => {
    expect(sent("openai-chat", request).body).toMatchObject({ response_format: body.response_format });
    expect(sent("openai-responses", request).body).toMatchObject({ text: { format: { type: "json_schema", ...spec } } });
  });
  test.each(["anthropic", "gemini", "ollama"] as const)("is put into the schema for %s", (wire) => {
    const { body, context } = sent(wire, request);
    expect(JSON.stringify(body)).toContain('"description":"A letter"');
    expect(context.warnings).toEqual([]);
  });
  test("does not replace the schema's own description; without a schema it is reported as dropped", () => {
    const own = { ...request, output: { description: "A letter", schema: { ...schema, description: "Mine" } } };
    expect(JSON.stringify(sent("anthropic", own).body)).toContain('"description":"Mine"');
    const { context } = sent("gemini", { ...request, output: { description: "A letter" } });
    expect(context.warnings.map(({ message }) => message)).toEqual([
      "the description of the output has no place in gemini and was left out",
    ]);
  });
});
