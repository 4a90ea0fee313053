/** The path that a request's body belongs to, where only the body is known. */
import type { WireId } from "../core/nouns.ts";

const PATHS: Readonly<Record<WireId, string>> = {
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
  anthropic: "/v1/messages",
  gemini: "/v1beta/models/{model}:generateContent",
  ollama: "/api/chat",
};

/** `model`: for Gemini's API, which has it only in the path. */
export function pathOfBody(wire: WireId, body: unknown, model = ""): string {
  const isPrompt = wire === "ollama" && typeof body === "object" && body !== null && "prompt" in body;
  return isPrompt ? "/api/generate" : PATHS[wire].replace("{model}", encodeURIComponent(model));
}
