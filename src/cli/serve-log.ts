/** The gateway's log: one line per exchange; JSON, or for people. Never a key, and never what was said: an upstream's own words may quote it. */
import { type Logger, pino } from "pino";
import type { Exchange } from "../gateway/index.ts";
import { type Output, paletteOf, visible } from "./terminal.ts";

/** Errors that nobody but the gateway worded. */
const OURS: ReadonlySet<string> = new Set(["overloaded", "upstream", "timeout", "internal"]);

export function createLog(output: Output): Logger {
  const options = { base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (!output.isTTY) return pino(options, { write: gathered(output) });
  const { dim, red, yellow, cyan } = paletteOf(output);
  const write = (line: string): void => {
    const { level, time, msg = "" } = JSON.parse(line) as { level: number; time: string; msg?: string };
    const paint = level >= 50 ? red : level >= 40 ? yellow : (text: string) => text;
    output.write(`${dim(time.slice(11, 19))} ${paint(visible(msg)).replaceAll("→", cyan("→"))}\n`);
  };
  return pino(options, { write });
}

/** How long a line may wait for others to be written with: each write costs as much as an exchange. */
const GATHER_MS = 50;

function gathered(output: Output): (line: string) => void {
  let lines = "";
  const flush = (): void => {
    output.write(lines);
    lines = "";
  };
  process.once("exit", () => {
    if (lines !== "") flush();
  });
  return (line) => {
    if (lines === "") setTimeout(flush, GATHER_MS);
    lines += line;
  };
}

export function logExchange(log: Logger, exchange: Exchange): void {
  const {
    id,
    wire,
    kind,
    model,
    upstream,
    upstreamModel,
    dialect,
    streamed,
    status,
    outcome,
    error,
    ms,
    firstMs,
    usage,
    calls,
    outside,
    warnings,
    fault,
  } = exchange;
  const why = error && error.status === undefined && OURS.has(error.code) ? error.message : undefined;
  const fields = {
    id,
    wire,
    kind,
    ...(model === undefined ? {} : { model: visible(model.slice(0, 200)) }),
    ...(upstream === undefined ? {} : { upstream, upstreamModel: visible((upstreamModel ?? "").slice(0, 200)) }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(streamed ? { streamed } : {}),
    status,
    outcome,
    ...(error ? { error: error.code } : {}),
    ...(why === undefined ? {} : { why: visible(why) }),
    ms,
    ...(firstMs === undefined ? {} : { firstMs }),
    ...(usage?.inputTokens === undefined ? {} : { inputTokens: usage.inputTokens }),
    ...(usage?.outputTokens === undefined ? {} : { outputTokens: usage.outputTokens }),
    ...(kind === "generate" ? { calls } : {}),
    ...(outside.length > 0 ? { outside: outside.map(({ name, why }) => visible(`${name}: ${why}`.slice(0, 200))) } : {}),
    ...(warnings.length > 0 ? { warnings: warnings.map(({ code }) => code) } : {}),
    ...(fault instanceof Error ? { fault: fault.stack } : {}),
  };
  const level = outcome !== "error" ? "info" : status >= 500 ? "error" : "warn";
  log[level](fields, lineOf(exchange, why));
}

/** `anthropic claude-x → local qwen3 200, 30 + 20 tokens, 1 call, 1.2 s` */
function lineOf(
  { wire, kind, model, upstream, upstreamModel, status, outcome, error, ms, usage, calls, outside }: Exchange,
  why: string | undefined,
): string {
  const asked = [wire, ...(kind === "generate" ? [] : [kind]), ...(model ? [model] : [])].join(" ");
  const target = upstream ? ` → ${upstream}${upstreamModel && upstreamModel !== model ? ` ${upstreamModel}` : ""}` : "";
  const made = Object.entries(calls).filter(([, count]) => count > 0);
  const parts = [
    outcome === "aborted" ? "the client left" : String(status),
    ...(error && outcome === "error" ? [why ?? error.code] : []),
    ...(usage ? [`${usage.inputTokens ?? "?"} + ${usage.outputTokens ?? "?"} tokens`] : []),
    ...made.map(([how, count]) => `${count} ${count === 1 ? "call" : "calls"}${how === "complete" ? "" : ` ${how}`}`),
    ...outside.map(({ name, why }) => `${name} was called outside its schema (${why.slice(0, 200)})`),
    ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`,
  ];
  return `${asked}${target} ${parts.join(", ")}`;
}
