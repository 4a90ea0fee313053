/** The words of chat completions, and what they mean. */
import type { FinishReason } from "../../core/nouns.ts";

export const WIRE = "openai-chat";

export const OFFICIAL_SAMPLING = {
  temperature: "temperature",
  top_p: "topP",
  seed: "seed",
  presence_penalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty",
} as const;
/** With those of the servers that speak like it. */
export const SAMPLING = { ...OFFICIAL_SAMPLING, top_k: "topK", min_p: "minP", repetition_penalty: "repeatPenalty" } as const;

export const TOOL = {
  name: "name",
  description: "description",
  parameters: "parameters",
  strict: "strict",
  response: "response",
} as const;

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

export const wordOf = (reason: FinishReason): string => {
  for (const word in FINISH) if (FINISH[word] === reason) return word;
  return "stop";
};
