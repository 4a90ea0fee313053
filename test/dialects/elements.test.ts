// Calls in elements, as Kimi K3 and MiniMax-M3 write them: what the vectors leave open.
import { describe, expect, test } from "vitest";
import type { JsonObject, Tool } from "../../src/core/nouns.ts";
import { kimiK3 } from "../../src/dialects/kimi-k3.ts";
import { minimaxM3 } from "../../src/dialects/minimax-m3.ts";
import { lines } from "./scanning.ts";

describe("kimi-k3", () => {
  const element = (tag: string, body: string, name = tag) => `<|open|>${tag}<|sep|>${body}<|close|>${name}<|sep|>`;
  const call = (body: string, name = "f") => element(`call tool="${name}" index="1"`, body, "call");
  const block = (...calls: string[]) => element("tools", calls.join(""));
  const string = (text: string) => element('argument key="a" type="string"', text, "argument");
  const json = (text: string) => element('json type="object"', text, "json");

  test.each<[string, string, string[]]>([
    ["arguments as one JSON object", block(call(json('{"a": 1}'))), ['call f{"a":1}']],
    ["no arguments", block(call(json(" "))), ["call f{}"]],
    ["arguments that are not an object are malformed", block(call(json("[1]")), call("", "g")), ["malformed bad-arguments", "call g{}"]],
    ["half an object is malformed", block(call(json('{"a": 1, "b": '))), ["malformed bad-arguments"]],
    [
      "so is an object beside other arguments",
      block(call(string("x") + json('{"b": 1}')), call(json('{"b": 1}') + string("x")), call("", "g")),
      ["malformed bad-arguments", "malformed bad-arguments", "call g{}"],
    ],
    [
      "the token after the head of an argument may not be lost, but its neighbour is read",
      block(call(string("x").replace("<|sep|>", "")), call(string("y"))),
      ["malformed bad-arguments", 'call f{"a":"y"}'],
    ],
    ["the tokens between a block and its first call may be lost", block(call("")).replace("<|sep|><|open|>", ""), ["call f{}"]],
    [
      "an integer is a number, and an unknown type is none",
      block(call(string("1").replace('"string"', '"integer"') + string("1").replace('"a" type="string"', '"b" type="text"'))),
      ['call f{"a":1,"b":"1"}'],
    ],
    ["names are unescaped", block(call("", "a &quot;b&quot; &amp;amp;")), ['call a "b" &amp;{}']],
    [
      "a call without a block that cannot be read is no text, either: its marks are tokens",
      '<|open|>call tool="f"<|sep|>x<|open|>call <|open|>tools<|sep|><|close|>tools<|sep|>',
      ["malformed bad-arguments", "malformed no-name", "malformed empty"],
    ],
    [
      "a string that quotes the format is a string",
      block(call(string(block(call("", "g"))))),
      [`call f${JSON.stringify({ a: block(call("", "g")) })}`],
    ],
  ])("%s", (_, input, expected) => {
    expect(lines(kimiK3, input).filter((line) => !line.startsWith("control"))).toEqual(expected);
  });

  test("headers are never text, nor are halves of them", () => {
    const header = '<|open|>message role="assistant"<|sep|>';
    expect(lines(kimiK3, `${header}${element("response", "Hi")}`)).toEqual([
      `control ${header}`,
      "control <|open|>response<|sep|>",
      "text Hi",
      "control <|close|>response<|sep|>",
    ]);
    expect(lines(kimiK3, "Hi<|open|>resp")).toEqual(["text Hi", "control <|open|>resp"]);
  });

  test("a header that is too long is text, and its mark is not, even if the limit would split a surrogate pair", () => {
    const text = `${"x".repeat(255)}😀`;
    expect(lines(kimiK3, `<|open|>${text}`)).toEqual(["control <|open|>", `text ${text}`]);
  });

  test("an answer ends thinking whose closer is missing", () => {
    const text = "Hm.<|open|>response<|sep|>Hi";
    expect(lines(kimiK3, text, { startInThinking: true })).toEqual(["thinking Hm.", "text Hi"]);
  });
});

describe("minimax-m3", () => {
  const mark = "]<]minimax[>[";
  const invoke = (body: string, name = "f") => `${mark}<invoke name="${name}">${body}${mark}</invoke>\n`;
  const block = (...calls: string[]) => `${mark}<tool_call>\n${calls.join("")}${mark}</tool_call>`;
  const element = (key: string, body: string) => `${mark}<${key}>${body}${mark}</${key}>`;
  const tools: Tool[] = [
    {
      name: "f",
      parameters: {
        type: "object",
        properties: {
          s: { type: "string" },
          n: { type: "integer" },
          list: { type: "array", items: { type: "number" } },
          people: { type: "array", items: { type: "object", properties: { name: { type: "string" } } } },
          o: { type: "object" },
          maybe: { type: ["string", "null"] },
        },
      },
    },
  ];
  const read = (text: string) => lines(minimaxM3, text, { tools }).filter((line) => !line.startsWith("control"));

  test.each<[string, string, string[]]>([
    ["typed by the schema", block(invoke(element("s", "1") + element("n", "2"))), ['call f{"s":"1","n":2}']],
    [
      "an empty element is an empty value",
      block(invoke(["s", "list", "o"].map((key) => element(key, "")).join(""))),
      ['call f{"s":"","list":[],"o":{}}'],
    ],
    [
      "blanks are a value, too, if it is a string or there is no schema",
      block(invoke(["s", "other", "o"].map((key) => element(key, " \n")).join(""))),
      ['call f{"s":" \\n","other":" \\n","o":{}}'],
    ],
    [
      "an element inside one of the same name",
      block(invoke(element("o", element("o", element("o", "x"))))),
      ['call f{"o":{"o":{"o":"x"}}}'],
    ],
    ["an unreadable call does not affect its neighbour", block(invoke("junk"), invoke("", "g")), ["malformed bad-arguments", "call g{}"]],
    ["a call without a block", `${invoke("", "g")}Hi`, ["call g{}", "text \nHi"]],
    ["and one that ends the thinking", `<mm:think>Hm${invoke("", "g")}Hi`, ["thinking Hm", "call g{}", "text \nHi"]],
    ["unmatched closers are not text", `Hi${mark}</invoke>${mark}</tool_call>`, ["text Hi"]],
    ["the end of the call ends a value whose closer is missing", `${block(invoke(`${mark}<s>x`))}Hi`, ['call f{"s":"x"}', "text Hi"]],
    [
      "the next call ends one whose closer is missing",
      block(`${mark}<invoke name="f">${element("s", "x")}`, invoke(element("s", "y"))),
      ['call f{"s":"x"}', 'call f{"s":"y"}'],
    ],
    [
      "so does the end of the block, even with elements open",
      `${block(`${mark}<invoke name="f">${mark}<o>${element("a", "x")}`)}Hi`,
      ['call f{"o":{"a":"x"}}', "text Hi"],
    ],
    [
      "an element may have the name of a call's tag, and quote a call",
      block(invoke(element("invoke", `a${invoke("", "g")}`) + element("s", "y"))),
      [`call f${JSON.stringify({ invoke: `a${invoke("", "g")}`, s: "y" })}`],
    ],
    [
      "an element may have the block's name",
      block(invoke(element("tool_call", element("a", "x")) + element("s", "y"))),
      ['call f{"tool_call":{"a":"x"},"s":"y"}'],
    ],
    [
      "anything that is not an item is malformed in a list",
      block(invoke(element("list", element("item", "1") + element("b", "2")))),
      ["malformed bad-arguments"],
    ],
    [
      "a list whose items have another name",
      block(invoke(element("list", element("n", "1") + element("n", "2")))),
      ['call f{"list":[1,2]}'],
    ],
    [
      "but if that is a key of the item, the item is missing",
      block(invoke(element("people", element("name", "Ann")))),
      ["malformed bad-arguments"],
    ],
    [
      "null is null if a string may be null, and a word elsewhere",
      block(invoke(element("maybe", "null") + element("s", "null"))),
      ['call f{"maybe":null,"s":"null"}'],
    ],
    [
      "text that only begins like null is a string, and so is an empty value",
      block(invoke(element("maybe", "nullify")), invoke(element("maybe", "")), invoke(element("maybe", "nu"))),
      ['call f{"maybe":"nullify"}', 'call f{"maybe":""}', 'call f{"maybe":"nu"}'],
    ],
    ["half a null is not emitted", `${mark}<tool_call>\n${mark}<invoke name="f">${mark}<maybe>nul`, ["cut f{}"]],
  ])("%s", (_, input, expected) => {
    expect(read(input)).toEqual(expected);
  });

  describe("unions and null", () => {
    const pair = { type: "array", items: { type: "number" } };
    const place: JsonObject = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const properties: JsonObject = {
      coordinates: { oneOf: [pair, { type: "array", items: pair }, { type: "array", items: { type: "array", items: pair } }] },
      place: { anyOf: [place, { type: "null" }] },
      places: { type: "array", items: { ...place, type: ["object", "null"] } },
      pair: { ...pair, minItems: 2, nullable: true },
      free: { type: ["object", "null"], required: [] },
    };
    const tools: Tool[] = [{ name: "f", parameters: { type: "object", properties } }];
    const read = (...elements: string[]) =>
      lines(minimaxM3, block(invoke(elements.join(""))), { tools }).filter((line) => !line.startsWith("control"));
    const items = (...bodies: string[]) => bodies.map((body) => element("item", body)).join("");

    test("the items of a union of lists may be those of any alternative", () => {
      for (const [body, list] of [
        [items("1", "2"), "[1,2]"],
        [items(items("1", "2")), "[[1,2]]"],
        [items(items(items("1", "2"), items("3", "4"))), "[[[1,2],[3,4]]]"],
      ] as const)
        expect(read(element("coordinates", body))).toEqual([`call f{"coordinates":${list}}`]);
    });

    test("items are a list, even where the schema wants a number", () => {
      expect(read(element("coordinates", items(items(items(items("1", "2"))))))).toEqual(['call f{"coordinates":[[[["1","2"]]]]}']);
    });

    test("an empty element is null if the schema allows that, and no empty object or list", () => {
      expect(read(element("place", ""), element("places", items("")), element("pair", ""), element("free", ""))).toEqual([
        'call f{"place":null,"places":[null],"pair":null,"free":{}}',
      ]);
    });
  });

  test("elements are as deep as JSON with the same arguments", () => {
    const call = block(invoke(element("o", element("o", "x"))), invoke("", "g"));
    for (const input of [call, block(invoke(element("o", '{"o": "x"}')), invoke("", "g"))]) {
      const found = (maxDepth: number) => lines(minimaxM3, input, { tools, maxDepth }).filter((line) => !line.startsWith("control"));
      expect(found(2)).toEqual(['call f{"o":{"o":"x"}}', "call g{}"]);
      expect(found(1)).toEqual(["malformed too-deep", "call g{}"]);
    }
  });

  test("JSON in an element counts for the depth of the arguments, also where its closer is missing", () => {
    const deep = (lists: number) => block(invoke(element("o", `${"[".repeat(lists)}${"]".repeat(lists)}`)), invoke("", "g"));
    expect(read(deep(255))[0]).toMatch(/^call f/);
    expect(read(deep(256))).toEqual(["malformed too-deep", "call g{}"]);
    expect(read(deep(256).replace(`${mark}</o>`, ""))).toEqual(["malformed too-deep", "call g{}"]);
  });
});
