/** A stream to a client: what is written in one turn leaves in one piece, a slow reader holds the writer up, and a silence is filled with the wire's heartbeats. */
import type { ServerResponse } from "node:http";
import type { Request } from "../core/nouns.ts";
import type { Headers, StreamEncoder } from "../wires/wire.ts";
import type { Tap } from "./tap.ts";

const TYPES: Readonly<Record<NonNullable<Exclude<Request["stream"], false>>, string>> = {
  sse: "text/event-stream; charset=utf-8",
  array: "application/json; charset=utf-8",
  ndjson: "application/x-ndjson; charset=utf-8",
};

/** Nobody on the way may hold the answer back, or compress it. */
export const streamHeaders = (stream: NonNullable<Exclude<Request["stream"], false>>): Record<string, string> => ({
  "content-type": TYPES[stream],
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
});

const MAX_PENDING = 65_536;

export class Sink {
  readonly #raw: ServerResponse;
  readonly #encoder: StreamEncoder;
  readonly #heartbeatMs: number;
  readonly #tap: Tap | undefined;
  #timer: NodeJS.Timeout | undefined;
  #opened = false;
  #pending = "";
  #scheduled = false;

  constructor(raw: ServerResponse, encoder: StreamEncoder, heartbeatMs: number, tap?: Tap) {
    this.#raw = raw;
    this.#encoder = encoder;
    this.#heartbeatMs = heartbeatMs;
    this.#tap = tap;
  }

  get opened(): boolean {
    return this.#opened;
  }

  /** Status and headers leave, with this turn's end at the latest. */
  open(headers: Headers): void {
    if (this.#opened || this.#raw.destroyed) return;
    this.#opened = true;
    this.#raw.socket?.setNoDelay(true);
    this.#raw.writeHead(200, headers);
    this.#tap?.replied?.({ status: 200, headers });
    // If the first bytes are here already, the headers leave with them.
    setImmediate(() => {
      if (!this.#raw.destroyed && !this.#raw.writableEnded) this.#raw.flushHeaders();
    });
    this.#timer = setTimeout(() => this.beat(), this.#heartbeatMs);
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

  /** Something to wait for while the client is behind. */
  get full(): Promise<void> | undefined {
    const raw = this.#raw;
    if (!raw.writableNeedDrain || raw.destroyed) return undefined;
    return new Promise((resolve) => {
      const done = (): void => {
        raw.off("drain", done).off("close", done);
        resolve();
      };
      raw.once("drain", done).once("close", done);
    });
  }

  beat(): void {
    if (!this.#opened || this.#raw.destroyed) return;
    if (!this.#raw.writableNeedDrain) this.#send(this.#take() + this.#encoder.heartbeat());
    this.#timer?.refresh();
  }

  close(text: string): void {
    clearTimeout(this.#timer);
    const last = this.#take() + text;
    if (this.#raw.destroyed) return;
    this.#tap?.wrote?.(last);
    this.#raw.end(last);
  }

  #flush(): void {
    const text = this.#take();
    if (text !== "") this.#send(text);
  }

  #take(): string {
    const text = this.#pending;
    this.#pending = "";
    return text;
  }

  #send(text: string): void {
    if (text === "" || this.#raw.destroyed || this.#raw.writableEnded) return;
    this.#tap?.wrote?.(text);
    this.#raw.write(text);
    this.#timer?.refresh();
  }
}
