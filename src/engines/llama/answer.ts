/** One answer: the model's tokens in, the events of the dialect's scanner out, up to a stop. */
import type { LlamaModel, Token, TokenBias } from "node-llama-cpp";
import type { Event, Request, Usage } from "../../core/nouns.ts";
import type { Dialect, Grammar, Prompt } from "../../dialects/dialect.ts";
import { append } from "../append.ts";
import { Quotes } from "../quotes.ts";
import { marksOf, unusedBy } from "../rendered.ts";
import { Writer } from "../writer.ts";
import type { Hold } from "./hold.ts";
import { barring } from "./runtime.ts";
import type { Decoder, Said, Vocabulary } from "./vocabulary.ts";

/** The marks of a dialect that the vocabulary has as tokens; a model that means a mark writes it as its token. */
export class Marks {
  readonly texts: readonly string[];
  readonly #model: LlamaModel;
  readonly #vocabulary: Vocabulary;
  readonly #tokens: ReadonlySet<Token>;
  readonly #stops: ReadonlySet<Token>;
  readonly #barred = new Map<string, Barred>();

  constructor(model: LlamaModel, vocabulary: Vocabulary, dialect: Dialect) {
    const tokensOf = (texts: readonly string[]) => new Set(texts.flatMap((text) => vocabulary.control(text) ?? []));
    this.#model = model;
    this.#vocabulary = vocabulary;
    this.texts = marksOf(dialect).filter((text) => vocabulary.control(text) !== undefined);
    this.#tokens = tokensOf(this.texts);
    this.#stops = tokensOf(dialect.stops);
  }

  isMark = (token: Token): boolean => this.#tokens.has(token);
  /**
   * Whether the token ends the answer: `stop`: it is a stop of the dialect; `end`: another end token of the vocabulary, whose text is
   * dropped.
   */
  endOf(token: Token): "stop" | "end" | undefined {
    if (this.#stops.has(token)) return "stop";
    return this.#model.isEogToken(token) ? "end" : undefined;
  }
  createDecoder(): Decoder {
    return this.#vocabulary.createDecoder();
  }

  /**
   * The marks to forbid under a grammar. A grammar sees only a token's text, which is valid inside any string: a stop token there would end
   * the answer in the middle of the JSON.
   */
  async barredBy(grammar: Grammar): Promise<Barred> {
    const texts = unusedBy(grammar, this.texts);
    const key = texts.join(" ");
    const known = this.#barred.get(key);
    if (known) return known;
    const needed = new Set(this.texts.filter((text) => !texts.includes(text)).map((text) => this.#vocabulary.control(text)));
    const tokens = [...this.#vocabulary.controls, ...this.#tokens].filter((token) => !needed.has(token));
    const barred = { texts, bias: await barring(this.#model, tokens), free: await barring(this.#model, []) };
    this.#barred.set(key, barred);
    return barred;
  }
}

/** The marks that a grammar does not use: their tokens are forbidden, and spelled in plain tokens they are quotations. */
export interface Barred {
  readonly texts: readonly string[];
  /** The bias while the grammar applies, and before. */
  readonly bias: TokenBias;
  readonly free: TokenBias;
}

export interface Asked {
  readonly request: Request;
  readonly prompt: Prompt;
  readonly hold: Hold | undefined;
  readonly barred: Barred | undefined;
}

export class Answer {
  /** All tokens so far. */
  readonly tokens: Token[] = [];
  readonly #marks: Marks;
  readonly #decoder: Decoder;
  readonly #quotes: Quotes<Said>;
  readonly #hold: Hold | undefined;
  /** Whether a grammar applies from the first token on. */
  readonly #isHeld: boolean;
  readonly #writer: Writer;
  #isOver = false;
  #thinkingTokens = 0;

  constructor(marks: Marks, dialect: Dialect, { request, prompt, hold, barred }: Asked) {
    this.#marks = marks;
    this.#decoder = marks.createDecoder();
    this.#isHeld = hold?.state !== undefined;
    this.#quotes = new Quotes((this.#isHeld && barred?.texts) || marks.texts);
    this.#hold = hold;
    this.#writer = new Writer(dialect, request, prompt, (events) => this.#quotes.restore(events));
  }

  /** The model, the dialect or a stop string has ended the answer. */
  get isOver(): boolean {
    return this.#isOver || this.#writer.isOver;
  }

  async take(token: Token): Promise<Event[]> {
    this.tokens.push(token);
    if (this.#writer.thinking) this.#thinkingTokens++;
    const end = this.#marks.endOf(token);
    this.#isOver = end !== undefined;
    return end === "end" ? [] : this.#say(this.#heard(this.#decoder.feed(token))); // a stop of the dialect may close a call
  }

  /** The last events. An answer without an end was cut at the token limit. */
  async end(usage: Usage): Promise<Event[]> {
    const rest = await this.#say([...this.#heard(this.#decoder.flush()), ...this.#quotes.flush()]);
    const thought = this.#thinkingTokens > 0 ? { thinkingTokens: this.#thinkingTokens } : {};
    const used: Event = { type: "usage", ...usage, outputTokens: this.tokens.length, ...thought };
    return [...rest, ...this.#writer.end(this.isOver ? "stop" : "length", [used])];
  }

  /** Marks in plain tokens are quotations, unless a trigger has armed a grammar, which accepts its marks in any spelling. */
  #heard(said: Said | undefined): Said[] {
    if (!said) return [];
    const isMeant = (!this.#isHeld && this.#hold?.state !== undefined) || said.tokens.some(this.#marks.isMark);
    return isMeant ? [...this.#quotes.flush(), said] : this.#quotes.feed(said);
  }

  async #say(all: readonly Said[]): Promise<Event[]> {
    const events: Event[] = [];
    for (const said of all) {
      append(events, this.#writer.write(said.text));
      await this.#hold?.see(said, !this.#writer.thinking);
    }
    return events;
  }
}
