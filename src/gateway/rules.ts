/** The configuration's rules for models, by name or by a pattern of names. */
import type { Sampling, ThinkingSettings } from "../core/nouns.ts";
import type { Modes } from "./modes.ts";

export interface ModelRule extends Modes {
  /** The model that clients ask for: a name, or a pattern in which `*` stands for anything. */
  readonly name: string;
  /** Either another name to use instead (`alias`), or the upstream and its own name for the model (by default the name asked for). */
  readonly alias?: string | undefined;
  readonly upstream?: string | undefined;
  readonly model?: string | undefined;
  /** Defaults for what the request leaves open. */
  readonly sampling?: Sampling | undefined;
  readonly thinking?: ThinkingSettings | undefined;
  readonly maxTokens?: number | undefined;
  /** How many tokens the model takes, prompt and answer together; by default what the upstream lists. */
  readonly context?: number | undefined;
  /** Whether calls outside their tool's schema are counted and named in the log (`report`, the default). */
  readonly validate?: "off" | "report" | undefined;
}

/** An exact name wins over patterns, and a pattern with more literal characters over one with fewer. */
export function ruleFor(asked: string, rules: readonly ModelRule[]): ModelRule | undefined {
  const exact = rules.find(({ name }) => name === asked);
  if (exact) return exact;
  const literal = (rule: ModelRule): number => rule.name.replaceAll("*", "").length;
  const matching = rules.filter(({ name }) => name.includes("*") && matches(name, asked));
  return matching.reduce<ModelRule | undefined>((best, rule) => (best && literal(best) >= literal(rule) ? best : rule), undefined);
}

/** The names of a circle of aliases, if there is one. */
export function circleOf(rules: readonly ModelRule[]): string[] | undefined {
  for (const { name, alias } of rules) {
    const way = [name];
    for (let next = alias; next !== undefined; next = ruleFor(next, rules)?.alias) {
      if (way.includes(next, 1) || next === name) return [...way, next];
      way.push(next);
    }
  }
  return undefined;
}

/** Each literal is searched for once, from the left, so no pattern takes long. */
function matches(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (!text.startsWith(first)) return false;
  let at = first.length;
  const last = rest.pop() ?? "";
  for (const literal of rest) {
    const found = text.indexOf(literal, at);
    if (found < 0) return false;
    at = found + literal.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
