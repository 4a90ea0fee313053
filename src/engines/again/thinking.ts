/**
 * Models want to be told to think in different ways: one takes an effort, another a budget, a third neither, and each refuses what it
 * does not take. A request that is refused for that is asked again the other way, and then without; which way a model took is remembered
 * for a while, and the first is asked anew behind it.
 */
import type { ErrorInfo, Request, ThinkingSettings } from "../../core/nouns.ts";
import { BUDGETS, effortOf } from "../../wires/effort.ts";
import { Remembered } from "../remembered.ts";
import { REFUSED } from "./lessons.ts";

/** The settings as errors call them: `thinking.type`, `Thinking level`, `think value "max"`, `reasoning_effort`, `reasoningEffort`. */
const SETTING = /\bthink(?:ing)?(?:\b|[_A-Z])|reasoning|effort/i;
/**
 * What is said of this conversation, or of its limit, and not of the settings: `messages.1.content.0.type: Expected `thinking``,
 * `Invalid `signature` in `thinking` block`, `Item 'rs_1' of type 'reasoning' was provided without …`, DeepSeek's `reasoning_content must be
 * passed back`, `max_tokens must be greater than thinking.budget_tokens`.
 */
const ELSEWHERE =
  /\b(?:messages|contents|input)\b\W*\d|signature|\b(?:block|item)s?\b|redacted|reasoning_(?:content|details)|(?<![.\w])max_?(?:output_?|completion_?)?tokens/i;

/** Whether an error refuses how the model was told to think. */
export function refusesThinking({ code, message, param = "" }: ErrorInfo): boolean {
  const said = `${param} ${message}`;
  return code === "bad-request" && SETTING.test(said) && REFUSED.test(said) && !ELSEWHERE.test(said);
}

/** How a request can be put: as it is first, and at last without a word about thinking. */
export function waysToThink(thinking: ThinkingSettings): readonly (ThinkingSettings | undefined)[] {
  const { effort, budget, ...rest } = thinking;
  const less: ThinkingSettings[] = effort === "max" ? [{ ...rest, effort: "xhigh" }] : []; // most models know only one of the two
  if (effort !== undefined) return [thinking, ...less, { ...rest, enabled: true, budget: BUDGETS[effort] }, undefined];
  if (budget !== undefined && budget > 0) return [thinking, { ...rest, enabled: true, effort: effortOf(budget) }, undefined];
  return [thinking, undefined];
}

export class ThinkingWays {
  /** Which way a model took. */
  readonly #taken: Remembered<number>;

  constructor(now?: () => number) {
    this.#taken = new Remembered(now);
  }

  /** The way to begin with. */
  first(request: Request): number {
    return this.#taken.get(keyOf(request)) ?? 0;
  }

  /** The model answered. If it takes an earlier way from others, what was refused was that one request. */
  took(request: Request, way: number): void {
    const key = keyOf(request);
    if (way === 0 || (this.#taken.get(key) ?? way + 1) > way) this.#taken.set(key, way);
  }
}

/** Some models refuse to think only where they have tools. */
const keyOf = ({ model, thinking: { enabled, effort, budget } = {}, tools = [] }: Request): string =>
  JSON.stringify([model, enabled, effort, budget !== undefined, tools.length > 0]);
