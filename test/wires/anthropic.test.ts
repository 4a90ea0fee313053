import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BadRequest } from "../../src/core/errors.ts";
import { collect } from "../../src/core/fold.ts";
import type { ErrorCode, Event, Json, JsonObject, Message, Opaque, Part, Request, Text, ToolCall } from "../../src/core/nouns.ts";
import { anthropic } from "../../src/wires/anthropic.ts";
import { EMPTY_CAPSULE, openCapsule } from "../../src/wires/capsule.ts";
import { printBody } from "../../src/wires/raw.ts";
import { getWire } from "../../src/wires/registry.ts";
import { describeShared } from "../shared.ts";
import { captures } from "./helpers.ts";
import { validateCount, validateRequest, validateStream } from "./validators.ts";

const fixtures = fileURLToPath(new URL("../fixtures/anthropic/", import.meta.url));
const fixture = (name: string): string => readFileSync(join(fixtures, name), "utf8");
const streams = readdirSync(fixtures)
  .filter((file) => file.endsWith(".sse"))
  .map((file) => file.slice(0, -4));

const state = (kind: string, data: Json, wire: Opaque["wire"] = "anthropic"): Opaque => ({ wire, kind, data });
const text = (text: string) => ({ type: "text", text }) as const;
const user: Message = { role: "user", content: [text("Hi")] };
const call = (id: string, name: string, args: JsonObject = {}): ToolCall => ({ type: "tool-call", id, name, arguments: args });
const result = (id: string, name: string, output: Json = "ok"): Message => ({ role: "tool", id, name, output });

const decode = (body: unknown, headers = {}, query = {}): Request =>
  anthropic.decodeRequest({ path: "/v1/messages", query, headers, body });
const asking = (fields: object): Request => decode({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }], ...fields });
const saying = (...messages: object[]): Message[] => decode({ model: "m", max_tokens: 9, messages }).messages;

/** The body as it goes over the wire. */
const encode = (request: Partial<Request>, profile = {}): { [key: string]: Json } =>
  JSON.parse(JSON.stringify(anthropic.encodeRequest({ model: "m", messages: [user], ...request }, profile).body));
const warningsOf = (request: Partial<Request>): string[] =>
  anthropic.encodeRequest({ model: "m", messages: [user], maxTokens: 9000, ...request }).context.warnings.map(({ message }) => message);
const messagesOf = (...messages: Message[]): Json => encode({ messages }).messages ?? null;

const decodeStream = (stream: string, cut?: number): Event[] => {
  const decoder = anthropic.createStreamDecoder();
  const pieces = cut === undefined ? [stream] : [stream.slice(0, cut), stream.slice(cut)];
  return [...pieces.flatMap((piece) => decoder.feed(piece)), ...decoder.flush()];
};
const encodeStream = (events: readonly Event[], request: Partial<Request> = {}, warn: (message: string) => void = () => {}): string => {
  const options = { mintId: () => "msg_minted", warn: ({ message }: { message: string }) => warn(message) };
  const encoder = anthropic.createStreamEncoder({ model: "m", messages: [user], ...request }, options);
  return events.map((event) => encoder.encode(event)).join("") + encoder.end();
};
const eventsIn = (stream: string): JsonObject[] =>
  stream
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)) as JsonObject);

/** Neighbouring deltas joined, so that streams can be compared however they were cut. */
function joined(events: readonly Event[]): Event[] {
  const out: Event[] = [];
  for (const event of events) {
    const last = out.at(-1);
    if (event.type === "text" && last?.type === "text" && !last.state && !event.state)
      out[out.length - 1] = { ...last, text: last.text + event.text };
    else if (event.type === "thinking-delta" && last?.type === event.type) out[out.length - 1] = { ...last, text: last.text + event.text };
    else if (event.type === "tool-delta" && last?.type === event.type && last.id === event.id)
      out[out.length - 1] = { ...last, json: last.json + event.json };
    else out.push(event);
  }
  return out;
}

type Draft = { [key: string]: unknown };

/** The message that a client builds from a stream. */
function messageIn(stream: string): Draft {
  let message: Draft = {};
  const blocks: Draft[] = [];
  const json: string[] = [];
  for (const event of eventsIn(stream) as Draft[]) {
    const index = event.index as number;
    const delta = (event.delta ?? {}) as Draft;
    const block = blocks[index] ?? {};
    if (event.type === "message_start") message = { ...(event.message as Draft) };
    if (event.type === "content_block_start") blocks[index] = { ...(event.content_block as Draft) };
    if (delta.type === "text_delta") block.text = `${block.text}${delta.text}`;
    if (delta.type === "thinking_delta") block.thinking = `${block.thinking}${delta.thinking}`;
    if (delta.type === "signature_delta") block.signature = delta.signature;
    if (delta.type === "citations_delta") block.citations = [...((block.citations ?? []) as unknown[]), delta.citation];
    if (delta.type === "input_json_delta") json[index] = (json[index] ?? "") + delta.partial_json;
    if (event.type === "message_delta")
      message = { ...message, ...delta, usage: { ...(message.usage as Draft), ...(event.usage as Draft) } };
  }
  for (const [index, block] of blocks.entries()) if ("input" in block) block.input = JSON.parse(json[index]?.trim() || "{}");
  return { ...message, content: blocks };
}

/** Brings equivalent spellings to one. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key, item]) => item !== null && !(key === "is_error" && item === false));
  return Object.fromEntries(
    entries.map(([key, item]) => {
      const inner = canonical(item);
      const only = Array.isArray(inner) && inner.length === 1 && inner[0].type === "text" && Object.keys(inner[0]).length === 2;
      return [key, only && (key === "content" || key === "system") ? inner[0].text : inner];
    }),
  );
}

// ---- Requests

describeShared("recorded requests", () => {
  const requests = captures<Draft>(({ path }) => path.startsWith("/v1/messages"));
  const counts = requests.filter(({ path }) => path.endsWith("/count_tokens"));
  const chats = requests.filter(({ path }) => path.endsWith("/messages"));

  test.each(chats)("$file is read without a warning, and written as it was", ({ query, headers, body }) => {
    const request = decode(body, headers, query);
    expect(request.warnings).toBeUndefined();
    expect(JSON.stringify(request)).not.toContain('"malformed"');
    const encoded = anthropic.encodeRequest(request);
    expect(canonical(JSON.parse(printBody(encoded.body)))).toEqual(canonical(body));
    expect(validateRequest("anthropic", encoded.body)).toEqual([]);
    expect(encoded.context.warnings).toEqual([]);
    expect(encoded.headers["anthropic-beta"]).toBe(headers["anthropic-beta"]);
    expect(encoded.path).toBe("/v1/messages");
  });
  test.each(counts)("$file asks for a token count", ({ query, headers, body }) => {
    const encoded = anthropic.encodeTokenCountRequest?.(decode(body, headers, query));
    expect(encoded?.path).toMatch(/^\/v1\/messages\/count_tokens/);
    expect(canonical(encoded?.body)).toEqual(
      canonical({ ...body, tools: (body.tools as unknown[] | undefined)?.length ? body.tools : null }),
    );
    expect(validateCount("anthropic", encoded?.body)).toEqual([]);
  });
});

test("unknown fields survive at every level", () => {
  const body = JSON.parse(fixture("request-everything.json")) as Draft;
  const request = decode(body);
  const encoded = anthropic.encodeRequest(request);
  expect(canonical(JSON.parse(printBody(encoded.body)))).toEqual(canonical(body));
  expect(encoded.context.warnings).toEqual([]);
  expect(decode(encoded.body)).toEqual(request);
});

test.each([
  { thinking: { type: "between_tools" } },
  { thinking: { type: "new_kind", amount: 3 }, output_config: { effort: "ultra" } },
  { thinking: { type: "enabled", budget_tokens: 1024, display: "summarized" }, max_tokens: 2000 },
  { thinking: { type: "disabled" }, output_config: { effort: "xhigh" } },
  { output_config: { effort: "" } },
  { output_config: { format: { type: "new_format" } } },
  { tools: [{ type: "bash_20250124", name: "bash" }], tool_choice: { type: "tool", name: "bash", disable_parallel_tool_use: true } },
  { tools: [{ type: "bash_20250124", name: "bash" }], tool_choice: { type: "any", disable_parallel_tool_use: true } },
  { system: [{ type: "text", text: "x-anthropic-billing-header: x", cache_control: { type: "ephemeral" } }] },
  { system: "S", context_management: { edits: [] } },
])("%j passes through", (fields) => {
  const { messages: _, model: __, max_tokens, ...rest } = encode(asking(fields));
  expect({ max_tokens, ...rest }).toEqual({ max_tokens: 9, ...fields });
});

describe("a request decoded into the nouns", () => {
  const request = decode(JSON.parse(fixture("request-everything.json")));

  test("documents and search results become text that any model can read", () => {
    const [, first] = request.messages;
    expect(first?.role === "user" && first.content.map((part) => (part.type === "text" ? part.text : part.mediaType))).toEqual([
      "Look.",
      "image/png",
      "image/*",
      "[image/*]",
      "application/pdf",
      "Notes\nplain words",
      "inner",
      "S\nhttps://s.example\nfound",
      "[application/octet-stream]",
    ]);
  });
  test("sampling, thinking and tool settings are decoded", () => {
    expect(request).toMatchObject({
      model: "claude-x",
      maxTokens: 2048,
      thinking: { enabled: true, show: false, effort: "xhigh", keep: true },
      parallelCalls: false,
      toolChoice: "auto",
      stream: "sse",
      stop: ["END"],
      output: { schema: { type: "object" } },
    });
    expect(asking({ temperature: 0.5, top_p: 0.9, top_k: 4, stream: false })).toMatchObject({
      sampling: { temperature: 0.5, topP: 0.9, topK: 4 },
      stream: false,
    });
  });
  test("no default is filled in for what the client did not send", () => {
    expect(asking({})).toEqual({ from: "anthropic", model: "m", messages: [user], maxTokens: 9 });
  });
  test("the billing line is carried for Anthropic only, without a warning elsewhere", () => {
    expect(request.messages[0]).toMatchObject({ role: "system", content: [{ text: "", state: [{ quiet: true }] }, { text: "Be brief." }] });
  });
  test("a system text may be a string, blocks, or a message in the middle of a conversation", () => {
    expect(asking({ system: "S" }).messages[0]).toEqual({ role: "system", content: [text("S")] });
    expect(asking({ system: [] }).messages).toEqual([user]);
    expect(saying({ role: "user", content: "Hi" }, { role: "system", content: [text("S")] })).toEqual([
      user,
      { role: "system", content: [text("S")] },
    ]);
  });
  test.each([["all"], [{ type: "all" }]])("thinking is kept if an edit says so, in any order of its keys: %j", (keep) => {
    const edits = [{ keep, type: "clear_thinking_20251015" }];
    expect(asking({ context_management: { edits } }).thinking).toEqual({ keep: true });
  });
  test("a deferred tool that the history refers to is offered to every model", () => {
    const deferred = request.tools?.map(({ name, deferred }) => [name, deferred ?? false]);
    expect(deferred).toEqual([
      ["find", false],
      ["shot", false],
      ["later", false],
      ["hidden", true],
    ]);
    expect(request.messages.find((message) => message.role === "tool")).toMatchObject({
      output: "The tool later is now available.",
      isError: true,
    });
  });
  test("one of Anthropic's own tools keeps its position, and is not turned into a function", () => {
    expect(request.extra).toContainEqual(state("tools[1]", { type: "web_search_20260209", name: "web_search", max_uses: 2 }));
    const only = asking({
      tools: [{ type: "web_search_20260209", name: "web_search" }],
      tool_choice: { type: "tool", name: "web_search" },
    });
    expect(only.tools).toBeUndefined();
    expect(only.toolChoice).toBeUndefined();
    expect(encode(only)).toMatchObject({ tools: [{ name: "web_search" }], tool_choice: { type: "tool", name: "web_search" } });
  });
});

describe("messages", () => {
  const use = (id: string, name: string, input: unknown) => ({ type: "tool_use", id, name, input });
  const answer = (id: string, content: unknown, more = {}) => ({ type: "tool_result", tool_use_id: id, content, ...more });
  const answered = (content: unknown, more = {}) =>
    saying({ role: "assistant", content: [use("1", "f", {})] }, { role: "user", content: [answer("1", content, more)] })[1];

  test("tool results come before the user's text", () => {
    expect(
      saying(
        { role: "assistant", content: [use("1", "f", { a: 1 }), use("2", "g", {})] },
        { role: "user", content: [text("then"), answer("2", "G"), answer("1", "F")] },
      ),
    ).toEqual([
      { role: "assistant", content: [call("1", "f", { a: 1 }), call("2", "g")] },
      result("2", "g", "G"),
      result("1", "f", "F"),
      { role: "user", content: [text("then")] },
    ]);
  });
  test.each([
    ["x", "x"],
    [undefined, ""],
    [[], ""],
    [[text("x")], "x"],
    [[text("x"), text("y")], "x\ny"],
  ])("a tool result %j is read as %j", (content, output) => {
    expect(answered(content)).toMatchObject({ role: "tool", id: "1", name: "f", output });
  });
  test("a tool result may hold images, and may be an error", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } };
    expect(answered([text("see"), image], { is_error: true })).toEqual({
      role: "tool",
      id: "1",
      name: "f",
      output: "see",
      media: [{ type: "media", mediaType: "image/png", data: "AA==" }],
      isError: true,
    });
    expect(answered([image, text("see")])).toMatchObject({ output: "see", media: [{ data: "AA==" }], state: [{ kind: "content" }] });
  });
  test("thinking keeps its signature, even an empty one", () => {
    const thought = (block: object) => {
      const [message] = saying({ role: "assistant", content: [block] });
      return message?.role === "assistant" ? message.content : undefined;
    };
    expect(thought({ type: "thinking", thinking: "Hm", signature: "c2ln" })).toEqual([
      { type: "thinking", text: "Hm", state: [state("signature", "c2ln")] },
    ]);
    expect(thought({ type: "thinking", thinking: "Hm", signature: "" })).toEqual([
      { type: "thinking", text: "Hm", state: [{ ...state("signature", ""), quiet: true }] },
    ]);
    expect(thought({ type: "redacted_thinking", data: "ZW5j" })).toEqual([{ type: "thinking", text: "", state: [state("data", "ZW5j")] }]);
    expect(thought({ type: "thinking", thinking: "Hm", signature: EMPTY_CAPSULE })).toEqual([{ type: "thinking", text: "Hm" }]);
  });
  test("a call in the history that cannot be read is kept as malformed", () => {
    expect(saying({ role: "assistant", content: [use("1", "f", "oops")] })[0]).toMatchObject({
      content: [{ type: "malformed", id: "1", code: "bad-arguments" }],
    });
  });
});

describe("a bad request is refused with the place of the fault and what to do", () => {
  test.each<[unknown, string]>([
    ["{", "the body is not JSON"],
    [{ model: "m" }, "messages must be a list of messages that is not empty"],
    [{ messages: [{ role: "tool", content: "x" }] }, "messages[0].role must be one of user, assistant, system"],
    [{ messages: [{ role: "user", content: 5 }] }, "messages[0].content must be a string or a list of parts"],
    [{ messages: [{ role: "user", content: [{ text: "x" }] }] }, "messages[0].content[0].type must be a string"],
    [{ messages: [{ role: "assistant", content: [{ type: "tool_use", id: "1" }] }] }, "messages[0].content[0].name must be a string"],
    [{ messages: [{ role: "user", content: "x" }], tools: [{ description: "x" }] }, "tools[0].name must be a string"],
    [
      { messages: [{ role: "user", content: "x" }], tool_choice: { type: "often" } },
      "tool_choice.type must be one of auto, any, none, tool",
    ],
    [{ messages: [{ role: "user", content: "x" }], max_tokens: "9" }, "max_tokens must be a number"],
  ])("%.60j", (body, message) => {
    expect(() => decode(body)).toThrow(BadRequest);
    expect(() => decode(body)).toThrow(message);
  });
});

// ---- Requests to servers

test("starting a server-side thread is passed on; continuing one is refused with the message that the SDK expects", () => {
  expect(asking({ thread: { type: "create" } }).extra).toEqual([{ ...state("thread", { type: "create" }), quiet: true }]);
  try {
    asking({ thread: { type: "continue", previous_message_id: "msg_1" }, messages: [] });
    expect.unreachable();
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    const { status, body } = anthropic.encodeError(error.info);
    expect(status).toBe(404);
    expect(body).toMatchObject({ error: { type: "not_found_error", details: { error_code: "thread_not_found" } } });
  }
});

describe("turns in the order that Anthropic demands", () => {
  test("messages and tools of its own clients are sent exactly as they came", () => {
    const found = [
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "sky" } },
      { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
    ];
    const messages = [
      { role: "assistant", content: found },
      { role: "system", content: "Answer in Spanish." },
      { role: "assistant", content: "Entendido." },
      { role: "user", content: "Which color?" },
    ];
    const tools = [{ name: "f", input_schema: { type: "object" }, cache_control: { type: "ephemeral" } }];
    const body = { model: "m", max_tokens: 9, messages, tools, tool_choice: { type: "none" } };
    const { context, body: sent } = anthropic.encodeRequest(decode(body));
    expect(JSON.parse(JSON.stringify(sent))).toEqual(body);
    expect(context.warnings).toEqual([]);
  });
  const asked: Message = { role: "assistant", content: [call("a", "f"), call("b", "g")] };
  const said = (content: Json) => ({ role: "user", content });
  const answer = (id: string, content: Json, more = {}) => ({ type: "tool_result", tool_use_id: id, content, ...more });
  const calls = {
    role: "assistant",
    content: [
      { type: "tool_use", id: "a", name: "f", input: {} },
      { type: "tool_use", id: "b", name: "g", input: {} },
    ],
  };

  test("all results of a round are in one message, followed by the user's text", () => {
    expect(messagesOf(user, asked, result("a", "f"), result("b", "g"), { role: "user", content: [text("And?")] })).toEqual([
      said("Hi"),
      calls,
      said([answer("a", "ok"), answer("b", "ok"), text("And?")]),
    ]);
  });
  test("a late result moves up to its call", () => {
    expect(messagesOf(user, asked, result("a", "f"), { role: "user", content: [text("Wait")] }, result("b", "g"))).toEqual([
      said("Hi"),
      calls,
      said([answer("a", "ok"), answer("b", "ok"), text("Wait")]),
    ]);
  });
  test("a call without a result gets one that says so, and a result without a call becomes text", () => {
    const messages = [user, asked, result("a", "f"), result("z", "h", { x: 1 })];
    expect(messagesOf(...messages)).toEqual([
      said("Hi"),
      calls,
      said([answer("a", "ok"), answer("b", "No result was given.", { is_error: true }), text('[result of h, call z]\n{"x":1}')]),
    ]);
    expect(warningsOf({ messages })).toHaveLength(3);
  });
  test("call ids are unique, and contain only what the API allows", () => {
    const round = [{ role: "assistant", content: [call("functions.f:0", "f")] }, result("functions.f:0", "f")] as Message[];
    const ids = JSON.stringify(messagesOf(user, ...round, ...round)).match(/"(?:id|tool_use_id)":"[^"]*"/g);
    expect(ids).toEqual([
      '"id":"functions_f_0"',
      '"tool_use_id":"functions_f_0"',
      '"id":"functions_f_0_2"',
      '"tool_use_id":"functions_f_0_2"',
    ]);
  });
  test("system texts go first; later ones become a system message after a user's, or labelled text", () => {
    const system = (content: string): Message => ({ role: "system", content: [text(content)] });
    const body = encode({ messages: [system("A"), { role: "developer", content: [text("B")] }, user, system("C"), system("D")] });
    expect(body.system).toEqual([text("A"), text("B")]);
    expect(body.messages).toEqual([said("Hi"), { role: "system", content: [text("C"), text("D")] }]);
    expect(messagesOf(user, system("C"), { role: "user", content: [text("Go")] })).toEqual([
      said("Hi"),
      said("<system>\nC\n</system>"),
      said("Go"),
    ]);
    expect(messagesOf(user, { role: "assistant", content: [text("Yes")] }, system("C"))).toEqual([
      said("Hi"),
      { role: "assistant", content: "Yes" },
      said("<system>\nC\n</system>"),
    ]);
    expect(encode({ messages: [user, system("C")] }, { systemAnywhere: false }).messages).toEqual([said("Hi\n\n<system>\nC\n</system>")]);
  });
  test("blank texts and empty messages are left out", () => {
    expect(
      messagesOf(user, { role: "assistant", content: [text("\n\n"), call("a", "f")] }, result("a", "f", ""), { role: "user", content: [] }),
    ).toEqual([said("Hi"), { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] }, said([answer("a", "")])]);
  });
  test("the conversation always begins with a user message", () => {
    expect(messagesOf({ role: "user", content: [] })).toEqual([said(".")]);
    expect(validateRequest("anthropic", encode({ messages: [{ role: "assistant", content: [text("Hello")] }, user] }))).toEqual([]);
  });
  test("thinking that Anthropic did not sign is left out, unless the server accepts it", () => {
    const thinking: Message = {
      role: "assistant",
      content: [{ type: "thinking", text: "Hm", state: [state("sig", "x", "gemini")] }, text("Yes")],
    };
    expect(messagesOf(user, thinking)).toEqual([said("Hi"), { role: "assistant", content: "Yes" }]);
    expect(warningsOf({ messages: [user, thinking] })).toEqual([expect.stringContaining("thinking")]);
    expect(encode({ messages: [user, thinking] }, { unsignedThinking: true }).messages).toContainEqual({
      role: "assistant",
      content: [{ type: "thinking", thinking: "Hm", signature: EMPTY_CAPSULE }, text("Yes")],
    });
  });
  test("a truncated call is left out, and an unreadable one becomes text", () => {
    const cut: Part = { ...call("a", "f", { x: "hal" }), truncated: true };
    const broken: Part = { type: "malformed", raw: '{"name":"f","arguments":"{oops"}', code: "bad-arguments", reason: "", id: "b" };
    const messages: Message[] = [
      user,
      { role: "assistant", content: [text("Now"), cut, broken, { ...broken, id: undefined } as unknown as Part] },
      result("b", "f"),
    ];
    const body = encode({ messages });
    expect(JSON.stringify(body)).not.toContain("hal");
    expect(body.messages).toMatchObject([{}, { content: [text("Now"), { type: "tool_use", id: "b", name: "f" }, { type: "text" }] }, {}]);
    expect(validateRequest("anthropic", body)).toEqual([]);
  });
  test("images and documents become blocks, and other media labels", () => {
    const media = (mediaType: string, more: object) => ({ type: "media", mediaType, ...more }) as const;
    const content = [
      media("image/png", { data: "AA==" }),
      media("image/*", { url: "https://a.example" }),
      media("application/pdf", { data: "AA==", name: "T" }),
      media("text/plain", { data: btoa("words") }),
      media("audio/wav", { data: "AA==", name: "N" }),
    ];
    expect(messagesOf({ role: "user", content })).toEqual([
      said([
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } },
        { type: "image", source: { type: "url", url: "https://a.example" } },
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: "AA==" }, title: "T" },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "words" } },
        text("[audio/wav N]"),
      ]),
    ]);
    const shot: Message = { role: "tool", id: "a", name: "f", output: "", media: [media("image/png", { data: "AA==" })] };
    expect(messagesOf(user, { role: "assistant", content: [call("a", "f")] }, shot)).toMatchObject([
      {},
      {},
      { content: [{ content: [{ type: "image" }] }] },
    ]);
  });
  test("call arguments are sent in the model's own JSON text", () => {
    const json = '{"n":12345678901234567890, "x": 1.0}';
    const part: Part = { ...call("a", "f", JSON.parse(json)), json };
    const { body } = anthropic.encodeRequest({ model: "m", messages: [user, { role: "assistant", content: [part] }, result("a", "f")] });
    expect(printBody(body)).toContain(`"input":${json}`);
  });
});

describe("tools and settings as Anthropic demands them", () => {
  const tools = [{ name: "f" }, { name: "g" }];
  const forced = { tools, toolChoice: "required" } as const;

  test("forbidden tool names are replaced, and restored in the answer", () => {
    const name = `mcp.server/${"x".repeat(140)}`;
    const { body, context } = anthropic.encodeRequest({
      model: "m",
      messages: [user, { role: "assistant", content: [call("a", name)] }, result("a", name)],
      tools: [{ name }],
      toolChoice: { name },
    });
    expect(validateRequest("anthropic", body)).toEqual([]);
    const sent = Object.keys(context.names)[0] ?? "";
    const answer = { type: "message", content: [{ type: "tool_use", id: "b", name: sent, input: {} }], stop_reason: "tool_use" };
    expect(anthropic.decodeResponse(answer, context).content).toMatchObject([{ type: "tool-call", name }]);
  });
  test.each<[Partial<Request>, Json | undefined]>([
    [{ tools }, undefined],
    [{ tools, toolChoice: "auto" }, { type: "auto" }],
    [{ tools, toolChoice: "none" }, undefined],
    [
      { tools, toolChoice: "required", parallelCalls: true },
      { type: "any", disable_parallel_tool_use: false },
    ],
    [
      { tools, toolChoice: { name: "g" } },
      { type: "tool", name: "g" },
    ],
    [
      { tools, parallelCalls: false },
      { type: "auto", disable_parallel_tool_use: true },
    ],
    [{ toolChoice: "auto" }, undefined],
    [{ toolChoice: "required" }, undefined],
  ])("%j", (request, choice) => {
    expect(encode(request).tool_choice).toEqual(choice);
  });
  test("tools that are not allowed are not sent", () => {
    expect(encode({ tools, toolChoice: { allowed: ["g"], required: true } })).toMatchObject({
      tools: [{ name: "g" }],
      tool_choice: { type: "any" },
    });
  });
  test("a custom tool becomes a function with one string", () => {
    expect(encode({ tools: [{ name: "patch", kind: "custom", grammar: { syntax: "lark", definition: "start: x" } }] }).tools).toMatchObject(
      [{ name: "patch", description: expect.stringContaining("start: x"), input_schema: { required: ["input"] } }],
    );
  });
  test("alternatives at the top of a schema become one object", () => {
    const parameters = {
      anyOf: [
        { type: "object", properties: { a: {} } },
        { type: "object", properties: { b: {} } },
      ],
    };
    const body = encode({ tools: [{ name: "f", parameters }, { name: "g" }] });
    expect(validateRequest("anthropic", body)).toEqual([]);
    expect(warningsOf({ tools: [{ name: "f", parameters }] })).toHaveLength(1);
  });
  test.each<[Request["thinking"], object]>([
    [{ enabled: true }, { thinking: { type: "adaptive", display: "summarized" } }],
    [
      { enabled: true, show: false, effort: "high" },
      { thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "high" } },
    ],
    [{ enabled: true, budget: 4000, show: true }, { thinking: { type: "enabled", budget_tokens: 4000, display: "summarized" } }],
    [{ budget: 10, show: true }, { thinking: { type: "enabled", budget_tokens: 1024, display: "summarized" } }],
    [{ budget: 99_999, show: true }, { thinking: { type: "enabled", budget_tokens: 16_000, display: "summarized" } }],
    [{ budget: 31_000, show: true }, { thinking: { type: "enabled", budget_tokens: 31_000, display: "summarized" } }],
    [{ enabled: false }, { thinking: { type: "disabled" } }],
    [{ show: true }, { thinking: { type: "adaptive", display: "summarized" } }],
    [{ show: false }, {}],
    [{ effort: "minimal" }, { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } }],
    [undefined, {}],
  ])("thinking %j", (thinking, expected) => {
    const body = encode(thinking ? { thinking } : {});
    const { model: _, messages: __, max_tokens: ___, ...rest } = body;
    expect(rest).toEqual(expected);
    expect(validateRequest("anthropic", body)).toEqual([]);
  });
  test("an effort that is none does not reach other wires", () => {
    const { body } = getWire("openai-responses").encodeRequest(asking({ output_config: { effort: "" } }));
    expect(body).not.toHaveProperty("reasoning.effort");
  });
  test("an effort alone, as Anthropic's clients send it, does not turn thinking on", () => {
    expect(encode(asking({ output_config: { effort: "low" } }))).toMatchObject({ output_config: { effort: "low" } });
    expect(encode(asking({ output_config: { effort: "low" } })).thinking).toBeUndefined();
  });
  test("settings that exclude each other are never sent together", () => {
    const body = encode({ ...forced, thinking: { enabled: true }, sampling: { temperature: 1.5, topP: 0.5, seed: 1 } });
    expect(body).toMatchObject({ tool_choice: { type: "any" }, temperature: 1 });
    expect(body.thinking).toBeUndefined();
    expect(body.top_p).toBeUndefined();
    const thinking = encode({ thinking: { budget: 2000 }, sampling: { temperature: 0.3, topK: 5, topP: 0.99 } });
    expect(thinking).toMatchObject({ top_p: 0.99 });
    expect(validateRequest("anthropic", thinking)).toEqual([]);
    expect(encode({ thinking: { budget: 2000 }, sampling: { topK: 1 } }).top_k).toBeUndefined(); // "`top_k` must be unset when thinking is enabled"
    expect(warningsOf({ sampling: { seed: 1 }, output: {}, stop: [" "] })).toHaveLength(3);
  });
  test("its own clients may send top_p beside a temperature, which some models accept", () => {
    const body = encode(asking({ temperature: 0.7, top_p: 0.3 }));
    expect(body).toMatchObject({ temperature: 0.7, top_p: 0.3 });
    expect(warningsOf(asking({ temperature: 0.7, top_p: 0.3 }))).toEqual([]);
    expect(encode(asking({ temperature: 0.7, top_p: 0.3, thinking: { type: "adaptive" } })).top_p).toBeUndefined();
  });
  test("a schema for structured output is closed", () => {
    expect(encode({ output: { schema: { type: "object", properties: { a: { type: "object" } } } } }).output_config).toEqual({
      format: {
        type: "json_schema",
        schema: { type: "object", properties: { a: { type: "object", additionalProperties: false } }, additionalProperties: false },
      },
    });
  });
  test("a thinking budget below what the API accepts is raised, with a warning", () => {
    expect(encode({ thinking: { budget: 500 } })).toMatchObject({ thinking: { type: "enabled", budget_tokens: 1024 } });
    expect(warningsOf({ thinking: { budget: 500 } })).toEqual(["a thinking budget of 500 tokens was sent as 1024"]);
    expect(warningsOf({ thinking: { budget: 1024 } })).toEqual([]);
  });
  test("a budget of its own clients is sent as it is", () => {
    const thinking = { type: "enabled", budget_tokens: 500 };
    const request = asking({ thinking, max_tokens: 900 });
    expect(encode(request)).toMatchObject({ thinking });
    expect(warningsOf(request)).toEqual([]);
  });
  test("there is always a token limit", () => {
    expect(encode({}).max_tokens).toBe(32_000);
    expect(encode({}, { maxTokens: 500 }).max_tokens).toBe(500);
  });
  test("what only another wire knows is left out, with a warning", () => {
    const foreign = [state("logprobs", true, "openai-chat"), { ...state("store", true, "openai-responses"), quiet: true as const }];
    const request = { extra: foreign, tools: [{ name: "f", state: foreign }] };
    expect(JSON.stringify(encode(request))).not.toContain("logprobs");
    expect(warningsOf(request)).toEqual([expect.stringContaining("logprobs")]);
  });
});

describe("a request survives being encoded and decoded", () => {
  const word = fc.stringMatching(/^[a-z][ a-zäß😀"\\\n]{0,12}[a-z]$/u);
  const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
  const args = fc.dictionary(word, json, { maxKeys: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
  const optional = <T>(arbitrary: fc.Arbitrary<T>, key: string) =>
    fc.option(arbitrary, { nil: undefined }).map((value) => (value === undefined ? {} : { [key]: value }));
  const cached = fc.constantFrom<{ state?: Opaque[] }>(
    {},
    { state: [{ ...state("cache_control", { type: "ephemeral" }), quiet: true as const }] },
  );
  const texts = fc.tuple(word, cached).map(([value, more]): Text => ({ ...text(value), ...more }));
  const media = fc.constantFrom(
    { type: "media", mediaType: "image/png", data: "AA==" } as const,
    { type: "media", mediaType: "image/*", url: "https://a.example/x" } as const,
    { type: "media", mediaType: "application/pdf", data: "AA==", name: "N" } as const,
  );
  const content = fc.array(fc.oneof(texts, media), { minLength: 1, maxLength: 3 });
  const thinking = fc
    .tuple(word, word)
    .map(([value, signature]): Part => ({ type: "thinking", text: value, state: [state("signature", signature)] }));
  const results = fc.tuple(word, fc.boolean(), fc.option(media, { nil: undefined })).map(([output, failed, item]) => ({
    output,
    ...(item ? { media: [item] } : {}),
    ...(failed ? { isError: true as const } : {}),
  }));
  const round = fc.tuple(
    fc.array(thinking, { maxLength: 1 }),
    fc.array(texts, { minLength: 1, maxLength: 2 }),
    fc.array(fc.tuple(word, args, results), { maxLength: 3 }),
    fc.option(texts, { nil: undefined }),
  );
  const conversation = fc.array(round, { maxLength: 3 }).map((rounds) =>
    rounds.flatMap(([thought, said, calls, system], n): Message[] => [
      {
        role: "assistant",
        content: [...thought, ...said, ...calls.map(([name, input], i) => call(`id_${n}_${i}`, name.replaceAll(/[^a-z]/gu, "_"), input))],
      },
      ...calls.map(
        ([name, , output], i): Message => ({ role: "tool", id: `id_${n}_${i}`, name: name.replaceAll(/[^a-z]/gu, "_"), ...output }),
      ),
      { role: "user", content: [text(`Go on ${n}`)] },
      ...(system ? [{ role: "system" as const, content: [system] }] : []),
    ]),
  );
  const schema = fc.constantFrom<JsonObject>(
    { type: "object", properties: { a: { type: "string" } } },
    { type: "object", properties: {}, additionalProperties: false },
  );
  const tools = fc.uniqueArray(fc.record({ name: fc.stringMatching(/^[a-zA-Z0-9_-]{1,8}$/), parameters: schema }), {
    minLength: 1,
    maxLength: 3,
    selector: ({ name }) => name,
  });
  const request = fc
    .tuple(
      optional(texts, "system"),
      content,
      conversation,
      optional(tools, "tools"),
      fc.constantFrom(
        {},
        { thinking: { enabled: true, show: true } },
        { thinking: { enabled: true, budget: 1500, show: true } },
        { thinking: { enabled: false } },
        { thinking: { enabled: true, effort: "high", show: false } },
      ),
      optional(fc.constantFrom<false | "sse">(false, "sse"), "stream"),
      optional(fc.array(word, { minLength: 1, maxLength: 2 }), "stop"),
      fc.constantFrom({}, { output: { schema: { type: "object", additionalProperties: false } } }),
      fc.constantFrom({}, { extra: [state("new_field", { a: 1 }), { ...state("metadata", { user_id: "u" }), quiet: true as const }] }),
    )
    .map(([{ system }, first, rest, declared, ...settings]): Request => {
      const messages: Message[] = [
        ...(system ? [{ role: "system" as const, content: [system] }] : []),
        { role: "user", content: first },
        ...rest,
      ];
      const choice = "tools" in declared ? { toolChoice: "auto" as const, parallelCalls: false } : {};
      return Object.assign({ model: "m", maxTokens: 2000, messages }, declared, choice, ...settings) as Request;
    });

  test("for any request", () => {
    fc.assert(
      fc.property(request, (request) => {
        const { headers, body, context } = anthropic.encodeRequest(request);
        expect(context.warnings).toEqual([]);
        const bytes = printBody(body);
        expect(validateRequest("anthropic", bytes).filter((complaint) => !/new_field|cache_control marks/.test(complaint))).toEqual([]);
        const { extra, ...decoded } = anthropic.decodeRequest({ path: "/v1/messages", query: {}, headers, body: bytes });
        const kept = extra?.filter(({ kind }) => kind !== "headers" && kind !== "context_management") ?? [];
        const { extra: given, ...expected } = request;
        // A conversation with calls but no tools gets them declared, with the tool choice `none`.
        const { tools = [], toolChoice, ...others } = decoded;
        if (expected.tools) expect(decoded).toEqual({ from: "anthropic", ...expected });
        else expect(others).toEqual({ from: "anthropic", ...expected });
        expect(toolChoice ?? "auto").toBe(expected.tools || tools.length === 0 ? "auto" : "none");
        expect(kept).toEqual(given ?? []);
      }),
      { numRuns: 150 },
    );
  });
});

// ---- Answers

const GOOD = streams.filter((name) => !name.startsWith("bad-"));
const WHOLE = GOOD.filter((name) => !/^cut|overloaded|unreadable/.test(name));

describe("an answer of this wire passes through unchanged", () => {
  const { stop_details: _, ...none } = { stop_details: null };
  const tidy = (message: Draft): unknown => canonical(JSON.parse(JSON.stringify({ ...none, ...message })));

  test.each(WHOLE)("%s, as a stream", (name) => {
    const stream = encodeStream(decodeStream(fixture(`${name}.sse`)));
    expect(tidy(messageIn(stream))).toEqual(tidy(messageIn(fixture(`${name}.sse`))));
    expect(validateStream("anthropic", stream)).toEqual([]);
  });
  test.each(WHOLE)("%s, as a whole", (name) => {
    const message = messageIn(fixture(`${name}.sse`));
    const response = anthropic.decodeResponse(message);
    expect(tidy(anthropic.encodeResponse(response, { model: "m", messages: [] }) as Draft)).toEqual(tidy(message));
    expect(tidy(anthropic.encodeResponse(collect(decodeStream(fixture(`${name}.sse`))), { model: "m", messages: [] }) as Draft)).toEqual(
      tidy(message),
    );
  });
  test("and its content can be sent back", () => {
    const { content } = collect(decodeStream(fixture("web-search.sse")));
    expect(messagesOf(user, { role: "assistant", content }, user)).toMatchObject([
      {},
      {
        content: [
          text("Let me look."),
          { type: "server_tool_use", input: { query: "weather" } },
          { type: "web_search_tool_result", content: [{ encrypted_content: "RW5j" }] },
          text("It is "),
          { type: "text", text: "sunny", citations: [{ cited_text: "sun" }] },
          text("."),
        ],
      },
      {},
    ]);
  });
});

describe("answers read from servers' streams", () => {
  const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const begin = event("message_start", {
    message: { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage: {} },
  });
  test("without content_block_stop, only the last call of an answer that was cut is truncated", () => {
    const block = (index: number, partial_json: string): string =>
      event("content_block_start", { index, content_block: { type: "tool_use", id: `t${index}`, name: "f", input: {} } }) +
      event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } });
    const cut = event("message_delta", { delta: { stop_reason: "max_tokens" } }) + event("message_stop", {});
    const ends = decodeStream(begin + block(0, '{"a":1}') + block(1, '{"a":"x') + cut).filter(({ type }) => type === "tool-end");
    expect(ends).toMatchObject([{ arguments: { a: 1 }, json: '{"a":1}' }, { truncated: true }]);
    expect(ends[0]).not.toHaveProperty("truncated");
  });
  test.each(["", "with its stop"])("a server tool's input that was cut stays cut for a client of the same API %s", (stopped) => {
    const block = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} };
    const delta = { index: 0, delta: { type: "input_json_delta", partial_json: '{"query":"wea' } };
    const cut = event("message_delta", { delta: { stop_reason: "max_tokens" } }) + event("message_stop", {});
    const said = event("content_block_start", { index: 0, content_block: block }) + event("content_block_delta", delta);
    const events = decodeStream(begin + said + (stopped && event("content_block_stop", { index: 0 })) + cut);
    expect(encodeStream(events)).toContain(said);
    expect(encodeStream(events).match(/input_json_delta/g)).toHaveLength(1);
    expect(anthropic.encodeResponse(collect(events), { model: "m", messages: [] })).toMatchObject({ content: [block] });
    const again = messagesOf(user, { role: "assistant", content: collect(events).content }, user);
    expect(again).toMatchObject([{}, { role: "assistant", content: [block] }, {}]);
  });
  test.each([
    ["max_tokens", {}, "length"],
    ["max_tokens", { context_management: { applied_edits: [] } }, "length"],
    ["refusal", {}, "content-filter"],
    ["refusal", { stop_details: { type: "refusal", category: null, explanation: "No." } }, "content-filter"],
  ])("a call that %s ended is cut, not unreadable or complete, whatever the last event adds: %j", (stop_reason, more, reason) => {
    const open = event("content_block_start", { index: 0, content_block: { type: "tool_use", id: "t1", name: "f", input: {} } });
    const { stop_details, ...beside } = more as { stop_details?: object };
    const ended = event("message_delta", { delta: { stop_reason, stop_details }, ...beside }) + event("message_stop", {});
    const stop = event("content_block_stop", { index: 0 });
    for (const [json, stopped] of [
      ["", ""],
      ["", stop],
      ['{"a":"x', ""],
      ['{"a":"x', stop],
      ['{"a":1}', ""],
    ] as const) {
      const delta = event("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: json } });
      const events = decodeStream(begin + open + (json && delta) + stopped + ended);
      const ends = events.filter(({ type }) => /^(tool-end|malformed|finish)$/.test(type));
      expect(ends).toMatchObject([
        { type: "tool-end", truncated: true },
        { type: "finish", reason },
      ]);
      expect(encodeStream(events)).toContain(`"stop_reason":"${stop_reason}"`);
    }
  });
  test("a refusal after a complete call is passed on to clients of the same API", () => {
    const content = [{ type: "tool_use", id: "t", name: "f", input: { a: 1 } }];
    const answer = anthropic.decodeResponse({ id: "msg_1", model: "m", content, stop_reason: "refusal", usage: {} });
    expect(answer.finish).toEqual({ reason: "tool-calls", native: "refusal" });
    expect(anthropic.encodeResponse(answer, { model: "m", messages: [] })).toMatchObject({ content, stop_reason: "refusal" });
  });
  test("an answer that starts again in the middle is an error, but not if nothing was said before", () => {
    const open = event("content_block_start", { index: 0, content_block: { type: "tool_use", id: "t1", name: "f", input: {} } });
    const block = open + event("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: "{}" } });
    const ended = event("message_delta", { delta: { stop_reason: "tool_use" } }) + event("message_stop", {});
    const events = decodeStream(begin + begin + block + begin + block + ended);
    expect(events.filter(({ type }) => type === "tool-start")).toHaveLength(1);
    expect(events.at(-1)).toEqual({
      type: "finish",
      reason: "error",
      error: { code: "upstream", message: "the server began another answer before the end of this one" },
    });
    expect(decodeStream(begin + begin + block + ended).at(-1)).toMatchObject({ reason: "tool-calls" });
  });
  test.each(streams)("%s gives the same events wherever it is cut", (name) => {
    const stream = fixture(`${name}.sse`);
    const whole = joined(decodeStream(stream));
    for (let cut = 0; cut <= stream.length; cut++) expect(joined(decodeStream(stream, cut))).toEqual(whole);
  });
  test("calls, thinking and usage are read", () => {
    expect(joined(decodeStream(fixture("thinking-and-parallel-calls.sse")))).toEqual([
      { type: "start", id: "msg_1", model: "claude-x" },
      { type: "usage", inputTokens: 1203, outputTokens: 2, cachedTokens: 1000, cacheWriteTokens: 200 },
      {
        type: "extension",
        wire: "anthropic",
        data: { type: "message_start", message: { usage: { service_tier: "standard" } } },
        quiet: true,
      },
      { type: "thinking-start" },
      { type: "thinking-delta", text: "I should write." },
      { type: "thinking-end", state: [state("signature", "c2ln")] },
      text("Two files."),
      { type: "tool-start", id: "toolu_1", index: 0, name: "write" },
      { type: "tool-delta", id: "toolu_1", json: '{"path": "a", "n": 12345678901234567890, "x": 1.0}' },
      {
        type: "tool-end",
        id: "toolu_1",
        index: 0,
        name: "write",
        arguments: { path: "a", n: 12345678901234567000, x: 1 },
        json: '{"path": "a", "n": 12345678901234567890, "x": 1.0}',
      },
      { type: "tool-start", id: "toolu_2", index: 1, name: "now" },
      { type: "tool-delta", id: "toolu_2", json: "{}" },
      { type: "tool-end", id: "toolu_2", index: 1, name: "now", arguments: {}, json: "{}" },
      { type: "tool-start", id: "toolu_3", index: 2, name: "write" },
      { type: "tool-delta", id: "toolu_3", json: '{"path":"b"}' },
      { type: "tool-end", id: "toolu_3", index: 2, name: "write", arguments: { path: "b" }, json: '{"path":"b"}' },
      { type: "usage", inputTokens: 1203, outputTokens: 90, thinkingTokens: 30, cachedTokens: 1000, cacheWriteTokens: 200 },
      { type: "finish", reason: "tool-calls", native: "tool_use" },
    ]);
  });
  test.each([
    ["text", { reason: "stop", native: "end_turn" }],
    ["stop-sequence", { reason: "stop", native: "stop_sequence", stop: "END" }],
    ["pause", { reason: "stop", native: "pause_turn" }],
    ["refusal", { reason: "content-filter", native: "refusal" }],
    ["cut-by-length", { reason: "length", native: "max_tokens" }],
    ["cut-before-arguments", { reason: "length", native: "max_tokens" }],
    ["unreadable-call", { reason: "error", native: "tool_use", error: { code: "malformed-call" } }],
    ["overloaded", { reason: "error", error: { code: "overloaded", message: "Overloaded" } }],
    ["cut-off", { reason: "error", error: { code: "upstream" } }],
    ["bad-no-json", { reason: "error", error: { code: "upstream" } }],
    ["bad-end-turn-with-call", { reason: "tool-calls", native: "end_turn" }],
    ["bad-no-message-delta", { reason: "tool-calls" }],
    ["bad-no-message-stop", { reason: "tool-calls", native: "tool_use" }],
  ])("%s ends with %j", (name, finish) => {
    const events = decodeStream(fixture(`${name}.sse`));
    expect(events.at(-1)).toMatchObject({ type: "finish", ...finish });
    expect(events.filter(({ type }) => type === "finish")).toHaveLength(1);
  });
  test("a refusal says why", () => {
    expect(decodeStream(fixture("refusal.sse"))).toContainEqual({ type: "refusal", text: "Not this." });
  });
  test.each(["cut-by-length", "cut-before-arguments", "cut-off"])("%s: the call is truncated", (name) => {
    const calls = decodeStream(fixture(`${name}.sse`)).filter((event) => event.type === "tool-end");
    expect(calls).toEqual([expect.objectContaining({ truncated: true })]);
  });
  test("a whole answer that hit the token limit has its last call marked truncated", () => {
    const content = [{ type: "tool_use", id: "1", name: "f", input: { a: 1 } }];
    expect(anthropic.decodeResponse({ content, stop_reason: "max_tokens" }).content).toMatchObject([{ truncated: true }]);
    expect(anthropic.decodeResponse({ content, stop_reason: "tool_use" }).content).toMatchObject([{ arguments: { a: 1 } }]);
  });
  test.each(streams.filter((name) => name.startsWith("bad-") && !/interleaved|doubled|no-json/.test(name)))(
    "%s still gives the text and the call",
    (name) => {
      expect(collect(decodeStream(fixture(`${name}.sse`))).content).toEqual([
        text("Hi"),
        { ...call("toolu_1", "f", { a: 1 }), json: '{"a":1}' },
      ]);
    },
  );
  test("interleaved blocks and doubled ids stay apart", () => {
    expect(collect(decodeStream(fixture("bad-interleaved-blocks.sse"))).content).toMatchObject([
      text("Hi"),
      { name: "f", arguments: { a: 1 } },
      { name: "g", arguments: { b: 2 } },
    ]);
    const { content } = collect(decodeStream(fixture("bad-doubled-ids.sse")));
    expect(content).toMatchObject([{ arguments: { a: 1 } }, { arguments: { a: 2 } }, { arguments: { a: 3 } }]);
    expect(new Set(content.map((part) => "id" in part && part.id)).size).toBe(3);
  });
  test.each([null, "", "<html>", { type: "error", error: { type: "api_error", message: "no" } }, [], { content: "x" }])(
    "a whole answer of %j is an error, not an exception",
    (body) => {
      expect(anthropic.decodeResponse(body)).toMatchObject({ content: [], finish: { reason: "error" } });
    },
  );
  test("no event makes the decoder throw", () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom("text", "thinking", "tool_use", "text_delta", "input_json_delta", {}),
    );
    const event = fc.record(
      {
        type: fc.constantFrom(
          "message_start",
          "content_block_start",
          "content_block_delta",
          "content_block_stop",
          "message_delta",
          "message_stop",
          "ping",
          "error",
          "new",
        ),
        index: fc.constantFrom<Json>(0, 1, "0", null),
        message: fc.dictionary(fc.constantFrom("id", "model", "usage", "content"), value),
        content_block: fc.dictionary(fc.constantFrom("type", "text", "id", "name", "input", "thinking", "citations", "data"), value),
        delta: fc.dictionary(
          fc.constantFrom("type", "text", "partial_json", "thinking", "signature", "citation", "stop_reason", "stop_details"),
          value,
        ),
        usage: value,
        error: value,
      },
      { requiredKeys: ["type"] },
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), (events) => {
        const decoded = decodeStream(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
        expect(decoded.at(-1)?.type).toBe("finish");
        expect(decoded.filter(({ type }) => type === "thinking-start")).toHaveLength(
          decoded.filter(({ type }) => type === "thinking-end").length,
        );
      }),
    );
  });
});

// ---- Answers to clients

const start: Event = { type: "start", id: "msg_1", model: "m" };
const started = (id: string, index: number, name = "f"): Event => ({ type: "tool-start", id, index, name });
const piece = (id: string, json: string): Event => ({ type: "tool-delta", id, json });
const ended = (id: string, index: number, args: JsonObject, more = {}): Event => ({
  type: "tool-end",
  id,
  index,
  name: "f",
  arguments: args,
  ...more,
});
const finish = (reason: "stop" | "tool-calls" | "length" | "content-filter", more = {}): Event => ({ type: "finish", reason, ...more });
const typesIn = (stream: string): Json[] => eventsIn(stream).map(({ type }) => type ?? null);

describe("a stream that satisfies every client", () => {
  const stream = encodeStream([
    start,
    { type: "thinking-start" },
    { type: "thinking-delta", text: "Hm" },
    { type: "thinking-end" },
    { type: "text", text: "Now" },
    started("a", 0),
    piece("a", '{"x":'),
    piece("a", "1}"),
    ended("a", 0, { x: 1 }, { json: '{"x":1}' }),
    started("b", 1),
    ended("b", 1, { y: 2 }),
    { type: "usage", inputTokens: 100, outputTokens: 9, cachedTokens: 60, cacheWriteTokens: 30, thinkingTokens: 4 },
    finish("tool-calls", { native: "tool_calls" }),
  ]);

  test("it is valid, with event lines, and nothing after message_stop", () => {
    expect(validateStream("anthropic", stream)).toEqual([]);
    for (const block of stream.trim().split("\n\n")) expect(block).toMatch(/^event: (\w+)\ndata: \{"type":"\1"/);
    expect(typesIn(stream).at(-1)).toBe("message_stop");
  });
  test("a call's input comes only in deltas", () => {
    const starts = eventsIn(stream).filter(({ type }) => type === "content_block_start");
    expect(starts.map((event) => (event.content_block as JsonObject).input)).toEqual([undefined, undefined, {}, {}]);
    expect(messageIn(stream).content).toMatchObject([
      { type: "thinking", thinking: "Hm" },
      text("Now"),
      { id: "a", input: { x: 1 } },
      { id: "b", input: { y: 2 } },
    ]);
  });
  test("input_tokens does not include cached tokens", () => {
    expect(messageIn(stream)).toMatchObject({
      stop_reason: "tool_use",
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 30,
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 4 },
      },
    });
  });
  test("unsigned thinking gets a signature of ours, since some clients drop it otherwise", () => {
    expect(messageIn(stream).content).toMatchObject([{ signature: EMPTY_CAPSULE }, {}, {}, {}]);
  });
  test("a heartbeat is a ping, after message_start", () => {
    const encoder = anthropic.createStreamEncoder({ model: "m", messages: [] });
    expect(typesIn(encoder.heartbeat() + encoder.heartbeat() + encoder.encode({ type: "text", text: "x" }))).toEqual([
      "message_start",
      "ping",
      "ping",
      "content_block_start",
      "content_block_delta",
    ]);
    encoder.encode(finish("stop"));
    expect(encoder.heartbeat() + encoder.end() + encoder.encode({ type: "text", text: "x" })).toBe("");
  });
  test("two answers have different message ids", () => {
    const idOf = () => messageIn(anthropic.createStreamEncoder({ model: "m", messages: [] }).heartbeat()).id;
    expect(idOf()).not.toBe(idOf());
  });
  test.each<[Event, object]>([
    [finish("stop"), { stop_reason: "end_turn", stop_sequence: null }],
    [finish("stop", { stop: "END" }), { stop_reason: "stop_sequence", stop_sequence: "END" }],
    [finish("stop", { native: "pause_turn" }), { stop_reason: "pause_turn" }],
    [finish("length", { native: "length" }), { stop_reason: "max_tokens" }],
    [finish("length", { native: "model_context_window_exceeded" }), { stop_reason: "model_context_window_exceeded" }],
    [finish("content-filter", { native: "SAFETY" }), { stop_reason: "refusal" }],
  ])("%j", (event, expected) => {
    expect(messageIn(encodeStream([start, { type: "text", text: "x" }, event]))).toMatchObject(expected);
  });
  test("a refusal is written in Anthropic's form", () => {
    const stream = encodeStream([start, { type: "refusal", text: "No" }, { type: "refusal", text: "." }, finish("stop")]);
    expect(messageIn(stream)).toMatchObject({ stop_reason: "refusal", stop_details: { type: "refusal", explanation: "No." } });
    expect(
      anthropic.encodeResponse({ content: [], refusal: "No.", finish: { reason: "stop" } }, { model: "m", messages: [] }),
    ).toMatchObject({
      stop_reason: "refusal",
      stop_details: { explanation: "No." },
    });
  });
});

describe("no client may run an incomplete call", () => {
  const cut = (deltas: string[]) => [
    start,
    started("a", 0),
    ...deltas.map((json) => piece("a", json)),
    ended("a", 0, {}, { truncated: true }),
    finish("length"),
  ];

  test("a block whose JSON is visibly broken is stopped; one that would look complete never is", () => {
    expect(typesIn(encodeStream(cut(['{"x":"hal'])))).toContain("content_block_stop");
    for (const deltas of [[], [""], ['{"x":1}']]) expect(typesIn(encodeStream(cut(deltas)))).not.toContain("content_block_stop");
    for (const deltas of [[], ['{"x":1}'], ['{"x":"hal']]) {
      const stream = encodeStream(cut(deltas));
      expect(messageIn(encodeStream(cut([])))).toMatchObject({ stop_reason: "max_tokens" });
      expect(decodeStream(stream).filter(({ type }) => type === "tool-end")).toEqual([expect.objectContaining({ truncated: true })]);
      expect(JSON.stringify(eventsIn(stream))).not.toContain('hal\\"}');
    }
  });
  test("a whole answer leaves the call out, with a warning", () => {
    const warnings: string[] = [];
    const response = collect(cut(['{"x":"hal']));
    const body = anthropic.encodeResponse(response, { model: "m", messages: [] }, { warn: ({ message }) => warnings.push(message) });
    expect(body).toMatchObject({ content: [], stop_reason: "max_tokens" });
    expect(warnings).toHaveLength(1);
  });
  test("a call that turns out to be unreadable ends the stream with an error, at once", () => {
    const malformed: Event = { type: "malformed", id: "a", raw: "x", code: "bad-arguments", reason: "no JSON" };
    const stream = encodeStream([
      start,
      started("a", 0),
      piece("a", "{oops"),
      malformed,
      started("b", 1),
      ended("b", 1, {}),
      finish("tool-calls"),
    ]);
    expect(typesIn(stream)).toEqual(["message_start", "content_block_start", "content_block_delta", "error"]);
    expect(validateStream("anthropic", stream)).toEqual([]);
  });
  test("an unreadable call that was never started is left out, with a warning", () => {
    const warnings: string[] = [];
    const malformed: Event = { type: "malformed", raw: "x", code: "no-name", reason: "" };
    encodeStream([start, malformed, { type: "text", text: "x" }, finish("stop")], {}, (message) => warnings.push(message));
    expect(warnings).toHaveLength(1);
  });
  test("an answer without a finish ends with an error", () => {
    expect(typesIn(encodeStream([start, { type: "text", text: "x" }])).at(-1)).toBe("error");
  });
});

test("nothing follows a truncated call, since the SDK's eager runner takes the next block for the end of the call", () => {
  const cut: Event[] = [
    { type: "tool-start", id: "a", index: 0, name: "f" },
    { type: "tool-delta", id: "a", json: '{"x":"ha' },
    {
      type: "tool-end",
      id: "a",
      index: 0,
      name: "f",
      arguments: {},
      truncated: true,
      state: [state("thoughtSignature", "c2ln", "gemini")],
    },
    { type: "finish", reason: "length" },
  ];
  expect(eventsIn(encodeStream(cut)).filter(({ type }) => type === "content_block_start")).toHaveLength(1);
  for (const [last] of [cut.slice(1, 2), []].map((json) => [
    encodeStream([cut[0]!, ...json, cut[2]!, { type: "text", text: "x" }, cut[3]!]),
  ])) {
    const types = eventsIn(last!).map(({ type }) => type);
    expect(types.filter((type) => type === "content_block_start")).toHaveLength(1);
    expect(types.at(-1)).toBe("error");
  }
});

describe("thinking and state that must come back in the next request", () => {
  const request = { thinking: { enabled: true, show: false } };
  const thought: Event[] = [
    { type: "thinking-start" },
    { type: "thinking-delta", text: "secret " },
    { type: "thinking-delta", text: "plan 😀" },
  ];
  const back = (stream: string): Message | undefined => saying({ role: "assistant", content: messageIn(stream).content })[0];

  test("thinking that the client does not want to see travels in the signature", () => {
    const stream = encodeStream([start, ...thought, { type: "thinking-end" }, { type: "text", text: "Yes" }, finish("stop")], request);
    expect(stream).not.toContain("secret");
    expect(messageIn(stream).content).toMatchObject([{ type: "thinking", thinking: "" }, text("Yes")]);
    expect(back(stream)).toEqual({ role: "assistant", content: [{ type: "thinking", text: "secret plan 😀" }, text("Yes")] });
    const whole = anthropic.encodeResponse(collect([...thought, { type: "thinking-end" }]), {
      model: "m",
      messages: [],
      ...request,
    }) as Draft;
    expect(JSON.stringify(whole)).not.toContain("secret");
    expect(saying({ role: "assistant", content: whole.content })[0]).toMatchObject({
      content: [{ type: "thinking", text: "secret plan 😀" }],
    });
  });
  test("thinking that the server signed although it should have omitted it travels in the signature, too", () => {
    const signed = [state("signature", "c2lnbmVk", "anthropic")];
    const stream = encodeStream([start, ...thought, { type: "thinking-end", state: signed }, finish("stop")], request);
    expect(stream).not.toContain("secret");
    expect(back(stream)).toEqual({ role: "assistant", content: [{ type: "thinking", text: "secret plan 😀", state: signed }] });
  });
  test("unsigned thinking is signed by us, since the AI SDK drops it otherwise, and is sent back unsigned", () => {
    const unsigned = [{ ...state("signature", "", "anthropic"), quiet: true as const }];
    const stream = encodeStream([start, ...thought, { type: "thinking-end", state: unsigned }, finish("stop")]);
    expect(messageIn(stream).content).toEqual([{ type: "thinking", thinking: "secret plan 😀", signature: expect.stringMatching(/./) }]);
    expect(back(stream)).toEqual({ role: "assistant", content: [{ type: "thinking", text: "secret plan 😀", state: unsigned }] });
  });
  test("state of another wire, on thinking and on calls, travels along", () => {
    const signature = state("thoughtSignature", "AbC=", "gemini");
    const stream = encodeStream([
      start,
      ...thought,
      { type: "thinking-end", state: [signature] },
      { ...started("a", 0), state: [signature] } as Event,
      ended("a", 0, { x: 1 }, { state: [signature] }),
      started("b", 1),
      ended("b", 1, {}),
      finish("tool-calls"),
    ]);
    expect(validateStream("anthropic", stream)).toEqual([]);
    expect(back(stream)).toEqual({
      role: "assistant",
      content: [
        { type: "thinking", text: "secret plan 😀", state: [signature] },
        { ...call("a", "f", { x: 1 }), state: [signature] },
        call("b", "f"),
      ],
    });
    expect(collect(decodeStream(stream)).content).toMatchObject([{ state: [signature] }, { id: "a", state: [signature] }, { id: "b" }]);
    const whole = anthropic.encodeResponse(collect(decodeStream(stream)), { model: "m", messages: [] }) as Draft;
    expect(saying({ role: "assistant", content: whole.content })[0]).toEqual(back(stream));
  });
  test("state that comes with the end of a call follows the call", () => {
    const signature = state("thoughtSignature", "AbC=", "gemini");
    const stream = encodeStream([start, started("a", 0), ended("a", 0, { x: 1 }, { state: [signature] }), finish("tool-calls")]);
    expect(validateStream("anthropic", stream)).toEqual([]);
    expect(back(stream)).toEqual({ role: "assistant", content: [{ ...call("a", "f", { x: 1 }), state: [signature] }] });
  });
  test("a broken capsule is ignored, and Anthropic's own signatures are untouched", () => {
    const content = [{ type: "thinking", thinking: "Hm", signature: `${EMPTY_CAPSULE.slice(0, 12)}!!` }];
    expect(openCapsule("c2ln")).toBeUndefined();
    expect(saying({ role: "assistant", content })[0]).toEqual({ role: "assistant", content: [{ type: "thinking", text: "Hm" }] });
  });
});

describe("an answer survives being encoded and decoded", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "ß", "😀", "\n", '"', "\u2028", " "), minLength: 1, maxLength: 6 });
  const args = fc
    .dictionary(word, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
    .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
  const part = fc.oneof(
    word.map((value): Event[] => [{ type: "text", text: value }]),
    fc
      .tuple(word, fc.option(word, { nil: undefined }))
      .map(([value, signature]): Event[] => [
        { type: "thinking-start" },
        { type: "thinking-delta", text: value },
        { type: "thinking-end", ...(signature ? { state: [state("signature", signature)] } : {}) },
      ]),
    args.map((value): Event[] => [started("", 0), piece("", JSON.stringify(value)), ended("", 0, value, { json: JSON.stringify(value) })]),
  );
  const answers = fc.tuple(fc.array(part, { maxLength: 6 }), fc.boolean()).map(([parts, cut]) => {
    let index = -1;
    const events = parts.flat().map((event): Event => {
      if (event.type === "tool-start") index++;
      return "id" in event && event.type !== "start"
        ? ({ ...event, id: `id_${index}`, ...("index" in event ? { index } : {}) } as Event)
        : event;
    });
    const usage: Event = { type: "usage", inputTokens: 7, outputTokens: 8 };
    return [
      start,
      ...events,
      usage,
      cut
        ? finish("length", { native: "max_tokens" })
        : index >= 0
          ? finish("tool-calls", { native: "tool_use" })
          : finish("stop", { native: "end_turn" }),
    ];
  });

  test("for any events, wherever the stream is cut", () => {
    fc.assert(
      fc.property(answers, fc.nat(), (events, at) => {
        const stream = encodeStream(events);
        expect(validateStream("anthropic", stream)).toEqual([]);
        expect(joined(decodeStream(stream, at % (stream.length + 1)))).toEqual(joined(events));
      }),
      { numRuns: 200 },
    );
  });
});

// ---- Errors, models, counts

describe("errors", () => {
  test.each<[ErrorCode, number, string]>([
    ["bad-request", 400, "invalid_request_error"],
    ["auth", 401, "authentication_error"],
    ["permission", 403, "permission_error"],
    ["not-found", 404, "not_found_error"],
    ["too-large", 413, "request_too_large"],
    ["rate-limit", 429, "rate_limit_error"],
    ["overloaded", 529, "overloaded_error"],
    ["internal", 500, "api_error"],
    ["timeout", 504, "timeout_error"],
  ])("%s is %i %s, both ways", (code, status, type) => {
    const encoded = anthropic.encodeError({ code, message: "why" });
    expect(encoded).toMatchObject({ status, body: { type: "error", error: { type, message: "why" } } });
    if (code !== "internal") expect(anthropic.decodeError(status, {}, encoded.body)).toMatchObject({ code, message: "why" });
  });
  test("a prompt that is too long is reported in the words that make Claude Code compact", () => {
    const { status, body } = anthropic.encodeError({
      code: "context-length",
      message: "too much",
      tokens: { used: 300_000, limit: 200_000 },
    });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { type: "invalid_request_error", message: "prompt is too long: 300000 tokens > 200000 maximum" } });
    expect(anthropic.decodeError(400, {}, JSON.stringify(body))).toMatchObject({
      code: "context-length",
      tokens: { used: 300_000, limit: 200_000 },
    });
  });
  test("the time to wait is passed on", () => {
    expect(anthropic.encodeError({ code: "rate-limit", message: "", retryAfterMs: 1500 }).headers).toMatchObject({ "retry-after": "2" });
    expect(anthropic.decodeError(429, { "retry-after": "2" }, {}).retryAfterMs).toBe(2000);
  });
  test("in the middle of a stream it is an event, and the last one", () => {
    const error = { code: "overloaded", message: "busy" } as const;
    const stream = encodeStream([start, { type: "text", text: "x" }, { type: "finish", reason: "error", error }]);
    expect(validateStream("anthropic", stream)).toEqual([]);
    expect(eventsIn(stream).at(-1)).toEqual({ type: "error", error: { type: "overloaded_error", message: "busy" } });
    expect(decodeStream(stream).at(-1)).toMatchObject({ type: "finish", reason: "error", error });
    expect(anthropic.encodeResponse({ content: [], finish: { reason: "error", error } }, { model: "m", messages: [] })).toMatchObject({
      type: "error",
    });
  });
});

test("models and token counts are read and written", () => {
  const models = [
    { id: "a", name: "A", created: 1_700_000_000, contextLength: 1000 },
    { id: "b", name: "b" },
  ];
  const list = anthropic.encodeModels(models);
  expect(list).toMatchObject({
    data: [{ type: "model", id: "a", display_name: "A", created_at: "2023-11-14T22:13:20.000Z" }, { id: "b" }],
    has_more: false,
    first_id: "a",
    last_id: "b",
  });
  expect(anthropic.decodeModels(list)).toEqual(models);
  expect(anthropic.decodeModels("<html>")).toEqual([]);
  const inNanoseconds = anthropic.encodeModels([{ id: "c", created: 1.7e18 }]);
  expect(inNanoseconds).toMatchObject({ data: [{ created_at: "1970-01-01T00:00:00.000Z" }] });
  expect(anthropic.encodeTokenCount?.({ tokens: 5 })).toEqual({ input_tokens: 5 });
  expect(anthropic.decodeTokenCount?.({ input_tokens: 5 })).toBe(5);
});

test("a blank message that only has another wire's fields is left out, since the API refuses messages without content", () => {
  const messages = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Yes?" },
    { role: "user", content: " ", name: "Ann" },
  ];
  const request = getWire("openai-chat").decodeRequest({ path: "", query: {}, headers: {}, body: { model: "m", messages } });
  expect(anthropic.encodeRequest(request).body).toMatchObject({ messages: messages.slice(0, 2) });
});

test("files stored at Anthropic become labels for other wires, and are unchanged for Anthropic", () => {
  const content = [
    { type: "text", text: "see" },
    { type: "image", source: { type: "file", file_id: "file_1" } },
    { type: "document", title: "Plan", source: { type: "file", file_id: "file_2" } },
    { type: "container_upload", file_id: "file_3" },
  ];
  const body = { model: "m", max_tokens: 9, messages: [{ role: "user", content }] };
  const request = getWire("anthropic").decodeRequest({ path: "", query: {}, headers: {}, body });
  const sent = getWire("openai-chat").encodeRequest(request);
  const texts = ["see", "[image/*]", "[application/pdf Plan]", "[application/octet-stream]"].map((text) => ({ type: "text", text }));
  expect(sent.body).toMatchObject({ messages: [{ role: "user", content: texts }] });
  expect(sent.context.warnings).toHaveLength(3);
  expect(getWire("anthropic").encodeRequest(request).body).toMatchObject({ messages: [{ role: "user", content }] });
});

test("a document's title and context are passed on beside its text", () => {
  const source = { type: "text", media_type: "text/plain", data: "words" };
  const body = {
    model: "m",
    max_tokens: 9,
    messages: [{ role: "user", content: [{ type: "document", title: "T", context: "C", source }] }],
  };
  const request = getWire("anthropic").decodeRequest({ path: "", query: {}, headers: {}, body });
  expect(getWire("openai-chat").encodeRequest(request).body).toMatchObject({ messages: [{ content: "T\nC\nwords" }] });
});
