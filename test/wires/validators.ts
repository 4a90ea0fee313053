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

/** What is wrong with the body of a request, given as JSON text or as what it stands for. */
export const validateRequest = (wire: WireId, body: unknown): string[] => REQUESTS[wire](asJson(body), "body");

/** What is wrong with a request for a token count. */
export const validateCount = (wire: WireId, body: unknown): string[] =>
  COUNTS[wire]?.(asJson(body), "body") ?? [`${wire} counts no tokens`];

/** What is wrong with a whole stream, as text. */
export const validateStream = (wire: WireId, text: string): string[] => STREAMS[wire](text);

/** As it goes over the wire: what is undefined in an object is not there. */
const asJson = (body: unknown): unknown => (typeof body === "string" ? parsed(body) : isRecord(body) ? parsed(JSON.stringify(body)) : body);
