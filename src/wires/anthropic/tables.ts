/** The settings of the Messages API, and what they mean. */
import type { ThinkingSettings } from "../../core/nouns.ts";

export const EFFORTS: Readonly<Record<string, NonNullable<ThinkingSettings["effort"]>>> = {
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "max",
  max: "max",
};

export const SAMPLING = { temperature: "temperature", top_p: "topP", top_k: "topK" } as const;
