/**
 * An answer on its way to the client: what is written in one turn leaves in one piece, a slow reader holds the writer up, and nobody is held
 * silent. Status and headers leave with the first bytes, or after a while without them; then a silence is filled with heartbeats.
 */
import type { ServerResponse } from "node:http";
import type { Watched } from "../engines/ticker.ts";
import type { Headers } from "../wires/wire.ts";
import type { State } from "./options.ts";
import type { Tap } from "./tap.ts";

/** Whose answer it is. */
export interface Speaker {
  /** How long it may be silent before status and headers leave without it. */
  readonly headersMs: number;
  /** Asked once, when they leave. */
  headers(): Headers;
  heartbeat(): string;
  /** The client is behind: no more, until it is heard that it has caught up. */
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
  /** When the last bytes left; before the headers, when the request came. */
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

  /** Status and headers leave, with this turn's end at the latest. */
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
    if (this.#pending.length > MAX_PENDING) this.#flush(); // or an upstream that never pauses would fill the memory
    this.#schedule();
  }

  /** The limits are those of clients that give up: what is due before the next look is due now. */
  tick(_now: number, next: number): void {
    const patience = this.#opened ? this.#state.patience.heartbeatMs : this.#speaker.headersMs;
    if (next - this.#lastMs < patience) return;
    this.open();
    if (this.#raw.writableNeedDrain) return;
    this.#pending += this.#speaker.heartbeat();
    this.#flush();
  }

  /** The last bytes; there may be none. `trailers`: headers that nobody knew in time. */
  close(text: string, trailers?: Headers): void {
    this.leave();
    if (this.#raw.destroyed) return;
    const last = this.#pending + text;
    this.#pending = "";
    this.#tap?.wrote?.(last);
    if (trailers !== undefined) this.#raw.addTrailers(trailers);
    this.#raw.end(last);
  }

  /** The last bytes of an answer that is none: without the end that HTTP has for one, nobody takes it for that. */
  breakOff(text: string): void {
    this.leave();
    const raw = this.#raw;
    if (raw.destroyed) return;
    if (!raw.chunkedEncoding) {
      raw.socket?.resetAndDestroy(); // in HTTP/1.0 whatever else closes is an end
      return;
    }
    const last = this.#pending + text;
    this.#pending = "";
    this.#tap?.wrote?.(last);
    raw.write(last, () => raw.destroy());
  }

  /** Whoever answers otherwise has no more use for it. */
  leave(): void {
    this.#closed = true;
    this.#state.ticker.leave(this);
  }

  /** Behind all that came with the piece that the upstream sent. */
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
    if (raw.write(text)) return;
    this.#speaker.hold();
    raw.once("drain", () => this.#speaker.goOn());
  }
}
