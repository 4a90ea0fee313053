// Answers that are read or written in rare orders: what comes late, twice, damaged or in very many pieces.
import { expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { Event, Request, WireId } from "../../src/core/nouns.ts";
import { getWire } from "../../src/wires/registry.ts";

const request: Request = { model: "m", messages: [], stream: "sse" };

const read = (wire: WireId, stream: string): Event[] => {
  const decoder = getWire(wire).createStreamDecoder();
  return [...decoder.feed(stream), ...decoder.flush()];
};
const sse = (...frames: (object | string)[]): string =>
  frames.map((frame) => `data: ${typeof frame === "string" ? frame : JSON.stringify(frame)}\n\n`).join("");

const written = (wire: WireId, events: readonly Event[]): string => {
  const encoder = getWire(wire).createStreamEncoder(request);
  return events.map((event) => encoder.encode(event)).join("") + encoder.end();
};

test("anthropic: whatever follows a call that was cut, there is one error, and nothing after it", () => {
  const stream = written("anthropic", [
    { type: "start", id: "m" },
    { type: "tool-start", id: "a", index: 0, name: "f" },
    { type: "tool-delta", id: "a", json: '{"x":"hal' },
    { type: "tool-end", id: "a", index: 0, name: "f", arguments: {}, truncated: true },
    { type: "text", text: "More" },
    { type: "text", text: " and more" },
    { type: "finish", reason: "length" },
  ]);
  expect(stream.match(/^event: error$/gm)).toHaveLength(1);
});

test("the arguments of a call keep their bytes although the call before it has none", () => {
  const json = '{"id":12345678901234567890,"price":1.0}';
  const bodies: Partial<Record<WireId, string>> = {
    gemini: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"g","args":${json}}}]}}]}`,
    anthropic: `{"content":[{"type":"tool_use","id":"1","name":"f"},{"type":"tool_use","id":"2","name":"g","input":${json}}]}`,
  };
  for (const [wire, body] of Object.entries(bodies)) {
    const { content } = getWire(wire as WireId).decodeResponse(body);
    expect(content).toMatchObject([
      { name: "f", json: "{}" },
      { name: "g", json },
    ]);
  }
});

test("the same holds for a request", () => {
  const json = '{"id":12345678901234567890,"price":1.0}';
  const body = `{"contents":[{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[
    {"functionCall":{"name":"f"}},{"functionCall":{"name":"g","args":${json}}}]}]}`;
  const { messages } = getWire("gemini").decodeRequest({ path: "/v1beta/models/m:generateContent", query: {}, headers: {}, body });
  expect(messages[1]).toMatchObject({ content: [{ name: "f" }, { name: "g", json }] });
});

test.each([[["1}"]], [[]]])("a call that stays open may have very much text behind it; its last pieces: %j", (last) => {
  const decoder = getWire("openai-chat").createStreamDecoder();
  const calling = (json: string): Event[] =>
    decoder.feed(
      `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":${json}}}]}}]}\n\n`,
    );
  calling(JSON.stringify('{"x":'));
  const count = 200_000;
  decoder.feed('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'.repeat(count));
  const events = [...last.flatMap((json) => calling(JSON.stringify(json))), ...decoder.flush()];
  expect(events.filter(({ type }) => type === "text")).toHaveLength(count);
  expect(events.at(-1)?.type).toBe("finish");
});

test("a field that a server repeats in every chunk is in the whole answer once", () => {
  const filters = { hate: { filtered: false, severity: "safe" } }; // Azure
  const chunk = (content: string) => ({ id: "x", choices: [{ index: 0, delta: { content }, content_filter_results: filters }] });
  const chat = read(
    "openai-chat",
    sse(chunk("a"), chunk("b"), { id: "x", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, "[DONE]"),
  );
  expect(getWire("openai-chat").encodeResponse(collect(chat), request)).toMatchObject({
    choices: [{ message: { content: "ab" }, content_filter_results: filters }],
  });
  const cloud = { remote_model: "gpt-oss:120b", remote_host: "https://ollama.com:443" };
  const line = (content: string, done: boolean) =>
    JSON.stringify({ model: "m", ...cloud, logprobs: [content], message: { content }, done });
  const lines = read("ollama", `${line("a", false)}\n${line("b", true)}\n`);
  expect(getWire("ollama").encodeResponse(collect(lines), request)).toMatchObject({
    ...cloud,
    logprobs: ["a", "b"],
    message: { content: "ab" },
  });
});

test("openai-chat: thinking after a single piece of text keeps the server's field of it", () => {
  const chunk = (delta: object) => ({ id: "x", choices: [{ index: 0, delta }] });
  const events = read(
    "openai-chat",
    sse(...["a", "b"].map((reasoning) => chunk({ reasoning })), chunk({ content: "Hi" }), chunk({ reasoning: "c" })),
  );
  const state = [{ wire: "openai-chat", kind: "#spelling", data: "reasoning", quiet: true }];
  expect(events.filter(({ type }) => type === "thinking-start")).toEqual([
    { type: "thinking-start", state },
    { type: "thinking-start", state },
  ]);
});

test("openai-chat: the text of another choice than the answer is left out, however its chunks are written", () => {
  const chunk = (index: number, content: string) => ({
    ...{ id: "x", object: "chat.completion.chunk", created: 1, model: "m" },
    choices: [{ index, delta: { content }, finish_reason: null }],
  });
  const events = read("openai-chat", sse(chunk(1, "a"), chunk(0, "no"), chunk(1, "b")));
  expect(events.flatMap((event) => (event.type === "text" ? event.text : [])).join("")).toBe("ab");
});

test("openai-responses: what a damaged event has lost from the middle of a text is neither doubled nor passed over", () => {
  const place = { output_index: 0, item_id: "m", content_index: 0 };
  const delta = (delta: string) => ({ type: "response.output_text.delta", ...place, delta });
  const stream = (...pieces: (object | string)[]) =>
    read(
      "openai-responses",
      sse(
        { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "m", content: [] } },
        ...pieces,
        { type: "response.output_text.done", ...place, text: "Hello world" },
        { type: "response.completed", response: { status: "completed", output: [] } },
      ),
    );
  const said = (events: Event[]) => events.flatMap((event) => (event.type === "text" ? event.text : [])).join("");
  const damaged = '{"type":"response.output_text.del';
  const lost = stream(delta("Hel"), damaged, delta("world"));
  expect([said(lost), lost.at(-1)]).toMatchObject(["Helworld", { reason: "error", error: { code: "upstream" } }]);
  const mended = stream(delta("Hello"), damaged);
  expect([said(mended), mended.at(-1)]).toMatchObject(["Hello world", { reason: "stop" }]);
  const tidied = stream(delta("\nHello"), delta(" world"));
  expect([said(tidied), tidied.at(-1)]).toMatchObject(["\nHello world", { reason: "stop" }]);
});

test.each([{}, { output_index: 0 }])("openai-responses: items that are only done are all read, each with %j", (place) => {
  const call = (name: string) => ({ type: "function_call", call_id: `call_${name}`, name, arguments: `{"${name}":1}` });
  const said = { type: "message", content: [{ type: "output_text", text: "Hi" }] };
  const frames = [said, call("f"), call("g"), call("g")].map((item) => ({ type: "response.output_item.done", ...place, item }));
  const { content } = collect(read("openai-responses", sse(...frames, { type: "response.completed", response: { output: [] } })));
  expect(content).toMatchObject([{ text: "Hi" }, { name: "f", json: '{"f":1}' }, { name: "g", json: '{"g":1}' }]);
  expect(content).toHaveLength(3); // an item that is done twice is one item
});

test("openai-responses: a message that only the last event has is not lost, although the reasoning was streamed", () => {
  const reasoning = { type: "reasoning", id: "rs", summary: [{ type: "summary_text", text: "Hm" }] };
  const message = { type: "message", id: "m", content: [{ type: "output_text", text: "Hi" }] };
  const events = read(
    "openai-responses",
    sse(
      { type: "response.output_item.done", output_index: 0, item: reasoning },
      { type: "response.completed", response: { output: [reasoning, message] } },
    ),
  );
  expect(collect(events).content).toMatchObject([
    { type: "thinking", text: "Hm" },
    { type: "text", text: "Hi" },
  ]);
});

test("openai-chat: unknown fields of a call's function reach a client of the same API, in whichever chunks they come", () => {
  const chunk = (fn: object) => ({ id: "x", choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: "a", function: fn }] } }] });
  const stream = sse(
    chunk({ name: "f", arguments: '{"a"', early: 1 }),
    chunk({ arguments: ":1}", early: 1, late: "x" }),
    { id: "x", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    "[DONE]",
  );
  const fn = { name: "f", arguments: '{"a":1}', early: 1, late: "x" };
  const events = read("openai-chat", stream);
  expect(getWire("openai-chat").encodeResponse(collect(events), request)).toMatchObject({
    choices: [{ message: { tool_calls: [{ function: fn }] } }],
  });
  const again = collect(read("openai-chat", written("openai-chat", events)));
  expect(getWire("openai-chat").encodeResponse(again, request)).toMatchObject({
    choices: [{ message: { tool_calls: [{ function: fn }] } }],
  });
});
