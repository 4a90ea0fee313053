// In-band tools over a scripted engine.
import { expect, test } from "vitest";
import { collect } from "../../../src/core/fold.ts";
import type { Event, Request } from "../../../src/core/nouns.ts";
import { createInband } from "../../../src/engines/inband/inband.ts";
import { createScripted } from "../../../src/engines/scripted.ts";
import { all } from "../../events.ts";

const request: Request = {
  model: "m",
  messages: [{ role: "user", content: [{ type: "text", text: "Look." }] }],
  tools: [{ name: "look" }],
};

const eventsOf = (script: Event[]): Promise<Event[]> =>
  all(createInband(createScripted([script]), { dialect: "hermes" }).generate(request));
const answer = async (script: Event[]) => collect(await eventsOf(script));

test("a call that the server parsed by itself, although it got no tools, is a call", async () => {
  const { content, finish } = await answer([
    { type: "text", text: "Let me look." },
    { type: "tool-start", id: "a", index: 0, name: "look" },
    { type: "tool-end", id: "a", index: 0, name: "look", arguments: {} },
    { type: "finish", reason: "tool-calls" },
  ]);
  expect(content).toMatchObject([{ type: "text" }, { type: "tool-call", id: "a" }]);
  expect(finish).toEqual({ reason: "tool-calls" });
});

test("calls that a server parses and calls that it leaves in the text are numbered together, one after the other", async () => {
  const call = '<tool_call>\n{"name": "look", "arguments": {"at": 1}}\n</tool_call>';
  const native = (id: string, index: number): Event[] => [
    { type: "tool-start", id, index, name: "look" },
    { type: "tool-delta", id, json: "{}" },
    { type: "tool-end", id, index, name: "look", arguments: {} },
  ];
  const events = await eventsOf([
    { type: "text", text: call },
    ...native("call_0", 0),
    ...native("b", 1),
    { type: "text", text: `${call}<tool_call>\n{"name": "look", "arguments": {"at` },
    ...native("c", 2),
    { type: "text", text: call },
    { type: "finish", reason: "tool-calls" },
  ]);
  const starts = events.flatMap((event) => (event.type === "tool-start" ? event : []));
  const ends = events.flatMap((event) => (event.type === "tool-end" ? event : []));
  expect(starts.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(ends.map(({ index, id }) => [index, id])).toEqual(starts.map(({ index, id }) => [index, id]));
  expect(new Set(starts.map(({ id }) => id)).size).toBe(7);
  expect(ends.map(({ truncated }) => truncated === true)).toEqual([false, false, false, false, true, false, false]);
  const order = events.flatMap(({ type }) => (type === "tool-start" || type === "tool-end" ? type : []));
  expect(order).toEqual(Array.from({ length: 14 }, (_, i) => (i % 2 === 0 ? "tool-start" : "tool-end")));
  const deltas = events.flatMap((event) => (event.type === "tool-delta" ? event.id : []));
  expect(new Set(deltas)).toEqual(new Set(starts.map(({ id }) => id)));
});

test("blanks between thinking and a call are dropped, even if the server separated the thinking", async () => {
  const { content } = await answer([
    { type: "thinking-start" },
    { type: "thinking-delta", text: "Hm." },
    { type: "thinking-end" },
    { type: "text", text: "\n\n" },
    { type: "usage", outputTokens: 5 },
    { type: "text", text: '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>' },
    { type: "finish", reason: "stop" },
  ]);
  expect(content.map(({ type }) => type)).toEqual(["thinking", "tool-call"]);
});

test("nothing overtakes text that is held back as the possible beginning of a call", async () => {
  const state = [{ wire: "gemini" as const, kind: "thoughtSignature", data: "x" }];
  const stop: Event = { type: "finish", reason: "stop" };
  const thinking: Event[] = [{ type: "thinking-start" }, { type: "thinking-delta", text: "Hm." }, { type: "thinking-end" }];
  const said = async (...between: Event[]) => {
    const { content } = await answer([{ type: "text", text: "1 <" }, ...between, { type: "text", text: "3" }, stop]);
    return content.map((part) => ("text" in part ? part.text : part.type));
  };
  expect(await said({ type: "text", text: "2", state })).toEqual(["1 <23"]);
  expect(await said(...thinking)).toEqual(["1 <", "Hm.", "3"]);
  const refused = await eventsOf([{ type: "text", text: "1 <" }, { type: "refusal", text: "No." }, stop]);
  expect(refused.map((event) => ("text" in event ? event.text : event.type))).toEqual(["1 ", "<", "No.", "finish"]);
});

test("thinking never lies within a call: a call that it interrupts is truncated", async () => {
  const events = await eventsOf([
    { type: "text", text: '<tool_call>\n{"name": "look", "arguments": {"at": "a' },
    { type: "thinking-start" },
    { type: "thinking-delta", text: "Hm." },
    { type: "thinking-end" },
    { type: "text", text: "b" },
    { type: "finish", reason: "stop" },
  ]);
  expect(events.map(({ type }) => type)).toEqual(
    "tool-start tool-delta tool-end thinking-start thinking-delta thinking-end text finish".split(" "),
  );
  expect(events[2]).toMatchObject({ arguments: { at: "a" }, truncated: true });
});

test("an abort does not wait until the server has said what it is", async () => {
  const engine = { ...createScripted([[{ type: "finish", reason: "stop" }]]), about: () => new Promise<never>(() => {}) };
  for (const dialect of ["auto", "hermes"]) {
    const controller = new AbortController();
    const events = all(createInband(engine, { dialect }).generate({ ...request, toolChoice: "required" }, { signal: controller.signal }));
    controller.abort();
    expect(await events).toMatchObject([{ type: "finish", error: { code: "aborted" } }]);
  }
});

test("a request that no grammar holds does not ask the server what it is", async () => {
  let asked = 0;
  const about = async () => {
    asked++;
    return {};
  };
  const engine = { ...createScripted([[{ type: "finish", reason: "stop" }]]), about };
  await all(createInband(engine, { dialect: "hermes" }).generate(request));
  expect(asked).toBe(0);
});

test("results are written in the order of their calls, in whatever order the client sends them", async () => {
  const asked: Request[] = [];
  const script = createScripted((sent) => {
    asked.push(sent);
    return [{ type: "finish", reason: "stop" }];
  });
  const call = (id: string) => ({ type: "tool-call" as const, id, name: "look", arguments: {} });
  const result = (id: string) => ({ role: "tool" as const, id, name: "look", output: `result ${id}` });
  const broken = { type: "malformed" as const, id: "b", raw: "look(", code: "bad-arguments" as const, reason: "odd" };
  const messages: Request["messages"] = [
    ...request.messages,
    { role: "assistant", content: [call("a"), broken, call("c")] },
    result("c"),
    result("b"),
    result("a"),
  ];
  await all(createInband(script, { dialect: "hermes" }).generate({ ...request, messages }));
  expect(JSON.stringify(asked[0]?.messages.at(-1)).match(/result \w/g)).toEqual(["result a", "result b", "result c"]);
});
