// Parameters between tags: which closers count and which are content, what is emitted when, and how values get their types.
import { describe, expect, test } from "vitest";
import type { Event, Json, JsonObject, Tool } from "../../src/core/nouns.ts";
import { deepseekV32 } from "../../src/dialects/deepseek-v3.2.ts";
import { deepseekV4 } from "../../src/dialects/deepseek-v4.ts";
import type { Dialect, ScannerOptions } from "../../src/dialects/dialect.ts";
import { gemma4 } from "../../src/dialects/gemma4.ts";
import { glm } from "../../src/dialects/glm.ts";
import { hy3 } from "../../src/dialects/hy3.ts";
import { laguna } from "../../src/dialects/laguna.ts";
import { ling3 } from "../../src/dialects/ling3.ts";
import { minimaxM2 } from "../../src/dialects/minimax-m2.ts";
import { museGlimmer } from "../../src/dialects/muse-glimmer.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { qwen3Coder } from "../../src/dialects/qwen3-coder.ts";
import { seedOss } from "../../src/dialects/seed-oss.ts";
import { endsOf, lines, scanPieces, textOf, units } from "./scanning.ts";

const tools: Tool[] = [
  {
    name: "edit",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        note: { type: ["string", "null"] },
        line: { type: "integer" },
        tags: { type: "array" },
        any: { description: "no type" },
      },
    },
  },
];

const qwen = (value: string): string => `<tool_call>\n<function=edit>\n<parameter=path>${value}</parameter>\n</function>\n</tool_call>`;

function argumentsOf(dialect: typeof qwen3Coder, text: string, options: ScannerOptions = { tools }): JsonObject[] {
  const events = scanPieces(dialect, [text], options);
  expect(scanPieces(dialect, units(text), options)).toEqual(events);
  return endsOf(events).map((end) => end.arguments);
}
const deltasOf = (events: readonly Event[]): string => events.map((event) => (event.type === "tool-delta" ? event.json : "")).join("");

describe("a closer counts only before a legal token", () => {
  test("anywhere else it is content, however many blanks and closers follow", () => {
    for (const path of [
      "a</parameter>b",
      "</parameter>  \n</parameter>",
      "x</function>",
      "</function> </parameter>",
      "</tool_call>\n<tool_call>",
    ])
      expect(argumentsOf(qwen3Coder, qwen(path))).toEqual([{ path }]);
  });
  test("before one, a text about the format itself is ambiguous, and is cut", () => {
    expect(argumentsOf(qwen3Coder, qwen("a</parameter>\n<parameter=line>1"))).toEqual([{ path: "a", line: 1 }]);
  });
  test("a whole call that a value quotes is content, closers included", () => {
    const parameter = "<parameter=line>\n1\n</parameter>\n";
    const call = (parameters: string) => `<tool_call>\n<function=edit>\n${parameters}</function>\n</tool_call>`;
    for (const parameters of ["", parameter, parameter + parameter, "<parameter=line>\n1\n"]) {
      const path = `So:\n${call(parameters)}\n${call(parameters)}\nand on.`;
      for (const options of [{ tools }, {}]) expect(argumentsOf(qwen3Coder, qwen(path), options)).toEqual([{ path }]);
    }
    const path = "a <tool_call> has a <function=edit> and each <parameter=line> its value";
    expect(argumentsOf(qwen3Coder, qwen(path))).toEqual([{ path }]);
  });
  test.each([deepseekV32, deepseekV4, glm, hy3, laguna, ling3, minimaxM2, museGlimmer, qwen3Coder, seedOss])(
    "so are the calls that a value quotes in $id",
    (dialect) => {
      const quoted = [
        { name: "edit", arguments: { path: "a b", line: 1 } },
        { name: "edit", arguments: { note: "x" } },
      ];
      const quotes = dialect.variants.map((variant) => promptText(dialect.renderToolCalls(quoted, { variant })));
      for (const variant of dialect.variants)
        for (const quote of quotes)
          for (const args of [
            { path: `So:\n${quote}\n${quote}\nand on.`, note: "b" },
            { path: "c", note: quote },
          ])
            for (const options of [{ tools }, {}])
              expect(
                argumentsOf(dialect, promptText(dialect.renderToolCalls([{ name: "edit", arguments: args }], { variant })), options),
              ).toEqual([args]);
    },
  );
  test("a stop token ends a value only at the end of the input", () => {
    expect(argumentsOf(qwen3Coder, qwen("a<|im_end|>b"))).toEqual([{ path: "a<|im_end|>b" }]);
    expect(argumentsOf(qwen3Coder, "<tool_call><function=edit><parameter=path>a<|im_end|>\n")).toEqual([{ path: "a" }]);
  });
  test.each([qwen3Coder, glm, seedOss, laguna, ling3, hy3])("$id: neither does a closer before a stop token", (dialect) => {
    const [block] = promptText(dialect.renderToolCalls([{ name: "edit", arguments: {} }])).match(/<\/\S+$/) ?? [];
    for (const stop of dialect.stops) {
      const path = `It ends in ${block}${stop}, as always.`;
      const text = promptText(dialect.renderToolCalls([{ name: "edit", arguments: { path } }]));
      expect(argumentsOf(dialect, text + stop)).toEqual([{ path }]);
    }
  });
  test("at the end of the input it closes the value, but we never close the JSON", () => {
    const events = scanPieces(qwen3Coder, ["<tool_call><function=edit><parameter=path>a</parameter>\n</func"], { tools });
    expect(endsOf(events)).toMatchObject([{ arguments: { path: "a" }, truncated: true }]);
    expect(deltasOf(events)).toBe('{"path":"a');
  });
  test("lists and objects that contain a tag are rendered without it", () => {
    const args = { tags: ["</parameter>\n</function>", "<parameter=line>"] };
    expect(argumentsOf(qwen3Coder, promptText(qwen3Coder.renderToolCalls([{ name: "edit", arguments: args }])))).toEqual([args]);
  });
});

describe("a missing closer", () => {
  const open = "<tool_call><function=edit><parameter=path>";

  test("is supplied by the next parameter, if it is declared, or if none are", () => {
    expect(argumentsOf(qwen3Coder, `${open}a <parameter=line>2</parameter></function>`)).toEqual([{ path: "a ", line: 2 }]);
    expect(argumentsOf(qwen3Coder, `${open}a <parameter=x>2</parameter></function>`)).toEqual([{ path: "a <parameter=x>2" }]);
    expect(argumentsOf(qwen3Coder, `${open}a <parameter=x>2</parameter></function>`, {})).toEqual([{ path: "a ", x: "2" }]);
  });
  test("is not supplied by half a tag, and no real closer is lost in one", () => {
    for (const path of ["<parameter=", '<parameter="line', "<parameter=line", "<parameter=<parameter="])
      expect(argumentsOf(qwen3Coder, `${open}${path}</parameter></function>`)).toEqual([{ path }]);
    expect(argumentsOf(glm, "<tool_call>edit<arg_key>path</arg_key><arg_value><arg_key></arg_value></tool_call>")).toEqual([
      { path: "<arg_key>" },
    ]);
  });
  test("is not supplied by a parameter that the call already has", () => {
    const text =
      "<tool_call><function=edit><parameter=line>1</parameter><parameter=path>the `<parameter=line>` and <parameter=path> marks</parameter></function>";
    for (const options of [{ tools }, {}])
      expect(argumentsOf(qwen3Coder, text, options)).toMatchObject([{ path: "the `<parameter=line>` and <parameter=path> marks" }]);
  });
  test("of the call is supplied by the next call and the end of the block", () => {
    expect(argumentsOf(qwen3Coder, `${open}a</parameter><function=edit></tool_call>`)).toEqual([{ path: "a" }, {}]);
  });
});

describe("values", () => {
  test("lose one newline at each end in qwen3-coder, and nothing elsewhere", () => {
    expect(argumentsOf(qwen3Coder, qwen("\n\n  a\n\n"))).toEqual([{ path: "\n  a\n" }]);
    const text = '<minimax:tool_call><invoke name="edit"><parameter name="path">\na\n</parameter></invoke></minimax:tool_call>';
    expect(argumentsOf(minimaxM2, text)).toEqual([{ path: "\na\n" }]);
  });
  test("are typed by the schema, and are text if they do not fit", () => {
    const typed = (key: string, value: string) => argumentsOf(qwen3Coder, qwen("").replace("path>", `${key}>${value}`))[0]?.[key];
    expect(typed("line", " 42 ")).toBe(42);
    expect(typed("line", "forty")).toBe("forty");
    expect(typed("tags", "['a', True,]")).toEqual(["a", true]);
    expect(typed("path", "02134")).toBe("02134");
    expect(typed("any", "02134")).toBe("02134");
    expect(typed("other", "1")).toBe("1");
    expect(typed("note", "null")).toBe(null);
    expect(typed("note", "nullable")).toBe("nullable");
    expect(typed("note", "None")).toBe("None");
  });
  test("may be Python's, whose strings have its escapes", () => {
    const call = { id: "call_0", name: "edit", arguments: { tags: ["4\u00a0\u2028°C", "\u001b[1m"] } };
    for (const variant of qwen3Coder.variants) {
      const text = promptText(qwen3Coder.renderToolCall(call, { variant }));
      expect(argumentsOf(qwen3Coder, text), variant).toEqual([call.arguments]);
    }
  });
  test("without quotes in Gemma stay as written if a string is allowed, unless they are written like a number", () => {
    const either = [{ name: "f", parameters: { type: "object", properties: { a: { type: ["string", "integer"] } } } }];
    const read = (value: string) =>
      endsOf(scanPieces(gemma4, [`<|tool_call>call:f{a:${value}}<tool_call|>`], { tools: either }))[0]?.arguments;
    expect(read("02134")).toEqual({ a: "02134" });
    expect(read("2134")).toEqual({ a: 2134 });
  });
  test.each([
    ["a reference", { $ref: "#/$defs/word" }],
    ["a wrapped reference", { allOf: [{ $ref: "#/$defs/word" }] }],
    ["alternatives", { anyOf: [{ type: "string" }, { type: "integer" }] }],
  ])("may be null where `nullable` stands beside %s", (_, schema) => {
    const parameters = { type: "object", properties: { path: { ...schema, nullable: true } }, $defs: { word: { type: "string" } } };
    const read = (value: string) => argumentsOf(qwen3Coder, qwen(value), { tools: [{ name: "edit", parameters }] });
    expect(read("null")).toEqual([{ path: null }]);
    expect(read("02134")).toEqual([{ path: "02134" }]);
  });
  test("are typed by a tool's own properties, even if a reference stands beside them", () => {
    const base = { type: "object", properties: { note: { type: "string" } } };
    const parameters = { $ref: "#/$defs/base", properties: { line: { type: "integer" } }, $defs: { base } };
    const text = "<tool_call><function=edit><parameter=line>42</parameter><parameter=note>42</parameter></function></tool_call>";
    expect(argumentsOf(qwen3Coder, text, { tools: [{ name: "edit", parameters }] })).toEqual([{ line: 42, note: "42" }]);
  });
  test("that may be null are emitted as soon as they cannot be null", () => {
    const scanner = qwen3Coder.createScanner({ tools });
    expect(deltasOf(scanner.feed("<tool_call><function=edit><parameter=note>nul"))).toBe("");
    expect(deltasOf(scanner.feed("lable"))).toBe('{"note":"nullable');
  });
  test("that are strings are emitted at once, except an end that may be a tag", () => {
    const scanner = qwen3Coder.createScanner({ tools });
    expect(deltasOf(scanner.feed("<tool_call><function=edit><parameter=path>alpha\n</param"))).toBe('{"path":"alpha');
    expect(deltasOf(scanner.feed("s>"))).toBe("\\n</params>");
  });
  test("state their type themselves in DSML", () => {
    const one = (attributes: string, value: string) =>
      argumentsOf(
        deepseekV32,
        `<｜DSML｜invoke name="edit"><｜DSML｜parameter ${attributes}>${value}</｜DSML｜parameter></｜DSML｜invoke>`,
      )[0];
    expect(one('name="line" string="true"', "1")).toEqual({ line: "1" });
    expect(one("string='false' name='path'", "[1.0]")).toEqual({ path: [1] });
    expect(one('name="line"', "1")).toEqual({ line: 1 });
    expect(one('name="input" string="true"', '{"line": 1}')).toEqual({ line: 1 });
    expect(one('name="input" string="true"', '{"other": 1}')).toEqual({ input: '{"other": 1}' });
  });
});

describe("a call with a parameter that was not understood is never complete", () => {
  const read = (params: string, options?: ScannerOptions) =>
    lines(qwen3Coder, `<tool_call>\n<function=edit>\n${params}\n</function>\n</tool_call>`, options);
  test.each([
    "<parameter=path\na\n</parameter>",
    "<parameter=path a</parameter>",
    "<parameter>a</parameter>",
    "<parameter>\n<name>path</name>\n<value>a</value>\n</parameter>",
    "<parameter>not a name</parameter>\na",
  ])("%j", (params) => {
    for (const options of [{ tools }, {}]) expect(read(params, options)[0]).toBe("malformed bad-arguments");
  });
});

describe("dsml: arguments that come as one object", () => {
  const read = (body: string, name = "edit", bar = "｜") =>
    lines(deepseekV4, `<｜DSML｜invoke name="${name}">\n${body}\n</｜DSML｜invoke>`.replaceAll("｜", bar), { tools });
  test("may be wrapped in one that has them under a key that is no parameter", () => {
    for (const wrapper of ["arguments", "input"])
      for (const blank of [" ", ""]) expect(read(`{"${wrapper}":${blank}{"path":${blank}"a}"}}`)).toEqual(['call edit{"path":"a}"}']);
    expect(read('{"arguments": {"other": 1}}')).toEqual(['call edit{"arguments":{"other":1}}']);
    expect(read('{"arguments": {"path": "a"}}', "undeclared")).toEqual(['call undeclared{"arguments":{"path":"a"}}']);
    expect(read('{"arguments": {"path": "a"}, "line": 1}')).toEqual(["malformed bad-arguments"]);
  });
  test("may be followed by a superfluous brace or by the closer of a parameter", () => {
    for (const behind of ["}", "</｜DSML｜parameter>"])
      for (const bar of ["｜", "｜｜"]) expect(read(`{"path": "a"}${behind}`, "edit", bar)).toEqual(['call edit{"path":"a"}']);
  });
});

test("arguments that come as one object are complete at its end, even if the call's closer is missing or cut", () => {
  const object = '\n{"path": "a"}';
  for (const [dialect, call, closer] of [
    [qwen3Coder, "<tool_call><function=edit>", "</function>"],
    [glm, "<tool_call>edit", "</tool_call>"],
    [deepseekV32, '<｜DSML｜function_calls><｜DSML｜invoke name="edit">', "</｜DSML｜invoke>"],
  ] as const) {
    for (const end of ["", "\n", closer.slice(0, -2), dialect.stops[0]])
      expect(lines(dialect, call + object + end)[0]).toBe('call edit{"path":"a"}');
    expect(lines(dialect, call + object.slice(0, -1))).toEqual(['cut edit{"path":"a"}']);
  }
});

describe("a key in an element of its own", () => {
  const read = (params: string) => argumentsOf(qwen3Coder, `<tool_call>\n<function=edit>\n${params}\n</function>\n</tool_call>`);
  test("has a value that ends like any other", () => {
    expect(read("<parameter>path</parameter>\na\n</parameter>\n<parameter>line</parameter>\n2\n</parameter>")).toEqual([
      { path: "a", line: 2 },
    ]);
    expect(read("<parameter>path</parameter>\na </parameter> b\n<parameter>tags</parameter>\n[1]")).toEqual([
      { path: "a </parameter> b", tags: [1] },
    ]);
    expect(read("<parameter>path</parameter>a<parameter=line>2</parameter>")).toEqual([{ path: "a", line: 2 }]);
  });
});

test("a repeated end of a call is not text, and neither is Qwen3.6's other word for it", () => {
  const call = (end: string) => `<tool_call>\n<function=edit>\n<parameter=path>\na\n</parameter>\n${end}\n</tool_call>`;
  for (const end of ["</function>\n</function>\n</function_invocation>", "</function_invocation>", "</function>\n</function>"]) {
    expect(argumentsOf(qwen3Coder, call(end))).toEqual([{ path: "a" }]);
    expect(lines(qwen3Coder, call(end), { tools }).filter((line) => line.startsWith("text"))).toEqual([]);
  }
});

describe("glm: repeated or empty tags", () => {
  test.each<[string, unknown]>([
    ["<arg_key>path</arg_key></arg_key><arg_value>a</arg_value>", { path: "a" }],
    [
      "<arg_key><arg_key>path</arg_key><arg_value>a</arg_value><arg_key><arg_key>line</arg_key><arg_value>2</arg_value>",
      { path: "a", line: 2 },
    ],
    ["<arg_key><arg_key>path</arg_key></arg_key>\na</arg_value>", { path: "a" }],
    ["</arg_value>", {}],
    ["\n</arg_value>\n<arg_key>line</arg_key><arg_value>2</arg_value>", { line: 2 }],
  ])("%s", (pairs, value) => expect(argumentsOf(glm, `<tool_call>edit${pairs}</tool_call>`)).toEqual([value]));
  test("a closer before no legal token is part of the value", () => {
    const text = "<tool_call>edit<arg_key>path</arg_key><arg_value>a</arg_value></arg_value></tool_call>";
    expect(argumentsOf(glm, text)).toEqual([{ path: "a</arg_value>" }]);
  });
});

test("glm: a first key that is opened like a call is read, if it is declared", () => {
  const rest = "line</arg_key>\n<arg_value>2</arg_value>\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>";
  for (const gap of ["", "\n"]) {
    const text = `<tool_call>edit${gap}<tool_call>${rest}`;
    expect(argumentsOf(glm, text)).toEqual([{ line: 2, path: "a" }]);
    expect(argumentsOf(glm, `${text}${gap}${text}`)).toHaveLength(2);
    expect(endsOf(scanPieces(glm, [text.slice(0, 25)], { tools }))).toMatchObject([{ arguments: {}, truncated: true }]);
  }
  expect(argumentsOf(glm, "<tool_call>edit<tool_call>line</tool_call>")).toEqual([{}, {}]);
});

describe("glm: a sentence that mentions both tags is no call", () => {
  test.each([
    ["in backticks", "Write `<tool_call>` and `</tool_call>`.", ["text Write `", "malformed no-name", "text `."]],
    ["as words", "Between <tool_call> and </tool_call>.", ["text Between ", "malformed no-name", "text ."]],
    ["one tag twice", "`<tool_call>` is `<tool_call>`.", ["text `<tool_call>` is `<tool_call>`."]],
    ["before the end", "`<tool_call>` is", ["text `<tool_call>` is"]],
    ["before a stop", "<tool_call> is a tag<|user|>", ["text <tool_call> is a tag", "control <|user|>"]],
  ])("%s", (_, text, expected) => {
    expect(lines(glm, text)).toEqual(expected);
    expect(lines(glm, text, { tools })).toEqual(expected);
  });
  test("but a name in several words is, if it has arguments", () => {
    expect(lines(glm, "<tool_call>a b <arg_key>c</arg_key><arg_value>d</arg_value></tool_call>")).toEqual(['call a b{"c":"d"}']);
    expect(lines(glm, '<tool_call>a b {"c": "d"}</tool_call>')).toEqual(['call a b{"c":"d"}']);
  });
});

test("qwen3-coder: a sentence that mentions both tags of a call is text", () => {
  const text = "Write `<function=` and `</function>`.";
  expect(lines(qwen3Coder, text, { tools })).toEqual([`text ${text}`]);
});

describe("glm: in LongCat's spelling", () => {
  const call = (body: string) => `<longcat_tool_call>${body}</longcat_tool_call>`;
  test.each([
    ["tags", "edit\n<longcat_arg_key>line</longcat_arg_key>\n<longcat_arg_value>2</longcat_arg_value>\n"],
    ["tags without their closers", "edit<longcat_arg_key>line<longcat_arg_value>2"],
    ["a JSON object", '\n{"name": "edit", "arguments": {"line": 2}}\n'],
  ])("%s", (_, body) => expect(argumentsOf(glm, call(body) + call(body))).toEqual([{ line: 2 }, { line: 2 }]));

  test("GLM's own tags are text in it", () => {
    const value = "<arg_key>a</arg_key></arg_value></tool_call>";
    const text = call(`edit<longcat_arg_key>path</longcat_arg_key><longcat_arg_value>${value}</longcat_arg_value>`);
    expect(argumentsOf(glm, text)).toEqual([{ path: value }]);
  });
});

describe("glm: a value without its opener", () => {
  const call = (pairs: string) => `<tool_call>edit${pairs}</tool_call>`;
  const good = "<arg_key>line</arg_key><arg_value>2</arg_value>";
  test("ends at its closer", () => {
    expect(argumentsOf(glm, call(`<arg_key>path</arg_key>a b</arg_value>${good}`))).toEqual([{ path: "a b", line: 2 }]);
    expect(argumentsOf(glm, call(`${good}<arg_key>path</arg_key>\na </arg_value> b</arg_value>`))).toEqual([
      { line: 2, path: "a </arg_value> b" },
    ]);
  });
  test("or at the next key, or at the end of the call", () => {
    expect(argumentsOf(glm, call("<arg_key>path</arg_key>a") + call(good))).toEqual([{ path: "a" }, { line: 2 }]);
    expect(argumentsOf(glm, call(`<arg_key>path</arg_key>a${good}`))).toEqual([{ path: "a", line: 2 }]);
  });
  test("that is missing makes the call malformed, and does not affect its neighbour", () => {
    for (const bad of ["<arg_key>path</arg_key>", `<arg_key>path</arg_key>${good}`])
      expect(lines(glm, call(bad) + call(good), { tools })).toEqual(["malformed bad-arguments", 'call edit{"line":2}']);
  });
});

describe("glm: a value without its closer", () => {
  const call = (pairs: string) => `<tool_call>edit${pairs}</tool_call>`;
  const path = "<arg_key>path</arg_key><arg_value>a";
  test("ends at the next key", () => {
    expect(argumentsOf(glm, call(`${path}\n<arg_key>line</arg_key>\n<arg_value>2</arg_value>`))).toEqual([{ path: "a\n", line: 2 }]);
    expect(argumentsOf(glm, call("<arg_key>line</arg_key><arg_value>2<arg_key>path</arg_key><arg_value>a</arg_value>"))).toEqual([
      { line: 2, path: "a" },
    ]);
  });
  test("ends with its call, and the next call is read", () => {
    expect(argumentsOf(glm, `${call(path)}\n${call(path)}<|observation|>`)).toEqual([{ path: "a" }, { path: "a" }]);
  });
  test("ends with its call at the end of the output, where the stop token was removed", () => {
    expect(lines(glm, call(path), { tools })).toEqual(['call edit{"path":"a"}']);
  });
  test("does not end at an undeclared key, nor at one that the call already has, nor at a call that it quotes", () => {
    const quotes = [
      "<arg_key>other</arg_key><arg_value>b",
      "<arg_key>path</arg_key><arg_value>b",
      "see <tool_call>edit<arg_key>line</arg_key>",
      "</tool_call>, so it ends",
    ];
    for (const quoted of quotes)
      expect(argumentsOf(glm, call(`<arg_key>path</arg_key><arg_value>${quoted}</arg_value>`))).toEqual([{ path: quoted }]);
  });
});

describe("a call without its block", () => {
  test("needs something legal after an undeclared name", () => {
    const prose = "Write <function=name> and then its parameters.";
    expect(textOf(scanPieces(qwen3Coder, [prose], { tools }))).toBe(prose);
    expect(argumentsOf(qwen3Coder, "<function=name>\n<parameter=a>1</parameter></function>")).toEqual([{ a: "1" }]);
  });
  test("in MiniMax-M2 must begin a line, or be declared", () => {
    const call = (name: string) => `<invoke name="${name}"></invoke>`;
    expect(argumentsOf(minimaxM2, `so ${call("other")}\n${call("other")} ${call("edit")}`)).toEqual([{}, {}]);
    const scanner = minimaxM2.createScanner({ tools });
    const events = ["so", "\n", call("other")].flatMap((piece) => scanner.feed(piece));
    expect(endsOf(events)).toHaveLength(1);
    for (const thought of ["<think>Hm</think>", "Hm</think>"]) expect(argumentsOf(minimaxM2, `${thought}${call("other")}`)).toEqual([{}]);
  });
});

test("a quoted name or key may contain what would end it", () => {
  const args = { "a > b": "1", "": "2", " c": "3", "d/": "4", '"e"': "5" };
  for (const dialect of [qwen3Coder, minimaxM2, deepseekV32])
    expect(argumentsOf(dialect, promptText(dialect.renderToolCalls([{ name: "edit", arguments: args }])), {})).toEqual([args]);
});

describe("a schema without a JSON type states the type in other words", () => {
  test.each<[JsonObject, string, Json]>([
    [{ enum: [1, 2] }, "2", 2],
    [{ const: 5 }, "5", 5],
    [{ enum: [true, false, null] }, "true", true],
    [{ enum: [true, false, null] }, "null", null],
    [{ enum: ["1", "2"] }, "2", "2"],
    [{ enum: ["1", 2] }, "2", "2"],
    [{ enum: ["a", null] }, "null", null],
    [{ properties: { b: { type: "string" } } }, '{"b": "x"}', { b: "x" }],
    [{ items: { type: "integer" } }, "[1]", [1]],
    [{ anyOf: [{ const: 1 }, { const: 2 }] }, "1", 1],
    [{ description: "any" }, "1", "1"],
    [{ type: "str" }, "02134", "02134"],
    [{ type: ["VARCHAR", "null"] }, "1", "1"],
    [{ type: "int" }, "1", 1],
  ])("%j reads %s as %j", (schema, text, value) => {
    const declared = { tools: [{ name: "f", parameters: { type: "object", properties: { a: schema } } }] };
    for (const [dialect, input] of [
      [qwen3Coder, `<tool_call><function=f><parameter=a>${text}</parameter></function></tool_call>`],
      [glm, `<tool_call>f<arg_key>a</arg_key><arg_value>${text}</arg_value></tool_call>`],
      [minimaxM2, `<minimax:tool_call><invoke name="f"><parameter name="a">${text}</parameter></invoke></minimax:tool_call>`],
    ] as const)
      expect(argumentsOf(dialect, input, declared)).toEqual([{ a: value }]);
  });
  test("where spelling decides types, the schema still makes a value a string", () => {
    const declared = { tools: [{ name: "f", parameters: { type: "object", properties: { a: { enum: ["a", "1"] } } } }] };
    expect(argumentsOf(gemma4, "<|tool_call>call:f{a:1}<tool_call|>", declared)).toEqual([{ a: "1" }]);
  });
});

describe("an unreadable call does not affect its neighbour", () => {
  const good = '<invoke name="f"><parameter name="a">1</parameter></invoke>';
  const long = `<invoke name="${"g".repeat(600)}">`;
  const functions = (block: string): string => block.replace(/ name="(\w+)"/g, "=$1").replaceAll("invoke", "function");
  const forms: [Dialect, (block: string) => string][] = [
    [minimaxM2, (block) => `<minimax:tool_call>${block}</minimax:tool_call>`],
    [deepseekV32, (block) => `<function_calls>${block}</function_calls>`.replace(/<(\/?)/g, "<$1｜DSML｜")],
    [qwen3Coder, (block) => functions(`<tool_call>${block}</tool_call>`)],
    [seedOss, (block) => functions(`<seed:tool_call>${block}</seed:tool_call>`)],
  ];
  test.each<[string, string]>([
    ["no parameter", '<invoke name="g">junk</invoke>'],
    ["no call", "<bad>"],
    ["on lines of its own", '\n<invoke name="g">\njunk\n</invoke>\n'],
    ["a name too long", `${long}</invoke>\n`],
  ])("%s", (_, bad) => {
    for (const [dialect, form] of forms) {
      const read = lines(dialect, `${form(`${bad}${good}\n${good}`)}x`).filter((line) => !line.startsWith("control"));
      expect(read).toEqual([expect.stringMatching(/^malformed/), 'call f{"a":"1"}', 'call f{"a":"1"}', "text x"]);
    }
  });
});

test("qwen3-coder: ZAYA1's tag surrounds calls like Qwen's", () => {
  const call = "<zyphra_tool_call>\n<function=edit>\n<parameter=line>\n2\n</parameter>\n</function>\n</zyphra_tool_call>\n";
  expect(textOf(scanPieces(qwen3Coder, [call + call], { tools })).trim()).toBe("");
  expect(argumentsOf(qwen3Coder, call + call)).toEqual([{ line: 2 }, { line: 2 }]);
});

describe("qwen3-coder: blanks in closing tags", () => {
  const call = (inside: string): string => `<tool_call>\n<function=f>${inside}\n</tool_call>x`;
  test.each(["</parameter >", "</ parameter>", "< /parameter>"])("%s closes a parameter, before a legal token", (closer) => {
    const ends = [closer.replace("parameter", "function"), "</function>"];
    for (const end of ends) {
      const inside = `<parameter=a>\n1\n${closer}\n<parameter=b>2</parameter>\n${end}`;
      expect(lines(qwen3Coder, call(inside))).toEqual(['call f{"a":"1","b":"2"}', "control \n</tool_call>", "text x"]);
      expect(lines(qwen3Coder, call(`<parameter=a>1${end}`))).toEqual(['call f{"a":"1"}', "control </tool_call>", "text x"]);
    }
    expect(argumentsOf(qwen3Coder, call(`<parameter=a>1${closer} or so</parameter></function>`))).toEqual([{ a: `1${closer} or so` }]);
    expect(argumentsOf(qwen3Coder, call(`<parameter=a>1${closer}`).slice(0, -13))).toEqual([{ a: "1" }]);
  });
});

test("minimax-m2: a stop token is not part of a tag", () => {
  expect(lines(minimaxM2, "a <invoke [e~[")).toEqual(["text a <invoke ", "control [e~["]);
  expect(lines(minimaxM2, "<minimax:tool_call><invoke x[e~[b")).toEqual(["malformed no-name", "control [e~[", "text b"]);
});

test("qwen3-coder: names after a blank are read, if a declared tool is called", () => {
  const call = "<tool_call><function edit>\n<parameter path>\na\n</parameter></function></tool_call>";
  const declared = { tools: [{ name: "edit" }] };
  expect(lines(qwen3Coder, call, declared)[0]).toBe('call edit{"path":"a"}');
  expect(lines(qwen3Coder, call.replace("edit", "other"), declared)).toEqual(["malformed no-name"]);
  expect(lines(qwen3Coder, call.replace("edit", "edit it"), declared)).toEqual(["malformed no-name"]);
  expect(lines(qwen3Coder, call.replace(" path", " a path"), declared)).toEqual(["malformed bad-arguments"]);
});

test("qwen3-coder: names as attributes are read, if a declared tool is called", () => {
  const call = (name: string): string =>
    `<tool_call>\n<function name="${name}">\n<parameter name="path">\na\n</parameter>\n<parameter name='text'>b</parameter>\n</function>\n</tool_call>x`;
  const declared = { tools: [{ name: "edit" }] };
  expect(lines(qwen3Coder, call("edit"), declared)).toEqual(['call edit{"path":"a","text":"b"}', "control \n</tool_call>", "text x"]);
  expect(lines(qwen3Coder, call("other"), declared)).toEqual(["malformed no-name", "text x"]);
  expect(lines(qwen3Coder, call("edit").replace('<function name="edit">', "<function=f>"))[0]).toBe('call f{"path":"a","text":"b"}');
  const quoted = '</parameter>\n<parameter name="x">b';
  expect(argumentsOf(qwen3Coder, `<function=edit><parameter=path>${quoted}</parameter></function>`)).toEqual([{ path: quoted }]);
});

test("a repeated closer is content in a text, and nowhere else", () => {
  const read = (value: string) => argumentsOf(qwen3Coder, `<function=edit>\n<parameter=path>\na\n</parameter>${value}\n</function>`);
  const twice = "\n</parameter>\n</parameter>";
  expect(read(`\n<parameter=line>\n2${twice}`)).toEqual([{ path: "a", line: 2 }]);
  expect(read(`\n<parameter=tags>\n["b"]${twice}\n<parameter=line>3</parameter>`)).toEqual([{ path: "a", tags: ["b"], line: 3 }]);
  expect(read(`\n<parameter=line>\n2${twice}\n</parameter>`)).toEqual([{ path: "a", line: "2\n</parameter>\n</parameter>" }]);
  expect(read("\n</parameter>")).toEqual([{ path: "a\n</parameter>" }]);
});

test("qwen3-coder: arguments as one JSON object after the name are read", () => {
  const read = (inside: string) => lines(qwen3Coder, `<tool_call>\n<function=edit>${inside}</function>\n</tool_call>`);
  expect(read('\n{"path": "</function>", "n": 1}\n')).toEqual(['call edit{"path":"</function>","n":1}', "control \n</tool_call>"]);
  expect(read("{}")).toEqual(["call edit{}", "control \n</tool_call>"]);
  expect(read("{path")).toEqual(["malformed bad-arguments"]);
});

test("glm: arguments as one JSON object after the name, as GLM-4 wrote them, are read", () => {
  const read = (inside: string) => lines(glm, `<tool_call>${inside}</tool_call>x`);
  expect(read('edit{"path": "</tool_call>", "n": 1.0}')).toEqual(['call edit{"path":"</tool_call>","n":1}', "text x"]);
  expect(read("now\n{}\n")).toEqual(["call now{}", "text x"]);
  expect(read("edit\n{path")).toEqual(["malformed bad-arguments", "text x"]);
  expect(lines(glm, '<tool_call>edit\n{"path": "a')).toEqual(['cut edit{"path":"a"}']);
});

describe.each([
  ["deepseek-v3.2", deepseekV32],
  ["deepseek-v4", deepseekV4],
])("%s: deviations of its marker", (_, dialect) => {
  const block = `<｜DSML｜tool_calls>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="a" string="true">x</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>y`;
  const tools = [{ name: "f", parameters: { properties: { a: { type: "string" }, n: { type: "integer" } } } }];

  test.each(["|", "｜｜", "||", "‖"])("bars such as %s are the same marks", (bar) => {
    expect(lines(dialect, block.replaceAll("｜", bar))).toEqual(['call f{"a":"x"}', `control \n</${bar}DSML${bar}tool_calls>`, "text y"]);
    const blank = block.replaceAll("tool_calls", "calls").replaceAll("｜DSML｜", `${bar}DSML${bar} `);
    expect(lines(dialect, blank)).toEqual(['call f{"a":"x"}', `control \n</${bar}DSML${bar} calls>`, "text y"]);
  });
  test("the block's word may lack its underscore, and its tag the end", () => {
    for (const slip of ["<｜DSML｜toolcalls>", "<｜DSML｜tool_calls", "<｜DSML｜calls>"])
      expect(lines(dialect, block.replace("<｜DSML｜tool_calls>", slip))).toEqual([
        'call f{"a":"x"}',
        "control \n</｜DSML｜tool_calls>",
        "text y",
      ]);
  });
  test("the other tags may lack the marker's name, or have other quotes", () => {
    const nameless = block.replace(/｜DSML｜(?=invoke|parameter)/g, "｜｜");
    for (const slip of [nameless, block.replace(/"(\w+)"/g, "“$1”")])
      expect(lines(dialect, slip)).toEqual(['call f{"a":"x"}', "control \n</｜DSML｜tool_calls>", "text y"]);
  });
  test("closers without a call are not text, and those of an ignored call are thinking", () => {
    const closers = /<\/.*?>/g;
    const tail = block.slice(block.indexOf("</"), -1);
    const controls = (tail.match(closers) ?? []).map((closer) => `control ${closer}`);
    expect(controls).toHaveLength(3);
    const found = (input: string) => lines(dialect, input).filter((line) => line !== "text \n");
    expect(found(`Hm.${tail}`)).toEqual(["text Hm.", ...controls]);
    expect(found(`${block.slice(0, -1)}${tail}`)).toEqual(['call f{"a":"x"}', "control \n</｜DSML｜tool_calls>", ...controls]);
    expect(found(block.replace("</｜DSML｜tool_calls>", "</｜DSML｜parameter>$&"))).toEqual([
      ...['call f{"a":"x"}', "control </｜DSML｜parameter>", "control </｜DSML｜tool_calls>", "text y"],
    ]);
    const ignored = lines(dialect, `${block}</think>z`, { startInThinking: true, callsInThinking: "ignore" });
    expect(ignored).toEqual([`thinking ${block}`, "text z"]);
  });
  test("a declared parameter may lack the marker", () => {
    const parameter = block.replace("<｜DSML｜parameter", "<parameter").replace(' string="true"', "");
    expect(lines(dialect, parameter, { tools })).toEqual(['call f{"a":"x"}', "control \n</｜DSML｜tool_calls>", "text y"]);
    expect(lines(dialect, parameter.replace('"a"', '"b"'), { tools })).toEqual(["malformed bad-arguments", "text y"]);
  });

  describe("if a server drops special tokens, the rest is still read", () => {
    const rest = block.replaceAll("｜DSML｜", "");
    const blank = rest.replaceAll("tool_calls", "calls").replace(/<\/?/g, "$& ");
    test.each([
      ["a block", rest, ["control \n</tool_calls>", "text y"]],
      ["another word", rest.replaceAll("tool", "function"), ["control \n</function_calls>", "text y"]],
      ["blanks in the tags", blank, ["control \n</ calls>", "text y"]],
      ["no block", rest.replaceAll(/<\/?tool_calls>\n?/g, ""), ["text \ny"]],
    ])("%s", (_, text, behind) => {
      expect(lines(dialect, `Look.\n\n${text}`, { tools })).toEqual(["text Look.\n\n", 'call f{"a":"x"}', ...behind]);
    });
    test("unless the tool is undeclared, or the text only mentions it", () => {
      expect(lines(dialect, rest)).toEqual([`text ${rest}`]);
      const quoted = 'Write <invoke name="f"> and </tool_calls>, or <invoke f>.';
      expect(lines(dialect, quoted, { tools })).toEqual([`text ${quoted}`]);
    });
    test("types are as stated, or else as declared", () => {
      const call = '<invoke name="f"><parameter name="a" string="false">[1]</parameter><parameter name="n">2</parameter></invoke>';
      expect(lines(dialect, call, { tools })).toEqual(['call f{"a":[1],"n":2}']);
    });
  });
});

test("a call without a mark that ends the thinking is as long as any call may be, and no longer", () => {
  const call = `<invoke name="edit"><parameter name="path">${"x".repeat(200)}</parameter></invoke>`;
  const options = { tools, startInThinking: true, callsInThinking: "promote", maxCallChars: 100 } as const;
  expect(lines(deepseekV32, call, options).filter((line) => !line.startsWith("control"))).toEqual(["malformed too-long"]);
});

test("a blank name is none", () => {
  expect(lines(deepseekV32, '<｜DSML｜function_calls>\n<｜DSML｜invoke name=" ">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>')[0]).toBe(
    "malformed no-name",
  );
});

const text: JsonObject = { type: "string" };

test.each<[string, JsonObject]>([
  ["another alternative types it differently", { anyOf: [{ properties: { path: { type: "integer" } } }, { properties: { path: text } }] }],
  ["another part of an allOf only describes it", { properties: { path: { title: "p" } }, allOf: [{ properties: { path: text } }] }],
  ["it stands beside a reference", { $ref: "#/$defs/a", properties: { path: text }, $defs: { a: { properties: { b: {} } } } }],
  ["its type stands beside a reference", { properties: { path: { $ref: "#/$defs/a", ...text } }, $defs: { a: { minLength: 1 } } }],
  ["its reference leads to an empty key", { properties: { path: { $ref: "#/$defs/" } }, $defs: { "": text } }],
])("a text that looks like a number stays a string if the schema says string and %s", (_, parameters) => {
  expect(argumentsOf(qwen3Coder, qwen("02134"), { tools: [{ name: "edit", parameters }] })).toEqual([{ path: "02134" }]);
});
