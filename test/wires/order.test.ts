// Whole answers in wires that have one place for all text and another for all calls: the order is told.
import { expect, test } from "vitest";
import type { Part, WireId } from "../../src/core/nouns.ts";
import { getWire } from "../../src/wires/registry.ts";

const text = (said: string): Part => ({ type: "text", text: said });
const call = (id: string): Part => ({ type: "tool-call", id, name: "f", arguments: {} });
const asked = { model: "m", messages: [] };

function whole(wire: WireId, content: Part[]) {
  const warnings: string[] = [];
  const body = getWire(wire).encodeResponse({ content, finish: { reason: "stop" } }, asked, {
    warn: ({ message }) => warnings.push(message),
  });
  const read = getWire(wire).decodeResponse(body).content;
  return { said: read.map((part) => (part.type === "text" ? part.text : part.type)), warnings };
}
const TOLD = ["an answer with thinking or text behind its calls was sent as thinking, text and calls, in this order"];

test.each(["openai-chat", "ollama"] as const)("%s: what is said behind a call moves before it, which is told", (wire) => {
  const mixed = [text("A"), call("c1"), text("B"), call("c2"), text("\nC")];
  expect(whole(wire, mixed)).toEqual({ said: ["AB\nC", "tool-call", "tool-call"], warnings: TOLD });
});

test.each(["openai-chat", "ollama"] as const)("%s: texts side by side are one, as they came", (wire) => {
  expect(whole(wire, [text("A"), text("B"), call("c1")])).toEqual({ said: ["AB", "tool-call"], warnings: [] });
});

test.each(["openai-responses", "anthropic", "gemini"] as const)("%s keeps the order", (wire) => {
  expect(whole(wire, [text("A"), call("c1"), text("B")])).toEqual({ said: ["A", "tool-call", "B"], warnings: [] });
});
