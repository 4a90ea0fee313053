/**
 * The gateway's log: one line per exchange, as JSON or for reading. Never a key or text of the conversation, which an upstream's error may
 * quote.
 */
import { fstatSync, writeSync } from "node:fs";
import { type Logger, pino } from "pino";
import type { Exchange } from "../gateway/index.ts";
import { counted, type Output, paletteOf, visible } from "./terminal.ts";

/** Errors whose messages come from the gateway itself, if they have no status of an upstream. */
const OURS: ReadonlySet<string> = new Set(["overloaded", "upstream", "timeout", "internal"]);

/** Clients may send names of any length. */
const MAX_NAME = 200;

/** pino, and a method that logs a finished exchange. */
export type Log = Logger & { exchange(exchange: Exchange): void };

export const createLog = (output: Output & { readonly fd: number }): Log =>
  output.isTTY ? shown(output) : gathered(isFile(output.fd) ? fileAt(output.fd) : output);

const isFile = (fd: number): boolean => {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false; // Windows cannot stat some pipes
  }
};

/** A full disk must not stop the gateway, and a stream that failed once never writes again. Lines that cannot be written are lost. */
function fileAt(fd: number): Pick<Output, "write"> {
  let isFull = false;
  return {
    write(text) {
      try {
        for (let rest = Buffer.from(text); rest.length > 0; ) rest = rest.subarray(writeSync(fd, rest)); // a write may be partial
        isFull = false;
      } catch (error) {
        if (!isFull) process.stderr.write(`dragoman: cannot write to the log, lines are lost: ${(error as Error).message}\n`);
        isFull = true;
      }
      return true;
    },
  };
}

interface Line {
  readonly level: number;
  readonly time: string;
  readonly msg?: string;
}

/** A log for reading. */
function shown(output: Output): Log {
  const { dim, red, yellow, cyan } = paletteOf(output);
  const show = ({ level, time, msg = "" }: Line): void => {
    const paint = level >= 50 ? red : level >= 40 ? yellow : (text: string) => text;
    output.write(`${dim(time.slice(11, 19))} ${paint(visible(msg)).replaceAll(ARROW, ` ${cyan("→")} `)}\n`);
  };
  const log = logTo({ write: (line: string) => show(JSON.parse(line) as Line) });
  return Object.assign(log, { exchange: (exchange: Exchange) => show(lineOf(exchange, Date.now())) });
}

/** How long lines are gathered before they are written together: each write costs as much as an exchange. */
const GATHER_MS = 50;

/**
 * A log of JSON lines. Exchanges are kept as objects and turned into lines just before they are written: amid the traffic, where this code
 * is no longer in the processor's cache, a line costs more. `JSON.stringify` prints a line at once, where pino assembles it from some sixty
 * pieces.
 */
function gathered(output: Pick<Output, "write">): Log {
  let lines = "";
  let over: { exchange: Exchange; at: number }[] = [];
  const settle = (): void => {
    for (const { exchange, at } of over) lines += `${JSON.stringify(lineOf(exchange, at))}\n`;
    over = [];
  };
  let waiting = false;
  const flush = (): void => {
    settle();
    waiting = false;
    process.off("exit", flush);
    if (lines !== "") output.write(lines);
    lines = "";
  };
  const wait = (): void => {
    if (waiting) return;
    waiting = true;
    process.once("exit", flush);
    setTimeout(flush, GATHER_MS);
  };
  const write = (line: string): void => {
    wait();
    settle();
    lines += line;
  };
  return Object.assign(logTo({ write, flush }), {
    exchange(exchange: Exchange) {
      wait();
      over.push({ exchange, at: Date.now() });
    },
  });
}

const logTo = (stream: { write(line: string): void; flush?(): void }): Logger =>
  pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);

const LEVELS = pino.levels.values;

/** Fields that are undefined are not printed. */
function lineOf(exchange: Exchange, at: number): Line & Readonly<Record<string, unknown>> {
  const { id, wire, kind, model, upstream, upstreamModel = "", dialect, streamed, status, outcome, error, ms, firstMs } = exchange;
  const { usage, calls, outside, warnings, fault, refused } = exchange;
  const isOurs = refused || (error?.status === undefined && OURS.has(error?.code ?? ""));
  const why = isOurs ? error?.message.slice(0, 300) : undefined;
  const level = outcome !== "error" ? "info" : status >= 500 ? "error" : "warn";
  return {
    level: LEVELS[level] as number,
    time: timeOf(at),
    id,
    wire,
    kind,
    model: model === undefined ? undefined : visible(model.slice(0, MAX_NAME)),
    upstream,
    upstreamModel: upstream === undefined ? undefined : visible(upstreamModel.slice(0, MAX_NAME)),
    dialect,
    streamed: streamed || undefined,
    status,
    outcome,
    error: error?.code,
    why: why === undefined ? undefined : visible(why),
    hint: exchange.hint && visible(exchange.hint),
    ms,
    firstMs,
    inputTokens: usage?.inputTokens,
    outputTokens: usage?.outputTokens,
    calls: calls.complete + calls.truncated + calls.malformed > 0 ? calls : undefined,
    outside: outside.length > 0 ? outside.map(({ name, why }) => visible(`${name}: ${why}`.slice(0, 200))) : undefined,
    warnings: warnings.length > 0 ? warnings.map(({ code }) => code) : undefined,
    fault: fault instanceof Error ? fault.stack : undefined,
    msg: visible(wordsOf(exchange, why)),
  };
}

let [lastMs, lastTime] = [Number.NaN, ""];

/** Many lines have the same millisecond. */
function timeOf(ms: number): string {
  if (ms !== lastMs) [lastMs, lastTime] = [ms, new Date(ms).toISOString()];
  return lastTime;
}

/** ASCII: a line without other characters is printed and joined in half the time. */
const ARROW = " -> ";

/** `anthropic claude-x -> local qwen3 200, 30 + 20 tokens, 1 call, 1.2 s` */
function wordsOf(exchange: Exchange, why: string | undefined): string {
  const { wire, kind, model, upstream, upstreamModel, status, outcome, brokenOff, error, hint, ms, usage, calls, outside } = exchange;
  let line: string = wire;
  if (kind !== "generate") line += ` ${kind}`;
  if (model) line += ` ${model.slice(0, MAX_NAME)}`;
  if (upstream) line += ARROW + upstream;
  if (upstream && upstreamModel && upstreamModel !== model) line += ` ${upstreamModel.slice(0, MAX_NAME)}`;
  line += brokenOff === "client" ? " the client left" : ` ${status}`;
  if (brokenOff === "gateway") line += ", cut off: the gateway was stopped";
  if (error && outcome === "error") line += `, ${why ?? error.code}${hint === undefined ? "" : ` (${hint})`}`;
  if (usage) line += `, ${usage.inputTokens ?? "?"} + ${usage.outputTokens ?? "?"} tokens`;
  for (const how in calls) {
    const count = calls[how as keyof typeof calls];
    if (count > 0) line += `, ${counted(count, "call")}${how === "complete" ? "" : ` ${how}`}`;
  }
  for (const { name, why: reason } of outside) line += `, ${name} was called outside its schema (${reason.slice(0, 200)})`;
  return `${line}, ${ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`}`;
}
