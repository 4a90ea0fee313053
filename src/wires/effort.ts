/** How much a model shall think, as a word and as a number of tokens, where an API has only one of the two; and whether that is shown. */
import type { Effort, Request } from "../core/nouns.ts";

/** The figures of Google's own OpenAI endpoint. */
export const BUDGETS: Readonly<Record<Effort, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

export const effortOf = (budget: number): Effort =>
  budget < 0 ? "medium" : budget <= 1024 ? "minimal" : budget <= 4096 ? "low" : budget <= 16_384 ? "medium" : "high";

/** Whether thinking shall be shown. Anthropic, Ollama and chat servers show what a client had them think; others wait to be asked for it. */
export function isShown({ thinking = {}, from = "gemini" }: Request): boolean | undefined {
  const { show, enabled, effort } = thinking;
  const isAsked = from === "anthropic" ? enabled : (from === "openai-chat" || from === "ollama") && (enabled ?? effort !== undefined);
  return show ?? (isAsked || undefined);
}
