// Deferred tools: what a search has found is offered to every model; if only another server could search, all tools are offered (N25).
import { describe, expect, test } from "vitest";
import type { Event, JsonObject, Tool, WireId } from "../../src/core/nouns.ts";
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

describe("a tool search that only another server can run", () => {
  const cases = hosted.flatMap(([from, body]) => wires.filter((to) => to !== from).map((to) => [from, to, body] as const));
  test.each(cases)("%s to %s: the tools themselves are offered, with a warning", (from, to, body) => {
    const { tools, said } = sent(to, decode(from, body));
    expect(JSON.stringify(tools)).toMatch(/get_weather.*city/);
    expect(JSON.stringify(tools)).not.toContain("defer_loading");
    expect(said).toContain("deferred tools that only another server can search");
  });
  test.each(hosted)("%s: its own server gets the tools unchanged", (from, body) => {
    expect(sent(from, decode(from, body)).tools).toMatchObject((body as { tools: object[] }).tools);
  });
  test.each(hosted)("%s: a dialect gets the tools", (from, body) => {
    expect(offeredTools(decode(from, body))).toMatchObject([{ name: "get_weather" }]);
  });
});

describe("a tool search that the client runs", () => {
  const found = { type: "function", name: "get_weather", parameters: schema, strict: false, defer_loading: true };
  const input = [
    { role: "user", content: "Hi" },
    { type: "tool_search_call", call_id: "c1", execution: "client", arguments: { query: "weather" }, status: "completed" },
    { type: "tool_search_output", call_id: "c1", execution: "client", status: "completed", tools: [found] },
  ];
  const body = { input, tools: [{ type: "tool_search", execution: "client", description: "d", parameters: schema }] };
  test.each(wires.filter((to) => to !== "openai-responses"))("tools it has loaded are offered to %s", (to) => {
    expect(JSON.stringify(sent(to, decode("openai-responses", body)).tools)).toMatch(/get_weather.*city/);
  });
  test("its own server finds them in the item", () => {
    const { body: again } = getWire("openai-responses").encodeRequest(decode("openai-responses", body));
    expect(again).toMatchObject({ tools: body.tools, input: [{ role: "user" }, ...input.slice(1)] });
  });
  test.each(wires.filter((to) => to !== "openai-responses"))("for %s it is a function, with its calls and results", (to) => {
    const request = decode("openai-responses", body);
    const { body: asked, context } = getWire(to).encodeRequest(request);
    expect(context.warnings).toEqual([]);
    expect(JSON.stringify(asked)).toContain("The tool get_weather is now available.");
    const again = getWire(to).decodeRequest({ path: "", query: {}, headers: {}, body: asked });
    expect(again.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", content: [{ type: "tool-call", name: "tool_search", arguments: { query: "weather" } }] },
      { role: "tool", name: "tool_search" },
    ]);
  });
  test("a model's search call reaches the client as its item, unless it was truncated", () => {
    const request = { ...decode("openai-responses", body), stream: "sse" as const };
    const call = { id: "c2", name: "tool_search", arguments: { query: "time" } };
    const item = { type: "tool_search_call", call_id: "c2", execution: "client", status: "completed", arguments: { query: "time" } };
    const said = (truncated: boolean) => {
      const encoder = getWire("openai-responses").createStreamEncoder(request);
      const events: Event[] = [
        { type: "start" },
        { type: "tool-start", index: 0, id: call.id, name: call.name },
        { type: "tool-delta", id: call.id, json: '{"query":"time"}' },
        { type: "tool-end", index: 0, ...call, ...(truncated ? { truncated } : {}) },
        { type: "finish", reason: truncated ? "length" : "tool-calls" },
      ];
      const text = events.map((event) => encoder.encode(event)).join("") + encoder.end();
      return text.split("\n").flatMap((line) => (line.startsWith("data:") ? [JSON.parse(line.slice(5))] : []));
    };
    expect(said(false)).toContainEqual(expect.objectContaining({ type: "response.output_item.done", item: expect.objectContaining(item) }));
    expect(said(false).at(-1)).toMatchObject({ type: "response.completed", response: { output: [item] } });
    expect(said(true).some(({ type }) => type === "response.output_item.done")).toBe(false);
    const response = { content: [{ type: "tool-call" as const, ...call }], finish: { reason: "tool-calls" as const } };
    expect(getWire("openai-responses").encodeResponse(response, request)).toMatchObject({ output: [item] });
  });
  test("tools it has not loaded are not offered", () => {
    const tools = [...body.tools, { ...found, name: "later" }];
    expect(JSON.stringify(sent("openai-chat", decode("openai-responses", { ...body, tools })).tools)).not.toContain("later");
  });
});

test("Anthropic refuses a request in which every tool is deferred: none of them is", () => {
  const tool = { name: "get_weather", parameters: schema, deferred: true as const };
  const encode = (tools: Tool[]) => sent("anthropic", { model: "m", messages: [{ role: "user", content: [] }], tools }).tools;
  expect(JSON.stringify(encode([tool]))).not.toContain("defer_loading");
  expect(encode([tool, { name: "search" }])).toMatchObject([{ defer_loading: true }, { name: "search" }]);
});
