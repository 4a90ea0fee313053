/** Turns a request into the job for a server that completes text. */
import type { JsonObject, Opaque, Request, Warning } from "../../core/nouns.ts";
import type { Dialect, Prompt } from "../../dialects/dialect.ts";
import { held } from "../inband/request.ts";
import { marksOf, quotedUnder, type Rendered } from "../rendered.ts";
import type { Backend, Job } from "./backends.ts";

/** The token limit for servers that would stop after 16 tokens by default, if their context size is unknown. */
const USUAL_LIMIT = 4096;

/** The token limit of the answer: the requested one, or less if the context has no room for it. */
export function limitOf(
  { maxTokens }: Request,
  { used, context, needed = false }: { used: number | undefined; context: number | undefined; needed?: boolean | undefined },
): number | undefined {
  const room = context === undefined || used === undefined ? undefined : context - used;
  if (maxTokens !== undefined) return room === undefined ? maxTokens : Math.min(maxTokens, room);
  return needed ? (room ?? Math.min(USUAL_LIMIT, context === undefined ? USUAL_LIMIT : context >> 1)) : undefined;
}

/** Recognizes marks that are probably control tokens: `<|tool_call>`, `[TOOL_CALLS]`, but not `<tool_call>`. */
const CONTROL = /[|｜[]/;

/** Whether the backend is sent this extra field of the request: only Ollama's own options are. */
export const carries = ({ id }: Backend, { wire, kind }: Opaque): boolean => id === "ollama" && wire === id && kind === "options";

interface Sent {
  readonly prompt: Prompt;
  readonly text: Job["prompt"];
  readonly limit: number | undefined;
  /** The ids of control tokens, if known. */
  readonly controls?: ReadonlyMap<string, number> | undefined;
}

/**
 * `quoted`: the dialect's marks that can only be quotations in this answer. The dialect's stops are tokens: a server that takes their ids,
 * or stops at them by itself, is sent no stop strings for them, since a call may quote one. An answer held by a grammar ends where the
 * grammar does.
 */
export function jobOf(
  request: Rendered["request"],
  dialect: Dialect,
  backend: Backend,
  { prompt, text, limit, controls = new Map() }: Sent,
): { job: Job; quoted: readonly string[]; warnings: readonly Warning[] } {
  const { model, sampling = {}, output, tools, extra = [] } = request;
  // Ollama can enforce a schema, though no grammar.
  const format = backend.id === "ollama" && output && tools.length === 0 ? (output.schema ?? { type: "object" }) : undefined;
  const { output: _, ...rest } = request;
  const { grammar, warnings } = held(dialect, format ? rest : request, backend.holding, prompt);
  const quoted = format ? marksOf(dialect) : quotedUnder(grammar, request, dialect);
  const isMark = (mark: string): boolean => !quoted.includes(mark);
  // The client's, and the window that the configuration sets; of two values, the first counts, as in the wire.
  const options: JsonObject = Object.assign({}, ...extra.flatMap((opaque) => (carries(backend, opaque) ? [opaque.data] : [])).toReversed());
  const preserved = marksOf(dialect).filter(isMark); // otherwise a server writes the stop mark after the JSON
  const { stopIds, stops: wanted } = endsOf(request, dialect.stops.filter(isMark), backend, controls);
  const stops = wanted.slice(0, backend.mostStops);
  const job: Job = { model, prompt: text, stops, stopIds, maxTokens: limit, sampling, preserved, grammar, format, options };
  return { job, quoted, warnings: [...warnings, ...lossesOf(request, dialect, backend, job, wanted)] };
}

/** The token ids (if the server takes any) and strings that the server must be told to stop at. */
function endsOf(
  { stop = [] }: Request,
  stops: readonly string[],
  { ends, takesStopIds }: Backend,
  controls: ReadonlyMap<string, number>,
): Pick<Job, "stops" | "stopIds"> {
  const unknown = stops.filter((end) => !(controls.has(end) && ends?.has(end)));
  const spelled = takesStopIds ? unknown.filter((end) => !controls.has(end)) : unknown;
  return {
    stopIds: takesStopIds ? unknown.flatMap((end) => controls.get(end) ?? []) : [],
    stops: [...new Set([...stop, ...spelled])],
  };
}

/** Warnings for what the job leaves out of the request, or the server may lose. */
function lossesOf(
  { maxTokens, tools }: Rendered["request"],
  dialect: Dialect,
  { strips }: Backend,
  job: Job,
  wanted: readonly string[],
): Warning[] {
  const { maxTokens: limit, stops } = job;
  const isLowered = maxTokens !== undefined && limit !== undefined && limit < maxTokens;
  const isStripped = strips && tools.length > 0 && dialect.grammar?.(tools, "auto").triggers.some(({ value }) => CONTROL.test(value));
  const losses: readonly (readonly [isLost: boolean | undefined, code: string, message: string])[] = [
    [isLowered, "max-tokens", `the limit of ${maxTokens} tokens was lowered to ${limit}: no more fit into the model's context`],
    [isStripped, "control-tokens", `the upstream may take the marks of ${dialect.id} out of the text, and then no call can be read`],
    [wanted.length > stops.length, "dropped", `the upstream takes ${stops.length} stop strings: every one after them was dropped`],
  ];
  return losses.flatMap(([isLost, code, message]) => (isLost ? [{ code, message }] : []));
}
