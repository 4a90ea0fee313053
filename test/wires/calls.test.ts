import { describe, expect, test } from "vitest";
import type { Json, WireId } from "../../src/core/nouns.ts";
import { Calls } from "../../src/wires/calls.ts";
import { getWire } from "../../src/wires/registry.ts";

const decode = (id: WireId, body: object) =>
  getWire(id).decodeRequest({ path: "/v1beta/models/m:generateContent", query: {}, headers: {}, body });

describe("ids of calls", () => {
  const turn = (args: { [key: string]: Json }) => [
    { role: "model", parts: [{ functionCall: { name: "f", args } }] },
    { role: "user", parts: [{ functionResponse: { name: "f", response: { output: "r" } } }] },
  ];
  test.each<[string, object[]]>([
    ["a string in the arguments", turn({ tool_call_id: "call_0" })],
    ["the id of another call", [{ role: "model", parts: [{ functionCall: { id: "call_0", name: "g", args: {} } }] }]],
  ])("what was sent keeps its ids, whatever comes later: %s", (_title, later) => {
    const first = [{ role: "user", parts: [{ text: "go" }] }, ...turn({})];
    const { messages } = decode("gemini", { contents: first });
    expect(decode("gemini", { contents: [...first, ...later] }).messages.slice(0, messages.length)).toEqual(messages);
  });
  test("an id that comes again is another call's, and results follow the latest", () => {
    const calls = new Calls();
    expect(calls.add(undefined, "f").id).toBe("call_0");
    expect(calls.add("call_0", "g").id).toBe("call_1");
    expect(calls.answer({ id: "call_0", name: undefined })).toEqual({ id: "call_1", name: "g" });
    expect(calls.answer({ id: undefined, name: "f" })).toEqual({ id: "call_0", name: "f" });
  });
  test("a result without an id answers the first of its name that waits, or else the first that waits", () => {
    const calls = new Calls();
    for (const name of ["f", "g", "f", "g"]) calls.add(undefined, name);
    const answered = (name: string | undefined) => calls.answer({ id: undefined, name }).id;
    expect(["g", "f", "other", "g", "f"].map(answered)).toEqual(["call_1", "call_0", "call_2", "call_3", "call_4"]);
  });
  test("a long history without ids, and one of ids that are all the same, is read in one go", () => {
    const many = Array.from({ length: 40_000 }, (_, i) => i); // by searching for each id, minutes
    const calls = new Calls();
    for (const i of many) calls.add(i % 2 ? "same" : undefined, i < many.length / 2 ? "a" : "b");
    const ids = many.map((i) => calls.answer({ id: undefined, name: i < many.length / 2 ? "b" : "a" }).id);
    expect(new Set(ids).size).toBe(many.length);
  });
});
