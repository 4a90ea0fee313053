// MiniCPM5: values in CDATA sections, and the deviations that vLLM's parser knows.
import { expect, test } from "vitest";
import { minicpm5 } from "../../src/dialects/minicpm5.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { lines, scanPieces } from "./scanning.ts";

const call = (value: string): string => `<function name="f"><param name="a">${value}</param></function>`;
const tools = [{ name: "f", parameters: { type: "object", properties: { a: { type: "string" }, o: { type: "object" } } } }];

test.each([
  ["markup and closers", "<b>x</b></param></function>"],
  ["text that looks like the next parameter", '</param><param name="b">1</param>'],
  ["the end of a section", "a]]>b]]"],
  ["nothing", ""],
  ["a section", "<![CDATA[x]]>"],
])("a section may contain %s", (_, value) => {
  expect(lines(minicpm5, call(`<![CDATA[${value}]]>`))).toEqual([`call f{"a":${JSON.stringify(value)}}`]);
});

test("a truncated section streams what there is of it, and half its opener is ignored", () => {
  expect(lines(minicpm5, '<function name="f"><param name="a"><![CDATA[x')).toEqual(['cut f{"a":"x"}']);
  expect(lines(minicpm5, '<function name="f"><param name="a"><![CDA')).toEqual(["cut f{}"]);
  const scanner = minicpm5.createScanner({ tools });
  const events = scanner.feed('<function name="f"><param name="a"><![CDATA[<b>');
  expect(events.at(-1)).toMatchObject({ type: "tool-delta", json: '{"a":"<b>' });
});

test("a section may be on lines of its own", () => {
  expect(lines(minicpm5, call("\n<![CDATA[\nx\n]]>\n"))).toEqual(['call f{"a":"\\nx\\n"}']);
  expect(lines(minicpm5, call("<![CDATA[x]]>\n"))).toEqual(['call f{"a":"x"}']);
  expect(lines(minicpm5, call("\nx\n"))).toEqual(['call f{"a":"\\nx\\n"}']);
});

test("a section elsewhere in a value is text", () => {
  expect(lines(minicpm5, call("x <![CDATA[y]]>"))).toEqual(['call f{"a":"x <![CDATA[y]]>"}']);
});

test("objects and lists are read as Python prints them", () => {
  const text = `<function name="f"><param name="o">{'a': "it's", 'b': [True, None, 1.50]}</param></function>`;
  const [end] = scanPieces(minicpm5, [text], { tools }).filter((event) => event.type === "tool-end");
  expect(end).toMatchObject({
    arguments: { o: { a: "it's", b: [true, null, 1.5] } },
    json: `{"o":{"a": "it's", "b": [true, null, 1.50]}}`,
  });
});

test("values that Python would escape differently are written as JSON", () => {
  const written = promptText(minicpm5.renderToolCall({ name: "f", arguments: { o: { a: "\u00a0" } } }));
  expect(written).toBe('<function name="f"><param name="o">{"a": "\u00a0"}</param></function>');
});

test("missing blanks after tokens, or blanks in the tokenizer's spelling, are accepted", () => {
  for (const blank of ["", "\u0120"]) {
    const text = `<function${blank}name="f"><paramname="a">1</param></function>`;
    expect(lines(minicpm5, text, { tools })).toEqual(['call f{"a":"1"}']);
  }
});

test("all arguments in one parameter, in OpenAI's wrapper, are unwrapped", () => {
  const text = `<function name="f"><param name="properties">{'a': 'x'}</param></function>`;
  expect(lines(minicpm5, text, { tools })).toEqual(['call f{"a":"x"}']);
});

test("an explanation of the format is text", () => {
  const text = 'Write <function name="g"> and <param name="x">, then </function>. <functional> <function>';
  expect(lines(minicpm5, text)).toEqual([`text ${text}`]);
});

test("consecutive calls are read, and an unreadable call does not affect its neighbour", () => {
  expect(lines(minicpm5, `${call("1")}\n${call("2")}<|im_end|>`)).toEqual([
    'call f{"a":"1"}',
    "text \n",
    'call f{"a":"2"}',
    "control <|im_end|>",
  ]);
  expect(lines(minicpm5, `<function name="f">junk</function>${call("2")}`, { tools })).toEqual([
    "malformed bad-arguments",
    'call f{"a":"2"}',
  ]);
});
