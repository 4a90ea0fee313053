// Tools that an API defines and its clients run become functions for every other API, and their calls reach the client in its own form.
import { describe, expect, test } from "vitest";
import type { Event, Json, JsonObject, Request, WireId } from "../../src/core/nouns.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import type { EncoderOptions } from "../../src/wires/wire.ts";
import { validateRequest, validateStream } from "./validators.ts";

const decode = (wire: WireId, body: object): Request =>
  getWire(wire).decodeRequest({ path: "", query: {}, headers: {}, body: JSON.stringify({ model: "m", ...body }) });
const encode = (wire: WireId, request: Request) => {
  const { body, context } = getWire(wire).encodeRequest(request);
  return { body: JSON.parse(JSON.stringify(body)) as JsonObject, warnings: context.warnings.map(({ message }) => message) };
};
const others = (wire: WireId): WireId[] => listWires().flatMap(({ id }) => (id === wire ? [] : [id]));

/** The events of a model that calls a tool, in pieces. */
const calling = (name: string, args: JsonObject, state?: Event & { type: "tool-end" }): Event[] => {
  const json = JSON.stringify(args);
  return [
    { type: "start", id: "r", model: "m" },
    { type: "tool-start", index: 0, id: "c9", name },
    { type: "tool-delta", id: "c9", json: json.slice(0, 5) },
    { type: "tool-delta", id: "c9", json: json.slice(5) },
    { type: "tool-end", index: 0, id: "c9", name, arguments: args, json, ...state },
    { type: "finish", reason: "tool-calls" },
  ];
};
const streamed = (wire: WireId, request: Request, events: readonly Event[], options?: EncoderOptions): string => {
  const encoder = getWire(wire).createStreamEncoder({ ...request, stream: "sse" }, options);
  return events.map((event) => encoder.encode(event)).join("") + encoder.end();
};

const image = "data:image/png;base64,iVBORw0=";

interface Case {
  readonly wire: WireId;
  readonly tool: JsonObject;
  readonly name: string;
  /** The arguments in the model's call, as a function of another API. */
  readonly args: JsonObject;
  /** The call as the client gets it. */
  readonly call: JsonObject;
  /** The result as the client sends it. */
  readonly result: JsonObject;
  readonly output: Json;
}

const anthropic = (tool: JsonObject, args: JsonObject, content: Json = "done", output: Json = "done"): Case => ({
  wire: "anthropic",
  tool,
  name: String(tool.name),
  args,
  call: { type: "tool_use", id: "c9", name: tool.name!, input: args },
  result: { type: "tool_result", tool_use_id: "c9", content },
  output,
});
const responses = (tool: JsonObject, args: JsonObject, call: JsonObject, result: JsonObject, output: Json): Case => ({
  wire: "openai-responses",
  tool,
  name: String(call.type).replace("_call", ""),
  args,
  call: { call_id: "c9", status: "completed", ...call },
  result: { call_id: "c9", ...result },
  output,
});

const ran = [{ stdout: "a\n", stderr: "", outcome: { type: "exit", exit_code: 0 } }];
const patch = { type: "update_file", path: "a.txt", diff: "@@\n-a\n+b\n" };
const click = { type: "click", button: "left", x: 1, y: 2 };
const cases: Case[] = [
  anthropic({ type: "bash_20250124", name: "bash", cache_control: { type: "ephemeral" } }, { command: "ls" }),
  anthropic({ type: "bash_20241022", name: "bash" }, { restart: true }),
  anthropic(
    { type: "text_editor_20250728", name: "str_replace_based_edit_tool", max_characters: 9000 },
    { command: "insert", path: "a", insert_line: 0, insert_text: "x" },
  ),
  anthropic({ type: "text_editor_20250124", name: "str_replace_editor" }, { command: "undo_edit", path: "a" }),
  anthropic({ type: "memory_20250818", name: "memory" }, { command: "view", path: "/memories" }),
  anthropic(
    { type: "computer_20251124", name: "computer", display_width_px: 1024, display_height_px: 768 },
    { action: "left_click", coordinate: [1, 2] },
    [{ type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0=" } }],
    "",
  ),
  responses(
    { type: "local_shell" },
    { command: ["ls"], timeout_ms: 9 },
    { type: "local_shell_call", action: { type: "exec", command: ["ls"], env: {}, timeout_ms: 9 } },
    { type: "local_shell_call_output", id: "c9", output: "a" },
    "a",
  ),
  responses(
    { type: "local_shell" },
    { command: ["ls"] },
    { type: "local_shell_call", action: { type: "exec", command: ["ls"], env: {} } },
    { type: "function_call_output", output: "a" }, // codex's answer
    "a",
  ),
  responses(
    { type: "shell", environment: { type: "local", skills: [{ name: "pdf", description: "d", path: "/p" }] } },
    { commands: ["ls"] },
    { type: "shell_call", action: { commands: ["ls"], timeout_ms: null, max_output_length: null }, environment: { type: "local" } },
    { type: "shell_call_output", output: ran },
    ran,
  ),
  responses(
    { type: "apply_patch" },
    patch,
    { type: "apply_patch_call", operation: patch },
    { type: "apply_patch_call_output", status: "failed", output: "no such file" },
    "no such file",
  ),
  responses(
    { type: "apply_patch" },
    patch,
    { type: "apply_patch_call", operation: patch },
    { type: "apply_patch_call_output", status: "completed" },
    "completed",
  ),
  responses(
    { type: "computer" },
    { actions: [click, { type: "screenshot" }] },
    { type: "computer_call", action: click, actions: [click, { type: "screenshot" }], pending_safety_checks: [] },
    { type: "computer_call_output", output: { type: "computer_screenshot", image_url: image } },
    "",
  ),
  responses(
    { type: "computer_use_preview", display_width: 1024, display_height: 768, environment: "browser" },
    { actions: [click] },
    { type: "computer_call", action: click, actions: [click], pending_safety_checks: [] },
    { type: "computer_call_output", output: { type: "computer_screenshot", image_url: image } },
    "",
  ),
];
const named = cases.map((item) => [String(item.tool.type), item] as const);

const asking = ({ wire, tool }: Case): JsonObject =>
  wire === "anthropic"
    ? { max_tokens: 9, messages: [{ role: "user", content: "Hi" }], tools: [tool] }
    : { input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] }], tools: [tool], store: false };
const looped = (item: Case, said: readonly JsonObject[] = [item.call]): JsonObject => {
  const { messages, input, ...rest } = asking(item);
  if (item.wire === "openai-responses") return { ...rest, input: [...(input as Json[]), ...said, item.result] };
  const turns = [
    { role: "assistant", content: [...said] },
    { role: "user", content: [item.result] },
  ];
  return { ...rest, messages: [...(messages as Json[]), ...turns] };
};
const choosing = ({ wire, tool, name }: Case): JsonObject => (wire === "anthropic" ? { type: "tool", name } : { type: tool.type! });

describe.each(named)("%s", (type, item) => {
  const { wire, name, args, call } = item;
  test("its own API gets everything unchanged", () => {
    const body = { model: "m", ...looped(item), tool_choice: choosing(item) };
    const again = encode(wire, decode(wire, body));
    expect(again).toEqual({ body, warnings: [] });
    expect(validateRequest(wire, again.body)).toEqual([]);
  });

  test.each(others(wire))("%s gets a described function, the call and its result", (to) => {
    const request = decode(wire, { ...looped(item), tool_choice: choosing(item) });
    expect(request.warnings).toBeUndefined();
    expect(request.toolChoice).toEqual({ name });
    const { body, warnings } = encode(to, request);
    expect(validateRequest(to, body)).toEqual([]);
    expect(warnings).toContain(`${type} of ${wire} was sent as a function`);
    expect(warnings.filter((warning) => warning.includes("left out"))).toEqual([]);
    const [sent, ...rest] = decode(to, body).tools ?? [];
    expect(rest).toEqual([]);
    expect(sent?.name).toBe(name);
    expect(sent?.description).toMatch(/\w{3}/);
    const told = Object.keys((sent?.parameters?.properties ?? {}) as object);
    expect(told).toEqual(expect.arrayContaining(Object.keys(args)));
    const [, called] = decode(to, body).messages;
    expect(called).toMatchObject({ role: "assistant", content: [{ type: "tool-call", name, arguments: args }] });
  });

  test("the client's result is read", () => {
    const [, , result] = decode(wire, looped(item)).messages;
    expect(result).toMatchObject({ role: "tool", name, output: item.output });
    expect(result?.role === "tool" && result.isError === true).toBe(item.result.status === "failed");
    const media = result?.role === "tool" ? result.media : undefined;
    expect(media).toEqual(/computer/.test(type) ? [expect.objectContaining({ mediaType: "image/png", data: "iVBORw0=" })] : undefined);
  });

  test("a model's call reaches the client in its own form, streamed or whole, and comes back unchanged", () => {
    const request = decode(wire, asking(item));
    const text = streamed(wire, request, calling(name, args));
    expect(validateStream(wire, text)).toEqual([]);
    const content = [{ type: "tool-call" as const, id: "c9", name, arguments: args }];
    const whole = getWire(wire).encodeResponse({ content, finish: { reason: "tool-calls" } }, request) as Record<string, JsonObject[]>;
    const [said] = whole.output ?? whole.content ?? [];
    expect(said).toMatchObject(call);
    if (wire === "openai-responses") {
      const done = text.split("\n").filter((line) => line.startsWith("data:") && line.includes("output_item.done"));
      expect(done.map((line) => JSON.parse(line.slice(5)).item)).toEqual([{ ...said, id: expect.any(String) }]);
    }
    const [, again] = decode(wire, looped(item, [said!])).messages;
    expect(again).toMatchObject({ role: "assistant", content });
  });
});

test("the client's settings are part of the description", () => {
  const described = (wire: WireId, tool: JsonObject) =>
    decode(wire, { ...asking(cases.find((item) => item.wire === wire)!), tools: [tool] }).tools?.[0]?.description;
  expect(described("anthropic", cases[5]!.tool)).toMatch(/Settings: {"display_width_px":1024,"display_height_px":768}$/);
  expect(described("openai-responses", cases[8]!.tool)).toContain('"path":"/p"');
  expect(described("anthropic", cases[0]!.tool)).not.toContain("Settings");
});

test("a tool that only the server can run does not become a function", () => {
  const tools = [
    { type: "shell", environment: { type: "container_auto" } },
    { type: "tool_search" },
    { type: "code_interpreter", container: { type: "auto" } },
  ];
  const request = decode("openai-responses", { input: "Hi", tools });
  expect(request.tools).toBeUndefined();
  expect(encode("openai-chat", request).warnings).toHaveLength(3);
  const { tools: known } = decode("anthropic", {
    max_tokens: 9,
    messages: [{ role: "user", content: "Hi" }],
    tools: [
      { type: "code_execution_20250825", name: "code_execution" },
      { type: "computer_toolset_20260801" },
      { type: "constructor_20250101", name: "x" },
    ],
  });
  expect(known).toBeUndefined();
});

test("such a tool can be among the allowed tools", () => {
  const tools = [{ type: "shell" }, { type: "apply_patch" }, { type: "function", name: "f", parameters: null, strict: false }];
  const choice = { type: "allowed_tools", mode: "required", tools: [{ type: "shell" }, { type: "function", name: "f" }] };
  const request = decode("openai-responses", { input: "Hi", tools, tool_choice: choice });
  expect(request.toolChoice).toEqual({ allowed: ["shell", "f"], required: true });
  expect(encode("openai-responses", request).body).toMatchObject({ tools, tool_choice: choice });
  expect(encode("anthropic", request).body).toMatchObject({ tools: [{ name: "shell" }, { name: "f" }], tool_choice: { type: "any" } });
});

test("another provider's state on a call travels along and comes back", () => {
  const item = cases.find(({ tool }) => tool.type === "shell")!;
  const request = { ...decode("openai-responses", { ...asking(item), include: ["reasoning.encrypted_content"] }) };
  const state = [{ wire: "gemini" as const, kind: "thoughtSignature", data: "abc" }];
  const content = [{ type: "tool-call" as const, id: "c9", name: "shell", arguments: item.args, state }];
  const { output } = getWire("openai-responses").encodeResponse({ content, finish: { reason: "tool-calls" } }, request) as {
    output: JsonObject[];
  };
  const [, again] = decode("openai-responses", looped(item, output)).messages;
  expect(again).toMatchObject({ content: [{ name: "shell", state: expect.arrayContaining(state) }] });
});

test("a truncated call is left out, with a warning", () => {
  const warnings: string[] = [];
  const warn: EncoderOptions["warn"] = ({ message }) => void warnings.push(message);
  const item = cases.find(({ tool }) => tool.type === "shell")!;
  const request = decode("openai-responses", asking(item));
  const [start, open, delta] = calling("shell", item.args) as [Event, Event, Event];
  const end: Event = { type: "tool-end", index: 0, id: "c9", name: "shell", arguments: {}, truncated: true };
  const text = streamed("openai-responses", request, [start, open, delta, end, { type: "finish", reason: "length" }], { warn });
  expect(text).toContain("response.incomplete");
  expect(text).not.toContain("shell_call");
  expect(warnings).toEqual([expect.stringContaining("a call that was cut")]);
});
