// The tool choice `none` means the same for every client and server: no tools are sent, and a call that comes anyway is reported.
import { describe, expect, test } from "vitest";
import type { Event, JsonObject, Request, ToolChoice, WireId } from "../../src/core/nouns.ts";
import { usualProfile } from "../../src/engines/known.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import { validateRequest } from "./validators.ts";

const wires = listWires().map(({ id }) => id);
const hi: Request["messages"][number] = { role: "user", content: [{ type: "text", text: "Hi" }] };
const request: Request = {
  model: "m",
  messages: [hi],
  tools: [
    { name: "f", parameters: { type: "object", properties: {} }, strict: true },
    { name: "later", deferred: true },
  ],
  toolChoice: "none",
};
const behindCalls: Request = {
  ...request,
  messages: [
    hi,
    { role: "assistant", content: [{ type: "tool-call", id: "call_0", name: "f", arguments: {} }] },
    { role: "tool", id: "call_0", name: "f", output: "ok" },
  ],
};
const sent = (id: WireId, given: Request) => {
  const { body, context } = getWire(id).encodeRequest(given);
  expect(validateRequest(id, body)).toEqual([]);
  const { tools, tool_choice, toolConfig } = body as JsonObject;
  return { tools, choice: tool_choice ?? toolConfig, warnings: context.warnings };
};

describe("no tools are sent if none may be called", () => {
  test.each(wires)("%s", (id) => {
    expect(sent(id, request)).toEqual({ tools: undefined, choice: undefined, warnings: [] });
  });
  test.each(wires.filter((id) => id !== "anthropic"))("%s: not even after calls in the history", (id) => {
    expect(sent(id, behindCalls)).toEqual({ tools: undefined, choice: undefined, warnings: [] });
  });
  test("anthropic: tools with calls in the history stay declared, since it would refuse them otherwise, and its own `none` is sent", () => {
    expect(sent("anthropic", behindCalls)).toMatchObject({ tools: [{ name: "f" }, { name: "later" }], choice: { type: "none" } });
  });
  test("a call in the history is still read by its tool's definition", () => {
    const wire = getWire("openai-responses");
    const tools = [{ type: "namespace", name: "agents", tools: [{ type: "function", name: "spawn", parameters: {} }] }];
    const call = { type: "function_call", call_id: "c1", namespace: "agents", name: "spawn", arguments: "{}" };
    const input = [{ role: "user", content: "Hi" }, call, { type: "function_call_output", call_id: "c1", output: "ok" }];
    const given = wire.decodeRequest({ path: "", query: {}, headers: {}, body: { model: "m", input, tools, tool_choice: "none" } });
    const body = wire.encodeRequest(given).body as { tools?: unknown; input: object[] };
    expect(body.tools).toBeUndefined();
    expect(body.input[1]).toMatchObject(call);
  });
  test("a server's own tools, and its `none`, are still sent to it", () => {
    const wire = getWire("openai-responses");
    const body = { model: "m", input: "Hi", tools: [{ type: "web_search" }, { type: "function", name: "f" }], tool_choice: "none" };
    const given = wire.decodeRequest({ path: "", query: {}, headers: {}, body });
    const { tools, choice } = sent("openai-responses", given);
    expect(tools).toMatchObject(body.tools);
    expect(choice).toBe("none");
  });
  test("the answer echoes the request's tools and choice", () => {
    const answer = getWire("openai-responses").encodeResponse({ content: [], finish: { reason: "stop" } }, request);
    expect(answer).toMatchObject({ tool_choice: "none", tools: [{ name: "f" }, { name: "later" }] });
  });
});

describe("a forbidden call is passed on, with a warning", () => {
  const call = { id: "call_0", index: 0, name: "f" };
  const events: Event[] = [
    { type: "tool-start", ...call },
    { type: "tool-end", ...call, arguments: {}, json: "{}" },
    { type: "finish", reason: "tool-calls" },
  ];
  test.each(wires)("%s", (id) => {
    for (const toolChoice of ["none", "auto"] as const) {
      const said: string[] = [];
      const encoder = getWire(id).createStreamEncoder({ ...request, toolChoice }, { warn: ({ message }) => said.push(message) });
      const stream = events.map((event) => encoder.encode(event)).join("") + encoder.end();
      const decoder = getWire(id).createStreamDecoder();
      expect([...decoder.feed(stream), ...decoder.flush()].filter(({ type }) => type === "tool-end")).toHaveLength(1);
      expect(said).toEqual(toolChoice === "none" ? ["f was called although no calls are allowed"] : []);
    }
  });
});

describe("a missing required call, or too many calls, cause a warning", () => {
  const call = (index: number): Event[] => [
    { type: "tool-start", id: `call_${index}`, index, name: "f" },
    { type: "tool-end", id: `call_${index}`, index, name: "f", arguments: {}, json: "{}" },
  ];
  const told = (id: (typeof wires)[number], asked: Partial<Request>, events: Event[]): string[] => {
    const said: string[] = [];
    const encoder = getWire(id).createStreamEncoder(
      { ...request, toolChoice: "auto", ...asked },
      { warn: ({ message }) => said.push(message) },
    );
    for (const event of events) encoder.encode(event);
    return said;
  };
  const silent: Event[] = [
    { type: "text", text: "No." },
    { type: "finish", reason: "stop" },
  ];

  test.each(wires)("%s", (id) => {
    for (const toolChoice of ["required", { name: "f" }, { allowed: ["f"], required: true }] satisfies ToolChoice[])
      expect(told(id, { toolChoice }, silent)).toEqual(["no tool was called although one is required"]);
    expect(told(id, { toolChoice: { allowed: ["f"] } }, silent)).toEqual([]);
    expect(told(id, { toolChoice: "required" }, [...call(0), { type: "finish", reason: "tool-calls" }])).toEqual([]);
    expect(told(id, { parallelCalls: false }, [...call(0), ...call(1), { type: "finish", reason: "tool-calls" }])).toEqual([
      "several calls were made although only one is allowed",
    ]);
  });
});

describe("servers without allowed tools are sent only those", () => {
  const tools = ["f", "g", "h"].map((name) => ({ name, parameters: { type: "object", properties: {} } }));
  test.each(["openai-chat", "openai-responses"] as const)("%s", (id) => {
    const wire = getWire(id);
    const asked = (required: boolean) => ({
      model: "m",
      messages: [hi],
      tools,
      toolChoice: { allowed: ["g", "f"], ...(required && { required }) },
    });
    const named = (body: unknown) =>
      (body as { tools: { name?: string; function?: { name: string } }[] }).tools.map((tool) => tool.name ?? tool.function?.name);
    const { body, context } = wire.encodeRequest(asked(true), usualProfile(id, "http://127.0.0.1:8000/v1"));
    expect(named(body)).toEqual(["f", "g"]);
    expect(body).toMatchObject({ tool_choice: "required" });
    expect(context.warnings).toMatchObject([{ message: expect.stringContaining("the allowed tools") }]);
    expect(wire.encodeRequest(asked(false), { allowedTools: false }).body).toMatchObject({ tool_choice: "auto" });
    const official = wire.encodeRequest(asked(true), usualProfile(id, "https://api.openai.com/v1")).body;
    expect(named(official)).toEqual(["f", "g", "h"]);
    expect(official).toMatchObject({ tool_choice: { type: "allowed_tools" } });
  });
});

describe("a server that treats a named tool choice as `auto`, as llama-server does, is sent only that tool, and `required`", () => {
  const tools = ["f", "g"].map((name) => ({ name, parameters: { type: "object", properties: {} } }));
  test.each(["openai-chat", "openai-responses"] as const)("%s", (id) => {
    const asked = { model: "m", messages: [hi], tools, toolChoice: { name: "g" } };
    const encode = (url: string) => getWire(id).encodeRequest(asked, usualProfile(id, url));
    const { body, context } = encode("http://127.0.0.1:8080/v1");
    expect(body).toMatchObject({ tool_choice: "required", tools: [id === "openai-chat" ? { function: { name: "g" } } : { name: "g" }] });
    expect(context.warnings).toEqual([]);
    expect(encode("https://api.openai.com/v1").body).toMatchObject({ tool_choice: { type: "function" }, tools: [{}, {}] });
  });
});
