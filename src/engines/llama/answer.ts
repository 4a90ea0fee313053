/** One answer: the model's tokens in, events out, by the dialect's scanner, up to a stop. */
import type { LlamaModel, Token } from "node-llama-cpp";
import type { Event, Finish, Request, Usage } from "../../core/nouns.ts";
import type { Dialect, Prompt, Scanner } from "../../dialects/dialect.ts";
import { preservedOf } from "../completions/job.ts";
import { Ending, mintIds } from "../ending.ts";
import { endsInThinking } from "../inband/request.ts";
import { Stops } from "../stops.ts";
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
    this.texts = [...new Set([...dialect.stops, ...preservedOf(dialect)])].filter((text) => vocabulary.control(text) !== undefined);
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
  readonly #scanner: Scanner;
  readonly #hold: Hold | undefined;
  readonly #stops: Stops;
  readonly #ending = new Ending();
  #isOver = false;
  #inThinking: boolean;
  #thinkingTokens = 0;

  constructor(marks: Marks, dialect: Dialect, { request, prompt, hold }: Asked) {
    this.#marks = marks;
    this.#decoder = marks.createDecoder();
    this.#quotes = new Quotes(marks.texts);
    this.#scanner = dialect.createScanner({ prompt, tools: request.tools ?? [], mintId: mintIds(request) });
    this.#hold = hold;
    this.#stops = new Stops(request.stop);
    this.#inThinking = endsInThinking(dialect, prompt);
  }

  /** The model, the dialect or a stop string has ended it. */
  get isOver(): boolean {
    return this.#isOver || this.#stops.found !== undefined;
  }

  async take(token: Token): Promise<Event[]> {
    this.tokens.push(token);
    if (this.#inThinking) this.#thinkingTokens++;
    const end = this.#marks.endOf(token);
    this.#isOver = end !== undefined;
    return end === "end" ? [] : this.#say(this.#heard(this.#decoder.feed(token))); // a stop of the dialect may close a call
  }

  /** The last events. What ended without an end was cut. */
  async end(usage: Usage): Promise<Event[]> {
    const rest = await this.#say([...this.#heard(this.#decoder.flush()), ...this.#quotes.flush()]);
    const stop = this.#stops.found;
    const last = stop === undefined ? this.#seen(this.#scanner.flush()) : [];
    const thought = this.#thinkingTokens > 0 ? { thinkingTokens: this.#thinkingTokens } : {};
    const finish: Finish = { type: "finish", reason: this.isOver ? "stop" : "length", ...(stop === undefined ? {} : { stop }) };
    return [
      ...rest,
      ...last,
      ...this.#unstopped(),
      { type: "usage", ...usage, outputTokens: this.tokens.length, ...thought },
      this.#ending.finish(finish),
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
      events.push(...this.#seen(this.#scanner.feed(said.text)));
      await this.#hold?.see(said, !this.#inThinking);
    }
    return events;
  }

  #seen(scanned: Event[]): Event[] {
    const events: Event[] = [];
    for (const event of this.#quotes.restore(scanned)) {
      if (this.#stops.found !== undefined) break;
      if (event.type === "text") {
        const text = this.#stops.feed(event.text);
        if (text !== "") events.push({ ...event, text });
        continue;
      }
      this.#ending.see(event);
      if (event.type === "thinking-start") this.#inThinking = true;
      else if (event.type === "thinking-end") this.#inThinking = false;
      events.push(...this.#unstopped(), event); // a stop string does not reach over a call
    }
    return events;
  }

  /** Text that looked like the beginning of a stop string. */
  #unstopped(): Event[] {
    const text = this.#stops.flush();
    return text === "" ? [] : [{ type: "text", text }];
  }
}
