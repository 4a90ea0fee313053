// Inkling: the name before a call is no text, and every kind of message is read as what it is.
import { expect, test } from "vitest";
import { inkling } from "../../src/dialects/inkling.ts";
import { lines } from "./scanning.ts";

const call = (name: string) => `${name}<|content_invoke_tool_json|>{"name":"${name}","args":{"a":1}}<|end_message|>`;
const said = (input: string) => lines(inkling, input).filter((line) => !line.startsWith("control"));

test.each<[string, string, string[]]>([
  ["a call first, as the prompt opens the message", call("f"), ['call f{"a":1}']],
  ["the same with the mark that opens it", `<|message_model|>${call("f")}`, ['call f{"a":1}']],
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
  ["a message that is nothing but a name", "<|message_model|>hm<|end_message|>", ["text hm"]],
  ["a call that is cut", 'f<|content_invoke_tool_json|>{"name":"f","args":{"a":"x', ['cut f{"a":"x"}']],
  [
    "a call that cannot be read",
    `f<|content_invoke_tool_json|>{{<|end_message|><|message_model|>${call("g")}`,
    ["malformed bad-arguments", 'call g{"a":1}'],
  ],
])("%s", (_, input, expected) => {
  expect(said(input)).toEqual(expected);
});
