/**
 * Models differ in how they accept settings for thinking: one takes an effort, another a budget, a third neither, and each refuses the
 * rest. A request refused for its thinking settings is sent again the other way, then without. The way that a model accepted is remembered
 * for a while; after that, the first way is tried again.
 */
import type { ErrorInfo, Request, ThinkingSettings } from "../../core/nouns.ts";
import { BUDGETS, effortOf } from "../../wires/effort.ts";
import { Remembered } from "../remembered.ts";
import { REFUSED } from "./lessons.ts";

/** How errors name the settings: `thinking.type`, `Thinking level`, `think value "max"`, `reasoning_effort`, `reasoningEffort`. */
const SETTING = /\bthink(?:ing)?(?:\b|[_A-Z])|reasoning|effort/i;
/**
 * Errors about the conversation or the token limit, not the settings: `messages.1.content.0.type: Expected `thinking``, `Invalid
 * `signature` in `thinking` block`, `Item 'rs_1' of type 'reasoning' was provided without …`, DeepSeek: `reasoning_content must be passed
 * back`, `max_tokens must be greater than thinking.budget_tokens`.
 */
const ELSEWHERE =
  /\b(?:messages|contents|input)\b\W*\d|signature|\b(?:block|item)s?\b|redacted|reasoning_(?:content|details)|(?<![.\w])max_?(?:output_?|completion_?)?tokens/i;

/** Whether an error refuses the thinking settings. */
export function refusesThinking({ code, message, param = "" }: ErrorInfo): boolean {
  const said = `${param} ${message}`;
  return code === "bad-request" && SETTING.test(said) && REFUSED.test(said) && !ELSEWHERE.test(said);
}

/** The settings to try, in order: first as given, at last none. */
export function waysToThink(thinking: ThinkingSettings): readonly (ThinkingSettings | undefined)[] {
  const { effort, budget, ...rest } = thinking;
  const less: ThinkingSettings[] = effort === "max" ? [{ ...rest, effort: "xhigh" }] : []; // most models know only one of the two
  if (effort !== undefined) return [thinking, ...less, { ...rest, enabled: true, budget: BUDGETS[effort] }, undefined];
  if (budget !== undefined && budget > 0) return [thinking, { ...rest, enabled: true, effort: effortOf(budget) }, undefined];
  return [thinking, undefined];
}

export class ThinkingWays {
  /** The way that each model accepted, as an index into `waysToThink`. */
  readonly #taken: Remembered<number>;

  constructor(now?: () => number) {
    this.#taken = new Remembered(now);
  }

  /** The way to try first. */
  first(request: Request): number {
    return this.#taken.get(keyOf(request)) ?? 0;
  }

  /** The model accepted this way. If an earlier way is known to work, that stays remembered: the refusal concerned this request only. */
  took(request: Request, way: number): void {
    const key = keyOf(request);
    if (way === 0 || (this.#taken.get(key) ?? way + 1) > way) this.#taken.set(key, way);
  }
}

/** The key includes whether there are tools: some models refuse thinking only together with tools. */
const keyOf = ({ model, thinking: { enabled, effort, budget } = {}, tools = [] }: Request): string =>
  JSON.stringify([model, enabled, effort, budget !== undefined, tools.length > 0]);
