// Wires with one place for all text and another for all calls, and servers that want results together: a change of order is reported.
import { expect, test } from "vitest";
import type { Message, Part, WireId } from "../../src/core/nouns.ts";
import { inRounds, withResultsFirst } from "../../src/wires/adapt-messages.ts";
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

test.each(["openai-chat", "ollama"] as const)("%s: text after a call moves before it, with a warning", (wire) => {
  const mixed = [text("A"), call("c1"), text("B"), call("c2"), text("\nC")];
  expect(whole(wire, mixed)).toEqual({ said: ["AB\nC", "tool-call", "tool-call"], warnings: TOLD });
});

test.each(["openai-chat", "ollama"] as const)("%s: neighbouring texts are joined as they are", (wire) => {
  expect(whole(wire, [text("A"), text("B"), call("c1")])).toEqual({ said: ["AB", "tool-call"], warnings: [] });
});

test.each(["openai-responses", "anthropic", "gemini"] as const)("%s keeps the order", (wire) => {
  expect(whole(wire, [text("A"), call("c1"), text("B")])).toEqual({ said: ["A", "tool-call", "B"], warnings: [] });
});

const image = { type: "media", mediaType: "image/png", data: "AAAA" } as const;
const user = (...content: (Part & { type: "text" | "media" })[]): Message => ({ role: "user", content });
const result = (id: string): Message => ({ role: "tool", id, name: "f", output: id });
const assistant = (...content: Part[]): Message => ({ role: "assistant", content });
const round = [user({ type: "text", text: "go" }), assistant(call("a"), call("b"), call("c"))];

test.each(["openai-chat", "ollama"] as const)(
  "%s gets the results of a round together, and what was between them after the last",
  (wire) => {
    const messages = [
      ...round,
      result("a"),
      user(image),
      result("b"),
      user({ type: "text", text: "x" }),
      result("c"),
      assistant(text("done")),
    ];
    const { body, context } = getWire(wire).encodeRequest({ model: "m", messages, from: "gemini" });
    const { messages: sent } = body as { messages: { role: string }[] };
    expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "tool", "user", "user", "assistant"]);
    expect(context.warnings.map(({ message }) => message)).toContain(
      "what was said between the results of a round was sent as messages after them",
    );
  },
);

test("a client's own server gets the client's order", () => {
  const messages = [...round, result("a"), user(image), result("b"), result("c")];
  const { body } = getWire("openai-chat").encodeRequest({ model: "m", messages, from: "openai-chat" });
  expect((body as { messages: { role: string }[] }).messages.map(({ role }) => role)).toEqual(
    "user assistant tool user tool tool".split(" "),
  );
});

test("only results of the preceding round move", () => {
  const system: Message = { role: "system", content: [{ type: "text", text: "s" }] };
  const messages = [system, user(image), result("lost"), ...round, user(image), result("other"), result("b")];
  expect(withResultsFirst(messages)).toEqual([system, user(image), result("lost"), ...round, result("b"), user(image), result("other")]);
});

test("calls in two messages of the model, with results after both, are one round (Anthropic)", () => {
  const messages = [user({ type: "text", text: "go" }), assistant(text("A"), call("a")), assistant(call("b")), result("a"), result("b")];
  expect(inRounds(messages)).toEqual([messages[0], assistant(text("A"), call("a"), call("b")), result("a"), result("b")]);
  for (const wire of ["openai-chat", "ollama"] as const) {
    const { body, context } = getWire(wire).encodeRequest({ model: "m", messages, from: "anthropic" });
    const { messages: sent } = body as { messages: { role: string }[] };
    expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool"]);
    expect(context.warnings).toEqual([]);
  }
  const apart = [assistant(call("a")), result("a"), assistant(call("b")), assistant(text("no answer"))];
  expect(inRounds(apart)).toBe(apart);
});
