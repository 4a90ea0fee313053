import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/core/nouns.ts";
import { keepNumbers } from "../../src/core/numbers.ts";
import {
  argumentsText,
  canonicalJson,
  compactJson,
  dictsort,
  entriesOf,
  Numeral,
  prettyJson,
  pythonJson,
  pythonLiteral,
  pythonNumber,
  readLossless,
} from "../../src/dialects/print.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { getDialect } from "../../src/dialects/registry.ts";

describe("numbers as Python prints them", () => {
  test.each([
    [0, "0"],
    [-0, "0"],
    [18.5, "18.5"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [1.25e-7, "1.25e-07"],
    [-1.5e-10, "-1.5e-10"],
    [1e16, "10000000000000000"],
    [1e21, "1e+21"],
    [1.5e300, "1.5e+300"],
    [5e-324, "5e-324"],
  ])("%d", (value, text) => {
    expect(pythonNumber(value)).toBe(text);
  });

  test("a number with a known spelling keeps it", () => {
    expect(pythonNumber(new Numeral("1.0"))).toBe("1.0");
  });
});

describe("JSON", () => {
  const value = { b: [1, "é\n\u2028\u007f", true, null], a: {}, "": [] };

  test("in Python's form", () => {
    expect(pythonJson(value)).toBe('{"b": [1, "é\\n\u2028\u007f", true, null], "a": {}, "": []}');
  });
  test("compact", () => {
    expect(compactJson(value)).toBe('{"b":[1,"é\\n\u2028\u007f",true,null],"a":{},"":[]}');
  });
  test("with an indent, and empty brackets on one line", () => {
    expect(prettyJson({ a: { b: [1, 2] }, c: [], d: {} })).toBe(
      '{\n    "a": {\n        "b": [\n            1,\n            2\n        ]\n    },\n    "c": [],\n    "d": {}\n}',
    );
    expect(prettyJson([[1]])).toBe("[\n    [\n        1\n    ]\n]");
  });
});

describe("Python literals", () => {
  test.each<[Json, string]>([
    [{ a: true, b: [false, null, 1.5] }, "{'a': True, 'b': [False, None, 1.5]}"],
    ["it's", '"it\'s"'],
    ['it\'s "so"', "'it\\'s \"so\"'"],
    ["a\\b\n\t\r", "'a\\\\b\\n\\t\\r'"],
    ["\u0000\u00a0\u2028\ud800", "'\\x00\\xa0\\u2028\\ud800'"],
    ["é日🎉", "'é日🎉'"],
    [[], "[]"],
    [{}, "{}"],
  ])("%j", (value, text) => {
    expect(pythonLiteral(value)).toBe(text);
  });
});

describe("lossless reading", () => {
  const spelled = '{"z":1.0,"10":12345678901234567890,"2":[-0,1E5,{"__proto__":"\\u00e9\\"}"}],"t":true,"n":null,"z2":[ ],"o":{ }}';

  test("numbers, order and keys stay as written", () => {
    expect(compactJson(readLossless(spelled) as Json)).toBe(spelled.replace("\\u00e9", "é").replace("[ ]", "[]").replace("{ }", "{}"));
  });
  test("the last of repeated keys counts", () => {
    expect(compactJson(readLossless('{"a":1,"b":2,"a":3}') as Json)).toBe('{"a":3,"b":2}');
  });
  test.each(["", "{", '{"a":1,}', "01", "NaN", "'a'", "[1] x"])("%j is not JSON", (text) => {
    expect(readLossless(text)).toBeUndefined();
  });
  test("what JSON.stringify writes is read and printed again, character for character", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(undefined, 1, "\t"), (text, indent) => {
        const spaced = JSON.stringify(JSON.parse(text), undefined, indent);
        expect(compactJson(readLossless(spaced) as Json)).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });
});

test("arguments are sent on as they were written", () => {
  expect(argumentsText({ name: "f", arguments: { a: 1 }, json: '{"a":1.0 }' })).toBe('{"a":1.0 }');
  expect(argumentsText({ name: "f", arguments: { a: 1 }, json: '{"a":' })).toBe('{"a": 1}');
  expect(argumentsText({ name: "f", arguments: {} })).toBe("{}");
});

test.each(["gemma4", "functiongemma", "minimax-m3", "hermes"])("a number inside a list keeps the client's spelling, too: %s", (id) => {
  const sizes = [1, 2];
  keepNumbers(sizes, new Map([["0", "1.0"]]));
  expect(promptText(getDialect(id).renderToolCall({ name: "f", arguments: { sizes } }))).toContain("1.0");
});

test("canonical JSON has its keys in the order of their code points, as Python sorts them", () => {
  expect(canonicalJson({ "🎉": 1, "\uff5e": 2, b: 3, B: 4 })).toBe('{"B":4,"b":3,"\uff5e":2,"🎉":1}');
});

test("keys are sorted by their lower-cased code points, and equal ones keep their order", () => {
  const keys = ["b", "B", "a", "Z", "_", "ä", "\uff5e", "🎉", "ab", "A"];
  expect(dictsort(entriesOf(Object.fromEntries(keys.map((key) => [key, 0])))).map(([key]) => key)).toEqual([
    "_",
    "a",
    "A",
    "ab",
    "b",
    "B",
    "Z",
    "ä",
    "\uff5e",
    "🎉",
  ]);
});
