/** Compares a template with a dialect: both render a few probes, and the first difference in each is reported. */
import type { Message, Request, Tool, ToolCall } from "../core/nouns.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { promptText } from "../dialects/prompt.ts";
import { renderWithTemplate, TemplateError, type TemplateOptions } from "./render.ts";

export interface CompareOptions extends Pick<TemplateOptions, "bosToken" | "eosToken" | "now"> {
  /** Default: all are tried. */
  variant?: string | undefined;
}

/** A probe that the dialect and the template render differently. */
export interface Difference {
  /** The name of the probe. */
  probe: string;
  /** The position of the first difference, in characters, and the texts around it. */
  at?: number;
  builtIn?: string;
  template?: string;
  /** Set if the template failed. */
  error?: string;
}

export interface Comparison {
  equal: boolean;
  /** The variant that comes closest. */
  variant?: string;
  /** How many probes are equal, and how many there are in all. */
  equalProbes: number;
  probes: number;
  differences: Difference[];
}

/** Tells whether a dialect renders the same prompts as a template, and where they differ first. */
export async function compareTemplate(dialect: Dialect, template: string, options: CompareOptions = {}): Promise<Comparison> {
  const { variant, now = new Date(), eosToken = dialect.stops[0] ?? "" } = options;
  const theirs = await Promise.all(Object.values(PROBES).map((request) => rendered(template, request, { ...options, now, eosToken })));
  const comparisons = (variant === undefined ? dialect.variants : [variant]).map((name): Comparison => {
    const differences = Object.entries(PROBES).flatMap(([probe, request], i): Difference[] => {
      const their = theirs[i];
      if (typeof their !== "string") return [{ probe, error: their?.message ?? "" }];
      // Some templates write the BOS token themselves, while most leave it to the tokenizer.
      const ours = [false, true].map((bos) => promptText(dialect.render(request, { variant: name, now, bos })));
      if (ours.includes(their)) return [];
      const found = ours.map((our) => firstDifference(our, their)).reduce((one, other) => (other.at > one.at ? other : one));
      return [{ probe, ...found }];
    });
    const probes = Object.keys(PROBES).length;
    return { equal: differences.length === 0, variant: name, equalProbes: probes - differences.length, probes, differences };
  });
  return comparisons.reduce((best, other) => (other.equalProbes > best.equalProbes ? other : best));
}

async function rendered(template: string, request: Request, options: TemplateOptions): Promise<string | TemplateError> {
  try {
    return await renderWithTemplate(template, request, options);
  } catch (error) {
    if (error instanceof TemplateError && !isMissing(error)) return error;
    throw error;
  }
}

/** A missing package is not a difference: it is thrown. */
const isMissing = (error: TemplateError): boolean => error.message.startsWith("templates need");

const BEFORE = 16;
const AFTER = 48;

function firstDifference(builtIn: string, template: string): Required<Pick<Difference, "at" | "builtIn" | "template">> {
  let at = 0;
  while (builtIn[at] === template[at]) at++;
  const around = (text: string): string => text.slice(Math.max(0, at - BEFORE), at + AFTER);
  return { at, builtIn: around(builtIn), template: around(template) };
}

// ---- probes

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const system: Message = { role: "system", content: [{ type: "text", text: "Be brief." }] };
const answer = (text: string): Message => ({ role: "assistant", content: [{ type: "text", text }] });
const call = (id: string, name: string, city: string): ToolCall => ({ type: "tool-call", id, name, arguments: { city } });
const result = (id: string, name: string, output: string): Message => ({ role: "tool", id, name, output });

const tool = (name: string, description: string): Tool => ({
  name,
  description,
  parameters: { type: "object", properties: { city: { type: "string", description: "A city" } }, required: ["city"] },
});
const tools = [tool("get_weather", "The weather of a city"), tool("get_time", "The time in a city")];
// Mistral's templates refuse ids that do not have nine characters.
const weather = call("weather01", "get_weather", "Oslo");
const time = call("localtime", "get_time", "Oslo");

const probe = (messages: Message[], tools?: Tool[]): Request => ({ model: "probe", messages, ...(tools && { tools }) });

const PROBES: Readonly<Record<string, Request>> = {
  "a question": probe([user("Hello!")]),
  "a system text": probe([system, user("Hello!")]),
  "a conversation": probe([user("Hello!"), answer("Hi. What can I do?"), user("Nothing.")]),
  tools: probe([system, user("How is the weather in Oslo?")], tools),
  "a call and its result": probe(
    [system, user("How is the weather in Oslo?"), { role: "assistant", content: [weather] }, result(weather.id, weather.name, "4 °C")],
    tools,
  ),
  "two calls at once": probe(
    [
      user("The weather and the time in Oslo?"),
      { role: "assistant", content: [weather, time] },
      result(weather.id, weather.name, "4 °C"),
      result(time.id, time.name, "12:00"),
    ],
    tools,
  ),
};
