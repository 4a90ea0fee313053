/** The words of chat completions, and what they mean. */
import type { FinishReason, Opaque, Sampling } from "../../core/nouns.ts";

export const WIRE = "openai-chat";

export const ROLES = {
  system: "system",
  developer: "developer",
  user: "user",
  assistant: "assistant",
  tool: "tool",
  function: "tool",
} as const;

export const MODES = { auto: "auto", none: "none", required: "required", any: "required" } as const;

/** The first five are OpenAI's own; the others are those of the servers that speak like it. */
export const SAMPLING: Readonly<Record<string, keyof Sampling>> = {
  temperature: "temperature",
  top_p: "topP",
  seed: "seed",
  presence_penalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty",
  top_k: "topK",
  min_p: "minP",
  repeat_penalty: "repeatPenalty",
  repetition_penalty: "repeatPenalty",
};
export const OFFICIAL_SAMPLING = 5;

/** Of those with the same meaning the first is written. */
export const FINISH: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  content_filter: "content-filter",
  function_call: "tool-calls",
  max_tokens: "length",
  tool_use: "tool-calls",
  error: "error",
};

/** Fields of the API's own bookkeeping, which mean nothing elsewhere. */
export const QUIET: ReadonlySet<string> = new Set([
  "stream_options",
  "store",
  "metadata",
  "user",
  "safety_identifier",
  "service_tier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "annotations",
]);

/** Gemini's signature has a place in chat completions: Gemini's own endpoint gave it one, and clients send it back. */
export const isSignature = ({ wire, kind }: Opaque): boolean => wire === "gemini" && kind === "thoughtSignature";
