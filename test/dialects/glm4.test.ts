// GLM-4's message headers, the first of which is in the prompt or missing.
import { describe, expect, test } from "vitest";
import { glm4 } from "../../src/dialects/glm4.ts";
import { lines } from "./scanning.ts";

const tools = [{ name: "get_weather" }, { name: "get_time" }];
const read = (text: string) => lines(glm4, text, { tools });

describe("a name on the first line of a message, with an object below it, is a call", () => {
  test.each([
    ["after the prompt", 'get_weather\n{"city": "Oslo"}<|observation|>', ['call get_weather{"city":"Oslo"}', "control <|observation|>"]],
    ["with the blank of the template", "get_time \n{}", ["call get_time{}"]],
    ["twice", 'get_weather\n{"city": "Oslo"}<|assistant|>get_time\n{}', ['call get_weather{"city":"Oslo"}', "call get_time{}"]],
    [
      "behind words",
      "\nI look.<|assistant|>get_time\n{}<|observation|>",
      ["control \n", "text I look.", "call get_time{}", "control <|observation|>"],
    ],
    ["after the newline of an empty header", "\nget_time\n{}", ["call get_time{}"]],
    ["behind thinking", "<think>Hm.</think>\n\nget_time\n{}", ["thinking Hm.", "call get_time{}"]],
    ["ended by a mark", "<think>Hm.<|assistant|>get_time\n{}", ["thinking Hm.", "call get_time{}"]],
    ["of an undeclared tool, after the mark", 'ok<|assistant|>f\n{"a": 1}', ["text ok", 'call f{"a":1}']],
    ["as Python prints it", "get_weather\n{'city': 'Oslo'}", ['call get_weather{"city":"Oslo"}']],
    ["cut inside its arguments", 'get_weather\n{"city": "Os', ['cut get_weather{"city":"Os"}']],
    ["cut before its arguments", "get_weather\n", ["cut get_weather{}"]],
    ["with unreadable arguments", "get_time\n{]<|assistant|>get_time\n{}", ["malformed bad-arguments", "call get_time{}"]],
  ])("%s", (_, text, expected) => expect(read(text)).toEqual(expected));
});

describe("anything else is text", () => {
  test.each([
    ["an undeclared name", 'config\n{"a": 1}', ['text config\n{"a": 1}']],
    ["a name on a later line", "\nSo:\nget_time\n{}", ["control \n", "text So:\nget_time\n{}"]],
    ["a name on a line with other words", "get_time is a tool\n{}", ["text get_time is a tool\n{}"]],
    ["a name without an object", "get_time\nIt is noon.", ["text get_time\nIt is noon."]],
    ["words after the mark", "a<|assistant|>你好\n{}", ["text a", "control <|assistant|>", "text 你好\n{}"]],
    ["an empty header", "a<|assistant|>\nb", ["text a", "control <|assistant|>\n", "text b"]],
    ["half a name", "get_ti", ["text get_ti"]],
  ])("%s", (_, text, expected) => expect(read(text)).toEqual(expected));

  test("and is passed on as soon as it cannot be a name", () => {
    const scanner = glm4.createScanner({ tools });
    expect(scanner.feed("get_")).toEqual([]);
    expect(scanner.feed("rich")).toEqual([{ type: "text", text: "get_rich" }]);
    expect(scanner.feed("<|assistant|>")).toEqual([]);
    expect(scanner.feed("你")).toEqual([
      { type: "control", raw: "<|assistant|>" },
      { type: "text", text: "你" },
    ]);
  });
});
