import { describe, expect, test } from "vitest";
import type { Message, Part, ToolCall, ToolResult } from "../../src/core/nouns.ts";
import { callsOf, hasCalls, leadingSystem, resultText, textOf, thinkingOf, turnsOf } from "../../src/dialects/transcript.ts";

const text = (text: string) => ({ type: "text" as const, text });
const system = (said: string): Message => ({ role: "system", content: [text(said)] });
const user = (said: string): Message => ({ role: "user", content: [text(said)] });
const call = (id: string, name: string): ToolCall => ({ type: "tool-call", id, name, arguments: {} });
const assistant = (...content: Part[]): Message => ({ role: "assistant", content });
const result = (id: string, name = "", output = id): ToolResult => ({ role: "tool", id, name, output });

/** The names of results, and the ids of the calls they answer. */
const answers = (...messages: Message[]) =>
  turnsOf(messages)
    .flatMap((turn) => (turn.side === "assistant" ? turn.rounds : []))
    .flatMap((round) => round.results.map((answer) => [answer.name, answer.call?.id]));

describe("turns", () => {
  test("an assistant's turn contains its rounds and the following answer", () => {
    const messages = [user("hi"), assistant(text("a"), call("1", "f")), result("1"), assistant(text("b")), user("bye")];
    expect(
      turnsOf(messages).map((turn) => (turn.side === "assistant" ? turn.rounds.map((round) => round.results.length) : turn.side)),
    ).toEqual(["user", [1, 0], "user"]);
  });
  test("only what follows the last user message is current", () => {
    const messages = [user("hi"), assistant(text("a")), user("bye"), assistant(text("b")), system("x"), assistant()];
    expect(turnsOf(messages).flatMap((turn) => (turn.side === "assistant" ? [turn.current] : []))).toEqual([false, true, true]);
  });
  test("results that follow no call are a round of their own", () => {
    const [turn] = turnsOf([result("1", "f")]);
    expect(turn).toMatchObject({ side: "assistant", rounds: [{ results: [{ name: "f" }] }] });
    expect(turn?.side === "assistant" && turn.rounds[0]?.said).toBeUndefined();
  });
});

describe("a result finds its call", () => {
  const both = assistant(call("1", "f"), call("2", "g"));

  test("by id, in any order", () => {
    expect(answers(both, result("2"), result("1", "wrong"))).toEqual([
      ["g", "2"],
      ["f", "1"],
    ]);
  });
  test("by name otherwise", () => {
    expect(answers(both, result("x", "g"), result("y", "f"))).toEqual([
      ["g", "2"],
      ["f", "1"],
    ]);
  });
  test("by order otherwise", () => {
    expect(answers(both, result(""), result(""))).toEqual([
      ["f", "1"],
      ["g", "2"],
    ]);
  });
  test("even if an id is used again in a later round", () => {
    expect(answers(assistant(call("1", "f")), result("1"), assistant(call("1", "g")), result("1"))).toEqual([
      ["f", "1"],
      ["g", "1"],
    ]);
  });
  test("even if two calls of a round have the same id", () => {
    expect(answers(assistant(call("1", "f"), call("1", "g")), result("1"), result("1"))).toEqual([
      ["f", "1"],
      ["g", "1"],
    ]);
  });
  test("even if the user spoke in between", () => {
    expect(answers(assistant(call("1", "f")), user("wait"), result("1"))).toEqual([["f", "1"]]);
  });
  test("and is named unknown without one", () => {
    expect(answers(result(""))).toEqual([["unknown", undefined]]);
  });
});

test("the first message is the system text if its role is system or developer", () => {
  const developer: Message = { role: "developer", content: [text("Be brief.")] };
  expect(leadingSystem([developer, user("hi")])).toEqual({ system: [text("Be brief.")], rest: [user("hi")] });
  expect(leadingSystem([system("Be brief."), user("hi")])).toEqual({ system: [text("Be brief.")], rest: [user("hi")] });
  expect(leadingSystem([user("hi"), developer])).toEqual({ rest: [user("hi"), developer] });
});

test("an answer is split into text, thinking and calls", () => {
  const parts: Part[] = [{ type: "thinking", text: "hm" }, text("a"), call("1", "f"), text("b")];
  expect([textOf(parts), thinkingOf(parts), callsOf(parts)]).toEqual(["ab", "hm", [call("1", "f")]]);
  expect(hasCalls({ said: parts, results: [] })).toBe(true);
});

test("a result is text as it is, text parts joined, or JSON", () => {
  expect(resultText('{"a":1}')).toBe('{"a":1}');
  expect(
    resultText([
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ]),
  ).toBe("ab");
  expect(resultText({ a: [1, null] })).toBe('{"a": [1, null]}');
  expect(resultText([])).toBe("[]");
});
