/**
 * Anthropic's Messages API (`POST /v1/messages`), as Claude Code and the SDKs speak it:
 *
 *     {"model": "m", "max_tokens": 1024, "messages": [{"role": "user", "content": "Hi"}], "tools": [{"name": "f", "input_schema": {}}]}
 *
 * An answer is a list of blocks (`text`, `thinking`, `tool_use`), streamed one after the other.
 */
import { decoders } from "./answer-in.ts";
import { encoders } from "./answer-out.ts";
import { MessageReader } from "./anthropic/answer-in.ts";
import { errorBody, MessageAnswer } from "./anthropic/answer-out.ts";
import { WIRE } from "./anthropic/common.ts";
import { decodeRequest } from "./anthropic/request-in.ts";
import { encodeRequest, encodeTokenCountRequest } from "./anthropic/request-out.ts";
import { errorOutput } from "./errors.ts";
import { dateOf, readModels, secondsOf } from "./models.ts";
import { defined, numberOf, objectOf, textOf } from "./read.ts";
import type { Wire } from "./wire.ts";

export const anthropic: Wire = {
  id: WIRE,
  decodeRequest,
  encodeRequest,
  ...decoders(MessageReader),
  ...encoders(WIRE, MessageAnswer),
  encodeError: (error) => errorOutput(error, errorBody(error), WIRE),

  // ---- Models and tokens

  modelsPath: "/v1/models",
  encodeModels: (models) => ({
    data: models.map(({ id, name = id, created, contextLength }) =>
      defined<object>({ type: "model", id, display_name: name, created_at: dateOf(created), max_input_tokens: contextLength }),
    ),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  }),
  decodeModels: (body) =>
    readModels(body, "data", ({ id, display_name, created_at, max_input_tokens }) => ({
      id: textOf(id) ?? "",
      name: textOf(display_name),
      created: secondsOf(created_at),
      contextLength: numberOf(max_input_tokens),
    })),
  encodeTokenCount: ({ tokens }) => ({ input_tokens: tokens }),
  encodeTokenCountRequest,
  decodeTokenCount: (body) => numberOf(objectOf(body).input_tokens) ?? 0,
};
