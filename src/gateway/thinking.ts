/**
 * Models want to be told to think in different ways: one takes an effort, another a budget, a third neither, and each refuses what it
 * does not take. A request that is refused for that is asked again the other way, and then without; what a model refused is remembered.
 */
import type { ErrorInfo, ThinkingSettings } from "../core/nouns.ts";
import type { Target } from "./models.ts";

/** Names come from clients: more are not remembered. */
const MAX_KNOWN = 1000;

const BUDGETS = { minimal: 1024, low: 4096, medium: 8192, high: 16_384, max: 32_768 };
const effortOf = (budget: number): NonNullable<ThinkingSettings["effort"]> => (budget <= 4096 ? "low" : budget <= 8192 ? "medium" : "high");

/** The refusals: `thinking.type.enabled is not supported`, `Thinking level is not supported`, `does not support thinking`, a list of efforts. */
const REFUSED = /think|reason|effort/i;

/** How a request can be put, as it was put first; at last it says nothing about thinking. */
function waysOf(thinking: ThinkingSettings): (ThinkingSettings | undefined)[] {
  const { effort, budget, ...rest } = thinking;
  if (effort !== undefined) return [thinking, { ...rest, enabled: true, budget: BUDGETS[effort] }, undefined];
  if (budget !== undefined && budget > 0) return [thinking, { ...rest, enabled: true, effort: effortOf(budget) }, undefined];
  return [thinking, undefined];
}

export class ThinkingWays {
  /** How many ways a model has refused. */
  readonly #refused = new Map<string, number>();

  /** The settings as the model takes them, as far as that is known. */
  of(target: Target, thinking: ThinkingSettings): ThinkingSettings | undefined {
    return waysOf(thinking)[this.#refused.get(keyOf(target, thinking)) ?? 0];
  }

  /** Whether there is another way to ask than the one that was refused with this error. */
  refused(target: Target, thinking: ThinkingSettings, { code, message }: ErrorInfo): boolean {
    const key = keyOf(target, thinking);
    const next = (this.#refused.get(key) ?? 0) + 1;
    if (code !== "bad-request" || !REFUSED.test(message) || next >= waysOf(thinking).length) return false;
    if (this.#refused.size >= MAX_KNOWN) this.#refused.clear();
    this.#refused.set(key, next);
    return true;
  }
}

const keyOf = ({ upstream, model }: Target, { enabled, effort, budget }: ThinkingSettings): string =>
  JSON.stringify([upstream, model, enabled, effort, budget !== undefined]);
