// Summaries that replace a conversation: every model can read them, and any model can be asked for one.
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { Event, JsonObject, Request, WireId } from "../../src/core/nouns.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";

const decode = (from: WireId, body: object): Request =>
  getWire(from).decodeRequest({ path: "", query: {}, headers: {}, body: { model: "m", ...body } });
const others = (own: WireId) => listWires().flatMap(({ id }) => (id === own ? [] : [id]));
const responses = getWire("openai-responses");
const trigger = { type: "compaction_trigger" };
const input = [{ role: "user", content: "Hi" }, { role: "assistant", content: "Yes?" }, trigger];

describe("Anthropic's compaction blocks", () => {
  const block = { type: "compaction", content: "They want a boat.", encrypted_content: "e", signature: "s" };
  const body = {
    max_tokens: 9,
    messages: [
      { role: "assistant", content: [block] },
      { role: "user", content: "Go on" },
    ],
  };
  test.each(others("anthropic"))("%s gets the summary as text", (to) => {
    const { body: sent, context } = getWire(to).encodeRequest(decode("anthropic", body));
    expect(JSON.stringify(sent)).toContain("Summary of the conversation so far:\\n\\nThey want a boat.");
    expect(context.warnings.map(({ code }) => code)).toEqual(to === "gemini" ? ["converted"] : []); // Gemini demands that a user begins
  });
  test("its own server gets the block, first in the conversation", () => {
    const { body: sent, context } = getWire("anthropic").encodeRequest(decode("anthropic", body));
    expect(sent).toMatchObject({
      messages: [
        { role: "assistant", content: [block] },
        { role: "user", content: "Go on" },
      ],
    });
    expect(context.warnings).toEqual([]);
  });
});

describe("a compaction requested by a Responses client", () => {
  const request = decode("openai-responses", { input, stream: true });
  const text = "They want a boat.";
  const events: Event[] = [
    { type: "start", id: "a", model: "m" },
    { type: "thinking-start" },
    { type: "thinking-delta", text: "Hm." },
    { type: "thinking-end" },
    { type: "text", text: text.slice(0, 9) },
    { type: "text", text: text.slice(9) },
    { type: "usage", inputTokens: 3, outputTokens: 2 },
    { type: "finish", reason: "stop" },
  ];
  const answer = (said: readonly Event[]) => {
    const encoder = responses.createStreamEncoder(request, { mintId: () => "1" });
    const stream = said.map((event) => encoder.encode(event)).join("") + encoder.end();
    return stream.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6)) as JsonObject] : []));
  };
  const last = (said: readonly Event[]) => answer(said).at(-1) as { type: string; response: { output: JsonObject[]; error?: JsonObject } };

  test.each(others("openai-responses"))("%s is asked for a summary in words", (to) => {
    const { body, context } = getWire(to).encodeRequest(request);
    expect(JSON.stringify(body)).toContain("Summarize the conversation so far.");
    expect(context.warnings).toEqual([]);
  });
  test("its own server gets the item, and its answer passes through", () => {
    expect(responses.encodeRequest(request).body).toMatchObject({ input: [{ role: "user" }, { role: "assistant" }, trigger] });
    const item = { type: "compaction", id: "cmp_1", encrypted_content: "sealed" };
    const own = (step: string): Event => ({
      type: "extension",
      wire: "openai-responses",
      data: { type: `response.output_item.${step}`, output_index: 0, item },
    });
    expect(last([own("added"), own("done"), { type: "finish", reason: "stop" }])).toMatchObject({
      type: "response.completed",
      response: { output: [item] },
    });
  });
  test("the answer is one item: added, done and complete", () => {
    const said = answer(events);
    const item = { type: "compaction", id: "cmp_drgma_0", encrypted_content: expect.stringMatching(/^ZHJhZ29tYW4v/) };
    expect(said.map(({ type }) => type)).toEqual(
      ["created", "in_progress", "output_item.added", "output_item.done", "completed"].map((type) => `response.${type}`),
    );
    expect(said.slice(2)).toMatchObject([{ item }, { item }, { response: { output: [item], usage: { input_tokens: 3 } } }]);
    expect(JSON.stringify(said)).not.toContain("boat");
  });
  test("the same without streaming", () => {
    const whole = responses.encodeResponse(collect(events), { ...request, stream: false });
    expect(whole).toMatchObject({ status: "completed", output: [{ type: "compaction" }] });
  });
  test.each(listWires().map(({ id }) => id))("the summary comes back as a user's text for %s", (to) => {
    const [item] = last(events).response.output;
    const next = decode("openai-responses", { input: [item, { role: "user", content: "Go on" }] });
    const { body, context } = getWire(to).encodeRequest(next);
    expect(JSON.stringify(body)).toContain("Summary of the conversation so far:\\n\\nThey want a boat.");
    expect(context.warnings).toEqual([]);
  });
  test("a model that wrote no summary is reported as failed", () => {
    const call: Event[] = [
      { type: "tool-start", id: "c", index: 0, name: "f" },
      { type: "tool-end", id: "c", index: 0, name: "f", arguments: {} },
      { type: "finish", reason: "tool-calls" },
    ];
    expect(last(call)).toMatchObject({
      type: "response.failed",
      response: { output: [], error: { message: expect.stringContaining("no summary") } },
    });
  });
});
