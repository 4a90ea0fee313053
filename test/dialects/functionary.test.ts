// Functionary: a name followed by an object is a call; anything else is text.
import { expect, test } from "vitest";
import { functionaryV31 } from "../../src/dialects/functionary-v3.1.ts";
import { functionaryV32 } from "../../src/dialects/functionary-v3.2.ts";
import { lines } from "./scanning.ts";

const tools = [{ name: "get_time" }];

test.each<[string, string, string[]]>([
  [
    "two calls",
    '<function=f>{"a": 1}</function><function=g>{}</function>',
    ['call f{"a":1}', "control </function>", "call g{}", "control </function>"],
  ],
  [
    "a call after text",
    "I look.<function=f>{}</function><|eom_id|>",
    ["text I look.", "call f{}", "control </function>", "control <|eom_id|>"],
  ],
  ["an explanation of the format", "Write <function=NAME> and then", ["text Write <function=NAME> and then"]],
  ["a declared tool without its object", "<function=get_time>now</function>", ["malformed bad-arguments"]],
])("v3.1: %s", (_, input, expected) => {
  expect(lines(functionaryV31, input, { tools })).toEqual(expected);
});

test.each<[string, string, string[]]>([
  ["an answer", "all\nHello", ["control all\n", "text Hello"]],
  ["a call first, since the prompt ends with the mark", 'f\n{"a": 1}', ['call f{"a":1}']],
  ["two calls after text", "all\nI look.>>>f\n{}>>>g\n{}", ["control all\n", "text I look.", "call f{}", "call g{}"]],
  ["an answer after a call", "f\n{}>>>all\nDone.", ["call f{}", "control >>>all\n", "text Done."]],
  ["an answer without a recipient", "Hello, world!\nWhat's up?", ["text Hello, world!\nWhat's up?"]],
  ["words above each other", "Hello\nworld", ["text Hello\nworld"]],
  ["Python in an answer", "all\n>>> print(1)\n1\n>>>x\n1", ["control all\n", "text >>> print(1)\n1\n>>>x\n1"]],
  ["a declared tool without its object", "get_time\nnow", ["malformed bad-arguments"]],
  ["a truncated call", 'f\n{"a": "x', ['cut f{"a":"x"}']],
  ["cut before its object, a call", "get_time\n", ["cut get_time{}"]],
  ["also of an undeclared tool, after the mark", "all\nHm.>>>f\n", ["control all\n", "text Hm.", "cut f{}"]],
  ["one line", "Hello.\n", ["text Hello.\n"]],
])("v3.2: %s", (_, input, expected) => {
  expect(lines(functionaryV32, input, { tools })).toEqual(expected);
});
