/** A request made into what a server that completes text is sent. */
import type { JsonObject, Opaque, Request, Warning } from "../../core/nouns.ts";
import type { Dialect, Grammar, Prompt } from "../../dialects/dialect.ts";
import { held } from "../inband/request.ts";
import { marksOf, type Rendered, unusedBy } from "../rendered.ts";
import type { Backend, Job } from "./backends.ts";

/** Where a server stops after 16 tokens by itself, and nobody knows its context. */
const USUAL_LIMIT = 4096;

/** How many tokens the answer may have: what was asked for, as far as it fits. */
export function limitOf(
  { maxTokens }: Request,
  { used, context, needed = false }: { used: number | undefined; context: number | undefined; needed?: boolean | undefined },
): number | undefined {
  const room = context === undefined || used === undefined ? undefined : context - used;
  if (maxTokens !== undefined) return room === undefined ? maxTokens : Math.min(maxTokens, room);
  return needed ? (room ?? Math.min(USUAL_LIMIT, context === undefined ? USUAL_LIMIT : context >> 1)) : undefined;
}

/** What begins a call is a control token, as far as it can be told by its looks: `<|tool_call>`, `[TOOL_CALLS]`, but not `<tool_call>`. */
const CONTROL = /[|｜[]/;

/** Ollama is told its own options. */
export const carries = ({ id }: Backend, { wire, kind }: Opaque): boolean => id === "ollama" && wire === id && kind === "options";

interface Sent {
  readonly prompt: Prompt;
  readonly text: Job["prompt"];
  readonly limit: number | undefined;
  /** The ids of control tokens, where they are known. */
  readonly controls?: ReadonlyMap<string, number> | undefined;
}

/**
 * `quoted`: what is a mark elsewhere, and a quotation in this answer. The dialect's ends are tokens, and where a server can be told so, or
 * knows, it hears of no string: a call may quote one. An answer that a grammar holds ends where the grammar does.
 */
export function jobOf(
  request: Rendered["request"],
  dialect: Dialect,
  backend: Backend,
  { prompt, text, limit, controls = new Map() }: Sent,
): { job: Job; quoted: readonly string[]; warnings: readonly Warning[] } {
  const { model, sampling = {}, output, tools, toolChoice, extra = [] } = request;
  // Ollama holds an answer to a schema, though to nothing else.
  const format = backend.id === "ollama" && output && tools.length === 0 ? (output.schema ?? { type: "object" }) : undefined;
  const { output: _, ...rest } = request;
  const { grammar, warnings } = held(dialect, format ? rest : request, backend.holding, prompt);
  const isHeld = format !== undefined || (isWhole(grammar) && (output !== undefined || toolChoice !== "none"));
  const quoted = isHeld ? unusedBy(grammar ?? NO_GRAMMAR, marksOf(dialect)) : [];
  const isMark = (mark: string): boolean => !quoted.includes(mark);
  const options = (extra.find((opaque) => carries(backend, opaque))?.data ?? {}) as JsonObject;
  const preserved = marksOf(dialect).filter(isMark); // else a server writes the end down behind the JSON
  const ends = endsOf(request, dialect.stops.filter(isMark), backend, controls);
  const job: Job = { model, prompt: text, ...ends, maxTokens: limit, sampling, preserved, grammar, format, options };
  return { job, quoted, warnings: [...warnings, ...lossesOf(request, dialect, backend, job)] };
}

/** Where the answer ends, as far as the server must be told: at these tokens, where it takes any, and at these strings. */
function endsOf(
  { stop = [] }: Request,
  stops: readonly string[],
  { ends, takesStopIds, mostStops }: Backend,
  controls: ReadonlyMap<string, number>,
): Pick<Job, "stops" | "stopIds"> {
  const unknown = stops.filter((end) => !(controls.has(end) && ends?.has(end)));
  const spelled = takesStopIds ? unknown.filter((end) => !controls.has(end)) : unknown;
  return {
    stopIds: takesStopIds ? unknown.flatMap((end) => controls.get(end) ?? []) : [],
    stops: [...new Set([...stop, ...spelled])].slice(0, mostStops),
  };
}

/** What of the request the job does not say, or the server may lose. */
function lossesOf({ maxTokens, stop = [], tools }: Rendered["request"], dialect: Dialect, { strips }: Backend, job: Job): Warning[] {
  const { maxTokens: limit, stops } = job;
  const isLowered = maxTokens !== undefined && limit !== undefined && limit < maxTokens;
  const isStripped = strips && tools.length > 0 && dialect.grammar?.(tools, "auto").triggers.some(({ value }) => CONTROL.test(value));
  const losses: readonly (readonly [isLost: boolean | undefined, code: string, message: string])[] = [
    [isLowered, "max-tokens", `the limit of ${maxTokens} tokens was lowered to ${limit}: no more fit into the model's context`],
    [isStripped, "control-tokens", `the upstream may take the marks of ${dialect.id} out of the text, and then no call can be read`],
    [stop.length > stops.length, "dropped", `the upstream takes ${stops.length} stop strings: every one behind them was dropped`],
  ];
  return losses.flatMap(([isLost, code, message]) => (isLost ? [{ code, message }] : []));
}

/** It holds from the first token to the last, and nothing else ends the answer. */
const isWhole = (grammar: Grammar | undefined): boolean => grammar !== undefined && grammar.gbnf !== "" && grammar.triggers.length === 0;
const NO_GRAMMAR = { gbnf: "" };
