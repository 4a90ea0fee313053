/**
 * A server's answer while it comes: bytes in, events out. What the server sends goes through in one go, without a promise on the way:
 * a generator around a generator around a stream costs several turns of the loop for each event.
 */
import { StringDecoder } from "node:string_decoder";
import { CUT_OFF } from "../core/errors.ts";
import type { ErrorInfo, Event } from "../core/nouns.ts";
import type { Headers, StreamDecoder } from "../wires/wire.ts";
import type { Asking, Listener } from "./asked.ts";
import type { Hear, Telling } from "./engine.ts";
import { EngineError } from "./error.ts";
import { failed } from "./finish.ts";
import { takeEvents } from "./take.ts";

export interface AnswerOptions {
  /** Sends the request. */
  ask(listener: Listener): Asking;
  /** What the answer is read with; its `flush` closes all that is open, and gives the `finish` if there was none. */
  open(status: number, headers: Headers): StreamDecoder;
  explain(error: unknown): ErrorInfo;
}

/** Sends the request and tells the events of its answer, with exactly one `finish`, last, whatever goes wrong. */
export const tellAnswer = (options: AnswerOptions, hear: Hear): Telling => new Reading(options, hear);

/** The same, one by one; the request is sent when the first is asked for. */
export const answerEvents = (options: AnswerOptions): AsyncIterable<Event> => takeEvents((hear) => tellAnswer(options, hear));

/** What may stand behind the end of an answer: read to its end, a connection can be used again. */
const MAX_BEHIND = 65_536;
/** What one thing that a server says may take: as much as a client may send. */
export const MAX_BYTES = 64 * 1024 * 1024;
export const TOO_LONG: ErrorInfo = { code: "upstream", message: "what the upstream says has no end: it is more than 64 MiB by now" };
const NOTHING: StreamDecoder = { feed: () => [], flush: () => [] };

class Reading implements Listener, Telling {
  readonly #options: AnswerOptions;
  readonly #hear: Hear;
  readonly #text = new Utf8();
  #asking: Asking | undefined;
  #decoder = NOTHING;
  #behind = 0;
  /** What came since it said something. */
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

  // What the server says

  answered(status: number, headers: Headers): void {
    try {
      this.#decoder = this.#options.open(status, headers);
    } catch (error) {
      this.#break(error);
    }
  }

  received(bytes: Uint8Array): void {
    if (this.#finished) {
      this.#behind += bytes.length;
      if (this.#behind > MAX_BEHIND) this.#asking?.abort();
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
    this.#tell(problem ? last.map((event) => (event.type === "finish" ? failed(problem) : event)) : last);
    if (!this.#finished) this.#tell([failed(problem ?? CUT_OFF)]);
  }

  #tell(events: readonly Event[]): void {
    if (events.length === 0 || this.#finished) return;
    const end = events.findIndex(isFinish);
    this.#finished = end >= 0;
    this.#hear(end < 0 || end === events.length - 1 ? events : events.slice(0, end + 1));
  }

  /** A fault in reading is the end of the answer, not of the process. */
  #break(error: unknown): void {
    this.#decoder = NOTHING;
    this.failed(error);
    this.#asking?.abort();
  }
}

const isFinish = ({ type }: Event): boolean => type === "finish";

/** Bytes as text. Most pieces end between two characters, and need nobody who remembers half of one. */
class Utf8 {
  #decoder: StringDecoder | undefined;

  write(bytes: Buffer): string {
    if (!this.#decoder) {
      if (bytes.length === 0 || bytes[bytes.length - 1]! < 0x80) return bytes.toString("utf8");
      this.#decoder = new StringDecoder("utf8"); // not a TextDecoder, which is kept until the next full collection
    }
    return this.#decoder.write(bytes);
  }

  end(): string {
    return this.#decoder?.end() ?? "";
  }
}

/** An answer that says nothing before its end; behind so many characters nobody reads on. */
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
