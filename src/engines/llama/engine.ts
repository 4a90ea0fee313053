/**
 * Runs a GGUF in this process with llama.cpp: the dialect writes the prompt and reads the answer.
 *
 *     const engine = await createLlama({ model: "hf:unsloth/Qwen3-4B-Instruct-2507-GGUF:Q4_K_M" });
 *     for await (const event of engine.generate({ model: "", messages })) console.log(event);
 */
import type { LlamaContext, LlamaContextSequence, LlamaModel, Token } from "node-llama-cpp";
import type { Event, Request, Sampling, Usage, Warning } from "../../core/nouns.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { inVariant, settingOf } from "../../dialects/variant.ts";
import type { ModelInfo } from "../../wires/wire.ts";
import type { CallOptions, Engine, GenerateOptions, Preview, TokenCount } from "../engine.ts";
import { EngineError } from "../error.ts";
import { closing } from "../finish.ts";
import { held } from "../inband/request.ts";
import { contextError, type Rendered, rendered } from "../rendered.ts";
import { Answer, type Asked, Marks } from "./answer.ts";
import { Machine } from "./machine.ts";
import { merged, samplingOf } from "./sampling.ts";

export interface LlamaFacts {
  /** The model's name for clients: the file's name without its extension. */
  readonly id: string;
  readonly name?: string;
  readonly path: string;
  readonly bytes: number;
  readonly architecture: string;
  /** The chat template in the file. */
  readonly template?: string;
  readonly dialect: string;
  readonly variant: string;
  /** How the dialect was found. */
  readonly why: string;
  /** The context size of one conversation in tokens, and how many conversations run at once. */
  readonly context: number;
  readonly parallel: number;
  readonly gpu: string | false;
}

export interface Llama extends Engine {
  readonly facts: LlamaFacts;
  readonly warnings: readonly Warning[];
  /** The prompt of a request, as tokens. */
  promptTokens(request: Request): number[];
  /** The text of these tokens, including special tokens. */
  textOf(tokens: readonly number[]): string;
  /** How many tokens llama.cpp has evaluated since the model was loaded. */
  readonly evaluated: number;
}

/** A loaded model. */
export interface Loaded {
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  readonly dialect: Dialect;
  readonly facts: LlamaFacts;
  readonly warnings: readonly Warning[];
  /** Used for what a request does not set. */
  readonly sampling: Sampling;
  /** Adapts requests to this model. */
  readonly prepare?: ((request: Request) => Request) | undefined;
}

/** Fixes the variant, by default the reference, since a grammar can enforce only one form of calls. */
export function inOneVariant(dialect: Dialect): Dialect {
  const [reference] = dialect.variants;
  return dialect.variant === undefined && reference !== undefined ? inVariant(dialect, reference) : dialect;
}

export class LlamaEngine implements Llama {
  readonly facts: LlamaFacts;
  readonly warnings: readonly Warning[];
  readonly #loaded: Loaded;
  readonly #machine: Machine;
  readonly #marks: Marks;

  constructor(loaded: Loaded, machine = new Machine(loaded.model, loaded.context, loaded.facts.parallel)) {
    const { model, dialect, facts, warnings } = loaded;
    this.facts = facts;
    this.warnings = warnings;
    this.#loaded = loaded;
    this.#machine = machine;
    this.#marks = new Marks(model, machine.vocabulary, dialect);
  }

  speaking(wanted: Dialect | "auto"): LlamaEngine {
    if (wanted === "auto") return this;
    const dialect = inOneVariant(wanted);
    const facts = { ...this.facts, dialect: dialect.id, variant: dialect.variant ?? "", why: "it is configured" };
    return new LlamaEngine({ ...this.#loaded, dialect, facts, warnings: [] }, this.#machine);
  }

  generate(request: Request, options: GenerateOptions = {}): AsyncIterable<Event> {
    return closing(
      options.signal,
      () => this.#generate(request, options),
      (error) => this.#machine.explain(error),
    );
  }

  async countTokens(request: Request): Promise<TokenCount> {
    return { tokens: this.promptTokens(request).length, exact: true };
  }

  async models(_options?: CallOptions): Promise<ModelInfo[]> {
    const { id, name, context } = this.facts;
    return [{ id, contextLength: context, ...(name === undefined ? {} : { name }) }];
  }

  async close(): Promise<void> {
    if (this.#machine.isClosed) return;
    this.#machine.close();
    await this.#loaded.model.dispose(); // disposes of its context, too
  }

  async preview(request: Request): Promise<Preview> {
    return { dialect: this.facts.dialect, prompt: this.#render(request).prompt };
  }

  promptTokens(request: Request): number[] {
    return this.#machine.vocabulary.encode(this.#render(request).prompt);
  }

  textOf(tokens: readonly number[]): string {
    return this.#loaded.model.detokenize(tokens as Token[], true);
  }

  get evaluated(): number {
    return this.#machine.sequences.reduce((sum, { tokenMeter }) => sum + tokenMeter.usedInputTokens + tokenMeter.usedOutputTokens, 0);
  }

  #render(request: Request): Rendered {
    const { dialect, prepare } = this.#loaded;
    return rendered(prepare?.(request) ?? request, dialect);
  }

  // ---- One answer

  async *#generate(request: Request, { signal, onAnswer, onDialect }: GenerateOptions): AsyncGenerator<Event[], void, undefined> {
    this.#machine.check(signal);
    let started: Started;
    try {
      started = await this.#start(request);
    } catch (error) {
      onAnswer?.({ ok: false, headers: {}, warnings: [] });
      throw error;
    }
    onAnswer?.({ ok: true, headers: {}, warnings: started.warnings });
    onDialect?.(settingOf(this.#loaded.dialect));
    const { sequence, held, release } = await this.#machine.pool.take(started.tokens, signal);
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

  async #start(given: Request): Promise<Started> {
    const { dialect, facts } = this.#loaded;
    const { request, prompt, warnings } = this.#render(given);
    const tokens = this.#machine.vocabulary.encode(prompt);
    const room = facts.context - tokens.length;
    if (room < 1) throw new EngineError(contextError(tokens.length, facts.context));
    const { grammar, warnings: more } = held(dialect, request, "gbnf", prompt);
    const isHeld = grammar !== undefined && grammar.gbnf !== "";
    return {
      request,
      prompt,
      tokens,
      limit: Math.min(request.maxTokens ?? room, room),
      hold: isHeld ? await this.#machine.grammars.hold(grammar) : undefined,
      barred: isHeld ? await this.#marks.barredBy(grammar) : undefined,
      warnings: [...warnings, ...more],
    };
  }

  async *#answer(
    started: Started,
    sequence: LlamaContextSequence,
    usage: Usage,
    signal?: AbortSignal,
  ): AsyncGenerator<Event[], void, undefined> {
    const { limit } = started;
    const answer = new Answer(this.#marks, this.#loaded.dialect, started);
    for await (const token of limit > 0 ? this.#evaluate(started, sequence, answer.tokens, signal) : []) {
      const events = await answer.take(token);
      if (events.length > 0) yield events;
      if (answer.isOver || answer.tokens.length >= limit) break;
    }
    this.#machine.check(signal);
    yield await answer.end(usage);
  }

  /** Generates the tokens of the answer. An abort takes effect at the next token. */
  async *#evaluate(
    { request, tokens, hold, barred }: Started,
    sequence: LlamaContextSequence,
    made: readonly Token[],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Token, void, undefined> {
    const { batchSize } = this.#loaded.context;
    const last = tokens.length - 1;
    // In batches, so that an abort need not wait for the whole prompt.
    for (let from = sequence.nextTokenIndex; from < last; from += batchSize) {
      this.#machine.check(signal);
      await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(from, Math.min(from + batchSize, last)));
    }
    this.#machine.check(signal);
    await sequence.takeCheckpoint(); // a model that cannot return to any earlier token can return to this one
    const options = { ...samplingOf(merged(this.#loaded.sampling, request.sampling), made), yieldEogToken: true };
    const state = hold && { grammarEvaluationState: () => hold.state };
    const bias = barred && { tokenBias: () => (hold?.state ? barred.bias : barred.free) };
    for await (const token of sequence.evaluate(tokens.slice(last), { ...options, ...state, ...bias })) {
      this.#machine.check(signal);
      yield token;
      this.#machine.check(signal);
    }
  }
}

interface Started extends Asked {
  readonly tokens: Token[];
  /** Most tokens of the answer. */
  readonly limit: number;
  readonly warnings: readonly Warning[];
}
