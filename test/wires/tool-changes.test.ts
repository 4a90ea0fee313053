// Tools added and removed in the middle of a conversation, as Claude Code does when MCP servers connect late or leave: every model gets the
// final set.
import { describe, expect, test } from "vitest";
import type { JsonObject, WireId } from "../../src/core/nouns.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";

const schema = { type: "object", properties: { city: { type: "string" } } };
const declared = ["f", "g"].map((name) => ({ name, input_schema: schema }));
const user = { role: "user", content: "Hi" };
const said = { role: "assistant", content: [{ type: "text", text: "Yes?" }] };
const system = (...content: object[]) => ({ role: "system", content });
const named = (name: string) => ({ type: "tool_reference", name });
const defining = (name: string, description: string) => ({
  type: "tool_addition",
  tool: { type: "tool_definition", definition: { name, description, input_schema: schema } },
});
const removal = (name: string) => ({ type: "tool_removal", tool: named(name) });
const addition = (name: string) => ({ type: "tool_addition", tool: named(name) });

const decode = (from: WireId, body: object) =>
  getWire(from).decodeRequest({ path: "", query: {}, headers: {}, body: { model: "m", ...body } });
const asked = (...changes: object[]) => decode("anthropic", { max_tokens: 9, tools: declared, messages: [user, said, user, ...changes] });
const names = (request: ReturnType<typeof decode>) => request.tools?.map(({ name }) => name);
const others = (own: WireId) => listWires().flatMap(({ id }) => (id === own ? [] : [id]));

describe("Anthropic's tool changes", () => {
  const cases: [string, object[], string[]][] = [
    ["a tool that is added is offered", [system(defining("h", "new"))], ["f", "g", "h"]],
    ["a tool that is removed is not", [system(removal("g"))], ["f"]],
    ["the last change counts: removed, then added again", [system(removal("g")), said, user, system(addition("g"))], ["f", "g"]],
    ["the last change counts: added, then removed", [system(defining("h", "new")), said, user, system(removal("h"))], ["f", "g"]],
    ["a tool that is added again replaces the old one", [system(defining("g", "other"))], ["f", "g"]],
    ["a change beside a text", [system(defining("h", "new"), { type: "text", text: "More tools." })], ["f", "g", "h"]],
    [
      "a change inside a compaction block",
      [{ role: "assistant", content: [{ type: "compaction", content: "All.", tool_changes: [removal("f"), defining("h", "new")] }] }],
      ["g", "h"],
    ],
  ];
  test.each(cases)("%s", (_, changes, expected) => {
    expect(names(asked(...changes))).toEqual(expected);
  });
  test.each(cases)("%s: its own server gets everything unchanged", (_, changes) => {
    const request = asked(...changes);
    const { body, context } = getWire("anthropic").encodeRequest(request);
    expect(body).toMatchObject({ tools: declared, messages: [user, said, user, ...changes].map(short) });
    expect(context.warnings).toEqual([]);
  });
  test.each(others("anthropic"))("a message that only changes tools is not sent to %s, and nothing is lost", (to) => {
    const { body, context } = getWire(to).encodeRequest(asked(system(defining("h", "new"), removal("g"))));
    const again = getWire(to).decodeRequest({ path: "", query: {}, headers: {}, body });
    expect(again.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(names(again)).toEqual(["f", "h"]);
    expect(JSON.stringify((body as JsonObject).tools)).toContain("new");
    expect(context.warnings).toEqual([]);
  });
});

test("changes to tools that only Anthropic's servers have are reported as dropped", () => {
  const toolset = { type: "tool_addition", tool: { type: "mcp_toolset_reference", server_name: "docs" } };
  for (const changes of [system(toolset), system(toolset, { type: "text", text: "Docs." })])
    expect(getWire("openai-chat").encodeRequest(asked(changes)).context.warnings).toMatchObject([{ code: "dropped" }]);
});

/** A single text is written as a string. */
const short = (message: object): object => {
  const { content } = message as { content: readonly { type: string; text?: string }[] };
  return content.length === 1 && content[0]?.type === "text" ? { ...message, content: content[0].text } : message;
};

describe("additional tools of Responses", () => {
  const search = { type: "web_search" };
  const f = { type: "function", name: "f", parameters: schema, strict: false };
  const item = { type: "additional_tools", role: "developer", tools: [{ ...f, name: "h" }, search] };
  const request = () =>
    decode("openai-responses", { tools: [f], input: [{ role: "user", content: "Hi" }, item, { role: "user", content: "Go" }] });
  test.each(others("openai-responses"))("are offered to %s", (to) => {
    const { body, context } = getWire(to).encodeRequest(request());
    expect(names(getWire(to).decodeRequest({ path: "", query: {}, headers: {}, body }))).toEqual(["f", "h"]);
    expect(context.warnings.map(({ message }) => message)).toEqual([expect.stringContaining("web_search")]);
  });
  test("its own server finds them in the item", () => {
    const { body } = getWire("openai-responses").encodeRequest(request());
    expect(body).toMatchObject({ tools: [f], input: [{ role: "user" }, item, { role: "user" }] });
  });
});
