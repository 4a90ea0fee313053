/** What a model in this process says: its text as events, up to a stop string of the request, and how it ended. */
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
  /** The dialect's. */
  readonly #ends: readonly string[];
  readonly #lastOfEnds: ReadonlySet<string>;
  #ended = false;
  #thinking: boolean;

  /** `restore`: what is done to the scanner's events before anybody looks at them. */
  constructor(dialect: Dialect, request: Request, prompt: Prompt, restore: (events: Event[]) => Event[] = (events) => events) {
    this.#scanner = dialect.createScanner({ prompt, mintId: mintIds(request), tools: request.tools ?? [] });
    this.#stops = new Stops(request.stop);
    this.#restore = restore;
    this.#ends = dialect.stops;
    this.#lastOfEnds = new Set(dialect.stops.map((stop) => stop.slice(-1)));
    this.#thinking = endsInThinking(dialect, prompt);
  }

  /** The stop string that ended it. */
  get stopped(): string | undefined {
    return this.#stops.found;
  }

  /** Nothing more belongs to the answer: a stop string, or the dialect's own end, has come. */
  get isOver(): boolean {
    return this.#ended || this.stopped !== undefined;
  }

  /** What was written last is thinking. */
  get thinking(): boolean {
    return this.#thinking;
  }

  /** Not everybody who is told to stop there does: what stands behind the end is another turn, which the model makes up. */
  write(text: string): Event[] {
    const events: Event[] = [];
    for (const piece of this.#piecesOf(text)) {
      if (this.isOver) break;
      const scanned = this.#scanner.feed(piece);
      events.push(...this.#ending.see(this.#read(scanned)));
      this.#ended = scanned.some((event) => "raw" in event && this.#ends.some((end) => event.raw?.endsWith(end)));
    }
    return events;
  }

  /** Cut behind all that may be the last character of an end. */
  *#piecesOf(text: string): Generator<string, void, undefined> {
    let from = 0;
    for (let at = 1; at <= text.length; at++) {
      if (at < text.length && !this.#lastOfEnds.has(text[at - 1]!)) continue;
      yield text.slice(from, at);
      from = at;
    }
  }

  /** The last events, and what comes between them and the end. */
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
      events.push(...this.#held(), event); // a stop string does not reach over a call
    }
    return events;
  }

  /** Text that looked like the beginning of a stop string. */
  #held(): Event[] {
    const text = this.#stops.flush();
    return text === "" ? [] : [{ type: "text", text }];
  }
}
