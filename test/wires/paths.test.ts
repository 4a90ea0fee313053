// Keys that look like paths: a client may call its fields anything, and none of them may end up in another place.
import { afterEach, expect, test } from "vitest";
import type { WireId } from "../../src/core/nouns.ts";
import { getWire } from "../../src/wires/registry.ts";

const messages = [{ role: "user", content: "Hi" }];
const odd = { "a.b": 1, "c[0]": 2, "__proto__.polluted": "yes", "constructor.prototype.polluted": "yes" };
const f = { name: "f" };

const BODIES: readonly (readonly [WireId, string, string, object])[] = [
  ["anthropic", "thinking", "/v1/messages", { max_tokens: 9, messages, thinking: { type: "enabled", budget_tokens: 2000, ...odd } }],
  ["openai-chat", "response_format", "/v1/chat/completions", { messages, response_format: { type: "json_object", ...odd } }],
  ["openai-responses", "text", "/v1/responses", { input: "Hi", text: { format: { type: "json_object", ...odd } } }],
  [
    "gemini",
    "tools",
    "/v1beta/models/m:generateContent",
    { contents: [{ parts: [{ text: "Hi" }] }], tools: [{ functionDeclarations: [f], ...odd }] },
  ],
];

afterEach(() => {
  // biome-ignore lint/suspicious/noExplicitAny: what a defect would have left there
  delete (Object.prototype as any).polluted;
});

test.each(BODIES)("%s: keys of %s that look like paths stay keys, and no prototype changes", (id, key, path, body) => {
  const wire = getWire(id);
  const request = wire.decodeRequest({ path, query: {}, headers: {}, body: JSON.stringify({ model: "m", ...body }) });
  const sent = wire.encodeRequest(request).body as Record<string, unknown>;
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(sent[key]).toEqual((body as Record<string, unknown>)[key]);
});

test("a path into what every object inherits leads nowhere", () => {
  const extra = [{ wire: "openai-chat" as const, kind: "__proto__.polluted", data: "yes" }];
  getWire("openai-chat").encodeRequest({ model: "m", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }], extra });
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
