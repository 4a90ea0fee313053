/**
 * Ollama's chat (`POST /api/chat`) and completion (`POST /api/generate`), whose prompt is read as a user message. An answer is a line of
 * JSON for each piece, or one object for everything; calls come whole:
 *
 *     {"model":"m","created_at":"…","message":{"role":"assistant","content":"Hi"},"done":false}
 *     {"model":"m","created_at":"…","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","eval_count":2}
 */
import { decoders } from "./answer-in.ts";
import { encoders } from "./answer-out.ts";
import { errorOutput } from "./errors.ts";
import { dateOf, readModels, secondsOf } from "./models.ts";
import { OllamaReader } from "./ollama/answer-in.ts";
import { errorBody, OllamaAnswer } from "./ollama/answer-out.ts";
import { WIRE } from "./ollama/common.ts";
import { decodeRequest } from "./ollama/request-in.ts";
import { encodeRequest } from "./ollama/request-out.ts";
import { defined, numberOf, objectOf, textOf } from "./read.ts";
import type { Wire } from "./wire.ts";

const DETAILS = { parent_model: "", format: "", family: "", families: [], parameter_size: "", quantization_level: "" };

export const ollama: Wire = {
  id: WIRE,
  decodeRequest,
  encodeRequest,
  ...decoders(OllamaReader),
  ...encoders(WIRE, OllamaAnswer),
  encodeError: (error) => errorOutput(error, errorBody(error)),

  // ---- Models

  modelsPath: "/api/tags",
  encodeModels: (models) => ({
    models: models.map(({ id, created, contextLength }) => ({
      name: id,
      model: id,
      modified_at: dateOf(created),
      size: 0,
      digest: "",
      details: defined<object>({ ...DETAILS, context_length: contextLength }),
    })),
  }),
  decodeModels: (body) =>
    readModels(body, "models", ({ model, name, modified_at, details }) => ({
      id: textOf(model) ?? textOf(name) ?? "",
      created: secondsOf(modified_at),
      contextLength: numberOf(objectOf(details).context_length),
    })),
};
