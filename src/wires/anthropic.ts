/**
 * Anthropic's Messages API (`POST /v1/messages`), as Claude Code and the SDKs speak it:
 *
 *     {"model": "m", "max_tokens": 1024, "messages": [{"role": "user", "content": "Hi"}], "tools": [{"name": "f", "input_schema": {}}]}
 *
 * An answer is a list of blocks (`text`, `thinking`, `tool_use`), streamed one after the other.
 */
import type { ErrorInfo } from "../core/nouns.ts";
import { createStreamDecoder, decodeResponse } from "./anthropic/answer-in.ts";
import { createStreamEncoder, encodeErrorBody, encodeResponse } from "./anthropic/answer-out.ts";
import { WIRE } from "./anthropic/common.ts";
import { decodeRequest } from "./anthropic/request-in.ts";
import { encodeRequest, encodeTokenCountRequest } from "./anthropic/request-out.ts";
import { errorStatus, readError, retryHeaders } from "./errors.ts";
import { defined, listOf, numberOf, objectOf, textOf } from "./read.ts";
import type { ModelInfo, Wire, WireOutput } from "./wire.ts";

// ---- Errors

const encodeError = (error: ErrorInfo): WireOutput & { status: number } => ({
  status: errorStatus(error, WIRE),
  headers: retryHeaders(error),
  body: encodeErrorBody(error),
});

// ---- Models

function encodeModels(models: readonly ModelInfo[]): unknown {
  const data = models.map(({ id, name, created = 0, contextLength }) => ({
    type: "model",
    id,
    display_name: name ?? id,
    created_at: new Date(created * 1000).toISOString(),
    ...(contextLength === undefined ? {} : { max_input_tokens: contextLength }),
  }));
  return { data, has_more: false, first_id: models[0]?.id ?? null, last_id: models.at(-1)?.id ?? null };
}

function decodeModels(body: unknown): ModelInfo[] {
  return listOf(objectOf(body).data).map((item) => {
    const { id, display_name: name, created_at: created, max_input_tokens: limit } = objectOf(item);
    const seconds = Date.parse(textOf(created) ?? "") / 1000;
    return defined<ModelInfo>({
      id: textOf(id) ?? "",
      name: textOf(name),
      created: seconds > 0 ? seconds : undefined,
      contextLength: numberOf(limit),
    });
  });
}

export const anthropic: Wire = {
  id: WIRE,
  decodeRequest,
  encodeResponse,
  createStreamEncoder,
  encodeError,
  encodeRequest,
  decodeResponse,
  createStreamDecoder,
  decodeError: readError,
  modelsPath: "/v1/models",
  encodeModels,
  decodeModels,
  encodeTokenCount: ({ tokens }) => ({ input_tokens: tokens }),
  encodeTokenCountRequest,
  decodeTokenCount: (body) => numberOf(objectOf(body).input_tokens) ?? 0,
};
