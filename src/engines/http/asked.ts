/**
 * One request to a server that may have several URLs: as long as nothing of an answer has arrived, the next URL is tried. undici's
 * callbacks are passed on to a listener. If no URL serves the request, the listener gets the answer that says the most.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Transform } from "node:stream";
import { type Dispatcher, errors } from "undici/index.js";
import type { Headers } from "../../wires/wire.ts";
import { onAbort } from "../bounded.ts";
import type { CallOptions, UpstreamTap } from "../engine.ts";
import { EngineError } from "../error.ts";
import type { Ticker, Watched } from "../ticker.ts";
import type { Place, Places } from "./places.ts";
import { codeOf, LOST, UNREACHED } from "./problems.ts";
import { encodingOf, unpackerOf } from "./unpack.ts";

export interface Base {
  readonly origin: string;
  path(path: string): string;
}

/** Receives an answer: `answered` once, `received` any number of times, then `ended`; or `failed` at any point, and nothing after it. */
export interface Listener {
  answered(status: number, headers: Headers): void;
  received(bytes: Uint8Array): void;
  ended(): void;
  failed(error: unknown): void;
}

/** A request under way. */
export interface Asking {
  pause(): void;
  resume(): void;
  /** Calls the listener's `failed`, unless the request is over. */
  abort(): void;
}

/** How long a server may be silent; one timer serves all requests. */
export interface Patience {
  readonly headersMs: number;
  readonly idleMs: number;
  readonly ticker: Ticker;
}

/** An answer that only says that the server is busy. */
interface Busy {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array[];
  bytes: number;
  /** How long to wait, as far as the server says. */
  readonly restMs: number;
}

export class Asked implements Asking, Watched, Dispatcher.DispatchHandler {
  seat = 0;
  readonly #listener: Listener;
  readonly #signal: AbortSignal | undefined;
  readonly #tap: UpstreamTap | undefined;
  readonly #places: Places<Base>;
  readonly #patience: Patience;
  /** Returns the URL. */
  readonly #send: (base: Base) => string;
  readonly #several: boolean;
  /** The URLs to try, and how many were tried. */
  readonly #order: readonly Place<Base>[];
  #tried = 0;
  #place: Place<Base> | undefined;
  /** When the server last sent something, or the request was sent. */
  #lastMs = 0;
  #paused = false;
  #controller: Dispatcher.DispatchController | undefined;
  #answered = false;
  /** The current URL has sent headers, even if its answer is skipped. */
  #begun = false;
  #url = "";
  /** The current answer, if it is skipped: it only says that the server is busy, and another URL is left, or an earlier one has said more. */
  #skipped: Busy | undefined;
  /** Of those skipped, the one that says the most: after how short a wait its server may serve the request. */
  #kept: Busy | undefined;
  /** Set if the answer is compressed, although that was not requested. */
  #unpacker: Transform | undefined;
  #over = false;
  /** Unregisters from the signal. */
  #forget = (): void => {};

  constructor(listener: Listener, { signal, tap }: CallOptions, places: Places<Base>, patience: Patience, send: (base: Base) => string) {
    this.#listener = listener;
    this.#signal = signal;
    this.#tap = tap;
    this.#places = places;
    this.#patience = patience;
    this.#send = send;
    this.#several = places.several;
    this.#order = places.inOrder();
  }

  start(): void {
    this.#forget = onAbort(this.#signal, () => this.abort());
    if (this.#signal?.aborted) this.abort();
    else this.#next();
  }

  pause(): void {
    this.#paused = true;
    this.#controller?.pause();
    this.#unpacker?.pause();
  }
  resume(): void {
    this.#paused = false;
    this.#lastMs = performance.now();
    this.#controller?.resume();
    this.#unpacker?.resume();
  }
  tick(now: number): void {
    const { headersMs, idleMs } = this.#patience;
    const limitMs = !this.#begun ? headersMs : this.#skipped ? Math.min(idleMs, MAX_SKIPPED_MS) : idleMs;
    if (this.#paused || now - this.#lastMs < limitMs) return;
    this.#controller?.abort(this.#begun ? new errors.BodyTimeoutError() : new errors.HeadersTimeoutError());
  }
  abort(): void {
    if (this.#over) return;
    const reason = new errors.RequestAbortedError();
    this.#end(false);
    this.#controller?.abort(reason);
    this.#listener.failed(reason);
  }

  /** Tries the next URL; `false`: none is left. */
  #next(): boolean {
    const place = this.#order[this.#tried];
    if (!place) return false;
    this.#tried++;
    this.#begun = false;
    place.busy++;
    this.#place = place;
    this.#skipped = undefined;
    this.#url = this.#send(place.base);
    return true;
  }

  #end(whole: boolean): void {
    this.#over = true;
    this.#unpacker?.destroy();
    this.#forget();
    this.#tap?.over?.(whole);
  }

  #leave(): void {
    this.#patience.ticker.leave(this);
    if (this.#place) this.#place.busy--;
    this.#place = undefined;
  }

  // undici's callbacks

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#lastMs = performance.now();
    this.#patience.ticker.watch(this);
    if (this.#over) controller.abort(new errors.RequestAbortedError());
  }
  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#over || status < 200) return;
    this.#begun = true;
    this.#lastMs = performance.now();
    if (!BUSY.has(status)) this.#place?.worked();
    else {
      const restMs = restOf(headers);
      this.#place?.failed(this.#places.now(), restMs);
      const busy: Busy = { url: this.#url, status, headers, body: [], bytes: 0, restMs: restMs ?? Number.POSITIVE_INFINITY };
      if (this.#several && (this.#tried < this.#order.length || this.#isLess(busy))) {
        this.#skipped = busy;
        return;
      }
    }
    this.#begin(status, headers);
  }
  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#over) return;
    const busy = this.#skipped;
    if (busy) {
      busy.body.push(chunk);
      busy.bytes += chunk.length;
      if (busy.bytes > MAX_SKIPPED) controller.abort(new errors.RequestAbortedError());
      return;
    }
    this.#lastMs = performance.now();
    if (!this.#read(chunk)) controller.pause();
  }
  onResponseEnd(): void {
    this.#leave();
    if (this.#over) return;
    if (this.#skipped) this.#skip(this.#skipped);
    else this.#finish();
  }
  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const place = this.#place;
    this.#leave();
    if (this.#over) return;
    if (this.#skipped) {
      const { "content-encoding": _, ...headers } = this.#skipped.headers;
      this.#skip({ ...this.#skipped, headers, body: [] }); // half a body says less than the status
      return;
    }
    place?.failed(this.#places.now());
    const code = codeOf(error);
    const again = !this.#answered && (LOST.has(code) || (this.#several && UNREACHED.has(code)));
    if (again && this.#next()) return;
    if (this.#kept && !this.#answered) this.#tell(this.#kept);
    else if (this.#unpacker)
      this.#unpacker.write("", () => this.#failed(error)); // after all that was received before
    else this.#failed(error);
  }

  // Skipped answers

  #isLess({ restMs }: Busy): boolean {
    return this.#kept !== undefined && this.#kept.restMs < restMs;
  }
  #skip(busy: Busy): void {
    const kept = this.#isLess(busy) ? this.#kept : busy;
    this.#kept = kept;
    if (!this.#next() && kept) this.#tell(kept);
  }
  #tell({ url, status, headers, body }: Busy): void {
    this.#begin(status, headers, url);
    for (const chunk of body) this.#read(chunk);
    this.#finish();
  }

  // To the tap and the listener

  #begin(status: number, received: IncomingHttpHeaders, url?: string): void {
    this.#answered = true;
    const encoding = encodingOf(received["content-encoding"]);
    if (encoding !== undefined) {
      delete received["content-encoding"]; // the listener gets the body decompressed
      if (!this.#unpack(encoding)) return;
    }
    const headers = plain(received);
    this.#tap?.answered?.({ status, headers, url });
    this.#listener.answered(status, headers);
  }
  /** `false`: it is enough for now; decompressed, a little may become much. */
  #read(chunk: Uint8Array): boolean {
    if (this.#unpacker) return this.#unpacker.write(chunk);
    this.#received(chunk);
    return true;
  }
  #finish(): void {
    if (this.#unpacker) this.#unpacker.end();
    else this.#ended();
  }
  #received(bytes: Uint8Array): void {
    if (this.#over) return;
    this.#tap?.received?.(bytes);
    this.#listener.received(bytes);
  }
  #ended(): void {
    if (this.#over) return;
    this.#end(true);
    this.#listener.ended();
  }
  #failed(error: unknown): void {
    if (this.#over) return;
    this.#end(false);
    this.#listener.failed(error);
  }

  /** `false`: the encoding is not supported, and the request has failed. */
  #unpack(encoding: string): boolean {
    const broken = (what: string): void => {
      const message = `the upstream compresses its answers, though it was asked not to, and ${what}`;
      const error = new EngineError({ code: "upstream", message });
      this.#failed(error);
      this.#controller?.abort(error);
    };
    this.#unpacker = unpackerOf(encoding)
      ?.on("data", (bytes: Buffer) => this.#received(bytes))
      .on("drain", () => this.#paused || this.resume())
      .on("end", () => this.#ended())
      .on("error", () => broken(`this is not valid ${encoding}, or was cut off`));
    if (!this.#unpacker) broken(`"${encoding}" is not supported`);
    return this.#unpacker !== undefined;
  }
}

/** Joins the values of repeated headers. */
function plain(headers: IncomingHttpHeaders): Headers {
  for (const name in headers) if (typeof headers[name] !== "string") headers[name] = String(headers[name]);
  return headers as Headers;
}

/** Statuses with which another URL is tried. */
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504, 529]);
/** How much of a skipped answer is read before it is aborted. */
const MAX_SKIPPED = 65_536;
const MAX_SKIPPED_MS = 1000;

function restOf(headers: IncomingHttpHeaders): number | undefined {
  const seconds = Number(headers["retry-after"]);
  return seconds > 0 ? seconds * 1000 : undefined;
}
