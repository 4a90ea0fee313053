/**
 * An engine for anything that continues a text: a model in a web page, or another runtime in this process. The dialect writes the prompt
 * and reads the answer.
 *
 *     const runtime: TextRuntime = { generate: (prompt) => llm.complete(promptText(prompt, { neutralize: true })) };
 *     const engine = createTextEngine(runtime, { dialect: gemma4 });
 */

import type { Event, Request, Sampling, Usage, Warning } from "../../core/nouns.ts";
import type { Dialect, Grammar, Prompt } from "../../dialects/dialect.ts";
import { settingOf } from "../../dialects/variant.ts";
import { type Disposing, disposing } from "../disposing.ts";
import type { Engine, GenerateOptions } from "../engine.ts";
import { estimateTokens } from "../estimate.ts";
import { closing } from "../finish.ts";
import { type Holding, held } from "../inband/request.ts";
import { Quotes } from "../quotes.ts";
import { marksOf, quotedUnder, rendered } from "../rendered.ts";
import { Writer } from "../writer.ts";

/** Anything that continues a text. */
export interface TextRuntime {
  /** The model's output for the prompt, in any pieces, including control tokens. If the consumer stops iterating, the model must stop. */
  generate(prompt: Prompt, options: TextOptions): AsyncIterable<string>;
  /** How it can constrain the output; absent: it cannot. */
  readonly holding?: Holding;
  /** The settings that it supports; others in a request cause a warning. Absent: all. */
  readonly takes?: readonly TextSetting[];
  close?(): Promise<void>;
}

export type TextSetting = keyof Sampling | "maxTokens";

export interface TextOptions {
  /** The stop strings of the dialect and the request. Text after them is ignored. Under a grammar, a mark that it does not use is none. */
  readonly stops: readonly string[];
  readonly maxTokens: number | undefined;
  readonly sampling: Sampling;
  readonly grammar: Grammar | undefined;
  /** Control tokens that must stay in the text. */
  readonly preserved: readonly string[];
  readonly signal: AbortSignal | undefined;
  /** Called by a runtime that knows why the text ended, or the usage. */
  onEnd(end: TextEnd): void;
}

export interface TextEnd {
  readonly reason: "stop" | "length";
  readonly usage?: Usage;
}

export interface TextEngineOptions {
  /** Importing a single dialect keeps a page small; `getDialect` returns any of them by name. */
  dialect: Dialect;
  /** The model's name. */
  model?: string | undefined;
}

/** Names of dialects are not accepted, since they would bring all dialects into the page. */
const HOW = 'import one from "dragoman/dialects/gemma4", or get it by its name, getDialect("gemma4")';

/** An engine of any runtime that continues a text. */
export function createTextEngine(runtime: TextRuntime, { dialect, model = "text" }: TextEngineOptions): Engine & Disposing {
  if (typeof dialect?.createScanner !== "function") throw new TypeError(`dialect must be a dialect itself: ${HOW}`);

  async function* answer(asked: Request, { signal, onAnswer, onDialect }: GenerateOptions): AsyncGenerator<Event[], void, undefined> {
    const { request, prompt, warnings } = rendered(asked, dialect);
    const { grammar, warnings: more } = held(dialect, request, runtime.holding, prompt);
    onAnswer?.({ ok: true, headers: {}, warnings: [...warnings, ...more, ...unheeded(request, runtime)] });
    onDialect?.(settingOf(dialect));
    const quoted = quotedUnder(grammar, request, dialect);
    const isMark = (mark: string): boolean => !quoted.includes(mark);
    const quotes = new Quotes<{ text: string }>(quoted);
    const writer = new Writer(dialect, request, prompt, (events) => quotes.restore(events));
    const write = (said: readonly { text: string }[]): Event[] => said.flatMap(({ text }) => writer.write(text));
    const { maxTokens, sampling = {}, stop = [] } = request;
    let end: TextEnd = { reason: "stop" };
    const stops = [...new Set([...dialect.stops.filter(isMark), ...stop])];
    const onEnd = (said: TextEnd): void => {
      end = said;
    };
    yield [{ type: "start", model }];
    const preserved = marksOf(dialect).filter(isMark);
    for await (const text of runtime.generate(prompt, { stops, maxTokens, sampling, grammar, preserved, signal, onEnd })) {
      const events = write(quotes.feed({ text }));
      if (events.length > 0) yield events;
      if (writer.isOver) break;
    }
    if (signal?.aborted) return;
    yield write(quotes.flush());
    yield writer.end(writer.isOver ? "stop" : end.reason, end.usage ? [{ type: "usage", ...end.usage }] : []);
  }

  const engine: Engine & Disposing = disposing<Engine>({
    generate: (request, options = {}) => closing(options.signal, () => answer(request, options)),
    countTokens: async (request) => ({ tokens: estimateTokens(request), exact: false }),
    models: async () => [{ id: model }],
    preview: async (request) => ({ dialect: dialect.id, prompt: rendered(request, dialect).prompt }),
    close: async () => runtime.close?.(),
    speaking: (other) => (other === "auto" ? engine : createTextEngine(runtime, { dialect: other, model })),
  });
  return engine;
}

/** Warnings for settings of the request that the runtime does not support. */
function unheeded({ maxTokens, sampling }: Request, { takes }: TextRuntime): Warning[] {
  if (!takes) return [];
  const asked = Object.entries({ maxTokens, ...sampling }).flatMap(([setting, value]) => (value === undefined ? [] : [setting]));
  const left = asked.filter((setting) => !takes.includes(setting as TextSetting));
  return left.map((setting) => ({ code: "dropped", message: `${setting} was left out: the upstream does not take it` }));
}
