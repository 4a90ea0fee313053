/** Turns the text of a model in this process into events, up to a stop string of the request, and adds the `finish`. */
import type { Event, FinishReason, Request } from "../core/nouns.ts";
import type { Dialect, Prompt, Scanner } from "../dialects/dialect.ts";
import { Ending, mintIds } from "./ending.ts";
import { endsInThinking } from "./inband/request.ts";
import { Stops } from "./stops.ts";

export class Writer {
  readonly #scanner: Scanner;
  readonly #stops: Stops;
  readonly #ending = new Ending();
  readonly #restore: (events: Event[]) => Event[];
  /** The dialect's stops, and their last characters. */
  readonly #ends: readonly string[];
  readonly #lastOfEnds: ReadonlySet<string>;
  #ended = false;
  #thinking: boolean;

  /** `restore` is applied to the scanner's events first. */
  constructor(dialect: Dialect, request: Request, prompt: Prompt, restore: (events: Event[]) => Event[] = (events) => events) {
    this.#scanner = dialect.createScanner({ prompt, mintId: mintIds(request), tools: request.tools ?? [] });
    this.#stops = new Stops(request.stop);
    this.#restore = restore;
    this.#ends = dialect.stops;
    this.#lastOfEnds = new Set(dialect.stops.map((stop) => stop.slice(-1)));
    this.#thinking = endsInThinking(dialect, prompt);
  }

  /** The request's stop string that ended the answer. */
  get stopped(): string | undefined {
    return this.#stops.found;
  }

  /** The answer is over: a stop string of the request or of the dialect has appeared. */
  get isOver(): boolean {
    return this.#ended || this.stopped !== undefined;
  }

  /** Whether the answer is inside thinking now. */
  get thinking(): boolean {
    return this.#thinking;
  }

  /**
   * Text after a stop of the dialect is ignored: not every runtime stops there, and what follows is another turn that the model makes up.
   */
  write(text: string): Event[] {
    return [...this.#piecesOf(text)].flatMap((piece) => {
      if (this.isOver) return [];
      const scanned = this.#scanner.feed(piece);
      const events = this.#ending.see(this.#read(scanned));
      this.#ended = scanned.some((event) => "raw" in event && this.#ends.some((end) => event.raw?.endsWith(end)));
      return events;
    });
  }

  /** Cuts the text after each character that may end a stop of the dialect. */
  *#piecesOf(text: string): Generator<string, void, undefined> {
    let from = 0;
    for (let at = 1; at <= text.length; at++) {
      if (at < text.length && !this.#lastOfEnds.has(text[at - 1]!)) continue;
      yield text.slice(from, at);
      from = at;
    }
  }

  /** The last events, then `usage`, then the `finish`. */
  end(given: FinishReason, usage: readonly Event[]): Event[] {
    const events = this.stopped === undefined ? this.#read(this.#scanner.flush()) : [];
    const { stopped } = this;
    const reason = stopped === undefined ? given : "stop";
    const last = this.#ending.flush([...events, ...this.#held()], reason);
    return [...last, ...usage, this.#ending.finish({ type: "finish", reason, ...(stopped === undefined ? {} : { stop: stopped }) })];
  }

  #read(scanned: Event[]): Event[] {
    const events: Event[] = [];
    for (const event of this.#restore(scanned)) {
      if (this.stopped !== undefined) break;
      if (event.type === "text") {
        const text = this.#stops.feed(event.text);
        if (text !== "") events.push({ ...event, text });
        continue;
      }
      if (event.type === "thinking-start") this.#thinking = true;
      else if (event.type === "thinking-end") this.#thinking = false;
      events.push(...this.#held(), event); // a stop string does not extend across other events
    }
    return events;
  }

  /** Text that was held back as a possible beginning of a stop string. */
  #held(): Event[] {
    const text = this.#stops.flush();
    return text === "" ? [] : [{ type: "text", text }];
  }
}
