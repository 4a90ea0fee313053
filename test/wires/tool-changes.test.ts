// Tools that come and go in mid-conversation: every server is offered those that are there by now, and its own server hears it as it was said.
import { expect, test } from "vitest";
import type { JsonObject, WireId } from "../../src/core/nouns.ts";
import { getDialect } from "../../src/dialects/registry.ts";
import { rendered } from "../../src/engines/rendered.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";

const decode = (from: WireId, body: object) =>
  getWire(from).decodeRequest({ path: "", query: {}, headers: {}, body: { model: "m", ...body } });
const others = (from: WireId) => listWires().flatMap(({ id }) => (id === from ? [] : id));

const tool = (name: string, more: object = {}) => ({
  name,
  input_schema: { type: "object", properties: { a: { type: "string" } } },
  ...more,
});
const refer = (type: string, name: string) => ({ type, tool: { type: "tool_reference", name } });
const define = (name: string, more: object = {}) => ({
  type: "tool_addition",
  tool: { type: "tool_definition", definition: tool(name, more) },
});
const hi = { role: "user", content: "Hi" };

const CHANGES: [string, object[], string[], object[]?][] = [
  ["one that is defined there", [define("h")], ["f", "g", "h"]],
  ["one that is taken away", [refer("tool_removal", "g")], ["f"]],
  ["one that comes back", [refer("tool_removal", "g"), refer("tool_addition", "g")], ["f", "g"]],
  [
    "one that is defined, taken away and comes back",
    [define("h"), refer("tool_removal", "h"), refer("tool_addition", "h")],
    ["f", "g", "h"],
  ],
  ["one that is defined and taken away", [define("h"), refer("tool_removal", "h")], ["f", "g"]],
  ["one that is defined anew", [refer("tool_removal", "g"), define("g", { description: "new" })], ["f", "g"]],
  ["one that was deferred", [refer("tool_addition", "g")], ["f", "g"], [tool("f"), tool("g", { defer_loading: true })]],
  [
    "one that was deferred, and is gone",
    [refer("tool_addition", "g"), refer("tool_removal", "g")],
    ["f"],
    [tool("f"), tool("g", { defer_loading: true })],
  ],
  [
    "one before a tool of its server's",
    [refer("tool_removal", "f")],
    ["g"],
    [tool("f"), { type: "bash_20250124", name: "bash" }, tool("g")],
  ],
];

test.each(CHANGES)("Anthropic: %s", (_, content, expected, tools = [tool("f"), tool("g")]) => {
  const body = { max_tokens: 9, messages: [hi, { role: "system", content }], tools };
  const request = decode("anthropic", body);
  expect(request.tools?.map(({ name }) => name)).toEqual(expected);
  expect(getWire("anthropic").encodeRequest(request).body).toMatchObject(body);
  for (const to of others("anthropic")) {
    const { body: sent, context } = getWire(to).encodeRequest(request);
    const said = getWire(to).decodeRequest({ path: "/v1beta/models/m:generateContent", query: {}, headers: {}, body: sent });
    expect(
      said.tools?.map(({ name }) => name),
      to,
    ).toEqual(expected);
    expect(said.messages, to).toMatchObject([{ role: "user", content: [{ text: "Hi" }] }]);
    expect(
      context.warnings.filter(({ message }) => !message.includes("bash")),
      to,
    ).toEqual([]);
  }
  const { prompt, warnings } = rendered(request, getDialect("hermes"), undefined);
  expect(prompt).toEqual(getDialect("hermes").render({ ...request, messages: request.messages.slice(0, 1) }));
  expect(warnings.filter(({ message }) => !message.includes("bash"))).toEqual([]);
});

test("Anthropic: what is added with words, the words stay", () => {
  const content = [define("h"), { type: "text", text: "There is a new tool." }];
  const request = decode("anthropic", { max_tokens: 9, messages: [hi, { role: "system", content }] });
  expect(JSON.stringify(getWire("openai-chat").encodeRequest(request).body)).toContain(
    '{"role":"system","content":"There is a new tool."}',
  );
});

test("Anthropic: tools of a server's own MCP client are told as lost", () => {
  const content = [{ type: "tool_addition", tool: { type: "mcp_toolset_reference", server_name: "s" } }];
  const request = decode("anthropic", { max_tokens: 9, messages: [hi, { role: "system", content }] });
  expect(getWire("openai-chat").encodeRequest(request).context.warnings).toMatchObject([
    { message: expect.stringContaining("tool_addition") },
  ]);
});

test("Responses: additional tools are tools", () => {
  const h = { type: "function", name: "h", parameters: { type: "object", properties: {} }, strict: false };
  const item = { type: "additional_tools", role: "developer", tools: [h, { type: "web_search" }] };
  const body = { input: [{ role: "user", content: "Hi" }, item] };
  const request = decode("openai-responses", body);
  expect(request.tools).toMatchObject([{ name: "h" }]);
  const { body: again, context } = getWire("openai-responses").encodeRequest(request);
  expect((again as JsonObject).input).toMatchObject([{ role: "user" }, item]);
  expect(again).not.toHaveProperty("tools");
  expect(context.warnings).toEqual([]);
  for (const to of others("openai-responses")) {
    const { body: sent, context } = getWire(to).encodeRequest(request);
    expect(JSON.stringify((sent as JsonObject).tools), to).toContain('"h"');
    expect(context.warnings, to).toMatchObject([{ message: expect.stringContaining("web_search") }]);
  }
});
