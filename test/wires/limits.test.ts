// How long an answer may be.
import { expect, test } from "vitest";
import type { WireId } from "../../src/core/nouns.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";

const messages = [{ role: "user", content: "Hi" }];
const ASKED: readonly (readonly [WireId, string, object])[] = [
  ["openai-chat", "/v1/chat/completions", { model: "m", messages, max_tokens: -1 }],
  ["openai-chat", "/v1/chat/completions", { model: "m", messages, max_completion_tokens: -1 }],
  ["openai-responses", "/v1/responses", { model: "m", input: "Hi", max_output_tokens: -1 }],
  ["gemini", "/v1beta/models/m:generateContent", { contents: [{ parts: [{ text: "Hi" }] }], generationConfig: { maxOutputTokens: -1 } }],
  ["ollama", "/api/chat", { model: "m", messages, options: { num_predict: -1 } }],
];

test.each(ASKED)("%s: a limit below 0 is none, and nothing is lost by that (%s)", (id, path, body) => {
  const request = getWire(id).decodeRequest({ path, query: {}, headers: {}, body });
  expect(request).not.toHaveProperty("maxTokens");
  for (const { id: other, encodeRequest } of listWires()) {
    const { body: sent, context } = encodeRequest(request);
    expect(JSON.stringify(sent).includes("-1"), other).toBe(other === id);
    expect(context.warnings, other).toEqual([]);
  }
});
