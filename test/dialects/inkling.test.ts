// Inkling: the name before a call is not text, and every kind of message is read.
import { expect, test } from "vitest";
import { inkling } from "../../src/dialects/inkling.ts";
import { lines } from "./scanning.ts";

const call = (name: string) => `${name}<|content_invoke_tool_json|>{"name":"${name}","args":{"a":1}}<|end_message|>`;
const said = (input: string) => lines(inkling, input).filter((line) => !line.startsWith("control"));

test.each<[string, string, string[]]>([
  ["a call first, since the prompt opens the message", call("f"), ['call f{"a":1}']],
  ["the same with the opening mark", `<|message_model|>${call("f")}`, ['call f{"a":1}']],
  ["a call without a name before it", call("f").slice(1), ['call f{"a":1}']],
  [
    "a thought, an answer and two calls",
    `<|content_thinking|>Hm.<|end_message|><|message_model|><|content_text|>I look.<|end_message|><|message_model|>${call("f")}<|message_model|>${call("g")}<|content_model_end_sampling|>`,
    ["thinking Hm.", "text I look.", 'call f{"a":1}', 'call g{"a":1}'],
  ],
  ["thinking whose end is missing", `<|content_thinking|>Hm.<|message_model|>${call("f")}`, ["thinking Hm.", 'call f{"a":1}']],
  ["text without marks", "Hello, world!", ["text Hello, world!"]],
  ["one word without marks", "Hello", ["text Hello"]],
  ["an answer that names its author", "me<|content_text|>Hi.<|end_message|>", ["text Hi."]],
  ["a message with only a name", "<|message_model|>hm<|end_message|>", ["text hm"]],
  ["a truncated call", 'f<|content_invoke_tool_json|>{"name":"f","args":{"a":"x', ['cut f{"a":"x"}']],
  [
    "an unreadable call",
    `f<|content_invoke_tool_json|>{{<|end_message|><|message_model|>${call("g")}`,
    ["malformed bad-arguments", 'call g{"a":1}'],
  ],
])("%s", (_, input, expected) => {
  expect(said(input)).toEqual(expected);
});
