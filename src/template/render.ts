/** Runs a Jinja chat template with the optional package `@huggingface/jinja`, which is loaded when it is first needed. */
import type { Json, Request } from "../core/nouns.ts";
import type { RenderOptions } from "../dialects/dialect.ts";
import { thinkingOption } from "../dialects/options.ts";
import { type Conversation, conversationOf, type Form } from "./conversation.ts";

export interface TemplateOptions extends Omit<RenderOptions, "variant" | "bos"> {
  /** What the tokenizer's configuration says; empty by default, because most tokenizers add the first themselves. */
  bosToken?: string;
  eosToken?: string;
  /** Variables that only this template knows. */
  variables?: Readonly<Record<string, Json>>;
}

/** The template is broken, or it refuses the conversation, or it cannot be run here. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

export async function renderWithTemplate(template: string, request: Request, options: TemplateOptions = {}): Promise<string> {
  const { Template } = await loadJinja();
  const variables = variablesOf(request, options);
  const source = template.replaceAll("strftime_now", CLOCK);
  const render = (conversation: Conversation): string =>
    new Template(source).render({ ...variables, ...conversation, tools: conversation.tools ?? null });
  try {
    return render(conversationOf(request, template, { argumentsAsText: false }));
  } catch (error) {
    for (const form of FORMS) {
      const again = attempt(() => render(conversationOf(request, template, form)));
      if (again !== undefined) return again;
    }
    throw new TemplateError(`the template failed: ${lineOf(error)}`, { cause: error });
  }
}

/** The package has a `strftime_now` of its own that cannot be replaced, and its clock cannot be set. */
const CLOCK = "strftime_at_request";

async function loadJinja(): Promise<typeof import("@huggingface/jinja")> {
  try {
    return await import("@huggingface/jinja");
  } catch (error) {
    throw new TemplateError("templates need the optional package @huggingface/jinja: npm install @huggingface/jinja", { cause: error });
  }
}

/** What a template that fails is tried with. */
const FORMS: readonly Form[] = [{ argumentsAsText: true }, { argumentsAsText: false, emptyTools: true }];

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

const lineOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ").slice(0, 300);

function variablesOf(request: Request, options: TemplateOptions): Record<string, unknown> {
  const { addGenerationPrompt = true, bosToken = "", eosToken = "", now = new Date(), variables = {} } = options;
  const thinking = thinkingOption(request, options);
  const { effort, keep } = request.thinking ?? {};
  return {
    add_generation_prompt: addGenerationPrompt,
    bos_token: bosToken,
    eos_token: eosToken,
    [CLOCK]: (format: string) => strftime(format, now),
    ...(thinking !== undefined && { enable_thinking: thinking, thinking }), // Qwen and GLM say one, DeepSeek says the other
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(keep !== undefined && { preserve_thinking: keep, clear_thinking: !keep }),
    ...variables,
  };
}

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = "January February March April May June July August September October November December".split(" ");
const two = (value: number): string => String(value).padStart(2, "0");

/** What templates ask for; anything else stays as it stands. */
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
