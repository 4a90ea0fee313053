/**
 * Sends an answer to the client. What is written in one turn of the event loop is sent in one piece, and a slow reader pauses the writer.
 * Status and headers are sent with the first bytes, or after a while without them; after that, heartbeats fill any silence.
 */
import type { ServerResponse } from "node:http";
import type { Watched } from "../engines/ticker.ts";
import type { Headers } from "../wires/wire.ts";
import type { State } from "./options.ts";
import type { Tap } from "./tap.ts";

/** The source of the answer. */
export interface Speaker {
  /** How long it may be silent before status and headers are sent without content. */
  readonly headersMs: number;
  /** Called once, when they are sent. */
  headers(): Headers;
  heartbeat(): string;
  /** The client reads too slowly: nothing more should come until `goOn`. */
  hold(): void;
  goOn(): void;
}

const MAX_PENDING = 65_536;

export class Sink implements Watched {
  seat = 0;
  readonly #raw: ServerResponse;
  readonly #speaker: Speaker;
  readonly #state: State;
  readonly #tap: Tap | undefined;
  #opened = false;
  #closed = false;
  /** When the last bytes were sent; until then, when the request came. */
  #lastMs = performance.now();
  #pending = "";
  #scheduled = false;

  constructor(raw: ServerResponse, speaker: Speaker, state: State, tap: Tap | undefined) {
    this.#raw = raw;
    this.#speaker = speaker;
    this.#state = state;
    this.#tap = tap;
    state.ticker.watch(this);
  }

  get opened(): boolean {
    return this.#opened;
  }

  /** Sends status and headers, at the latest when this turn ends. */
  open(): void {
    const raw = this.#raw;
    if (this.#opened || raw.destroyed) return;
    this.#opened = true;
    const headers = this.#speaker.headers();
    raw.socket?.setNoDelay(true);
    raw.writeHead(200, headers);
    this.#tap?.replied?.({ status: 200, headers });
    this.#schedule();
  }

  write(text: string): void {
    if (text === "") return;
    this.#pending += text;
    if (this.#pending.length > MAX_PENDING) this.#flush(); // an upstream that never pauses would fill the memory
    this.#schedule();
  }

  /** The limits are those after which clients give up, so whatever would be due before the next tick is sent now. */
  tick(_now: number, next: number): void {
    const patience = this.#opened ? this.#state.patience.heartbeatMs : this.#speaker.headersMs;
    if (next - this.#lastMs < patience) return;
    this.open();
    if (this.#raw.writableNeedDrain) return;
    this.#pending += this.#speaker.heartbeat();
    this.#flush();
  }

  /** Sends the last bytes, if any, and ends. `trailers`: headers that were not known in time. */
  close(text: string, trailers?: Headers): void {
    this.leave();
    if (this.#raw.destroyed) return;
    const last = this.#pending + text;
    this.#pending = "";
    this.#tap?.wrote?.(last);
    if (trailers !== undefined) this.#raw.addTrailers(trailers);
    this.#raw.end(last);
  }

  /** Sends the last bytes of a failed answer and cuts the connection: without HTTP's end mark, no client takes it for a complete answer. */
  breakOff(text: string): void {
    this.leave();
    const raw = this.#raw;
    if (raw.destroyed) return;
    if (!raw.chunkedEncoding) {
      raw.socket?.resetAndDestroy(); // in HTTP/1.0 any other way to close means a complete answer
      return;
    }
    const last = this.#pending + text;
    this.#pending = "";
    this.#tap?.wrote?.(last);
    raw.write(last, () => raw.destroy());
  }

  /** Stops the heartbeats: the answer ends, or is sent in another way. */
  leave(): void {
    this.#closed = true;
    this.#state.ticker.leave(this);
  }

  /** Flushes after everything that arrived in the same piece from the upstream has been written. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(Sink.#turn, this);
  }

  static #turn(sink: Sink): void {
    sink.#scheduled = false;
    if (sink.#closed) return;
    if (sink.#pending === "" && !sink.#raw.destroyed) sink.#raw.flushHeaders();
    else sink.#flush();
  }

  #flush(): void {
    const text = this.#pending;
    const raw = this.#raw;
    this.#pending = "";
    if (text === "" || raw.destroyed || raw.writableEnded) return;
    this.#lastMs = performance.now();
    this.#tap?.wrote?.(text);
    const isFull = raw.writableNeedDrain; // then the speaker is on hold already
    if (raw.write(text) || isFull) return;
    this.#speaker.hold();
    raw.socket?.setTimeout(this.#state.patience.readMs); // Node cuts the connection: the answer would keep its place at the model
    raw.once("drain", () => {
      raw.socket?.setTimeout(0);
      this.#speaker.goOn();
    });
  }
}
