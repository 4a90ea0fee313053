/**
 * A server's answer while it comes: bytes in, events out. What the server sends goes through in one go, without a promise on the way:
 * a generator around a generator around a stream costs several turns of the loop for each event.
 */
import { StringDecoder } from "node:string_decoder";
import type { ErrorInfo, Event } from "../core/nouns.ts";
import type { Headers, StreamDecoder } from "../wires/wire.ts";
import { failed } from "./finish.ts";
import type { Asking, Listener } from "./http.ts";
import { Inbox } from "./inbox.ts";

export interface AnswerOptions {
  /** Sends the request; called when the first event is asked for. */
  ask(listener: Listener): Asking;
  /** What the answer is read with; its `flush` closes all that is open, and gives the `finish` if there was none. */
  open(status: number, headers: Headers): StreamDecoder;
  explain(error: unknown): ErrorInfo;
}

/** The events of an answer, with exactly one `finish`, last, whatever goes wrong. */
export const answerEvents = (options: AnswerOptions): AsyncIterable<Event> => new Reading(options).events;

/** What may stand behind the end of an answer: read to its end, a connection can be used again. */
const MAX_BEHIND = 65_536;
const CUT: ErrorInfo = { code: "upstream", message: "the answer ended before its end" };
const NOTHING: StreamDecoder = { feed: () => [], flush: () => [] };

class Reading implements Listener {
  readonly #options: AnswerOptions;
  readonly #text = new StringDecoder("utf8"); // a TextDecoder is kept until the next full collection, with a converter of its own
  readonly events: Inbox<Event>;
  #asking: Asking | undefined;
  #decoder = NOTHING;
  #behind = 0;
  #finished = false;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.events = new Inbox<Event>({
      start: () => this.#guard(() => this.#start()),
      pause: () => this.#asking?.pause(),
      resume: () => this.#asking?.resume(),
      stop: () => {
        this.#finished = true;
        this.#asking?.abort();
      },
    });
  }

  #start(): void {
    this.#asking = this.#options.ask(this);
  }

  answered(status: number, headers: Headers): void {
    this.#guard(() => {
      this.#decoder = this.#options.open(status, headers);
    });
  }

  received(bytes: Uint8Array): void {
    if (this.#finished) {
      this.#behind += bytes.length;
      if (this.#behind > MAX_BEHIND) this.#asking?.abort();
    } else this.#guard(() => this.#push(this.#decoder.feed(this.#text.write(bytes as Buffer))));
  }

  ended(): void {
    this.#guard(() => this.#end());
  }

  failed(error: unknown): void {
    this.#end(this.#options.explain(error));
  }

  #end(problem?: ErrorInfo): void {
    if (this.#finished) return;
    const last = [...this.#decoder.feed(this.#text.end()), ...this.#decoder.flush()];
    this.#push(problem ? last.map((event) => (event.type === "finish" ? failed(problem) : event)) : last);
    if (!this.#finished) this.#push([failed(problem ?? CUT)]);
  }

  #push(events: readonly Event[]): void {
    for (const event of events) {
      if (this.#finished) return;
      this.events.push(event);
      if (event.type !== "finish") continue;
      this.#finished = true;
      this.events.end();
    }
  }

  /** A fault in reading is the end of the answer, not of the process. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#decoder = NOTHING;
      this.failed(error);
      this.#asking?.abort();
    }
  }
}

/** An answer that says nothing before its end. */
export function whole(read: (text: string) => Event[]): StreamDecoder {
  let text = "";
  return {
    feed(piece) {
      text += piece;
      return [];
    },
    flush: () => read(text),
  };
}
