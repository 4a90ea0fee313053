/**
 * A GGUF in this process, by llama.cpp: the dialect writes the prompt and reads the answer.
 *
 *     const engine = await createLlama({ model: "hf:unsloth/Qwen3-4B-Instruct-2507-GGUF:Q4_K_M" });
 *     for await (const event of engine.generate({ model: "", messages })) console.log(event);
 */
import type { LlamaContext, LlamaContextSequence, LlamaModel, SequenceEvaluateOptions, Token } from "node-llama-cpp";
import type { Event, Finish, Request, Sampling, Usage, Warning } from "../../core/nouns.ts";
import type { Dialect, Grammar, Prompt } from "../../dialects/dialect.ts";
import type { ModelInfo } from "../../wires/wire.ts";
import { Ending, mintIds } from "../ending.ts";
import type { CallOptions, Engine, GenerateOptions, Preview, TokenCount } from "../engine.ts";
import { EngineError } from "../error.ts";
import { closing } from "../finish.ts";
import { Stops } from "../stops.ts";
import { Grammars, type Hold } from "./hold.ts";
import { Pool } from "./pool.ts";
import { type Said, Vocabulary } from "./vocabulary.ts";

export interface LlamaFacts {
  /** What clients call it: the file's name without its ending. */
  readonly id: string;
  readonly name?: string;
  readonly path: string;
  readonly bytes: number;
  readonly architecture: string;
  /** The chat template in the file. */
  readonly template?: string;
  readonly dialect: string;
  readonly variant: string;
  /** Why this dialect. */
  readonly why: string;
  /** How many tokens one conversation takes, and how many conversations run at once. */
  readonly contextSize: number;
  readonly sequences: number;
  readonly gpu: string | false;
}

export interface Llama extends Engine {
  readonly facts: LlamaFacts;
  /** What to know about this model that is no error. */
  readonly warnings: readonly Warning[];
  /** The prompt of a request, as the model gets it. */
  promptTokens(request: Request): number[];
  /** What these tokens say, special tokens too. */
  textOf(tokens: readonly number[]): string;
  /** How many tokens llama.cpp has evaluated since the model was loaded. */
  readonly evaluated: number;
}

/** What a loaded model is made of. */
export interface Loaded {
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  readonly dialect: Dialect;
  readonly facts: LlamaFacts;
  readonly warnings: readonly Warning[];
  /** Where a request says nothing. */
  readonly sampling: Sampling;
}

/** llama.cpp's own. */
export const SAMPLING: Sampling = { temperature: 0.8, topK: 40, topP: 0.95, minP: 0.05 };
/** So many of the last tokens count for penalties. */
const PENALIZED = 64;

export class LlamaEngine implements Llama {
  readonly facts: LlamaFacts;
  readonly warnings: readonly Warning[];
  readonly #loaded: Loaded;
  readonly #vocabulary: Vocabulary;
  readonly #grammars: Grammars;
  readonly #sequences: readonly LlamaContextSequence[];
  readonly #pool: Pool;
  readonly #stops: ReadonlySet<Token>;
  readonly #closed = new AbortController();

  constructor(loaded: Loaded) {
    const { model, context, dialect, facts, warnings } = loaded;
    this.facts = facts;
    this.warnings = warnings;
    this.#loaded = loaded;
    this.#vocabulary = new Vocabulary(model);
    this.#grammars = new Grammars(model);
    this.#sequences = Array.from({ length: facts.sequences }, () => context.getSequence());
    this.#pool = new Pool(this.#sequences);
    this.#stops = new Set(dialect.stops.flatMap((stop) => this.#vocabulary.control(stop) ?? []));
  }

  generate(request: Request, options: GenerateOptions = {}): AsyncIterable<Event> {
    const signal = options.signal ? AbortSignal.any([options.signal, this.#closed.signal]) : this.#closed.signal;
    return closing(signal, () => this.#generate(request, { ...options, signal }));
  }

  async countTokens(request: Request): Promise<TokenCount> {
    return { tokens: this.promptTokens(request).length, exact: true };
  }

  async models(_options?: CallOptions): Promise<ModelInfo[]> {
    const { id, name, contextSize } = this.facts;
    return [{ id, contextLength: contextSize, ...(name === undefined ? {} : { name }) }];
  }

  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    await this.#loaded.model.dispose(); // and its context with it
  }

  async preview(request: Request): Promise<Preview> {
    return { dialect: this.facts.dialect, prompt: this.#prompt(request) };
  }

  promptTokens(request: Request): number[] {
    return this.#vocabulary.encode(this.#prompt(request));
  }

  textOf(tokens: readonly number[]): string {
    return this.#loaded.model.detokenize(tokens as Token[], true);
  }

  get evaluated(): number {
    return this.#sequences.reduce((sum, { tokenMeter }) => sum + tokenMeter.usedInputTokens + tokenMeter.usedOutputTokens, 0);
  }

  #prompt(request: Request): Prompt {
    const { dialect, facts } = this.#loaded;
    const prompt = dialect.render(dialect.adapt?.(request) ?? request, { variant: facts.variant });
    const media = prompt.find((piece) => piece.media)?.media;
    if (media) throw new EngineError({ code: "bad-request", message: `this model takes text only, not ${media.mediaType}` });
    return prompt;
  }

  // ---- One answer

  async *#generate(request: Request, { signal, onAnswer }: GenerateOptions): AsyncGenerator<Event[], void, undefined> {
    let started: Started;
    try {
      started = await this.#start(request);
    } catch (error) {
      onAnswer?.({ ok: false, headers: {}, warnings: [] });
      throw error;
    }
    onAnswer?.({ ok: true, headers: {}, warnings: [] });
    const { sequence, held, release } = await this.#pool.take(started.tokens, signal);
    try {
      if (held < sequence.nextTokenIndex) await sequence.eraseContextTokenRanges([{ start: held, end: sequence.nextTokenIndex }]);
      const usage = { inputTokens: started.tokens.length, cachedTokens: sequence.nextTokenIndex };
      yield [
        { type: "start", model: this.facts.id },
        { type: "usage", ...usage },
      ];
      yield* this.#answer(started, sequence, usage, signal);
    } finally {
      release();
    }
  }

  async #start(request: Request): Promise<Started> {
    const { dialect, facts } = this.#loaded;
    const prompt = this.#prompt(request);
    const tokens = this.#vocabulary.encode(prompt);
    const room = facts.contextSize - tokens.length;
    if (room < 1) {
      const message = `the prompt has ${tokens.length} tokens, and the model's context ${facts.contextSize}`;
      throw new EngineError({ code: "context-length", message, tokens: { used: tokens.length, limit: facts.contextSize } });
    }
    const grammar = grammarFor(dialect, request, prompt);
    return {
      request,
      prompt,
      tokens,
      limit: Math.min(request.maxTokens ?? room, room),
      hold: grammar ? await this.#grammars.hold(grammar) : undefined,
    };
  }

  async *#answer(
    started: Started,
    sequence: LlamaContextSequence,
    usage: Usage,
    signal?: AbortSignal,
  ): AsyncGenerator<Event[], void, undefined> {
    const { request, prompt, limit, hold } = started;
    const writer = new Writer(this.#loaded.dialect, request, prompt);
    const decoder = this.#vocabulary.createDecoder();
    const made: Token[] = [];
    let reason: Finish["reason"] = "length";
    const say = async (said: Said | undefined): Promise<Event[]> => {
      if (!said) return [];
      const events = writer.write(said.text);
      await hold?.see(said, !writer.thinking);
      return events;
    };
    for await (const token of limit > 0 ? this.#evaluate(started, sequence, made, signal) : []) {
      made.push(token);
      if (writer.thinking) writer.thinkingTokens++;
      const isStop = this.#stops.has(token);
      const isEnd = isStop || this.#loaded.model.isEogToken(token);
      // A stop of the dialect may close a call; another end of the vocabulary is no text of the dialect.
      const events = isStop || !isEnd ? await say(decoder.feed(token)) : [];
      if (events.length > 0) yield events;
      if (isEnd || writer.stopped !== undefined) {
        reason = "stop";
        break;
      }
      if (made.length >= limit) break;
    }
    if (signal?.aborted) return;
    const rest = await say(decoder.flush());
    const thought = writer.thinkingTokens > 0 ? { thinkingTokens: writer.thinkingTokens } : {};
    yield [...rest, ...writer.end(), { type: "usage", ...usage, outputTokens: made.length, ...thought }, writer.finish(reason)];
  }

  /** The tokens of the answer. An abort ends it at the next one. */
  async *#evaluate(
    { request, tokens, hold }: Started,
    sequence: LlamaContextSequence,
    made: readonly Token[],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Token, void, undefined> {
    const { batchSize } = this.#loaded.context;
    const last = tokens.length - 1;
    // In pieces, so that an abort need not wait for the whole prompt.
    for (let from = sequence.nextTokenIndex; from < last; from += batchSize) {
      if (signal?.aborted) return;
      await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(from, Math.min(from + batchSize, last)));
    }
    if (signal?.aborted) return;
    await sequence.takeCheckpoint(); // a model that cannot go back to any token can go back to here
    const options = { ...samplingOf({ ...this.#loaded.sampling, ...request.sampling }, made), yieldEogToken: true };
    const state = hold && { grammarEvaluationState: () => hold.state };
    for await (const token of sequence.evaluate(tokens.slice(last), { ...options, ...state })) {
      if (signal?.aborted) return;
      yield token;
      if (signal?.aborted) return;
    }
  }
}

interface Started {
  readonly request: Request;
  readonly prompt: Prompt;
  readonly tokens: Token[];
  /** How many tokens the answer may have. */
  readonly limit: number;
  readonly hold: Hold | undefined;
}

function samplingOf(sampling: Sampling, made: readonly Token[]): SequenceEvaluateOptions {
  const { temperature = 0, topP = 1, topK = 0, minP = 0, seed } = sampling;
  const { repeatPenalty = 1, presencePenalty = 0, frequencyPenalty = 0 } = sampling;
  const punishes = repeatPenalty !== 1 || presencePenalty !== 0 || frequencyPenalty !== 0;
  return {
    temperature,
    topP,
    topK,
    minP,
    ...(seed === undefined ? {} : { seed }),
    ...(punishes
      ? { repeatPenalty: { punishTokens: () => made.slice(-PENALIZED), penalty: repeatPenalty, presencePenalty, frequencyPenalty } }
      : {}),
  };
}

/** What the answer is held to; undefined: it is free. */
function grammarFor(dialect: Dialect, request: Request, prompt: Prompt): Grammar | undefined {
  const { tools = [], toolChoice = "auto", output, parallelCalls, thinking } = request;
  if (!output && tools.length === 0 && (toolChoice === "auto" || toolChoice === "none")) return undefined;
  if (!dialect.grammar)
    throw new EngineError({ code: "bad-request", message: `nothing can hold ${dialect.title} to a choice or a schema` });
  const inThinking = startsInThinking(dialect, prompt) || (thinking?.enabled === false ? false : undefined);
  try {
    const grammar = dialect.grammar(tools, toolChoice, {
      ...(parallelCalls === undefined ? {} : { parallelCalls }),
      ...(inThinking === undefined ? {} : { startInThinking: inThinking }),
      ...(output ? { output: output.schema ?? { type: "object" } } : {}),
    });
    return grammar.gbnf === "" ? undefined : grammar;
  } catch (error) {
    throw new EngineError({ code: "bad-request", message: error instanceof Error ? error.message : String(error) }, { cause: error });
  }
}

/** The scanner knows: thinking that the prompt opened begins before anything else. */
function startsInThinking(dialect: Dialect, prompt: Prompt): boolean {
  const scanner = dialect.createScanner({ prompt });
  return [...scanner.feed("x"), ...scanner.flush()][0]?.type === "thinking-start";
}

/** The model's text as events, up to a stop string of the request. */
class Writer {
  readonly #scanner;
  readonly #stops: Stops;
  readonly #ending = new Ending();
  thinking: boolean;
  thinkingTokens = 0;

  constructor(dialect: Dialect, request: Request, prompt: Prompt) {
    this.#scanner = dialect.createScanner({ prompt, mintId: mintIds(request), ...(request.tools ? { tools: request.tools } : {}) });
    this.#stops = new Stops(request.stop);
    this.thinking = startsInThinking(dialect, prompt);
  }

  get stopped(): string | undefined {
    return this.#stops.found;
  }

  write(text: string): Event[] {
    return this.#seen(this.#scanner.feed(text));
  }

  end(): Event[] {
    const events = this.stopped === undefined ? this.#seen(this.#scanner.flush()) : [];
    return [...events, ...this.#held()];
  }

  finish(reason: Finish["reason"]): Finish {
    const { stopped } = this;
    return this.#ending.finish({
      type: "finish",
      reason: stopped === undefined ? reason : "stop",
      ...(stopped === undefined ? {} : { stop: stopped }),
    });
  }

  #seen(events: readonly Event[]): Event[] {
    const out: Event[] = [];
    for (const event of events) {
      if (this.stopped !== undefined) break;
      if (event.type === "text") {
        const text = this.#stops.feed(event.text);
        if (text !== "") out.push({ ...event, text });
        continue;
      }
      this.#ending.see(event);
      if (event.type === "thinking-start") this.thinking = true;
      else if (event.type === "thinking-end") this.thinking = false;
      out.push(...this.#held(), event); // a stop string does not reach over a call
    }
    return out;
  }

  #held(): Event[] {
    const text = this.#stops.flush();
    return text === "" ? [] : [{ type: "text", text }];
  }
}
