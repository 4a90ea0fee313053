/** The words of chat completions, and what they mean. */
import type { FinishReason, Sampling } from "../../core/nouns.ts";
import { words } from "../read.ts";

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

export const OFFICIAL_SAMPLING: Readonly<Record<string, keyof Sampling>> = {
  temperature: "temperature",
  top_p: "topP",
  seed: "seed",
  presence_penalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty",
};
/** With those of the servers that speak like it. */
export const SAMPLING: Readonly<Record<string, keyof Sampling>> = {
  ...OFFICIAL_SAMPLING,
  top_k: "topK",
  min_p: "minP",
  repeat_penalty: "repeatPenalty",
  repetition_penalty: "repeatPenalty",
};

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
export const QUIET = words(
  "stream_options store metadata user safety_identifier service_tier prompt_cache_key prompt_cache_retention annotations",
);
