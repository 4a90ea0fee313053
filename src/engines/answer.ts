/**
 * Reads a server's answer as it arrives: bytes in, events out. Each piece is processed synchronously: nested generators around a stream
 * would cost several turns of the event loop for each event.
 */
import { StringDecoder } from "node:string_decoder";
import { CUT_OFF } from "../core/errors.ts";
import type { ErrorInfo, Event, Finish } from "../core/nouns.ts";
import type { Headers, StreamDecoder } from "../wires/wire.ts";
import type { Hear, Telling } from "./engine.ts";
import { EngineError } from "./error.ts";
import { failed } from "./finish.ts";
import type { Asking, Listener } from "./http/asked.ts";
import { takeEvents } from "./take.ts";

export interface AnswerOptions {
  /** Sends the request. */
  ask(listener: Listener): Asking;
  /** The decoder for the answer; its `flush` ends everything that is open, and returns the `finish` if there was none. */
  open(status: number, headers: Headers): StreamDecoder;
  explain(error: unknown): ErrorInfo;
}

/** Sends the request and delivers the events of its answer, with exactly one `finish`, last, whatever goes wrong. */
export const tellAnswer = (options: AnswerOptions, hear: Hear): Telling => new Reading(options, hear);

/** The same as an iterable; the request is sent with the first `next()`. */
export const answerEvents = (options: AnswerOptions): AsyncIterable<Event> => takeEvents((hear) => tellAnswer(options, hear));

/** How many bytes after the `finish` are still read, so that the connection can be reused; with more, it is closed. */
const MAX_AFTER = 65_536;
/** Limit for a body, or for the bytes that arrive without an event; the same as for a client's body. */
export const MAX_BYTES = 64 * 1024 * 1024;
export const TOO_LONG: ErrorInfo = { code: "upstream", message: "the upstream's answer is too long: it is more than 64 MiB already" };
const NOTHING: StreamDecoder = { feed: () => [], flush: () => [] };

class Reading implements Listener, Telling {
  readonly #options: AnswerOptions;
  readonly #hear: Hear;
  readonly #text = new Utf8();
  #asking: Asking | undefined;
  #decoder = NOTHING;
  #after = 0;
  /** Bytes since the last event. */
  #unheard = 0;
  #finished = false;

  constructor(options: AnswerOptions, hear: Hear) {
    this.#options = options;
    this.#hear = hear;
    try {
      this.#asking = options.ask(this);
    } catch (error) {
      this.#break(error);
    }
  }

  pause(): void {
    this.#asking?.pause();
  }
  resume(): void {
    this.#asking?.resume();
  }
  stop(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#asking?.abort();
  }

  // From the server

  answered(status: number, headers: Headers): void {
    try {
      this.#decoder = this.#options.open(status, headers);
    } catch (error) {
      this.#break(error);
    }
  }

  received(bytes: Uint8Array): void {
    if (this.#finished) {
      this.#after += bytes.length;
      if (this.#after > MAX_AFTER) this.#asking?.abort();
      return;
    }
    let events: readonly Event[] = [];
    this.#unheard += bytes.length;
    try {
      if (this.#unheard > MAX_BYTES) throw new EngineError(TOO_LONG);
      events = this.#decoder.feed(this.#text.write(bytes as Buffer));
    } catch (error) {
      this.#break(error);
    }
    if (events.length > 0) this.#unheard = 0;
    this.#tell(events);
  }

  ended(): void {
    if (!this.#finished) this.#end();
  }

  failed(error: unknown): void {
    if (!this.#finished) this.#end(this.#options.explain(error));
  }

  #end(problem?: ErrorInfo): void {
    let last: readonly Event[] = [];
    try {
      last = [...this.#decoder.feed(this.#text.end()), ...this.#decoder.flush()];
    } catch (error) {
      this.#break(error);
    }
    // A refusal has a status, which says more than how the connection ended.
    const isFinal = ({ error }: Finish): boolean => error?.status !== undefined && problem?.code !== "aborted";
    this.#tell(last.map((event) => (problem && event.type === "finish" && !isFinal(event) ? failed(problem) : event)));
    if (!this.#finished) this.#tell([failed(problem ?? CUT_OFF)]);
  }

  #tell(events: readonly Event[]): void {
    if (events.length === 0 || this.#finished) return;
    const end = events.findIndex(isFinish);
    this.#finished = end >= 0;
    this.#hear(end < 0 || end === events.length - 1 ? events : events.slice(0, end + 1));
  }

  /** An exception in reading ends the answer, not the process. */
  #break(error: unknown): void {
    this.#decoder = NOTHING;
    this.failed(error);
    this.#asking?.abort();
  }
}

const isFinish = ({ type }: Event): boolean => type === "finish";

/** Decodes UTF-8. As long as every piece ends in an ASCII character, no stateful decoder is needed. */
class Utf8 {
  #decoder: StringDecoder | undefined;

  write(bytes: Buffer): string {
    if (!this.#decoder) {
      if (bytes.length === 0 || bytes[bytes.length - 1]! < 0x80) return bytes.toString("utf8");
      this.#decoder = new StringDecoder("utf8"); // not a TextDecoder, whose memory is kept until the next full garbage collection
    }
    return this.#decoder.write(bytes);
  }

  end(): string {
    return this.#decoder?.end() ?? "";
  }
}

/** A decoder for an answer that is read as a whole, at its end or after `most` characters. */
export function whole(read: (text: string) => Event[], most = Number.POSITIVE_INFINITY): StreamDecoder {
  let text = "";
  return {
    feed(piece) {
      text += piece;
      return text.length > most ? read(text.slice(0, most)) : [];
    },
    flush: () => read(text),
  };
}
