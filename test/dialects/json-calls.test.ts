// Calls as JSON objects: what the vectors leave open. Each row is an input and its events.
import { describe, expect, test } from "vitest";
import type { Tool } from "../../src/core/nouns.ts";
import { cohere } from "../../src/dialects/cohere.ts";
import type { ScannerOptions } from "../../src/dialects/dialect.ts";
import { hermes } from "../../src/dialects/hermes.ts";
import { json } from "../../src/dialects/json.ts";
import { llama3 } from "../../src/dialects/llama3.ts";
import { mistral } from "../../src/dialects/mistral.ts";
import { phi4Mini } from "../../src/dialects/phi4-mini.ts";
import { getDialect } from "../../src/dialects/registry.ts";
import { xlam } from "../../src/dialects/xlam.ts";
import { cutAnyhow, lines, scanPieces } from "./scanning.ts";

const tools: Tool[] = [{ name: "f", parameters: { type: "object", properties: { a: { type: "string" } } } }];

describe("llama3", () => {
  const call = '{"name": "f", "parameters": {"a": "x"}}';

  test("a separator and a tag are never text", () => {
    expect(lines(llama3, `${call}; Done`)).toEqual(['call f{"a":"x"}', "control ;", "text  Done"]);
    expect(lines(llama3, `${call};\n{"answer": 42}`)).toEqual(['call f{"a":"x"}', "control ;", 'text \n{"answer": 42}']);
    expect(lines(llama3, `${call} <|python_tag|>print(1)`)).toEqual(['call f{"a":"x"}', "control  <|python_tag|>", "text print(1)"]);
  });
  test("after the tag only a call object is a call", () => {
    expect(lines(llama3, `So: <|python_tag|>${call}`)).toEqual(["text So: ", 'call f{"a":"x"}']);
    expect(lines(llama3, '<|python_tag|> {"x": 1}<|eom_id|>')).toEqual(["control <|python_tag|>", 'text  {"x": 1}', "control <|eom_id|>"]);
  });
  test("in a line of prose only a call of a declared tool is a call", () => {
    expect(lines(llama3, `Here: ${call} ok`, { tools })).toEqual(["text Here: ", 'call f{"a":"x"}', "text  ok"]);
    expect(lines(llama3, `Here: ${call} ok`)).toEqual([`text Here: ${call} ok`]);
    expect(lines(llama3, 'Here: {"name": "g", "parameters": {}}', { tools })).toEqual(['text Here: {"name": "g", "parameters": {}}']);
  });
  test("Llama 4: an object behind the text that Python's marks enclose is a call", () => {
    const marks = ["control <|python_start|>", "text Hm.", "control <|python_end|>"];
    expect(lines(llama3, `<|python_start|>Hm.<|python_end|>${call}`)).toEqual([...marks, 'call f{"a":"x"}']);
    expect(lines(llama3, `<|python_start|>Hm.<|python_end|>{"type": "function", ${call.slice(1)}`, { tools })).toEqual([
      ...marks,
      'call f{"a":"x"}',
    ]);
    expect(lines(llama3, '<|python_start|>Hm.<|python_end|>{"name": "g", "parameters": {}}', { tools }).at(-1)).toMatch(/^text/);
  });
  test("text behind a call in the line, or behind the tag, is text before a call of the next line", () => {
    const other = '{"name": "g", "parameters": {}}';
    expect(lines(llama3, `So: ${call} or\n${other}`, { tools })).toEqual(["text So: ", 'call f{"a":"x"}', `text  or\n${other}`]);
    expect(lines(llama3, `<|python_tag|>x = 1\n${other}`, { tools })).toEqual(["control <|python_tag|>", `text x = 1\n${other}`]);
  });
  test("after an unreadable object the next one is read", () => {
    expect(lines(llama3, `{"name": "f", "parameters": {${call}`)).toEqual(["malformed bad-arguments", 'call f{"a":"x"}']);
    const named = '{"name": "f", "parameters": {{"name": "Bob"}}}';
    for (const dialect of [llama3, json]) expect(lines(dialect, named)[1]).toBe("malformed bad-arguments");
  });
  test("a custom tool's tag needs a declared name", () => {
    const text = '<function=f>{"a": "x"}</function>';
    expect(lines(llama3, text, { tools })).toEqual(['call f{"a":"x"}', "control </function>"]);
    expect(lines(llama3, text)).toEqual([`text ${text}`]);
  });
  test("a tag inside thinking that announces no call leaves the thinking open", () => {
    expect(lines(llama3, "<think>hm <|python_tag|>print(1)")).toEqual(["thinking hm <|python_tag|>print(1)"]);
    expect(lines(llama3, `<think>hm <|python_tag|>${call}`)).toEqual(["thinking hm ", 'call f{"a":"x"}']);
  });
});

describe("a call without its last brace", () => {
  const lacking = (rest: string) => `<tool_call>\n{"name": "f", "arguments": ${rest}`;
  test("is a call if its arguments are complete and its block closes", () => {
    expect(lines(hermes, `${lacking('{"a": 1}')}\n</tool_call>x`)).toEqual(['call f{"a":1}', "control </tool_call>", "text x"]);
  });
  test("is malformed if they are not; without the end of the block it is truncated, unless another call follows", () => {
    expect(lines(hermes, `${lacking('{"a": 1')}\n</tool_call>`)).toEqual(["malformed bad-arguments"]);
    expect(lines(hermes, lacking('{"a": 1}'))).toEqual(['cut f{"a":1}']);
    expect(lines(hermes, `${lacking('{"a": 1}')}\n${lacking('{"a": 2}}')}\n</tool_call>`)[0]).toBe("malformed bad-arguments");
  });
});

describe("a call behind a mark", () => {
  test.each([
    [hermes, "<tool_call>\n", "\n</tool_call>"],
    [getDialect("granite"), "<function_call> ", "\n"],
    [mistral, "[TOOL_CALLS]", ""],
  ] as const)("$id: may have its braces twice", (dialect, open, close) => {
    const object = '{"name": "f", "arguments": {"a": "x"}}';
    expect(lines(dialect, `${open}{${object}}${close}`)[0]).toBe('call f{"a":"x"}');
    expect(lines(dialect, `${open}{{"a": "x"}}${close}`)[0]).toMatch(/^malformed/);
  });
  test("may end with the tag that opens it; where anything but the end follows, that tag is text", () => {
    const call = '<tool_call>\n{"name": "f", "arguments": {"a": "x"}}\n';
    for (const end of ["", "\n", "<|im_end|>"]) {
      const events = lines(hermes, `${call}<tool_call>${end}`);
      expect(events.slice(0, 2)).toEqual(['call f{"a":"x"}', "text \n"]);
      expect(events.slice(2).every((line) => line.startsWith("control "))).toBe(true);
    }
    expect(lines(hermes, `${call}<tool_call> is the tag`)).toEqual(['call f{"a":"x"}', "text \n<tool_call> is the tag"]);
  });
});

describe("hermes: a list of calls in tags of its own", () => {
  const f = '{"name": "f", "arguments": {"a": "x"}}';
  for (const tag of ["tool_calls", "TOOLCALL"]) {
    const list = (calls: string) => `<${tag}>${calls}</${tag}>`;
    test(`is read in <${tag}>`, () => {
      expect(lines(hermes, `So:${list(`[${f}, ${f}]`)} Done`)).toEqual([
        "text So:",
        'call f{"a":"x"}',
        'call f{"a":"x"}',
        "control ]",
        `control </${tag}>`,
        "text  Done",
      ]);
      expect(lines(hermes, `<think>hm</think>\n<${tag}>[\n${f}\n]`)).toEqual(["thinking hm", "text \n", 'call f{"a":"x"}', "control \n]"]);
    });
    test(`leaves <${tag}> alone where no such list follows`, () => {
      for (const text of [`The tag <${tag}> holds them.`, list("[]"), list("[1]")]) expect(lines(hermes, text)).toEqual([`text ${text}`]);
    });
  }
});

describe("hermes: a call of a declared tool at the start of an answer needs no tags, or has others (Qwen2.5-Coder)", () => {
  const call = '{"name": "f", "arguments": {"a": "x"}}';
  const read = 'call f{"a":"x"}';
  test.each([
    ["alone", call, [read]],
    ["on several lines", '\n{\n  "name": "f",\n  "arguments": {"a": "x"}\n}\n', ["text \n", read, "text \n"]],
    ["two calls", `${call}\n${call}<|im_end|>`, [read, read, "control <|im_end|>"]],
    ["a fence", `\`\`\`json\n${call}\n\`\`\`\nDone.`, [read, "control \n```", "text \nDone."]],
    ["a list in a fence", `\`\`\`\n[${call}, ${call}]\n\`\`\``, [read, read, "control ]", "control \n```"]],
    ["<tools>", `<tools>\n${call}\n</tools>`, [read, "control \n</tools>"]],
    ["<tools>, half closed", `<tools> ${call} </tool`, [read, "control  </tool"]],
    ["<function>", `<function>\n${call}\n</function>`, [read, "control \n</function>"]],
    ["<function-call>", `<function-call> ${call}`, [read]],
    [
      "the closing tag only",
      `${call}\n</tool_call>\n${call}</tool_call> a </tool_call>`,
      [read, read, "control </tool_call>", "text  a </tool_call>"],
    ],
    ["behind thinking", `<think>{"name"</think>\n\n${call}`, ['thinking {"name"', "text \n\n", read]],
    ["cut", '```json\n{"name": "f", "arguments": {"a": "x', ['cut f{"a":"x"}']],
  ])("%s", (_, text, expected) => {
    expect(lines(hermes, text, { tools })).toEqual(expected);
  });
  test.each([
    ["not declared", call.replace('"f"', '"g"')],
    ["behind prose", `For example:\n\`\`\`json\n${call}\n\`\`\``],
    ["another object", '{"answer": 42, "name": "f"}'],
    ["code", "```js\nlet a = {};\n```"],
    ["a list", "[1, 2]"],
  ])("%s: text", (_, text) => {
    expect(lines(hermes, text, { tools })).toEqual([`text ${text}`]);
  });
  test("without declared tools it is text", () => expect(lines(hermes, call)).toEqual([`text ${call}`]));
});

test("of a repeated name the first counts, whatever the others are", () => {
  const text = '<tool_call>{"name": "f", "arguments": {}, "name": null, "tool_name": 5, "name": "g"}';
  expect(lines(hermes, text)).toEqual(["call f{}"]);
});

test("extra brackets before the end of a call are not text", () => {
  const call = '<tool_call>{"name": "f", "arguments": {"a": "x"}}';
  for (const dialect of [hermes, getDialect("granite"), getDialect("smollm3")]) {
    expect(lines(dialect, `${call}}}\n</tool_call>Done`)).toEqual(['call f{"a":"x"}', "control }}\n</tool_call>", "text Done"]);
    expect(lines(dialect, `${call}} is it.`)).toEqual(['call f{"a":"x"}', "text } is it."]);
  }
  expect(lines(mistral, "[TOOL_CALLS]f[ARGS]{}}</s>")).toEqual(["call f{}", "control }</s>"]);
  expect(lines(mistral, '[TOOL_CALLS][{"name": "f", "arguments": {}}]]</s>')).toEqual(["call f{}", "control ]", "control ]</s>"]);
  expect(lines(mistral, "[TOOL_CALLS]f[ARGS]{}] is it.")).toEqual(["call f{}", "text ] is it."]);
});

describe("xlam", () => {
  const f = '{"name": "f", "arguments": {}}';
  const g = '{"name": "g", "arguments": {"x": [1]}}';

  test("an entry that is not a call does not affect its neighbours", () => {
    const called = ["call f{}", 'call g{"x":[1]}'];
    expect(lines(xlam, `[${f}, {"nam": 1}, ${g}]`)).toEqual([called[0], "malformed no-name", called[1], "control ]"]);
    expect(lines(xlam, `[${f}, {"name": "h"}, ${g}]`)).toEqual([called[0], "malformed bad-arguments", called[1], "control ]"]);
    expect(lines(xlam, `[${f}, {"name": "h", oh no}, ${g}]`)).toEqual([called[0], "malformed bad-arguments", called[1], "control ]"]);
    expect(lines(xlam, `<tool_call>[{"name": "h"}, ${g}]</tool_call>`)).toEqual([
      "malformed bad-arguments",
      called[1],
      "control ]",
      "control </tool_call>",
    ]);
  });
  test("a list is text if its first entry is not a call", () => {
    for (const text of [`[{"name": "f"}, ${g}]`, "[1, 2]", "[link](url)", `["x", ${f}]`])
      expect(lines(xlam, text)).toEqual([`text ${text}`]);
  });
  test("a truncated list keeps its calls", () => {
    expect(lines(xlam, `[${f}, {"name": "g", "arguments": {"x": "y`)).toEqual(["call f{}", 'cut g{"x":"y"}']);
    expect(lines(xlam, `[${f},`)).toEqual(["call f{}", "control ,"]);
  });
});

describe("phi4-mini", () => {
  test("the word is prose unless a list of objects follows", () => {
    const prose = "functools.partial, functools[x], functools {}";
    expect(lines(phi4Mini, prose)).toEqual([`text ${prose}`]);
    expect(lines(phi4Mini, `<think>${prose}`)).toEqual([`thinking ${prose}`]);
  });
  test("Microsoft's marks may surround the same list", () => {
    expect(lines(phi4Mini, '<|tool_call|>[{"name": "f"}]<|/tool_call|>')).toEqual(["call f{}", "control ]", "control <|/tool_call|>"]);
    expect(lines(phi4Mini, '<|tool_call|>functools[{"name": "f"}]')).toEqual(["call f{}", "control ]"]);
  });
});

test.each([hermes, json, llama3, xlam])(
  "$id: in a list whose first call counts, that of an undeclared tool does not end the list",
  (dialect) => {
    const call = (name: string) => `{"name": "${name}", "arguments": {}}`;
    const list = `[${call("f")}, ${call("g")}, ${call("f")}]`;
    expect(lines(dialect, list, { tools })).toEqual(["call f{}", "call g{}", "call f{}", "control ]"]);
    if (dialect !== hermes) expect(lines(dialect, `Yes:\n${list}`, { tools }).slice(1, 4)).toEqual(["call f{}", "call g{}", "call f{}"]);
    const other = `${dialect === hermes ? "" : "Yes:\n"}[${call("g")}]`;
    expect(lines(dialect, other, { tools })).toEqual([`text ${other}`]);
  },
);

describe("hermes", () => {
  const raws = (input: string): string[] =>
    scanPieces(hermes, [input]).flatMap((event) => (event.type === "malformed" || event.type === "control" ? [event.raw] : []));

  test("a name or an id has at most 256 characters, and the limit acts at exactly that character", () => {
    const long = "x".repeat(256);
    const fits = `<tool_call>{"id": "${long}", "name": "${long}", "arguments": {}}</tool_call>`;
    expect(lines(hermes, fits)).toEqual([`call ${long}{}`, "control </tool_call>"]);
    expect(raws(`<tool_call>{"name": "${long}y", "arguments": {}}</tool_call>`)).toEqual([
      `<tool_call>{"name": "${long}`,
      'y", "arguments": {}}</tool_call>',
    ]);
    expect(raws(`<tool_call>{"id": "${long}yy", "name": "f"}</tool_call>`)).toEqual([
      `<tool_call>{"id": "${long}`,
      'yy", "name": "f"}</tool_call>',
    ]);
    expect(lines(hermes, `<tool_call>{"name": "f", "arguments": {}, "id": "${long}y"}</tool_call>`)).toEqual([
      "malformed too-long",
      'control y"}</tool_call>',
    ]);
  });
  test("an escape counts as one character", () => {
    const long = "\\u00e9".repeat(256);
    expect(lines(hermes, `<tool_call>{"name": "${long}", "arguments": {}}</tool_call>`)[0]).toMatch(/^call é+\{\}$/);
    expect(lines(hermes, `<tool_call>{"name": "${long}\\u00e9", "arguments": {}}</tool_call>`)[0]).toBe("malformed too-long");
  });
  test("a name that is too long ends behind an escape, even if that is half a surrogate pair", () => {
    const start = `<tool_call>{"name": "${"x".repeat(255)}\\ud83d`;
    expect(cutAnyhow(hermes, `${start}o", "arguments": {}}</tool_call>`)).toMatchObject([
      { type: "malformed", code: "too-long", raw: start },
      { type: "control" },
    ]);
  });
});

describe("mistral", () => {
  const idsOf = (input: string, options?: ScannerOptions) =>
    scanPieces(mistral, [input], options).flatMap((event) => (event.type === "tool-end" ? [[event.id, event.nativeId]] : []));

  test("an id before the arguments is the call's; one after them comes too late", () => {
    expect(idsOf("[TOOL_CALLS]f[CALL_ID]abcdef123[ARGS]{}")).toEqual([["abcdef123", "abcdef123"]]);
    expect(idsOf('[TOOL_CALLS][{"name": "f", "arguments": {}, "id": "abcdef123"}]')).toEqual([["call00000", "abcdef123"]]);
  });
  test("minted ids have nine characters, unless the caller mints them", () => {
    expect(idsOf("[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]f[ARGS]{}")).toEqual([
      ["call00000", undefined],
      ["call00001", undefined],
    ]);
    expect(idsOf("[TOOL_CALLS]f[ARGS]{}", { mintId: (n) => `mine${n}` })).toEqual([["mine0", undefined]]);
  });
  test("a name is complete at its delimiter", () => {
    expect(lines(mistral, "[TOOL_CALLS]f")).toEqual(["malformed no-name"]);
    for (const text of ["[TOOL_CALLS]f[ARGS]", "[TOOL_CALLS]f[CALL_ID]abc", "[TOOL_CALLS]f{"])
      expect(lines(mistral, text)).toEqual(["cut f{}"]);
  });
  test("prose before a brace is not a name", () => {
    for (const text of ['[TOOL_CALLS] is a mark, then {"a": 1}', '[TOOL_CALLS]f({"a": 1})'])
      expect(lines(mistral, text)).toEqual(["malformed no-name"]);
    expect(lines(mistral, '[TOOL_CALLS] f {"a": 1}')).toEqual(['call f{"a":1}']);
  });
  test("a stray closer is control if it is a token, and text if it is a tag", () => {
    expect(lines(mistral, "a[/THINK]b</think>c")).toEqual(["text a", "control [/THINK]", "text b</think>c"]);
  });
});

describe("arguments given as a string", () => {
  const call = (held: string): string => `<tool_call>{"name": "f", "arguments": ${JSON.stringify(held)}}</tool_call>`;
  const deltas = (input: string, options: ScannerOptions): string =>
    cutAnyhow(hermes, input, options)
      .map((event) => (event.type === "tool-delta" ? event.json : ""))
      .join("");

  test("are read only to the maximum depth", () => {
    const input = call('{"a": {"b": {"c": 1}}}');
    expect(deltas(input, { maxDepth: 2 })).toBe('{"a": {');
    expect(lines(hermes, input, { maxDepth: 2 })).toEqual(["malformed too-deep", "control </tool_call>"]);
    expect(lines(hermes, input, { maxDepth: 3 })).toEqual(['call f{"a":{"b":{"c":1}}}', "control </tool_call>"]);
    expect(lines(hermes, call(`{"a": ${"[".repeat(300)}`).slice(0, -13))).toEqual(["malformed too-deep"]);
  });
  test("must be one object, with nothing but blanks around it", () => {
    expect(lines(hermes, call(' {"a": 1}\n'))).toEqual(['call f{"a":1}', "control </tool_call>"]);
    for (const held of ['{"a": 1} x', '{"a": 1} {}', '{"a": 1 2}', '{"a": 1', "[1]"])
      expect(lines(hermes, call(held))).toEqual(["malformed bad-arguments", "control </tool_call>"]);
    expect(deltas(call('{"a": 1, "b": x y, "c": 3}'), {})).toBe('{"a": 1');
  });
});

describe("in a list, an entry that is not a call does not affect its neighbours", () => {
  const good = '{"name": "f", "arguments": {}}';
  const late = '{"arguments": {}, "name": "f"}';
  const marked = (list: string) => lines(hermes, `<tool_call>${list}</tool_call>`).filter((line) => !line.startsWith("control"));
  const bare = (list: string) => lines(xlam, `${list}\nx`).filter((line) => !line.startsWith("control"));

  test.each<[string, string]>([
    ["an object that cannot be read", "{bad}"],
    ["a number", "5"],
    ["a string", '"x"'],
    ["a word", "x"],
  ])("%s", (_, stray) => {
    const code = stray === "{bad}" ? "bad-arguments" : "no-name";
    for (const next of [good, late]) {
      expect(marked(`[${stray}, ${next}]`)).toEqual([`malformed ${code}`, "call f{}"]);
      expect(marked(`[${good}, ${stray}, ${next}]`)).toEqual(["call f{}", `malformed ${code}`, "call f{}"]);
      expect(bare(`[${good}, ${stray}, ${next}]`)).toEqual(["call f{}", `malformed ${code}`, "call f{}", "text \nx"]);
    }
    if (code === "no-name") expect(bare(`[${good}, ${stray}]`)).toEqual(["call f{}", "malformed no-name", "text \nx"]);
  });
  test("a comma after the last entry is ignored", () => {
    expect(marked(`[${good}, ]`)).toEqual(["call f{}"]);
    expect(marked(`[${good},`)).toEqual(["call f{}"]);
  });
});

describe("several objects in one block are several calls", () => {
  const [f, g] = ['{"name": "f", "arguments": {}}', '{"name": "g", "arguments": {"x": 1}}'];
  const called = ["call f{}", 'call g{"x":1}'];

  test.each([
    ...["hermes", "granite", "qwen3-coder", "glm", "xlam"].map((id) => [id, "<tool_call>", "</tool_call>"]),
    ["phi4-mini", "<|tool_call|>", "<|/tool_call|>"],
    ["cohere", "<|START_ACTION|>", "<|END_ACTION|>"],
  ])("%s", (id, open, close) => {
    const dialect = getDialect(id);
    for (const gap of ["", "\n", ", ", ";\n"]) {
      expect(lines(dialect, `${open}\n${f}${gap}${g}\n${close} So.`)).toEqual([...called, `control \n${close}`, "text  So."]);
      expect(lines(dialect, `${open}${f}${gap}${g}`)).toEqual(called);
    }
    expect(lines(dialect, `${open}${f},${close}`)).toEqual([called[0], `control ,${close}`]);
    expect(lines(dialect, `${open}${f}, {"answer": 42}${close}`)).toEqual([called[0], 'text , {"answer": 42}', `control ${close}`]);
    expect(lines(dialect, `${open}${f}, so${close}`)).toEqual([called[0], "text , so", `control ${close}`]);
  });
});

describe("an object with something else as arguments is never a complete call", () => {
  test.each<[string, string, string]>([
    ["hermes", '<tool_call>{"name": "f", "city": "Oslo"}</tool_call>', "malformed bad-arguments"],
    ["granite", '<tool_call>{"name": "f", "input": {"a": 1}}</tool_call>', "malformed bad-arguments"],
    ["mistral", '[TOOL_CALLS][{"name": "f", "a": 1}]', "malformed bad-arguments"],
    ["hermes", '<tool_call>{"type": "function", "name": "f"}</tool_call>', "call f{}"],
    ["hermes", '<tool_call>{"name": "f", "note": 1, "arguments": {}}</tool_call>', "call f{}"],
    ["hermes", '<tool_call>{"name": "f", "arguments": null, "note": 1}</tool_call>', "call f{}"],
  ])("%s: %s", (id, text, line) => expect(lines(getDialect(id), text)[0]).toBe(line));
});

test.each([
  ["json", '{"name": "f", "parameters": {}}'],
  ["llama3", '{"name": "f", "parameters": {}}'],
  ["xlam", '[{"name": "f", "arguments": {}}]'],
])("a call may begin right after an unmatched thinking closer: %s", (id, call) => {
  expect(lines(getDialect(id), `hm</think>${call}`).slice(0, 2)).toEqual(["text hm</think>", "call f{}"]);
});

describe("xlam: a list that is cut", () => {
  const good = '{"name": "f", "arguments": {}}';
  test("an element is a call once its name and the key of its arguments are known", () => {
    for (const cut of [`[${good}, {"name": "g", "arguments":`, `[${good}, {"name": "g", "arguments"`])
      expect(lines(xlam, cut)).toEqual(["call f{}", "cut g{}"]);
    expect(lines(xlam, '<tool_call>[{"name": "g", "arguments": ')).toEqual(["cut g{}"]);
    expect(lines(xlam, `[${good}, {"name": "g"`)).toEqual(["call f{}", "malformed no-name"]);
    expect(lines(xlam, `[${good}, {"name": "g", "x": {"arguments": `)).toEqual(["call f{}", "malformed no-name"]);
  });
  test("the first one, without a mark, is a call once its arguments have begun", () => {
    expect(lines(xlam, '[{"name": "g", "arguments":')).toEqual(['text [{"name": "g", "arguments":']);
    expect(lines(xlam, '[{"name": "g", "arguments": {')).toEqual(["cut g{}"]);
  });
});

test("a comment ends with its line, whatever the line end", () => {
  for (const end of ["\n", "\r\n", "\r"])
    expect(lines(hermes, `<tool_call>{name: "f", // it's one${end}arguments: {a: "x"}}</tool_call>`)[0]).toBe('call f{"a":"x"}');
});

test("a fence around something else is text, both ends of it", () => {
  const call = '{"name": "f", "parameters": {}}';
  for (const dialect of [json, xlam]) {
    for (const text of ['```json\n{"a": 1}\n```\n', '```json\n{"a": 1}```\n', "```python\nprint(1)\n```\n", "```\n```\n"]) {
      expect(lines(dialect, `${text}${call}`)).toEqual([`text ${text}`, "call f{}"]);
      expect(lines(dialect, `${text}\`\`\`\n${call}\n\`\`\`\nx`)).toEqual([`text ${text}`, "call f{}", "control \n```", "text \nx"]);
    }
    expect(lines(dialect, `\`\`\`json\n{"a": 1}\n${call}\n\`\`\`\n${call}`)).toEqual([
      'text ```json\n{"a": 1}\n',
      "call f{}",
      "text \n```\n",
      "call f{}",
    ]);
  }
});

describe("ids written by the model", () => {
  const ids = (input: string, dialect = hermes) =>
    cutAnyhow(dialect, input).flatMap((event) => (event.type === "tool-end" ? [[event.id, event.nativeId]] : []));
  const call = (id: string) => `<tool_call>{"id": ${JSON.stringify(id)}, "name": "f", "arguments": {}}</tool_call>`;

  test("a blank id is ignored, and the second of two equal ids is replaced", () => {
    expect(ids(call("") + call(" "))).toEqual([
      ["call_0", undefined],
      ["call_1", undefined],
    ]);
    expect(ids(call("a") + call("a") + call("call_3") + call("a"))).toEqual([
      ["a", "a"],
      ["call_1", "a"],
      ["call_3", "call_3"],
      ["call_3_", "a"],
    ]);
  });
  test("a call that only its end shows to be one has its own id", () => {
    const input = '{"name": "now", "id": "a"}';
    const events = cutAnyhow(llama3, input, { tools: [{ name: "now" }] });
    expect(events.flatMap((event) => (event.type === "tool-start" ? event.id : []))).toEqual(["a"]);
  });
  test("a malformed call has the id of its tool-start", () => {
    const events = cutAnyhow(hermes, '<tool_call>{"id": "", "name": "f", "arguments": 5}</tool_call>');
    const starts = events.flatMap((event) => (event.type === "tool-start" ? event.id : []));
    expect(events.flatMap((event) => (event.type === "malformed" ? event.id : []))).toEqual(starts);
  });
  test("cohere: an unreadable call does not affect its neighbour", () => {
    const item = (n: number, args: string) => `{"tool_call_id": "${n}", "tool_name": "f", "parameters": ${args}}`;
    const input = `<|START_ACTION|>[${item(0, "{bad}")}, ${item(1, "{}")}]<|END_ACTION|>`;
    expect(lines(cohere, input)).toEqual(["malformed bad-arguments", "call f{}", "control ]", "control <|END_ACTION|>"]);
  });
});

describe("a call without a mark inside thinking", () => {
  const bare = {
    json: '{"name": "f", "parameters": {"a": "x"}}',
    llama3: '{"name": "f", "parameters": {"a": "x"}}',
    xlam: '{"name": "f", "arguments": {"a": "x"}}',
    pythonic: '[f(a="x")]',
  };
  const calls = (id: keyof typeof bare, text: string, options: ScannerOptions) =>
    lines(getDialect(id), text, options).filter((line) => !line.startsWith("control"));

  test.each(Object.entries(bare) as [keyof typeof bare, string][])("of %s follows the caller's setting", (id, call) => {
    for (const before of ["<think>", "<think>hm\n", "<think>hm {1} [2]\n{3}\n"]) {
      const thought = before === "<think>" ? [] : [`thinking ${before.slice(7)}`];
      const called = [...thought, 'call f{"a":"x"}'];
      const closed = `${before}${call}</think>ok`;
      const thinking = [`thinking ${before.slice(7)}${call}`, "text ok"];
      for (const given of [{}, { tools }]) {
        expect(calls(id, closed, given)).toEqual(thinking);
        expect(calls(id, closed, { ...given, callsInThinking: "promote" })).toEqual([...called, "text ok"]);
        expect(calls(id, closed, { ...given, callsInThinking: "promote-if-unclosed" })).toEqual(thinking);
        expect(calls(id, before + call, { ...given, callsInThinking: "promote-if-unclosed" })).toEqual(called);
      }
    }
  });
  test("needs a declared name if tools are declared, and stays thinking otherwise", () => {
    const other: Tool[] = [{ name: "g", parameters: {} }];
    for (const id of ["json", "llama3", "xlam"] as const)
      expect(calls(id, `<think>hm\n${bare[id]}\nso`, { tools: other, callsInThinking: "promote" })).toEqual([
        `thinking hm\n${bare[id]}\nso`,
      ]);
  });
  test("that is too long is thinking", () => {
    const options: ScannerOptions = { callsInThinking: "promote", maxCallChars: 12 };
    expect(calls("json", `<think>hm\n${bare.json}</think>ok`, options)).toEqual([`thinking hm\n${bare.json}`, "text ok"]);
  });
});

test("mistral: a call object without its list is a call, and arguments without a name are not", () => {
  const one = '[TOOL_CALLS]{"name": "f", "arguments": {"a": 1}}';
  expect(lines(mistral, `${one} x${one}`)).toEqual(['call f{"a":1}', "text  x", 'call f{"a":1}']);
  for (const args of ['{"command": "ls"}', '{"name": "John"}', "{}"])
    expect(lines(mistral, `bash[TOOL_CALLS]${args}[TOOL_CALLS]g[ARGS]{}`)).toEqual([
      "text bash",
      expect.stringMatching(/^malformed/),
      "call g{}",
    ]);
});

test("xlam: a stop token after the key of the arguments truncates the call, like the end of the input", () => {
  for (const end of ["", "<|im_end|>", " <|eot_id|>"])
    expect(lines(xlam, `<tool_call>[{"name": "f", "arguments":${end}`)[0]).toBe("cut f{}");
});

describe("apertus: the name of a call is the key of its arguments", () => {
  const apertus = getDialect("apertus");
  const calls = (list: string) => lines(apertus, `<|tools_prefix|>${list}<|tools_suffix|>`).slice(0, -2);

  test("whatever the tool is called", () => {
    for (const name of ["f", "name", "arguments", "function", "id", "a b"])
      expect(calls(`[{"${name}": {"id": "1"}}]`)).toEqual([`call ${name}{"id":"1"}`]);
    expect(calls('[{"f": {}}, {"g": null}, {"h": "{\\"a\\": 1}"}]')).toEqual(["call f{}", "call g{}", 'call h{"a":1}']);
  });
  test("a call in the usual form is read, too", () => {
    expect(calls('[{"name": "f", "arguments": {"a": 1}}]')).toEqual(['call f{"a":1}']);
  });
  test("several calls in one object", () => {
    expect(calls('[{"f": {"a": 1}, "g": {}}, {"h": {"name": {}}}]')).toEqual(['call f{"a":1}', "call g{}", 'call h{"name":{}}']);
    expect(calls('[{"f": null, "name": {}, "id": "7"}]')).toEqual(["call f{}", "call name{}"]);
    expect(calls('[{"f": {}, " ": {}}, {"g": {}}]')).toEqual(["call f{}", "malformed no-name", "call g{}"]);
    expect(lines(apertus, '<|tools_prefix|>[{"f": {"a": 1}, "g": {"b"')).toEqual(['call f{"a":1}', "cut g{}"]);
    expect(calls('[{"name": "f", "arguments": {"a": 1}, "g": {}}]')).toEqual(['call f{"a":1}']);
    const long = lines(apertus, `<|tools_prefix|>[{"f": {}, " ": {"a": "${"x".repeat(99)}`, { maxCallChars: 50 });
    expect(long.slice(0, 2)).toEqual(["call f{}", "malformed too-long"]);
  });
  test("an entry without a name or arguments is malformed, and the next one is read", () => {
    expect(calls('[{}, {" ": {}}, {"f": 5}, {"g": {}}]')).toEqual([
      "malformed no-name",
      "malformed no-name",
      "malformed bad-arguments",
      "call g{}",
    ]);
  });
  test("cut after the name it is a truncated call, before it malformed", () => {
    expect(lines(apertus, '<|tools_prefix|>[{"f"')).toEqual(["cut f{}"]);
    expect(lines(apertus, '<|tools_prefix|>[{"f": {"g": 1}}, {')).toEqual(['call f{"g":1}', "malformed no-name"]);
    expect(lines(apertus, '<|tools_prefix|>[{"f": {"g": 1}}, {"h')).toEqual(['call f{"g":1}', "malformed no-name"]);
  });
  test("its marks are never text", () => {
    expect(lines(apertus, "Hm.<|tools_prefix|>")).toEqual(["text Hm.", "malformed no-name"]);
  });
  test("calls end the thinking around them", () => {
    expect(lines(apertus, '<|inner_prefix|>Hm.<|tools_prefix|>[{"f": {}}]')).toEqual(["thinking Hm.", "call f{}", "control ]"]);
  });
});

describe("command-r: calls are in a list after the word Action", () => {
  const commandR = getDialect("command-r");
  const list = '[{"tool_name": "f", "parameters": {"a": "```"}}]';

  test.each(["Action:\n```json\n", "Action: ```json\n", "Action:```", "Action: "])("%j", (head) => {
    expect(lines(commandR, `Plan: I look.\n${head}${list}\n\`\`\` So.`)[1]).toBe('call f{"a":"```"}');
  });
  test("the word alone is text, and so is code after it", () => {
    for (const text of ["Call to Action: buy!", "Action: ```python\nprint([1])\n```", "Action: [link](x)", "Action:"])
      expect(lines(commandR, text)).toEqual([`text ${text}`]);
  });
  test("the fence ends a list without its bracket, and one that cannot be read", () => {
    const call = list.slice(0, -1);
    expect(lines(commandR, `Action:\n\`\`\`json\n${call}\n\`\`\` So.`)).toEqual(['call f{"a":"```"}', "control \n```", "text  So."]);
    expect(lines(commandR, `Action:\n\`\`\`json\n[{"tool_name": "f", "parameters": }]\`\`\` So.`)).toEqual([
      "malformed bad-arguments",
      "text  So.",
    ]);
  });
  test("a fence without the word is text", () => {
    expect(lines(commandR, `\`\`\`json\n${list}\n\`\`\``)).toEqual([`text \`\`\`json\n${list}\n\`\`\``]);
  });
});

describe("internlm: the plugin's mark may be separate, or missing", () => {
  test.each(["<|action_start|><|plugin|>\n", "<|action_start|> <|plugin|>", "<|action_start|>"])("%j", (head) => {
    expect(lines(getDialect("internlm"), `${head}{"name": "f", "parameters": {}}<|action_end|>`)).toEqual([
      "call f{}",
      "control <|action_end|>",
    ]);
  });
});

test("a limit after an invalid escape does not split a surrogate pair, wherever a piece ends", () => {
  const before = '<tool_call>{"name": "f", "arguments": {"a": "\\';
  const events = cutAnyhow(hermes, `${before}😀 x`, { maxCallChars: before.length + 1 });
  expect(events.flatMap((event) => ("raw" in event ? event.raw : []))).toEqual([`${before}😀`, " x"]);
});
