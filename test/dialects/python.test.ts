// Calls in Python syntax: what the vectors leave open.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Tool } from "../../src/core/nouns.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { pythonic } from "../../src/dialects/pythonic.ts";
import { carried, cutAt, endsOf, lines, scanPieces, units } from "./scanning.ts";

const tools: Tool[] = [{ name: "f" }];
const read = (text: string, declared: Tool[] = []) => lines(pythonic, text, { tools: declared });

describe("literals", () => {
  test.each([
    ["'a'", '"a"'],
    ['"it\'s"', '"it\'s"'],
    ["'''a 'b' c'''", "\"a 'b' c\""],
    ['"""a\n"b" """', '"a\\n\\"b\\" "'],
    ["''", '""'],
    ["'\\x41\\u00e9\\U0001F600\\033[0m\\0'", '"Aé😀\\u001b[0m\\u0000"'],
    ["'\\a\\b\\f\\v\\\\ \\' \\\n.'", '"\\u0007\\b\\f\\u000b\\\\ \' ."'],
    ["'\\d \\q \\xZ \\u12 \\U00110000'", '"\\\\d \\\\q \\\\xZ \\\\u12 \\\\U00110000"'],
    ["'\\ud83d\\ude00'", '"\\ud83d\\ude00"'],
    ["f'a {{b}}'", '"a {b}"'],
    ["r'\\d+\\n\\''", '"\\\\d+\\\\n\\\\\'"'],
    ["'a' 'b'", "\"a' 'b\""],
    ["'echo 'x' now'", "\"echo 'x' now\""],
    ["-1.50", "-1.50"],
    ["1_000", "1000"],
    ["0x1F", "31"],
    ["0o17", "15"],
    ["0b101", "5"],
    ["12345678901234567890", "12345678901234567890"],
    ["[True, False, None, true, false, null]", "[true,false,null,true,false,null]"],
    ["(1, 'x')", '[1,"x"]'],
    ["()", "[]"],
    ["{}", "{}"],
    ["{'a', 1, (2, 3)}", '["a",1,[2,3]]'],
    ["{1}", "[1]"],
    ["{1: 'x', 'y': {2}, None: []}", '{"1":"x","y":[2],"None":[]}'],
    ["{'a': 1,}", '{"a":1}'],
  ])("%s", (literal, json) => {
    const [end] = endsOf(scanPieces(pythonic, units(`[f(a=${literal}, b=0)]`)));
    expect(end?.json).toBe(`{"a":${json},"b":0}`);
  });

  test.each(["x", "g(1)", "1 + 2", "b'x'", "1__0", "1_", "0xG", "f'{x}'", "{x}", "{x, 1}", "not True", "-x", "{'a': }", ""])(
    "%s is not a literal, and the call is malformed",
    (text) => {
      expect(read(`<|tool_call_start|>[f(a=${text}), g()]<|tool_call_end|>`).slice(0, 2)).toEqual(["malformed bad-arguments", "call g{}"]);
    },
  );

  test("a hexadecimal number of thousands of digits is not a literal: to convert it would take too long", () => {
    const call = (digits: number) => `<|tool_call_start|>[f(a=0x${"f".repeat(digits)})]<|tool_call_end|>`;
    expect(read(call(4094))[0]).toMatch(/^call f/);
    expect(read(call(4095))[0]).toBe("malformed bad-arguments");
  });

  test("whether a brace opens a dict or a set is known after its first element", () => {
    expect(read("[f(a=1, b={'x'")).toEqual(['cut f{"a":1}']);
    expect(read("[f(a=1, b={'x', 'y")).toEqual(['cut f{"a":1,"b":["x","y"]}']);
    expect(read("[f(a=1, b={'x': 'y")).toEqual(['cut f{"a":1,"b":{"x":"y"}}']);
  });
});

describe("a program with unescaped quotes is never half a call", () => {
  test.each([
    "code='print('a')\nprint('b')'",
    "code='import matplotlib.pyplot as plt\nplt.plot(x, y, 'red', label='a')\nplt.show()'",
    'code="print("hello")\nprint("x", end="")"',
    "code='x = f('a', b='c')\ny = 1'",
    "code='print('hello')'",
    `code='print('a')${"\n".repeat(80)}print('b')'`,
  ])("%j", (args) => {
    expect(read(`<|tool_call_start|>[run(${args})]<|tool_call_end|>`)).toEqual(["malformed bad-arguments", "control <|tool_call_end|>"]);
    expect(read(`[run(${args})]`).filter((line) => line.startsWith("call"))).toEqual([]);
  });
  test("not even if a list in it seems to end the list of calls", () => {
    const text = "<|tool_call_start|>[run(code='x = [f('a')]\nprint(x)')]<|tool_call_end|>";
    expect(read(text)).toEqual(["malformed bad-arguments"]);
    expect(read("<|tool_call_start|>[f()] \n[f()]<|tool_call_end|>").filter((line) => line.startsWith("call"))).toHaveLength(2);
  });
});

describe("a bare list", () => {
  test("is a call at the start of the output, of a line, and after another one", () => {
    expect(read("  [g()]", tools)).toEqual(["text   ", "call g{}", "control ]"]);
    expect(read("So:\n[g(a=1)]\nOk", tools)).toEqual(["text So:\n", 'call g{"a":1}', "control ]", "text \nOk"]);
    expect(read("[g()] [h()][i()]", tools).filter((line) => line.startsWith("call"))).toEqual(["call g{}", "call h{}", "call i{}"]);
    expect(read("<think>[g()]</think>\n[h()]", tools)).toEqual(["thinking [g()]", "text \n", "call h{}", "control ]"]);
  });
  test("next to prose needs a declared name, if tools are declared", () => {
    expect(read("So: [g(a=1)]", tools)).toEqual(["text So: [g(a=1)]"]);
    expect(read("So: [f(a=1)] ok", tools)).toEqual(["text So: ", 'call f{"a":1}', "control ]", "text  ok"]);
    expect(read("So: [g(a=1)]")).toEqual(["text So: ", 'call g{"a":1}', "control ]"]);
  });
  test.each([
    "[1, 2]",
    "[]",
    "[link](url)",
    "[a.b]",
    "[f (a=1)]",
    "[f(x)]",
    "[f('x')]",
    "[f(a==1)]",
    "[f(*a)]",
    "[2(a=1)]",
    "[é(a=1)]",
    "[f",
    "[f(",
    "[f(a",
    `[${"x".repeat(300)}()]`,
  ])("%s is text", (text) => {
    expect(read(text)).toEqual([`text ${text}`]);
  });
  test("begins with a digit only if the tool is declared", () => {
    expect(read("[3d_print(a=1), f()]", [{ name: "3d_print" }])).toEqual(['call 3d_print{"a":1}', "call f{}", "control ]"]);
    expect(read("[3d_print(a=1)]", tools)).toEqual(["text [3d_print(a=1)]"]);
    expect(read("<|tool_call_start|>[3d_print(a=1), 7z()]<|tool_call_end|>").slice(0, 2)).toEqual(['call 3d_print{"a":1}', "call 7z{}"]);
  });
  test("becomes text at the first character that cannot continue a call", () => {
    for (const [start, end] of [
      ["[", "1"],
      ["[f", " "],
      ["[f(", "'"],
      ["[f(a", ","],
      ["[f(a =", "="],
    ] as const) {
      const scanner = pythonic.createScanner();
      expect(scanner.feed(start)).toEqual([]);
      expect(carried(scanner.feed(end))).toMatch(/^\[/);
    }
  });
  test("has keys in quotes where they are not identifiers, if the tool is declared", () => {
    const call = { name: "f", arguments: { "max-results": 5, "b c": [1] } };
    const text = promptText(pythonic.renderToolCalls([call], { variant: "vllm-llama4-pythonic" }));
    expect(text).toBe("[f('max-results'=5, 'b c'=[1])]");
    expect(read(text, tools)).toEqual(['call f{"max-results":5,"b c":[1]}', "control ]"]);
    expect(read(text)).toEqual([`text ${text}`]);
    for (const prose of ["[f('x')]", "[f('x' == 1)]", "[f('x", "[f('it\\'s'=1)]"]) expect(read(prose, tools)).toEqual([`text ${prose}`]);
  });
  test("is not read once a mark has announced calls", () => {
    expect(read("<|python_start|>[f()]<|python_end|>\n[g()]")).toEqual(["call f{}", "control ]", "control <|python_end|>", "text \n[g()]"]);
  });
  test("ends with its bracket", () => {
    expect(read("[\n  f(a=1),\n  g(),\n]\nOk")).toEqual(['call f{"a":1}', "call g{}", "control ,\n]", "text \nOk"]);
    expect(read("[f()\nSo it goes")).toEqual(["call f{}", "text \nSo it goes"]);
    expect(read("[f()]\n```python\n```")).toEqual(["call f{}", "control ]", "text \n```python\n```"]);
  });
});

describe("an unreadable call", () => {
  test("does not affect the others", () => {
    expect(read("[f(a=g(')', [1]), b=2), h()] Ok")).toEqual(["malformed bad-arguments", "call h{}", "control ]", "text  Ok"]);
    expect(read("<function_calls>\nf(1)\ng(a=2)\n</function_calls>")).toEqual([
      "malformed bad-arguments",
      'call g{"a":2}',
      "control \n",
      "control </function_calls>",
    ]);
    expect(read("[f(), 2, g()]")).toEqual(["call f{}", "malformed no-name", "call g{}", "control ]"]);
  });
  test.each(["[f(a=1) for x in y]", "[f(a=1).g()]", "[f() + g()]", "[f() g()]"])("%s is an expression, not a call", (text) => {
    expect(read(text)).toEqual(["malformed bad-arguments", "control ]"]);
  });
  test("between marks is never text", () => {
    expect(read("<|tool_call_start|>Let me see,\nok<|tool_call_end|>!")).toEqual(["malformed no-name", "text !"]);
    expect(read("<|tool_call_start|>[1, 2]<|tool_call_end|>")).toEqual(["malformed no-name"]);
    expect(read("<|tool_call_start|>")).toEqual(["malformed no-name"]);
  });
});

describe("marks and brackets around calls", () => {
  test("a block without calls is control", () => {
    expect(read("<|tool_call_start|> []<|tool_call_end|>").join("")).toBe("control <|tool_call_start|> []control <|tool_call_end|>");
    expect(read("<function_calls></function_calls>")).toEqual(["control <function_calls>", "control </function_calls>"]);
  });
  test("a call is complete without the closing bracket and mark", () => {
    for (const rest of ["", ")", ")]", ")<|tool_", ")] <|tool_call_e", "),", ")\n"])
      expect(read(`<|tool_call_start|>[f(a=1${rest}`)[0]).toBe(rest ? 'call f{"a":1}' : "cut f{}");
  });
  test("two lists in one block are read", () => {
    expect(read("<|tool_call_start|>[f()]\n[g()]<|tool_call_end|>Ok")).toEqual([
      "call f{}",
      "control ]",
      "call g{}",
      "control ]",
      "control <|tool_call_end|>",
      "text Ok",
    ]);
  });
  test("the raw text of a call ends at its bracket, and a separator belongs to the next call", () => {
    expect(endsOf(scanPieces(pythonic, units("[f(a=1) , g() \n]"))).map((end) => end.raw)).toEqual(["[f(a=1)", " , g()"]);
  });
  test("print(f()) in a fence is f(), unless there is a tool named print", () => {
    const fenced = (code: string) => `\`\`\`tool_code\n${code}\n\`\`\``;
    expect(read(fenced("print(f(a=1))"))).toEqual(['call f{"a":1}', "control )\n", "control ```"]);
    expect(read(fenced("print(f(), g())\nh()"))).toEqual(["call f{}", "call g{}", "call h{}", "control \n", "control ```"]);
    expect(read(fenced("print(text='x')"), [{ name: "print" }])[0]).toBe('call print{"text":"x"}');
    expect(read("[print(text='x')]")[0]).toBe('call print{"text":"x"}');
  });
});

describe("comments", () => {
  test("before, after and in calls are neither calls nor arguments", () => {
    const code = "# First\nf(a=1, # one\n  b=[2] # two\n)  # then\n# Last\ng()";
    const calls = ['call f{"a":1,"b":[2]}', "call g{}"];
    expect(read(`\`\`\`tool_code\n${code}\n\`\`\``)).toEqual([...calls, "control \n", "control ```"]);
    expect(read("[f(a=1, b=[2]), # one\n g()\n# two\n]")).toEqual([...calls, "control \n# two\n]"]);
  });
  test("end with the block", () => {
    expect(read("```tool_code\nf() # one```")).toEqual(["call f{}", "control  # one", "control ```"]);
    expect(read("<|tool_call_start|>[f(a=1 # one<|tool_call_end|>")[0]).toBe("malformed bad-arguments");
    expect(read("```tool_code\n# none")).toEqual(["malformed no-name"]);
  });
  test("in strings are text, and in prose no calls begin after them", () => {
    expect(read("[f(a='# one')]")[0]).toBe('call f{"a":"# one"}');
    expect(read("[# one\nf(a=1)] x")[0]).toBe("text [# one\nf(a=1)] x");
  });
});

const FRAGMENTS = [
  ...[
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "#",
    " # x\n",
    ",",
    "=",
    ":",
    "'",
    '"',
    "'''",
    '"""',
    "\\",
    "\n",
    " ",
    "f(",
    "g.h(a=",
    "print(",
    "a=",
    "f'",
    "r'",
  ],
  ...["[f(a=1)]", "[f(a={'x', 2})", ", g(b=(1,))", "x", "1", "None", "\\x4", "\\u12", "<|tool_call_start|>", "<|tool_call_end|>"],
  ...["<|python_start|>", "<function_calls>", "</function_calls>", "```tool_code", "```", "<think>", "</think>", "<|eot|>", "é", "\ud83d"],
];

test("any split gives the same events, and nothing is lost", () => {
  const text = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 20 }).map((parts) => parts.join(""));
  const options = fc.record({
    tools: fc.constantFrom(tools, []),
    maxCallChars: fc.constantFrom(8, 30, 1000),
    startInThinking: fc.boolean(),
  });
  fc.assert(
    fc.property(text, fc.array(fc.nat(), { maxLength: 8 }), options, (text, positions, options) => {
      const whole = scanPieces(pythonic, [text], options);
      expect(carried(whole)).toBe(text);
      expect(scanPieces(pythonic, cutAt(text, positions), options)).toEqual(whole);
      expect(scanPieces(pythonic, units(text), options)).toEqual(whole);
    }),
    { numRuns: 2000 },
  );
});

test("input that is hostile to backtracking is read in one pass", () => {
  const text = "[A(A=\t)A(A=,\t\t)A(A=,\t".repeat(20_000);
  expect(carried(scanPieces(pythonic, [text]))).toBe(text);
});

describe("a rendered call", () => {
  const call = {
    name: "f",
    arguments: { a: "it's", b: { c: [true] }, d: [null, { e: "x\ny" }], "two words": 1.5, from: "é" },
  };
  test("is Python, but objects are JSON, and keys that are not identifiers are quoted", () => {
    expect(promptText(pythonic.renderToolCall(call))).toBe(
      `<|tool_call_start|>[f(a="it's", b={"c": [true]}, d=[None, {'e': 'x\\ny'}], 'two words'=1.5, from='é')]<|tool_call_end|>`,
    );
  });
});

test("a thinking model gets its thinking of this turn back once the request is adapted", () => {
  const content = [
    { type: "thinking" as const, text: "Hm." },
    { type: "text" as const, text: "4" },
  ];
  const request = { model: "", messages: [{ role: "assistant" as const, content }] };
  expect(promptText(pythonic.render(request))).toContain("assistant\n4<");
  expect(promptText(pythonic.render(pythonic.adapt?.(request) ?? request))).toContain("assistant\n<think>Hm.</think>4<");
});

test.each([
  ["<|tool_call_start|>f()]<|tool_call_end|>", ["call f{}", "control ]", "control <|tool_call_end|>"]],
  ["<|tool_call_start|>[f()]]<|tool_call_end|>", ["call f{}", "control ]", "control ]<|tool_call_end|>"]],
  ["<function_calls>f(), g()]</function_calls>", ["call f{}", "call g{}", "control ]", "control </function_calls>"]],
])("an unmatched bracket between marks is neither text nor a call: %s", (text, expected) => {
  expect(read(text)).toEqual(expected);
});
