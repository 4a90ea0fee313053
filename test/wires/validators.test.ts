import { describe, expect, test } from "vitest";
import type { WireId } from "../../src/core/nouns.ts";
import { describeShared } from "../shared.ts";
import { captures } from "./helpers.ts";
import { validateCount, validateRequest, validateStream } from "./validators.ts";

const PATHS: [RegExp, WireId, typeof validateRequest][] = [
  [/\/chat\/completions$/, "openai-chat", validateRequest],
  [/\/responses$/, "openai-responses", validateRequest],
  [/\/messages$/, "anthropic", validateRequest],
  [/\/messages\/count_tokens$/, "anthropic", validateCount],
  [/enerateContent$/, "gemini", validateRequest],
  [/:countTokens$/, "gemini", validateCount],
];

describeShared("what real clients send is valid", () => {
  for (const { file, path, body } of captures(({ method }) => method === "POST")) {
    const [, wire, validate] = PATHS.find(([pattern]) => pattern.test(path)) ?? [];
    if (wire && validate) test(`${wire}: ${file}`, () => expect(validate(wire, body)).toEqual([]));
  }
});

// ---- Faults are found

const params = { type: "object", properties: { a: { type: "string" } } };

const BODIES: Record<WireId, Record<string, unknown>> = {
  "openai-chat": {
    model: "m",
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "c", content: "ok" },
    ],
    tools: [{ type: "function", function: { name: "f", parameters: params } }],
  },
  "openai-responses": {
    model: "m",
    input: [
      { role: "user", content: "Hi" },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "ok" },
    ],
    tools: [{ type: "function", name: "f", parameters: params, strict: false }],
  },
  anthropic: {
    model: "m",
    max_tokens: 99,
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "ok" }] },
    ],
    tools: [{ name: "f", input_schema: params }],
  },
  gemini: {
    contents: [
      { role: "user", parts: [{ text: "Hi" }] },
      { role: "model", parts: [{ functionCall: { name: "f", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { name: "f", response: { output: "ok" } } }] },
    ],
    tools: [{ functionDeclarations: [{ name: "f", parametersJsonSchema: params }] }],
  },
  ollama: {
    model: "m",
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "", tool_calls: [{ function: { name: "f", arguments: {} } }] },
      { role: "tool", tool_name: "f", content: "ok" },
    ],
    tools: [{ type: "function", function: { name: "f", parameters: params } }],
  },
};
const WIRES = Object.keys(BODIES) as WireId[];

describe("requests", () => {
  test.each(WIRES)("%s: a plain request is valid, as a value and as text", (wire) => {
    expect(validateRequest(wire, BODIES[wire])).toEqual([]);
    expect(validateRequest(wire, JSON.stringify(BODIES[wire]))).toEqual([]);
  });
  test.each(WIRES)("%s: an unknown field is a violation", (wire) => {
    expect(validateRequest(wire, { ...BODIES[wire], x: 1 })).toEqual(["body.x is not a field of this API"]);
  });
  test.each([...WIRES, "no JSON"])("%s: a body that is not an object is a violation", (text) => {
    for (const wire of WIRES) expect(validateRequest(wire, text)).toHaveLength(1);
  });

  const wrong: [WireId, object, string][] = [
    ["openai-chat", { messages: [] }, "must have 1 to"],
    ["openai-chat", { messages: [{ role: "assistant", content: null }] }, "neither content nor tool_calls"],
    ["openai-chat", { messages: [{ role: "tool", tool_call_id: "x", content: "" }] }, "which nobody called"],
    ["openai-chat", { messages: (BODIES["openai-chat"].messages as object[]).slice(0, 2) }, "comes before the result of call c"],
    [
      "openai-chat",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "AAAA" } }] }] },
      "must be a string like",
    ],
    ["openai-chat", { tool_choice: { type: "function", function: { name: "g" } } }, "names g, which is no tool"],
    ["openai-chat", { tools: [{ type: "function", function: { name: "a b" } }] }, "must be a string like"],
    ["openai-chat", { tools: [{ type: "function", function: { name: "f", strict: true, parameters: params } }] }, "in strict mode"],
    ["openai-chat", { tools: [{ type: "function", function: { name: "f", parameters: { type: "STRING" } } }] }, "is not a type"],
    ["openai-chat", { tools: [{ type: "function", function: { name: "f", parameters: { $ref: "#/$defs/x" } } }] }, "leads nowhere"],
    ["openai-chat", { stream_options: { include_usage: true } }, "needs stream"],
    ["openai-chat", { stop: ["1", "2", "3", "4", "5"] }, "must have 1 to 4 items"],
    ["openai-responses", { input: [{ type: "function_call_output", call_id: "x", output: "" }] }, "nobody called"],
    ["openai-responses", { input: (BODIES["openai-responses"].input as object[]).slice(0, 2) }, "has no output for the call c"],
    ["openai-responses", { input: [{ role: "assistant", content: [{ type: "input_text", text: "a" }] }] }, "must be one of output_text"],
    ["openai-responses", { input: [{ type: "reasoning", id: "x", summary: [] }] }, "must be a string like"],
    ["openai-responses", { tools: [{ type: "function", function: { name: "f" } }] }, "name is missing"],
    ["openai-responses", { text: { format: { type: "json_schema", schema: {} } } }, "name is missing"],
    ["anthropic", { max_tokens: undefined }, "max_tokens is missing"],
    ["anthropic", { messages: [{ role: "assistant", content: "Hi" }] }, "must begin with the user"],
    ["anthropic", { messages: (BODIES.anthropic.messages as object[]).slice(0, 2) }, "has not one result right behind it"],
    ["anthropic", { messages: [{ role: "user", content: [{ type: "text", text: " " }] }] }, "must be a string like"],
    ["anthropic", { messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "c" }] }] }, "begins with a tool_result"],
    ["anthropic", { tools: [{ name: "f", input_schema: { anyOf: [params] } }] }, "may not be a union"],
    ["anthropic", { thinking: { type: "enabled", budget_tokens: 2000 } }, "must be below max_tokens"],
    ["anthropic", { tool_choice: { type: "tool", name: "g" } }, "which is no tool"],
    ["anthropic", { temperature: 1.5 }, "from 0 to 1"],
    ["gemini", { contents: [{ role: "model", parts: [{ text: "Hi" }] }] }, "must begin with the user"],
    ["gemini", { contents: (BODIES.gemini.contents as object[]).slice(0, 2) }, "has 1 calls, and 0 answers follow"],
    ["gemini", { contents: [{ role: "user", parts: [{ text: "a", functionCall: { name: "f", args: {} } }] }] }, "more than one thing"],
    ["gemini", { contents: [{ role: "user", parts: [{}] }] }, "holds nothing"],
    ["gemini", { tools: [{ functionDeclarations: [{ name: "f", parameters: { ...params, $defs: {} } }] }] }, "$defs is not a field"],
    ["gemini", { tools: [{ functionDeclarations: [{ name: "f", parameters: { type: "OBJECT" } }] }] }, "without properties"],
    ["gemini", { tools: [{ functionDeclarations: [{ name: "1f" }] }] }, "must be a string like"],
    ["gemini", { toolConfig: { functionCallingConfig: { mode: "AUTO", allowedFunctionNames: ["f"] } } }, "outside ANY and VALIDATED"],
    ["gemini", { generationConfig: { responseSchema: { type: "STRING" } } }, "is not application/json"],
    ["ollama", { messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] }, "must be a string"],
    ["ollama", { messages: [{ role: "user", content: "", images: ["data:image/png;base64,AAAA"] }] }, "must be a string like"],
    ["ollama", { messages: (BODIES.ollama.messages as object[]).toReversed() }, "answers no call that waits"],
    ["ollama", { tools: [{ type: "function", function: { name: "f", parameters: { ...params, type: ["object"] } } }] }, "must be a string"],
    [
      "ollama",
      { tools: [{ type: "function", function: { name: "f", parameters: { type: "object", properties: { a: true } } } }] },
      "an object",
    ],
    [
      "ollama",
      { tools: [{ type: "function", function: { name: "f", parameters: { type: "object", properties: { a: { const: 1 } } } } }] },
      "drops",
    ],
    ["ollama", { think: "minimal" }, "must be one of low"],
    ["ollama", { tool_choice: "auto" }, "not a field"],
  ];
  test.each(wrong)("%s: %j", (wire, fields, complaint) => {
    expect(validateRequest(wire, { ...BODIES[wire], ...fields }).join("\n")).toContain(complaint);
  });
});

describe("streams", () => {
  const sse = (...events: [string | undefined, unknown][]): string =>
    events
      .map(([event, data]) => `${event ? `event: ${event}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`)
      .join("");

  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const begin = (index: number, name: string) =>
    chunk({ role: "assistant", tool_calls: [{ index, id: `c${index}`, type: "function", function: { name, arguments: "" } }] });
  const go = (index: number, piece: string) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  const chat = (...chunks: unknown[]): string => sse(...chunks.map((data): [undefined, unknown] => [undefined, data]));

  const of = (type: string, fields: object): [string, object] => [type, { type, ...fields }];
  const anthropicStart = of("message_start", {
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 0 },
    },
  });
  const toolStart = of("content_block_start", { index: 0, content_block: { type: "tool_use", id: "c", name: "f", input: {} } });
  const piece = (partial_json: string) => of("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json } });
  const stopped = of("content_block_stop", { index: 0 });
  const ending = (stop_reason: string) => of("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } });
  const over = of("message_stop", {});

  const respond = (...events: [string, object][]): string =>
    sse(...events.map(([type, data], sequence_number): [string, object] => [type, { ...data, sequence_number }]));
  const response = (status: string, output: object[] = [], more: object = {}) => ({
    response: { id: "resp_1", object: "response", created_at: 1, model: "m", status, output, ...more },
  });
  const item = (args: string, status: string) => ({ type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: args, status });
  const about = { item_id: "fc_1", output_index: 0 };
  const created = of("response.created", response("in_progress"));
  const added = of("response.output_item.added", { output_index: 0, item: item("", "in_progress") });
  const delta = (text: string) => of("response.function_call_arguments.delta", { ...about, delta: text });
  const argsDone = (text: string) => of("response.function_call_arguments.done", { ...about, arguments: text });
  const itemDone = (text: string, status = "completed") => of("response.output_item.done", { output_index: 0, item: item(text, status) });
  const cut = { incomplete_details: { reason: "max_output_tokens" } };

  const gem = (parts: object[], finishReason?: string) => ({
    candidates: [{ content: { role: "model", parts }, ...(finishReason ? { finishReason } : {}), index: 0 }],
  });
  const line = (fields: object): string => `${JSON.stringify({ model: "m", created_at: "2026-01-02T03:04:05Z", ...fields })}\n`;
  const spoke = (message: object) => ({ message: { role: "assistant", content: "", ...message }, done: false });
  const stats = { total_duration: 0, load_duration: 0, prompt_eval_count: 0, prompt_eval_duration: 0, eval_count: 0, eval_duration: 0 };
  const done = { ...spoke({}), done: true, done_reason: "stop", ...stats };

  const good: [WireId, string, string][] = [
    ["openai-chat", "a call", chat(begin(0, "f"), go(0, '{"a"'), go(0, ":1}"), chunk({}, "tool_calls"), "[DONE]")],
    ["openai-chat", "a call that was cut", chat(begin(0, "f"), go(0, '{"a"'), chunk({}, "length"), "[DONE]")],
    [
      "openai-chat",
      "an error and a comment",
      `:\n\n${chat(chunk({ role: "assistant", content: "a" }), { error: { message: "x", type: "server_error", code: null } })}`,
    ],
    ["anthropic", "a call", sse(anthropicStart, toolStart, piece("{}"), stopped, ["ping", { type: "ping" }], ending("tool_use"), over)],
    ["anthropic", "a call that was cut", sse(anthropicStart, toolStart, piece('{"a'), stopped, ending("max_tokens"), over)],
    ["anthropic", "a call that was cut before its first byte", sse(anthropicStart, toolStart, ending("max_tokens"), over)],
    [
      "openai-responses",
      "a call",
      respond(
        created,
        added,
        delta("{"),
        delta("}"),
        argsDone("{}"),
        itemDone("{}"),
        of("response.completed", response("completed", [item("{}", "completed")])),
      ),
    ],
    [
      "openai-responses",
      "a call that was cut",
      respond(
        created,
        added,
        delta("{"),
        argsDone("{"),
        itemDone("{", "incomplete"),
        of("response.incomplete", response("incomplete", [item("{", "incomplete")], cut)),
      ),
    ],
    [
      "openai-responses",
      "a call that was cut before its first byte",
      respond(created, added, of("response.incomplete", response("incomplete", [], cut))),
    ],
    ["gemini", "a call", sse([undefined, gem([{ text: "" }])], [undefined, gem([{ functionCall: { name: "f", args: {} } }], "STOP")])],
    ["gemini", "an array", JSON.stringify([gem([{ text: "a" }]), gem([{ text: "b" }], "STOP")])],
    ["gemini", "an error", `${sse([undefined, { error: { code: 503, message: "x", status: "UNAVAILABLE" } }])}data:`],
    ["ollama", "a call", line(spoke({ tool_calls: [{ id: "c", function: { index: 0, name: "f", arguments: {} } }] })) + line(done)],
    ["ollama", "an error", `${line(spoke({ content: "a" }))}{"error":"x"}\n`],
  ];
  test.each(good)("%s: %s", (wire, _, stream) => expect(validateStream(wire, stream)).toEqual([]));

  const bad: [WireId, string, string, string][] = [
    ["openai-chat", "no [DONE]", chat(chunk({ role: "assistant", content: "a" }, "stop")), "without [DONE]"],
    ["openai-chat", "no finish_reason", chat(chunk({ role: "assistant", content: "a" }), "[DONE]"), "no finish_reason"],
    [
      "openai-chat",
      "a cut call passed off",
      chat(begin(0, "f"), go(0, '{"a'), chunk({}, "tool_calls"), "[DONE]"),
      "passed off as complete",
    ],
    [
      "openai-chat",
      "calls interleaved",
      chat(begin(0, "f"), begin(1, "g"), go(0, "{}"), go(1, "{}"), chunk({}, "tool_calls"), "[DONE]"),
      "goes back to call 0",
    ],
    ["openai-chat", "an index left out", chat(begin(1, "f"), go(1, "{}"), chunk({}, "tool_calls"), "[DONE]"), "the next one is 0"],
    ["openai-chat", "calls and stop", chat(begin(0, "f"), go(0, "{}"), chunk({}, "stop"), "[DONE]"), "there are calls"],
    ["anthropic", "no event lines", sse([undefined, anthropicStart[1]]), "has the event line undefined"],
    [
      "anthropic",
      "input in the start",
      sse(
        anthropicStart,
        of("content_block_start", { index: 0, content_block: { type: "tool_use", id: "c", name: "f", input: { a: 1 } } }),
        stopped,
        ending("tool_use"),
        over,
      ),
      "input.a is not a field",
    ],
    ["anthropic", "no message_stop", sse(anthropicStart, toolStart, piece("{}"), stopped, ending("tool_use")), "without message_stop"],
    ["anthropic", "no message_delta", sse(anthropicStart, toolStart, piece("{}"), stopped, over), "without message_delta"],
    [
      "anthropic",
      "a cut call passed off",
      sse(anthropicStart, toolStart, piece('{"a'), stopped, ending("tool_use"), over),
      "passed off as complete",
    ],
    ["anthropic", "a block left open", sse(anthropicStart, toolStart, piece("{}"), ending("tool_use"), over), "leaves a block open"],
    [
      "openai-responses",
      "no output_item.added",
      respond(created, itemDone("{}"), of("response.completed", response("completed", [item("{}", "completed")]))),
      "not open",
    ],
    [
      "openai-responses",
      "an empty output",
      respond(created, added, argsDone(""), itemDone(""), of("response.completed", response("completed"))),
      "as its output",
    ],
    ["openai-responses", "no response.completed", respond(created, added, argsDone(""), itemDone("")), "ends without"],
    [
      "openai-responses",
      "a cut call that could be run",
      respond(
        created,
        added,
        delta("{}"),
        argsDone("{}"),
        itemDone("{}", "incomplete"),
        of("response.incomplete", response("incomplete", [item("{}", "incomplete")], cut)),
      ),
      "could run",
    ],
    [
      "openai-responses",
      "deltas that differ",
      respond(
        created,
        added,
        delta("{"),
        argsDone("{}"),
        itemDone("{}"),
        of("response.completed", response("completed", [item("{}", "completed")])),
      ),
      "not what the deltas said",
    ],
    ["gemini", "no space behind data:", `data:${JSON.stringify(gem([{ text: "a" }], "STOP"))}\n\n`, "not one line"],
    ["gemini", "a comment", `: ping\n\n${sse([undefined, gem([{ text: "a" }], "STOP")])}`, "not one line"],
    ["gemini", "[DONE]", `${sse([undefined, gem([{ text: "a" }], "STOP")])}data: [DONE]\n\n`, "not one line"],
    ["gemini", "a raw U+2028", sse([undefined, gem([{ text: "\u2028" }], "STOP")]), "raw U+2028"],
    [
      "gemini",
      "an error with an end",
      sse([undefined, { error: { code: 503, message: "x", status: "UNAVAILABLE" } }]),
      `instead of "data:"`,
    ],
    ["gemini", "no finishReason", sse([undefined, gem([{ text: "a" }])]), "without finishReason"],
    [
      "gemini",
      "two finishReasons",
      sse([undefined, gem([{ text: "a" }], "STOP")], [undefined, gem([{ text: "a" }], "STOP")]),
      "comes after the finishReason",
    ],
    ["gemini", "no parts", sse([undefined, gem([])], [undefined, gem([{ text: "" }], "STOP")]), "must have 1"],
    [
      "gemini",
      "a total that is no sum",
      sse([undefined, { ...gem([{ text: "a" }], "STOP"), usageMetadata: { promptTokenCount: 1, totalTokenCount: 3 } }]),
      "not the sum",
    ],
    ["ollama", "no done", line(spoke({ content: "a" })), "without done"],
    ["ollama", "no numbers", line({ ...spoke({}), done: true, done_reason: "stop" }), "total_duration is missing"],
    [
      "ollama",
      "arguments as text",
      line(spoke({ tool_calls: [{ function: { name: "f", arguments: "{}" } }] })) + line(done),
      "must be an object",
    ],
    ["ollama", "lines after the end", line(done) + line(spoke({})), "comes after done"],
    ["ollama", "a half line", line(done).trimEnd(), "does not end with a line end"],
  ];
  test.each(bad)("%s: %s", (wire, _, stream, complaint) => expect(validateStream(wire, stream).join("\n")).toContain(complaint));
});
