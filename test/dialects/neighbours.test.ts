// An unreadable call does not affect its neighbours, and is never reported as complete: mistakes that models make between calls.
import { describe, expect, test } from "vitest";
import { promptText } from "../../src/dialects/prompt.ts";
import { getDialect, listDialects } from "../../src/dialects/registry.ts";
import { endsOf, lines, scanPieces, units } from "./scanning.ts";

const sections = (first: string) =>
  `<|tool_calls_section_begin|><|tool_call_begin|>functions.b:1<|tool_call_argument_begin|>${first}<|tool_call_end|><|tool_call_begin|>functions.c:2<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>`;
const invokes = (between: string) =>
  `<minimax:tool_call>\n<invoke name="a">\n</invoke>\n${between}\n<invoke name="c">\n</invoke>\n</minimax:tool_call>`;
const list = (between: string) => `[{"name": "b", "arguments": {}}${between}{"name": "c", "arguments": {}}]`;
const forgotten = "<tool_call>\n<function=b>\n<parameter=x>\n1\n";
const next = "<tool_call>\n<function=c>\n</function>\n</tool_call>";

describe("the next call is read", () => {
  test.each<[string, string, string, string[]]>([
    ["a key without its end", "glm", "<tool_call>b<arg_key>x</tool_call><tool_call>c</tool_call>", ["malformed bad-arguments", "call c{}"]],
    ["a key without its colon", "kimi-k2", sections('{"x" 1}'), ["malformed bad-arguments", "call c{}"]],
    ["a name without its quote", "minimax-m2", invokes('<invoke name="b>\n</invoke>'), ["call a{}", "malformed no-name", "call c{}"]],
    [
      "a parameter's name without its quote",
      "minimax-m2",
      invokes('<invoke name="b"><parameter name="x>1</parameter></invoke>'),
      ["call a{}", "malformed bad-arguments", "call c{}"],
    ],
    [
      "a parameter's tag without its end",
      "minimax-m2",
      invokes('<invoke name="b"><parameter name="x"1</parameter></invoke>'),
      ["call a{}", "malformed bad-arguments", "call c{}"],
    ],
    [
      "an attribute without its quote",
      "deepseek-v4",
      '<｜DSML｜tool_calls><｜DSML｜invoke name="b"><｜DSML｜parameter name="x" string="true>1</｜DSML｜parameter><｜DSML｜parameter name="y" string="true">2</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>',
      ["malformed bad-arguments"],
    ],
    ["other markup in a block", "minimax-m2", invokes("<bad>"), ["call a{}", "malformed no-name", "call c{}"]],
    ["prose in a block", "minimax-m2", invokes("And:"), ["call a{}", "text \nAnd:\n", "call c{}"]],
    ["only the block's closer", "qwen3-coder", `${forgotten}</tool_call>\n${next}`, ['call b{"x":"1"}', "call c{}"]],
    [
      "no closer at all: the next call may be quoted",
      "qwen3-coder",
      `${forgotten}${next}`,
      [`cut b${JSON.stringify({ x: `1\n${next}` })}`],
    ],
    ["only the block's closer, and nothing after it", "qwen3-coder", `${forgotten}</tool_call>\n`, ['call b{"x":"1"}']],
    ["one bracket too many", "hermes", `<tool_call>${list("}, ")}</tool_call>`, ["call b{}", "malformed no-name", "call c{}"]],
    ["another separator", "phi4-mini", `functools${list("; ")}`, ["call b{}", "malformed no-name", "call c{}"]],
    [
      "one bracket too few",
      "json",
      '{"name": "b", "parameters": {}\n{"name": "c", "parameters": {}}',
      ["malformed bad-arguments", "call c{}"],
    ],
    [
      "something else in a list",
      "pythonic",
      "<|tool_call_start|>[a(), b, 5, 's', c()]<|tool_call_end|>",
      ["call a{}", "malformed no-name", "malformed no-name", "malformed no-name", "call c{}"],
    ],
    ["no name", "pythonic", "<|tool_call_start|>[a(), b.(x=1), c()]<|tool_call_end|>", ["call a{}", "malformed no-name", "call c{}"]],
  ])("%s: %s", (_, id, input, expected) => {
    expect(lines(getDialect(id), input).filter((line) => !line.startsWith("control "))).toEqual(expected);
  });
});

describe("a call with arguments is never complete without them", () => {
  test.each<[string, string, string[]]>([
    ["hermes", '<tool_call>{"name": "rm", "arguments" {"path": "/tmp"}}</tool_call>', ["malformed bad-arguments"]],
    ["harmony", '<|channel|>commentary to=functions.f<|message|><|message|>{"a": 1}<|call|>', ["malformed bad-arguments"]],
    ["harmony", '<|channel|>commentary to=functions.f<|channel|>commentary json<|message|>{"a": 1}<|call|>', ['call f{"a":1}']],
  ])("%s: %s", (id, input, expected) => {
    expect(lines(getDialect(id), input).filter((line) => !line.startsWith("control "))).toEqual(expected);
  });
});

test("a blank in a closing tag is ignored", () => {
  const input =
    '<｜DSML｜function_calls><｜DSML｜invoke name="b"><｜DSML｜parameter name="x" string="true">1</｜DSML｜parameter ></｜DSML｜invoke ></｜DSML｜function_calls > end';
  expect(lines(getDialect("deepseek-v3.2"), input)).toEqual(['call b{"x":"1"}', "control </｜DSML｜function_calls >", "text  end"]);
  const blank = input.replaceAll("｜DSML｜", "｜DSML｜ ").replaceAll("function_", "");
  expect(lines(getDialect("deepseek-v4"), blank)).toEqual(['call b{"x":"1"}', "control </｜DSML｜ calls >", "text  end"]);
});

describe("a string that quotes the format is content, and what it quotes is not run", () => {
  const write = (content: string) => ({ id: "call_0", name: "write_file", arguments: { path: "p", content } });
  const tools = [
    { name: "write_file", parameters: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } } },
    { name: "ping", parameters: { type: "object", properties: {} } },
  ];
  test.each(listDialects().map((dialect) => [dialect.id, dialect] as const))("%s", (_, dialect) => {
    const ping = promptText(dialect.renderToolCalls([{ id: "call_1", name: "ping", arguments: {} }]));
    const example = `Example:\n${ping}\nEnd`;
    for (const content of [ping, example, `${ping}${ping}.`, `${ping.slice(0, ping.indexOf("ping"))} opens a call`]) {
      const input = promptText(dialect.renderToolCalls([write(content)]));
      for (const pieces of [[input], units(input)])
        for (const declared of content === example ? [tools, []] : [tools])
          expect(endsOf(scanPieces(dialect, pieces, { tools: declared }))).toMatchObject([{ arguments: { path: "p", content } }]);
    }
  });
});

describe("the opening mark of a call alone is text, unless something closes it", () => {
  test.each([
    ["hermes", "<tool_call>", "</tool_call>"],
    ["granite", "<tool_call>", "</tool_call>"],
    ["qwen3-coder", "<tool_call>", "</tool_call>"],
    ["glm", "<tool_call>", "</tool_call>"],
    ["minimax-m2", "<minimax:tool_call>", "</minimax:tool_call>"],
    ["deepseek-v3.2", "<｜DSML｜function_calls>", "</｜DSML｜function_calls>"],
  ])("%s", (id, open, close) => {
    const dialect = getDialect(id);
    const [stop = ""] = dialect.stops;
    const prose = `Use the \`${open}\` tag.\nThen write a call.`;
    for (const text of [prose, prose.slice(0, -prose.length / 2)]) expect(lines(dialect, text)).toEqual([`text ${text}`]);
    expect(lines(dialect, prose + stop)).toEqual([`text ${prose}`, `control ${stop}`]);
    expect(lines(dialect, prose + close)).toEqual(["text Use the `", "malformed no-name"]);
  });
  test.each([
    ["hermes", "<tool_call>"],
    ["qwen3-coder", "<tool_call>"],
    ["qwen3-coder", "<function=f>"],
    ["qwen3-coder", "`<function=`"],
    ["glm", "<tool_call>"],
  ])("%s: in thinking %s is thinking", (id, mark) => {
    for (const thought of [`I use the ${mark} tag to`, `I use the ${mark} tag to\ncall it.`])
      expect(lines(getDialect(id), `<think>${thought}`)).toEqual([`thinking ${thought}`]);
  });
  test("a call after it is read", () => {
    const call = '<tool_call>{"name": "f"}</tool_call>';
    expect(lines(getDialect("hermes"), `The <tool_call> tag: ${call}`)).toEqual([
      "text The <tool_call> tag: ",
      "call f{}",
      "control </tool_call>",
    ]);
  });
});
