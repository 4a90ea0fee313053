// Numbers that a double cannot hold, outside call arguments: results, schemas and fields of one API keep their digits.
import { expect, test } from "vitest";
import type { Request, WireId } from "../../src/core/nouns.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { getDialect } from "../../src/dialects/registry.ts";
import { printBody } from "../../src/wires/raw.ts";
import { getWire } from "../../src/wires/registry.ts";

const WIRES: WireId[] = ["openai-chat", "openai-responses", "anthropic", "gemini", "ollama"];
const LIMITS = '"maximum":9223372036854775807,"minimum":-9223372036854775808,"default":1.0,"enum":[9007199254740993]';
const RESULT = '{"tweet":1234567890123456789,"price":1.10,"list":[1e2,{"deep":-9007199254740993}]}';

const gemini = (): Request =>
  getWire("gemini").decodeRequest({
    path: "/v1beta/models/m:generateContent",
    query: {},
    headers: {},
    body: `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},
      {"role":"user","parts":[{"functionResponse":{"name":"f","response":${RESULT}}}]}],
      "tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":{"id":{"type":"integer",${LIMITS}}}}}]}]}`,
  });
const sent = (request: Request, wire: WireId, official = false): string =>
  printBody(getWire(wire).encodeRequest(request, { official }).body);

test.each(WIRES)("numbers in results and schemas reach %s digit for digit", (wire) => {
  const body = sent(gemini(), wire);
  expect(body).toContain(wire === "gemini" ? RESULT : JSON.stringify(RESULT));
  expect(body).toContain(LIMITS);
});

test("a schema that is rewritten keeps its numbers", () => {
  const request = gemini();
  request.tools = request.tools!.map((tool) => ({ ...tool, strict: true }));
  expect(sent(request, "openai-chat", true)).toContain('"maximum":9223372036854775807');
});

test("a tool's numbers do not depend on what else the body has, so that prompt caches stay valid", () => {
  const tool = '{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"t":{"default":1.0}}}}}';
  for (const said of ["Hi", "4000000000000000 1.0"]) {
    const body = `{"model":"m","messages":[{"role":"user","content":"${said}"}],"tools":[${tool}]}`;
    const request = getWire("openai-chat").decodeRequest({ path: "", query: {}, headers: {}, body });
    expect(sent(request, "openai-chat")).toContain(tool);
    expect(promptText(getDialect("hermes").render(request))).toContain('{"default": 1.0}');
  }
});

test("arguments that came as an object where text belongs keep their numbers", () => {
  const args = '{"id":12345678901234567890,"price":1.10}';
  const call = `{"id":"a","type":"function","function":{"name":"f","arguments":${args}}}`;
  const body = `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[${call}]}]}`;
  const request = getWire("openai-chat").decodeRequest({ path: "", query: {}, headers: {}, body });
  expect(sent(request, "openai-chat")).toContain(JSON.stringify(args));
  expect(sent(request, "anthropic")).toContain(args);
});

test("fields that only one wire knows keep their numbers there", () => {
  const body = '{"model":"m","messages":[{"role":"user","content":"x"}],"metadata":{"n":12345678901234567890,"\\u00010":"\\u000101.0"}}';
  const request = getWire("openai-chat").decodeRequest({ path: "", query: {}, headers: {}, body });
  expect(sent(request, "openai-chat")).toContain('"metadata":{"n":12345678901234567890,"\\u00010":"\\u000101.0"}');
});

test("a body with a long number may hold a string of millions of escapes", () => {
  const quotes = '"'.repeat(4_000_000);
  const body = `{"model":"m","seed":12345678901234567890,"messages":[{"role":"user","content":${JSON.stringify(quotes)}}]}`;
  const { messages } = getWire("openai-chat").decodeRequest({ path: "", query: {}, headers: {}, body });
  const [said] = messages[0]?.role === "user" ? messages[0].content : [];
  expect(said?.type === "text" && said.text === quotes).toBe(true);
});

// Strings that look like the marks for numbers, eighty thousand of them: in a naive reader, each costs another look at the whole body.
test("a body full of strings that look like our marks is read and printed in linear time", () => {
  const marks = Array.from({ length: 80_000 }, (_, n) => `"\\u0001${n}\\u0001"`).join(",");
  const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},
    {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"n": 12345678901234567890}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"y"}]}],"metadata":{"marks":[${marks}]}}`;
  const printed = sent(getWire("anthropic").decodeRequest({ path: "", query: {}, headers: {}, body }), "anthropic");
  expect(printed).toContain('"input":{"n": 12345678901234567890}');
  expect(printed.includes(`"metadata":{"marks":[${marks}]}`)).toBe(true);
});

test("a number that was changed is printed as it is now", () => {
  const request = gemini();
  const result = request.messages.at(-1)!;
  if (result.role === "tool") (result.output as { tweet: number }).tweet = 5;
  expect(sent(request, "openai-chat")).toContain('{\\"tweet\\":5,\\"price\\":1.10');
});

test("the nouns are plain JSON", () => {
  const { messages } = gemini();
  expect(JSON.parse(JSON.stringify(messages.at(-1)))).toEqual({ role: "tool", id: "call_0", name: "f", output: JSON.parse(RESULT) });
});

test.each(["hermes", "functiongemma", "llama3", "minimax-m3"])("a prompt of %s has a result's numbers as they were written", (id) => {
  expect(promptText(getDialect(id).render(gemini()))).toContain("1234567890123456789");
});

test.each([
  ["hermes", '{"type": "number", "default": 1.0}'],
  ["qwen3-coder", "<default>0.0</default>"],
  ["qwen3-coder/unsloth-qwen3-coder", "<enum>[1.0, 2.5]</enum>"],
  ["gemma4", "items:{default:1.0,"],
  ["functiongemma", "items:{default:1.0,"],
  ["functiongemma", "response:f{value:1.10}"],
])("and so it has those of a schema and of a list: %s", (setting, text) => {
  const properties = '{"a":{"type":"array","items":{"type":"number","default":1.0}},"b":{"type":"number","enum":[1.0,2.5],"default":0.0}}';
  const parts = [
    '{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}',
    '{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":[1.10]}}}]}',
  ];
  const body = `{"contents":[${parts.join()}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":${properties}}}]}]}`;
  const request = getWire("gemini").decodeRequest({ path: "/v1beta/models/m:generateContent", query: {}, headers: {}, body });
  expect(promptText(getDialect(setting).render(request))).toContain(text);
});
