/**
 * Requests to a server that may have several URLs, over kept-alive connections. All engines with a server use this file for connections,
 * timeouts and their errors.
 */
import { type Dispatcher, errors, Pool } from "undici/index.js"; // by its file: Bun replaces `undici` with its own version, which has no pools
import type { ErrorInfo } from "../../core/nouns.ts";
import { readError } from "../../wires/errors.ts";
import type { Headers, StreamDecoder, Wire } from "../../wires/wire.ts";
import { MAX_BYTES, TOO_LONG, whole } from "../answer.ts";
import { bounded } from "../bounded.ts";
import type { CallOptions } from "../engine.ts";
import { EngineError } from "../error.ts";
import { failed } from "../finish.ts";
import { Inbox } from "../inbox.ts";
import { Ticker } from "../ticker.ts";
import { Asked, type Asking, type Base, type Listener, type Patience } from "./asked.ts";
import { Places } from "./places.ts";
import { codeOf, PROBLEMS } from "./problems.ts";
import { proxyNote, proxyTo } from "./proxy.ts";

/** In milliseconds. */
export interface Timeouts {
  connect?: number | undefined;
  /**
   * Until the headers arrive: a long prompt takes minutes on a slow machine, and an answer that is not streamed arrives with its headers.
   */
  headers?: number | undefined;
  /** Between two pieces of an answer. */
  idle?: number | undefined;
}

const TIMEOUTS = { connect: 10_000, headers: 900_000, idle: 300_000 } as const;
/** For lists of models and token counts. */
export const QUICK_MS = 10_000;
/** For questions about the server itself. */
export const ASIDE_MS = 3_000;

export interface ServerOptions {
  /** One for each URL. */
  bases: readonly Base[];
  /** Sent with every request. */
  headers?: Headers | undefined;
  /** Sent with every request, but hidden from taps. */
  credentials?: Headers | undefined;
  /** Removed from errors: servers quote keys. */
  secret?: string | undefined;
  /** How to read the server's errors. */
  readError?: Wire["decodeError"] | undefined;
  timeouts?: Timeouts | undefined;
  /** Most connections at a time to each URL. */
  connections?: number | undefined;
}

export interface Sending extends CallOptions {
  body?: string | Uint8Array | undefined;
}

export interface ServerAnswer {
  status: number;
  headers: Headers;
  body: AsyncIterable<Uint8Array>;
}

export interface BriefAnswer {
  status: number;
  headers: Headers;
  text: string;
}

export class HttpServer {
  readonly #options: ServerOptions;
  readonly #pools = new Map<string, Dispatcher>();
  readonly #places: Places<Base>;
  readonly #patience: Patience;
  /** The headers of every request in undici's form: a name, its value, the next name. */
  readonly #always: readonly string[];
  readonly #fixed: ReadonlySet<string>;
  /** The content type is among them. */
  readonly #typed: boolean;

  constructor(options: ServerOptions) {
    if (options.bases.length === 0) throw new Error("an engine needs at least one URL");
    this.#options = options;
    this.#places = new Places(options.bases);
    const { connect = TIMEOUTS.connect, headers: headersMs = TIMEOUTS.headers, idle: idleMs = TIMEOUTS.idle } = options.timeouts ?? {};
    this.#patience = { headersMs, idleMs, ticker: new Ticker(Math.min(headersMs, idleMs)) };
    // Names in lower case: one that is written in two ways would be sent twice.
    const given = Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
    const always = { ...Object.fromEntries(given), "accept-encoding": "identity", ...options.credentials };
    this.#always = Object.entries(always).flat();
    this.#fixed = new Set(["content-type", ...Object.keys(always)]);
    this.#typed = Object.hasOwn(always, "content-type");
    for (const { origin } of options.bases) {
      if (this.#pools.has(origin)) continue;
      const pooling: Pool.Options = {
        connections: options.connections ?? 256,
        pipelining: 1, // a stream may take minutes, and no other request should wait for it
        connect: { timeout: connect },
        headersTimeout: 0, // `Patience` does both: undici would make new timers for every request
        bodyTimeout: 0,
        keepAliveTimeout: 4000, // most servers close after 5 s; a longer time in the server's headers is respected
      };
      this.#pools.set(origin, proxyTo(new URL(origin), pooling) ?? new Pool(origin, pooling));
    }
  }

  /** Whether errors must be cleaned. */
  get hasSecret(): boolean {
    return (this.#options.secret ?? "").length >= MIN_SECRET;
  }

  /** Tries the URLs, the best first, as long as nothing of an answer has arrived. Throws if a segment of the path is `.` or `..`. */
  ask(method: "GET" | "POST", path: string, { headers = {}, body, signal, tap }: Sending, listener: Listener): Asking {
    // Paths contain names of models, which clients choose.
    if (UPWARDS.test(path)) throw new EngineError({ code: "bad-request", message: "there is no such path: a name must not be . or .." });
    const all: string[] = body === undefined || this.#typed ? [] : ["content-type", "application/json"];
    for (const name in headers) if (!this.#fixed.has(name.toLowerCase())) all.push(name, headers[name]!);
    all.push(...this.#always);
    const asked = new Asked(listener, { signal, tap }, this.#places, this.#patience, ({ origin, path: pathOf }) => {
      const at = pathOf(path);
      tap?.sent?.({ method, url: origin + at, headers: this.#shown(all), body: body ?? "" });
      this.#pools.get(origin)!.dispatch({ origin, path: at, method, headers: all, body: body ?? null }, asked);
      return origin + at;
    });
    asked.start();
    return asked;
  }

  /** The headers without the credentials. */
  #shown(all: readonly string[]): Headers {
    const { credentials = {} } = this.#options;
    const shown: Record<string, string> = {};
    for (let i = 0; i < all.length; i += 2) if (!Object.hasOwn(credentials, all[i]!)) shown[all[i]!] = all[i + 1]!;
    return shown;
  }

  /** Resolves with status and headers; the body is read as it is consumed. */
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

  /** For short answers, within a time limit. */
  brief(method: "GET" | "POST", path: string, sending: Sending = {}, ms = QUICK_MS): Promise<BriefAnswer> {
    return bounded({ signals: [sending.signal], ms }, async (signal) => {
      const answer = await this.request(method, path, { ...sending, signal });
      return { status: answer.status, headers: answer.headers, text: await bodyText(answer) };
    }).catch((error: unknown) => {
      const isLate = error instanceof errors.RequestAbortedError && !sending.signal?.aborted;
      throw isLate ? new errors.HeadersTimeoutError() : error;
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()));
  }

  /** Explains an error that is not part of the server's answer. */
  explain(error: unknown): ErrorInfo {
    if (error instanceof EngineError) return error.info;
    const code = codeOf(error);
    const known = PROBLEMS[code];
    const urls = this.#options.bases.map(({ origin }) => new URL(origin));
    const where = urls.map(({ host }) => host).join(", ") + proxyNote(urls);
    if (known) return this.clean({ ...known, message: `${known.message} (${where})` });
    if (code === "" || code.startsWith("ERR_")) {
      return this.clean({ code: "internal", message: error instanceof Error ? error.message : String(error) });
    }
    return this.clean({ code: "upstream", message: `connection error: ${code} (${where})` });
  }

  /** The same, as an exception. */
  thrown(error: unknown): EngineError {
    return error instanceof EngineError ? error : new EngineError(this.explain(error), { cause: error });
  }

  /**
   * Reads the error of a server that refuses a request. A refused key is the engine's own and not the client's, so that is no `auth` error;
   * for a redirect, only its target is of use.
   */
  refusal({ status, headers, text }: BriefAnswer): ErrorInfo {
    const { readError: read = readError } = this.#options;
    const error = read(status, headers, text.slice(0, MAX_ERROR_CHARS));
    const { location } = headers;
    if (status >= 300 && status < 400 && location !== undefined) {
      return this.clean({ ...error, message: `the upstream answered ${status} and redirects to ${location}: set its URL to that address` });
    }
    if (error.code !== "auth") return this.clean(error);
    const { native: _native, param: _param, ...rest } = error;
    return this.clean({ ...rest, code: "upstream", message: `the upstream refused the key that it was given: ${error.message}` });
  }

  /** The same as a decoder, for an answer that is still arriving. */
  refusing(status: number, headers: Headers): StreamDecoder {
    return whole((text) => [failed(this.refusal({ status, headers, text }))], MAX_ERROR_CHARS);
  }

  /** Removes the key, which a server may quote. */
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

/** A shorter key would also be found inside ordinary words. */
const MIN_SECRET = 4;

/** Headers of an answer to pass on: ids by which a server's operator finds the request, and headers that SDKs read. */
const TRAVELLING = [
  "x-request-id",
  "request-id",
  "openai-processing-ms",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-remaining-tokens",
  "x-should-retry",
];

/**
 * The headers to pass on. The client gets a 502 for a refused key or a redirect and would retry, in vain: `x-should-retry` prevents that.
 */
export function travelling(headers: Headers, status: number, more: readonly string[] = []): Headers {
  const found: Record<string, string> = isFinal(status) ? { "x-should-retry": "false" } : {};
  for (const name of [...TRAVELLING, ...more]) if (headers[name] !== undefined) found[name] = headers[name];
  return found;
}

/** The key or the URL is wrong, not the request. */
export const isFinal = (status: number): boolean => status === 401 || (status >= 300 && status < 400);

/** Errors are cut to this length. */
const MAX_ERROR_CHARS = 65_536;

export async function bodyText({ body }: ServerAnswer): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_BYTES) throw new EngineError(TOO_LONG);
  }
  return text + decoder.decode();
}

/** A path segment `.` or `..`, which servers resolve. */
const UPWARDS = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\?]|$)/i;
