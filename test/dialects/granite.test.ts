// Granite 3.2: thinking is opened and closed by sentences.
import { expect, test } from "vitest";
import { granite } from "../../src/dialects/granite.ts";
import { cutAnyhow, lines } from "./scanning.ts";

const opener = "Here is my thought process:";
const closer = "Here's my response:";
const call = '<tool_call>{"name": "f", "arguments": {}}';

test.each<[string, string, string[]]>([
  ["closed by its phrase", `${opener} a\n${closer} b`, ["thinking  a\n", "text  b"]],
  ["not open after it", `${opener}a${closer}${closer} <think>c</think>`, ["thinking a", `text ${closer} `, "thinking c"]],
  ["not closed by a tag", `${opener}a</think>b`, ["thinking a</think>b"]],
  ["ended by a stop token", `${opener} a<|end_of_text|>b`, ["thinking  a", "control <|end_of_text|>", "text b"]],
  [
    "a call in thinking that never closes is a call",
    `${opener} a ${call}</tool_call>`,
    ["thinking  a ", "call f{}", "control </tool_call>"],
  ],
  ["a call in thinking that closes is thinking", `${opener} a ${call} ${closer} b`, [`thinking  a ${call} `, "text  b"]],
  ["the phrase anywhere else is text", `So. ${opener} ${closer}`, [`text So. ${opener} ${closer}`]],
  ["the phrase after a call is text", `${call}\n${closer}`, ["call f{}", `text \n${closer}`]],
  ["half a phrase is text", opener.slice(0, -1), [`text ${opener.slice(0, -1)}`]],
])("thinking in phrases: %s", (_, input, expected) => {
  expect(lines(granite, input)).toEqual(expected);
});

test.each<[string, string, string[]]>([
  ["are not text", "<think>a</think><response>b</response>", ["thinking a", "control <response>", "text b", "control </response>"]],
  [
    "nor after a call",
    `<think>a</think><response>b${call}</tool_call></response>`,
    ["thinking a", "control <response>", "text b", "call f{}", "control </tool_call>", "control </response>"],
  ],
  [
    "close once",
    "<think>a</think><response></response></response>",
    ["thinking a", "control <response>", "control </response>", "text </response>"],
  ],
  ["are text anywhere else", "a<response>b</response>", ["text a<response>b</response>"]],
])("the answer tags after thinking %s", (_, input, expected) => {
  expect(lines(granite, input)).toEqual(expected);
});

test("the phrases that open and close thinking are not part of it", () => {
  expect(cutAnyhow(granite, `${opener}a${closer}`)).toEqual([
    { type: "thinking-start", raw: opener },
    { type: "thinking-delta", text: "a" },
    { type: "thinking-end", raw: closer },
  ]);
});

test("version 3: where a server has removed the mark, a list of calls at the start of the answer is read", () => {
  const tools = [{ name: "f" }];
  const list = '[{"arguments": {"a": 1}, "name": "f"}, {"name": "f", "arguments": {}}]';
  expect(lines(granite, ` ${list}`, { tools })).toEqual(["text  ", 'call f{"a":1}', "call f{}", "control ]"]);
  for (const text of [`So: ${list}`, '[{"arguments": {}, "name": "g"}]', '[{"a": 1}]'])
    expect(lines(granite, text, { tools })).toEqual([`text ${text}`]);
  expect(lines(granite, list)).toEqual([`text ${list}`]);
});
