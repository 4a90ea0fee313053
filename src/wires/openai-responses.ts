/**
 * OpenAI's Responses (`POST /v1/responses`): a conversation is a list of items, and so is an answer.
 *
 *     {"model": "m", "instructions": "Be brief.", "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}]}
 */
import type { ErrorInfo, Request } from "../core/nouns.ts";
import { errorStatus, openaiError, readError, retryHeaders } from "./errors.ts";
import { openaiModels } from "./openai-models.ts";
import { encodeResponse } from "./openai-responses/answer.ts";
import { WIRE } from "./openai-responses/items.ts";
import { decodeRequest } from "./openai-responses/request-in.ts";
import { encodeRequest } from "./openai-responses/request-out.ts";
import { createStreamDecoder, decodeResponse } from "./openai-responses/stream-in.ts";
import { createStreamEncoder } from "./openai-responses/stream-out.ts";
import { numberOf, objectOf } from "./read.ts";
import type { Wire } from "./wire.ts";

// ---- Errors

function encodeError(error: ErrorInfo, request?: Request): ReturnType<Wire["encodeError"]> {
  // A prompt that is too long makes codex shorten it if the stream says so; a status of 400 ends its run.
  if (error.code === "context-length" && request?.stream) {
    const encoder = createStreamEncoder(request);
    const body = encoder.encode({ type: "finish", reason: "error", error });
    return { status: 200, headers: { "content-type": "text/event-stream" }, body };
  }
  return { status: errorStatus(error), headers: { "content-type": "application/json", ...retryHeaders(error) }, body: openaiError(error) };
}

// ---- The wire

/** What counting takes. */
const COUNTED: ReadonlySet<string> = new Set(
  "model instructions input tools tool_choice parallel_tool_calls reasoning text truncation".split(" "),
);

export const openaiResponses: Wire = {
  id: WIRE,
  decodeRequest,
  encodeResponse,
  createStreamEncoder,
  encodeError,
  encodeRequest,
  decodeResponse,
  createStreamDecoder,
  decodeError: readError,
  ...openaiModels,
  encodeTokenCount: ({ tokens }) => ({ object: "response.input_tokens", input_tokens: tokens }),
  encodeTokenCountRequest(request, profile) {
    const { body, ...output } = encodeRequest(request, profile);
    const counted = Object.entries(body).filter(([key]) => COUNTED.has(key));
    return { ...output, path: "/v1/responses/input_tokens", body: Object.fromEntries(counted) };
  },
  decodeTokenCount: (body) => numberOf(objectOf(body).input_tokens) ?? 0,
};
