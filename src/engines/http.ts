/**
 * Requests to a server that may have several URLs, over connections that are kept. All engines with a server behind them ask it through
 * this file: what is known of connections, timeouts and their errors is known here.
 */
import type { IncomingHttpHeaders } from "node:http";
import { type Dispatcher, errors, Pool } from "undici";
import type { ErrorInfo } from "../core/nouns.ts";
import type { Headers } from "../wires/wire.ts";
import type { CallOptions, UpstreamTap } from "./engine.ts";
import { EngineError } from "./error.ts";
import { Inbox } from "./inbox.ts";
import { type Place, Places } from "./places.ts";
import { Ticker, type Watched } from "./ticker.ts";

/** In milliseconds. */
export interface Timeouts {
  connect?: number | undefined;
  /** Until the server answers at all: a long prompt on a slow machine takes minutes, and an answer that is not streamed comes with the headers. */
  headers?: number | undefined;
  /** Between two pieces of an answer. */
  idle?: number | undefined;
}

const TIMEOUTS = { connect: 10_000, headers: 900_000, idle: 300_000 } as const;
/** Lists of models and counts are quick, or not worth waiting for. */
const QUICK_MS = 10_000;
/** So is what a server says of itself. */
export const ASIDE_MS = 3_000;

export interface ServerOptions {
  /** Where a path is found under each URL. */
  bases: readonly Base[];
  /** For every request; the second never leave this file. */
  headers?: Headers | undefined;
  credentials?: Headers | undefined;
  /** What may not be read in an error: servers quote keys. */
  secret?: string | undefined;
  timeouts?: Timeouts | undefined;
  /** How many at a time, to each URL. */
  connections?: number | undefined;
}

export interface Base {
  readonly origin: string;
  path(path: string): string;
}

export interface Sending extends CallOptions {
  body?: string | Uint8Array | undefined;
}

/** Hears an answer while it comes: `answered`, then `received` as often as it likes, then `ended`; or `failed` at any point, and nothing else. */
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
  /** The listener hears that it failed, unless it is over. */
  abort(): void;
}

export interface ServerAnswer {
  status: number;
  headers: Headers;
  body: AsyncIterable<Uint8Array>;
}

export class HttpServer {
  readonly #options: ServerOptions;
  readonly #pools = new Map<string, Pool>();
  readonly #places: Places<Base>;
  readonly #patience: Patience;
  /** What goes with every request, as undici takes it: a name, its value, the next name. */
  readonly #always: readonly string[];
  readonly #fixed: ReadonlySet<string>;

  constructor(options: ServerOptions) {
    if (options.bases.length === 0) throw new Error("an engine needs at least one URL");
    this.#options = options;
    this.#places = new Places(options.bases);
    const { connect = TIMEOUTS.connect, headers: headersMs = TIMEOUTS.headers, idle: idleMs = TIMEOUTS.idle } = options.timeouts ?? {};
    this.#patience = { headersMs, idleMs, ticker: new Ticker(Math.min(headersMs, idleMs)) };
    const always = { ...options.headers, "accept-encoding": "identity", ...options.credentials };
    this.#always = Object.entries(always).flat();
    this.#fixed = new Set(["content-type", ...Object.keys(always).map((name) => name.toLowerCase())]);
    for (const { origin } of options.bases) {
      if (this.#pools.has(origin)) continue;
      const pool = new Pool(origin, {
        connections: options.connections ?? 256,
        pipelining: 1, // a stream may take minutes: nothing may wait behind it
        connect: { timeout: connect },
        headersTimeout: 0, // both are our own: undici makes new timers for every request
        bodyTimeout: 0,
        keepAliveTimeout: 4000, // most servers close after 5 s; one that says more is believed
      });
      this.#pools.set(origin, pool);
    }
  }

  /** There is something that may not be read in an error. */
  get hasSecret(): boolean {
    return (this.#options.secret ?? "").length >= MIN_SECRET;
  }

  /** Tries the URLs, the best first; the next one only while nothing of an answer has come. Throws for a path that leads somewhere else. */
  ask(method: "GET" | "POST", path: string, { headers = {}, body, signal, tap }: Sending, listener: Listener): Asking {
    // Names of models stand in paths, and clients make names up.
    if (UPWARDS.test(path)) throw new EngineError({ code: "bad-request", message: "there is no such path: a name may not be . or .." });
    const all: string[] = body === undefined ? [] : ["content-type", "application/json"];
    for (const name in headers) if (!this.#fixed.has(name)) all.push(name, headers[name]!);
    all.push(...this.#always);
    const asked = new Asked(listener, { signal, tap }, this.#places, this.#patience, ({ origin, path: pathOf }) => {
      const at = pathOf(path);
      tap?.sent?.({ method, url: origin + at, headers: this.#shown(all), body: body ?? "" });
      this.#pools.get(origin)!.dispatch({ path: at, method, headers: all, body: body ?? null }, asked);
    });
    asked.start();
    return asked;
  }

  /** Headers without the credentials. */
  #shown(all: readonly string[]): Headers {
    const { credentials = {} } = this.#options;
    const shown: Record<string, string> = {};
    for (let i = 0; i < all.length; i += 2) if (!Object.hasOwn(credentials, all[i]!)) shown[all[i]!] = all[i + 1]!;
    return shown;
  }

  /** Resolves with status and headers; the body comes when it is taken. */
  request(method: "GET" | "POST", path: string, sending: Sending = {}): Promise<ServerAnswer> {
    return new Promise((resolve, reject) => {
      const body = new Inbox<Uint8Array>({
        pause: () => asking.pause(),
        resume: () => asking.resume(),
        stop: () => asking.abort(),
      });
      const asking = this.ask(method, path, sending, {
        answered: (status, headers) => resolve({ status, headers, body }),
        received: (bytes) => body.push(bytes),
        ended: () => body.end(),
        failed: (error) => {
          body.end({ error });
          reject(error);
        },
      });
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  /** What went wrong before or beside the answer. */
  explain(error: unknown): ErrorInfo {
    if (error instanceof EngineError) return error.info;
    const code = codeOf(error);
    const known = PROBLEMS[code];
    const where = this.#options.bases.map(({ origin }) => new URL(origin).host).join(", ");
    if (known) return this.clean({ ...known, message: `${known.message} (${where})` });
    if (code === "" || code.startsWith("ERR_")) {
      return this.clean({ code: "internal", message: error instanceof Error ? error.message : String(error) });
    }
    return this.clean({ code: "upstream", message: `the connection to the upstream failed: ${code} (${where})` });
  }

  /** What a server said. If it refused the key, it was ours, not the client's. */
  refusal(error: ErrorInfo): ErrorInfo {
    if (error.code !== "auth") return this.clean(error);
    const { native: _native, param: _param, ...rest } = error;
    return this.clean({ ...rest, code: "upstream", message: `the upstream refused the gateway's key: ${error.message}` });
  }

  /** Without the key: a server may say what it was given. */
  clean(error: ErrorInfo): ErrorInfo {
    if (!this.hasSecret) return error;
    const { secret = "" } = this.#options;
    const without = (text: string): string => text.replaceAll(secret, "[secret]");
    const { message, native, param } = error;
    return {
      ...error,
      message: without(message),
      ...(native !== undefined && { native: without(native) }),
      ...(param !== undefined && { param: without(param) }),
    };
  }
}

/** What is shorter stands in words that are none. */
const MIN_SECRET = 4;

/** How long a server may be silent; one timer looks after all that is under way. */
interface Patience {
  readonly headersMs: number;
  readonly idleMs: number;
  readonly ticker: Ticker;
}

export const quick = (signal: AbortSignal | undefined, ms = QUICK_MS): AbortSignal => {
  const timeout = AbortSignal.timeout(ms);
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
};

/** Ids by which a server's operator finds the request again. */
const TRAVELLING = ["x-request-id", "request-id", "openai-processing-ms", "x-ratelimit-remaining-requests", "x-ratelimit-remaining-tokens"];

export function travelling(headers: Headers): Headers {
  const found: Record<string, string> = {};
  for (const name of TRAVELLING) if (headers[name] !== undefined) found[name] = headers[name];
  return found;
}

/** More of an error nobody reads. */
export const MAX_ERROR_CHARS = 65_536;

export async function textOf({ body }: ServerAnswer): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** One request, from URL to URL until one answers. */
class Asked implements Asking, Watched, Dispatcher.DispatchHandler {
  seat = 0;
  readonly #listener: Listener;
  readonly #signal: AbortSignal | undefined;
  readonly #tap: UpstreamTap | undefined;
  readonly #places: Places<Base>;
  readonly #patience: Patience;
  readonly #send: (base: Base) => void;
  readonly #several: boolean;
  /** Those to try, and how many were tried. */
  readonly #order: readonly Place<Base>[];
  #tried = 0;
  #place: Place<Base> | undefined;
  /** When the server was heard last, or the request sent. */
  #lastMs = 0;
  #paused = false;
  #controller: Dispatcher.DispatchController | undefined;
  #answered = false;
  /** Its headers are here, whoever's answer it is. */
  #begun = false;
  /** This answer only says that the server is busy, and another may not be: so many of its bytes nobody wants. */
  #skipped: number | undefined;
  #over = false;

  constructor(listener: Listener, { signal, tap }: CallOptions, places: Places<Base>, patience: Patience, send: (base: Base) => void) {
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
    this.#signal?.addEventListener("abort", this, { once: true });
    if (this.#signal?.aborted) this.abort();
    else this.#next();
  }

  handleEvent(): void {
    this.abort();
  }

  pause(): void {
    this.#paused = true;
    this.#controller?.pause();
  }
  resume(): void {
    this.#paused = false;
    this.#lastMs = performance.now();
    this.#controller?.resume();
  }
  tick(now: number): void {
    const { headersMs, idleMs } = this.#patience;
    if (this.#paused || now - this.#lastMs < (this.#begun ? idleMs : headersMs)) return;
    this.#controller?.abort(this.#begun ? new errors.BodyTimeoutError() : new errors.HeadersTimeoutError());
  }
  abort(): void {
    if (this.#over) return;
    const reason = new errors.RequestAbortedError();
    this.#end(false);
    this.#controller?.abort(reason);
    this.#listener.failed(reason);
  }

  /** `false`: there is no other URL to try. */
  #next(): boolean {
    const place = this.#order[this.#tried];
    if (!place) return false;
    this.#tried++;
    this.#begun = false;
    place.busy++;
    this.#place = place;
    this.#skipped = undefined;
    this.#send(place.base);
    return true;
  }

  #end(whole: boolean): void {
    this.#over = true;
    this.#signal?.removeEventListener("abort", this);
    this.#tap?.over?.(whole);
  }

  #leave(): void {
    this.#patience.ticker.leave(this);
    if (this.#place) this.#place.busy--;
    this.#place = undefined;
  }

  // What undici tells

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#lastMs = performance.now();
    this.#patience.ticker.watch(this);
    if (this.#over) controller.abort(new errors.RequestAbortedError());
  }
  onResponseStart(_: Dispatcher.DispatchController, status: number, received: IncomingHttpHeaders): void {
    if (this.#over || status < 200) return;
    this.#begun = true;
    this.#lastMs = performance.now();
    const headers = plain(received);
    if (!BUSY.has(status)) this.#place?.worked();
    else {
      this.#place?.failed(this.#places.now(), restOf(headers));
      if (this.#several && this.#tried < this.#order.length) {
        this.#skipped = 0;
        return;
      }
    }
    this.#answered = true;
    this.#tap?.answered?.({ status, headers });
    this.#listener.answered(status, headers);
  }
  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#over) return;
    this.#lastMs = performance.now();
    if (this.#skipped !== undefined) {
      this.#skipped += chunk.length;
      if (this.#skipped > MAX_SKIPPED) controller.abort(new errors.RequestAbortedError());
      return;
    }
    this.#tap?.received?.(chunk);
    this.#listener.received(chunk);
  }
  onResponseEnd(): void {
    this.#leave();
    if (this.#over || (this.#skipped !== undefined && this.#next())) return;
    this.#end(true);
    this.#listener.ended();
  }
  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const place = this.#place;
    this.#leave();
    if (this.#over || (this.#skipped !== undefined && this.#next())) return;
    place?.failed(this.#places.now());
    const code = codeOf(error);
    const again = !this.#answered && (LOST.has(code) || (this.#several && UNREACHED.has(code)));
    if (again && this.#next()) return;
    this.#end(false);
    this.#listener.failed(error);
  }
}

/** One string for each name. */
function plain(headers: IncomingHttpHeaders): Headers {
  for (const name in headers) if (typeof headers[name] !== "string") headers[name] = String(headers[name]);
  return headers as Headers;
}

/** A segment that servers take for the one above. */
const UPWARDS = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\?]|$)/i;

// ---- Problems

/** Another server may have time. */
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Of an answer that nobody wants. */
const MAX_SKIPPED = 65_536;

function restOf(headers: Headers): number | undefined {
  const seconds = Number(headers["retry-after"]);
  return seconds > 0 ? seconds * 1000 : undefined;
}

/** The connection broke before an answer came. */
const LOST: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);
const UNREACHED: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

const gone = { code: "upstream", message: "the upstream closed the connection" } as const;
const PROBLEMS: Readonly<Record<string, ErrorInfo>> = {
  ECONNREFUSED: { code: "overloaded", message: "the upstream is not running, or not at this address" },
  ENOTFOUND: { code: "upstream", message: "there is no upstream of this name" },
  EAI_AGAIN: { code: "overloaded", message: "the upstream's name cannot be looked up" },
  UND_ERR_CONNECT_TIMEOUT: { code: "timeout", message: "the upstream cannot be reached" },
  UND_ERR_HEADERS_TIMEOUT: { code: "timeout", message: "the upstream did not answer in time" },
  UND_ERR_BODY_TIMEOUT: { code: "timeout", message: "the upstream fell silent" },
  UND_ERR_SOCKET: gone,
  ECONNRESET: gone,
  EPIPE: gone,
  UND_ERR_ABORTED: { code: "aborted", message: "the request was aborted" },
  ABORT_ERR: { code: "aborted", message: "the request was aborted" },
  23: { code: "timeout", message: "the upstream did not answer in time" }, // what AbortSignal.timeout throws
};

/** The code of an error, or of what caused it. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const own = "code" in error ? String(error.code) : "";
  if (own !== "") return own;
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner === undefined ? "" : codeOf(inner);
}
