// Chat completions: answers read from servers, however wrong, and answers written for clients.
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { Event, Opaque, Request, Response, Warning } from "../../src/core/nouns.ts";
import { eventsOf } from "../../src/core/unfold.ts";
import { NO_CONTEXT } from "../../src/wires/accumulate.ts";
import { openaiChat } from "../../src/wires/openai-chat.ts";
import { getWire } from "../../src/wires/registry.ts";
import { validateStream } from "./validators.ts";

const folder = new URL("../fixtures/openai-chat/", import.meta.url);
const fixtures = readdirSync(folder).map((file) => file.replace(".sse", ""));
const fixture = (name: string) => readFileSync(new URL(`${name}.sse`, folder), "utf8");

function decode(pieces: readonly string[]): Event[] {
  const decoder = openaiChat.createStreamDecoder(NO_CONTEXT);
  return [...pieces.flatMap((piece) => decoder.feed(piece)), ...decoder.flush()];
}
const answer = (name: string): Response => collect(decode([fixture(name)]));

const asked: Request = { model: "m", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }], stream: "sse" };
const asking: Request = { ...asked, extra: [{ wire: "openai-chat", kind: "stream_options", data: { include_usage: true } }] };
const at = { now: () => new Date(1_760_000_000_000) };

function encode(events: readonly Event[], request: Request = asked, warnings: Warning[] = []): string {
  const encoder = openaiChat.createStreamEncoder(request, { ...at, warn: (warning) => warnings.push(warning) });
  return events.map((event) => encoder.encode(event)).join("") + encoder.end();
}
interface Chunk {
  [key: string]: unknown;
  choices: { delta: Record<string, unknown>; finish_reason: string | null }[];
}
const chunksOf = (text: string): Chunk[] =>
  text
    .split("\n\n")
    .filter((block) => block.startsWith("data: {"))
    .map((block) => JSON.parse(block.slice(6)));

const A = { type: "tool-call", name: "write_file", arguments: { file_path: "a.txt", content: 'x } "y" é😀' } };
const B = { type: "tool-call", name: "read_file", arguments: { path: "b.txt" } };
const none = { type: "tool-call", name: "list_files", arguments: {}, json: "{}" };
const thought = { type: "thinking", text: "We need to write." };
const said = { type: "text", text: "Writing." };
const called = { reason: "tool-calls" };

test("whitespace inside a chunk makes no difference", () => {
  const text = fc.constantFrom("", "Hi", " you", 'a "b" \\\\', "é\\u2028", "\\n", "m");
  const delta = fc.record(
    {
      role: fc.constantFrom("assistant", null),
      content: fc.option(text),
      reasoning_content: fc.option(text),
      refusal: fc.option(text),
      tool_calls: fc.constantFrom(null, [{ index: 0, id: "c", function: { name: "f", arguments: "{}" } }]),
    },
    { requiredKeys: [] },
  );
  const choice = fc.record(
    {
      index: fc.constantFrom(0, 0, 1),
      delta: fc.oneof(delta, fc.record({ content: text })),
      logprobs: fc.constantFrom(null, { content: [] }),
      finish_reason: fc.constantFrom(null, "stop", "length", "eos", ""),
      stop_reason: fc.constantFrom(null, "END"),
    },
    { requiredKeys: ["index", "delta"] },
  );
  const chunk = fc.record(
    {
      id: fc.constantFrom("chatcmpl-1", 'a"b', ""),
      object: fc.constant("chat.completion.chunk"),
      created: fc.nat(9),
      model: fc.constantFrom("m", "é"),
      system_fingerprint: fc.constantFrom("fp_1", "fp_2", null),
      service_tier: fc.constantFrom("default", null),
      choices: fc.oneof({ weight: 9, arbitrary: fc.tuple(choice) }, fc.array(choice, { maxLength: 2 })),
      usage: fc.constantFrom<object | null>(
        null,
        { prompt_tokens: 1, completion_tokens: 2 },
        { completion_tokens: 2, total_tokens: 3, prompt_tokens: 1 },
        { prompt_tokens: 1, total_tokens: 1 },
        { prompt_tokens: 1, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 1 } },
        { prompt_tokens: 1, completion_tokens: 2, reasoning_tokens: 1 },
      ),
      error: fc.constantFrom(null, null, null, "broken"),
      obfuscation: text,
    },
    { requiredKeys: ["id", "object", "created", "model", "choices"] },
  );
  fc.assert(
    fc.property(fc.array(chunk, { minLength: 1, maxLength: 6 }), (chunks) => {
      const tight = chunks.map((one) => JSON.stringify(one));
      const wide = tight.map((json) => json.replace("{", "{ ").replace(/}$/, " }"));
      const [a, b] = [tight, wide].map((all) => decode(all.map((json) => `data: ${json}\n\n`)));
      expect(a).toEqual(b);
    }),
    { numRuns: 2000 },
  );
});

describe("what servers get wrong", () => {
  test.each<[string, object[], object]>([
    ["well-formed", [A, B], called],
    ["ids-change-between-chunks", [{ ...A, id: "eL537Ly3" }], called],
    [
      "ids-are-missing",
      [
        { ...A, id: "call_0" },
        { ...B, id: "call_1" },
      ],
      called,
    ],
    [
      "ids-are-doubled",
      [
        { ...A, id: "x" },
        { ...B, id: "call_1" },
      ],
      called,
    ],
    ["the-name-comes-late", [A, B], called],
    [
      "all-calls-say-index-0",
      [
        { ...A, id: "call_a" },
        { ...B, id: "call_b" },
      ],
      called,
    ],
    ["no-index-at-all", [A, B], called],
    ["arguments-are-an-object", [A, B], called],
    ["arguments-are-null", [none], called],
    ["arguments-are-empty", [none], called],
    ["interleaved-by-index", [A, B], called],
    ["finish-reason-is-missing", [A, B], called],
    ["finish-reason-says-stop", [A, B], called],
    ["done-is-missing", [A, B], called],
    ["crlf-and-comments", [A, B], called],
    ["usage-in-every-chunk", [A, B], called],
    ["message-instead-of-delta", [{ type: "text", text: "Hi" }], { reason: "stop" }],
    ["reasoning-content", [thought, said, A], called],
    ["reasoning", [thought, said, A], called],
    ["content-is-a-list", [thought, said], { reason: "stop" }],
    ["cut-by-length", [said, { type: "tool-call", name: "write_file", truncated: true }], { reason: "length" }],
    ["cut-before-the-arguments", [{ type: "tool-call", name: "write_file", truncated: true }], { reason: "length" }],
    ["broken-arguments", [{ type: "malformed", code: "bad-arguments" }], { reason: "error", error: { code: "malformed-call" } }],
    ["broken-arguments-beside-a-good-call", [{ type: "malformed", id: "call_a" }, B], called],
    ["error-in-mid-stream", [{ type: "text", text: "Wri" }], { reason: "error", error: { code: "upstream", message: "the engine died" } }],
    [
      "cut-connection",
      [
        { type: "text", text: "Wri" },
        { type: "tool-call", truncated: true },
      ],
      { reason: "error", error: { code: "upstream" } },
    ],
    ["legacy-function-call", [A], called],
    ["custom-tool-call", [{ type: "tool-call", name: "apply_patch", arguments: { input: '*** Begin "Patch"\n' } }], called],
    ["refusal", [], { reason: "stop" }],
    ["text-between-calls", [A, { type: "text", text: "\n" }, B, { type: "text", text: "\n" }], called],
    ["empty-object-first", [A], called],
    ["gemini-signature", [{ ...A, state: [{ wire: "gemini", kind: "thoughtSignature", data: "c2ln" }] }], called],
    [
      "unknown-fields",
      [
        { type: "text", text: "Hi" },
        { type: "text", text: "!" },
      ],
      { reason: "stop" },
    ],
  ])("%s", (name, content, finish) => {
    const { content: parts, finish: end } = answer(name);
    expect(parts).toMatchObject(content);
    expect(parts).toHaveLength(content.length);
    expect(end).toMatchObject(finish);
  });

  test("the issues of the debugging guide in shared/seeds, by its own names", () => {
    const guide: [issue: string, stream: string, calls: object[]][] = [
      ["streaming sends partial JSON chunks; empty arguments {}", "well-formed", [A, B]],
      ["the id changes across chunks; undefined_tool_name", "ids-change-between-chunks", [A]],
      ["the reasoning_content field; terminated", "reasoning-content", [A]],
    ];
    for (const [issue, stream, calls] of guide) {
      expect(
        answer(stream).content.filter(({ type }) => type === "tool-call"),
        issue,
      ).toMatchObject(calls);
    }
  });
  test("every recorded stream is in the table above, and any cut of it gives the same answer", () => {
    for (const name of fixtures) {
      const text = fixture(name);
      const whole = answer(name);
      expect(collect(decode([...text]))).toEqual(whole);
      for (let cut = 1; cut < text.length; cut += 1 + Math.floor(text.length / 50))
        expect(collect(decode([text.slice(0, cut), text.slice(cut)]))).toEqual(whole);
    }
  });
  test("usage is cumulative, and counts as DESIGN defines it", () => {
    const usage = { inputTokens: 10, outputTokens: 20, thinkingTokens: 5, cachedTokens: 4 };
    expect(answer("well-formed").usage).toEqual(usage);
    expect(decode([fixture("usage-in-every-chunk")]).filter(({ type }) => type === "usage")).toEqual([{ type: "usage", ...usage }]);
    expect(answer("refusal").refusal).toBe("I cannot.");
  });
  test("calls never interleave, indices have no gaps, ids are unique, and there is one finish, last", () => {
    for (const name of fixtures) {
      const events = decode([fixture(name)]);
      let open: string | undefined;
      const starts = events.filter((event) => event.type === "tool-start");
      for (const event of events) {
        if (event.type === "tool-start") open = open === undefined ? event.id : "two at once";
        else if (event.type === "tool-delta") expect(event.id).toBe(open);
        else if (event.type === "tool-end" || event.type === "malformed") open = undefined;
        else expect(open).toBeUndefined();
      }
      expect(starts.map(({ index }) => index)).toEqual(starts.map((_, i) => i));
      expect(new Set(starts.map(({ id }) => id)).size).toBe(starts.length);
      expect(events.findIndex(({ type }) => type === "finish")).toBe(events.length - 1);
    }
  });
  test("arguments are passed on as they come", () => {
    const deltas = decode([fixture("well-formed")]).flatMap((event) => (event.type === "tool-delta" ? [event.json] : []));
    expect(deltas.length).toBeGreaterThan(40);
  });
  test.each([
    null,
    5,
    "no",
    [],
    {},
    { choices: [] },
    { error: "busy" },
    { choices: [null] },
    { choices: [{ delta: { tool_calls: [null, 1] } }] },
  ])("an answer of %j makes nothing throw", (body) => {
    expect(openaiChat.decodeResponse(body, NO_CONTEXT).finish).toBeDefined();
    expect(decode([`data: ${JSON.stringify(body)}\n\n`]).at(-1)).toMatchObject({ type: "finish" });
  });
  test("renamed tools come back under their own names", () => {
    const context = { names: { write_file: "disk.write" }, warnings: [] };
    const decoder = openaiChat.createStreamDecoder(context);
    expect(collect([...decoder.feed(fixture("well-formed")), ...decoder.flush()]).content[0]).toMatchObject({ name: "disk.write" });
  });
});

describe("a whole answer", () => {
  const message = {
    role: "assistant",
    content: "Writing.",
    reasoning_content: "We need to write.",
    annotations: [{ type: "url_citation" }],
    tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: '{"a": 1.0}' } }],
  };
  const body = {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_760_000_000,
    model: "m",
    system_fingerprint: "fp",
    choices: [{ index: 0, message: { ...message, refusal: null }, logprobs: null, finish_reason: "tool_calls" }],
    usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30, prompt_tokens_details: { cached_tokens: 4, audio_tokens: 1 } },
  };

  test("is read, and written again unchanged", () => {
    const response = openaiChat.decodeResponse(JSON.stringify(body), NO_CONTEXT);
    expect(response.content).toMatchObject([thought, said, { type: "tool-call", id: "1", json: '{"a": 1.0}' }]);
    expect(response.finish).toEqual({ reason: "tool-calls", native: "tool_calls" });
    expect(openaiChat.encodeResponse(response, asked, at)).toEqual(body);
  });
  test("leaves out a truncated call, with a warning", () => {
    const warnings: Warning[] = [];
    const response: Response = {
      content: [{ type: "tool-call", id: "1", name: "f", arguments: {}, truncated: true }],
      finish: { reason: "length" },
    };
    expect(openaiChat.encodeResponse(response, asked, { ...at, warn: (warning) => warnings.push(warning) })).toMatchObject({
      choices: [{ message: { content: null }, finish_reason: "length" }],
    });
    expect(warnings).toHaveLength(1);
  });
  test("that failed has OpenAI's error form", () => {
    const response: Response = { content: [], finish: { reason: "error", error: { code: "overloaded", message: "busy" } } };
    expect(openaiChat.encodeResponse(response, asked)).toMatchObject({ error: { message: "busy", code: "overloaded" } });
  });
});

describe("streams written for clients", () => {
  test.each(fixtures.filter((name) => !/error|broken|cut-connection/.test(name)))("%s comes out well-formed", (name) => {
    const events = decode([fixture(name)]);
    const text = encode(events, asking);
    const complaints = validateStream("openai-chat", text);
    expect(complaints.filter((complaint) => name !== "unknown-fields" || !complaint.includes("is not a field"))).toEqual([]);
    const [again, before] = [collect(decode([text])), collect(events)];
    // Mistral's spelling of thinking is for Mistral's servers only.
    if (name === "content-is-a-list") for (const part of before.content) delete part.state;
    // A truncated call without arguments is not even started, since clients take nothing for `{}` and run it.
    expect(again.content).toEqual(name === "cut-before-the-arguments" ? [] : before.content);
    expect(again.usage).toEqual(before.usage);
    expect(again.finish?.reason).toBe(before.finish?.reason);
    expect(again.extensions).toEqual(before.extensions);
  });
  test("the first chunk has the role, the last the reason, and usage comes only if requested", () => {
    const events: Event[] = [
      { type: "start", id: "x", model: "big" },
      { type: "text", text: "Hi" },
      { type: "usage", inputTokens: 1, outputTokens: 2 },
      { type: "finish", reason: "stop" },
    ];
    const plain = chunksOf(encode(events));
    expect(plain.map(({ choices }) => choices[0])).toEqual([
      { index: 0, delta: { role: "assistant", content: "" }, finish_reason: null },
      { index: 0, delta: { content: "Hi" }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: "stop" },
    ]);
    expect(plain.every(({ id, model, object }) => id === "x" && model === "big" && object === "chat.completion.chunk")).toBe(true);
    const counted = encode(events, asking);
    expect(chunksOf(counted).at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } });
    expect(counted.endsWith("data: [DONE]\n\n")).toBe(true);
  });
  test("a call that arrives whole is sent whole", () => {
    const text = encode([
      { type: "tool-start", id: "1", index: 0, name: "f" },
      { type: "tool-end", id: "1", index: 0, name: "f", arguments: { a: 1 } },
      { type: "finish", reason: "tool-calls" },
    ]);
    expect(collect(decode([text])).content).toMatchObject([{ id: "1", name: "f", json: '{"a":1}' }]);
  });
  test("a truncated call stays open, and the reason is length", () => {
    const text = encode(decode([fixture("cut-by-length")]));
    expect(chunksOf(text).at(-1)?.choices[0]?.finish_reason).toBe("length");
    expect(text).not.toContain('tool_calls"}'); // the reason tool_calls must not appear
    expect(collect(decode([text])).content.at(-1)).toMatchObject({ truncated: true });
  });
  test("a call that was truncated before it started takes no index", () => {
    const text = encode([
      { type: "tool-start", id: "1", index: 0, name: "f" },
      { type: "tool-end", id: "1", index: 0, name: "f", arguments: {}, truncated: true },
      { type: "tool-start", id: "2", index: 1, name: "g" },
      { type: "tool-end", id: "2", index: 1, name: "g", arguments: {} },
      { type: "finish", reason: "length" },
    ]);
    expect(validateStream("openai-chat", text)).toEqual([]);
    expect(collect(decode([text])).content).toMatchObject([{ id: "2", name: "g" }]);
  });
  test.each<[string, Event[], string]>([
    ["an unreadable call", decode([fixture("broken-arguments")]), "malformed_call"],
    [
      "an error",
      [
        { type: "text", text: "x" },
        { type: "finish", reason: "error", error: { code: "rate-limit", message: "slow down" } },
      ],
      "rate_limit_exceeded",
    ],
    ["a missing finish", [{ type: "text", text: "x" }], "upstream_error"],
  ])("%s ends the stream with an error, without a reason or [DONE]", (_, events, code) => {
    const text = encode(events);
    expect(chunksOf(text).at(-1)).toMatchObject({ error: { code } });
    expect(text).not.toContain("[DONE]");
    expect(chunksOf(text).some((chunk) => chunk.choices?.[0]?.finish_reason)).toBe(false);
    expect(decode([text]).at(-1)).toMatchObject({ type: "finish", reason: "error" });
  });
  test("a custom tool's call is sent as plain text", () => {
    const request: Request = { ...asked, tools: [{ name: "apply_patch", kind: "custom" }] };
    const text = encode(decode([fixture("custom-tool-call")]), request);
    const calls = chunksOf(text).flatMap(({ choices }) => (choices[0]?.delta.tool_calls ?? []) as { custom: { input: string } }[]);
    expect(calls[0]).toMatchObject({ index: 0, id: "call_a", type: "custom", custom: { name: "apply_patch", input: "" } });
    expect(calls.map(({ custom }) => custom.input).join("")).toBe('*** Begin "Patch"\n');
    expect(validateStream("openai-chat", text)).toEqual([]);
  });
  test("a custom tool's call without any input is sent", () => {
    const request: Request = { ...asked, tools: [{ name: "f", kind: "custom" }] };
    const call: Response = {
      content: [{ type: "tool-call", id: "a", name: "f", arguments: { input: "" } }],
      finish: { reason: "tool-calls" },
    };
    const sent = { id: "a", type: "custom", custom: { name: "f", input: "" } };
    expect(chunksOf(encode([...eventsOf(call)], request)).flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])).toMatchObject([
      sent,
    ]);
    expect(openaiChat.encodeResponse(call, request)).toMatchObject({ choices: [{ message: { tool_calls: [sent] } }] });
  });
  test("a truncated call never looks like complete JSON, even if the server closed it", () => {
    for (const json of ["", " ", "{}", '{"a":1}', '{"a":{"b":1}} ', '{"a":']) {
      const text = encode([
        { type: "tool-start", id: "1", index: 0, name: "f" },
        ...[...json].map((char): Event => ({ type: "tool-delta", id: "1", json: char })),
        { type: "tool-end", id: "1", index: 0, name: "f", arguments: {}, truncated: true },
        { type: "finish", reason: "length" },
      ]);
      const calls = chunksOf(text).flatMap(({ choices }) => (choices[0]?.delta.tool_calls ?? []) as { function: { arguments: string } }[]);
      const sent = calls.map((call) => call.function.arguments).join("");
      if (calls.length > 0) expect(() => JSON.parse(sent || "{}")).toThrow();
    }
  });
  test("a heartbeat is a comment, and nothing follows the end", () => {
    const encoder = openaiChat.createStreamEncoder(asked);
    expect(encoder.heartbeat()).toBe(":\n\n");
    encoder.encode({ type: "finish", reason: "stop" });
    expect([encoder.heartbeat(), encoder.encode({ type: "text", text: "x" }), encoder.end()]).toEqual(["", "", ""]);
  });
  test("events that only another wire knows are left out, with a warning", () => {
    const warnings: Warning[] = [];
    encode(
      [
        { type: "extension", wire: "gemini", data: 1 },
        { type: "extension", wire: "ollama", data: 1, quiet: true },
        { type: "finish", reason: "stop" },
      ],
      asked,
      warnings,
    );
    expect(warnings).toEqual([{ code: "dropped", message: expect.stringContaining("gemini") }]);
  });
  test("every chunk of a call has its function, and a signature known in time is in the first", () => {
    const state: Opaque[] = [{ wire: "gemini", kind: "thoughtSignature", data: "c2ln" }];
    const calls = (events: Event[]) => chunksOf(encode(events)).flatMap(({ choices }) => (choices[0]?.delta.tool_calls ?? []) as object[]);
    const start: Event = { type: "tool-start", id: "1", index: 0, name: "f" };
    const delta: Event = { type: "tool-delta", id: "1", json: '{"a":1}' };
    const end: Event = { type: "tool-end", id: "1", index: 0, name: "f", arguments: { a: 1 }, json: '{"a":1}', state };
    const last: Event = { type: "finish", reason: "tool-calls" };
    for (const events of [
      [{ ...start, state }, delta, end, last],
      [start, delta, end, last],
      [start, end, last],
    ]) {
      const chunks = calls(events);
      expect(chunks.filter((chunk) => !("function" in chunk))).toEqual([]);
      expect(chunks.filter((chunk) => "extra_content" in chunk)).toHaveLength(1);
      if (events[1] !== delta || "state" in events[0]!) expect(chunks[0]).toHaveProperty("extra_content");
    }
  });
  test("another provider's state on a call travels along and comes back", () => {
    const state: Opaque[] = [{ wire: "anthropic", kind: "caller", data: { type: "direct" } }];
    const thinkingState: Opaque[] = [{ wire: "anthropic", kind: "signature", data: "sig" }];
    const events: Event[] = [
      { type: "thinking-start" },
      { type: "thinking-delta", text: "hm" },
      { type: "thinking-end", state: thinkingState },
      { type: "tool-start", id: "1", index: 0, name: "f" },
      { type: "tool-end", id: "1", index: 0, name: "f", arguments: {}, json: "{}", state },
      { type: "finish", reason: "tool-calls" },
    ];
    const whole = openaiChat.encodeResponse(collect(events), asked) as { choices: { message: object }[] };
    const call = {
      ...chunksOf(encode(events))
        .flatMap(({ choices }) => (choices[0]?.delta.tool_calls as object[] | undefined) ?? [])
        .reduceRight((all, piece) => Object.assign(all, piece), {}),
    };
    const streamed = { role: "assistant", content: null, reasoning_content: "hm", tool_calls: [call] };
    for (const message of [whole.choices[0]!.message, streamed]) {
      const body = { model: "m", messages: [{ role: "user", content: "Hi" }, message] };
      expect(openaiChat.decodeRequest({ path: "", query: {}, headers: {}, body }).messages[1]).toMatchObject({
        content: [
          { type: "thinking", text: "hm", state: thinkingState },
          { type: "tool-call", id: "1", state },
        ],
      });
    }
  });
});

describe("errors and lists of models", () => {
  test("errors have OpenAI's form", () => {
    expect(openaiChat.encodeError({ code: "rate-limit", message: "slow down", retryAfterMs: 1200 })).toEqual({
      status: 429,
      headers: { "content-type": "application/json", "retry-after": "2" },
      body: { error: { message: "slow down", type: "rate_limit_error", param: null, code: "rate_limit_exceeded" } },
    });
    expect(openaiChat.decodeError(401, {}, '{"error":{"message":"no"}}')).toEqual({ code: "auth", message: "no", status: 401 });
  });
  test("lists of models are read and written", () => {
    const models = [{ id: "a", created: 5, contextLength: 8192 }, { id: "b" }];
    expect(openaiChat.decodeModels(openaiChat.encodeModels(models))).toEqual([models[0], { id: "b", created: 0 }]);
    expect(openaiChat.decodeModels({ data: [{ id: "v", max_model_len: 4096 }, { meta: {} }, null] })).toEqual([
      { id: "v", contextLength: 4096 },
    ]);
    expect(openaiChat.decodeModels("oops")).toEqual([]);
  });
});

describe("finishes that servers leave out or name differently", () => {
  const said = (...chunks: object[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  const call = { index: 0, id: "a", function: { name: "f", arguments: "{}" } };
  const delta = (delta: object, finish_reason: string | null = null) => ({ choices: [{ index: 0, delta, finish_reason }] });
  const counted = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } };
  test("a chunk with only usage ends an answer that has neither a reason nor [DONE]", () => {
    expect(decode([said(delta({ tool_calls: [call] }), counted)]).at(-1)).toEqual({ type: "finish", reason: "tool-calls" });
    expect(decode([said(delta({ content: "Hi" }), counted)]).at(-1)).toEqual({ type: "finish", reason: "stop" });
    expect(decode([said(counted, delta({ content: "Hi" }))]).at(-1)).toMatchObject({ reason: "error" });
  });
  test.each(["data: [DONE] \n\n", "data: [DONE]\t\n\ndata: {}\n\n", "data: [DONE] "])("blanks behind [DONE] do not matter: %j", (done) => {
    expect(decode([said(delta({ content: "Hi" })) + done])).toMatchObject([{ type: "start" }, { text: "Hi" }, { reason: "stop" }]);
  });
  test("an answer that the server aborted is an error", () => {
    expect(decode([said(delta({ content: "Hi" }, "abort"))]).at(-1)).toMatchObject({
      reason: "error",
      native: "abort",
      error: { code: "upstream" },
    });
  });
  test("an error inside a choice is the answer's, with its message", () => {
    const error = { code: 429, message: "rate limited upstream" };
    const { finish } = openaiChat.decodeResponse({ choices: [{ index: 0, message: { content: "" }, finish_reason: "error", error }] });
    expect(finish).toMatchObject({ reason: "error", error: { code: "rate-limit", message: "rate limited upstream" } });
  });
  test.each(["abort", "network_error", "insufficient_system_resource", "request_timeout"])(
    "%s: the interrupted call is truncated, and the answer has failed",
    (word) => {
      const cut = { ...call, function: { name: "f", arguments: '{"a":' } };
      const events = decode([said(delta({ tool_calls: [cut] }), delta({}, word))]);
      expect(events).toContainEqual(expect.objectContaining({ type: "tool-end", truncated: true }));
      expect(events.at(-1)).toMatchObject({ reason: "error", error: { code: "upstream" } });
    },
  );
  test.each([
    ["model_length", "length"],
    ["MAX_TOKENS", "length"],
    ["content_safety", "content-filter"],
    ["model_context_window_exceeded", "length"],
    ["sensitive", "content-filter"],
  ])("%s is not reported as a normal stop", (word, reason) => {
    expect(decode([said(delta({ content: "Hi" }, word))]).at(-1)).toEqual({ type: "finish", reason, native: word });
  });
  test("a stream sent as JSON content is read", () => {
    const { content, finish } = openaiChat.decodeResponse(`${said(delta({ content: "Hi" }), delta({}, "stop"))}data: [DONE]\n\n`);
    expect(content).toEqual([{ type: "text", text: "Hi" }]);
    expect(finish).toEqual({ reason: "stop", native: "stop" });
  });

  const counts = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
  test("Perplexity's chunks, each of which repeats the whole text, are read once", () => {
    const piece = (content: string, all: string) => ({
      choices: [{ index: 0, delta: { content }, message: { role: "assistant", content: all }, finish_reason: null }],
    });
    const events = decode([said(piece("Hel", "Hel"), piece("lo", "Hello"), delta({}, "stop"))]);
    expect(collect(events).content).toEqual([{ type: "text", text: "Hello" }]);
    const heard = chunksOf(encode(events)).map(({ choices }) => choices[0]?.delta.content ?? "");
    expect(heard.join("")).toBe("Hello");
  });
  test.each<[string, object, object]>([
    [
      "Moonshot",
      { choices: [{ index: 0, delta: {}, finish_reason: "stop", usage: { ...counts, cached_tokens: 8 } }] },
      { cachedTokens: 8 },
    ],
    ["Groq", { ...delta({}, "stop"), x_groq: { id: "r", usage: counts } }, {}],
    ["DeepSeek", { ...delta({}, "stop"), usage: { ...counts, prompt_cache_hit_tokens: 8 } }, { cachedTokens: 8 }],
    ["Perplexity", { ...delta({}, "stop"), usage: { ...counts, reasoning_tokens: 1 } }, { thinkingTokens: 1 }],
  ])("counts that %s puts in a place of its own are read, and stay there for its clients", (_, last, more) => {
    const events = decode([said(delta({ content: "Hi" }), last)]);
    expect(events).toContainEqual({ type: "usage", inputTokens: 10, outputTokens: 2, ...more });
    const own = JSON.stringify(last).match(/"(cached|reasoning|prompt_cache_hit)_tokens":\d|"x_groq":.*?"usage"/)?.[0] ?? "?";
    expect(encode(events, asking)).toContain(own);
  });
  test("thinking found only in its details is read, and thinking given twice counts once", () => {
    const detail = (text: string) => [{ type: "reasoning.text", format: "MiniMax-response-v1", index: 0, text }];
    const thoughts = (...chunks: object[]) => collect(decode([said(...chunks, delta({ content: "Hi" }, "stop"))])).content[0];
    const apart = thoughts(delta({ reasoning_details: detail("Let me") }), delta({ reasoning_details: detail(" think") }));
    expect(apart).toMatchObject({ type: "thinking", text: "Let me think" });
    const both = thoughts(delta({ reasoning: "Hm", reasoning_details: detail("Hm") }), delta({ reasoning_details: detail("") }));
    expect(both).toMatchObject({ type: "thinking", text: "Hm" });
  });
  test("thinking counted only in the total (xAI, Google) is counted as output", () => {
    const counts = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 20 };
    for (const usage of [counts, { ...counts, prompt_tokens_details: { cached_tokens: 0 } }])
      for (const last of [{ usage }, { id: "a", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage }])
        expect(decode([said(delta({ content: "Hi" }, "stop"), last)])).toContainEqual(
          expect.objectContaining({ type: "usage", inputTokens: 10, outputTokens: 10 }),
        );
  });
  test("Snowflake's empty calls are not taken for calls", () => {
    const shell = { name: "", arguments: "" };
    const message = (more: object) => ({ choices: [{ index: 0, finish_reason: "", message: { function_call: shell, ...more } }] });
    expect(openaiChat.decodeResponse(message({ content: "Hi", refusal: "", tool_calls: null }))).toMatchObject({
      content: [{ type: "text", text: "Hi" }],
      finish: { reason: "stop" },
    });
    const call = { id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' }, custom: { name: "", input: "" } };
    expect(openaiChat.decodeResponse(message({ content: "", tool_calls: [call] }))).toMatchObject({
      content: [{ type: "tool-call", id: "c1", name: "f", arguments: { a: 1 } }],
      finish: { reason: "tool-calls" },
    });
  });
  test("Mistral's thinking is a part of the content for its own servers only", () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
      { type: "text", text: "4" },
    ];
    const answer = openaiChat.decodeResponse({ choices: [{ message: { role: "assistant", content } }] });
    const { body } = openaiChat.encodeRequest({ model: "m", messages: [{ role: "assistant", content: answer.content }] });
    expect(body).toMatchObject({ messages: [{ role: "assistant", content }] });
    expect(openaiChat.encodeResponse(answer, asked)).toMatchObject({ choices: [{ message: { content: "4", reasoning_content: "Hm." } }] });
  });
  describe("a reference (Mistral) keeps its place among the texts", () => {
    const reference = { type: "reference", reference_ids: [0, 2] };
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "Hm." }, reference] },
      { type: "text", text: "Paris" },
      reference,
      { type: "text", text: "." },
    ];
    const whole = openaiChat.decodeResponse({ choices: [{ message: { role: "assistant", content }, finish_reason: "stop" }] });
    const [thoughts, ...texts] = content;
    const back = [{ type: "thinking", thinking: [reference] }, ...texts];
    test("for a client of the same API, streamed or not, and for the server, which gets it back", () => {
      expect(openaiChat.encodeResponse(whole, asked)).toMatchObject({
        choices: [{ message: { content: back, reasoning_content: "Hm." } }],
      });
      const events = decode([...content.map((part) => said(delta({ content: [part] }))), said(delta({}, "stop"))]);
      expect(collect(events).content).toEqual(whole.content);
      const pieces = chunksOf(encode(events)).map(({ choices }) => choices[0]?.delta.content);
      expect(pieces.filter(Boolean)).toEqual([[back[0]], "Paris", [reference], "."]);
      const { body } = openaiChat.encodeRequest({ model: "m", messages: [{ role: "assistant", content: whole.content }] });
      const split = [{ ...thoughts, thinking: [{ type: "text", text: "Hm." }] }, ...back];
      expect(body).toMatchObject({ messages: [{ role: "assistant", content: split }] });
    });
    test("clients of other APIs get the texts, with a warning", () => {
      const warnings: Warning[] = [];
      const body = getWire("gemini").encodeResponse(whole, asked, { warn: (warning) => warnings.push(warning) });
      expect(JSON.stringify(body)).not.toContain("reference");
      expect(warnings.map(({ message }) => message)).toContain("part (reference) of openai-chat has no place in gemini and was left out");
    });
  });
  test("Databricks' thinking is read", () => {
    const content = [
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm.", signature: "s" }] },
      { type: "text", text: "4" },
    ];
    const answer = openaiChat.decodeResponse({ choices: [{ message: { role: "assistant", content } }] });
    expect(openaiChat.encodeResponse(answer, asked)).toMatchObject({ choices: [{ message: { content: "4", reasoning_content: "Hm." } }] });
  });
  test("TGI's single call, which is not in a list, is read", () => {
    const piece = (name: string | null, args: string) =>
      delta({ tool_calls: { index: 0, id: "", type: "function", function: { name, arguments: args } } });
    const { content, finish } = collect(decode([said(piece("f", ""), piece(null, '{"a":1}'), delta({}, "eos_token"))]));
    expect(content).toMatchObject([{ type: "tool-call", name: "f", arguments: { a: 1 } }]);
    expect(finish).toMatchObject({ reason: "tool-calls" });
  });
  test.each<[string, object, string, string]>([
    ["vLLM, older form", { object: "error", message: "boom", type: "BadRequestError", param: null, code: 400 }, "bad-request", "boom"],
    ["TensorRT-LLM", { object: "error", message: "boom", type: "internal_error", param: null, code: 500 }, "upstream", "boom"],
    ["Cerebras", { message: "High traffic", type: "too_many_requests_error", code: "queue_exceeded" }, "rate-limit", "High traffic"],
    ["Z.ai", { code: "1302", message: "High concurrency" }, "upstream", "High concurrency"],
    [
      "MiniMax",
      { choices: null, base_resp: { status_code: 1008, status_msg: "insufficient balance" } },
      "permission",
      "insufficient balance",
    ],
    ["MiniMax", { choices: null, base_resp: { status_code: 2049, status_msg: "invalid api key" } }, "auth", "invalid api key"],
  ])("%s: an error without the name `error` ends the answer, streamed or whole", (_, error, code, message) => {
    const failed = { reason: "error", error: { code, message } };
    expect(decode([`${said(delta({ content: "Hi" }), error)}data: [DONE]\n\n`]).at(-1)).toMatchObject(failed);
    expect(openaiChat.decodeResponse(error).finish).toMatchObject(failed);
  });
  test.each([
    { message: "you are next" },
    { type: "info", message: "still loading" },
    { code: 0, message: "ok" },
    { code: "200", message: "ok" },
  ])("%j is a notice, not an error", (note) => {
    const { content, finish } = collect(decode([said(note, delta({ content: "Hi" }), note, delta({}, "stop"))]));
    expect(content).toEqual([{ type: "text", text: "Hi" }]);
    expect(finish).toEqual({ reason: "stop", native: "stop" });
  });
  test("calls in a choice of their own (LiteLLM, Copilot) belong to the same answer", () => {
    const call = (id: string) => ({ index: 0, id, type: "function", function: { name: "f", arguments: '{"a":1}' } });
    const choices = [
      { index: 0, message: { role: "assistant", content: "Let me see." }, finish_reason: "stop" },
      { index: 1, message: { role: "assistant", content: null, tool_calls: [call("1")] }, finish_reason: "tool_calls" },
      { index: 2, message: { role: "assistant", content: null, tool_calls: [call("2")] }, finish_reason: "tool_calls" },
      { index: 3, message: { role: "assistant", content: "Something else." }, finish_reason: "stop" },
    ];
    const { content, finish } = openaiChat.decodeResponse({ id: "x", object: "chat.completion", model: "m", choices });
    expect(content).toMatchObject([
      { type: "text", text: "Let me see." },
      { type: "tool-call", id: "1", arguments: { a: 1 } },
      { type: "tool-call", id: "2", arguments: { a: 1 } },
    ]);
    expect(finish).toEqual({ reason: "tool-calls", native: "tool_calls" });
  });
  test("also in a stream (OpenRouter), with their finish reason", () => {
    const calling = (arguments_: string, finish_reason: string | null = null) => ({
      id: "x",
      choices: [{ index: 1, delta: { content: null, tool_calls: [{ index: 0, function: { arguments: arguments_ } }] }, finish_reason }],
    });
    const named = { index: 0, id: "1", type: "function", function: { name: "f", arguments: '{"a"' } };
    const begun = { id: "x", choices: [{ index: 1, delta: { role: "assistant", tool_calls: [named] }, finish_reason: null }] };
    const other = { id: "x", choices: [{ index: 2, delta: { content: "Something else." }, finish_reason: "stop" }] };
    const end = (finish_reason: string) => ({ id: "x", choices: [{ index: 1, delta: {}, finish_reason }] });
    const text = { type: "text", text: "Let me see." };
    const whole = collect(decode([said(delta({ content: "Let me see." }), other, begun, calling(":1}"), end("tool_calls"))]));
    expect(whole).toMatchObject({ content: [text, { id: "1", name: "f", arguments: { a: 1 } }], finish: { reason: "tool-calls" } });
    const cut = collect(decode([said(delta({ content: "Let me see." }), begun, calling(":1"), end("length"))]));
    expect(cut).toMatchObject({ content: [text, { id: "1", truncated: true }], finish: { reason: "length" } });
  });
  test("a server that numbers its only choice 1 is read", () => {
    const chunk = (content: string) => ({ id: "x", choices: [{ index: 1, delta: { content }, finish_reason: null }] });
    expect(collect(decode([said(chunk("Hi"), chunk(" there"))])).content).toEqual([{ type: "text", text: "Hi there" }]);
  });
  test("a MiniMax status without an error is ignored", () => {
    const fine = { base_resp: { status_code: 0, status_msg: "" } };
    expect(decode([said({ ...delta({ content: "Hi" }, "stop"), ...fine })]).at(-1)).toEqual({
      type: "finish",
      reason: "stop",
      native: "stop",
    });
  });
  test("an empty delta beside the message of a whole answer (Perplexity) is ignored", () => {
    const choice = {
      index: 0,
      message: { role: "assistant", content: "Oslo" },
      delta: { role: "assistant", content: "" },
      finish_reason: "stop",
    };
    const answer = openaiChat.decodeResponse({ id: "x", object: "chat.completion", model: "m", choices: [choice] });
    expect(answer.content).toEqual([{ type: "text", text: "Oslo" }]);
    expect(openaiChat.encodeResponse(answer, asked)).toMatchObject({ choices: [{ message: { content: "Oslo" } }] });
  });
  test("Azure's first chunk about the prompt, before the answer has an id, does not start the answer", () => {
    const early = { id: "", object: "", created: 0, model: "", choices: [], prompt_filter_results: [{ prompt_index: 0 }] };
    const named = (chunk: object) => ({ id: "chatcmpl-7", object: "chat.completion.chunk", created: 1, model: "gpt-9", ...chunk });
    const events = decode([said(early, named(delta({ role: "assistant", content: "Hi" })), named(delta({}, "stop")))]);
    expect(events[0]).toEqual({ type: "start", id: "chatcmpl-7", model: "gpt-9" });
    const chunks = chunksOf(encode(events));
    expect(new Set(chunks.map(({ id, model }) => `${id} ${model}`))).toEqual(new Set(["chatcmpl-7 gpt-9"]));
    expect(chunks.filter((chunk) => chunk.prompt_filter_results)).toHaveLength(1);
  });
  test("thinking that completion_tokens does not include is added to the output", () => {
    const usage = { prompt_tokens: 61, completion_tokens: 10, total_tokens: 71, completion_tokens_details: { reasoning_tokens: 96 } };
    const counts = decode([said(delta({ content: "Hi" }, "stop"), { choices: [], usage })]).find(({ type }) => type === "usage");
    expect(counts).toEqual({ type: "usage", inputTokens: 61, outputTokens: 106, thinkingTokens: 96 });
  });
  test("details of thinking right before a stream breaks off are not lost", () => {
    const details = [{ type: "reasoning.text", text: "Hm", index: 0 }];
    const encoder = openaiChat.createStreamEncoder(asked, at);
    const decoder = openaiChat.createStreamDecoder(NO_CONTEXT);
    const broken = decoder.feed(said(delta({ reasoning_details: details })));
    const [extension] = broken.filter(({ type }) => type === "extension");
    expect(chunksOf(encoder.encode(extension!) + encoder.end())).toMatchObject([
      { choices: [{ delta: { reasoning_details: details } }] },
      { error: {} },
    ]);
  });
  test("a whole answer sent as a stream has the details of its thinking beside the text, since clients read one of the two", () => {
    const details = [{ type: "reasoning.text", text: "Hm", index: 0 }];
    const message = { role: "assistant", content: "Hi", reasoning: "Hm", reasoning_details: details };
    const usage = { prompt_tokens: 1, completion_tokens: 2, cost: 3 };
    const whole = { id: "a", model: "m", choices: [{ index: 0, message, finish_reason: "stop" }], usage };
    const deltas = chunksOf(encode([...eventsOf(openaiChat.decodeResponse(whole, NO_CONTEXT))])).map(({ choices }) => choices[0]?.delta);
    const thinking = deltas.filter((delta) => delta?.reasoning || delta?.reasoning_details);
    expect(thinking).toMatchObject([{ reasoning: "Hm", reasoning_details: details }]);
  });
  test("content that is an object, as Cloudflare sends JSON output, becomes text", () => {
    const answer = { choices: [{ index: 0, message: { role: "assistant", content: { name: "Ada", age: 36 } }, finish_reason: "stop" }] };
    const text = '{"name":"Ada","age":36}';
    expect(openaiChat.decodeResponse(answer, NO_CONTEXT).content).toEqual([{ type: "text", text }]);
  });
  test.each([
    ["length", "length"],
    ["content_filter", "content-filter"],
  ])("a call that was cut by %s is never complete, in a stream or a whole answer", (finish_reason, reason) => {
    const custom = { index: 0, id: "1", type: "custom", custom: { name: "f", input: "*** half" } };
    const plain = { index: 0, id: "1", type: "function", function: { name: "f", arguments: '{"a": "The' } };
    for (const cut of [custom, plain]) {
      const events = decode([said(delta({ tool_calls: [cut] })), said(delta({}, finish_reason))]);
      const message = { role: "assistant", content: null, tool_calls: [cut] };
      for (const answer of [collect(events), openaiChat.decodeResponse({ choices: [{ index: 0, message, finish_reason }] })])
        expect(answer).toMatchObject({ content: [{ truncated: true }], finish: { reason } });
    }
  });
  test.each(["length", "max_output_tokens", "MAX_TOKENS"])(
    "OpenRouter's finish reason tool_calls for a truncated call, with %s beside it, is read as truncated",
    (native) => {
      const cut = { ...call, function: { name: "f", arguments: '{"a": "The' } };
      const [choice] = delta({ tool_calls: [cut] }, "tool_calls").choices;
      const events = decode([said({ choices: [{ ...choice, native_finish_reason: native }] })]);
      expect(events.filter(({ type }) => /end|finish/.test(type))).toMatchObject([
        { type: "tool-end", truncated: true },
        { type: "finish", reason: "length" },
      ]);
      const message = { role: "assistant", content: null, tool_calls: [cut] };
      const answer = { choices: [{ index: 0, message, finish_reason: "tool_calls", native_finish_reason: native }] };
      expect(openaiChat.decodeResponse(answer)).toMatchObject({ content: [{ truncated: true }], finish: { reason: "length" } });
    },
  );
});
