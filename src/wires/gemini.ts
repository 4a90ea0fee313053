/**
 * Google's Gemini (`POST /v1beta/models/m:generateContent`, `:streamGenerateContent`, `:countTokens`):
 *
 *     {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "tools": [{"functionDeclarations": [{"name": "f"}]}]}
 *
 * The model is in the path. Calls come whole, results may lack the id of their call, and a `thoughtSignature` is Google's private state.
 */
import { decoders } from "./answer-in.ts";
import { encoders } from "./answer-out.ts";
import { errorOutput } from "./errors.ts";
import { GeminiReader } from "./gemini/answer-in.ts";
import { errorBody, GeminiAnswer, hasReason } from "./gemini/answer-out.ts";
import { decodeRequest } from "./gemini/request-in.ts";
import { encodeRequest, encodeTokenCountRequest } from "./gemini/request-out.ts";
import { WIRE } from "./gemini/tables.ts";
import { readModels, tokenCounts } from "./models.ts";
import { defined, numberOf, textOf } from "./read.ts";
import type { Wire } from "./wire.ts";

const METHODS = ["generateContent", "streamGenerateContent", "countTokens"];

export const gemini: Wire = {
  id: WIRE,
  decodeRequest,
  encodeRequest,
  ...decoders(GeminiReader),
  ...encoders(WIRE, GeminiAnswer),
  hasReason,
  // A client that asked for an array gets its error in one.
  encodeError: (error, request, { status } = {}) => {
    const body = errorBody(error, status);
    return errorOutput(error, request?.stream === "array" ? [body] : body, WIRE);
  },

  // ---- Models and tokens

  modelsPath: "/v1beta/models",
  encodeModels: (models) => ({
    models: models.map(({ id, name = id, contextLength }) =>
      defined<object>({
        name: `models/${id}`,
        displayName: name,
        inputTokenLimit: contextLength,
        supportedGenerationMethods: METHODS,
      }),
    ),
  }),
  decodeModels: (body) =>
    readModels(body, "models", ({ name, displayName, inputTokenLimit }) => ({
      id: textOf(name)?.replace(/^models\//, "") ?? "",
      name: textOf(displayName),
      contextLength: numberOf(inputTokenLimit),
    })),
  ...tokenCounts("totalTokens", encodeTokenCountRequest),
};
