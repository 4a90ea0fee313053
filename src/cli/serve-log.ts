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
  const { kind, model, upstream, upstreamModel = "", status, outcome, error, usage, outside, warnings, fault } = exchange;
  const why = error && error.status === undefined && OURS.has(error.code) ? error.message : undefined;
  const fields: Record<string, unknown> = { id: exchange.id, wire: exchange.wire, kind };
  if (model !== undefined) fields.model = visible(model.slice(0, 200));
  if (upstream !== undefined) {
    fields.upstream = upstream;
    fields.upstreamModel = visible(upstreamModel.slice(0, 200));
  }
  if (exchange.dialect !== undefined) fields.dialect = exchange.dialect;
  if (exchange.streamed) fields.streamed = true;
  fields.status = status;
  fields.outcome = outcome;
  if (error) fields.error = error.code;
  if (why !== undefined) fields.why = visible(why);
  fields.ms = exchange.ms;
  if (exchange.firstMs !== undefined) fields.firstMs = exchange.firstMs;
  if (usage?.inputTokens !== undefined) fields.inputTokens = usage.inputTokens;
  if (usage?.outputTokens !== undefined) fields.outputTokens = usage.outputTokens;
  if (kind === "generate") fields.calls = exchange.calls;
  if (outside.length > 0) fields.outside = outside.map(({ name, why }) => visible(`${name}: ${why}`.slice(0, 200)));
  if (warnings.length > 0) fields.warnings = warnings.map(({ code }) => code);
  if (fault instanceof Error) fields.fault = fault.stack;
  const level = outcome !== "error" ? "info" : status >= 500 ? "error" : "warn";
  log[level](fields, lineOf(exchange, why));
}

/** `anthropic claude-x → local qwen3 200, 30 + 20 tokens, 1 call, 1.2 s` */
function lineOf(exchange: Exchange, why: string | undefined): string {
  const { wire, kind, model, upstream, upstreamModel, status, outcome, brokenOff, error, ms, usage, calls, outside } = exchange;
  let line: string = wire;
  if (kind !== "generate") line += ` ${kind}`;
  if (model) line += ` ${model}`;
  if (upstream) line += ` → ${upstream}`;
  if (upstream && upstreamModel && upstreamModel !== model) line += ` ${upstreamModel}`;
  line += brokenOff === "client" ? " the client left" : ` ${status}`;
  if (brokenOff === "gateway") line += ", broken off: the gateway closed";
  if (error && outcome === "error") line += `, ${why ?? error.code}`;
  if (usage) line += `, ${usage.inputTokens ?? "?"} + ${usage.outputTokens ?? "?"} tokens`;
  for (const how in calls) {
    const count = calls[how as keyof typeof calls];
    if (count > 0) line += `, ${count} ${count === 1 ? "call" : "calls"}${how === "complete" ? "" : ` ${how}`}`;
  }
  for (const { name, why: reason } of outside) line += `, ${name} was called outside its schema (${reason.slice(0, 200)})`;
  return `${line}, ${ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`}`;
}
