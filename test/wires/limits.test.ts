// Limits: how long an answer may be, and how long the input.
import { expect, test } from "vitest";
import type { Message, WireId } from "../../src/core/nouns.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";

const messages = [{ role: "user", content: "Hi" }];
const ASKED: readonly (readonly [WireId, string, object])[] = [
  ["openai-chat", "/v1/chat/completions", { model: "m", messages, max_tokens: -1 }],
  ["openai-chat", "/v1/chat/completions", { model: "m", messages, max_completion_tokens: -1 }],
  ["openai-responses", "/v1/responses", { model: "m", input: "Hi", max_output_tokens: -1 }],
  ["gemini", "/v1beta/models/m:generateContent", { contents: [{ parts: [{ text: "Hi" }] }], generationConfig: { maxOutputTokens: -1 } }],
  ["ollama", "/api/chat", { model: "m", messages, options: { num_predict: -1 } }],
];

test.each(ASKED)("%s: a negative token limit means none, on every wire and without a warning (%s)", (id, path, body) => {
  const request = getWire(id).decodeRequest({ path, query: {}, headers: {}, body });
  expect(request).not.toHaveProperty("maxTokens");
  for (const { id: other, encodeRequest } of listWires()) {
    const { body: sent, context } = encodeRequest(request);
    expect(JSON.stringify(sent).includes("-1"), other).toBe(other === id);
    expect(context.warnings, other).toEqual([]);
  }
});

test.each([
  [
    "anthropic",
    "/v1/messages",
    (input: object) => ({
      max_tokens: 9,
      messages: [...messages, { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input }] }],
    }),
  ],
  [
    "gemini",
    "/v1beta/models/m:generateContent",
    (args: object) => ({ contents: [{ parts: [{ text: "Hi" }] }, { role: "model", parts: [{ functionCall: { name: "f", args } }] }] }),
  ],
  [
    "ollama",
    "/api/chat",
    (args: object) => ({ messages: [...messages, { role: "assistant", tool_calls: [{ function: { name: "f", arguments: args } }] }] }),
  ],
] as const)("%s: a call with a million blanks in a row is read like any other", (id, path, body) => {
  const args = { content: `a${" ".repeat(1_000_000)}b`, n: 1 };
  const text = JSON.stringify({ model: "m", ...body(args) }, undefined, 1).replace('"n": 1', '"n": 1.0'); // numbers as written, and over several lines
  const request = getWire(id).decodeRequest({ path, query: {}, headers: {}, body: text });
  const { body: sent } = getWire("anthropic").encodeRequest(request);
  expect(request.messages.at(-1)).toMatchObject({
    content: [{ type: "tool-call", arguments: args, json: expect.stringContaining("1.0") }],
  });
  expect(sent).toMatchObject({ model: "m" });
});

test("a file name of half a million characters is read like any other", () => {
  const file = { type: "file", file: { filename: `${"a".repeat(500_000)}.`, file_data: "data:;base64,eA==" } };
  const body = { model: "m", messages: [{ role: "user", content: [file] }] };
  const request = getWire("openai-chat").decodeRequest({ path: "/v1/chat/completions", query: {}, headers: {}, body });
  expect(request.messages).toMatchObject([{ content: [{ type: "media", mediaType: "application/octet-stream" }] }]);
});

test("a hundred thousand fields that another wire does not know are warned of, each once", () => {
  const fields = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`field${i}`, i]));
  const body = { ...fields, model: "m", messages };
  const request = getWire("openai-chat").decodeRequest({ path: "/v1/chat/completions", query: {}, headers: {}, body });
  expect(getWire("anthropic").encodeRequest(request).context.warnings).toHaveLength(100_000);
});

test("a hundred thousand calls, each in a message of its own and with the same odd id, are sent in one round", () => {
  const ids = Array.from({ length: 100_000 }, () => "+");
  const content = ids.map((id): Message => ({ role: "assistant", content: [{ type: "tool-call", id, name: "f", arguments: {} }] }));
  const results = ids.slice(1).map((id): Message => ({ role: "tool", id, name: "f", output: "" }));
  const { body } = getWire("anthropic").encodeRequest({ model: "m", messages: [...content, ...results] });
  const [, said] = (body as { messages: { content: { id: string }[] }[] }).messages;
  expect(said?.content).toHaveLength(100_000);
  expect(new Set(said?.content.map(({ id }) => id)).size).toBe(100_000);
});

test("fifty thousand chunks with a field of their own, behind a complete call, are read like any others", () => {
  const chunk = (delta: object, note: number) => `data: ${JSON.stringify({ id: "x", choices: [{ index: 0, delta }], note })}\n\n`;
  const decoder = getWire("openai-chat").createStreamDecoder();
  const call = { index: 0, id: "a", type: "function", function: { name: "f", arguments: '{"a":1}' } };
  const events = decoder.feed(chunk({ tool_calls: [call] }, 0));
  for (let i = 1; i <= 50_000; i++) events.push(...decoder.feed(chunk({}, i)));
  events.push(...decoder.feed("data: [DONE]\n\n"), ...decoder.flush());
  expect(events.map(({ type }) => type).filter((type) => type !== "extension")).toEqual([
    "start",
    "tool-start",
    "tool-delta",
    "tool-end",
    "finish",
  ]);
  expect(events).toHaveLength(50_006);
});
