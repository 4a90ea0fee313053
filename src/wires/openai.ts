/** What OpenAI's two APIs have in common: tools and which of them may be called, efforts, usage, the form of the output. */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Request, ThinkingSettings, Tool, ToolChoice, Usage } from "../core/nouns.ts";
import { told } from "./adapt.ts";
import { toolKind } from "./bridge.ts";
import { Names } from "./names.ts";
import { defined, fields, inside, listOf, numberOf, objectOf, oneOf, restOf, some, textOf } from "./read.ts";
import { type Source, toolName } from "./request-in.ts";
import { strictSchema } from "./schema-out.ts";
import type { Warnings } from "./warnings.ts";
import type { Draft } from "./wire.ts";

export const NAME_RULE = { forbidden: /[^\w-]/g, max: 64 } as const;

// ---- Tools. In chat completions most of a tool stands inside of its kind: `{"type": "function", "function": {"name": "f"}}`

/**
 * What the text of a custom tool must look like, and what is left of the fields beside it. `inner`: the key of the format that says it,
 * where that is not the format itself.
 */
export function readFormat({ format, ...others }: JsonObject, inner?: string): [grammar: Tool["grammar"], rest: JsonObject] {
  const { type, ...outer } = objectOf(format);
  const { [inner ?? ""]: given, ...beside } = inner ? outer : {};
  const { syntax, definition, ...unread } = inner ? objectOf(given) : outer;
  const isGrammar = type === "grammar" && typeof syntax === "string" && typeof definition === "string";
  if (!isGrammar && (type !== "text" || inner)) return [undefined, format === undefined ? others : { format, ...others }];
  const left = restOf({ ...beside, ...(inner ? (restOf(unread) ? { [inner]: unread } : {}) : unread) });
  const rest = left ? { ...others, format: left } : others;
  return [isGrammar ? { syntax, definition } : undefined, rest];
}

export const writeStrict = (schema: JsonObject, what: string, warnings: Warnings): JsonObject => told(strictSchema(schema), what, warnings);

export const writeParameters = ({ name, parameters, strict }: Tool, warnings: Warnings): JsonObject | undefined =>
  parameters && strict ? writeStrict(parameters, `the parameters of ${name}`, warnings) : parameters;

const MODES = { auto: "auto", none: "none", required: "required", any: "required" } as const;

export function readChoice(
  from: Source,
  given: Json | undefined,
  key: string,
  tools: readonly Tool[],
  nameOf?: (tool: Tool) => string,
): ToolChoice | undefined {
  if (!isObject(given)) return (given ?? undefined) === undefined ? undefined : oneOf(MODES, given, "", key);
  const isList = given.type === "allowed_tools";
  const spec = isList && isObject(given.allowed_tools) ? given.allowed_tools : given;
  const wanted = isList ? listOf(spec.tools).map(objectOf) : [given];
  if (wanted.some(({ type = "function" }) => type !== "function" && type !== "custom")) {
    from.warn(key, given, "tool-choice", "names a tool that only its own server knows");
    return undefined;
  }
  const { type: _type, mode: _mode, tools: _tools, allowed_tools: _allowed_tools, name: _name, function: fn, custom, ...rest } = given;
  const { name: _inner, ...called } = objectOf(fn ?? custom);
  from.keep(key, rest);
  if (!isList) from.keep(inside(key, fn ? "function" : "custom"), called);
  if (spec !== given) from.keep(inside(key, "allowed_tools"), restOf(spec, (name) => name !== "mode" && name !== "tools") ?? {});
  const allowed = wanted.map((tool) => {
    const kind = textOf(tool.type) ?? "function";
    const inner = tool[kind];
    return toolName(isObject(inner) ? inner.name : tool.name, isObject(inner) ? `${key}.${kind}.name` : `${key}.name`, tools, nameOf);
  });
  if (!isList) return { name: allowed[0]! };
  return spec.mode === "required" ? { allowed, required: true } : { allowed };
}

/** `isWrapped`: chat's form. */
export function writeChoice(choice: ToolChoice, { tools }: Request, nameOf: (name: string) => string, isWrapped: boolean): unknown {
  if (typeof choice === "string") return choice;
  const named = (own: string) => {
    const [type, name] = [toolKind(tools, own), nameOf(own)];
    return isWrapped ? { type, [type]: { name } } : { type, name };
  };
  if ("name" in choice) return named(choice.name);
  const allowed = { mode: choice.required ? "required" : "auto", tools: choice.allowed.map(named) };
  return { type: "allowed_tools", ...(isWrapped ? { allowed_tools: allowed } : allowed) };
}

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
  const draft: Draft = { [prompt]: inputTokens, [answer]: outputTokens, total_tokens: inputTokens + outputTokens };
  const details = some<Draft>({ cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens });
  if (details) draft[`${prompt}_details`] = details;
  if (thinkingTokens !== undefined) draft[`${answer}_details`] = { reasoning_tokens: thinkingTokens };
  return draft;
}

// ---- Structured output: `{"type": "json_schema", …}`

/** What it is called when nobody named it. */
const OUTPUT_NAME = "output";

const OUTPUT = { schema: "schema", name: "name", strict: "strict" } as const;

/** `inner`: the key that the schema stands under with its name, where that is not the format itself. */
export function readOutput(format: JsonObject | undefined, at: string, from: Source, inner?: string): Request["output"] {
  const { type, ...flat } = format ?? {};
  if (!format || (type === "text" && !restOf(flat))) return undefined;
  if (type === "json_object") {
    from.keep(at, flat);
    return {};
  }
  if (type === "text")
    from.take(at, format, true); // nothing but itself would say it
  else if (type !== "json_schema") from.unknown(at, format, "output", textOf(type));
  if (type !== "json_schema") {
    return undefined;
  }
  const place = inner ? inside(at, inner) : at;
  const spec = inner ? objectOf(flat[inner]) : flat;
  const [output, rest] = fields<NonNullable<Request["output"]>>(spec, OUTPUT, place);
  if (output.name === OUTPUT_NAME) delete output.name;
  from.keep(place, rest);
  if (inner) from.keep(at, restOf(flat, (key) => key !== inner) ?? {});
  return output;
}

export function writeOutput(output: NonNullable<Request["output"]>, warnings: Warnings, inner?: string): Draft {
  const { schema, name = OUTPUT_NAME, strict } = output;
  if (!schema) return { type: "json_object" };
  const closed = strict ? writeStrict(schema, "the output's schema", warnings) : schema;
  const spec = defined<Draft>({ name: new Names([], NAME_RULE).out(name), schema: closed, strict });
  return { type: "json_schema", ...(inner ? { [inner]: spec } : spec) };
}
