/** Runs a Jinja chat template with the optional package `@huggingface/jinja`, which is loaded on first use. */
import type { Effort, Json, JsonObject, Request } from "../core/nouns.ts";
import type { RenderOptions } from "../dialects/dialect.ts";
import { declareTools } from "../dialects/kimi-tools.ts";
import { thinkingOption } from "../dialects/options.ts";
import type { Numeral } from "../dialects/print.ts";
import { callsOf, textOf } from "../dialects/transcript.ts";
import { conversationOf, type Form } from "./conversation.ts";
import { helpers, mend } from "./mend.ts";

export interface TemplateOptions extends Omit<RenderOptions, "variant" | "bos"> {
  /** From the tokenizer's configuration. Default: empty, because most tokenizers add the BOS token themselves. */
  bosToken?: string | undefined;
  eosToken?: string | undefined;
  /** Further variables for this template. */
  variables?: Readonly<Record<string, Json>> | undefined;
}

/** The template is broken, refuses the conversation, or cannot be run by the package. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

/** The prompt that a model's own Jinja template gives. Throws `TemplateError`. */
export async function renderWithTemplate(template: string, request: Request, options: TemplateOptions = {}): Promise<string> {
  const { Template } = await loadJinja();
  const numerals = new Numerals(request);
  const functions = helpers();
  const tried = new Set<string>();
  let failure: unknown;
  try {
    const parsed = new Template(SLIPS.reduce((source, [slip, mended]) => source.replaceAll(slip, mended), template));
    mend(parsed.parsed);
    const render = (form: Form): string | undefined => {
      const { messages, tools = null } = conversationOf(request, { template, form, numeral: (one) => numerals.standIn(one) });
      const variables = variablesOf(template, request, options, form);
      if (tools && template.includes(XML_TOOLS)) variables[XML_TOOLS] = tools;
      if (request.tools?.length && template.includes(TYPESCRIPT_TOOLS)) variables[TYPESCRIPT_TOOLS] = declareTools(request.tools);
      const said = JSON.stringify([messages, tools, variables]);
      if (tried.has(said)) return undefined;
      tried.add(said);
      try {
        return numerals.restored(parsed.render({ ...variables, ...functions, messages, tools }));
      } catch (error) {
        failure ??= error;
        return undefined;
      }
    };
    for (const form of FORMS) {
      const prompt = render(form);
      if (prompt !== undefined) return fullest(prompt, request, (more) => render({ ...form, ...more }));
    }
  } catch (error) {
    failure = error;
  }
  throw new TemplateError(`the template failed: ${lineOf(failure)}`, { cause: failure });
}

/** The variable in which SmolLM3's template expects the tools. */
const XML_TOOLS = "xml_tools";
/** The one in which the tokenizer of Kimi K2.5 passes them on. */
const TYPESCRIPT_TOOLS = "tools_ts_str";

/** Forms to try if a template drops part of its input: all but one system message, all but one call, or arguments that are not text. */
const FULLER: readonly Form[] = [{ oneSystem: true }, { oneCall: true }, { oneSystem: true, oneCall: true }, { argumentsAsText: true }];

function fullest(prompt: string, request: Request, render: (form: Form) => string | undefined): string {
  const given = givenIn(request);
  const lost = (prompt: string): number => given.filter((text) => !prompt.includes(text)).length;
  let best = { prompt, lost: lost(prompt) };
  for (const form of best.lost > 0 ? FULLER : []) {
    const other = render(form);
    if (other !== undefined && lost(other) < best.lost) best = { prompt: other, lost: lost(other) };
  }
  return best.prompt;
}

/** What every prompt must contain: the system messages, and the strings in the arguments of calls. */
const givenIn = ({ messages }: Request): string[] =>
  messages.flatMap((message): string[] => {
    if (message.role === "system" || message.role === "developer") return [textOf(message.content).trim()];
    if (message.role !== "assistant") return [];
    return callsOf(message.content).flatMap((call) => Object.values(call.arguments).filter((value) => typeof value === "string"));
  });

/** Replaces the package's own `strftime_now`, which cannot be overridden and always uses the current time. */
const CLOCK = "strftime_at_request";

/** Source text that the package cannot run, and its replacement. The last is an error in Hermes' templates that only Python tolerates. */
const SLIPS = [
  ["strftime_now", CLOCK],
  ['"%s" | format(', '"" ~ ('],
  [/'([^'{}]*)\{\}([^'{}]*)'\.format\(([^()]*)\)/g, "('$1' ~ ($3) ~ '$2')"],
  [/(\[[^[\]]*\]) *\| *min\b/g, "($1 | sort | first)"],
  ["json_spec|items", "json_spec.items"],
] as const;

/** Forms to try if a template fails: each of these, then all pairs. */
const SINGLE: readonly Form[] = [
  { argumentsAsText: true },
  { nearEffort: true },
  { emptyTools: true },
  { nineCharacters: true },
  { alternating: true },
  { noSystem: true },
  { parts: true },
  { typed: true },
  { described: true },
  { nullsAsWords: true },
  { saidInThinking: true },
  { oneCall: true },
];
const FORMS: readonly Form[] = [{}, ...SINGLE, ...SINGLE.flatMap((one, i) => SINGLE.slice(i + 1).map((other) => ({ ...one, ...other })))];

/**
 * Preserves numbers whose spelling JavaScript would change (`1.0`, integers over 2^53). The template gets another number in place of
 * each, one that the conversation does not contain; in the prompt it is replaced with the original spelling.
 */
class Numerals {
  readonly #request: Request;
  /** The spellings by their stand-ins, and the other way round. */
  readonly #texts = new Map<string, string>();
  readonly #standIns = new Map<string, number>();
  #next = 0;

  constructor(request: Request) {
    this.#request = request;
  }

  standIn({ text }: Numeral): number {
    const value = Number(text);
    if (String(value) === text) return value;
    const known = this.#standIns.get(text);
    if (known !== undefined) return known;
    if (this.#next === 0) {
      const said = JSON.stringify(this.#request);
      let base = 731_906_842;
      while (said.includes(String(base))) base++;
      this.#next = base * 1e6;
    }
    this.#texts.set(String(this.#next), text);
    this.#standIns.set(text, this.#next);
    return this.#next++;
  }

  restored(prompt: string): string {
    return this.#next === 0 ? prompt : prompt.replace(/\d{15}/g, (digits) => this.#texts.get(digits) ?? digits);
  }
}

async function loadJinja(): Promise<typeof import("@huggingface/jinja")> {
  try {
    return await import("@huggingface/jinja");
  } catch (error) {
    throw new TemplateError("templates need the optional package @huggingface/jinja: npm install @huggingface/jinja", { cause: error });
  }
}

const lineOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ").slice(0, 300);

const NEAR: Readonly<Record<Effort, Effort>> = { minimal: "low", low: "low", medium: "medium", high: "xhigh", xhigh: "high", max: "xhigh" };

function variablesOf(template: string, request: Request, options: TemplateOptions, { nearEffort }: Form): Record<string, unknown> {
  const { addGenerationPrompt = true, bosToken = "", eosToken = "", now = new Date(), variables = {} } = options;
  const { toolChoice } = request;
  const thinking = thinkingOption(request, options);
  const { effort, keep, budget = thinking === false ? 0 : undefined } = request.thinking ?? {};
  const known = effort && (nearEffort ? NEAR[effort] : effort);
  const format = formatOf(template, request);
  return {
    add_generation_prompt: addGenerationPrompt,
    bos_token: bosToken,
    eos_token: eosToken,
    tool_definition: "", // Llama 4's template appends to it without defining it
    [CLOCK]: (format: string) => strftime(format, now),
    // Each setting has several names: one in Qwen and GLM, others in DeepSeek, Cohere and Kimi.
    ...(thinking !== undefined && { enable_thinking: thinking, thinking, reasoning: thinking }),
    ...(known !== undefined && { reasoning_effort: known, thinking_effort: known }),
    ...(budget !== undefined && { thinking_budget: budget }),
    ...(keep !== undefined && { preserve_thinking: keep, clear_thinking: !keep }),
    ...((toolChoice === "required" || toolChoice === "none") && { tool_choice: toolChoice }),
    ...(format !== undefined && { response_format: format }),
    ...variables,
  };
}

/** The output format as OpenAI or Cohere spell it; the plain schema if the template just prints its value. */
function formatOf(template: string, { output }: Request): JsonObject | undefined {
  if (!output) return undefined;
  const { schema, name = "output" } = output;
  if (!template.includes("json_schema")) return schema;
  if (!schema || template.includes("response_format.schema")) return { type: "json_object", ...(schema && { schema }) };
  return { type: "json_schema", json_schema: { name, schema } };
}

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = "January February March April May June July August September October November December".split(" ");
const two = (value: number): string => String(value).padStart(2, "0");

/** The directives that templates use; others stay unchanged. */
const FIELDS: Readonly<Record<string, (now: Date) => string>> = {
  Y: (now) => String(now.getFullYear()),
  m: (now) => two(now.getMonth() + 1),
  d: (now) => two(now.getDate()),
  e: (now) => String(now.getDate()).padStart(2, " "),
  H: (now) => two(now.getHours()),
  M: (now) => two(now.getMinutes()),
  S: (now) => two(now.getSeconds()),
  B: (now) => MONTHS[now.getMonth()] ?? "",
  b: (now) => (MONTHS[now.getMonth()] ?? "").slice(0, 3),
  A: (now) => DAYS[now.getDay()] ?? "",
  a: (now) => (DAYS[now.getDay()] ?? "").slice(0, 3),
};

const strftime = (format: string, now: Date): string =>
  format.replace(
    /%([a-zA-Z])/g,
    (directive, field: string) => (Object.hasOwn(FIELDS, field) ? FIELDS[field]?.(now) : undefined) ?? directive,
  );
