/**
 * Ollama's chat (`POST /api/chat`) and, with the prompt as a user message, its completion (`POST /api/generate`). An answer is a line of JSON
 * for each piece, or one object for all of it; calls come whole:
 *
 *     {"model":"m","created_at":"…","message":{"role":"assistant","content":"Hi"},"done":false}
 *     {"model":"m","created_at":"…","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","eval_count":2}
 */
import { isObject } from "../core/json.ts";
import { createStreamDecoder, createStreamEncoder, decodeError, decodeResponse, encodeError, encodeResponse } from "./ollama/answer.ts";
import { decodeRequest, encodeRequest, WIRE } from "./ollama/request.ts";
import { defined } from "./read.ts";
import type { ModelInfo, Wire } from "./wire.ts";

// ---- Models

const DETAILS = { parent_model: "", format: "", family: "", families: [], parameter_size: "", quantization_level: "" };

function encodeModels(models: readonly ModelInfo[]): unknown {
  const entries = models.map(({ id, created = 0, contextLength: length }) => ({
    name: id,
    model: id,
    modified_at: new Date(created * 1000).toISOString(),
    size: 0,
    digest: "",
    details: length === undefined ? DETAILS : { ...DETAILS, context_length: length },
  }));
  return { models: entries };
}

function decodeModels(body: unknown): ModelInfo[] {
  const models = isObject(body) && Array.isArray(body.models) ? body.models.filter(isObject) : [];
  return models.flatMap(({ model, name, modified_at: at, details }) => {
    const id = model ?? name;
    const created = Math.floor(Date.parse(String(at)) / 1000);
    const length = isObject(details) ? details.context_length : undefined;
    if (typeof id !== "string") return [];
    const contextLength = typeof length === "number" ? length : undefined;
    return [defined<ModelInfo>({ id, created: created > 0 ? created : undefined, contextLength })];
  });
}

export const ollama: Wire = {
  id: WIRE,
  decodeRequest,
  encodeRequest,
  decodeResponse,
  encodeResponse,
  createStreamDecoder,
  createStreamEncoder,
  encodeError,
  decodeError,
  modelsPath: "/api/tags",
  encodeModels,
  decodeModels,
};
