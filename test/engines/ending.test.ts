// Which blanks of an answer are text, and how an answer ends.
import { expect, test } from "vitest";
import type { Event, Finish, Request, ToolEnd } from "../../src/core/nouns.ts";
import { Ending, mintIds } from "../../src/engines/ending.ts";

const text = (said: string): Event => ({ type: "text", text: said });
const mark = (raw: string): Event => ({ type: "control", raw });
const call: Event[] = [
  { type: "tool-start", id: "a", index: 0, name: "f" },
  { type: "tool-end", id: "a", index: 0, name: "f", arguments: {} },
];
const unreadable: Event = { type: "malformed", raw: "<call>", code: "no-name", reason: "there is no name" };
const thought: Event[] = [{ type: "thinking-start" }, { type: "thinking-delta", text: "Hm." }, { type: "thinking-end" }];

const read = (events: readonly Event[]): Event[] => {
  const ending = new Ending();
  return [...events.flatMap((event) => ending.see([event])), ...ending.flush([])];
};

test.each<[string, Event[], Event[]]>([
  ["between calls", [...call, text("\n"), text(" "), ...call], [...call, mark("\n"), mark(" "), ...call]],
  ["before the first call", [text("\n"), ...call], [mark("\n"), ...call]],
  ["after the last call", [...call, text("\n")], [...call, mark("\n")]],
  ["between thinking and a call", [...thought, text("\n\n"), ...call], [...thought, mark("\n\n"), ...call]],
  ["around a malformed call", [unreadable, text("\n"), unreadable], [unreadable, mark("\n"), unreadable]],
  [
    "with control marks among them",
    [...call, text("\n"), mark("<x>"), text("\n"), ...call],
    [...call, mark("\n"), mark("<x>"), mark("\n"), ...call],
  ],
])("blanks %s are dropped", (_, events, expected) => {
  expect(read(events)).toEqual(expected);
});

test.each<[string, Event[]]>([
  ["before words", [text("\n"), text("Hi"), ...call]],
  ["behind words", [text("Hi"), text("\n"), ...call]],
  ["between a call and text", [...call, text("\n"), text("So.")]],
  ["between thinking and text", [...thought, text("\n\n"), text("Hi")]],
  ["alone", [text("\n")]],
])("blanks %s are kept", (_, events) => {
  expect(read(events)).toEqual(events);
});

const cut: Event[] = [call[0]!, { ...(call[1] as ToolEnd), truncated: true }];
const stop: Finish = { type: "finish", reason: "stop" };
const length: Finish = { type: "finish", reason: "length" };

test.each<[string, Event[], Finish, Partial<Finish>]>([
  ["words", [text("Hi")], stop, { reason: "stop" }],
  ["a call", call, stop, { reason: "tool-calls" }],
  ["a call and a truncated one", [...call, ...cut], stop, { reason: "tool-calls" }],
  ["a truncated call", cut, stop, { reason: "length" }],
  ["an unreadable call", [unreadable], stop, { reason: "error", error: expect.objectContaining({ code: "malformed-call" }) }],
  ["a call and an unreadable one", [...call, unreadable], stop, { reason: "tool-calls" }],
  ["a call, at the token limit", call, length, { reason: "length" }],
])("an answer with %s has the right finish reason", (_, events, given, expected) => {
  const ending = new Ending();
  ending.see(events);
  expect(ending.finish(given)).toEqual({ ...given, ...expected });
});

test("no call id is used twice in a conversation, even if the client leaves out the first rounds", () => {
  const ids: string[] = [];
  const window: Request["messages"] = [];
  for (let round = 0; round < 9; round++) {
    if (round === 4) window.splice(0, window.length - 1);
    const mint = mintIds({ model: "", messages: window });
    const calls = [mint(0), mint(1)];
    ids.push(...calls);
    window.push({ role: "assistant", content: calls.map((id) => ({ type: "tool-call", id, name: "f", arguments: {} })) });
  }
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.slice(0, 3)).toEqual(["call_0", "call_1", "call_2"]);
});

test("a model may begin with any number of blanks", () => {
  const blanks = Array.from({ length: 200_000 }, () => text("\n"));
  expect(read([...blanks, text("Hi")])).toEqual([...blanks, text("Hi")]);
});
