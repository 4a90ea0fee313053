/** What OpenAI's two APIs have in common: efforts, and the form of the output. */
import type { JsonObject, Request, ThinkingSettings, Usage } from "../core/nouns.ts";
import { told } from "./adapt.ts";
import { Names } from "./names.ts";
import { defined, type Field, numberOf, objectOf, some } from "./read.ts";
import type { Source } from "./request-in.ts";
import { strictSchema } from "./schema-out.ts";
import type { Warnings } from "./warnings.ts";
import type { Draft } from "./wire.ts";

export const NAME_RULE = { forbidden: /[^\w-]/g, max: 64 } as const;

// ---- Thinking

/** Where two words mean the same, the last is written. */
export const EFFORTS: Readonly<Record<string, ThinkingSettings>> = {
  none: { enabled: false },
  minimal: { effort: "minimal" },
  low: { effort: "low" },
  medium: { effort: "medium" },
  high: { effort: "high" },
  max: { effort: "max" },
  xhigh: { effort: "max" },
};

/** The word for how much thinking is wanted. */
export function effortWord({ enabled, effort, budget, keep }: ThinkingSettings, warnings: Warnings): string | undefined {
  if (keep !== undefined) warnings.dropped("thinking.keep");
  if (enabled === false) return "none";
  if (effort === undefined && budget !== undefined) warnings.converted("a budget for thinking", "an effort");
  else if (budget !== undefined) warnings.dropped("thinking.budget");
  else if (enabled && effort === undefined) warnings.dropped("thinking.enabled");
  const wanted = effort ?? (budget === undefined ? undefined : effortOf(budget));
  return wanted && Object.keys(EFFORTS).findLast((word) => EFFORTS[word]?.effort === wanted);
}

/** How much thinking so many tokens are. */
const effortOf = (budget: number): NonNullable<ThinkingSettings["effort"]> =>
  budget < 0 ? "medium" : budget <= 1024 ? "minimal" : budget <= 4096 ? "low" : budget <= 16_384 ? "medium" : "high";

// ---- Usage, told alike under two names

export const CHAT_USAGE = ["prompt_tokens", "completion_tokens"] as const;
export const RESPONSES_USAGE = ["input_tokens", "output_tokens"] as const;

type UsageNames = typeof CHAT_USAGE | typeof RESPONSES_USAGE;

export function readUsage(usage: JsonObject, [prompt, answer]: UsageNames): Usage {
  const [input, output] = [objectOf(usage[`${prompt}_details`]), objectOf(usage[`${answer}_details`])];
  return defined<Usage>({
    inputTokens: numberOf(usage[prompt]),
    outputTokens: numberOf(usage[answer]),
    thinkingTokens: numberOf(output.reasoning_tokens),
    cachedTokens: numberOf(input.cached_tokens),
    cacheWriteTokens: numberOf(input.cache_write_tokens),
  });
}

export function writeUsage(usage: Usage, [prompt, answer]: UsageNames): Draft {
  const { inputTokens = 0, outputTokens = 0, cachedTokens, cacheWriteTokens, thinkingTokens } = usage;
  return defined<Draft>({
    [prompt]: inputTokens,
    [answer]: outputTokens,
    total_tokens: inputTokens + outputTokens,
    [`${prompt}_details`]: some({ cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens }),
    [`${answer}_details`]: some({ reasoning_tokens: thinkingTokens }),
  });
}

// ---- Structured output: `{"type": "json_schema", …}`

/** What it is called when nobody named it. */
const OUTPUT_NAME = "output";

/** `inside`: the key that the schema stands under with its name, where that is not the format itself. */
export function readOutput(format: Field, from: Source, inside?: string): Request["output"] {
  const type = format.object() && format.at("type").name();
  if (type === undefined || type === "text") return undefined;
  if (type === "json_object") return {};
  if (type !== "json_schema") {
    from.unknown(format, "output", type);
    return undefined;
  }
  const spec = inside ? format.at(inside) : format;
  const name = spec.at("name").string();
  const [schema, strict] = [spec.at("schema").object(), spec.at("strict").boolean()];
  from.keep(spec);
  return defined<NonNullable<Request["output"]>>({ schema, name: name === OUTPUT_NAME ? undefined : name, strict });
}

export function writeOutput(output: NonNullable<Request["output"]>, warnings: Warnings, inside?: string): Draft {
  const { schema, name = OUTPUT_NAME, strict } = output;
  if (!schema) return { type: "json_object" };
  const closed = strict ? writeStrict(schema, "the output's schema", warnings) : schema;
  const spec = defined<Draft>({ name: new Names([], NAME_RULE).out(name), schema: closed, strict });
  return { type: "json_schema", ...(inside ? { [inside]: spec } : spec) };
}

export const writeStrict = (schema: JsonObject, what: string, warnings: Warnings): JsonObject => told(strictSchema(schema), what, warnings);
