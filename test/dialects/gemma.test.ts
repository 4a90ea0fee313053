// Google's dialects: what the vectors leave open. Models drift to JSON's quotes, to Python's calls, or lose a quote.
import { describe, expect, test } from "vitest";
import type { JsonObject, Tool } from "../../src/core/nouns.ts";
import { functiongemma } from "../../src/dialects/functiongemma.ts";
import { gemma4 } from "../../src/dialects/gemma4.ts";
import { lines } from "./scanning.ts";

const Q = '<|"|>';
const declared = (properties: JsonObject): Tool[] => [{ name: "f", parameters: { type: "object", properties } }];
const tools = declared({ content: { type: "string" } });
const read = (args: string, options = {}) => lines(gemma4, `<|tool_call>call:f${args}<tool_call|>`, options);
const called = (value: unknown) => [`call f${JSON.stringify(value)}`, "control <tool_call|>"];

describe("everything between ASCII quotes is content", () => {
  test.each<[string, unknown]>([
    ['{"content": "has } brace"}', { content: "has } brace" }],
    ['{content:"a, b: c"}', { content: "a, b: c" }],
    ["{content:'a, b'}", { content: "a, b" }],
    ["{pattern:'a}b',n:1}", { pattern: "a}b", n: 1 }],
    [`{"url":"https://x.y/a",'wait':true,k:${Q}v${Q}}`, { url: "https://x.y/a", wait: true, k: "v" }],
    ['{tags:["a, b" , "c"],o:{"x":"{"}}', { tags: ["a, b", "c"], o: { x: "{" } }],
    ["{content:'it's so'}", { content: "it's so" }],
    ['{content:""}', { content: "" }],
  ])("%s", (args, value) => expect(read(args)).toEqual(called(value)));

  test("JSON escapes are decoded; others stay as they are", () => {
    expect(read(String.raw`{content:"say \"hi\", \u00e9\n"}`)).toEqual(called({ content: 'say "hi", é\n' }));
    expect(read(String.raw`{content:'\d+\.\w'}`)).toEqual(called({ content: String.raw`\d+\.\w` }));
  });
  test("the end of the block ends an unclosed string", () => {
    expect(read("{content:'tis}", { tools })).toEqual(["malformed bad-arguments"]);
    expect(lines(gemma4, '<|tool_call>call:f{content:"a, ')).toEqual(['cut f{"content":"a, "}']);
    expect(lines(functiongemma, '<start_function_call>call:f{a:"x, y"}<end_function_call>')).toEqual([
      'call f{"a":"x, y"}',
      "control <end_function_call>",
    ]);
  });
  test("between the dialect's own quotes they are ordinary characters", () => {
    expect(read(`{content:${Q}it's "so", \\n${Q}}`)).toEqual(called({ content: `it's "so", \\n` }));
  });
});

test.each<[string, unknown]>([
  [`(content=${Q}x, y)${Q})`, { content: "x, y)" }],
  [`(content="x", n=2, on=true)`, { content: "x", n: 2, on: true }],
  [`(content='(a)', l=[1,${Q}a${Q}], o={a:${Q}b${Q},c:{d:1}})`, { content: "(a)", l: [1, "a"], o: { a: "b", c: { d: 1 } } }],
])("a declared call in Python's form may have any value: %s", (args, value) => {
  expect(read(args, { tools })).toEqual(called(value));
  expect(read(args)).toEqual(["malformed no-name"]);
});

test("the dialect's own quote may follow a closing ASCII one", () => {
  expect(read(`{a:'x, y'${Q},b:"z"${Q}}`)).toEqual(called({ a: "x, y", b: "z" }));
  expect(read(`{a:'x' ${Q}}`)).toEqual(["malformed bad-arguments"]);
});

test("extra brackets before the end of a call are not text", () => {
  for (const end of ["}", ")", "]", "} }"]) expect(read(`{o:{a:1}}${end}`)).toEqual(['call f{"o":{"a":1}}', `control ${end}<tool_call|>`]);
  expect(read("{}} is it")).toEqual(["call f{}", "text } is it", "control <tool_call|>"]);
});

test("a string may lack its first quote", () => {
  expect(read(`{query:weather in Tokyo${Q}}`)).toEqual(called({ query: "weather in Tokyo" }));
  expect(read(`{query: 12${Q} ,l:[a${Q},2]}`)).toEqual(called({ query: "12", l: ["a", 2] }));
  expect(read(`{query:Paris, France${Q}}`)).toEqual(["malformed bad-arguments"]);
});

describe("a call of a declared tool without its opener", () => {
  test.each<[string, string[]]>([
    ["call:ns:mcp:f{}", ["call f{}"]],
    ["<call>f:f{content:x}", ['call f{"content":"x"}']],
    ["\n call:f{}", ["text \n ", "call f{}"]],
    ["<|channel>thought\nhm<channel|>call:f{}", ["thinking hm", "call f{}"]],
    ["thought\nhm<channel|>\ncall:f{}", ["thinking hm", "text \n", "call f{}"]],
  ])("is read at the start of the answer: %j", (text, expected) => expect(lines(gemma4, text, { tools })).toEqual(expected));
  test.each([
    "call:g{}",
    "call:ns:g{}",
    "call: f{}",
    "call:f (x)",
    "call:f(content=1)",
    "call me f{}",
    "I call:f{}",
    `call:${"n".repeat(300)}:f{}`,
  ])("is text anywhere else: %j", (text) => expect(lines(gemma4, text, { tools })).toEqual([`text ${text}`]));
  test("is text if no tools are declared", () => expect(lines(gemma4, "call:f{}")).toEqual(["text call:f{}"]));
});

describe("a call of a declared tool after its opener", () => {
  const block = (inside: string) => lines(gemma4, `<|tool_call>${inside}<tool_call|>x`, { tools });
  test.each<[string, string]>([
    ['call:f({"content":"a"}', ")"],
    ["call:f( {content:a}", " )"],
    ['call:f{{"content": "a"}', "}"],
    [`call:f{ {content:${Q}a${Q}}`, "\n}"],
  ])("may have other brackets around its braces: %j", (inside, end) => {
    expect(block(inside + end)).toEqual(['call f{"content":"a"}', `control ${end}<tool_call|>`, "text x"]);
    expect(lines(gemma4, `<|tool_call>${inside}`, { tools })).toEqual(['call f{"content":"a"}']);
    expect(lines(gemma4, `<|tool_call>${inside}${end}<tool_call|>`)[0]).toMatch(/^malformed/);
  });
  test("starts as soon as its name is known, whatever follows", () => {
    const scanner = gemma4.createScanner({ tools });
    expect(scanner.feed("<|tool_call>call:f{")).toMatchObject([{ type: "tool-start", name: "f" }]);
    expect(scanner.flush().at(-1)).toMatchObject({ type: "tool-end", arguments: {}, truncated: true });
  });
  test.each([":f{content:a}", " :call:f{content:a}", ": ns:f {content:a}"])("may lack the word `call`: %j", (inside) => {
    expect(block(inside)).toEqual(['call f{"content":"a"}', "control <tool_call|>", "text x"]);
    expect(lines(gemma4, `<|tool_call>${inside}<tool_call|>x`)).toEqual(["malformed no-name", "text x"]);
    expect(lines(functiongemma, `<start_function_call>${inside}`, { tools })).toEqual(["malformed no-name"]);
  });
  test.each([":g{}", ":f", `:${"n".repeat(300)}:f{}`, "f{content:a}", "ns:f{}", "f", "call:f", "call:g(a=1)", "call:f please", "{}"])(
    "needs a colon before its name, and its brackets: %j",
    (inside) => {
      expect(block(inside)).toEqual(["malformed no-name", "text x"]);
    },
  );
});

test("consecutive calls of declared tools are read without any mark", () => {
  const all = [...tools, { name: "g" }];
  expect(lines(gemma4, "call:f{content:a}call:g{}\ncall:f{}", { tools: all })).toEqual(['call f{"content":"a"}', "call g{}", "call f{}"]);
  expect(lines(gemma4, "call:g{} and call:f{}", { tools: all })).toEqual(["call g{}", "text  and call:f{}"]);
  expect(lines(gemma4, "call:g{}\ncall:h{}", { tools: all })).toEqual(["call g{}", "text \ncall:h{}"]);
});

describe("a block may hold several calls", () => {
  test.each<[string, string[]]>([
    ["call:f{}call:g-h{a:1}", ["call f{}", 'call g-h{"a":1}', "control <tool_call|>"]],
    ["call:f{}\n call:f{}", ["call f{}", "call f{}", "control <tool_call|>"]],
  ])("%j", (block, events) => {
    expect(lines(gemma4, `<|tool_call>${block}<tool_call|>`)).toEqual(events);
    const ends = events.map((line) => line.replace("<tool_call|>", "<end_function_call>"));
    expect(lines(functiongemma, `<start_function_call>${block}<end_function_call>`)).toEqual(ends);
  });

  test.each(["call: me", "calling", "call:{}", "call:g"])("%j after a call is text", (text) =>
    expect(lines(gemma4, `<|tool_call>call:f{}${text}`)).toEqual(["call f{}", `text ${text}`]),
  );
});

describe("types come from the schema, not from a guess", () => {
  test.each<[JsonObject, string, unknown]>([
    [{ type: "array", prefixItems: [{ type: "string" }, { type: "integer" }] }, "[02134,7]", ["02134", 7]],
    [{ type: "array", items: [{ type: "string" }, { type: "integer" }], additionalItems: { type: "string" } }, "[1,1,1]", ["1", 1, "1"]],
    [{ type: "array", prefixItems: [{ type: "array", items: { type: "string" } }], items: { type: "string" } }, "[[1],2]", [["1"], "2"]],
    [{ type: ["string", "integer"] }, "02134", "02134"],
    [{ type: ["string", "integer"] }, "2134", 2134],
  ])("%j: %s", (p, text, value) => expect(read(`{p:${text}}`, { tools: declared({ p }) })).toEqual(called({ p: value })));
});
