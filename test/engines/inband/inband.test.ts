// In-band tools over an engine that says what it was told to say.
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

const answer = async (script: Event[]) =>
  collect(await all(createInband(createScripted([script]), { dialect: "hermes" }).generate(request)));

test("a server that reads a call by itself, though it was told of no tools, has made one", async () => {
  const { content, finish } = await answer([
    { type: "text", text: "Let me look." },
    { type: "tool-start", id: "a", index: 0, name: "look" },
    { type: "tool-end", id: "a", index: 0, name: "look", arguments: {} },
    { type: "finish", reason: "tool-calls" },
  ]);
  expect(content).toMatchObject([{ type: "text" }, { type: "tool-call", id: "a" }]);
  expect(finish).toEqual({ reason: "tool-calls" });
});

test("blanks between thinking and a call are nobody's text, whoever told the thinking from it", async () => {
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
