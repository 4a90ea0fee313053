/**
 * Models want to be told to think in different ways: one takes an effort, another a budget, a third neither, and each refuses what it
 * does not take. A request that is refused for that is asked again the other way, and then without; what a model refused is remembered.
 */
import type { ErrorInfo, ThinkingSettings } from "../core/nouns.ts";
import { BUDGETS, effortOf } from "../wires/effort.ts";
import type { Target } from "./models.ts";

/** Names come from clients: more are not remembered. */
const MAX_KNOWN = 1000;

/** The refusals: `thinking.type.enabled is not supported`, `Thinking level is not supported`, `does not support thinking`, a list of efforts. */
const REFUSED = /thinking|reasoning|effort/i;

/** How a request can be put: as it is first, and at last without a word about thinking. */
export function waysToThink(thinking: ThinkingSettings): readonly (ThinkingSettings | undefined)[] {
  const { effort, budget, ...rest } = thinking;
  if (effort !== undefined) return [thinking, { ...rest, enabled: true, budget: BUDGETS[effort] }, undefined];
  if (budget !== undefined && budget > 0) return [thinking, { ...rest, enabled: true, effort: effortOf(budget) }, undefined];
  return [thinking, undefined];
}

export class ThinkingWays {
  /** Which way a model takes, where it refused the ones before. */
  readonly #taken = new Map<string, number>();

  /** The way to begin with. */
  first(target: Target, thinking: ThinkingSettings): number {
    return this.#taken.get(keyOf(target, thinking)) ?? 0;
  }

  /** The next way, if this error refuses the one that was taken and there is another. What no way helps against was something else. */
  next(target: Target, thinking: ThinkingSettings, way: number, { code, message }: ErrorInfo): number | undefined {
    if (code !== "bad-request" || !REFUSED.test(message)) return undefined;
    const key = keyOf(target, thinking);
    const next = way + 1;
    if (next === waysToThink(thinking).length) {
      this.#taken.delete(key);
      return undefined;
    }
    if (this.#taken.size >= MAX_KNOWN) this.#taken.clear();
    this.#taken.set(key, next);
    return next;
  }
}

const keyOf = ({ upstream, model }: Target, { enabled, effort, budget }: ThinkingSettings): string =>
  JSON.stringify([upstream, model, enabled, effort, budget !== undefined]);
