// What real clients send, and what they break on: one test for each row of the tables of clients.md, sections 2 to 6, and of the tables of
// user-needs.md on errors in mid-stream, overflow and usage. The SDKs themselves judge the same streams in test/judges.
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { ErrorCode, Event, JsonObject, Request, WireId } from "../../src/core/nouns.ts";
import { printBody } from "../../src/wires/raw.ts";
import { getWire } from "../../src/wires/registry.ts";

const json = '{"path":"a\u2028b","text":"<x>"}';
const call = { id: "call_1", index: 0, name: "write_file" };
const called: Event[] = [
  { type: "tool-start", ...call },
  { type: "tool-delta", id: call.id, json: json.slice(0, 9) },
  { type: "tool-delta", id: call.id, json: json.slice(9) },
  { type: "tool-end", ...call, arguments: JSON.parse(json), json },
];
const usage: Event = { type: "usage", inputTokens: 30, outputTokens: 12, thinkingTokens: 5, cachedTokens: 20, cacheWriteTokens: 4 };
const head: Event[] = [
  { type: "start", id: "r1", model: "m" },
  { type: "thinking-start" },
  { type: "thinking-delta", text: "Hm\u2029." },
  { type: "thinking-end" },
  { type: "text", text: "Line\u2028 one" },
];
const turn: Event[] = [...head, ...called, usage, { type: "finish", reason: "tool-calls" }];
const failed = (code: ErrorCode, more: object = {}): Event => ({
  type: "finish",
  reason: "error",
  error: { code, message: "no", ...more },
});

const asked = (wire: WireId): Request => ({ model: "m", messages: [], stream: wire === "ollama" ? "ndjson" : "sse" });

/** What a client receives, with a heartbeat after every event. */
function sent(wire: WireId, events: readonly Event[], { beats = true, request = asked(wire) } = {}): string {
  const encoder = getWire(wire).createStreamEncoder(request, { now: () => new Date(0) });
  return events.map((event) => encoder.encode(event) + (beats ? encoder.heartbeat() : "")).join("") + encoder.end();
}
const dataOf = (text: string): JsonObject[] =>
  text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6)) as JsonObject] : []));
const linesOf = (text: string): JsonObject[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as JsonObject);
const received = (wire: WireId, body: object, more: { path?: string; headers?: Record<string, string> } = {}): Request =>
  getWire(wire).decodeRequest({
    path: more.path ?? PATHS[wire],
    query: { alt: "sse" },
    headers: more.headers ?? {},
    body: JSON.stringify(body),
  });
const PATHS: Record<WireId, string> = {
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
  anthropic: "/v1/messages",
  gemini: "/v1beta/models/m:streamGenerateContent",
  ollama: "/api/chat",
};
/** What a request becomes for servers of all other wires. */
const toChat = (request: Request) => encoded("openai-chat", request);
function encoded(wire: WireId, request: Request) {
  const output = getWire(wire).encodeRequest(request);
  return { ...output, body: JSON.parse(printBody(output.body)) as { [key: string]: JsonObject[] } };
}
const hi = { role: "user", content: "Hi" };

type Row = [row: string, check: () => void];

describe("Gemini: what the stream must look like", () => {
  const stream = sent("gemini", turn);
  const chunks = dataOf(stream);
  test.each<Row>([
    [
      'events are "data: " with the space, and end with a blank line',
      () => expect(stream.split("\n\n").every((event) => event === "" || event.startsWith("data: {"))).toBe(true),
    ],
    ["no comments, not even as a heartbeat", () => expect(stream).not.toMatch(/^:/m)],
    ["no [DONE]", () => expect(stream).not.toContain("[DONE]")],
    [
      "U+2028 and U+2029 are escaped, and still there",
      () => {
        expect(stream).not.toMatch(/[\u2028\u2029]/);
        expect(stream).toContain("\\u2028");
      },
    ],
    [
      "there is exactly one finishReason, in the last event",
      () => {
        const reasons = chunks.map((chunk) => JSON.stringify(chunk).match(/"finishReason":"\w+"/g)?.length ?? 0);
        expect(reasons).toEqual([...reasons.slice(1).map(() => 0), 1]);
      },
    ],
    [
      "every event has a part, since genai's chats otherwise forget the turn",
      () => {
        for (const chunk of chunks)
          expect(chunk).toMatchObject({ candidates: [{ content: { role: "model", parts: [expect.anything()] } }] });
      },
    ],
    [
      "a call comes whole, in one part, with its id",
      () => {
        const calls = chunks.flatMap((chunk) => JSON.stringify(chunk).match(/"functionCall"/g) ?? []);
        expect(calls).toHaveLength(1);
        expect(stream).toContain('"functionCall":{"id":"call_1","name":"write_file","args":{"path"');
      },
    ],
    [
      "usage is in the last event, and may be absent",
      () => {
        expect(chunks.at(-1)).toMatchObject({ usageMetadata: { promptTokenCount: 30 } });
        expect(sent("gemini", [...head, { type: "finish", reason: "stop" }])).not.toContain("usageMetadata");
      },
    ],
    [
      "an empty answer stays empty, so that the client can ask again",
      () =>
        expect(dataOf(sent("gemini", [{ type: "start" }, { type: "finish", reason: "stop" }], { beats: false }))).toMatchObject([
          { candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }] },
        ]),
    ],
    ["thoughts are parts of their own", () => expect(stream).toContain('{"text":"Hm\\u2029.","thought":true}')],
    [
      "an error in the middle of a stream is a data event of its own",
      () => {
        const events = dataOf(sent("gemini", [...head, failed("overloaded")]));
        expect(events.at(-1)).toEqual({ error: { code: 503, message: "no", status: "UNAVAILABLE" } });
      },
    ],
  ])("%s", (_, check) => check());

  test.each<[ErrorCode, number]>([
    ["rate-limit", 429],
    ["internal", 500],
    ["overloaded", 503],
    ["bad-request", 400],
    ["not-found", 404],
  ])("%s has a status that makes gemini-cli retry, or not: %i", (code, status) =>
    expect(getWire("gemini").encodeError({ code, message: "no" })).toMatchObject({
      status,
      body: { error: { code: status, message: "no" } },
    }),
  );
});

describe("Gemini: what clients send", () => {
  const contents = [{ role: "user", parts: [{ text: "<session_context>" }, { text: "Hi" }] }];
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const loop = (id?: string, more: object = {}) => [
    ...contents,
    { role: "model", parts: [{ functionCall: { ...(id ? { id } : {}), name: "f", args: {} }, ...more }] },
    { role: "user", parts: [{ functionResponse: { ...(id ? { id } : {}), name: "f", response: { output: "ok" } } }] },
  ];
  test.each<Row>([
    [
      "two text parts in the first turn",
      () => expect(received("gemini", { contents }).messages).toMatchObject([{ content: [{ type: "text" }, { type: "text" }] }]),
    ],
    [
      "a system instruction with a role, or without",
      () => {
        for (const role of [{ role: "user" }, {}])
          expect(received("gemini", { contents, systemInstruction: { ...role, parts: [{ text: "Be." }] } }).messages[0]).toEqual({
            role: "system",
            content: [{ type: "text", text: "Be." }],
          });
      },
    ],
    [
      "schemas in three spellings",
      () => {
        const spellings = [
          { parametersJsonSchema: schema },
          { parameters: schema },
          { parameters: { type: "OBJECT", properties: { a: { type: "STRING" } } } },
        ];
        for (const spelling of spellings)
          expect(received("gemini", { contents, tools: [{ functionDeclarations: [{ name: "f", ...spelling }] }] }).tools).toEqual([
            { name: "f", parameters: schema },
          ]);
      },
    ],
    [
      "a router that asks for JSON with upper-case types",
      () => {
        const generationConfig = { responseMimeType: "application/json", responseJsonSchema: { type: "OBJECT" } };
        expect(received("gemini", { contents, generationConfig }).output).toEqual({ schema: { type: "object" } });
      },
    ],
    [
      "a request with nothing but googleSearch",
      () => {
        const request = received("gemini", { contents, tools: [{ googleSearch: {} }] });
        expect(request.tools).toBeUndefined();
        const { body, context } = toChat(request);
        expect(body).not.toHaveProperty("tools");
        expect(context.warnings).toMatchObject([{ code: "dropped" }]);
      },
    ],
    [
      "ids missing on both calls and results",
      () => {
        const [, said, result] = received("gemini", { contents: loop() }).messages;
        expect(said).toMatchObject({ content: [{ id: "call_0" }] });
        expect(result).toMatchObject({ role: "tool", id: "call_0", name: "f", output: "ok" });
      },
    ],
    [
      "ids that gemini-cli makes up",
      () => expect(received("gemini", { contents: loop("f_1763_0") }).messages[2]).toMatchObject({ id: "f_1763_0" }),
    ],
    [
      "skip_thought_signature_validator is not taken for a signature",
      () => {
        const [, said] = received("gemini", { contents: loop("1", { thoughtSignature: "skip_thought_signature_validator" }) }).messages;
        expect(said).toEqual({ role: "assistant", content: [{ type: "tool-call", id: "1", name: "f", arguments: {} }] });
      },
    ],
    [
      "thoughts in the history",
      () => {
        const history = [...contents, { role: "model", parts: [{ text: "Hm.", thought: true }, { text: "Yes." }] }, ...contents];
        expect(received("gemini", { contents: history }).messages[1]).toMatchObject({ content: [{ type: "thinking" }, { type: "text" }] });
      },
    ],
    [
      "responses as {output}, as {name, content}, as anything",
      () => {
        const request = (response: object) => {
          const [, call] = loop("1");
          const result = { role: "user", parts: [{ functionResponse: { id: "1", name: "f", response } }] };
          return received("gemini", { contents: [contents[0], call, result] });
        };
        const output = (response: object) => request(response).messages.at(-1);
        expect(output({ output: "ok" })).toMatchObject({ output: "ok" });
        expect(output({ name: "f", content: "ok" })).toMatchObject({ output: "ok" });
        const { body, context } = toChat(request({ name: "f", content: "one\ntwo" }));
        expect(body.messages?.at(-1)).toMatchObject({ content: "one\ntwo" });
        expect(context.warnings).toEqual([]);
        expect(output({ error: "no" })).toMatchObject({ output: "no", isError: true });
      },
    ],
    [
      "modes and allowed names",
      () => {
        const choice = (functionCallingConfig: object) =>
          received("gemini", { contents, tools: [{ functionDeclarations: [{ name: "f" }] }], toolConfig: { functionCallingConfig } })
            .toolChoice;
        expect(["AUTO", "ANY", "NONE"].map((mode) => choice({ mode }))).toEqual(["auto", "required", "none"]);
        expect(choice({ mode: "ANY", allowedFunctionNames: ["f"] })).toEqual({ name: "f" });
      },
    ],
    [
      "a thinking level or a budget",
      () => {
        const thinking = (thinkingConfig: object) => received("gemini", { contents, generationConfig: { thinkingConfig } }).thinking;
        expect(thinking({ includeThoughts: true, thinkingLevel: "HIGH" })).toEqual({ show: true, effort: "high" });
        expect(thinking({ thinkingBudget: 99 })).toEqual({ enabled: true, budget: 99 });
      },
    ],
  ])("%s", (_, check) => check());
});

describe("Anthropic: what the stream must look like", () => {
  const stream = sent("anthropic", turn);
  const events = dataOf(stream);
  const types = (text: string) => dataOf(text).map(({ type }) => type);
  test.each<Row>([
    [
      "every event has its event: line, with the type",
      () =>
        expect([...stream.matchAll(/^event: (\w+)\ndata: \{"type":"(\w+)"/gm)].map(([, line, type]) => line === type)).toEqual(
          events.map(() => true),
        ),
    ],
    [
      "a heartbeat is a ping, never before message_start",
      () => {
        expect(types(stream).filter((type) => type === "ping").length).toBeGreaterThan(3);
        expect(types(stream)[0]).toBe("message_start");
      },
    ],
    [
      "a call's input comes only in deltas: in the block's start it would be lost",
      () => {
        const [start] = events.filter(({ content_block: block }) => (block as JsonObject | undefined)?.type === "tool_use");
        expect(start).toMatchObject({ content_block: { input: {} } });
        expect(
          events
            .filter(({ delta }) => (delta as JsonObject | undefined)?.type === "input_json_delta")
            .map(({ delta }) => (delta as JsonObject).partial_json)
            .join(""),
        ).toBe(json);
      },
    ],
    [
      "one block at a time, in order",
      () => {
        let open: unknown;
        const indices: unknown[] = [];
        for (const { type, index } of events) {
          if (type === "content_block_start") {
            expect(open).toBeUndefined();
            open = index;
            indices.push(index);
          }
          if (type === "content_block_delta") expect(index).toBe(open);
          if (type === "content_block_stop") open = undefined;
        }
        expect(indices).toEqual(indices.map((_, i) => i));
      },
    ],
    ["thinking has a signature", () => expect(stream).toContain('"type":"signature_delta"')],
    [
      "stop_reason is tool_use if there is a tool_use block",
      () => expect(events.at(-2)).toMatchObject({ type: "message_delta", delta: { stop_reason: "tool_use" } }),
    ],
    [
      "message_delta and message_stop always come",
      () =>
        expect(types(sent("anthropic", [{ type: "finish", reason: "stop" }], { beats: false })).slice(-2)).toEqual([
          "message_delta",
          "message_stop",
        ]),
    ],
    [
      "usage in message_delta counts; message_start may say 0",
      () => {
        expect(events[0]).toMatchObject({ message: { usage: { input_tokens: 0 } } });
        expect(events.at(-2)).toMatchObject({
          usage: { input_tokens: 6, cache_read_input_tokens: 20, cache_creation_input_tokens: 4, output_tokens: 12 },
        });
      },
    ],
    [
      "a stream cut inside a tool_use block ends with an error, and the block stays open",
      () => {
        const cut = sent("anthropic", [...head, ...called.slice(0, 2)]);
        expect(types(cut).at(-1)).toBe("error");
        expect(cut).not.toContain("message_stop");
      },
    ],
    [
      "an overloaded server is reported in the middle of a stream as event: error",
      () =>
        expect(sent("anthropic", [...head, failed("overloaded")])).toMatch(
          /event: error\ndata: \{"type":"error","error":\{"type":"overloaded_error","message":"no"\}\}\n\n$/,
        ),
    ],
    [
      "input that is not JSON never looks like a complete call",
      () => {
        const bad = sent("anthropic", [
          ...head,
          ...called.slice(0, 2),
          { type: "malformed", raw: "", code: "bad-arguments", reason: "no", id: call.id },
        ]);
        expect(types(bad).at(-1)).toBe("error");
      },
    ],
  ])("%s", (_, check) => check());

  test.each<[ErrorCode, number, string]>([
    ["rate-limit", 429, "rate_limit_error"],
    ["overloaded", 529, "overloaded_error"],
    ["internal", 500, "api_error"],
    ["auth", 401, "authentication_error"],
    ["bad-request", 400, "invalid_request_error"],
    ["not-found", 404, "not_found_error"],
  ])("%s has the status that Claude Code acts on: %i", (code, status, type) =>
    expect(getWire("anthropic").encodeError({ code, message: "no" })).toMatchObject({
      status,
      body: { type: "error", error: { type, message: "no" } },
    }),
  );
});

describe("Anthropic: what clients send", () => {
  const ask = (more: object) => received("anthropic", { model: "m", max_tokens: 9, messages: [hi], ...more });
  const texts = (request: Request) => JSON.stringify(toChat(request).body.messages);
  test.each<Row>([
    [
      "the billing line does not reach another model's prompt",
      () => {
        const system = [
          { type: "text", text: "x-anthropic-billing-header: cc_version=1" },
          { type: "text", text: "Be.", cache_control: { type: "ephemeral" } },
        ];
        const request = ask({ system });
        expect(texts(request)).toBe('[{"role":"system","content":"Be."},{"role":"user","content":"Hi"}]');
        expect(toChat(request).context.warnings).toEqual([]);
      },
    ],
    [
      "a system message in the middle of a conversation, with its own output_config",
      () => {
        const request = ask({ messages: [hi, { role: "system", content: "Be.", output_config: { effort: "high" } }] });
        expect(request.messages[1]).toMatchObject({ role: "system", content: [{ text: "Be." }] });
        expect(encoded("anthropic", request).body).toMatchObject({
          messages: [hi, { role: "system", output_config: { effort: "high" } }],
        });
      },
    ],
    [
      "the same message as blocks or as a string gives the same prompt",
      () =>
        expect(
          texts(ask({ messages: [{ role: "user", content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }] }] })),
        ).toBe(texts(ask({}))),
    ],
    [
      "adaptive thinking that is not shown, with an effort",
      () =>
        expect(ask({ thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "medium" } }).thinking).toEqual({
          enabled: true,
          show: false,
          effort: "medium",
        }),
    ],
    [
      "thinking with a budget, as SDKs send it",
      () => expect(ask({ thinking: { type: "enabled", budget_tokens: 2000 } }).thinking).toEqual({ enabled: true, budget: 2000 }),
    ],
    [
      "tool search: a placeholder is hidden, a tool that was referred to is offered, and the result has text",
      () => {
        const tools = [
          { name: "ToolSearch", input_schema: { type: "object" } },
          { name: "DeferredToolPlaceholder", input_schema: { type: "object" }, defer_loading: true },
          { name: "Found", input_schema: { type: "object" }, defer_loading: true },
        ];
        const messages = [
          hi,
          { role: "assistant", content: [{ type: "tool_use", id: "1", name: "ToolSearch", input: {} }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: "1", content: [{ type: "tool_reference", tool_name: "Found" }] }] },
        ];
        const { body } = toChat(ask({ tools, messages }));
        expect(body.tools?.map((tool) => (tool.function as JsonObject).name)).toEqual(["ToolSearch", "Found"]);
        expect(body.messages?.at(-1)).toMatchObject({ role: "tool", content: expect.stringContaining("Found") });
        expect(encoded("anthropic", ask({ tools, messages })).body).toMatchObject({ tools, messages: [{}, {}, messages[2]] });
      },
    ],
    [
      "results: a string or blocks, errors, and text after them",
      () => {
        const content = [
          {
            type: "tool_result",
            tool_use_id: "1",
            is_error: true,
            content: [{ type: "text", text: "no" }],
            cache_control: { type: "ephemeral" },
          },
          { type: "text", text: "Go on." },
        ];
        const request = ask({
          messages: [hi, { role: "assistant", content: [{ type: "tool_use", id: "1", name: "f", input: {} }] }, { role: "user", content }],
        });
        expect(request.messages.slice(2)).toMatchObject([{ role: "tool", output: "no", isError: true }, { role: "user" }]);
      },
    ],
    [
      "thinking whose signature is empty",
      () =>
        expect(
          ask({
            messages: [
              hi,
              {
                role: "assistant",
                content: [
                  { type: "thinking", thinking: "Hm.", signature: "" },
                  { type: "text", text: "x" },
                ],
              },
            ],
          }).messages[1],
        ).toMatchObject({ content: [{ type: "thinking", text: "Hm." }, { type: "text" }] }),
    ],
    [
      "everything in its tool schemas is kept",
      () => {
        const input_schema = {
          $schema: "x",
          type: "object",
          propertyNames: { pattern: "a" },
          additionalProperties: {},
          properties: { a: { anyOf: [{ const: 1 }], format: "uri", exclusiveMinimum: 0, default: 1 } },
        };
        expect(ask({ tools: [{ name: "f", input_schema, eager_input_streaming: true }] }).tools).toMatchObject([
          { parameters: input_schema },
        ]);
      },
    ],
    [
      "a count with tools: []",
      () =>
        expect(
          received("anthropic", { model: "m", messages: [hi], tools: [] }, { path: "/v1/messages/count_tokens" }).tools,
        ).toBeUndefined(),
    ],
    [
      "unknown betas and versions",
      () => {
        const headers = { "anthropic-version": "2026-10-21", "anthropic-beta": "new-2027" };
        const request = received("anthropic", { model: "m", max_tokens: 9, messages: [hi] }, { headers });
        expect(encoded("anthropic", request).headers).toMatchObject(headers);
        expect(toChat(request).context.warnings).toEqual([]);
      },
    ],
    [
      "the user and the workspace that a request is for", // billing_policy needs the user
      () => {
        const headers = { "anthropic-user-profile-id": "uprof_1", "anthropic-workspace-id": "wrkspc_1" };
        const body = { model: "m", max_tokens: 9, messages: [hi], billing_policy: { type: "billing_policy", bill_to: "user_profile" } };
        const request = received("anthropic", body, { headers: { ...headers, "anthropic-version": "2023-06-01", "x-api-key": "k" } });
        const sent = encoded("anthropic", request);
        expect(sent.headers).toEqual({ ...headers, "anthropic-version": "2023-06-01", "content-type": "application/json" });
        expect(sent.body).toMatchObject({ billing_policy: body.billing_policy });
        expect(JSON.stringify(toChat(request))).not.toMatch(/uprof|wrkspc/);
      },
    ],
    [
      "context_management and metadata are bookkeeping, left out without a warning",
      () =>
        expect(
          toChat(ask({ context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] }, metadata: { user_id: "{}" } }))
            .context.warnings,
        ).toMatchObject([{ message: expect.stringContaining("thinking.keep") }]),
    ],
  ])("%s", (_, check) => check());
});

describe("Responses: what the stream must look like", () => {
  const stream = sent("openai-responses", turn);
  const events = dataOf(stream);
  const of = (type: string) => events.filter((event) => event.type === type);
  test.each<Row>([
    [
      "every item is added before its pieces, since the openai SDK otherwise finds no output",
      () => {
        const seen = new Set<unknown>();
        for (const { type, output_index, item } of events) {
          if (type === "response.output_item.added") seen.add(output_index);
          else if (output_index !== undefined && !item) expect(seen.has(output_index)).toBe(true);
        }
        expect(seen.size).toBe(3);
      },
    ],
    [
      "every item is done, with complete arguments, since codex and the AI SDK act on nothing else",
      () =>
        expect(of("response.output_item.done").map(({ item }) => item)).toMatchObject([
          { type: "reasoning" },
          { type: "message" },
          { type: "function_call", call_id: "call_1", arguments: json, status: "completed" },
        ]),
    ],
    [
      "response.completed comes last, with the whole output and usage",
      () => {
        const { type, response } = events.at(-1) as { type: string; response: { output: unknown[]; usage: unknown } };
        expect(type).toBe("response.completed");
        expect(response.output).toEqual(of("response.output_item.done").map(({ item }) => item));
        expect(response.usage).toMatchObject({ input_tokens: 30, output_tokens: 12 });
      },
    ],
    [
      "event: lines and sequence numbers are there, though most clients ignore them",
      () => {
        expect([...stream.matchAll(/^event: (.*)\ndata: \{"type":"(.*?)"/gm)].every(([, line, type]) => line === type)).toBe(true);
        expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, i) => i));
      },
    ],
    ["a heartbeat is a comment", () => expect(stream).toMatch(/^:$/m)],
    [
      "an answer that breaks off is reported as failed, with what was complete",
      () => {
        const last = dataOf(sent("openai-responses", [...head, ...called, failed("upstream")])).at(-1);
        expect(last).toMatchObject({
          type: "response.failed",
          response: {
            status: "failed",
            error: { code: "upstream_error" },
            output: [{ type: "reasoning" }, { type: "message" }, { type: "function_call" }].slice(0, 3),
          },
        });
      },
    ],
  ])("%s", (_, check) => check());
});

describe("Responses: what clients send", () => {
  const message = (role: string, text: string) => ({ type: "message", role, content: [{ type: "input_text", text }] });
  test.each<Row>([
    [
      "codex: developer messages, no instructions",
      () => {
        const input = [
          message("developer", "Base."),
          message("developer", "More."),
          message("user", "<environment_context>"),
          message("user", "Hi"),
        ];
        expect(received("openai-responses", { model: "m", input }).messages.map(({ role }) => role)).toEqual([
          "developer",
          "developer",
          "user",
          "user",
        ]);
      },
    ],
    [
      "codex: a namespace, a custom tool with a grammar, tool_search, web_search",
      () => {
        const tools = [
          { type: "function", name: "exec", strict: false, parameters: { type: "object" } },
          {
            type: "namespace",
            name: "multi_agent_v1",
            description: "",
            tools: [{ type: "function", name: "spawn", strict: false, parameters: { type: "object" } }],
          },
          { type: "custom", name: "apply_patch", format: { type: "grammar", syntax: "lark", definition: "start: x" } },
          { type: "tool_search" },
          { type: "web_search" },
        ];
        const request = received("openai-responses", { model: "m", input: "Hi", tools });
        expect(request.tools?.map(({ name }) => name)).toEqual(["exec", "multi_agent_v1__spawn", "apply_patch"]);
        expect(request.warnings?.map(({ code }) => code)).toEqual(["tool-kind", "tool-kind"]);
        const again = encoded("openai-responses", request).body.tools;
        expect(again?.map(({ type }) => type)).toEqual(tools.map(({ type }) => type));
        const bridged = encoded("anthropic", request).body.tools;
        expect(bridged?.at(-1)).toMatchObject({
          name: "apply_patch",
          description: expect.stringContaining("start: x"),
          input_schema: { required: ["input"] },
        });
      },
    ],
    [
      "codex: its settings pass without a warning",
      () => {
        const body = {
          model: "m",
          input: "Hi",
          tool_choice: "auto",
          parallel_tool_calls: true,
          reasoning: { summary: "auto" },
          store: false,
          include: ["reasoning.encrypted_content"],
          prompt_cache_key: "k",
          client_metadata: {},
        };
        expect(toChat(received("openai-responses", body)).context.warnings).toEqual([]);
      },
    ],
    [
      "the second turn repeats everything: reasoning, calls and results, custom ones included",
      () => {
        const input = [
          message("user", "Hi"),
          { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" },
          { type: "function_call", id: "fc_1", call_id: "1", name: "f", arguments: "{}", status: "completed" },
          { type: "function_call_output", call_id: "1", output: "ok" },
          { type: "custom_tool_call", id: "ctc_1", call_id: "2", name: "p", input: "x", status: "completed" },
          { type: "custom_tool_call_output", call_id: "2", output: "ok" },
        ];
        const tools = [{ type: "custom", name: "p" }];
        expect(encoded("openai-responses", received("openai-responses", { model: "m", input, tools })).body.input).toEqual(input);
      },
    ],
    [
      "SDKs: items without a type and an id, reasoning without an id",
      () => {
        const input = [
          { role: "system", content: "Be." },
          hi,
          { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] },
          { role: "assistant", content: [{ type: "output_text", text: "Yes." }], id: "msg_1" },
        ];
        expect(received("openai-responses", { model: "m", input }).messages).toMatchObject([
          { role: "system" },
          { role: "user" },
          {
            role: "assistant",
            content: [
              { type: "thinking", text: "Hm." },
              { type: "text", text: "Yes." },
            ],
          },
        ]);
      },
    ],
    ["a warm-up of 55 bytes", () => expect(received("openai-responses", { model: "m", input: "hi" }).stream).toBeUndefined()],
  ])("%s", (_, check) => check());
});

describe("chat completions: what clients send, and need back", () => {
  const chat = (more: object) => received("openai-chat", { model: "m", messages: [hi], ...more });
  test.each<Row>([
    [
      "usage comes only if the client asked for it",
      () => {
        const count = (more: object) =>
          sent("openai-chat", turn, { request: chat({ stream: true, ...more }) }).match(/"usage"/g)?.length ?? 0;
        expect([count({}), count({ stream_options: { include_usage: true } })]).toEqual([0, 1]);
      },
    ],
    ["two user messages in a row stay two", () => expect(chat({ messages: [hi, hi] }).messages).toHaveLength(2)],
    [
      "reasoning_content and an empty content beside calls are sent back",
      () => {
        const said = {
          role: "assistant",
          content: "",
          reasoning_content: "Hm.",
          tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }],
        };
        expect(chat({ messages: [hi, said] }).messages[1]).toMatchObject({
          content: [{ type: "thinking", text: "Hm." }, { type: "tool-call" }],
        });
      },
    ],
    [
      "developer messages, content as a list, results as a list",
      () => {
        const parts = [{ type: "text", text: "x" }];
        const messages = [
          { role: "developer", content: parts },
          hi,
          { role: "assistant", content: parts, tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }] },
          { role: "tool", tool_call_id: "1", content: parts },
        ];
        expect(encoded("openai-chat", chat({ messages })).body.messages).toMatchObject([
          { role: "developer", content: "x" },
          hi,
          { role: "assistant" },
          { role: "tool", content: parts },
        ]);
      },
    ],
    [
      "a message sent back as it came: refusal null, annotations",
      () =>
        expect(
          toChat(chat({ messages: [hi, { role: "assistant", content: "x", refusal: null, annotations: [] }] })).context.warnings,
        ).toEqual([]),
    ],
    [
      "there is exactly one finish_reason",
      () => {
        for (const events of [turn, [{ type: "finish", reason: "stop" } satisfies Event]])
          expect(sent("openai-chat", events).match(/"finish_reason":"\w+"/g)).toHaveLength(1);
      },
    ],
    [
      "every call has an id from its first fragment on, and indices without gaps",
      () => {
        const calls = dataOf(sent("openai-chat", [{ type: "start" }, ...called, { type: "finish", reason: "tool-calls" }])).flatMap(
          (chunk) => JSON.stringify(chunk).match(/"tool_calls":\[\{"index":0[^\]]*/g) ?? [],
        );
        expect(calls[0]).toContain('"id":"call_1"');
      },
    ],
    [
      "a heartbeat is a comment, and [DONE] is the end",
      () => {
        expect(sent("openai-chat", turn)).toMatch(/^:$/m);
        expect(sent("openai-chat", turn)).toMatch(/data: \[DONE\]\n\n$/);
      },
    ],
  ])("%s", (_, check) => check());
});

describe("Ollama: lines", () => {
  const spread = '{\n  "a": 1.0,\r\n  "b": "x"\n}';
  const events: Event[] = [
    { type: "start", model: "m" },
    { type: "tool-start", ...call },
    { type: "tool-end", ...call, arguments: { a: 1, b: "x" }, json: spread },
    { type: "finish", reason: "tool-calls" },
  ];
  test.each<Row>([
    [
      "every line is one object, however the model spelled its arguments",
      () => expect(linesOf(sent("ollama", events, { beats: false }))).toHaveLength(2),
    ],
    [
      "a call comes whole, with its numbers as the model wrote them",
      () => expect(sent("ollama", events)).toContain('"arguments":{"a": 1.0,"b": "x"}'),
    ],
    [
      "a heartbeat is a line without text",
      () => expect(linesOf(sent("ollama", events))[0]).toMatchObject({ message: { content: "" }, done: false }),
    ],
    [
      "the last line has done, and the reason",
      () => expect(linesOf(sent("ollama", events)).at(-1)).toMatchObject({ done: true, done_reason: "stop" }),
    ],
  ])("%s", (_, check) => check());
});

describe("errors in the middle of a stream have the wire's own form, and nothing follows them", () => {
  test.each<[WireId, (text: string) => unknown, object]>([
    ["openai-chat", (text) => dataOf(text).at(-1), { error: { message: "no", type: "server_error", code: "overloaded" } }],
    [
      "openai-responses",
      (text) => dataOf(text).at(-1),
      { type: "response.failed", response: { error: { code: "overloaded" }, output: [{ type: "reasoning" }] } },
    ],
    ["anthropic", (text) => dataOf(text).at(-1), { type: "error", error: { type: "overloaded_error", message: "no" } }],
    ["gemini", (text) => dataOf(text).at(-1), { error: { code: 503, message: "no", status: "UNAVAILABLE" } }],
    ["ollama", (text) => linesOf(text).at(-1), { error: "no" }],
  ])("%s", (id, last, expected) => {
    const text = sent(id, [...head, failed("overloaded")]);
    expect(last(text)).toMatchObject(expected);
    expect(text).not.toMatch(/\[DONE\]|"finish_reason":"|message_stop|"finishReason"|"done":true/);
    const decoder = getWire(id).createStreamDecoder();
    const code = id === "ollama" ? "upstream" : "overloaded"; // Ollama has no codes, only messages
    expect([...decoder.feed(text), ...decoder.flush()].at(-1)).toMatchObject({ reason: "error", error: { code } });
  });
});

describe("a prompt that is too long is reported in the words that make clients shorten it", () => {
  const error = { code: "context-length" as const, message: "too long", tokens: { used: 200, limit: 100 } };
  test.each<[string, WireId, number, RegExp]>([
    ["Claude Code", "anthropic", 400, /prompt is too long: 200 tokens > 100 maximum/],
    [
      "opencode, and every client of chat completions",
      "openai-chat",
      400,
      /maximum context length is 100.*invalid_request_error.*context_length_exceeded/,
    ],
    ["Responses", "openai-responses", 400, /context_length_exceeded/],
    ["Copilot on chat completions", "openai-chat", 400, /Your input exceeds the context window of this model/],
    ["Copilot on Responses", "openai-responses", 400, /Your input exceeds the context window of this model/],
    ["gemini-cli", "gemini", 400, /The input token count \(200\) exceeds the maximum number of tokens allowed \(100\)/],
  ])("%s", (_, id, status, words) => {
    const output = getWire(id).encodeError(error);
    expect(output.status).toBe(status);
    expect(JSON.stringify(output.body)).toMatch(words);
    expect(getWire(id).decodeError(status, {}, output.body)).toMatchObject({ code: "context-length", tokens: error.tokens });
  });
  test.each<[WireId, string]>([
    ["openai-chat", "Your input exceeds the context window of this model: too long"],
    ["openai-responses", "Your input exceeds the context window of this model: too long"],
    ["anthropic", "prompt is too long: too long"],
    ["gemini", "The input token count exceeds the maximum number of tokens allowed: too long"],
  ])("%s, also if the server has not counted the tokens, and only once", (id, words) => {
    const { code, message } = error;
    const output = getWire(id).encodeError({ code, message });
    expect(JSON.stringify(output.body)).toContain(`"${words}"`);
    const heard = getWire(id).decodeError(output.status, {}, output.body);
    expect(heard).toMatchObject({ code });
    expect(getWire(id).encodeError(heard).body).toEqual(output.body);
  });
  test("codex recognizes it only in a stream", () => {
    const output = getWire("openai-responses").encodeError(error, asked("openai-responses"));
    expect(output).toMatchObject({ status: 200, headers: { "content-type": "text/event-stream" } });
    expect(dataOf(String(output.body)).at(-1)).toMatchObject({
      type: "response.failed",
      response: { error: { code: "context_length_exceeded" } },
    });
  });
});

describe("usage is counted as each wire defines it", () => {
  const events: Event[] = [{ type: "start" }, { type: "text", text: "x" }, usage, { type: "finish", reason: "stop" }];
  test.each<[WireId, object]>([
    [
      "openai-chat",
      {
        prompt_tokens: 30,
        completion_tokens: 12,
        prompt_tokens_details: { cached_tokens: 20 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    ],
    [
      "openai-responses",
      { input_tokens: 30, output_tokens: 12, input_tokens_details: { cached_tokens: 20 }, output_tokens_details: { reasoning_tokens: 5 } },
    ],
    ["anthropic", { input_tokens: 6, cache_read_input_tokens: 20, cache_creation_input_tokens: 4, output_tokens: 12 }],
    ["gemini", { promptTokenCount: 30, candidatesTokenCount: 7, thoughtsTokenCount: 5, cachedContentTokenCount: 20, totalTokenCount: 42 }],
    ["ollama", { prompt_eval_count: 30, eval_count: 12 }],
  ])("%s", (id, expected) => {
    const body = getWire(id).encodeResponse(collect(events), asked(id)) as JsonObject;
    expect(body.usage ?? body.usageMetadata ?? body).toMatchObject(expected);
    const { inputTokens, outputTokens } = getWire(id).decodeResponse(body).usage ?? {};
    expect([inputTokens, outputTokens]).toEqual([30, 12]);
  });
});
