/**
 * OpenAI's Responses (`POST /v1/responses`): a conversation is a list of items, and so is an answer.
 *
 *     {"model": "m", "instructions": "Be brief.", "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hi"}]}]}
 */

import { decoders } from "./answer-in.ts";
import { encoders } from "./answer-out.ts";
import { counted } from "./encoded.ts";
import { errorOutput, openaiError } from "./errors.ts";
import { openaiModels, tokenCounts } from "./models.ts";
import { ResponseReader } from "./openai-responses/answer-in.ts";
import { hasReason, ResponseAnswer } from "./openai-responses/answer-out.ts";
import { WIRE } from "./openai-responses/items.ts";
import { decodeRequest } from "./openai-responses/request-in.ts";
import { encodeRequest } from "./openai-responses/request-out.ts";
import { words } from "./read.ts";
import type { Wire } from "./wire.ts";

/** The fields that counting accepts. */
const COUNTED = words("model instructions input tools tool_choice parallel_tool_calls reasoning text truncation");

export const openaiResponses: Wire = {
  id: WIRE,
  decodeRequest,
  encodeRequest,
  ...decoders(ResponseReader),
  ...encoders(WIRE, ResponseAnswer),
  hasReason,
  encodeError(error, request, options) {
    if (error.code !== "context-length" || !request?.stream) return errorOutput(error, openaiError(error));
    // If a stream reports that the prompt is too long, codex shortens it; a status of 400 would end its run.
    const body = new ResponseAnswer(WIRE, request, options).encode({ type: "finish", reason: "error", error });
    return { status: 200, headers: { "content-type": "text/event-stream" }, body };
  },

  // ---- Models and tokens

  ...openaiModels,
  ...tokenCounts("input_tokens", (request, profile) => counted(encodeRequest(request, profile), "/v1/responses/input_tokens", COUNTED), {
    object: "response.input_tokens",
  }),
};
