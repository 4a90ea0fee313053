// Muse Glimmer's headers: the recipient decides what a message is, unless the message is a call from its first character on.
import { expect, test } from "vitest";
import { museGlimmer } from "../../src/dialects/muse-glimmer.ts";
import { endsOf, scanPieces, textOf, thinkingOf, units } from "./scanning.ts";

const tools = [{ name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } }];

const block = (name: string, params = "") =>
  `<atem:function_calls>\n<atem:invoke name="${name}">\n${params}</atem:invoke>\n</atem:function_calls>`;
const PARIS = '<atem:parameter name="city">Paris</atem:parameter>\n';

function read(input: string, options = {}) {
  const events = scanPieces(museGlimmer, [input], { tools, ...options });
  expect(scanPieces(museGlimmer, units(input), { tools, ...options })).toEqual(events);
  return {
    text: textOf(events),
    thinking: thinkingOf(events),
    calls: endsOf(events).map(({ name, arguments: args, truncated }) => ({ name, args, ...(truncated && { truncated }) })),
    malformed: events.flatMap((event) => (event.type === "malformed" ? event.code : [])),
  };
}

test("a tool without a namespace gets its plain name, although the prompt calls it get_weather.*", () => {
  const name = "get_weather.get_weather";
  const { calls } = read(` to=${name}<|message|>${block(name, PARIS)}<|eot|>`);
  expect(calls).toEqual([{ name: "get_weather", args: { city: "Paris" } }]);
  expect(read(` to=weather.get_weather<|message|>${block("weather.get_weather")}`).calls[0]?.name).toBe("weather.get_weather");
});

test("unclosed thinking is ended by the next recipient", () => {
  const { thinking, calls, text } = read(` to=self<|message|>I look. to=get_weather<|message|>${block("get_weather")}<|eot|>`);
  expect({ thinking, calls, text }).toEqual({ thinking: "I look. ", calls: [{ name: "get_weather", args: {} }], text: "" });
});

test("a recipient in prose is prose", () => {
  for (const text of ["to=x is the syntax.", " to=x is the syntax.", "to= is an assignment", "to=a<b is false", "I go to=home"]) {
    expect(read(text).text).toBe(text);
    expect(read(` to=self<|message|>${text}`).thinking).toBe(text);
  }
});

test("markup without a header that addresses a tool is text", () => {
  expect(read(block("get_weather", PARIS))).toMatchObject({ text: block("get_weather", PARIS), calls: [] });
});

test("a call addressed to no one, or to the user, is a call if its tool is declared and nothing precedes it", () => {
  for (const header of ["<|message|>", " to=user<|message|>", " to=self<|message|>Hm.<|eom|><|start|>assistant<|message|>"]) {
    expect(read(`${header}${block("get_weather", PARIS)}<|eom|>`)).toMatchObject({ text: "", calls: [{ args: { city: "Paris" } }] });
    for (const text of [block("get_time"), `Write ${block("get_weather")}`, "<atem:function_calls>\n<atem:invoke na"])
      expect(read(header + text)).toMatchObject({ text, calls: [] });
    expect(read(header + block("get_weather"), { tools: [] }).calls).toEqual([]);
  }
});

test("the end of a header inside or after a name is not part of the name", () => {
  const told = (name: string) => read(` to=get_weather<|message|>${block("x", PARIS).replace('x">', name)}<|eot|>`);
  for (const name of [
    'get_weather<|message|>">',
    'get_<|message|>weather">',
    "get_weather<|message|>",
    "get_weather<|message|>>",
    "get_weather",
  ])
    expect(told(name), name).toMatchObject({ calls: [{ name: "get_weather", args: { city: "Paris" } }], malformed: [] });
  const quoted = '<atem:parameter name="city">a <|message|> b</atem:parameter>\n';
  expect(read(` to=get_weather<|message|>${block("get_weather", quoted)}`).calls).toMatchObject([{ args: { city: "a <|message|> b" } }]);
});

test("a message to a tool that is not a call is malformed, and does not affect its neighbour", () => {
  const next = `<|start|>assistant to=get_weather<|message|>${block("get_weather", PARIS)}<|eot|>`;
  for (const body of ["print(1)", '<atem:function_calls>[{"name": "get_weather"}]', ""]) {
    const { text, calls, malformed } = read(` to=python<|message|>${body}<|eom|>${next}`);
    expect({ text, calls: calls.length, malformed: malformed.length }).toEqual({ text: "", calls: 1, malformed: 1 });
  }
});

test("a truncated header is not text", () => {
  const said = " to=user<|message|>Hi.<|eom|>";
  for (const cut of ["<|start|>", "<|start|>assistant", "<|start|>assistant to=us"])
    expect(read(said + cut)).toMatchObject({ text: "Hi.", malformed: [] });
  expect(read(`${said}<|start|>assistant to=get_w`)).toMatchObject({ text: "Hi.", malformed: ["no-name"] });
  expect(read(" to=us")).toMatchObject({ text: "", malformed: [] });
  expect(read(" to=get_w")).toMatchObject({ text: "", malformed: ["no-name"] });
});

test("a truncated call is marked as such", () => {
  const { calls } = read(` to=get_weather<|message|><atem:function_calls>\n<atem:invoke name="get_weather">\n${PARIS}`);
  expect(calls).toEqual([{ name: "get_weather", args: { city: "Paris" }, truncated: true }]);
});

test("a prompt may end in thinking", () => {
  expect(read("Hm.<|eom|>", { prompt: "<|start|>assistant to=self<|message|>" }).thinking).toBe("Hm.");
});

test("blanks where a call should be are limited like a call", () => {
  const scanner = museGlimmer.createScanner({ maxCallChars: 100 });
  const events = scanner.feed(`<|start|>assistant to=f<|message|>${" ".repeat(200)}`);
  expect(events).toMatchObject([{ type: "malformed", code: "too-long" }]);
});

// Four million characters: looking for the end of each of these names in all that follows would take minutes.
test("text without blanks that is full of what begins a header is read in linear time", () => {
  const input = "to=x".repeat(1_000_000);
  expect(read(input).text === input).toBe(true);
});
