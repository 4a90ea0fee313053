// Strict validators of the five wires, written from the APIs' own documentation: what a server would refuse, and what a client would break on.
// They know nothing of our encoders. An object is closed: a field that the API does not have is a violation.
import type { WireId } from "../../src/core/nouns.ts";
import { anthropicCount, anthropicRequest, anthropicStream } from "./validators/anthropic.ts";
import { type Check, isRecord, parsed } from "./validators/check.ts";
import { geminiCount, geminiRequest, geminiStream } from "./validators/gemini.ts";
import { ollamaRequest, ollamaStream } from "./validators/ollama.ts";
import { chatRequest, chatStream } from "./validators/openai-chat.ts";
import { responsesRequest, responsesStream } from "./validators/openai-responses.ts";

const REQUESTS: Record<WireId, Check> = {
  "openai-chat": chatRequest,
  "openai-responses": responsesRequest,
  anthropic: anthropicRequest,
  gemini: geminiRequest,
  ollama: ollamaRequest,
};

const COUNTS: Partial<Record<WireId, Check>> = { anthropic: anthropicCount, gemini: geminiCount };

const STREAMS: Record<WireId, (stream: string) => string[]> = {
  "openai-chat": chatStream,
  "openai-responses": responsesStream,
  anthropic: anthropicStream,
  gemini: geminiStream,
  ollama: ollamaStream,
};

/** The faults in a request body, given as JSON text or as a value. */
export const validateRequest = (wire: WireId, body: unknown): string[] => REQUESTS[wire](asJson(body), "body");

/** The faults in a token count request. */
export const validateCount = (wire: WireId, body: unknown): string[] =>
  COUNTS[wire]?.(asJson(body), "body") ?? [`${wire} counts no tokens`];

/** The faults in a whole stream, as text. */
export const validateStream = (wire: WireId, text: string): string[] => STREAMS[wire](text);

/** As it goes over the wire: undefined values are absent. */
const asJson = (body: unknown): unknown => (typeof body === "string" ? parsed(body) : isRecord(body) ? parsed(JSON.stringify(body)) : body);
