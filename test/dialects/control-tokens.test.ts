// A model that opens the next turn itself writes turn marks: they are never text, in any dialect.
import { describe, expect, test } from "vitest";
import type { Request } from "../../src/core/nouns.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { getDialect, listDialects } from "../../src/dialects/registry.ts";
import { cutAnyhow, endsOf, lines, textOf, thinkingOf } from "./scanning.ts";

const messages: Request["messages"] = [
  { role: "system", content: [{ type: "text", text: "Be brief." }] },
  { role: "user", content: [{ type: "text", text: "Hi" }] },
  { role: "assistant", content: [{ type: "text", text: "Hello" }] },
  { role: "user", content: [{ type: "text", text: "Bye" }] },
];

/**
 * Control tokens that are read as text: those that look like the XML or HTML of answers; Laguna's end, which no server shows; and Hermes'
 * first token, which is a word to Qwen.
 */
const TEXT: Readonly<Record<string, readonly string[]>> = {
  hermes: ["<|begin_of_text|>"],
  ling3: ["<role>", "</role>"],
  minicpm5: ["<s>"],
  laguna: ["〈|EOS|〉", "<system>", "</system>", "<user>", "</user>", "<assistant>"],
};

describe("control tokens are never text", () => {
  const cases = listDialects().flatMap((dialect) => dialect.variants.map((variant) => ({ id: dialect.id, dialect, variant })));
  test.each(cases)("$id, $variant", ({ dialect, variant }) => {
    const prompt = dialect.render({ model: "", messages }, { variant, bos: true });
    const tokens = prompt.filter((piece) => piece.control).map((piece) => piece.text);
    for (const token of new Set([...tokens, ...dialect.stops])) {
      if (/think/i.test(token) || TEXT[dialect.id]?.includes(token)) continue;
      const events = cutAnyhow(dialect, `a${token}b`);
      expect(textOf(events) + thinkingOf(events)).not.toContain(token);
    }
  });
});

describe("a stop token at the end of the output truncates a call, and is not part of its arguments", () => {
  const tools = [{ name: "f", parameters: { type: "object", properties: { n: { type: "number" }, a: { type: "string" } } } }];
  const call = { id: "call_0", name: "f", arguments: { a: "one two", n: 1234 } };
  const cases = listDialects().flatMap((dialect) => dialect.stops.map((mark) => ({ id: dialect.id, dialect, mark })));

  test.each(cases)("$id: $mark", ({ dialect, mark }) => {
    const text = promptText(dialect.renderToolCall(call));
    for (const blanks of ["", "\n"]) {
      const [end, ...others] = endsOf(cutAnyhow(dialect, text.slice(0, text.indexOf("one") + 3) + mark + blanks, { tools }));
      expect(others).toEqual([]);
      expect(end).toMatchObject({ name: "f", truncated: true, arguments: { a: "one" } });
    }
    const [end] = endsOf(cutAnyhow(dialect, text.slice(0, text.indexOf("1234") + 4) + mark, { tools }));
    expect(end).toMatchObject({ name: "f", truncated: true });
    expect(JSON.stringify(end?.arguments)).not.toContain(mark);
  });

  test.each(cases)("$id: $mark inside a string is part of the string", ({ dialect, mark }) => {
    const text = promptText(dialect.renderToolCall(call)).replace("one two", `one${mark}two`);
    const [end] = endsOf(cutAnyhow(dialect, text, { tools }));
    expect(end?.arguments.a).toBe(`one${mark}two`);
  });
});

test.each([
  ["mistral", '[THINK]a [TOOL_CALLS]f[ARGS]{"x": 1} b[/THINK]t', 'a [TOOL_CALLS]f[ARGS]{"x": 1} b'],
  [
    "kimi-k2",
    "<think>a <|tool_call_begin|>f:0<|tool_call_argument_begin|>{}<|tool_call_end|></think>t",
    "a <|tool_call_begin|>f:0<|tool_call_argument_begin|>{}<|tool_call_end|>",
  ],
  [
    "deepseek-v3.1",
    "<think>a <｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜></think>t",
    "a <｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
  ],
  [
    "kimi-k3",
    "<|open|>think<|sep|>a <|open|>tools<|sep|><|close|>tools<|sep|><|close|>think<|sep|>t",
    "a <|open|>tools<|sep|><|close|>tools<|sep|>",
  ],
  ["minimax-m3", "<mm:think>a ]<]minimax[>[<tool_call></mm:think>t", "a ]<]minimax[>[<tool_call>"],
  [
    "minimax-m3",
    '<mm:think>a ]<]minimax[>[<invoke name="f">]<]minimax[>[</invoke></mm:think>t',
    'a ]<]minimax[>[<invoke name="f">]<]minimax[>[</invoke>',
  ],
  ["internlm", "<think>a <|action_start|><|plugin|>{}<|action_end|></think>t", "a <|action_start|><|plugin|>{}<|action_end|>"],
])("%s: an ignored call inside thinking is thinking, with all its tokens", (id, input, thinking) => {
  expect(lines(getDialect(id), input, { callsInThinking: "ignore" })).toEqual([`thinking ${thinking}`, "text t"]);
});

test.each([
  ["gemma4", "<|channel>thought\na <|tool_call>so<channel|>t", ["thinking a ", "malformed no-name", "control <channel|>", "text t"]],
  ["gemma4", "<|channel>a <|tool_call>call:f{n:1<channel|>t", ["thinking a ", "malformed bad-arguments", "control <channel|>", "text t"]],
  ["mistral", "[THINK]a [TOOL_CALLS] b[/THINK]t", ["thinking a ", "malformed no-name", "control [/THINK]", "text t"]],
  ["mistral", "[THINK]a [TOOL_CALLS][/THINK]t", ["thinking a ", "malformed no-name", "control [/THINK]", "text t"]],
  [
    "kimi-k2",
    "<think>a <|tool_calls_section_begin|>b</think>t",
    ["thinking a ", "control <|tool_calls_section_begin|>b", "control </think>", "text t"],
  ],
  [
    "kimi-k2",
    "<think>a <|tool_calls_section_begin|><|tool_call_begin|>f:0<|tool_call_argument_begin|>{}</think>t",
    ["thinking a ", "call f{}", "control </think>", "text t"],
  ],
  ["kimi-k2", "<think>a <|tool_call_begin|>b</think>t", ["thinking a ", "malformed no-name", "control </think>", "text t"]],
  ["deepseek-v3.1", "<think>a <｜tool▁call▁begin｜>b</think>t", ["thinking a ", "malformed no-name", "control </think>", "text t"]],
  [
    "deepseek-v3",
    "<think>a <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}</think>t",
    ["thinking a ", "call f{}", "control </think>", "text t"],
  ],
  ["deepseek-v4", "<think>a <｜DSML｜tool_calls></think>t", ["thinking a ", "malformed no-name", "control </think>", "text t"]],
])("%s: a call left open inside thinking ends with the thinking, and the answer is text", (id, input, events) => {
  expect(lines(getDialect(id), input)).toEqual(events);
});
