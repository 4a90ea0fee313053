/** What OpenAI's two APIs have in common: tools and tool choice, efforts, usage, structured output. */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Message, Request, ThinkingSettings, Tool, ToolChoice, Usage } from "../core/nouns.ts";
import type { Out } from "./abilities.ts";
import { withInstruction } from "./adapt-messages.ts";
import { nativeType, toolKind } from "./bridge.ts";
import { effortOf } from "./effort.ts";
import { told } from "./encoded.ts";
import type { Fields } from "./fields.ts";
import { Names } from "./names.ts";
import { defined, isText, listOf, objectOf, some, spelling, wholeUsage } from "./read.ts";
import { type Source, toolName } from "./request-in.ts";
import { objectSchema, strictSchema } from "./schema-out.ts";
import type { Warnings } from "./warnings.ts";
import type { Draft } from "./wire.ts";
import { wrappedSchema } from "./wrapped.ts";

/** Fields of the APIs' own bookkeeping, which other wires leave out without a warning. */
export const BOOKKEEPING =
  "annotations metadata prompt_cache_breakpoint prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier service_tier stream_options user";

export const NAME_RULE = { forbidden: /[^\w-]/g, max: 64 } as const;

// ---- Tools. In chat completions most fields of a tool are in an inner object: `{"type": "function", "function": {"name": "f"}}`

/** The grammar of a custom tool's input. `inner`: the key of the format that holds the grammar; absent: the format itself does. */
export function readFormat(tool: Fields, inner?: string): Pick<Tool, "grammar"> {
  const { type, ...flat } = objectOf(tool.value.format);
  const { syntax, definition } = objectOf(inner ? flat[inner] : flat);
  const isGrammar = type === "grammar" && isText(syntax) && isText(definition);
  if (!isGrammar && (type !== "text" || inner)) return {};
  const format = tool.inner("format");
  format.ask("type");
  (inner ? format.inner(inner) : format).ask("syntax", "definition");
  return isGrammar ? { grammar: { syntax, definition } } : {};
}

/** The tool with a schema that the server accepts: OpenAI's own servers refuse some, and have rules for strict ones; others get it unchanged. */
export function sayable(tool: Tool, { request, profile, warnings, nulls }: Out): Tool {
  const { name, parameters, strict } = tool;
  if (!parameters || !profile.official || (strict && request.from?.startsWith("openai"))) return tool;
  const closed = strict ? strictSchema(parameters) : undefined;
  if (closed?.nulls) nulls[name] = parameters;
  if (closed) return { ...tool, parameters: closed.schema };
  if (strict) warnings.dropped(`strict of ${name}, whose schema does not fit strict mode,`);
  const { strict: _strict, ...loose } = tool;
  return { ...loose, parameters: { properties: {}, ...told(objectSchema(parameters), `the parameters of ${name}`, warnings) } };
}

const MODES = { ...spelling("auto none required"), any: "required" } as const;

/** The tool of this type, if it is one that the API defines. */
const nativeIn = (tools: readonly Tool[], type: Json | undefined): Tool | undefined =>
  tools.find((tool) => type !== undefined && nativeType("openai-responses", tool) === type);

export function readChoice(
  root: Fields,
  key: string,
  tools: readonly Tool[],
  from: Source,
  nameOf?: (tool: Tool) => string,
): ToolChoice | undefined {
  if (!isObject(root.value[key])) return root.json(key) === undefined ? undefined : root.word(key, MODES);
  const choice = root.thing(key)!;
  const isList = choice.value.type === "allowed_tools";
  const spec = choice.object("allowed_tools") ?? choice;
  const wanted = isList ? listOf(spec.value.tools).map(objectOf) : [choice.value];
  const isOurs = ({ type = "function" }: JsonObject): boolean =>
    type === "function" || type === "custom" || nativeIn(tools, type) !== undefined;
  if (!wanted.some(isOurs)) {
    from.warn(choice, "tool-choice", "names a tool that only its own server knows");
    return undefined;
  }
  const named = (given: Fields): string => {
    const native = nativeIn(tools, given.json("type"));
    if (native) return native.name;
    const tool = given.object(given.text("type") ?? "function") ?? given;
    return toolName(tool.json("name"), tool.place("name"), tools, nameOf);
  };
  const name = isList ? undefined : named(choice);
  const allowed = spec.each("tools", (tool) => {
    if (!isOurs(tool.value)) return from.unknown(tool, "tool");
    const name = named(tool);
    from.keep(tool);
    return name;
  });
  choice.ask("type");
  spec.ask("mode");
  from.keep(choice);
  if (name !== undefined) return { name };
  return { allowed: allowed.flat(), ...(spec.value.mode === "required" ? { required: true } : {}) };
}

/** `isWrapped`: in the form of chat completions. */
export function writeChoice(choice: ToolChoice, { tools }: Request, nameOf: (name: string) => string, isWrapped: boolean): unknown {
  if (isText(choice)) return choice;
  const named = (own: string) => {
    const native = isWrapped
      ? undefined
      : nativeType(
          "openai-responses",
          tools?.find(({ name }) => name === own),
        );
    if (native) return { type: native };
    const [type, name] = [toolKind(tools, own), nameOf(own)];
    return isWrapped ? { type, [type]: { name } } : { type, name };
  };
  if ("name" in choice) return named(choice.name);
  const allowed = { mode: choice.required ? "required" : "auto", tools: choice.allowed.map(named) };
  return { type: "allowed_tools", ...(isWrapped ? { allowed_tools: allowed } : allowed) };
}

// ---- Thinking

export const EFFORTS: Readonly<Record<string, ThinkingSettings>> = {
  none: { enabled: false },
  ...Object.fromEntries((["minimal", "low", "medium", "high", "xhigh", "max"] as const).map((effort) => [effort, { effort }])),
};

/** The effort that expresses the thinking settings. */
export function effortWord({ enabled, effort, budget, keep }: ThinkingSettings, warnings: Warnings): string | undefined {
  if (keep !== undefined) warnings.dropped("thinking.keep");
  if (enabled === false) return "none";
  if (effort === undefined && budget !== undefined) warnings.converted("a budget for thinking", "an effort");
  else if (budget !== undefined) warnings.dropped("thinking.budget");
  else if (enabled && effort === undefined) warnings.dropped("thinking.enabled");
  return effort ?? (budget === undefined ? undefined : effortOf(budget));
}

// ---- Usage: the same counts under different names

export const CHAT_USAGE = ["prompt_tokens", "completion_tokens", "prompt_tokens_details", "completion_tokens_details"] as const;
export const RESPONSES_USAGE = ["input_tokens", "output_tokens", "input_tokens_details", "output_tokens_details"] as const;

type UsageNames = typeof CHAT_USAGE | typeof RESPONSES_USAGE;

/** The counts in either details object. */
const DETAILS = { reasoning_tokens: "thinkingTokens", cached_tokens: "cachedTokens", cache_write_tokens: "cacheWriteTokens" } as const;

export function readUsage(usage: Fields, [prompt, answer, promptDetails, answerDetails]: UsageNames): Usage {
  const counts = usage.read<Usage>({ [prompt]: "inputTokens", [answer]: "outputTokens" });
  const all: Usage = {
    ...wholeUsage(counts, usage.number("total_tokens")),
    ...usage.object(promptDetails)?.read<Usage>(DETAILS),
    ...usage.object(answerDetails)?.read<Usage>(DETAILS),
  };
  const { outputTokens = 0, thinkingTokens = 0 } = all;
  if (thinkingTokens > outputTokens) all.outputTokens = outputTokens + thinkingTokens; // Vercel's gateway leaves thinking out of the output
  return all;
}

export function writeUsage(usage: Usage, [prompt, answer, promptDetails, answerDetails]: UsageNames): Draft {
  const { inputTokens = 0, outputTokens = 0, cachedTokens, cacheWriteTokens, thinkingTokens } = usage;
  const draft: Draft = {};
  draft[prompt] = inputTokens; // assigned one by one: an object literal with computed names is slow
  draft[answer] = outputTokens;
  draft.total_tokens = inputTokens + outputTokens;
  const details = some<Draft>({ cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens });
  if (details) draft[promptDetails] = details;
  if (thinkingTokens !== undefined) draft[answerDetails] = { reasoning_tokens: thinkingTokens };
  return draft;
}

// ---- Structured output: `{"type": "json_schema", …}`

/** The name of an output that has none. */
const OUTPUT_NAME = "output";

const OUTPUT = spelling("schema name strict description");

/** `inner`: the key of the object that holds name and schema; absent: the format itself does. */
export function readOutput(given: Fields, key: string, from: Source, inner?: string): Request["output"] {
  const format = given.thing(key);
  const type = format?.json("type");
  if (!format) return undefined;
  if (type === "text") {
    if (format.rest()) from.take(format.at, format.value, true); // `{"type": "text"}` is the default; with other fields it must be kept
    return undefined;
  }
  if (type !== "json_object" && type !== "json_schema") {
    from.unknown(format, "output");
    return undefined;
  }
  const output = (inner ? format.inner(inner) : format).read<NonNullable<Request["output"]>>(OUTPUT);
  if (output.name === OUTPUT_NAME) delete output.name;
  from.keep(format);
  return output;
}

/** OpenAI's own servers accept only schemas of objects: any other schema from another wire's client is wrapped in one. */
export function writeOutput(out: Out, inner?: string): Draft | undefined {
  const { output, from } = out.request;
  if (!output) return undefined;
  const { schema: given, name = OUTPUT_NAME, strict, description } = output;
  if (!given && !(inner && output.name)) return { type: "json_object" }; // only chat completions accept a name without a schema
  const wraps = given && out.profile.official && given.type !== "object" && !from?.startsWith("openai");
  if (wraps) out.wrapped = true;
  const schema = wraps ? wrappedSchema(given) : given;
  const spec = defined<Draft>({ name: new Names([], NAME_RULE).out(name), description, schema, strict });
  return { type: "json_schema", ...(inner ? { [inner]: spec } : spec) };
}

const ASK_FOR_JSON = "Answer in JSON.";

/** OpenAI's own servers refuse JSON output without a schema if none of these messages contains the word "json". */
export function askForJson({ request, profile, warnings }: Out, looked: readonly Message[] = request.messages): void {
  const { output, messages, from } = request;
  if (!profile.official || !output || output.schema || from?.startsWith("openai") || /json/i.test(JSON.stringify(looked))) return;
  warnings.add("output", `"${ASK_FOR_JSON}" was put before the conversation: JSON without a schema is only given if a message mentions it`);
  request.messages = withInstruction(messages, ASK_FOR_JSON);
}
