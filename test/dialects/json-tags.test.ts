// Families with calls like Hermes' and their own prompts: what is special about each.
import { describe, expect, test } from "vitest";
import type { Request } from "../../src/core/nouns.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { getDialect } from "../../src/dialects/registry.ts";
import { lines } from "./scanning.ts";

const f = '{"name": "f", "arguments": {}}';
const g = '{"name": "g", "arguments": {"a": 1}}';

describe("their outputs", () => {
  test.each<[string, string, string, string[]]>([
    [
      "hunyuan",
      "answers in tags, and says who speaks",
      "<think>\nHm.\n</think>\n<answer>\n助手：Hi.\n</answer>",
      ["thinking \nHm.\n", "control \n<answer>\n助手：", "text Hi.", "control \n</answer>"],
    ],
    [
      "hunyuan",
      "calls in them",
      `<think>a</think>\n<answer>\n<tool_calls>[${f}, ${g}]</tool_calls>\n</answer>`,
      ["thinking a", "control \n<answer>\n", "call f{}", 'call g{"a":1}', "control ]", "control </tool_calls>", "control \n</answer>"],
    ],
    ["hunyuan", "and needs none of that", "助手：Hi.", ["control 助手：", "text Hi."]],
    ["hunyuan", "elsewhere it is text", "a 助手：b <answer>c\n</answer>", ["text a 助手：b <answer>c\n</answer>"]],
    [
      "hunyuan",
      "a call in thinking is thought",
      `<think><tool_calls>[${f}]</tool_calls></think>b`,
      [`thinking <tool_calls>[${f}]</tool_calls>`, "text b"],
    ],
    [
      "apriel",
      "thinks up to words",
      `Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]\nHi.\n[END FINAL RESPONSE]\n<|end|>`,
      ["thinking Hm.\n", "text Hi.\n", "control [END FINAL RESPONSE]", "text \n", "control <|end|>"],
    ],
    [
      "apriel",
      "and opens it only where the output begins",
      `Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]\nHi.\nHere are my reasoning steps:\n1. Hm.`,
      ["thinking Hm.\n", "text Hi.\nHere are my reasoning steps:\n1. Hm."],
    ],
    [
      "apriel",
      "and calls with ids",
      `<tool_calls>[{"name": "f", "arguments": {}, "id": "x"}]</tool_calls>`,
      ["call f{}", "control ]", "control </tool_calls>"],
    ],
    [
      "minimax-m1",
      "one call below the other",
      `<tool_calls>\n${f}\n${g}\n</tool_calls>`,
      ["call f{}", 'call g{"a":1}', "control \n</tool_calls>"],
    ],
    ["nemotron", "a single call without its list", `<TOOLCALL>${f}</TOOLCALL>`, ["call f{}", "control </TOOLCALL>"]],
    [
      "nemotron",
      "a list of no calls says nothing",
      "<TOOLCALL>[]</TOOLCALL>Hi.",
      ["control <TOOLCALL>[]", "control </TOOLCALL>", "text Hi."],
    ],
    ["nemotron", "the tag in prose", "The <TOOLCALL> tag", ["text The <TOOLCALL> tag"]],
    [
      "exaone",
      "calls in one line",
      `<tool_call>${f}</tool_call>\n<tool_call>${g}</tool_call>`,
      ["call f{}", "control </tool_call>", "text \n", 'call g{"a":1}', "control </tool_call>"],
    ],
    [
      "hermes",
      "LongCat's tag",
      `<longcat_tool_call>\n${f}\n</longcat_tool_call><longcat_tool_call>\n${g}\n</longcat_tool_call>`,
      ["call f{}", "control \n</longcat_tool_call>", 'call g{"a":1}', "control \n</longcat_tool_call>"],
    ],
  ])("%s: %s", (id, _, input, expected) => {
    expect(lines(getDialect(id), input)).toEqual(expected);
  });

  test("an output that continues the words that open Apriel's thinking begins in thinking", () => {
    const prompt = getDialect("apriel").render({ model: "", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] });
    expect(lines(getDialect("apriel"), "Hm.\n[BEGIN FINAL RESPONSE]\nHi.", { prompt })).toEqual(["thinking Hm.\n", "text Hi."]);
  });
});

describe("their prompts", () => {
  const say = (role: "system" | "user", text: string) => ({ role, content: [{ type: "text" as const, text }] });
  const asked = (setting: string, messages: Request["messages"], thinking?: boolean) =>
    promptText(getDialect(setting).render({ model: "", messages }, thinking === undefined ? {} : { thinking }));

  test.each([
    ["nemotron", "<think>\n", "<think></think>"],
    ["nemotron/llama-nemotron-super-v1.5", "<|end_header_id|>\n\n", "<think>\n\n</think>\n\n"],
    ["smollm3", "<|im_start|>assistant\n", "<think>\n\n</think>\n"],
  ])("%s: a word in the prompt turns thinking off, and so does the caller", (setting, thinks, silent) => {
    expect(asked(setting, [say("user", "Hi")]).endsWith(thinks)).toBe(true);
    expect(asked(setting, [say("system", "Be brief. /no_think"), say("user", "Hi")]).endsWith(silent)).toBe(true);
    expect(asked(setting, [say("user", "Hi")], false).endsWith(silent)).toBe(true);
  });

  test("nemotron: the last word about thinking counts, and the words are removed", () => {
    const prompt = asked("nemotron", [say("system", "/no_think"), say("user", "Hi /think")]);
    expect(prompt).toBe("<SPECIAL_10>System\n\n\n<SPECIAL_11>User\nHi\n<SPECIAL_11>Assistant\n<think>\n");
  });

  test("the older Llama-Nemotrons get the thinking setting in the system message", () => {
    const head = "<|start_header_id|>system<|end_header_id|>\n\n";
    const setting = "nemotron/llama-nemotron-nano-v1";
    expect(asked(setting, [say("system", "Be brief.")], true)).toContain(`${head}detailed thinking on\n\nBe brief.<|eot_id|>`);
    expect(asked(setting, [say("user", "Hi")], false)).toContain(`${head}detailed thinking off<|eot_id|>`);
    expect(asked(setting, [say("user", "Hi")])).toContain(`${head}<|eot_id|>`);
  });

  test("smollm3: a system text with /system_override replaces the default one", () => {
    expect(asked("smollm3", [say("system", "Be brief. /system_override"), say("user", "Hi")])).toBe(
      "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
    );
  });

  test("hermes: in Nous' prompt, a schema with several types, or unknown ones, is rendered", () => {
    const properties = {
      a: { type: ["string", "null"] },
      b: { anyOf: [] },
      c: { type: "object", additionalProperties: { type: "number" } },
    };
    const tools = [{ name: "f", parameters: { type: "object", properties } }];
    const text = promptText(getDialect("hermes/hermes-3-llama-3.1-8b").renderTools(tools));
    expect(text).toContain(
      '"description": "f(a: Union[str,Any], b: Union[], c: dict[str, float]) - \n\n    Args:\n        a(Union[str,Any]): ',
    );
  });
});
