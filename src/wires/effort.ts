/** How much a model should think: converts between efforts and budgets for APIs that have only one of the two. */
import type { Effort, Request } from "../core/nouns.ts";

/** The numbers that Google's OpenAI-compatible endpoint uses. */
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

/** Whether to ask for visible thinking. Clients of Anthropic, Ollama and chat servers expect it once thinking is on; others ask for it. */
export function isShown({ thinking = {}, from = "gemini" }: Request): boolean | undefined {
  const { show, enabled, effort } = thinking;
  const isAsked = from === "anthropic" ? enabled : (from === "openai-chat" || from === "ollama") && (enabled ?? effort !== undefined);
  return show ?? (isAsked || undefined);
}
