/**
 * Google's Gemini (`POST /v1beta/models/m:generateContent`, `:streamGenerateContent`, `:countTokens`):
 *
 *     {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "tools": [{"functionDeclarations": [{"name": "f"}]}]}
 *
 * The model stands in the path. Calls come whole, results may lack the id of their call, and a `thoughtSignature` is somebody's private state.
 */
import { readError } from "./errors.ts";
import { createStreamDecoder, decodeResponse } from "./gemini/answer-in.ts";
import { createStreamEncoder, encodeResponse } from "./gemini/answer-out.ts";
import { encodeError } from "./gemini/errors.ts";
import { decodeRequest } from "./gemini/request-in.ts";
import { encodeRequest, encodeTokenCountRequest } from "./gemini/request-out.ts";
import { WIRE } from "./gemini/tables.ts";
import { defined, listOf, numberOf, objectOf, textOf } from "./read.ts";
import type { ModelInfo, Wire } from "./wire.ts";

const METHODS = ["generateContent", "streamGenerateContent", "countTokens"];

export const gemini: Wire = {
  id: WIRE,
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  createStreamDecoder,
  createStreamEncoder,
  encodeError,
  decodeError: readError,

  // ---- Models and tokens

  modelsPath: "/v1beta/models",
  encodeModels: (models) => ({
    models: models.map(({ id, name, contextLength }) =>
      defined<object>({
        name: `models/${id}`,
        displayName: name ?? id,
        inputTokenLimit: contextLength,
        supportedGenerationMethods: METHODS,
      }),
    ),
  }),
  decodeModels: (body) =>
    listOf(objectOf(body).models).flatMap((model) => {
      const { name, displayName, inputTokenLimit } = objectOf(model);
      const id = textOf(name)?.replace(/^models\//, "");
      return id ? [defined<ModelInfo>({ id, name: textOf(displayName), contextLength: numberOf(inputTokenLimit) })] : [];
    }),
  encodeTokenCount: ({ tokens }) => ({ totalTokens: tokens }),
  encodeTokenCountRequest,
  decodeTokenCount: (body) => numberOf(objectOf(body).totalTokens) ?? 0,
};
