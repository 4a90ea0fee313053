import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { ErrorCode, Event, Json, JsonObject, Request, Response, ToolCall, Warning } from "../../src/core/nouns.ts";
import { ollama } from "../../src/wires/ollama.ts";
import { printBody } from "../../src/wires/raw.ts";
import { valuesOf } from "../../src/wires/spans.ts";
import { merged } from "../events.ts";
import { complaintOf } from "./helpers.ts";
import { validateRequest, validateStream } from "./validators.ts";

const fixtures = new URL("../fixtures/ollama/", import.meta.url);
const fixture = (name: string): string => readFileSync(new URL(name, fixtures), "utf8");
const named = (pattern: RegExp): string[] => readdirSync(fixtures).filter((name) => pattern.test(name));

const decode = (body: unknown, path = "/api/chat"): Request => ollama.decodeRequest({ path, query: {}, headers: {}, body });
const user = { role: "user", content: "Hi" };
const asking = (fields: object): Request => decode({ model: "m", messages: [user], ...fields });
const hearing = (...messages: object[]): Request["messages"] => decode({ model: "m", messages: [user, ...messages] }).messages.slice(1);
const encode = (request: Partial<Request>, profile = {}) => {
  const full: Request = { model: "m", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }], ...request };
  const { body, context, path } = ollama.encodeRequest(full, profile);
  return {
    body: JSON.parse(printBody(body)) as JsonObject & { messages: JsonObject[] },
    warnings: context.warnings.map(({ message }) => message),
    path,
  };
};
const again = (request: Request): Request => {
  const { path, body } = ollama.encodeRequest(request);
  return decode(printBody(body), path);
};

/** Without the JSON text of arguments, which exists only if the body was text. */
const bare = (request: Request): unknown =>
  JSON.parse(JSON.stringify(request, (key, value: unknown) => (key === "json" || key === "from" ? undefined : value)));

const complaint = (body: unknown): string => complaintOf(decode, body);

const call = (name: string, args: JsonObject, id = "call_0"): ToolCall => ({ type: "tool-call", id, name, arguments: args });
const time = { type: "function", function: { name: "get_time", description: "The time", parameters: { type: "object", properties: {} } } };
const at = new Date("2026-01-02T03:04:05.678Z");

// ---- Requests

describe("what real clients send", () => {
  const posts = named(/^request-/).flatMap((name) => {
    const { path, body } = JSON.parse(fixture(name)) as { path: string; body?: JsonObject };
    return body && /chat|generate/.test(path) ? [{ name, path, body }] : [];
  });
  test("there are enough captures", () => expect(posts.length).toBeGreaterThanOrEqual(15));

  test.each(posts)("$name decodes without a warning, and is sent on unchanged", ({ path, body }) => {
    const request = decode(body, path);
    expect(request.warnings).toBeUndefined();
    const sent = ollama.encodeRequest(request);
    expect(sent.context.warnings).toEqual([]);
    expect(sent.path).toBe(path);
    expect(sent.body).toMatchObject(body);
    expect(bare(again(request))).toEqual(bare(request));
  });
  test.each(posts.filter(({ name }) => !name.includes("raw")))("$name is sent on as a valid request", ({ path, body }) => {
    expect(validateRequest("ollama", body)).toEqual([]);
    expect(validateRequest("ollama", ollama.encodeRequest(decode(body, path)).body)).toEqual([]);
  });
});

describe("messages", () => {
  test("roles are read in any case", () => {
    const messages = ["system", "User", "ASSISTANT"].map((role) => ({ role, content: role }));
    expect(decode({ model: "m", messages }).messages).toEqual(
      messages.map(({ role, content }) => ({ role: role.toLowerCase(), content: [{ type: "text", text: content }] })),
    );
  });
  test("images are bytes, whose first ones tell the type", () => {
    const images = [
      "iVBORw0KGgoAAAAN",
      "/9j/4AAQSkZJRg==",
      "R0lGODlhAQABAAAA",
      "UklGRiQAAABXRUJQVlA4",
      "UklGRiQAAABXQVZFZm10",
      "SUQzBAAAAAAA",
      "AAAA",
    ];
    const [message] = hearing({ role: "user", content: "Look", images });
    const types = ["image/png", "image/jpeg", "image/gif", "image/webp", "audio/wav", "audio/mpeg", "image/*"];
    expect(message).toEqual({
      role: "user",
      content: [...types.map((mediaType, i) => ({ type: "media", mediaType, data: images[i] })), { type: "text", text: "Look" }],
    });
  });
  test("an image given as a data: URL is understood", () => {
    const [message] = hearing({ role: "user", content: "", images: ["data:image/webp;base64,AAAA"] });
    expect(message).toEqual({ role: "user", content: [{ type: "media", mediaType: "image/webp", data: "AAAA" }] });
    expect(encode({ messages: [message!] }).body.messages[0]).toEqual({ role: "user", content: "", images: ["AAAA"] });
  });
  test("thinking comes before the text, calls after it", () => {
    const fn = { name: "f", arguments: { a: 1 } };
    const [message] = hearing({ role: "assistant", content: "yes", thinking: "hm", tool_calls: [{ id: "c", function: fn }] });
    expect(message).toEqual({
      role: "assistant",
      content: [{ type: "thinking", text: "hm" }, { type: "text", text: "yes" }, call("f", { a: 1 }, "c")],
    });
  });
  test("calls without ids get some, and results find them by name, then by order", () => {
    const calls = ["a", "b", "a"].map((name) => ({ function: { name, arguments: {} } }));
    const results = ["b", "a", "a"].map((tool_name) => ({ role: "tool", tool_name, content: tool_name }));
    const [, ...answers] = hearing({ role: "assistant", tool_calls: calls }, ...results);
    expect(answers.map((answer) => answer.role === "tool" && [answer.id, answer.name])).toEqual([
      ["call_1", "b"],
      ["call_0", "a"],
      ["call_2", "a"],
    ]);
  });
  test("a tool message that answers no call continues the result before it, since strands sends one message for each part of a result", () => {
    const calls = ["f", "g"].map((name) => ({ function: { name, arguments: {} } }));
    const image = { role: "tool", images: ["iVBORw0KGgo"] };
    const [, ...answers] = hearing(
      { role: "assistant", tool_calls: calls },
      ...[{ role: "tool", content: "of f" }, image, { role: "tool", content: "of g" }, { role: "tool", content: "more" }, image],
    );
    const media = [{ type: "media", mediaType: "image/png", data: "iVBORw0KGgo" }];
    expect(answers).toEqual([
      { role: "tool", id: "call_0", name: "f", output: "of f", media },
      { role: "tool", id: "call_1", name: "g", output: "of g\nmore", media },
    ]);
    expect(hearing({ role: "tool", content: "?" })).toMatchObject([{ role: "tool", output: "?" }]);
  });
  test("results with ids may come in any order", () => {
    const calls = ["c1", "c2"].map((id) => ({ id, function: { name: "f", arguments: {} } }));
    const results = ["c2", "c1"].map((id) => ({ role: "tool", tool_call_id: id, content: id }));
    const [, ...answers] = hearing({ role: "assistant", content: "", tool_calls: calls }, ...results);
    expect(answers).toEqual(["c2", "c1"].map((id) => ({ role: "tool", id, name: "f", output: id })));
  });
  test("arguments given as text are read, and unreadable ones are kept as malformed", () => {
    const calls = ['{"a": 1.0}', "", "{a"].map((args) => ({ function: { name: "f", arguments: args } }));
    const [message] = hearing({ role: "assistant", content: "", tool_calls: calls });
    expect(message).toMatchObject({
      content: [
        { type: "tool-call", arguments: { a: 1 }, json: '{"a": 1.0}' },
        { type: "tool-call", arguments: {} },
        { type: "malformed", code: "bad-arguments", id: "call_2" },
      ],
    });
  });
  test("a request without messages, which loads the model, is not refused", () => {
    expect(decode({ model: "m" }).messages).toEqual([]);
    expect(decode({ model: "m", prompt: "" }, "/api/generate").messages).toEqual([]);
  });
});

describe("settings", () => {
  test("it streams by default", () => {
    expect(asking({}).stream).toBe("ndjson");
    expect(asking({ stream: true }).stream).toBe("ndjson");
    expect(asking({ stream: false }).stream).toBe(false);
    expect(encode({}).body.stream).toBe(false);
    expect(encode({ stream: "sse" }).body.stream).toBe(true);
  });
  test.each([
    [true, { enabled: true }],
    [false, { enabled: false }],
    ["low", { effort: "low" }],
    ["medium", { effort: "medium" }],
    ["high", { effort: "high" }],
    ["max", { effort: "max" }],
  ] as const)("think: %j, both ways", (think, thinking) => {
    expect(asking({ think }).thinking).toEqual(thinking);
    expect(encode({ thinking }).body.think).toBe(think);
  });
  test("a wish that earlier thinking is not kept is reported as dropped", () => {
    expect(encode({ thinking: { keep: false } }).warnings).toEqual(["thinking.keep has no place in ollama and was left out"]);
    expect(encode({ thinking: { keep: true } }).warnings).toEqual([]);
  });
  test("the effort minimal becomes low, and a thinking budget is reported as dropped", () => {
    expect(encode({ thinking: { effort: "minimal" } })).toMatchObject({
      body: { think: "low" },
      warnings: ["the effort minimal was sent as low"],
    });
    expect(encode({ thinking: { enabled: true, budget: 2048 } })).toMatchObject({
      body: { think: true },
      warnings: ["thinking.budget has no place in ollama and was left out"],
    });
  });
  test("format is `json` or a schema, both ways", () => {
    const schema = { type: "object", properties: { a: { const: 1 } }, $defs: {} };
    expect(asking({ format: "json" }).output).toEqual({});
    expect(asking({ format: schema }).output).toEqual({ schema });
    expect(asking({ format: "" }).output).toBeUndefined();
    expect(encode({ output: {} }).body.format).toBe("json");
    expect(encode({ output: { schema, name: "x", strict: true } }).body.format).toEqual(schema);
  });
  test("options become sampling, limits and stops; other options are carried along", () => {
    const options = { temperature: 0.5, top_k: 40, num_predict: 9, stop: "END", num_ctx: 8192, num_gpu: 1 };
    const request = asking({ options });
    expect(request).toMatchObject({ sampling: { temperature: 0.5, topK: 40 }, maxTokens: 9, stop: ["END"] });
    expect(request.extra).toEqual([{ wire: "ollama", kind: "options", data: { num_ctx: 8192, num_gpu: 1 }, part: true }]);
    expect(encode(request).body.options).toEqual({ ...options, stop: ["END"] });
  });
  test("num_predict below 1 is no limit, and is kept", () => {
    for (const num_predict of [-1, -2, 0]) {
      const request = asking({ options: { num_predict, num_ctx: 8192 } });
      expect(request.maxTokens).toBeUndefined();
      expect(encode(request).body.options).toEqual({ num_predict, num_ctx: 8192 });
      expect(request.extra).toContainEqual({ wire: "ollama", kind: "options.num_predict", data: num_predict, quiet: true });
    }
  });
  test("keep_alive is carried for Ollama only, without a warning elsewhere", () => {
    expect(asking({ keep_alive: "5m", truncate: false }).extra).toEqual([
      { wire: "ollama", kind: "keep_alive", data: "5m", quiet: true },
      { wire: "ollama", kind: "truncate", data: false, quiet: true },
    ]);
  });
});

describe("a request to /api/generate", () => {
  test("becomes a user message, with the system text before it", () => {
    const request = decode({ model: "m", prompt: "Hi", system: "Be brief.", images: ["AAAA"] }, "/api/generate");
    expect(request.messages).toEqual([
      { role: "system", content: [{ type: "text", text: "Be brief." }] },
      {
        role: "user",
        content: [
          { type: "media", mediaType: "image/*", data: "AAAA" },
          { type: "text", text: "Hi" },
        ],
      },
    ]);
  });
  test("becomes a chat once the conversation is longer", () => {
    const request = decode({ model: "m", prompt: "Hi" }, "/api/generate");
    const longer = encode({ ...request, messages: [...request.messages, { role: "assistant", content: [] }] });
    expect(longer.path).toBe("/api/chat");
    expect(longer.body).not.toHaveProperty("prompt");
  });
  test("is answered in its own shape", () => {
    const request = decode({ model: "m", prompt: "Hi" }, "/api/generate");
    const encoder = ollama.createStreamEncoder(request, { now: () => at });
    const lines = [{ type: "text", text: "Ho" } as const, { type: "finish", reason: "stop" } as const].map((event) =>
      encoder.encode(event),
    );
    expect(JSON.parse(lines[0]!)).toEqual({ model: "m", created_at: at.toISOString(), response: "Ho", done: false });
    expect(JSON.parse(lines[1]!)).toMatchObject({ response: "", done: true, done_reason: "stop" });
    expect(validateStream("ollama", lines.join(""))).toEqual([]);
    expect(ollama.encodeResponse({ content: [{ type: "text", text: "Ho" }] }, request)).toMatchObject({ response: "Ho", done: true });
  });
});

describe("tools", () => {
  test("are read with a wrapper or without", () => {
    expect(asking({ tools: [time, time.function] }).tools).toEqual([time.function, time.function]);
  });
  test("of a type that only Ollama's server knows are left out, with a warning", () => {
    const request = asking({ tools: [{ type: "web_search" }, time] });
    expect(request.tools).toHaveLength(1);
    expect(request.warnings?.[0]?.message).toContain("web_search");
    expect(encode(request).body.tools).toEqual([{ type: "web_search" }, time]);
  });
  test("without parameters accept none", () => {
    expect(encode({ tools: [{ name: "f" }] }).body.tools).toEqual([
      { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } },
    ]);
  });
  test("contain no keyword that the server drops", () => {
    const parameters: JsonObject = {
      type: "object",
      properties: { a: { $ref: "#/$defs/a" }, b: { const: 1 }, c: { oneOf: [{ type: "string" }, { type: "null" }] }, d: true },
      $defs: { a: { type: "string" } },
    };
    const { body } = encode({ tools: [{ name: "f", parameters }] });
    expect(validateRequest("ollama", body)).toEqual([]);
    expect(body.tools).toMatchObject([
      {
        function: {
          parameters: {
            properties: { a: { type: "string" }, b: { enum: [1] }, c: { anyOf: [{ type: "string" }, { type: "null" }] }, d: {} },
          },
        },
      },
    ]);
  });
  test("of kind custom become functions with one string", () => {
    const { body } = encode({ tools: [{ name: "patch", kind: "custom", description: "Patches" }] });
    expect(body.tools).toMatchObject([{ function: { name: "patch", parameters: { properties: { input: { type: "string" } } } } }]);
  });

  const tools = [{ name: "f" }, { name: "g" }];
  const offered = (toolChoice: Request["toolChoice"]) => {
    const { body, warnings } = encode({ tools, ...(toolChoice ? { toolChoice } : {}) });
    return { names: ((body.tools ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name), warnings };
  };
  test("a tool choice is enforced as far as possible, and never pretended", () => {
    const cannot = ["ollama cannot be made to call a tool: it may answer in words"];
    expect(offered("auto")).toEqual({ names: ["f", "g"], warnings: [] });
    expect(offered("none")).toEqual({ names: [], warnings: [] });
    expect(offered({ allowed: ["g"] })).toEqual({ names: ["g"], warnings: [] });
    expect(offered("required")).toEqual({ names: ["f", "g"], warnings: cannot });
    expect(offered({ name: "f" })).toEqual({ names: ["f"], warnings: cannot });
    expect(offered({ allowed: ["f"], required: true })).toEqual({ names: ["f"], warnings: cannot });
  });
  test("a limit to one call at a time is reported as dropped", () => {
    expect(encode({ tools, parallelCalls: false }).warnings).toEqual([
      "the wish for one call at a time has no place in ollama and was left out",
    ]);
  });
  test("that are deferred are not offered until referred to", () => {
    const { body, warnings } = encode({ tools: [{ name: "f" }, { name: "late", deferred: true }] });
    expect(body.tools).toHaveLength(1);
    expect(warnings).toEqual(["a deferred tool that nobody asked for has no place in ollama and was left out"]);
  });
});

describe("requests from other wires", () => {
  const sent = (messages: Request["messages"], profile = {}) => {
    const { body, warnings } = encode({ messages }, profile);
    return { messages: body.messages, warnings };
  };
  test("a developer message becomes a system message", () => {
    expect(
      sent([
        {
          role: "developer",
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
        },
      ]).messages,
    ).toEqual([{ role: "system", content: "a\n\nb" }]);
  });
  test("a system text in the middle of a conversation stays, or becomes labelled user text if the server needs that", () => {
    const messages: Request["messages"] = (["system", "user", "system"] as const).map((role) => ({
      role,
      content: [{ type: "text", text: role }],
    }));
    expect(sent(messages).messages.map(({ role }) => role)).toEqual(["system", "user", "system"]);
    const { messages: moved, warnings } = sent(messages, { systemAnywhere: false });
    expect(moved.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(moved[1]?.content).toBe("user\n\n<system>\nsystem\n</system>");
    expect(warnings).toHaveLength(1);
  });
  test("a result that is not text becomes JSON text, and a failed one says so", () => {
    const { messages, warnings } = sent([
      { role: "assistant", content: [call("f", {}, "a"), call("f", {}, "b")] },
      { role: "tool", id: "a", name: "f", output: { n: 1 } },
      { role: "tool", id: "b", name: "f", output: "no such file", isError: true },
    ]);
    expect(messages.slice(1).map(({ content }) => content)).toEqual(['{"n":1}', "Error: no such file"]);
    expect(warnings).toHaveLength(2);
  });
  test("images of a tool result stay with it", () => {
    const media = [{ type: "media" as const, mediaType: "image/png", data: "AAAA" }];
    const { messages, warnings } = sent([
      { role: "assistant", content: [call("shot", {}, "a")] },
      { role: "tool", id: "a", name: "shot", output: "", media },
    ]);
    expect(messages[1]).toEqual({ role: "tool", content: "", tool_name: "shot", tool_call_id: "a", images: ["AAAA"] });
    expect(warnings).toEqual([]);
  });
  test("media without bytes, and documents, become labels", () => {
    const content = [
      { type: "media" as const, mediaType: "image/png", url: "https://example.com/a.png" },
      { type: "media" as const, mediaType: "application/pdf", data: "AAAA" },
    ];
    expect(sent([{ role: "user", content }])).toEqual({
      messages: [{ role: "user", content: "[image/png https://example.com/a.png]\n\n[application/pdf]" }],
      warnings: ["media of the type image/png was sent as a label", "media of the type application/pdf was sent as a label"],
    });
  });
  test("another provider's state is dropped with a warning, cache marks without one", () => {
    const state = (kind: string, quiet?: true) => [{ wire: "anthropic" as const, kind, data: "x", ...(quiet ? { quiet } : {}) }];
    const { warnings } = sent([
      { role: "user", content: [{ type: "text", text: "Hi", state: state("cache_control", true) }] },
      { role: "assistant", content: [{ type: "thinking", text: "hm", state: state("signature") }] },
    ]);
    expect(warnings).toEqual(["signature of anthropic has no place in ollama and was left out"]);
  });
  test("a truncated call is left out, and an unreadable one becomes text", () => {
    const { messages, warnings } = sent([
      {
        role: "assistant",
        content: [
          { ...call("f", { a: 1 }, "a"), truncated: true },
          { type: "malformed", raw: '{"name":"g","arguments":"{x"}', code: "bad-arguments", reason: "", id: "b" },
          { type: "malformed", raw: "<call>", code: "no-name", reason: "" },
        ],
      },
      { role: "tool", id: "b", name: "g", output: "unreadable" },
    ]);
    expect(messages[0]?.tool_calls).toEqual([{ id: "b", function: { index: 0, name: "g", arguments: { unreadable: "{x" } } }]);
    expect(messages[0]?.content).toContain("<call>");
    expect(warnings).toHaveLength(4); // also checks that the text comes before the call
  });
  test("call arguments keep their exact bytes", () => {
    const json = '{"z": 1.0,"1":9007199254740993}';
    const message = { role: "assistant" as const, content: [{ ...call("f", JSON.parse(json) as JsonObject), json }] };
    expect(printBody(ollama.encodeRequest({ model: "m", messages: [message] }).body)).toContain(json);
  });
});

describe("round trips", () => {
  test("unknown fields survive at every level", () => {
    const body = {
      model: "m",
      messages: [
        { role: "user", content: "Hi", "x-message": 1 },
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "a", "x-call": 2, function: { index: 0, name: "f", arguments: {}, "x-fn": 3 } }],
        },
        { role: "tool", content: "ok", tool_name: "f", tool_call_id: "a", "x-result": 4 },
      ],
      tools: [
        {
          type: "function",
          "x-tool": 5,
          function: { name: "f", parameters: { type: "object", properties: {}, "x-schema": 6 }, "x-def": 7 },
        },
      ],
      stream: true,
      options: { temperature: 1, "x-option": 8 },
      "x-root": { deep: [9] },
    };
    const request = decode(body);
    expect(ollama.encodeRequest(request).body).toEqual(body);
    expect(bare(again(request))).toEqual(bare(request));
  });

  const word = fc.string({ minLength: 1, maxLength: 8 });
  const json = fc.dictionary(
    word.filter((key) => key !== "__proto__"),
    fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null)),
    { maxKeys: 3 },
  );
  const textPart = word.map((text) => ({ type: "text" as const, text }));
  const image = fc.constant({ type: "media" as const, mediaType: "image/png", data: "iVBORw0KGgo=" });
  const said = fc
    .record({ media: fc.array(image, { maxLength: 1 }), text: fc.array(textPart, { maxLength: 1 }) })
    .map(({ media, text }) => [...media, ...text]);
  const talk = fc.record({ role: fc.constantFrom("system" as const, "user" as const), content: said });
  const round = fc
    .record({
      thinking: fc.array(word, { maxLength: 1 }),
      text: fc.array(textPart, { maxLength: 1 }),
      calls: fc.array(fc.tuple(word, json, word), { maxLength: 3 }),
    })
    .map(({ thinking, text, calls }) => (round: number) => {
      const made = calls.map(([name, args], i) => call(name, args as JsonObject, `call_${round}_${i}`));
      const results = made.map(({ id, name }, i) => ({ role: "tool" as const, id, name, output: calls[i]?.[2] ?? "" }));
      return [
        { role: "assistant" as const, content: [...thinking.map((text) => ({ type: "thinking" as const, text })), ...text, ...made] },
        ...results,
      ];
    });
  const requests: fc.Arbitrary<Request> = fc
    .record(
      {
        model: word,
        messages: fc
          .array(
            fc.oneof(
              talk.map((message) => () => [message]),
              round,
            ),
            { maxLength: 4 },
          )
          .map((rounds) => rounds.flatMap((messages, n): Request["messages"] => messages(n))),
        stream: fc.constantFrom(false as const, "ndjson" as const),
        tools: fc.array(
          fc.record(
            { name: word, description: word, parameters: json.map((extra) => ({ properties: {}, ...extra, type: "object" })) },
            { requiredKeys: ["name", "parameters"] },
          ),
          { minLength: 1, maxLength: 2 },
        ),
        thinking: fc.oneof(
          fc.boolean().map((enabled) => ({ enabled })),
          fc.constantFrom("low" as const, "max" as const).map((effort) => ({ effort })),
        ),
        sampling: fc.record(
          { temperature: fc.double({ min: 0, max: 2, noNaN: true }), topK: fc.integer({ min: 1 }), seed: fc.integer() },
          { requiredKeys: ["seed"] },
        ),
        maxTokens: fc.integer({ min: 1 }),
        stop: fc.array(word, { minLength: 1, maxLength: 2 }),
        output: fc.oneof(
          fc.constant({}),
          json.map((schema) => ({ schema })),
        ),
      },
      { requiredKeys: ["model", "messages", "stream"] },
    )
    .map((request) => JSON.parse(JSON.stringify(request)) as Request);

  test("any request comes back unchanged", () => {
    fc.assert(fc.property(requests, (request) => void expect(bare(again(request))).toEqual(bare(request))));
  });
  test("call arguments keep their exact bytes if the body is text, whatever else is called arguments", () => {
    const made = ['{"z": 1.0,"2":1,"1":2}', "{}", '{"arguments":{"a":9007199254740993}}'];
    const calls = made.map((json) => `{"function":{"name":"f","arguments":${json}}}`).join();
    const tools = '[{"function":{"name":"f","parameters":{"type":"object","properties":{"arguments":{"type":"object"}}}}}]';
    const request = decode(
      `{"tools":${tools},"model":"m","messages":[{"role":"assistant","content":"\\"arguments\\": {}","tool_calls":[${calls}]}]}`,
    );
    expect(request.messages[0]).toMatchObject({
      content: [{}, ...made.map((json) => ({ type: "tool-call", ...(json === "{}" ? {} : { json }) }))],
    });
    expect(printBody(ollama.encodeRequest(request).body)).toContain(made[2]);
  });
  test("decoding twice gives the same request", () => {
    const body = {
      model: "m",
      messages: [user, { role: "assistant", tool_calls: [{ function: { name: "f", arguments: {} } }] }, { role: "tool", content: "1" }],
    };
    expect(bare(again(decode(body)))).toEqual(bare(decode(body)));
  });
});

describe("a request that cannot be read is refused, with the place of the fault", () => {
  test.each([
    [{}, "model must be a string"],
    [{ model: "m", messages: "Hi" }, "messages must be a list"],
    [{ model: "m", messages: [{ content: "Hi" }] }, "messages[0].role must be one of system"],
    [{ model: "m", messages: [{ role: "user", content: 1 }] }, "messages[0].content must be a string"],
    [{ model: "m", messages: [{ role: "user", content: "", images: [1] }] }, "messages[0].images[0] must be"],
    [{ model: "m", messages: [{ role: "assistant", tool_calls: [{ function: {} }] }] }, "messages[0].tool_calls[0].function.name must be"],
    [{ model: "m", messages: [user], think: "much" }, "think must be one of low, medium, high, max"],
    [{ model: "m", messages: [user], think: 1 }, "think must be true or false"],
    [{ model: "m", messages: [user], format: "xml" }, "format must be one of json"],
    [{ model: "m", messages: [user], options: { top_k: "many" } }, "options.top_k must be a number"],
    ["{", "the body is not JSON"],
  ])("%j", (body, message) => expect(complaint(body)).toContain(message));
});

// ---- Answers

const read = (text: string): Event[] => {
  const decoder = ollama.createStreamDecoder();
  return [...decoder.feed(text), ...decoder.flush()];
};
const calls = (response: Response): ToolCall[] => response.content.filter((part) => part.type === "tool-call");
describe("answers read from servers' streams", () => {
  test("thinking, text and calls are read", () => {
    expect(merged(read(fixture("stream-thinking-and-calls.ndjson")))).toEqual([
      { type: "start", model: "qwen3" },
      { type: "thinking-start" },
      { type: "thinking-delta", text: "Two tools." },
      { type: "thinking-end" },
      { type: "text", text: "Looking." },
      { type: "tool-start", id: "call_a1", index: 0, name: "get_weather" },
      { type: "tool-delta", id: "call_a1", json: '{"city":"Oslo","unit":"celsius"}' },
      expect.objectContaining({ type: "tool-end", id: "call_a1", index: 0, arguments: { city: "Oslo", unit: "celsius" } }),
      { type: "tool-start", id: "call_b2", index: 1, name: "get_time" },
      { type: "tool-delta", id: "call_b2", json: '{"city":"Oslo"}' },
      expect.objectContaining({ type: "tool-end", id: "call_b2", index: 1, json: '{"city":"Oslo"}' }),
      {
        type: "extension",
        wire: "ollama",
        quiet: true,
        data: { total_duration: 4883583458, load_duration: 1334875, prompt_eval_duration: 342546000, eval_duration: 4535599000 },
      },
      { type: "usage", inputTokens: 26, outputTokens: 28 },
      { type: "finish", reason: "tool-calls", native: "stop" },
    ]);
  });
  test("calls that all have index 0 stay apart (ollama/ollama#15457)", () => {
    const made = calls(collect(read(fixture("stream-calls-all-index-0.ndjson"))));
    expect(made.map(({ name, arguments: args }) => [name, args])).toEqual([
      ["get_time", { city: "Oslo" }],
      ["get_time", { city: "Rome" }],
      ["now", {}],
      ["now", {}],
    ]);
    expect(new Set(made.map(({ id }) => id)).size).toBe(4);
  });
  test("doubled and blank ids are replaced", () => {
    const made = calls(collect(read(fixture("stream-calls-doubled-ids.ndjson"))));
    expect(made.map(({ arguments: args }) => args.city)).toEqual(["Oslo", "Rome", "Bern"]);
    expect(new Set(made.map(({ id }) => id)).size).toBe(3);
    expect(made[0]?.id).toBe("call_1");
  });
  test("an older server's call, without an id or a reason, is read", () => {
    const response = collect(read(fixture("stream-call-older-server.ndjson")));
    expect(calls(response)).toMatchObject([{ name: "get_time", arguments: { city: "Oslo" } }]);
    expect(response.finish).toEqual({ reason: "tool-calls" });
  });
  test("arguments as text, or null, are read", () => {
    const made = calls(collect(read(fixture("stream-call-arguments-as-text.ndjson"))));
    expect(made.map(({ arguments: args, json }) => [args, json])).toEqual([
      [{ city: "Oslo" }, '{"city": "Oslo"}'],
      [{}, "{}"],
    ]);
  });
  test("an unreadable call is reported, and is never a call", () => {
    const response = collect(read(fixture("stream-call-unreadable.ndjson")));
    expect(response.content).toMatchObject([{ type: "malformed", code: "bad-arguments" }]);
    expect(response.finish).toMatchObject({ reason: "error", error: { code: "malformed-call" } });
  });
  test("call arguments keep their exact bytes", () => {
    const json = '{"z": 1.0,"2":9007199254740993,"1":"\\u00e9 \\"arguments\\": 5","a":{"arguments":{"b":1e2}}}';
    expect(calls(collect(read(fixture("stream-numbers.ndjson")))).map((made) => made.json)).toEqual([json]);
  });
  test("a reached token limit finishes with length", () => {
    expect(collect(read(fixture("stream-length.ndjson"))).finish).toEqual({ reason: "length", native: "length" });
  });
  test("an error in the middle of a stream ends the answer, and what came before is kept", () => {
    const response = collect(read(fixture("stream-error.ndjson")));
    expect(response.content).toEqual([{ type: "text", text: "Yes" }]);
    expect(response.finish).toEqual({
      reason: "error",
      error: { code: "upstream", message: "an error was encountered while running the model" },
    });
  });
  test("a stream that breaks off is an error", () => {
    for (const text of [fixture("stream-cut-off.ndjson"), "", '{"model":"m","message":{"content":"a"},"done":false}\n', "<html>\n"]) {
      expect(collect(read(text)).finish).toMatchObject({ reason: "error", error: { code: "upstream" } });
    }
  });
  test.each(["stream-no-final-newline.ndjson", "stream-crlf-and-blank-lines.ndjson"])("%s is read", (name) => {
    expect(collect(read(fixture(name)))).toMatchObject({ content: [{ type: "text", text: "Yes" }], finish: { reason: "stop" } });
  });
  test("a /api/generate stream gives the same events", () => {
    expect(collect(read(fixture("stream-generate.ndjson")))).toMatchObject({
      content: [
        { type: "thinking", text: "Hm." },
        { type: "text", text: "Blue." },
      ],
      finish: { reason: "stop" },
    });
  });
  test("a whole answer gives the same parts", () => {
    for (const body of [fixture("answer-with-calls.json"), JSON.parse(fixture("answer-with-calls.json")) as unknown]) {
      const response = ollama.decodeResponse(body);
      expect(response).toMatchObject({ model: "qwen3", usage: { inputTokens: 26, outputTokens: 28 }, finish: { reason: "tool-calls" } });
      expect(response.content.map(({ type }) => type)).toEqual(["thinking", "text", "tool-call", "tool-call"]);
    }
  });
  test.each([{}, { detail: "Not Found" }])("a body that is not an answer is quoted in the error: %j", (body) => {
    const error = { code: "upstream", message: `the server sent an invalid answer: ${JSON.stringify(body)}` };
    expect(ollama.decodeResponse(body)).toEqual({ content: [], finish: { reason: "error", error } });
  });
  test("a model that was only loaded gives an empty answer", () => {
    const response = ollama.decodeResponse(fixture("answer-loaded.json"));
    expect(response).toEqual({ model: "qwen3", content: [], finish: { reason: "stop", native: "load" } });
    expect(ollama.encodeResponse(response, decode({ model: "qwen3", messages: [], keep_alive: -1 }))).toMatchObject({
      done: true,
      done_reason: "load",
    });
  });

  test.each(named(/^stream-/))("%s: cut anywhere, even inside a character, gives the same events", (name) => {
    const whole = merged(read(fixture(name)));
    const bytes = new TextEncoder().encode(fixture(name));
    for (let cut = 0; cut <= bytes.length; cut++) {
      const decoder = ollama.createStreamDecoder();
      const text = new TextDecoder();
      const events = [
        ...decoder.feed(text.decode(bytes.subarray(0, cut), { stream: true })),
        ...decoder.feed(text.decode(bytes.subarray(cut), { stream: true })),
        ...decoder.feed(text.decode()),
        ...decoder.flush(),
      ];
      expect(merged(events)).toEqual(whole);
    }
    const decoder = ollama.createStreamDecoder();
    expect(merged([...[...fixture(name)].flatMap((char) => decoder.feed(char)), ...decoder.flush()])).toEqual(whole);
  });

  test("nothing a server sends makes the decoder throw", () => {
    const odd = [
      "null",
      "1",
      "[]",
      "{}",
      '{"message":1}',
      '{"message":{"tool_calls":[1,{},{"function":null}],"content":2},"done":true}',
      '{"error":null}',
      '{"error":{}}',
    ];
    for (const text of odd) expect(read(`${text}\n`).at(-1)).toMatchObject({ type: "finish" });
    fc.assert(fc.property(fc.string(), (text) => void expect(read(text).filter(({ type }) => type === "finish")).toHaveLength(1)));
  });
});

// ---- Answers to clients

const request = asking({});
function write(events: readonly Event[], to = request): { text: string; lines: JsonObject[]; warnings: Warning[] } {
  const warnings: Warning[] = [];
  const encoder = ollama.createStreamEncoder(to, { now: () => at, warn: (warning) => warnings.push(warning) });
  const text = events.map((event) => encoder.encode(event)).join("") + encoder.end();
  return {
    text,
    warnings,
    lines: text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as JsonObject),
  };
}
const toolEvents = (name: string, json: string, index = 0, more: object = {}): Event[] => [
  { type: "tool-start", id: `call_${index}`, index, name },
  { type: "tool-delta", id: `call_${index}`, json },
  { type: "tool-end", id: `call_${index}`, index, name, arguments: JSON.parse(json) as JsonObject, json, ...more },
];

describe("streams written for clients", () => {
  test("each piece is a line, calls are whole, and the last line has the counts", () => {
    const { text, lines, warnings } = write([
      { type: "start", id: "1", model: "qwen3" },
      { type: "thinking-start" },
      { type: "thinking-delta", text: "hm" },
      { type: "thinking-end" },
      { type: "text", text: "Hi\u2028" },
      ...toolEvents("f", '{"a": 1.0}'),
      ...toolEvents("g", "{}", 1),
      { type: "usage", inputTokens: 3, outputTokens: 4, thinkingTokens: 1 },
      { type: "finish", reason: "tool-calls" },
    ]);
    const head = { model: "qwen3", created_at: at.toISOString(), done: false };
    const assistant = { role: "assistant", content: "" };
    expect(lines).toEqual([
      { ...head, message: { ...assistant, thinking: "hm" } },
      { ...head, message: { role: "assistant", content: "Hi\u2028" } },
      { ...head, message: { ...assistant, tool_calls: [{ id: "call_0", function: { index: 0, name: "f", arguments: { a: 1 } } }] } },
      { ...head, message: { ...assistant, tool_calls: [{ id: "call_1", function: { index: 1, name: "g", arguments: {} } }] } },
      {
        ...head,
        message: assistant,
        done: true,
        done_reason: "stop",
        total_duration: 0,
        load_duration: 0,
        prompt_eval_count: 3,
        prompt_eval_duration: 0,
        eval_count: 4,
        eval_duration: 0,
      },
    ]);
    expect(text).toContain('"arguments":{"a": 1.0}');
    expect(warnings).toEqual([]);
    expect(validateStream("ollama", text)).toEqual([]);
  });
  test("a truncated call is never sent, and the reason is length", () => {
    const { text, lines, warnings } = write([
      ...toolEvents("whole", "{}"),
      { type: "tool-start", id: "b", index: 1, name: "cut" },
      { type: "tool-delta", id: "b", json: '{"a":"x' },
      { type: "tool-end", id: "b", index: 1, name: "cut", arguments: { a: "x" }, truncated: true },
      { type: "finish", reason: "length" },
    ]);
    expect(text).not.toContain("cut");
    expect(lines.at(-1)).toMatchObject({ done: true, done_reason: "length" });
    expect(warnings).toEqual([{ code: "dropped", message: "a call that was cut has no place in ollama and was left out" }]);
    expect(validateStream("ollama", text)).toEqual([]);
  });
  test("an unreadable call is never sent; if there is no other call, the answer is an error", () => {
    const malformed: Event = { type: "malformed", raw: "{", code: "bad-arguments", reason: "cut", id: "call_0" };
    const error = { code: "malformed-call" as const, message: "unreadable" };
    const { text, lines, warnings } = write([
      { type: "tool-start", id: "call_0", index: 0, name: "f" },
      malformed,
      { type: "finish", reason: "error", error },
    ]);
    expect(lines).toEqual([{ error: "unreadable" }]);
    expect(warnings).toHaveLength(1);
    expect(validateStream("ollama", text)).toEqual([]);
  });
  test("an error in the middle of a stream is a line, and nothing follows it", () => {
    const { lines } = write([
      { type: "text", text: "Yes" },
      { type: "finish", reason: "error", error: { code: "upstream", message: "it broke" } },
      { type: "text", text: "more" },
    ]);
    expect(lines.slice(1)).toEqual([{ error: "it broke" }]);
  });
  test("an answer without a finish ends with an error", () => {
    expect(write([{ type: "text", text: "Yes" }]).lines.at(-1)).toEqual({ error: "the answer was terminated" });
  });
  test("the heartbeat is a line without text", () => {
    const encoder = ollama.createStreamEncoder(request, { now: () => at });
    const beat = encoder.heartbeat();
    expect(JSON.parse(beat)).toEqual({
      model: "m",
      created_at: at.toISOString(),
      message: { role: "assistant", content: "" },
      done: false,
    });
    const text =
      beat + encoder.encode({ type: "text", text: "Hi" }) + encoder.heartbeat() + encoder.encode({ type: "finish", reason: "stop" });
    expect(validateStream("ollama", text)).toEqual([]);
    expect(collect(read(text)).content).toEqual([{ type: "text", text: "Hi" }]);
    expect(encoder.heartbeat() + encoder.end()).toBe("");
  });
  test("a refusal is sent as text, and another wire's extension is left out with a warning", () => {
    const { lines, warnings } = write([
      { type: "refusal", text: "No." },
      { type: "extension", wire: "gemini", data: {} },
      { type: "extension", wire: "anthropic", data: {}, quiet: true },
      { type: "text", text: "", state: [{ wire: "gemini", kind: "thoughtSignature", data: "x" }] },
      { type: "finish", reason: "content-filter" },
    ]);
    expect(lines[0]).toMatchObject({ message: { content: "No." } });
    expect(lines.at(-1)).toMatchObject({ done_reason: "stop" });
    expect(warnings.map(({ message }) => message)).toEqual([
      "a refusal was sent as text",
      "data that only gemini knows has no place in ollama and was left out",
      "thoughtSignature of gemini has no place in ollama and was left out",
      "content-filter was sent as stop",
    ]);
  });
  test("whole answers equal streamed ones", () => {
    const events: Event[] = [
      { type: "thinking-start" },
      { type: "thinking-delta", text: "hm" },
      { type: "thinking-end" },
      { type: "text", text: "Hi" },
      ...toolEvents("f", '{"a":1}'),
      { type: "tool-start", id: "b", index: 1, name: "cut" },
      { type: "tool-end", id: "b", index: 1, name: "cut", arguments: {}, truncated: true },
      { type: "usage", inputTokens: 3, outputTokens: 4 },
      { type: "finish", reason: "length" },
    ];
    const warnings: Warning[] = [];
    const body = ollama.encodeResponse(collect(events), request, { now: () => at, warn: (warning) => warnings.push(warning) });
    expect(body).toEqual({
      model: "m",
      created_at: at.toISOString(),
      message: {
        role: "assistant",
        content: "Hi",
        thinking: "hm",
        tool_calls: [{ id: "call_0", function: { index: 0, name: "f", arguments: { a: 1 } } }],
      },
      done: true,
      done_reason: "length",
      total_duration: 0,
      load_duration: 0,
      prompt_eval_count: 3,
      prompt_eval_duration: 0,
      eval_count: 4,
      eval_duration: 0,
    });
    expect(warnings).toHaveLength(1);
    expect(validateStream("ollama", `${printBody(body)}\n`)).toEqual([]);
  });
  test("a whole answer that failed has Ollama's error form", () => {
    expect(
      ollama.encodeResponse({ content: [], finish: { reason: "error", error: { code: "internal", message: "it broke" } } }, request),
    ).toEqual({ error: "it broke" });
  });

  test.each(named(/^stream-/).filter((name) => !/error|cut-off|unreadable|generate/.test(name)))(
    "%s passes from server to client unchanged",
    (name) => {
      const events = read(fixture(name));
      const { text, warnings } = write(events);
      expect(warnings).toEqual([]);
      expect(validateStream("ollama", text)).toEqual([]);
      expect(merged(read(text)).filter(({ type }) => type !== "finish")).toEqual(merged(events).filter(({ type }) => type !== "finish"));
    },
  );
  test("fields that only this wire knows come back in their place", () => {
    const { lines } = write(read(fixture("stream-logprobs.ndjson")));
    expect(lines[0]).toMatchObject({ message: { content: "Yes" }, logprobs: [{ token: "Yes", logprob: -0.1 }] });
    expect(lines[1]).toMatchObject({ done: true, remote_model: "qwen3:480b", total_duration: 4883583458, eval_duration: 4535599000 });
  });

  const piece: fc.Arbitrary<Event[]> = fc.oneof(
    fc.string({ minLength: 1, unit: "binary" }).map((text): Event[] => [{ type: "text", text }]),
    fc
      .string({ minLength: 1 })
      .map((text): Event[] => [
        { type: "thinking-start" },
        { type: "thinking-delta", text },
        { type: "thinking-end" },
        { type: "text", text: "." },
      ]),
    fc.dictionary(fc.string(), fc.jsonValue()).map((args): Event[] => toolEvents("f", JSON.stringify(args))),
    fc
      .dictionary(
        fc.string({ minLength: 1 }).map((key) => `x-${key}`),
        fc.jsonValue(),
        { minKeys: 1 },
      )
      .map((data): Event[] => [
        {
          type: "extension",
          wire: "ollama",
          data: JSON.parse(JSON.stringify({ ...data, x: 1 }, (_, value: unknown) => value ?? undefined)) as Json, // JSON has no -0
        },
      ]),
  );
  const answers = fc.array(piece, { maxLength: 6 }).map((pieces): Event[] => {
    let index = 0;
    const events = pieces.flatMap((events) => {
      if (events[0]?.type !== "tool-start") return events;
      const id = `call_${index}`;
      const at = index++;
      return events.map((event) => ("index" in event ? { ...event, id, index: at } : { ...event, id })) as Event[];
    });
    const native = { native: "stop" };
    return [
      { type: "start", model: "m" },
      ...events,
      { type: "usage", inputTokens: 1, outputTokens: 2 },
      { type: "finish", reason: index > 0 ? "tool-calls" : "stop", ...native },
    ];
  });
  test("any answer comes back unchanged", () => {
    const simple = (events: readonly Event[]) =>
      merged(events)
        .map((event) => (event.type === "tool-end" ? { ...event, json: undefined } : event))
        .filter(({ type }) => type !== "tool-delta");
    fc.assert(
      fc.property(answers, (events) => {
        const { text, warnings } = write(events);
        expect(warnings).toEqual([]);
        expect(simple(read(text))).toEqual(simple(events));
        expect(calls(collect(read(text))).map(({ json }) => json)).toEqual(calls(collect(events)).map(({ json }) => json));
      }),
    );
  });
});

// ---- Errors, models, JSON values

describe("errors", () => {
  test.each([
    ["bad-request", 400],
    ["auth", 401],
    ["permission", 403],
    ["not-found", 404],
    ["context-length", 400],
    ["rate-limit", 429],
    ["overloaded", 503],
    ["upstream", 502],
    ["internal", 500],
  ] as [ErrorCode, number][])("%s has the status %i and one message", (code, status) => {
    const error = ollama.encodeError({ code, message: "the context length" });
    expect(error).toEqual({ status, headers: { "content-type": "application/json" }, body: { error: "the context length" } });
  });
  test("a prompt that is too long is reported in Ollama's own words, and read back as such", () => {
    for (const info of [{ message: "too long" }, { message: "x", tokens: { used: 9000, limit: 8192 } }]) {
      const { status, body } = ollama.encodeError({ code: "context-length", ...info });
      expect(body).toMatchObject({ error: expect.stringContaining("the input length exceeds the context length") as string });
      expect(ollama.decodeError(status, {}, body)).toMatchObject({
        code: "context-length",
        ...("tokens" in info ? { tokens: info.tokens } : {}),
      });
    }
  });
  test("the time to wait is sent as a header", () => {
    expect(ollama.encodeError({ code: "rate-limit", message: "slow", retryAfterMs: 1500 }).headers).toMatchObject({ "retry-after": "2" });
  });
  test.each([
    [404, "model 'x' not found", "not-found"],
    [400, "invalid think value", "bad-request"],
    [400, '"gemma3" does not support tools', "bad-request"],
    [400, "the input length exceeds the context length", "context-length"],
    [503, "server busy, please try again.  maximum pending requests exceeded", "overloaded"],
    [401, "unauthorized", "auth"],
    [499, "request canceled", "aborted"],
    [500, "model runner has unexpectedly stopped", "upstream"],
  ])("%i %s is %s", (status, message, code) => {
    expect(ollama.decodeError(status, {}, JSON.stringify({ error: message }))).toMatchObject({ code, message, status });
  });
});

describe("models", () => {
  test("a server's list of models is read", () => {
    expect(ollama.decodeModels(JSON.parse(fixture("tags.json")) as unknown)).toEqual([
      { id: "qwen3:latest", created: 1777941464, contextLength: 40960 },
      { id: "gemma3:1b", created: 1777593600 },
    ]);
    expect(ollama.decodeModels({})).toEqual([]);
  });
  test("a list of models written for a client reads back unchanged", () => {
    const models = [{ id: "a", created: 1700000000, contextLength: 8192 }, { id: "b" }];
    expect(ollama.decodeModels(ollama.encodeModels(models))).toEqual(models);
    expect(ollama.encodeModels(models)).toMatchObject({
      models: [{ name: "a", model: "a", modified_at: "2023-11-14T22:13:20.000Z", size: 0 }, {}],
    });
  });
});

test("the values of a key are found in their original spelling", () => {
  expect(valuesOf('{"a":1.0,"b":{"a":"x\\"\\\\","c":["a",{"a":{"a":2}}]},"a" : [ 1 ] ,"a":true}', "a")).toEqual([
    "1.0",
    '"x\\"\\\\"',
    '{"a":2}',
    "[ 1 ]",
    "true",
  ]);
  expect(valuesOf('{"b":"a"}', "a")).toEqual([]);
});
