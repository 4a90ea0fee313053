// Calls in sections, after headers that name them: DeepSeek V3 and V3.1, Kimi K2. Each row is an input and its events.
import { describe, expect, test } from "vitest";
import { deepseekV31 } from "../../src/dialects/deepseek-v3.1.ts";
import { deepseekV3 } from "../../src/dialects/deepseek-v3.ts";
import type { Dialect } from "../../src/dialects/dialect.ts";
import { harmony } from "../../src/dialects/harmony.ts";
import { hermes } from "../../src/dialects/hermes.ts";
import { kimiK2 } from "../../src/dialects/kimi-k2.ts";
import { mistral } from "../../src/dialects/mistral.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { cutAnyhow, endsOf, lines } from "./scanning.ts";

const kimi = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}";
const fenced = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}";
const tight = "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}";

test("Kimi K2: section marks in the singular are accepted", () => {
  const section = `<|tool_call_section_begin|> noise ${kimi}<|tool_call_end|> noise <|tool_call_section_end|>`;
  expect(lines(kimiK2, `a${section}b`)).toEqual([
    "text a",
    "call f{}",
    "control <|tool_call_end|>",
    "control  noise <|tool_call_section_end|>",
    "text b",
  ]);
});

test("Kimi K2: a stop token in brackets is not a list", () => {
  const call = (args: string) => `<|tool_call_begin|>f:0<|tool_call_argument_begin|>${args}`;
  const truncated = { name: "f", arguments: {}, truncated: true };
  for (const end of ["[EOS]", "[EOS] \n"]) expect(endsOf(cutAnyhow(kimiK2, call(`{"a":${end}`)))).toMatchObject([truncated]);
  expect(lines(kimiK2, call('{"a":["EOS"]}'))).toEqual(['call f{"a":["EOS"]}']);
});

describe("Kimi K2: an id that was rewritten still names its tool, if the tool is declared", () => {
  const tools = [
    { name: "look", parameters: { properties: { at: {} } } },
    { name: "read_file_2", parameters: { properties: { path: {} } } },
  ];
  const call = (id: string, args = "{}") => `<|tool_call_begin|>${id}<|tool_call_argument_begin|>${args}`;
  test.each([
    ["functions_look_1", 'call look{"at":1}'],
    ["functionslook3", 'call look{"at":1}'],
    ["functions.look5", 'call look{"at":1}'],
    ["function.look:0", 'call look{"at":1}'],
    ["functions_read_file_2_7", 'call read_file_2{"at":1}'],
    ["functions.read_file_2", 'call read_file_2{"at":1}'],
    // It names no tool, but the arguments fit one.
    ["call00003", 'call look{"at":1}'],
    ["call_9f8e7d6c5b4a", 'call look{"at":1}'],
    ["chatcmpl-tool-9f8e7d6c5b4a", 'call look{"at":1}'],
    // It names another tool.
    ["functions_listen_1", 'call functions_listen_1{"at":1}'],
    ["call_somebody", 'call call_somebody{"at":1}'],
  ])("%s", (id, expected) => {
    const [{ nativeId } = {}] = endsOf(cutAnyhow(kimiK2, call(id, '{"at":1}'), { tools }));
    expect(nativeId).toBe(id);
    expect(lines(kimiK2, call(id, '{"at":1}'), { tools })).toEqual([expected]);
  });
  test("arguments that cannot be read are reported as such", () => {
    const found = (args: string) => lines(kimiK2, call("call00003", args), { tools, maxDepth: 2 });
    expect(found('{"at":1 2}')).toEqual(["malformed bad-arguments"]);
    expect(found('{"at":[[]]}')).toEqual(["malformed too-deep", "control ]]}"]);
    expect(found('{"at":1')).toEqual(["malformed no-name"]);
  });
  test("without declared tools it is used as written, and an id without a name is not a call", () => {
    expect(lines(kimiK2, call("functions_look_1"))).toEqual(["call functions_look_1{}"]);
    expect(lines(kimiK2, call("call_9f8e7d6c5b4a"))).toEqual(["malformed no-name"]);
  });
  test("a tool may be named like an id", () => {
    expect(lines(kimiK2, call("functions.call_9f8e7d6c:0"), { tools: [{ name: "call_9f8e7d6c" }] })).toEqual(["call call_9f8e7d6c{}"]);
  });
});

test("Mistral: a declared name may contain blanks", () => {
  const text = '[TOOL_CALLS]get weather{"a": 1}';
  expect(lines(mistral, text, { tools: [{ name: "get weather" }] })).toEqual(['call get weather{"a":1}']);
  expect(lines(mistral, text)).toEqual(["malformed no-name"]);
});

describe("text between an object and a mark other than its closer is control", () => {
  test.each<[string, Dialect, string, string[]]>([
    ["blanks, section end", kimiK2, `${kimi}\n<|tool_calls_section_end|>x`, ["control \n", "control <|tool_calls_section_end|>", "text x"]],
    ["blanks, stop", kimiK2, `${kimi} \n<|im_end|>`, ["control  \n", "control <|im_end|>"]],
    [
      "blanks, section end, in a section",
      kimiK2,
      `<|tool_calls_section_begin|>${kimi}\n<|tool_calls_section_end|>`,
      ["control \n<|tool_calls_section_end|>"],
    ],
    ["fence, section end", deepseekV3, `${fenced}\n\`\`\`<｜tool▁calls▁end｜>`, ["control \n```", "control <｜tool▁calls▁end｜>"]],
    [
      "fence, section end, in a section",
      deepseekV3,
      `<｜tool▁calls▁begin｜>${fenced}\n\`\`\`<｜tool▁calls▁end｜>`,
      ["control \n```<｜tool▁calls▁end｜>"],
    ],
    ["cut fence", deepseekV3, `${fenced}\n\``, ["control \n`"]],
    ["cut fence, in a section", deepseekV3, `<｜tool▁calls▁begin｜>${fenced}\n\`\``, ["control \n``"]],
    ["fence, cut section end", deepseekV3, `<｜tool▁calls▁begin｜>${fenced}\n\`\`\`<｜tool▁calls▁e`, ["control \n```<｜tool▁calls▁e"]],
    ["fence, next call, in a section", deepseekV3, `<｜tool▁calls▁begin｜>${fenced}\n\`\`\`\n${fenced}`, ["call f{}"]],
    ["fence, next call", deepseekV3, `${fenced}\n\`\`\`\n${fenced}`, ["control \n```\n", "call f{}"]],
    ["blanks, next call, in a section", deepseekV31, `<｜tool▁calls▁begin｜>${tight} \n${tight}`, ["call f{}"]],
    ["fence, end", deepseekV3, `${fenced}\n\`\`\``, ["control \n```"]],
    ["fence, other text", deepseekV3, `${fenced}\n\`\`\`\nDone`, ["control \n```", "text \nDone"]],
    ["blanks and other text", deepseekV31, `${tight} \nDone <｜x`, ["text  \nDone <｜x"]],
  ])("%s", (_, dialect, input, behind) => {
    expect(lines(dialect, input)).toEqual(["call f{}", ...behind]);
  });
});

describe("separate arguments may be a string that contains them", () => {
  const held = (text: string): string => JSON.stringify(text);
  test.each<[string, Dialect, (args: string) => string]>([
    ["kimi-k2", kimiK2, (args) => kimi.replace("{}", args)],
    ["deepseek-v3", deepseekV3, (args) => fenced.replace("{}", args)],
    ["deepseek-v3.1", deepseekV31, (args) => tight.replace("{}", args)],
    ["mistral", mistral, (args) => `[TOOL_CALLS]f[ARGS]${args}`],
    ["harmony", harmony, (args) => `<|channel|>commentary to=functions.f <|constrain|>json<|message|>${args}`],
  ])("%s", (_, dialect, call) => {
    expect(lines(dialect, call(held(' {"a": "\\"}", "n": 1.0}')))).toEqual(['call f{"a":"\\"}","n":1}']);
    expect(lines(dialect, call('""'))).toEqual(["call f{}"]);
    expect(lines(dialect, call(held('{"a": 1} x')))).toEqual(["malformed bad-arguments"]);
    expect(lines(dialect, call('"x"'))).toEqual(["malformed bad-arguments"]);
    expect(lines(dialect, call(held('{"a": "b').slice(0, -1)))).toEqual(['cut f{"a":"b"}']);
    expect(lines(dialect, call(held('{"a": {"b": {}}}')), { maxDepth: 2 })[0]).toBe("malformed too-deep");
  });
});

describe("after an unreadable call the section goes on", () => {
  const section = (calls: string): string => `<｜tool▁calls▁begin｜>${calls}<｜tool▁calls▁end｜>x`;
  const closed = "<｜tool▁call▁end｜>";
  test.each<[string, string, string[]]>([
    ["bad arguments", `${tight.replace("{}", "{bad")}${closed}\n${tight}`, ["malformed bad-arguments", "call f{}"]],
    ["noise", `hm${tight}`, ["malformed no-name", "call f{}"]],
    [
      "a name too long",
      `${tight.replace("f", "f".repeat(300))}${closed}\n${tight}`,
      ["malformed too-long", expect.stringMatching(/^control f/), "call f{}"],
    ],
  ])("%s", (_, calls, expected) => {
    expect(lines(deepseekV31, section(calls))).toEqual([...expected, "control <｜tool▁calls▁end｜>", "text x"]);
  });
  test("to its end", () => {
    expect(lines(deepseekV31, section(tight.replace("{}", "{bad")))).toEqual(["malformed bad-arguments", "text x"]);
  });
});

test("the bytes of the arguments are those of the object, so rendering gives back what was read", () => {
  const object = '{"a": 1.0,\n "b":[ ]}';
  const rows: [Dialect, string][] = [
    [deepseekV3, `<｜tool▁calls▁begin｜>${fenced.replace("{}", object)}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`],
    [deepseekV31, `<｜tool▁call▁begin｜>f<｜tool▁sep｜>\n\`\`\`json\n${object}\n\`\`\``],
    [kimiK2, kimi.replace("{}", `\n ${object}`)],
    [mistral, `[TOOL_CALLS]f[ARGS] ${object}`],
    [hermes, `<tool_call>{"name": "f", "arguments": ${JSON.stringify(` ${object}`)}}</tool_call>`],
  ];
  for (const [dialect, input] of rows) {
    const events = cutAnyhow(dialect, input);
    expect(endsOf(events)).toMatchObject([{ json: object }]);
    expect(events.map((event) => (event.type === "tool-delta" ? event.json : "")).join("")).toBe(object);
  }
  const [dialect, input] = rows[0] as [Dialect, string];
  expect(promptText(dialect.renderToolCalls(endsOf(cutAnyhow(dialect, input))))).toBe(input);
});

test("a call without its beginning is not lost in the section (kimi-k2)", () => {
  const call = "<|tool_call_begin|>functions.g:1<|tool_call_argument_begin|>{}<|tool_call_end|>";
  const text = `<|tool_calls_section_begin|>functions.f:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>${call}<|tool_calls_section_end|>`;
  expect(lines(kimiK2, text).filter((line) => !line.startsWith("control"))).toEqual(["malformed no-name", "call g{}"]);
});

test.each<[Dialect, string, string]>([
  [deepseekV31, `${tight}}`, "<｜tool▁call▁end｜>"],
  [deepseekV3, `${fenced}}\n\`\`\``, "<｜tool▁call▁end｜>"],
  [kimiK2, `${kimi}}`, "<|tool_call_end|>"],
])("$id: a superfluous brace behind the object is neither text nor a call", (dialect, call, close) => {
  const text = call + close;
  expect(lines(dialect, `${text}${text}x`).filter((line) => !line.startsWith("control"))).toEqual(["call f{}", "call f{}", "text x"]);
  const section = `<｜tool▁calls▁begin｜>${text}${text}<｜tool▁calls▁end｜>x`;
  expect(lines(dialect, `${call} x`)).toEqual(expect.arrayContaining(["text  x"]));
  if (dialect !== kimiK2)
    expect(lines(dialect, section).filter((line) => !line.startsWith("control"))).toEqual(["call f{}", "call f{}", "text x"]);
});

describe("the name in a header", () => {
  const header = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>";
  test.each<[string, Dialect, string, string]>([
    ["an empty name is malformed", deepseekV3, `${header}\n\`\`\`json\n{}\n\`\`\``, "malformed no-name"],
    ["so is a blank name", deepseekV3, `${header}  \n{}`, "malformed no-name"],
    ["the type word may be a name", deepseekV31, `${header}{}`, "call function{}"],
    ["the input ends after the type", deepseekV3, header, "malformed no-name"],
    ["the input ends in the name", deepseekV3, `${header}f`, "malformed no-name"],
    ["the input ends after the name", deepseekV3, `${header}f\n`, "cut f{}"],
    ["the input ends in the fence", deepseekV3, `${header}f\n\`\`\`j`, "cut f{}"],
    ["the input ends after the fence", deepseekV3, `${header}f\n\`\`\`json`, "cut f{}"],
    ["the input ends after the separator", deepseekV31, "<｜tool▁call▁begin｜>f<｜tool▁sep｜>", "cut f{}"],
    ["the input ends in a mark after the name", deepseekV31, "<｜tool▁call▁begin｜>f<｜tool▁sep｜><｜to", "cut f{}"],
    ["a list after the name", deepseekV31, "<｜tool▁call▁begin｜>f<｜tool▁sep｜>[]<｜tool▁call▁end｜>", "malformed bad-arguments"],
  ])("%s", (_, dialect, input, expected) => {
    expect(lines(dialect, input)).toEqual([expected]);
  });
  test("is emitted at its newline", () => {
    expect(deepseekV3.createScanner().feed(`${header}f\n`)).toMatchObject([{ type: "tool-start", name: "f" }]);
  });
});

test("distilled models write ASCII for bars, for underscores, or for both", () => {
  const own = `<｜tool▁calls▁begin｜>${fenced}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>x`;
  const barred = own.replaceAll("｜", "|");
  for (const input of [own, barred, own.replaceAll("▁", "_"), barred.replaceAll("▁", "_")])
    expect(lines(deepseekV3, input).filter((line) => !line.startsWith("control"))).toEqual(["call f{}", "text x"]);
});

describe("missing arguments after a header mean none", () => {
  const kimiCall = (args: string) => `<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>${args}<|tool_call_end|>`;
  const tightCall = (args: string) => `<｜tool▁call▁begin｜>f<｜tool▁sep｜>${args}<｜tool▁call▁end｜>`;
  const fencedCall = (args: string) => `<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n\`\`\`json\n${args}\n\`\`\`<｜tool▁call▁end｜>`;
  test.each<[string, Dialect, (args: string) => string]>([
    ["kimi-k2", kimiK2, kimiCall],
    ["deepseek-v3.1", deepseekV31, tightCall],
    ["deepseek-v3", deepseekV3, fencedCall],
    ["mistral", mistral, (args) => `[TOOL_CALLS]f[ARGS]${args}[TOOL_CALLS]f[ARGS]{}`],
  ])("%s", (_, dialect, call) => {
    for (const args of ["", " ", "null", " null\n"]) {
      const [first] = lines(dialect, call(args));
      expect(first).toBe("call f{}");
    }
  });
  test("but a name may begin like null", () => {
    expect(lines(deepseekV3, fencedCall("{}").replace("f\n", "nullify\n"))[0]).toBe("call nullify{}");
  });
  test("and a call cut by a stop token before its arguments is truncated", () => {
    expect(lines(mistral, "[TOOL_CALLS]f[ARGS]</s>")[0]).toBe("cut f{}");
  });
});
