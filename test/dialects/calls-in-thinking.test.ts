// Calls inside thinking: those that turn out to be thinking leave no trace, and the end of the thinking is found.
import { expect, test } from "vitest";
import { getDialect } from "../../src/dialects/registry.ts";
import { cutAnyhow, lines } from "./scanning.ts";

test("after calls that were only thinking, the answer is read as if they had not been there", () => {
  const list = '[f(a="x")]';
  expect(lines(getDialect("pythonic"), `<think>As in <|tool_call_start|>${list}<|tool_call_end|>?</think>${list}`)).toEqual([
    `thinking As in <|tool_call_start|>${list}<|tool_call_end|>?`,
    'call f{"a":"x"}',
    "control ]",
  ]);
  const call = '<tool_call>{"name": "f", "arguments": {}}';
  expect(lines(getDialect("hermes"), `<think>${call}</think>The closer is </tool_call>.`)).toEqual([
    `thinking ${call}`,
    "text The closer is </tool_call>.",
  ]);
  const object = '{"name": "f", "parameters": {}}';
  expect(
    lines(getDialect("json"), `<think>\`\`\`\n${object}\n</think>\`\`\`\n${object}\n\`\`\``, { callsInThinking: "promote-if-unclosed" }),
  ).toEqual([`thinking \`\`\`\n${object}\n`, "call f{}", "control \n```"]);
});

test("the end of the thinking ends an unreadable call, wherever a limit is", () => {
  const mistral = getDialect("mistral");
  const call = '[TOOL_CALLS]f[ARGS]{"a": 1 2 3 4 5 6 7 8 9}';
  for (let maxCallChars = 24; maxCallChars < call.length + 12; maxCallChars++)
    expect(cutAnyhow(mistral, `[THINK]hm${call}[/THINK]ok`, { maxCallChars }).slice(-2), String(maxCallChars)).toEqual([
      { type: "control", raw: "[/THINK]" },
      { type: "text", text: "ok" },
    ]);
});

test("only one closer belongs to thinking that a call has ended, and none after the next thinking", () => {
  const called = "[THINK]hm[TOOL_CALLS]f[ARGS]{}";
  const expected = ["thinking hm", "call f{}"];
  const mistral = getDialect("mistral");
  expect(lines(mistral, `${called}</think>I use </think>.`)).toEqual([...expected, "control </think>", "text I use </think>."]);
  expect(lines(mistral, `${called} so</think>I use </think>.`)).toEqual([
    ...expected,
    "text  so",
    "control </think>",
    "text I use </think>.",
  ]);
  expect(lines(mistral, `${called}[THINK]so[/THINK]I use </think>.`)).toEqual([...expected, "thinking so", "text I use </think>."]);
});
