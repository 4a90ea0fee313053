/**
 * OpenAI's chat completions (`POST /v1/chat/completions`), as its own API and the many servers that speak it have it:
 *
 *     {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [{"type": "function", "function": {"name": "f"}}]}
 */
import type { ErrorInfo } from "../core/nouns.ts";
import { errorStatus, openaiError, readError, retryHeaders } from "./errors.ts";
import { createStreamDecoder, decodeResponse } from "./openai-chat/answer-in.ts";
import { createStreamEncoder, encodeResponse } from "./openai-chat/answer-out.ts";
import { decodeRequest } from "./openai-chat/request-in.ts";
import { encodeRequest } from "./openai-chat/request-out.ts";
import { WIRE } from "./openai-chat/tables.ts";
import { openaiModels } from "./openai-models.ts";
import type { Wire } from "./wire.ts";

function encodeError(error: ErrorInfo): ReturnType<Wire["encodeError"]> {
  const headers = { "content-type": "application/json", ...retryHeaders(error) };
  return { status: errorStatus(error), headers, body: openaiError(error) };
}

export const openaiChat: Wire = {
  id: WIRE,
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  createStreamDecoder,
  createStreamEncoder,
  encodeError,
  decodeError: readError,
  ...openaiModels,
};
