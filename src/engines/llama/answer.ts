/** One answer: the model's tokens in, events out, by the dialect's scanner, up to a stop. */
import type { LlamaModel, Token } from "node-llama-cpp";
import type { Event, Request, Usage } from "../../core/nouns.ts";
import type { Dialect, Prompt } from "../../dialects/dialect.ts";
import { marksOf } from "../rendered.ts";
import { Writer } from "../writer.ts";
import type { Hold } from "./hold.ts";
import { Quotes } from "./quotes.ts";
import type { Decoder, Said, Vocabulary } from "./vocabulary.ts";

/** The marks of a dialect that a vocabulary has as tokens: what the model writes as one of them, where it means it. */
export class Marks {
  readonly texts: readonly string[];
  readonly #model: LlamaModel;
  readonly #vocabulary: Vocabulary;
  readonly #tokens: ReadonlySet<Token>;
  readonly #stops: ReadonlySet<Token>;

  constructor(model: LlamaModel, vocabulary: Vocabulary, dialect: Dialect) {
    const tokensOf = (texts: readonly string[]) => new Set(texts.flatMap((text) => vocabulary.control(text) ?? []));
    this.#model = model;
    this.#vocabulary = vocabulary;
    this.texts = marksOf(dialect).filter((text) => vocabulary.control(text) !== undefined);
    this.#tokens = tokensOf(this.texts);
    this.#stops = tokensOf(dialect.stops);
  }

  isMark = (token: Token): boolean => this.#tokens.has(token);
  /** It ends the answer; `stop`: as the dialect says. Any other end of the vocabulary is no text of the dialect. */
  endOf(token: Token): "stop" | "end" | undefined {
    if (this.#stops.has(token)) return "stop";
    return this.#model.isEogToken(token) ? "end" : undefined;
  }
  createDecoder(): Decoder {
    return this.#vocabulary.createDecoder();
  }
}

export interface Asked {
  readonly request: Request;
  readonly prompt: Prompt;
  readonly hold: Hold | undefined;
}

export class Answer {
  /** All that the model has said. */
  readonly tokens: Token[] = [];
  readonly #marks: Marks;
  readonly #decoder: Decoder;
  readonly #quotes: Quotes;
  readonly #hold: Hold | undefined;
  readonly #writer: Writer;
  #isOver = false;
  #thinkingTokens = 0;

  constructor(marks: Marks, dialect: Dialect, { request, prompt, hold }: Asked) {
    this.#marks = marks;
    this.#decoder = marks.createDecoder();
    this.#quotes = new Quotes(marks.texts);
    this.#hold = hold;
    this.#writer = new Writer(dialect, request, prompt, (events) => this.#quotes.restore(events));
  }

  /** The model, the dialect or a stop string has ended it. */
  get isOver(): boolean {
    return this.#isOver || this.#writer.stopped !== undefined;
  }

  async take(token: Token): Promise<Event[]> {
    this.tokens.push(token);
    if (this.#writer.thinking) this.#thinkingTokens++;
    const end = this.#marks.endOf(token);
    this.#isOver = end !== undefined;
    return end === "end" ? [] : this.#say(this.#heard(this.#decoder.feed(token))); // a stop of the dialect may close a call
  }

  /** The last events. What ended without an end was cut. */
  async end(usage: Usage): Promise<Event[]> {
    const rest = await this.#say([...this.#heard(this.#decoder.flush()), ...this.#quotes.flush()]);
    const thought = this.#thinkingTokens > 0 ? { thinkingTokens: this.#thinkingTokens } : {};
    return [
      ...rest,
      ...this.#writer.end(),
      { type: "usage", ...usage, outputTokens: this.tokens.length, ...thought },
      this.#writer.finish(this.isOver ? "stop" : "length"),
    ];
  }

  /** Marks in plain tokens are quotations, except that a grammar takes marks however they are spelled. */
  #heard(said: Said | undefined): Said[] {
    if (!said) return [];
    const isMeant = this.#hold?.state !== undefined || said.tokens.some(this.#marks.isMark);
    return isMeant ? [...this.#quotes.flush(), said] : this.#quotes.feed(said);
  }

  async #say(all: readonly Said[]): Promise<Event[]> {
    const events: Event[] = [];
    for (const said of all) {
      events.push(...this.#writer.write(said.text));
      await this.#hold?.see(said, !this.#writer.thinking);
    }
    return events;
  }
}
