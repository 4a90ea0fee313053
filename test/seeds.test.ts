// The documents that the project grew from: their examples, their tests, and what their code does, in our events. Where Dragoman differs on
// purpose the test's name says "differs" (or "differ"), with our behaviour, and docs/seeds.md says why.
import { describe, expect, test } from "vitest";
import type { Event, Json, Message, Request, Tool } from "../src/core/nouns.ts";
import type { Dialect, Prompt, ScannerOptions } from "../src/dialects/dialect.ts";
import { functiongemma } from "../src/dialects/functiongemma.ts";
import { gemma4 } from "../src/dialects/gemma4.ts";
import { json } from "../src/dialects/json.ts";
import { promptText } from "../src/dialects/prompt.ts";
import { carried, endsOf, randomPieces, scanPieces, textOf, thinkingOf, units } from "./dialects/scanning.ts";

/** The events of these pieces; checks that they are the same however the text is cut, and carry all of it. */
function scan(dialect: Dialect, pieces: string | readonly string[], options: ScannerOptions = {}): Event[] {
  const text = [pieces].flat().join("");
  const events = scanPieces(dialect, [pieces].flat(), options);
  for (const cut of [[text], units(text), randomPieces(text, 1), randomPieces(text, 2)])
    expect(scanPieces(dialect, cut, options)).toEqual(events);
  expect(carried(events)).toBe(text);
  return events;
}

/** What the events say, without everything else. */
const said = (events: readonly Event[]): (string | [name: string, args: Json])[] =>
  events.flatMap((event): (string | [string, Json])[] => {
    if (event.type === "text") return [event.text];
    if (event.type === "thinking-delta") return [`(${event.text})`];
    if (event.type === "malformed") return ["malformed"];
    if (event.type !== "tool-end") return [];
    return event.truncated ? ["truncated", [event.name, event.arguments]] : [[event.name, event.arguments]];
  });

const call = (id: string, name: string, args: { [key: string]: Json }) => ({ type: "tool-call" as const, id, name, arguments: args });
const text = (text: string) => ({ type: "text" as const, text });
const user = (said: string): Message => ({ role: "user", content: [text(said)] });
const assistant = (...content: Extract<Message, { role: "assistant" }>["content"]): Message => ({ role: "assistant", content });
const result = (id: string, name: string, output: Json): Message => ({ role: "tool", id, name, output });

const rendered = (dialect: Dialect, request: Omit<Request, "model">, options = {}): string =>
  promptText(dialect.render({ model: "", ...request }, options));
const written = (prompt: Prompt): string => promptText(prompt);

const background: Tool = {
  name: "change_background_color",
  description: "Changes the app background color",
  parameters: {
    type: "object",
    properties: { color: { type: "string", description: "The color name (red, green, blue, etc.)" } },
    required: ["color"],
  },
};
const alert: Tool = {
  name: "show_alert",
  description: "Shows an alert",
  parameters: { type: "object", properties: { message: { type: "string" } } },
};

describe("seed 000, FunctionGemma: scanning", () => {
  const red = "<start_function_call>call:change_background_color{color:<escape>red<escape>}<end_function_call>";

  test("a call in the model's own format", () => {
    expect(said(scan(functiongemma, red))).toEqual([["change_background_color", { color: "red" }]]);
  });
  test("a response ends where the result should follow", () => {
    const events = scan(functiongemma, `${red}<start_function_response>`, { tools: [background] });
    expect(said(events)).toEqual([["change_background_color", { color: "red" }]]);
    expect(events.slice(-2)).toEqual([
      { type: "control", raw: "<end_function_call>" },
      { type: "control", raw: "<start_function_response>" },
    ]);
    expect(functiongemma.stops).toContain("<start_function_response>");
  });
  test.each(["<end_function_call>", "<start_function_response>", "<end_of_turn>", ""])("a call is complete before %j", (behind) => {
    expect(said(scan(functiongemma, `<start_function_call>call:f{a:<escape>x<escape>}${behind}`))).toEqual([["f", { a: "x" }]]);
  });
  test("text around a call is text", () => {
    expect(said(scan(functiongemma, `Sure. ${red} Done.`))).toEqual(["Sure. ", ["change_background_color", { color: "red" }], " Done."]);
  });
  test("an answer without a call is text", () => {
    expect(said(scan(functiongemma, ["The background ", "is red."]))).toEqual(["The background is red."]);
  });
  test("a block without `call:`, or without `{`, is malformed, not nothing", () => {
    expect(said(scan(functiongemma, "<start_function_call>f{}<end_function_call>"))).toEqual(["malformed"]);
    expect(said(scan(functiongemma, "<start_function_call>call:f<end_function_call>"))).toEqual(["malformed"]);
  });
  test("an unclosed call differs: it is truncated, although it parses", () => {
    expect(said(scan(functiongemma, "<start_function_call>call:f{a:<escape>re"))).toEqual(["truncated", ["f", { a: "re" }]]);
  });
  test("several arguments, with blanks around them", () => {
    const input = "<start_function_call>call:f{ a : <escape>x<escape> , b : <escape>y<escape> }<end_function_call>";
    expect(said(scan(functiongemma, input))).toEqual([["f", { a: "x", b: "y" }]]);
  });
  test("separators inside a string differ: they are content", () => {
    const input = "<start_function_call>call:f{a:<escape>x,b:y}{<escape>}<end_function_call>";
    expect(said(scan(functiongemma, input))).toEqual([["f", { a: "x,b:y}{" }]]);
  });
  test("bare and nested values differ: they are values, not strings", () => {
    const input = "<start_function_call>call:f{n:7,on:true,at:{x:1},list:[<escape>a<escape>,2]}<end_function_call>";
    expect(said(scan(functiongemma, input))).toEqual([["f", { n: 7, on: true, at: { x: 1 }, list: ["a", 2] }]]);
  });
  test("a second call differs: it is read, too", () => {
    expect(said(scan(functiongemma, red + red))).toHaveLength(2);
  });
  test("a call longer than 150 characters differs: it is a call", () => {
    const long = "long ".repeat(100);
    const input = `<start_function_call>call:f{a:<escape>${long}<escape>}<end_function_call>`;
    expect(said(scan(functiongemma, input))).toEqual([["f", { a: long }]]);
  });
});

describe("seed 000, FunctionGemma: prompts", () => {
  const declaration =
    "<start_function_declaration>declaration:change_background_color{description:<escape>Changes background color<escape>," +
    "parameters:{properties:{color:{description:<escape>The color name<escape>,type:<escape>STRING<escape>}},type:<escape>OBJECT<escape>}}" +
    "<end_function_declaration>";
  const tool: Tool = {
    name: "change_background_color",
    description: "Changes background color",
    parameters: { type: "object", properties: { color: { type: "string", description: "The color name" } } },
  };
  const developer = `<start_of_turn>developer\nYou are a model that can do function calling with the following functions${declaration}<end_of_turn>\n`;

  test("the declaration of the example", () => {
    expect(written(functiongemma.renderTools([tool]))).toBe(declaration);
  });
  test("without tools there is nothing", () => {
    expect(functiongemma.renderTools([])).toEqual([]);
  });
  test("tools are in a developer turn before the first message; newlines differ: they are the official template's", () => {
    expect(rendered(functiongemma, { messages: [user("make it red")], tools: [tool] })).toBe(
      `${developer}<start_of_turn>user\nmake it red<end_of_turn>\n<start_of_turn>model\n`,
    );
  });
  test("a property without description, a tool without properties, and the order of both differ: they follow the official template", () => {
    const parameters = { type: "object", properties: { b: { type: "string" }, a: { type: "integer", description: "A" } } };
    expect(written(functiongemma.renderTools([{ name: "f", description: "F", parameters }]))).toBe(
      "<start_function_declaration>declaration:f{description:<escape>F<escape>,parameters:{properties:{" +
        "a:{description:<escape>A<escape>,type:<escape>INTEGER<escape>},b:{description:<escape><escape>,type:<escape>STRING<escape>}" +
        "},type:<escape>OBJECT<escape>}}<end_function_declaration>",
    );
    const bare = { name: "f", description: "F", parameters: { type: "object", properties: {} } };
    expect(written(functiongemma.renderTools([bare]))).toBe(
      "<start_function_declaration>declaration:f{description:<escape>F<escape>,parameters:{type:<escape>OBJECT<escape>}}<end_function_declaration>",
    );
  });

  test("the whole conversation: question, call, result, answer", () => {
    const red = "<start_function_call>call:change_background_color{color:<escape>red<escape>}<end_function_call>";
    const [end] = endsOf(scan(functiongemma, `${red}<start_function_response>`, { tools: [tool] }));
    const said = assistant(call("1", end?.name ?? "", { ...end?.arguments }));
    const messages = [user("make it red"), said];
    const asked = `${developer}<start_of_turn>user\nmake it red<end_of_turn>\n<start_of_turn>model\n${red}<start_function_response>`;
    expect(rendered(functiongemma, { messages, tools: [tool] })).toBe(asked);

    // The form of the result, and that the model continues in its own turn, differ: they follow the official template.
    messages.push(result("1", "change_background_color", { result: "Background changed to red" }));
    const answered = `${asked}response:change_background_color{result:<escape>Background changed to red<escape>}<end_function_response>`;
    expect(rendered(functiongemma, { messages, tools: [tool] })).toBe(answered);

    messages.push(assistant(text("The background is red now.")));
    expect(rendered(functiongemma, { messages, tools: [tool] }, { addGenerationPrompt: false })).toBe(
      `${answered}The background is red now.<end_of_turn>\n`,
    );
  });
});

describe("seed 000, JSON models: scanning", () => {
  const hello = '{"name": "show_alert", "parameters": {"message": "hello"}}';

  test("a call is one JSON object", () => {
    expect(said(scan(json, hello))).toEqual([["show_alert", { message: "hello" }]]);
  });
  test("`arguments` is as good as `parameters` (seed 001)", () => {
    expect(said(scan(json, '{"name": "write_file", "arguments": {"file_path": "test.txt"}}'))).toEqual([
      ["write_file", { file_path: "test.txt" }],
    ]);
  });
  test("blanks around it do not matter", () => {
    expect(said(scan(json, `  ${hello}`))).toEqual(["  ", ["show_alert", { message: "hello" }]]);
    expect(said(scan(json, `\n${hello}\n`))).toEqual(["\n", ["show_alert", { message: "hello" }], "\n"]);
  });
  test("a fence around it does not matter", () => {
    expect(said(scan(json, ["```", "json\n", hello, "\n```"]))).toEqual([["show_alert", { message: "hello" }]]);
  });
  test("it may come in any pieces", () => {
    expect(said(scan(json, ['{"', "name", '": "show_', 'alert", "parameters": {"message"', ': "hello"}}']))).toEqual([
      ["show_alert", { message: "hello" }],
    ]);
  });
  test("prose on the lines around it is text", () => {
    expect(said(scan(json, `I will do that.\n${hello}\nDone.`))).toEqual([
      "I will do that.\n",
      ["show_alert", { message: "hello" }],
      "\nDone.",
    ]);
  });
  test("JSON without a name, and text that is not JSON, is text", () => {
    for (const answer of ['{"answer": 42}', '{"parameters": {"a": 1}}', "{name", "{ no JSON }", "{"])
      expect(said(scan(json, answer))).toEqual([answer]);
  });
  test("a name alone differs: it is text, unless the tool is declared and has no parameters", () => {
    expect(said(scan(json, '{"name": "ping"}'))).toEqual(['{"name": "ping"}']);
    expect(said(scan(json, '{"name": "ping"}', { tools: [{ name: "ping" }] }))).toEqual([["ping", {}]]);
  });
  test("an object in the middle of a line differs: it is text at once", () => {
    const scanner = json.createScanner();
    expect(scanner.feed("Write {")).toEqual([{ type: "text", text: "Write {" }]);
    expect(said(scan(json, `Write ${hello} to call it.`))).toEqual([`Write ${hello} to call it.`]);
  });
  test("braces inside strings differ: they are content", () => {
    for (const message of ["}", "{", "}}{", "```"]) {
      const object = JSON.stringify({ name: "show_alert", parameters: { message } });
      expect(said(scan(json, object))).toEqual([["show_alert", { message }]]);
    }
  });
  test("several calls differ: all are read", () => {
    expect(said(scan(json, `${hello}\n${hello}`))).toHaveLength(2);
  });
  test("a call longer than 150 characters differs: it is a call", () => {
    const message = "long ".repeat(100);
    expect(said(scan(json, JSON.stringify({ name: "show_alert", parameters: { message } })))).toEqual([["show_alert", { message }]]);
  });
  test("a truncated call differs: it is marked once name and arguments are there, and is text before", () => {
    expect(said(scan(json, '{"name": "show_alert", "parameters": {"message": "he'))).toEqual([
      "truncated",
      ["show_alert", { message: "he" }],
    ]);
    expect(said(scan(json, '{"name": "show_al'))).toEqual(['{"name": "show_al']);
  });
  test("thinking of models that think is thinking, and a call may follow it", () => {
    expect(said(scan(json, `<think>An alert, then.</think>${hello}`))).toEqual(["(An alert, then.)", ["show_alert", { message: "hello" }]]);
  });
});

describe("seed 000, JSON models: prompts", () => {
  const block = `You have access to functions. ONLY call a function when the user explicitly requests an action or command.
When you do need to call a function, respond with ONLY the JSON: {"name": function_name, "parameters": {argument: value}}
<tool_code>
show_alert: Shows an alert Parameters: {"type":"object","properties":{"message":{"type":"string"}}}
</tool_code>
`;

  test("the tools block", () => {
    expect(written(json.renderTools([alert]))).toBe(block);
    expect(json.renderTools([])).toEqual([]);
  });
  test("the tools block has one line for each tool", () => {
    const lines = written(json.renderTools([background, alert])).split("\n");
    expect(lines[3]).toBe(`change_background_color: Changes the app background color Parameters: ${JSON.stringify(background.parameters)}`);
    expect(lines).toHaveLength(7);
  });
  test("the tools block is before the first user message, and only there", () => {
    const messages = [user("hi"), assistant(text("Hello.")), user("alert me")];
    expect(rendered(json, { messages, tools: [alert] }, { variant: "plain" })).toBe(
      `User: ${block}\nhi\n\nAssistant: Hello.\n\nUser: alert me\n\nAssistant:`,
    );
  });
  test("turn marks are those of the model family", () => {
    const messages = [user("hi")];
    expect(rendered(json, { messages }, { variant: "gemma" })).toBe("<start_of_turn>user\nhi<end_of_turn>\n<start_of_turn>model\n");
    expect(rendered(json, { messages }, { variant: "chatml" })).toBe("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
    expect(rendered(json, { messages }, { variant: "llama3" })).toBe(
      "<|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    );
    expect(rendered(json, { messages }, { variant: "phi" })).toBe("<|user|>hi<|end|><|assistant|>");
  });
  test("a call, its result and the next turn", () => {
    const messages = [user("alert me"), assistant(call("1", "show_alert", { message: "hello" })), result("1", "show_alert", "shown")];
    expect(rendered(json, { messages }, { variant: "plain" })).toBe(
      'User: alert me\n\nAssistant: {"name": "show_alert", "parameters": {"message": "hello"}}\n\n' +
        "User: <tool_response>\nTool Name: show_alert\nTool Response:\nshown\n</tool_response>\n\nAssistant:",
    );
  });
});

describe("seed 002, Gemma 4: scanning", () => {
  const f = (pairs: string): string => `<|tool_call>call:f{${pairs}}<tool_call|>`;
  const argumentsOf = (pairs: string): Json | undefined => endsOf(scan(gemma4, f(pairs)))[0]?.arguments;

  test("feeding nothing emits nothing", () => {
    expect(gemma4.createScanner().feed("")).toEqual([]);
  });
  test("only text that may begin a mark is held back, and is emitted as text at the end", () => {
    const scanner = gemma4.createScanner();
    expect(scanner.feed("is 1 <")).toEqual([{ type: "text", text: "is 1 " }]);
    expect(scanner.feed("|tool_c")).toEqual([]);
    expect(scanner.flush()).toEqual([{ type: "text", text: "<|tool_c" }]);
  });
  test("a call has a start, and an end with its raw block", () => {
    const events = scan(gemma4, `a${f("x:1")}b`, { mintId: (n) => `id-${n}` });
    expect(events).toEqual([
      { type: "text", text: "a" },
      { type: "tool-start", id: "id-0", index: 0, name: "f" },
      { type: "tool-delta", id: "id-0", json: '{"x":1}' },
      { type: "tool-end", id: "id-0", index: 0, name: "f", arguments: { x: 1 }, json: '{"x":1}', raw: "<|tool_call>call:f{x:1}" },
      { type: "control", raw: "<tool_call|>" }, // the closer differs: `tool-end` does not wait for it
      { type: "text", text: "b" },
    ]);
  });
  test("blanks around head, name and block do not matter", () => {
    expect(said(scan(gemma4, "<|tool_call> call: f { x : 1 } <tool_call|>"))).toEqual([["f", { x: 1 }]]);
  });
  test("thinking has a start, deltas and an end", () => {
    expect(scan(gemma4, "<|channel>thought\nhm<channel|>Hi.")).toEqual([
      { type: "thinking-start", raw: "<|channel>thought\n" },
      { type: "thinking-delta", text: "hm" },
      { type: "thinking-end", raw: "<channel|>" },
      { type: "text", text: "Hi." },
    ]);
  });
  test("thinking that is not closed ends with the output", () => {
    const events = scan(gemma4, "<|channel>thought\nhm<chan");
    expect(thinkingOf(events)).toBe("hm<chan");
    expect(events.at(-1)).toEqual({ type: "thinking-end" });
  });
  test("a call inside thinking differs: it ends the thinking", () => {
    expect(said(scan(gemma4, `<|channel>thought\nhm${f("")}`))).toEqual(["(hm)", ["f", {}]]);
    expect(endsOf(scan(gemma4, `<|channel>thought\nhm${f("")}<channel|>`, { callsInThinking: "ignore" }))).toEqual([]);
  });
  test("strings are opaque: the closer, brackets and separators are content", () => {
    expect(argumentsOf('s:<|"|>a<tool_call|>b,}]:{[<|"|>,t:2')).toEqual({ s: "a<tool_call|>b,}]:{[", t: 2 });
  });
  test.each<[string, Json]>([
    ['v:<|"|>x<|"|>', "x"],
    ["v:true", true],
    ["v:false", false],
    ["v:null", null],
    ["v:none", null],
    ["v:None", null],
    ["v:7", 7],
    ["v:-2.5", -2.5],
    ["v:+3", 3],
    ["v:.5", 0.5],
    ["v:1e3", 1000],
    ["v:word", "word"],
    ["v:two words", "two words"],
    ['v:[1,<|"|>a,b<|"|>,[true]]', [1, "a,b", [true]]],
    ["v:[]", []],
    ["v:[1,]", [1]],
    ["v:[1,,2]", [1, "", 2]], // differs: a missing value is an empty string
    ['v:{a:1,b:{c:<|"|>}<|"|>}}', { a: 1, b: { c: "}" } }],
    ["v:{}", {}],
  ])("the value of %s", (pairs, value) => {
    expect(argumentsOf(pairs)).toEqual({ v: value });
  });
  test("a trailing comma does not matter, nor do blanks", () => {
    expect(argumentsOf("a:1,")).toEqual({ a: 1 });
    expect(argumentsOf(" a : 1 ,\n b : 2 ")).toEqual({ a: 1, b: 2 });
  });
  test("unusual names and keys differ: they are accepted", () => {
    expect(said(scan(gemma4, "<|tool_call>call:math.get-gcd{max-results:1}<tool_call|>"))).toEqual([
      ["math.get-gcd", { "max-results": 1 }],
    ]);
  });
  test("an unreadable block differs: it is malformed, never nothing", () => {
    for (const body of ["f{}", "call:{}", "call:f", "call:f{a}", "call:f{a:1", "not actually a function call"])
      expect(said(scan(gemma4, `a<|tool_call>${body}<tool_call|>b`))).toEqual(["a", "malformed", "b"]);
  });
  test("a call at the end of the output differs: it is truncated, never nothing", () => {
    expect(said(scan(gemma4, '<|tool_call>call:f{a:<|"|>x<|"|>,b:<|"|>y'))).toEqual(["truncated", ["f", { a: "x", b: "y" }]]);
  });
});

describe("seed 002, Gemma 4: prompts", () => {
  test.each<[Json, string]>([
    [null, "null"],
    [true, "true"],
    [false, "false"],
    [7, "7"],
    [-0.5, "-0.5"],
    ["x", '<|"|>x<|"|>'],
    ["", '<|"|><|"|>'],
    [[1, "a"], '[1,<|"|>a<|"|>]'],
    [{ a: { b: [] } }, "{a:{b:[]}}"],
  ])("the value %j", (value, spelled) => {
    expect(written(gemma4.renderToolCall({ name: "f", arguments: { v: value } }))).toBe(`<|tool_call>call:f{v:${spelled}}<tool_call|>`);
  });
  test("parallel calls are back to back; the order of keys differs: it is the official template's", () => {
    const calls = [
      { name: "f", arguments: { b: 1, a: 2 } },
      { name: "g", arguments: {} },
    ];
    expect(written(gemma4.renderToolCalls(calls))).toBe("<|tool_call>call:f{a:2,b:1}<tool_call|><|tool_call>call:g{}<tool_call|>");
  });
  test("results are back to back; `value` for `output`, and text that stays text, differ: they follow the official template", () => {
    const results = [
      { name: "f", output: "done" },
      { name: "g", output: '{"a": 1}' },
      { name: "h", output: { a: 1 } },
    ];
    expect(written(gemma4.renderToolResults(results))).toBe(
      '<|tool_response>response:f{value:<|"|>done<|"|>}<tool_response|>' +
        '<|tool_response>response:g{value:<|"|>{"a": 1}<|"|>}<tool_response|>' +
        "<|tool_response>response:h{a:1}<tool_response|>",
    );
  });
  test("thinking is rendered; its last newline differs: it is the official template's", () => {
    expect(written(gemma4.renderThinking("hm"))).toBe("<|channel>thought\nhm\n<channel|>");
    expect(gemma4.renderThinking("")).toEqual([]);
  });
  test("a transcript: a developer is the system, and thinking, text, calls and results are one model turn", () => {
    const messages: Message[] = [
      { role: "developer", content: [text("Be brief.")] },
      user("Weather?"),
      assistant({ type: "thinking", text: "hm" }, text("Let me see."), call("1", "f", {}), call("2", "g", {})),
      result("1", "f", "18"),
      result("2", "g", "19"),
    ];
    const prompt =
      "<|turn>system\nBe brief.<turn|>\n<|turn>user\nWeather?<turn|>\n<|turn>model\n<|channel>thought\nhm\n<channel|>Let me see." +
      "<|tool_call>call:f{}<tool_call|><|tool_call>call:g{}<tool_call|>" +
      '<|tool_response>response:f{value:<|"|>18<|"|>}<tool_response|><|tool_response>response:g{value:<|"|>19<|"|>}<tool_response|>';
    expect(rendered(gemma4, { messages })).toBe(prompt);
    // The answer in the same turn differs: it follows the official template.
    messages.push(assistant(text("Warm.")));
    expect(rendered(gemma4, { messages }, { addGenerationPrompt: false })).toBe(`${prompt}Warm.<turn|>\n`);
  });
  test("results that follow no call are in a model turn", () => {
    expect(rendered(gemma4, { messages: [result("1", "f", "18")] })).toBe(
      '<|turn>model\n<|tool_response>response:f{value:<|"|>18<|"|>}<tool_response|>',
    );
  });
  test("an empty conversation renders as nothing", () => {
    expect(rendered(gemma4, { messages: [] }, { addGenerationPrompt: false })).toBe("");
  });
});

describe("seed 003, Gemma 4", () => {
  test("plain text passes through", () => {
    expect(said(scan(gemma4, ["hello ", "world"]))).toEqual(["hello world"]);
  });
  test("text that begins no mark is emitted at once", () => {
    expect(gemma4.createScanner().feed("hello ")).toEqual([{ type: "text", text: "hello " }]);
  });
  test("a complete call in one piece", () => {
    const [end] = endsOf(
      scan(gemma4, '<|tool_call>call:get_weather{location:<|"|>London<|"|>}<tool_call|>', { mintId: (n) => `tc-${n + 1}` }),
    );
    expect(end).toMatchObject({ id: "tc-1", name: "get_weather", arguments: { location: "London" } });
  });
  test("a call split across pieces", () => {
    const pieces = ["<|tool_", "call>call:", "ping{", 'host:<|"|>', "example.com", '<|"|>}', "<tool_call|>"];
    expect(said(scan(gemma4, pieces))).toEqual([["ping", { host: "example.com" }]]);
  });
  test("text, a call, text", () => {
    const pieces = ["I'll check.", '<|tool_call>call:lookup{q:<|"|>x<|"|>}<tool_call|>', "Here's the answer."];
    expect(said(scan(gemma4, pieces))).toEqual(["I'll check.", ["lookup", { q: "x" }], "Here's the answer."]);
  });
  test("a block that is not a call is malformed", () => {
    const raw = "<|tool_call>not actually a function call<tool_call|>";
    expect(scan(gemma4, raw)).toMatchObject([{ type: "malformed", code: "no-name", raw }]);
  });
  test("an unclosed call differs: it is truncated if its name is complete, malformed if not", () => {
    expect(said(scan(gemma4, '<|tool_call>call:foo{x:<|"|>y'))).toEqual(["truncated", ["foo", { x: "y" }]]);
    expect(said(scan(gemma4, "<|tool_call>call:fo"))).toEqual(["malformed"]);
  });
  test("a thinking block is thinking", () => {
    const pieces = ["Let me ", "<|think|>this is hidden<|/think|>", " here's the result."];
    expect(said(scan(gemma4, pieces))).toEqual(["Let me ", "(this is hidden)", " here's the result."]);
  });
  test("a thinking block split across pieces", () => {
    const events = scan(gemma4, ["<|", "think|>", "secret", "<|/", "think|>", "visible"]);
    expect([thinkingOf(events), textOf(events)]).toEqual(["secret", "visible"]);
  });
  test("an unclosed thinking block is thinking", () => {
    expect(said(scan(gemma4, "<|think|>secret"))).toEqual(["(secret)"]);
  });
  test("each call gets its own id", () => {
    const pieces = ["<|tool_call>call:a{}<tool_call|>", "<|tool_call>call:b{}<tool_call|>"];
    expect(endsOf(scan(gemma4, pieces, { mintId: (n) => `tc-${n + 1}` })).map((end) => end.id)).toEqual(["tc-1", "tc-2"]);
  });
  test("an integer stays an integer", () => {
    expect(said(scan(gemma4, "<|tool_call>call:set{n:42}<tool_call|>"))).toEqual([["set", { n: 42 }]]);
  });
  test("a call without arguments has an empty object", () => {
    expect(said(scan(gemma4, "<|tool_call>call:ping{}<tool_call|>"))).toEqual([["ping", {}]]);
  });
  test.each(["get{}", "call:get", "call:{}", "call:get{a:1", "call:get{a}", ""])("the body %j is malformed", (body) => {
    expect(said(scan(gemma4, `<|tool_call>${body}<tool_call|>`))).toEqual(["malformed"]);
  });
  test("quotes, newlines and backslashes in a string differ: they are content", () => {
    const value = 'say "hi"\n\\n {a: 1}';
    expect(said(scan(gemma4, `<|tool_call>call:f{s:<|"|>${value}<|"|>}<tool_call|>`))).toEqual([["f", { s: value }]]);
  });
});
