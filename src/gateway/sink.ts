/**
 * An answer on its way to the client: what is written in one turn leaves in one piece, a slow reader holds the writer up, and nobody is held
 * silent. Status and headers leave with the first bytes, or after a while without them; then a silence is filled with heartbeats.
 */
import type { ServerResponse } from "node:http";
import type { Headers } from "../wires/wire.ts";
import type { Tap } from "./tap.ts";
import type { Ticker, Watched } from "./ticker.ts";

export interface SinkOptions {
  readonly ticker: Ticker;
  readonly patience: { readonly headersMs: number; readonly heartbeatMs: number };
  readonly tap: Tap | undefined;
  /** Asked once, when they leave. */
  headers(): Headers;
  heartbeat(): string;
}

const MAX_PENDING = 65_536;

export class Sink implements Watched {
  readonly #raw: ServerResponse;
  readonly #options: SinkOptions;
  #opened = false;
  /** When the last bytes left; before the headers, when the request came. */
  #lastMs = performance.now();
  #pending = "";
  #scheduled = false;

  constructor(raw: ServerResponse, options: SinkOptions) {
    this.#raw = raw;
    this.#options = options;
    options.ticker.watch(this);
  }

  get opened(): boolean {
    return this.#opened;
  }

  /** Status and headers leave, with this turn's end at the latest. */
  open(): void {
    if (this.#opened || this.#raw.destroyed) return;
    this.#opened = true;
    this.#lastMs = performance.now();
    const headers = this.#options.headers();
    this.#raw.socket?.setNoDelay(true);
    this.#raw.writeHead(200, headers);
    this.#options.tap?.replied?.({ status: 200, headers });
    // If the first bytes are here already, the headers leave with them.
    setImmediate(() => {
      if (!this.#raw.destroyed && !this.#raw.writableEnded) this.#raw.flushHeaders();
    });
  }

  write(text: string): void {
    if (text === "") return;
    this.#pending += text;
    if (this.#pending.length > MAX_PENDING) this.#flush(); // or an upstream that never pauses would fill the memory
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Behind all events of the piece that the upstream sent.
    process.nextTick(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  /** The client is behind: wait for `drained`. */
  get full(): boolean {
    return this.#raw.writableNeedDrain && !this.#raw.destroyed;
  }

  drained(): Promise<void> {
    const raw = this.#raw;
    return new Promise((resolve) => {
      const done = (): void => {
        raw.off("drain", done).off("close", done);
        resolve();
      };
      raw.once("drain", done).once("close", done);
    });
  }

  tick(now: number): void {
    const { headersMs, heartbeatMs } = this.#options.patience;
    if (now - this.#lastMs < (this.#opened ? heartbeatMs : headersMs)) return;
    this.open();
    if (this.full) return;
    this.#pending += this.#options.heartbeat();
    this.#flush();
  }

  /** The last bytes; there may be none. `trailers`: headers that nobody knew in time. */
  close(text: string, trailers: Headers = {}): void {
    this.leave();
    if (this.#raw.destroyed) return;
    const last = this.#take() + text;
    this.#options.tap?.wrote?.(last);
    this.#raw.addTrailers(trailers);
    this.#raw.end(last);
  }

  /** Whoever answers otherwise has no more use for it. */
  leave(): void {
    this.#options.ticker.leave(this);
  }

  #take(): string {
    const text = this.#pending;
    this.#pending = "";
    return text;
  }

  #flush(): void {
    const text = this.#take();
    if (text === "" || this.#raw.destroyed || this.#raw.writableEnded) return;
    this.#lastMs = performance.now();
    this.#options.tap?.wrote?.(text);
    this.#raw.write(text);
  }
}
