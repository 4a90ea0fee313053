import { describe, expect, test } from "vitest";
import type { ErrorCode, ErrorInfo, WireId } from "../../src/core/nouns.ts";
import { ERRORS, errorMessage, errorStatus, openaiError, readError, retryHeaders } from "../../src/wires/errors.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";

const codes = Object.keys(ERRORS) as ErrorCode[];

describe("an error that we write is read back as the same error", () => {
  test.each(codes)("OpenAI: %s", (code) => {
    const error = { code, message: "so it is", ...(code === "context-length" ? { tokens: { used: 9000, limit: 8192 } } : {}) };
    const status = errorStatus(error);
    expect(readError(status, {}, openaiError(error))).toMatchObject({ code, status, ...(error.tokens ? { tokens: error.tokens } : {}) });
    expect(readError(0, {}, JSON.stringify(openaiError(error))).code).toBe(code);
  });
  /** Codes that share a type with another are told apart by status or wording; these two cannot be. */
  const alike: Partial<Record<ErrorCode, ErrorCode>> = { aborted: "aborted", "malformed-call": "upstream", internal: "upstream" };
  test.each(codes)("Anthropic and Gemini: %s", (code) => {
    const tokens = { used: 9000, limit: 8192 };
    const error = { code, message: "so it is", tokens };
    const expected = { code: alike[code] ?? code, ...(code === "context-length" ? { tokens } : {}) };
    const anthropic = { type: "error", error: { type: ERRORS[code][2], message: errorMessage(error, "anthropic") } };
    expect(readError(errorStatus(error, "anthropic"), {}, anthropic)).toMatchObject(expected);
    const status = errorStatus(error, "gemini");
    const gemini = { error: { code: status, status: ERRORS[code][3], message: errorMessage(error, "gemini") } };
    expect(readError(status, {}, gemini)).toMatchObject(expected);
    expect(readError(status, {}, [gemini])).toMatchObject(expected);
  });
});

describe("every error code on every wire, as an answer and in a stream", () => {
  /** The codes that must survive in a stream; Ollama's stream errors have only a message. */
  const wordless: Partial<Record<ErrorCode, ErrorCode>> = { overloaded: "overloaded", timeout: "timeout" };
  test.each(listWires().map((wire) => [wire.id, wire] as const))("%s", (id, wire) => {
    for (const code of codes) {
      const error: ErrorInfo = {
        code,
        message: "so it is",
        retryAfterMs: 2000,
        ...(code === "context-length" ? { tokens: { used: 9000, limit: 8192 } } : {}),
      };
      const { status, headers, body } = wire.encodeError(error);
      expect(status).toBe(id === "anthropic" && code === "overloaded" ? 529 : ERRORS[code][0]);
      expect(headers).toMatchObject({ "content-type": "application/json", "retry-after": "2" });
      const read = wire.decodeError(status, headers, body);
      const isOurs = code === "malformed-call" || code === "internal";
      expect([code, isOurs ? "upstream" : code]).toContain(read.code);
      expect(read.message).not.toBe("");

      const encoder = wire.createStreamEncoder({ model: "m", messages: [], stream: id === "ollama" ? "ndjson" : "sse" });
      const stream = encoder.encode({ type: "start" }) + encoder.encode({ type: "finish", reason: "error", error }) + encoder.end();
      const decoder = wire.createStreamDecoder();
      const last = [...decoder.feed(stream), ...decoder.flush()].at(-1);
      expect(last).toMatchObject({ type: "finish", reason: "error" });
      if (id !== "ollama" && wordless[code]) expect(last).toMatchObject({ error: { code } });
    }
  });
});

describe("a prompt that is too long is recognized in every server's words", () => {
  test.each([
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.",
    "Invalid request: Your request exceeded model token limit: 4096 (requested: 5000)",
    "This model's maximum prompt length is 4096 but the request contains 5000 tokens.",
    "Prompt too long: 5000 tokens exceeds max 4096",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`",
    "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
    "The engine prompt length 5000 exceeds the max_model_len 4096. Please reduce prompt.",
    "length of prompt_tokens (5000) must be less than max_seq_len (4096).",
    "prompt token count of 5000 exceeds the limit of 4096",
    "Token limit exceeded: requested 5000, maximum 4096",
  ])("%s", (message) => {
    for (const status of [400, 422, 500])
      expect(readError(status, {}, { error: { message } })).toMatchObject({ code: "context-length", tokens: { used: 5000, limit: 4096 } });
  });
  test.each([
    "Prompt exceeds max length",
    "Range of input length should be [1, 4096]",
    "tokens in request more than max tokens allowed",
    "Total tokens of image and text exceed max message tokens",
  ])("%s", (message) => {
    expect(readError(400, {}, { error: { message } })).toMatchObject({ code: "context-length" });
  });
  test("digits of a request id are not taken for a token count", () => {
    const message = "prompt too long; exceeded max context length by 1119046 tokens (ref: 96164522-08b2-4cbf-886e-e5a1c0ffee88)";
    expect(readError(400, {}, { error: { message } })).toEqual({ code: "context-length", message, status: 400 });
  });
  test.each([
    "You passed 4000 input tokens and requested 1000 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3096 tokens.",
    "This endpoint's maximum context length is 4096 tokens. However, you requested about 5000 tokens (3000 of text input, 1000 of tool input, 1000 in the output). Please reduce the length of either one.",
  ])("together with the tokens requested for the answer: %s", (message) => {
    expect(readError(400, {}, { error: { message } })).toMatchObject({ tokens: { used: 5000, limit: 4096, answer: 1000 } });
  });
  test("a length in characters is not taken for tokens", () => {
    const message =
      "This model's maximum context length is 4096 tokens. However, you requested 1000 output tokens and your prompt contains 90000 characters (more than 49536 characters, which is the upper bound for 3096 input tokens).";
    expect(readError(400, {}, { error: { message } })).toEqual({ code: "context-length", message, status: 400 });
  });
  test.each([0, 429])("too many tokens per minute are a rate limit, not a prompt that is too long: %i", (status) => {
    expect(readError(status, {}, { error: { message: "Too many tokens per minute" } })).toMatchObject({ code: "rate-limit" });
  });
  test("llama-server's counts are read from fields beside the message", () => {
    const error = { code: 400, message: "the request exceeds the available context size", n_prompt_tokens: 5000, n_ctx: 4096 };
    expect(readError(400, {}, { error })).toMatchObject({ code: "context-length", tokens: { used: 5000, limit: 4096 } });
  });
  test("a token limit that is too high is not a prompt that is too long", () => {
    const message =
      "`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the `context_window`";
    expect(readError(400, {}, { error: { message, type: "invalid_request_error" } })).toMatchObject({ code: "bad-request" });
  });
});

describe("what servers send", () => {
  test.each<[string, number, unknown, object]>([
    [
      "llama-server, for an unknown model",
      400,
      { error: { code: 400, message: "model 'three' not found", type: "invalid_request_error" } },
      { code: "not-found", message: "model 'three' not found" },
    ],
    [
      "OpenAI",
      400,
      { error: { message: "too long", type: "invalid_request_error", code: "context_length_exceeded" } },
      { code: "context-length" },
    ],
    [
      "llama.cpp",
      400,
      { error: { code: 400, message: "the request exceeds the available context size", type: "exceed_context_size_error" } },
      { code: "context-length" },
    ],
    [
      "vLLM",
      400,
      { object: "error", message: "This model's maximum context length is 4096 tokens. However, you requested 5,000 tokens", code: 400 },
      { code: "context-length", tokens: { used: 5000, limit: 4096 } },
    ],
    [
      "Anthropic",
      400,
      { type: "error", error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" } },
      { code: "context-length", tokens: { used: 210000, limit: 200000 } },
    ],
    [
      "Anthropic, counting the token limit",
      400,
      {
        type: "error",
        error: { type: "invalid_request_error", message: "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000" },
      },
      { code: "context-length", tokens: { used: 222000, limit: 200000 } },
    ],
    ["Anthropic in a stream", 0, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }, { code: "overloaded" }],
    [
      "Gemini",
      429,
      { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "quota", details: [{ retryDelay: "3.9s" }] } },
      { code: "rate-limit", retryAfterMs: 3900 },
    ],
    [
      "Gemini, bad key",
      400,
      { error: { code: 400, status: "INVALID_ARGUMENT", message: "API key not valid", details: [{ reason: "API_KEY_INVALID" }] } },
      { code: "auth" },
    ],
    [
      "xAI, bad key",
      400,
      { code: "invalid-argument", error: "Incorrect API key provided. You can obtain an API key from https://x.example." },
      { code: "auth" },
    ],
    [
      "Perplexity, messages that are too long",
      400,
      { error: { message: "The total length of all messages is too long.", type: "too_many_prompt_tokens", code: 400 } },
      { code: "context-length" },
    ],
    [
      "OpenRouter, for the server behind it",
      400,
      {
        error: {
          code: 400,
          message: "Provider returned error",
          metadata: { provider_name: "P", raw: '{"error": {"message": "prompt is too long: 5000 tokens > 4096 maximum"}}' },
        },
      },
      {
        code: "context-length",
        message: "Provider returned error: prompt is too long: 5000 tokens > 4096 maximum",
        tokens: { used: 5000, limit: 4096 },
      },
    ],
    [
      "OpenRouter, quoting that server",
      429,
      { error: { code: 429, message: "Provider returned error", metadata: { raw: "m:free is busy. Please retry shortly." } } },
      { code: "rate-limit", message: "Provider returned error: m:free is busy. Please retry shortly." },
    ],
    [
      "Cloudflare",
      500,
      { errors: [{ message: "AiError: Internal server error", code: 3043 }], success: false, result: {} },
      { code: "upstream", message: "AiError: Internal server error" },
    ],
    ["xAI, unknown model", 400, { code: "invalid-argument", error: "Model not found: grok-x" }, { code: "not-found" }],
    ["Groq, retired model", 400, { error: { code: "model_decommissioned", message: "It is no longer supported." } }, { code: "not-found" }],
    [
      "DeepSeek, unknown model",
      400,
      { error: { code: "invalid_request_error", message: "The supported API model names are a or b, but you passed c." } },
      { code: "not-found" },
    ],
    ["Ollama", 404, { error: 'model "x" not found' }, { code: "not-found", message: 'model "x" not found' }],
    ["FastAPI", 422, { detail: "no" }, { code: "bad-request", message: "no" }],
    ["a proxy's HTML page", 502, "<html>Bad Gateway</html>", { code: "upstream", message: "<html>Bad Gateway</html>" }],
    [
      "a proxy's HTML page with a title",
      502,
      "<!DOCTYPE html><html><head>\n<title>502 Bad Gateway</title></head><body><hr>nginx</body></html>",
      { code: "upstream", message: "502 Bad Gateway" },
    ],
    ["an empty body", 500, "", { code: "upstream", message: "the server answered with status 500" }],
    ["nothing known", 418, {}, { code: "bad-request", status: 418 }],
  ])("%s", (_, status, body, info) => {
    expect(readError(status, {}, body)).toMatchObject(info);
    expect(readError(status, {}, typeof body === "string" ? body : JSON.stringify(body))).toMatchObject(info);
  });
  test("an OpenAI error with a code but no type keeps its code", () => {
    const error = { message: "The response was filtered", type: null, param: "prompt", code: "content_filter" };
    expect(openaiError(readError(400, {}, { error }))).toMatchObject({ error: { param: "prompt", code: "content_filter" } });
    const proxied = { message: "litellm.BadRequestError: no", type: "None", param: "None", code: "400" };
    expect(openaiError(readError(400, {}, { error: proxied }))).toMatchObject({ error: { param: null } });
  });
  test("the time to wait is read from any of its headers", () => {
    expect(readError(429, { "retry-after": "2" }, {}).retryAfterMs).toBe(2000);
    expect(readError(429, { "retry-after-ms": "150", "retry-after": "1" }, {}).retryAfterMs).toBe(150);
    const then = { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" };
    expect(readError(429, then, {}).retryAfterMs).toBeUndefined();
    expect(readError(429, { ...then, date: "Wed, 21 Oct 2026 07:27:30 GMT" }, {}).retryAfterMs).toBe(30_000);
    expect(readError(429, { ...then, date: "Wed, 21 Oct 2026 07:29:00 GMT" }, {}).retryAfterMs).toBeUndefined();
    expect(retryHeaders({ code: "rate-limit", message: "", retryAfterMs: 1500 })).toEqual({ "retry-after": "2" });
    expect(retryHeaders({ code: "rate-limit", message: "" })).toEqual({});
  });
});

test("a prompt that is too long is worded as each wire's clients expect", () => {
  const error = { code: "context-length", message: "too much", tokens: { used: 2, limit: 1 } } as const;
  expect(errorMessage(error, "anthropic")).toBe("prompt is too long: 2 tokens > 1 maximum");
  expect(errorMessage({ code: "context-length", message: "too much" }, "anthropic")).toBe("prompt is too long: too much");
  expect(errorMessage({ code: "auth", message: "no" }, "gemini")).toBe("no");
});

test("FastAPI's list of faults becomes the message", () => {
  const detail = [
    { type: "missing", loc: ["body", "messages"], msg: "Field required" },
    { type: "x", loc: [], msg: "odd" },
  ];
  expect(readError(422, {}, { detail })).toEqual({
    code: "bad-request",
    message: "body.messages: Field required; odd",
    status: 422,
  });
});

test("OpenAI's own error code and parameter reach OpenAI's clients", () => {
  const quota = { error: { message: "No money", type: "insufficient_quota", param: null, code: "insufficient_quota" } };
  const { status, body } = getWire("openai-chat").encodeError(readError(429, {}, quota));
  expect([status, body]).toMatchObject([429, { error: { code: "insufficient_quota" } }]);
  const field = {
    error: { message: "Unsupported parameter: 'foo'", type: "invalid_request_error", param: "foo", code: "unsupported_parameter" },
  };
  expect(getWire("openai-chat").encodeError(readError(400, {}, field)).body).toMatchObject(field);
});

test("a status that SDKs have a class for is kept, and a missing payment is not reported as worth a retry", () => {
  const statusOf = (status: number) => getWire("openai-chat").encodeError(readError(status, {}, { error: { message: "x" } })).status;
  expect([409, 422, 402, 418].map(statusOf)).toEqual([409, 422, 403, 400]);
});

describe("errors in streams of compatible servers", () => {
  const events = (id: WireId, text: string) => {
    const decoder = getWire(id).createStreamDecoder();
    return [...decoder.feed(text), ...decoder.flush()];
  };
  test.each(listWires().map(({ id }) => id))("%s: an object with nothing but a message is an error, and keeps the message", (id) => {
    const flat = '{"code":"1113","message":"Insufficient balance"}';
    const [last] = events(id, id === "ollama" ? `${flat}\n` : `data: ${flat}\n\n`).slice(-1);
    expect(last).toMatchObject({ type: "finish", reason: "error", error: { code: "permission", message: "Insufficient balance" } });
  });
  test("Anthropic events may have their type in the event line only", () => {
    const frames = [
      ["message_start", { message: { id: "a", model: "m" } }],
      ["content_block_start", { index: 0, content_block: { type: "text", text: "" } }],
      ["content_block_delta", { index: 0, delta: { type: "text_delta", text: "Hi" } }],
      ["message_delta", { delta: { stop_reason: "end_turn" } }],
      ["message_stop", {}],
    ];
    const text = frames.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`).join("");
    expect(events("anthropic", text)).toMatchObject([{ type: "start", id: "a" }, { type: "text", text: "Hi" }, { reason: "stop" }]);
  });
  test("vLLM's reasoning_part events add nothing to its reasoning", () => {
    const part = { type: "response.reasoning_part.added", output_index: 0, content_index: 0, part: { type: "reasoning_text", text: "" } };
    const said = { type: "response.reasoning_text.delta", output_index: 0, content_index: 0, delta: "Hm" };
    const text = [part, said].map((data) => `data: ${JSON.stringify(data)}\n\n`).join("");
    expect(events("openai-responses", text).map(({ type }) => type)).not.toContain("extension");
  });
});
