// A conversation that was summed up: what a server wrote of it is read by all others, and who asks for it gets it from any model.
import { expect, test } from "vitest";
import type { Event, JsonObject, WireId } from "../../src/core/nouns.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";

const decode = (from: WireId, body: object) =>
  getWire(from).decodeRequest({ path: "", query: {}, headers: {}, body: { model: "m", ...body } });
const others = (from: WireId) => listWires().flatMap(({ id }) => (id === from ? [] : id));

test("Anthropic: the summary is text for every other server, and its own gets the block first, as it came", () => {
  const messages = [
    { role: "assistant", content: [{ type: "compaction", content: "Bob wants tea.", encrypted_content: "e", signature: "s" }] },
    { role: "user", content: "Go on." },
  ];
  const request = decode("anthropic", { max_tokens: 9, messages });
  const { body, context } = getWire("anthropic").encodeRequest(request);
  expect(body).toMatchObject({ messages });
  expect(context.warnings).toEqual([]);
  for (const to of others("anthropic")) {
    const { body, context } = getWire(to).encodeRequest(request);
    expect(JSON.stringify(body), to).toContain("[summary of the conversation so far]\\nBob wants tea.");
    expect(context.warnings, to).toEqual([]);
  }
});

const f = { type: "function", name: "f", parameters: { type: "object", properties: {} }, strict: false };
const trigger = { input: [{ role: "user", content: "Hi" }, { type: "compaction_trigger" }], tools: [f], tool_choice: "auto" };

test("Responses: a trigger asks any other model for a summary and no call, and its own server for what it was", () => {
  const request = decode("openai-responses", trigger);
  expect(getWire("openai-responses").encodeRequest(request).body).toMatchObject({
    ...trigger,
    input: [{}, { type: "compaction_trigger" }],
  });
  for (const to of others("openai-responses")) {
    const { body, context } = getWire(to).encodeRequest(request);
    expect(body, to).not.toHaveProperty("tools");
    expect(JSON.stringify(body), to).toContain("nothing but the summary");
    expect(context.warnings, to).toEqual([]);
  }
});

const ANSWER: Event[] = [
  { type: "start", id: "a" },
  { type: "thinking-start" },
  { type: "thinking-delta", text: "Hm." },
  { type: "thinking-end" },
  { type: "text", text: "Bob wants " },
  { type: "text", text: "tea." },
  { type: "finish", reason: "stop" },
];

test.each([false, "sse"] as const)(
  "Responses: the answer is one item, which every server can read when it comes back (stream: %s)",
  (stream) => {
    const request = { ...decode("openai-responses", trigger), stream };
    const wire = getWire("openai-responses");
    const encoder = wire.createStreamEncoder(request);
    const text = ANSWER.map((event) => encoder.encode(event)).join("") + encoder.end();
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ""));
    const whole = { content: [{ type: "text" as const, text: "Bob wants tea." }], finish: { reason: "stop" as const } };
    const { output } = (stream ? events.at(-1).response : wire.encodeResponse(whole, request)) as { output: JsonObject[] };
    const items = output.filter(({ type }) => type !== "reasoning");
    expect(items).toMatchObject([{ type: "compaction", id: expect.stringMatching(/^cmp_/), encrypted_content: expect.any(String) }]);
    if (stream)
      expect(events.filter(({ item }) => item?.type === "compaction").map(({ type }) => type)).toEqual([
        "response.output_item.added",
        "response.output_item.done",
      ]);
    const next = decode("openai-responses", { input: [...items, { role: "user", content: "Go on." }] });
    for (const { id, encodeRequest } of listWires()) {
      const { body, context } = encodeRequest(next);
      expect(JSON.stringify(body), id).toContain("[summary of the conversation so far]\\nBob wants tea.");
      expect(JSON.stringify(body), id).not.toContain("compaction");
      expect(context.warnings, id).toEqual([]);
    }
  },
);
