import { describe, expect, test } from "vitest";
import type { Json, Media, Message, Text, WireId } from "../../src/core/nouns.ts";
import { Calls } from "../../src/wires/calls.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import { validateRequest } from "./validators.ts";

const decode = (id: WireId, body: object) =>
  getWire(id).decodeRequest({ path: "/v1beta/models/m:generateContent", query: {}, headers: {}, body });

describe("call ids", () => {
  const turn = (args: { [key: string]: Json }) => [
    { role: "model", parts: [{ functionCall: { name: "f", args } }] },
    { role: "user", parts: [{ functionResponse: { name: "f", response: { output: "r" } } }] },
  ];
  test.each<[string, object[]]>([
    ["an argument that equals an id", turn({ tool_call_id: "call_0" })],
    ["the id of another call", [{ role: "model", parts: [{ functionCall: { id: "call_0", name: "g", args: {} } }] }]],
  ])("messages already sent keep their ids, whatever follows: %s", (_title, later) => {
    const first = [{ role: "user", parts: [{ text: "go" }] }, ...turn({})];
    const { messages } = decode("gemini", { contents: first });
    expect(decode("gemini", { contents: [...first, ...later] }).messages.slice(0, messages.length)).toEqual(messages);
  });
  test("an id that is used again is a new call, and results go to the latest", () => {
    const calls = new Calls();
    expect(calls.add(undefined, "f").id).toBe("call_0");
    expect(calls.add("call_0", "g").id).toBe("call_1");
    expect(calls.answer({ id: "call_0", name: undefined })).toEqual({ id: "call_1", name: "g" });
    expect(calls.answer({ id: undefined, name: "f" })).toEqual({ id: "call_0", name: "f" });
  });
  test("a result without an id answers the first open call of its name, or else the first open call", () => {
    const calls = new Calls();
    for (const name of ["f", "g", "f", "g"]) calls.add(undefined, name);
    const answered = (name: string | undefined) => calls.answer({ id: undefined, name }).id;
    expect(["g", "f", "other", "g", "f"].map(answered)).toEqual(["call_1", "call_0", "call_2", "call_3", "call_4"]);
  });
  test("a long history is read in linear time, without ids or with all ids the same", () => {
    const many = Array.from({ length: 40_000 }, (_, i) => i); // takes minutes if each id is searched for
    const calls = new Calls();
    for (const i of many) calls.add(i % 2 ? "same" : undefined, i < many.length / 2 ? "a" : "b");
    const ids = many.map((i) => calls.answer({ id: undefined, name: i < many.length / 2 ? "b" : "a" }).id);
    expect(new Set(ids).size).toBe(many.length);
  });
});

describe("calls that were never answered, and results without their call", () => {
  const text = (text: string): Text => ({ type: "text", text });
  const call = (id: string) => ({ type: "tool-call" as const, id, name: "f", arguments: {} });
  const result = (id: string, more: object = {}): Message => ({ role: "tool", id, name: "f", output: `result ${id}`, ...more });
  const user: Message = { role: "user", content: [text("Hi")] };
  const image: Media = { type: "media", mediaType: "image/png", data: "AAAA" };
  const asked: Message = { role: "assistant", content: [call("a"), call("b"), call("c")] };
  const sentBy = (id: WireId, ...messages: Message[]) => {
    const { body, context } = getWire(id).encodeRequest({ model: "m", messages });
    expect(validateRequest(id, body)).toEqual([]);
    return { body, warnings: context.warnings.map(({ message }) => message) };
  };
  const messagesOf = (id: WireId, ...messages: Message[]) => (sentBy(id, ...messages).body as { messages: Json[] }).messages;

  test.each(listWires().map(({ id }) => id))("%s gets a result for every call, and every stray result as text", (id) => {
    const strays = [result("z", { output: { x: 1 }, media: [image] }), result("y", { isError: true })];
    const { body, warnings } = sentBy(id, user, asked, ...strays, result("b"), user, asked, result("a"));
    const printed = JSON.stringify(body);
    expect(printed.match(/No result was given/g)).toHaveLength(4);
    expect(printed).toContain(JSON.stringify('[result of f, call z]\n{"x":1}').slice(1, -1));
    expect(printed).toContain("[result of f, call y]\\nError: result y");
    expect(printed).toContain("AAAA");
    expect(warnings).toEqual(expect.arrayContaining([expect.stringMatching("call without"), expect.stringMatching("result without")]));
  });
  test("the user's text, and a second result of the same call, come after the results", () => {
    expect(messagesOf("openai-chat", user, asked, result("b"), result("b"), user, user).slice(2)).toEqual([
      { role: "tool", tool_call_id: "b", content: "result b" },
      { role: "tool", tool_call_id: "a", content: "Error: No result was given." },
      { role: "tool", tool_call_id: "c", content: "Error: No result was given." },
      { role: "user", content: "[result of f, call b]\nresult b" },
      { role: "user", content: "Hi" },
      { role: "user", content: "Hi" },
    ]);
  });
  test("a truncated call that is left out needs no result", () => {
    const cut: Message = { role: "assistant", content: [text("Well."), { ...call("a"), truncated: true }] };
    expect(messagesOf("openai-chat", user, cut, user)).toHaveLength(3);
    expect(sentBy("openai-responses", user, cut, user).body).toMatchObject({
      input: [{}, {}, { status: "incomplete" }, { call_id: "a" }, {}],
    });
  });
  test("messages already sent stay the same as the conversation goes on", () => {
    const turns = [user, asked, result("a"), user, asked, user];
    const before = messagesOf("openai-chat", ...turns.slice(0, 4));
    expect(messagesOf("openai-chat", ...turns).slice(0, before.length)).toEqual(before);
  });
  test.each<[WireId, object]>([
    [
      "openai-chat",
      {
        messages: [
          { role: "tool", tool_call_id: "z", content: "ok" },
          { role: "assistant", content: null, tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }] },
          { role: "user", content: "Hi" },
        ],
      },
    ],
    [
      "openai-responses",
      {
        input: [
          { type: "function_call_output", call_id: "z", output: "ok" },
          { type: "function_call", call_id: "a", name: "f", arguments: "{}", status: "completed" },
        ],
      },
    ],
    [
      "gemini",
      {
        contents: [
          { role: "user", parts: [{ functionResponse: { id: "z", name: "f", response: { output: "ok" } } }] },
          { role: "model", parts: [{ functionCall: { id: "a", name: "f", args: {} }, thoughtSignature: "S" }] },
        ],
      },
    ],
    [
      "ollama",
      {
        messages: [
          { role: "tool", content: "ok", tool_name: "f", tool_call_id: "z" },
          { role: "assistant", content: "", tool_calls: [{ id: "a", function: { index: 0, name: "f", arguments: {} } }] },
        ],
      },
    ],
  ])("%s: requests of its own clients are not repaired", (id, body) => {
    const { body: sent, context } = getWire(id).encodeRequest(decode(id, { model: "m", ...body }));
    expect(JSON.parse(JSON.stringify(sent))).toMatchObject(body);
    expect(context.warnings).toEqual([]);
  });
});
