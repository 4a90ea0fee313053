import { describe, expect, test } from "vitest";
import type { Request } from "../../src/core/nouns.ts";
import type { Prompt } from "../../src/dialects/dialect.ts";
import { gemma4 } from "../../src/dialects/gemma4.ts";
import { json } from "../../src/dialects/json.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { getDialect, listDialects } from "../../src/dialects/registry.ts";
import { lines } from "./scanning.ts";

const firstEvent = (prompt: Prompt | string, dialect = gemma4) => dialect.createScanner({ prompt }).feed("Hm.")[0]?.type;

describe("the tail of the prompt decides whether the model is thinking", () => {
  const user: Request["messages"][number] = { role: "user", content: [{ type: "text", text: "Hi" }] };
  const call: Request["messages"] = [
    { role: "assistant", content: [{ type: "tool-call", id: "1", name: "f", arguments: {} }] },
    { role: "tool", id: "1", name: "f", output: "done" },
  ];

  test("it is after a result, with thinking on", () => {
    const prompt = gemma4.render({ model: "", messages: [user, ...call] }, { thinking: true });
    expect(promptText(prompt)).toMatch(/<\|channel>thought\n$/);
    expect(firstEvent(prompt)).toBe("thinking-start");
    expect(firstEvent(promptText(prompt))).toBe("thinking-start");
  });
  test("it is not in a new turn, nor after an empty block", () => {
    for (const thinking of [true, false]) expect(firstEvent(gemma4.render({ model: "", messages: [user] }, { thinking }))).toBe("text");
  });
  test("an opener of several tokens counts", () => {
    const { render } = getDialect("kimi-k3");
    const prompt = render({ model: "", messages: [user] });
    for (const tail of [prompt, promptText(prompt)]) expect(firstEvent(tail, getDialect("kimi-k3"))).toBe("thinking-start");
    expect(firstEvent(render({ model: "", messages: [user] }, { thinking: false }), getDialect("kimi-k3"))).toBe("text");
  });
  test("an opener inside a message does not count", () => {
    expect(firstEvent("<|turn>user\n<|channel>thought\n<turn|>\n<|turn>model\n")).toBe("text");
  });
  test("a tag as plain text is an opener, too", () => {
    expect(firstEvent("<|im_start|>assistant\n<think>\n", json)).toBe("thinking-start");
    expect(firstEvent("<|im_start|>assistant\n<think>\n\n</think>\n\n", json)).toBe("text");
  });
});

describe("text of users and tools never decides whether the model is thinking", () => {
  const openers = "<think> <seed:think> [THINK] <|channel>thought\n <|channel|>analysis<|message|> hm";
  const conversation = (said: string, result: string): Request["messages"] => [
    { role: "user", content: [{ type: "text", text: said }] },
    { role: "assistant", content: [{ type: "tool-call", id: "1", name: "f", arguments: {} }] },
    { role: "tool", id: "1", name: "f", output: result },
  ];
  const cases = listDialects().flatMap((dialect) =>
    dialect.variants.flatMap((variant) => [true, false].map((thinking) => ({ id: dialect.id, dialect, variant, thinking }))),
  );

  test.each(cases)("$id, $variant, thinking $thinking", ({ dialect, variant, thinking }) => {
    for (const count of [1, 3]) {
      const rendered = (text: string) =>
        dialect.render({ model: "", messages: conversation(text, text).slice(0, count) }, { variant, thinking });
      const state = firstEvent(rendered("Hi"), dialect);
      expect(firstEvent(rendered(openers), dialect)).toBe(state);
      expect(firstEvent(promptText(rendered(openers)), dialect)).toBe(state);
    }
  });
});

describe("after thinking whose opener was in a prompt that is not known, the answer is read like any other", () => {
  const tools = [{ name: "f", parameters: { type: "object", properties: { a: { type: "string" } } } }];
  test.each([
    ["hermes", '{"name": "f", "arguments": {"a":"x"}}', ['call f{"a":"x"}']],
    ["glm4", 'f\n{"a":"x"}', ['call f{"a":"x"}']],
    ["pythonic", '[f(a="x")]', ['call f{"a":"x"}', "control ]"]],
    ["granite", "<response>ok</response>", ["control <response>", "text ok", "control </response>"]],
    ["hunyuan", "<answer>ok</answer>", ["control <answer>", "text ok", "control </answer>"]],
  ])("%s", (id, answer, expected) => {
    const dialect = getDialect(id);
    expect(lines(dialect, `hm</think>${answer}`, { tools })).toEqual(["text hm</think>", ...expected]);
    expect(lines(dialect, `hm</think>${answer}`, { tools, startInThinking: true })).toEqual(["thinking hm", ...expected]);
  });
});
