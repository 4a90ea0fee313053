/**
 * Requests to a server that may have several URLs, over connections that are kept. All engines with a server behind them ask it through
 * this file: what is known of connections, timeouts and their errors is known here.
 */
import { Agent, type Dispatcher } from "undici";
import type { ErrorInfo } from "../core/nouns.ts";
import type { Headers } from "../wires/wire.ts";
import type { CallOptions } from "./engine.ts";
import { EngineError } from "./error.ts";

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

export interface ServerAnswer {
  status: number;
  headers: Headers;
  body: Body;
}

type Body = Dispatcher.ResponseData["body"];

export class HttpServer {
  readonly #options: ServerOptions;
  readonly #agent: Agent;
  #turn = 0;

  constructor(options: ServerOptions) {
    if (options.bases.length === 0) throw new Error("an engine needs at least one URL");
    this.#options = options;
    const { connect = TIMEOUTS.connect, headers = TIMEOUTS.headers, idle = TIMEOUTS.idle } = options.timeouts ?? {};
    this.#agent = new Agent({
      connections: options.connections ?? 256,
      pipelining: 1, // a stream may take minutes: nothing may wait behind it
      connect: { timeout: connect },
      headersTimeout: headers,
      bodyTimeout: idle,
      keepAliveTimeout: 4000, // most servers close after 5 s; one that says more is believed
    });
  }

  /** Tries the URLs in turn; the next one only if this one cannot have got the request. */
  async request(method: "GET" | "POST", path: string, { headers, body, signal, tap }: Sending = {}): Promise<ServerAnswer> {
    const { bases, credentials, headers: own } = this.#options;
    const first = this.#turn++;
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const open = { ...headers, ...type, ...own, "accept-encoding": "identity" };
    for (let n = 0; ; n++) {
      const base = bases[(first + n) % bases.length]!;
      const at = base.path(path);
      tap?.sent?.({ method, url: base.origin + at, headers: open, body: body ?? "" });
      try {
        const answer = await this.#agent.request({
          origin: base.origin,
          path: at,
          method,
          headers: { ...open, ...credentials },
          body: body ?? null,
          signal: signal ?? null,
        });
        const received = { status: answer.statusCode, headers: plain(answer.headers) };
        tap?.answered?.(received);
        return { ...received, body: answer.body };
      } catch (error) {
        if (n + 1 >= bases.length || !UNREACHED.has(codeOf(error))) throw error;
      }
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
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
    return this.clean({ ...error, code: "upstream", message: `the upstream refused the gateway's key: ${error.message}` });
  }

  /** Without the key: a server may say what it was given. */
  clean(error: ErrorInfo): ErrorInfo {
    const { secret = "" } = this.#options;
    return secret.length < 4 || !error.message.includes(secret) ? error : { ...error, message: error.message.replaceAll(secret, "[key]") };
  }
}

export const quick = (signal: AbortSignal | undefined): AbortSignal => {
  const timeout = AbortSignal.timeout(QUICK_MS);
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
};

// ---- Answers

/** Ids by which a server's operator finds the request again. */
const TRAVELLING = ["x-request-id", "request-id", "openai-processing-ms", "x-ratelimit-remaining-requests", "x-ratelimit-remaining-tokens"];

export function travelling(headers: Headers): Headers {
  const found: Record<string, string> = {};
  for (const name of TRAVELLING) if (headers[name] !== undefined) found[name] = headers[name];
  return found;
}

const plain = (headers: Dispatcher.ResponseData["headers"]): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** More of an error nobody reads. */
const MAX_ERROR_CHARS = 65_536;

export const errorTextOf = async (answer: ServerAnswer, options?: CallOptions): Promise<string> =>
  (await textOf(answer, options)).slice(0, MAX_ERROR_CHARS);

export async function textOf({ body }: ServerAnswer, { tap }: CallOptions = {}): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    tap?.received?.(chunk);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The bytes as they come; whoever stops reading behind the end of the answer says so, and the connection is kept. */
export async function* bytesOf(
  { body }: ServerAnswer,
  { tap }: CallOptions,
  isOver: () => boolean,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      tap?.received?.(chunk);
      yield chunk;
    }
  } finally {
    // The end of an answer is not always the end of its body, and only a body that was read to its end leaves a connection to use again.
    if (isOver()) body.dump({ limit: 65_536 }).catch(() => {});
    else body.on("error", () => {}).destroy();
  }
}

// ---- Problems

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
