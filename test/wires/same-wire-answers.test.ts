// Unknown fields of an answer come back to a client of the same wire, wherever they are, streamed or not; no other client sees them.
import { describe, expect, test } from "vitest";
import type { Request, Response, WireId } from "../../src/core/nouns.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";

const request: Request = { model: "m", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] };

const answers: [WireId, object][] = [
  [
    "openai-chat",
    {
      id: "a",
      model: "m",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "Hi",
            tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}", x_call: 1 }, x_outer: 2 }],
            x_message: 3,
          },
          finish_reason: "tool_calls",
          x_choice: 4,
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, prompt_tokens_details: { x_details: 5 }, x_usage: 6 },
      x_body: { deep: [7] },
    },
  ],
  [
    "anthropic",
    {
      id: "a",
      type: "message",
      role: "assistant",
      model: "m",
      content: [
        { type: "thinking", thinking: "Hm", signature: "s", x_thinking: 1 },
        { type: "text", text: "Hi", x_text: { deep: 2 } },
        { type: "text", text: "you", x_text: 3 },
        { type: "tool_use", id: "c", name: "f", input: {}, x_call: 4 },
        { type: "x_block", x: 5 },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1, x_usage: 7, output_tokens_details: { x_details: 8 } },
      x_body: 9,
    },
  ],
  [
    "anthropic",
    {
      id: "a",
      content: [],
      stop_reason: "refusal",
      stop_details: { type: "refusal", category: null, explanation: "No.", x_details: 6 },
    },
  ],
  [
    "gemini",
    {
      candidates: [
        {
          index: 0,
          content: {
            role: "model",
            parts: [
              { text: "Hi", x_part: 1 },
              { functionCall: { id: "c", name: "f", args: {}, x_call: 2 }, x_outer: 3 },
            ],
            x_content: 4,
          },
          finishReason: "STOP",
          finishMessage: "Done.",
          x_candidate: 5,
        },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2, x_usage: 6 },
      x_body: 7,
    },
  ],
  [
    "openai-responses",
    {
      id: "resp_1",
      object: "response",
      status: "completed",
      model: "m",
      metadata: { x: "1" },
      completed_at: 5,
      output_text: "Hi",
      output: [
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm", x_summary: 1 }], x_reasoning: 2 },
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Hi", annotations: [], x_part: 3 }],
          x_message: 4,
        },
        { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: "{}", status: "completed", x_call: 5 },
      ],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2, input_tokens_details: { x_details: 6 }, x_usage: 7 },
      x_body: 8,
    },
  ],
  [
    "openai-responses",
    {
      id: "resp_1",
      status: "completed",
      truncation: "disabled",
      background: false,
      top_logprobs: 0,
      max_tool_calls: 3,
      previous_response_id: "resp_0",
      text: { verbosity: "low" },
      output: [
        {
          type: "reasoning",
          id: "rs_1",
          summary: [{ type: "summary_text", text: "Hm" }],
          content: [{ type: "reasoning_text", text: "Well, hm" }],
        },
      ],
    },
  ],
  ["openai-responses", { id: "resp_1", status: "failed", error: { code: "server_error", message: "x" } }],
  [
    "ollama",
    {
      model: "m",
      message: {
        role: "assistant",
        content: "Hi",
        tool_calls: [{ id: "c", function: { name: "f", arguments: {}, x_call: 1 }, x_outer: 2 }],
        x_message: 3,
      },
      done: true,
      done_reason: "stop",
      x_body: 4,
    },
  ],
];

test.each(answers)("a whole answer of %s keeps its unknown fields", (id, body) => {
  const wire = getWire(id);
  const response = wire.decodeResponse(body);
  expect(wire.encodeResponse(response, request)).toMatchObject(body);
  for (const other of listWires())
    if (other.id !== id) expect(JSON.stringify(other.encodeResponse(response, request))).not.toContain('"x_');
});

const sse = (...events: object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

const streams: [WireId, string, keys: string][] = [
  [
    "openai-chat",
    `${sse(
      { id: "a", choices: [{ index: 0, delta: { role: "assistant", content: "Hi", x_delta: 1 }, x_choice: 2 }], x_chunk: 3 },
      { id: "a", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { id: "a", choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, x_usage: 4 } },
    )}data: [DONE]\n\n`,
    "x_delta x_choice x_chunk",
  ],
  [
    "anthropic",
    sse(
      { type: "message_start", message: { id: "a", model: "m", usage: { input_tokens: 1, x_first: 1 }, x_message: 2 } },
      { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "", x_thinking: 3 } },
      { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm" } },
      { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "s" } },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: { type: "text", text: "", x_text: 4 } },
      { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Hi" } },
      { type: "content_block_stop", index: 1 },
      { type: "x_event", index: 5 },
      { type: "message_delta", delta: { stop_reason: "end_turn", x_delta: 6 }, usage: { output_tokens: 1, x_last: 7 } },
      { type: "message_stop" },
    ),
    "x_first x_message x_thinking x_text x_event x_delta x_last",
  ],
  [
    "gemini",
    sse({
      candidates: [{ content: { role: "model", parts: [{ text: "Hi", x_part: 1 }], x_content: 2 }, finishReason: "STOP", x_candidate: 3 }],
      usageMetadata: { promptTokenCount: 1, x_usage: 4 },
      x_chunk: 5,
    }),
    "x_part x_content x_candidate x_usage x_chunk",
  ],
  [
    "openai-responses",
    sse(
      { type: "response.created", response: { id: "resp_1", model: "m" } },
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { type: "message", id: "msg_1", role: "assistant", content: [], x_item: 1 },
      },
      { type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "msg_1", delta: "Hi" },
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { type: "message", id: "msg_1", content: [{ type: "output_text", text: "Hi", x_part: 2 }], x_item: 1 },
      },
      { type: "response.x_event", x: 3 },
      { type: "response.completed", response: { id: "resp_1", status: "completed", usage: { input_tokens: 1, x_usage: 4 }, x_body: 5 } },
    ),
    "x_item x_part x_event x_usage x_body",
  ],
  [
    "ollama",
    '{"model":"m","message":{"role":"assistant","content":"Hi","x_message":1},"done":false,"x_line":2}\n{"model":"m","done":true,"x_end":3}\n',
    "x_message x_line x_end",
  ],
];

/** What clients of the given wires receive from a stream. */
function passing(from: WireId, stream: string): (target: WireId) => string {
  const decoder = getWire(from).createStreamDecoder();
  const events = [...decoder.feed(stream), ...decoder.flush()];
  return (target) => {
    const encoder = getWire(target).createStreamEncoder({ ...request, stream: "sse" });
    return events.map((event) => encoder.encode(event)).join("") + encoder.end();
  };
}

test.each(streams)("a stream of %s keeps its unknown fields", (id, stream, keys) => {
  const sent = passing(id, stream);
  const text = sent(id);
  for (const key of keys.split(" ")) expect(text).toContain(key);
  for (const other of listWires()) if (other.id !== id) expect(sent(other.id)).not.toMatch(/[".]x_/); // a generated id may end in x
});

test("an Anthropic stream passes through unchanged: counts in its start, unknown blocks and deltas, fields beside the last delta", () => {
  const usage = {
    input_tokens: 30,
    cache_creation_input_tokens: 7,
    cache_read_input_tokens: 100,
    output_tokens: 1,
    service_tier: "standard",
  };
  const message = { id: "a", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, stop_sequence: null, usage };
  const block = (index: number, content_block: object, ...deltas: object[]) => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  const events = [
    { type: "message_start", message },
    ...block(0, { type: "x_block", body: "" }, { type: "x_delta", body: "a" }, { type: "x_delta", body: "b" }),
    ...block(
      1,
      { type: "compaction", content: null },
      { type: "compaction_delta", content: "SUMM" },
      { type: "compaction_delta", content: "ARY" },
    ),
    ...block(
      2,
      { type: "text", text: "" },
      { type: "text_delta", text: "Hi" },
      { type: "x_text_delta", x: 1 },
      { type: "text_delta", text: "!" },
    ),
    // Thinking that is not shown: Claude Code counts its deltas as they come.
    ...block(
      3,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "", estimated_tokens: 50 },
      { type: "thinking_delta", thinking: "", estimated_tokens: 100 },
      { type: "signature_delta", signature: "sealed" },
    ),
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      context_management: { applied_edits: [{ type: "clear_tool_uses_20250919" }] },
      usage: { input_tokens: 30, cache_creation_input_tokens: 7, cache_read_input_tokens: 100, output_tokens: 5 },
    },
    { type: "message_stop" },
  ];
  const sent = passing("anthropic", sse(...events));
  expect([...sent("anthropic").matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))).toEqual(events);
  for (const { id } of listWires()) if (id !== "anthropic") expect(sent(id)).not.toContain("estimated_tokens");
});

test("without streaming, the deltas of an unknown block are put together", () => {
  const stream = sse(
    { type: "message_start", message: { id: "a" } },
    { type: "content_block_start", index: 0, content_block: { type: "compaction", content: null } },
    { type: "content_block_delta", index: 0, delta: { type: "compaction_delta", content: "SUMM" } },
    { type: "content_block_delta", index: 0, delta: { type: "compaction_delta", content: "ARY" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "compaction" }, context_management: { applied_edits: [] } },
    { type: "message_stop" },
  );
  const anthropic = getWire("anthropic");
  expect(anthropic.encodeResponse(anthropic.decodeResponse(stream), request)).toMatchObject({
    content: [{ type: "compaction", content: "SUMMARY" }],
    context_management: { applied_edits: [] },
  });
});

test("tokens that Google's own tools read are counted as Google counts them", () => {
  const usageMetadata = { promptTokenCount: 10, toolUsePromptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 18 };
  const answer = { candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }], usageMetadata };
  const gemini = getWire("gemini");
  expect(gemini.encodeResponse(gemini.decodeResponse(answer), request)).toMatchObject({ usageMetadata });
  expect(JSON.parse(passing("gemini", sse(answer))("gemini").match(/"usageMetadata":(\{.*?\})/)![1]!)).toEqual(usageMetadata);
  expect(getWire("openai-chat").encodeResponse(gemini.decodeResponse(answer), request)).toMatchObject({ usage: { prompt_tokens: 13 } });
});

test.each(["END", 151645])("chat: the stop string or token that ended the answer is kept: %j", (stop_reason) => {
  const choice = { index: 0, finish_reason: "stop", stop_reason };
  const chat = getWire("openai-chat");
  const whole = { choices: [{ ...choice, message: { role: "assistant", content: "Hi" } }] };
  expect(chat.encodeResponse(chat.decodeResponse(whole), request)).toMatchObject({ choices: [{ stop_reason }] });
  const stream = `${sse({ id: "a", choices: [{ ...choice, delta: { content: "Hi" } }] })}data: [DONE]\n\n`;
  expect(passing("openai-chat", stream)("openai-chat")).toContain(`"stop_reason":${JSON.stringify(stop_reason)}`);
  const warnings: unknown[] = [];
  getWire("gemini").encodeResponse(chat.decodeResponse(whole), request, { warn: (warning) => warnings.push(warning) });
  expect(warnings).toHaveLength(typeof stop_reason === "string" ? 1 : 0);
});

test("citations and logprobs of Responses, whole or streamed, are reported as dropped by other wires; echoed settings are not", () => {
  const annotations = [{ type: "url_citation", url: "https://x.example", title: "x", start_index: 0, end_index: 2 }];
  const logprobs = [{ token: "Hi", logprob: -1, bytes: [], top_logprobs: [] }];
  const message = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
  const answer = (part: object) => ({
    id: "resp_1",
    status: "completed",
    truncation: "disabled",
    output: [{ ...message, content: [{ type: "output_text", text: "Hi", annotations: [], logprobs: [], ...part }] }],
  });
  const told = (response: Response): string[] => {
    const warnings: string[] = [];
    getWire("anthropic").encodeResponse(response, request, { warn: ({ message }) => warnings.push(message) });
    return warnings;
  };
  const responses = getWire("openai-responses");
  expect(told(responses.decodeResponse(answer({})))).toEqual([]);
  expect(told(responses.decodeResponse(answer({ annotations, logprobs })))).toEqual([
    "annotations of openai-responses has no place in anthropic and was left out",
    "logprobs of openai-responses has no place in anthropic and was left out",
  ]);
  const stream = sse(
    { type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "msg_1", delta: "Hi", logprobs },
    { type: "response.completed", response: answer({}) },
  );
  expect(told(responses.decodeResponse(stream))).toEqual(["logprobs of openai-responses has no place in anthropic and was left out"]);
});

test("logprobs that a stream sends in pieces are complete in a whole answer", () => {
  const [first, second] = ["Hi", "!"].map((token) => ({ token, logprob: -1, bytes: [], top_logprobs: [] }));
  const chunk = (content: string, logprobs: unknown[]) => ({
    id: "a",
    choices: [{ index: 0, delta: { content }, logprobs: { content: logprobs, refusal: null } }],
  });
  const end = { id: "a", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  const chat = getWire("openai-chat");
  expect(chat.encodeResponse(chat.decodeResponse(sse(chunk("Hi", [first]), chunk("!", [second]), end)), request)).toMatchObject({
    choices: [{ message: { content: "Hi!" }, logprobs: { content: [first, second], refusal: null } }],
  });
  const delta = (delta: string, logprobs: unknown[]) => ({
    type: "response.output_text.delta",
    output_index: 0,
    content_index: 0,
    delta,
    logprobs,
  });
  const responses = getWire("openai-responses");
  const stream = sse(delta("Hi", [first]), delta("!", [second]), { type: "response.completed", response: {} });
  expect(responses.encodeResponse(responses.decodeResponse(stream), request)).toMatchObject({
    output: [{ content: [{ text: "Hi!", logprobs: [first, second] }] }],
  });
});

describe("annotations of Responses", () => {
  const cite = (url: string) => ({ type: "url_citation", url, title: "x", start_index: 0, end_index: 2 });
  const part = (text: string, ...annotations: object[]) => ({ type: "output_text", text, annotations });
  const parts = [part("Hi", cite("a"), cite("b")), part("Ho", cite("c"))];
  const message = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
  /** The events of a message. `isEarly`: an annotation comes before its text; `isLate`: annotations come only with the whole part. */
  const streamed = (content: typeof parts, isEarly: boolean, isLate: boolean): string =>
    sse(
      { type: "response.output_item.added", output_index: 0, item: { ...message, status: "in_progress", content: [] } },
      ...content.flatMap((part, content_index) => {
        const at = { item_id: "msg_1", output_index: 0, content_index };
        const delta = { ...at, type: "response.output_text.delta", delta: part.text };
        const added = part.annotations.map((annotation, annotation_index) => ({
          ...at,
          type: "response.output_text.annotation.added",
          annotation_index,
          annotation,
        }));
        const said = isLate ? [delta] : isEarly ? [...added, delta] : [delta, ...added];
        return [...said, { ...at, type: "response.content_part.done", part }];
      }),
      { type: "response.output_item.done", output_index: 0, item: { ...message, content } },
      { type: "response.completed", response: { id: "resp_1", status: "completed", output: [{ ...message, content }] } },
    );
  const responses = getWire("openai-responses");
  test.each([
    ["after their text", parts, false, false],
    ["before their text", parts.slice(0, 1), true, false],
    ["only with the whole part", parts, false, true],
  ])("%s reach the part that they belong to, streamed or not", (_, content, isEarly, isLate) => {
    const stream = streamed(content, isEarly, isLate);
    const frames = [...passing("openai-responses", stream)("openai-responses").matchAll(/^data: (.*)$/gm)].map(([, data]) =>
      JSON.parse(data!),
    );
    expect(frames.at(-1)).toMatchObject({ response: { output: [{ ...message, content }] } });
    for (const frame of frames) if (/part|text/.test(frame.type)) expect(frame).toMatchObject({ output_index: 0 });
    expect(responses.encodeResponse(responses.decodeResponse(stream), request)).toMatchObject({ output: [{ ...message, content }] });
  });
});

test("fields of a call in chat completions that come with a later chunk reach the client, after those of the first chunk", () => {
  const chunk = (call: object) => ({ id: "a", model: "m", choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] } }] });
  const stream = sse(
    chunk({ id: "c", type: "function", function: { name: "f", arguments: '{"a"' }, x_first: 1 }),
    chunk({ function: { arguments: ":1" } }),
    chunk({ function: { arguments: "}" }, x_last: 2 }),
    { id: "a", model: "m", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  );
  const [decoder, encoder] = [getWire("openai-chat").createStreamDecoder(), getWire("openai-chat").createStreamEncoder(request)];
  const sent = [...decoder.feed(stream), ...decoder.flush()].map((event) => encoder.encode(event)).join("");
  expect(sent.match(/"x_\w+":\d/g)).toEqual(['"x_first":1', '"x_last":2']);
});
