/** What OpenAI's two APIs have in common: efforts, and the form of the output. */
import type { JsonObject, Request, ThinkingSettings, WireId } from "../core/nouns.ts";
import { Names } from "./names.ts";
import type { Draft, Unmodelled } from "./opaque.ts";
import { defined, type Field } from "./read.ts";
import { strictSchema } from "./schema-out.ts";
import type { Warnings } from "./warnings.ts";

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
export function effortWord({ enabled, effort, budget, keep }: ThinkingSettings, wire: WireId, warnings: Warnings): string | undefined {
  if (keep !== undefined) warnings.dropped("thinking.keep", wire);
  if (enabled === false) return "none";
  if (effort === undefined && budget !== undefined) warnings.converted("a budget for thinking", "an effort");
  else if (budget !== undefined) warnings.dropped("thinking.budget", wire);
  else if (enabled && effort === undefined) warnings.dropped("thinking.enabled", wire);
  const wanted = effort ?? (budget === undefined ? undefined : effortOf(budget));
  return wanted && Object.keys(EFFORTS).findLast((word) => EFFORTS[word]?.effort === wanted);
}

/** How much thinking so many tokens are. */
const effortOf = (budget: number): NonNullable<ThinkingSettings["effort"]> =>
  budget < 0 ? "medium" : budget <= 1024 ? "minimal" : budget <= 4096 ? "low" : budget <= 16_384 ? "medium" : "high";

// ---- Structured output: `{"type": "json_schema", …}`

/** What it is called when nobody named it. */
const OUTPUT_NAME = "output";

/** `inside`: the key that the schema stands under with its name, where that is not the format itself. */
export function readOutput(format: Field, rest: Unmodelled, inside?: string): Request["output"] {
  const type = format.object() && format.at("type").name();
  if (type === undefined || type === "text") return undefined;
  if (type === "json_object") return {};
  if (type !== "json_schema") {
    rest.warn(format, "output-kind", `asks for "${type}", which only its own server knows`);
    return undefined;
  }
  const spec = inside ? format.at(inside) : format;
  const name = spec.at("name").string();
  const [schema, strict] = [spec.at("schema").object(), spec.at("strict").boolean()];
  rest.keep(spec);
  return defined<NonNullable<Request["output"]>>({ schema, name: name === OUTPUT_NAME ? undefined : name, strict });
}

export function writeOutput(output: NonNullable<Request["output"]>, warnings: Warnings, inside?: string): Draft {
  const { schema, name = OUTPUT_NAME, strict } = output;
  if (!schema) return { type: "json_object" };
  const closed = strict ? writeStrict(schema, "the output's schema", warnings) : schema;
  const spec = defined<Draft>({ name: new Names([], NAME_RULE).out(name), schema: closed, strict });
  return { type: "json_schema", ...(inside ? { [inside]: spec } : spec) };
}

export function writeStrict(schema: JsonObject, what: string, warnings: Warnings): JsonObject {
  const { schema: strict, lost } = strictSchema(schema);
  for (const { path, keyword } of lost) warnings.add("schema", `${what} lost "${keyword}" at "${path}" in strict mode`);
  return strict;
}
