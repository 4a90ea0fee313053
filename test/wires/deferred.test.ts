// Deferred tools: what a search has found is offered to every model, and where only another server could search, all of them are (N25).
import { describe, expect, test } from "vitest";
import type { JsonObject, WireId } from "../../src/core/nouns.ts";
import { offeredTools } from "../../src/wires/bridge.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";

const wires = listWires().map(({ id }) => id);
const decode = (from: WireId, body: object) =>
  getWire(from).decodeRequest({ path: "", query: {}, headers: {}, body: { model: "m", ...body } });
const schema = { type: "object", properties: { city: { type: "string" } } };
const hosted: [WireId, object][] = [
  [
    "anthropic",
    {
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
      tools: [
        { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
        { name: "get_weather", input_schema: schema, defer_loading: true },
      ],
    },
  ],
  [
    "openai-responses",
    {
      input: "Hi",
      tools: [{ type: "tool_search" }, { type: "function", name: "get_weather", parameters: schema, strict: false, defer_loading: true }],
    },
  ],
];
const sent = (to: WireId, request: ReturnType<typeof decode>) => {
  const { body, context } = getWire(to).encodeRequest(request);
  return { tools: (body as JsonObject).tools, said: context.warnings.map(({ message }) => message).join("\n") };
};

describe("a search that only another server has", () => {
  const cases = hosted.flatMap(([from, body]) => wires.filter((to) => to !== from).map((to) => [from, to, body] as const));
  test.each(cases)("%s to %s: the tools themselves are offered, with a warning", (from, to, body) => {
    const { tools, said } = sent(to, decode(from, body));
    expect(JSON.stringify(tools)).toMatch(/get_weather.*city/);
    expect(JSON.stringify(tools)).not.toContain("defer_loading");
    expect(said).toContain("deferred tools that only another server can search");
  });
  test.each(hosted)("%s: its own server gets what was said", (from, body) => {
    expect(sent(from, decode(from, body)).tools).toMatchObject((body as { tools: object[] }).tools);
  });
  test.each(hosted)("%s: a dialect is told of them", (from, body) => {
    expect(offeredTools(decode(from, body))).toMatchObject([{ name: "get_weather" }]);
  });
});

describe("a search of the client's own", () => {
  const found = { type: "function", name: "get_weather", parameters: schema, strict: false, defer_loading: true };
  const input = [
    { role: "user", content: "Hi" },
    { type: "tool_search_call", call_id: "c1", execution: "client", arguments: { query: "weather" }, status: "completed" },
    { type: "tool_search_output", call_id: "c1", execution: "client", status: "completed", tools: [found] },
  ];
  const body = { input, tools: [{ type: "tool_search", execution: "client", description: "d", parameters: schema }] };
  test.each(wires.filter((to) => to !== "openai-responses"))("what it has loaded is offered to %s", (to) => {
    expect(JSON.stringify(sent(to, decode("openai-responses", body)).tools)).toMatch(/get_weather.*city/);
  });
  test("its own server finds it in the item", () => {
    const { body: again } = getWire("openai-responses").encodeRequest(decode("openai-responses", body));
    expect(again).toMatchObject({ tools: body.tools, input: [{ role: "user" }, ...input.slice(1)] });
  });
  test("what it has not loaded waits", () => {
    const tools = [...body.tools, { ...found, name: "later" }];
    expect(JSON.stringify(sent("openai-chat", decode("openai-responses", { ...body, tools })).tools)).not.toContain("later");
  });
});
