/**
 * Any server that speaks a wire, over HTTP:
 *
 *     createRemote({ wire: "openai-chat", url: "http://127.0.0.1:8080/v1" })
 *
 * What a server answers is read with the wire's own decoders. A server that streams although it was not asked to, or does not although it
 * was, is understood all the same: its content type says what it does.
 */
import { Agent, type Dispatcher } from "undici";
import type { ErrorInfo, Event, Request, WireId } from "../core/nouns.ts";
import { eventsOf } from "../core/unfold.ts";
import { printBody } from "../wires/raw.ts";
import { getWire } from "../wires/registry.ts";
import type { Headers, ModelInfo, Wire, WireContext, WireProfile } from "../wires/wire.ts";
import type { CallOptions, Engine, GenerateOptions, RawAnswer, SendOptions, TokenCount } from "./engine.ts";
import { EngineError } from "./error.ts";
import { estimateTokens } from "./estimate.ts";
import { closing, failed } from "./finish.ts";

export interface RemoteOptions {
  wire: WireId;
  /** As the SDKs of that wire have it: OpenAI's with `/v1`, the others' without. Several: they take turns, and stand in for each other. */
  url: string | readonly string[];
  key?: string | undefined;
  /** More headers for every request. */
  headers?: Headers | undefined;
  profile?: WireProfile | undefined;
  timeouts?: Timeouts | undefined;
  /** How many connections at a time, to each URL. */
  connections?: number | undefined;
}

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
/** More of an error nobody reads. */
const MAX_ERROR_CHARS = 65_536;

type Credentials = (key: string) => Headers;
const bearer: Credentials = (key) => ({ authorization: `Bearer ${key}` });

interface Habit {
  readonly credentials: Credentials;
  /** What the paths of the wire begin with and a URL may end in. */
  readonly prefix: RegExp;
  /** The URL has the prefix in it, whatever that is: so the path goes without. */
  readonly inUrl?: true;
  readonly modelsQuery?: string;
}

const HABITS: Readonly<Record<WireId, Habit>> = {
  "openai-chat": { credentials: bearer, prefix: /\/v1$/, inUrl: true },
  "openai-responses": { credentials: bearer, prefix: /\/v1$/, inUrl: true },
  anthropic: { credentials: (key) => ({ "x-api-key": key }), prefix: /\/v1$/, modelsQuery: "?limit=1000" },
  gemini: { credentials: (key) => ({ "x-goog-api-key": key }), prefix: /\/v1(beta|alpha)?$/, modelsQuery: "?pageSize=1000" },
  ollama: { credentials: bearer, prefix: /\/(api|v1)$/ },
};

export const credentialsOf = (wire: WireId, key: string): Headers => HABITS[wire].credentials(key);

/** Where a path of the wire is found under a URL that a user gave. */
export function resolveUrl(wire: WireId, url: string, path: string): URL {
  const { prefix, inUrl } = HABITS[wire];
  const base = new URL(url);
  const root = base.pathname.replace(/\/+$/, "");
  const bare = inUrl && root !== "" && !prefix.test(root); // a prefix of the server's own, such as /v1beta/openai
  return new URL(base.origin + (bare ? root + path.replace(/^\/v1(?=\/)/, "") : root.replace(prefix, "") + path));
}

export function createRemote(options: RemoteOptions): Remote {
  return new Remote(options);
}

export class Remote implements Engine {
  readonly wire: WireId;
  readonly urls: readonly string[];
  readonly #wire: Wire;
  readonly #options: RemoteOptions;
  readonly #agent: Agent;
  readonly #timeouts: { connect: number; headers: number; idle: number };
  #turn = 0;

  constructor(options: RemoteOptions) {
    this.#options = options;
    this.wire = options.wire;
    this.#wire = getWire(options.wire);
    this.urls = [options.url].flat();
    if (this.urls.length === 0) throw new Error("an engine needs at least one URL");
    const { connect = TIMEOUTS.connect, headers = TIMEOUTS.headers, idle = TIMEOUTS.idle } = options.timeouts ?? {};
    this.#timeouts = { connect, headers, idle };
    this.#agent = new Agent({
      connections: options.connections ?? 256,
      pipelining: 1, // a stream may take minutes: nothing may wait behind it
      connect: { timeout: connect },
      headersTimeout: headers,
      bodyTimeout: idle,
      keepAliveTimeout: 4000, // most servers close after 5 s; one that says more is believed
    });
  }

  generate(request: Request, options: GenerateOptions = {}): AsyncIterable<Event> {
    return closing(
      options.signal,
      () => this.#generate(request, options),
      (error) => this.#explain(error),
    );
  }

  async *#generate(request: Request, { signal, headers, onAnswer }: GenerateOptions): AsyncGenerator<Event[], void, undefined> {
    const stream = request.stream ? ("sse" as const) : (false as const);
    const encoded = this.#wire.encodeRequest({ ...request, stream }, this.#options.profile);
    const { context } = encoded;
    const answer = await this.#post(encoded.path, { headers: { ...headers, ...encoded.headers }, body: printBody(encoded.body), signal });
    const back = { headers: travelling(answer.headers), warnings: context.warnings };
    const ok = answer.statusCode >= 200 && answer.statusCode < 300;
    onAnswer?.({ ok, ...back });
    if (!ok) yield [failed(await this.#readError(answer))];
    else if (isStream(answer.headers["content-type"], stream !== false)) yield* this.#stream(answer, context);
    else yield [...eventsOf(this.#safe(this.#wire.decodeResponse(await textOf(answer.body), context)))];
  }

  async *#stream(answer: Dispatcher.ResponseData, context: WireContext): AsyncGenerator<Event[], void, undefined> {
    const decoder = this.#wire.createStreamDecoder(context);
    const text = new TextDecoder();
    const { body } = answer;
    let [over, problem]: [boolean, ErrorInfo?] = [false];
    try {
      // The end of an answer is not always the end of its body, and only a body that was read to its end leaves a connection to use again.
      for await (const chunk of body.iterator({ destroyOnReturn: false })) {
        const events = decoder.feed(text.decode(chunk as Uint8Array, { stream: true }));
        over = events.at(-1)?.type === "finish";
        if (events.length > 0) yield over ? events.map((event) => this.#safeEvent(event)) : events;
        if (over) return;
      }
    } catch (error) {
      problem = this.#explain(error);
    } finally {
      if (over) drain(body);
      else body.on("error", () => {}).destroy();
    }
    const last = [...decoder.feed(text.decode()), ...decoder.flush()];
    yield last.map((event) => (problem && event.type === "finish" ? failed(problem) : this.#safeEvent(event)));
  }

  async countTokens(request: Request, options: CallOptions = {}): Promise<TokenCount> {
    const encoded = this.#wire.encodeTokenCountRequest?.(request, this.#options.profile);
    if (encoded && this.#wire.decodeTokenCount) {
      const signal = quick(options.signal);
      try {
        const headers = { ...options.headers, ...encoded.headers };
        const answer = await this.#post(encoded.path, { headers, body: printBody(encoded.body), signal });
        const body = await textOf(answer.body);
        if (answer.statusCode === 200) return { tokens: this.#wire.decodeTokenCount(JSON.parse(body)), exact: true };
      } catch (error) {
        if (options.signal?.aborted) throw new EngineError(this.#explain(error));
        // Compatible servers often lack it.
      }
    }
    return { tokens: estimateTokens(request), exact: false };
  }

  async models(options: CallOptions = {}): Promise<ModelInfo[]> {
    const path = this.#wire.modelsPath + (HABITS[this.wire].modelsQuery ?? "");
    try {
      const answer = await this.#request("GET", path, { ...options, signal: quick(options.signal) });
      if (answer.statusCode !== 200) throw new EngineError(await this.#readError(answer));
      return this.#wire.decodeModels(JSON.parse(await textOf(answer.body)));
    } catch (error) {
      throw error instanceof EngineError ? error : new EngineError(this.#explain(error), { cause: error });
    }
  }

  async send(path: string, { body, signal, headers }: SendOptions): Promise<RawAnswer> {
    try {
      const answer = await this.#post(path, { body, signal, headers });
      if (answer.statusCode === 401) throw new EngineError(await this.#readError(answer));
      const type = answer.headers["content-type"];
      const back = { ...travelling(answer.headers), ...(typeof type === "string" ? { "content-type": type } : {}) };
      return { status: answer.statusCode, headers: back, body: answer.body };
    } catch (error) {
      throw error instanceof EngineError ? error : new EngineError(this.#explain(error), { cause: error });
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  // ---- HTTP

  #post(path: string, options: CallOptions & { body: string | Uint8Array }): Promise<Dispatcher.ResponseData> {
    return this.#request("POST", path, { ...options, headers: { ...options.headers, "content-type": "application/json" } });
  }

  /** Tries the URLs in turn; the next one only if this one cannot have got the request. */
  async #request(
    method: "GET" | "POST",
    path: string,
    options: CallOptions & { body?: string | Uint8Array },
  ): Promise<Dispatcher.ResponseData> {
    const { key, headers: own } = this.#options;
    const credentials = key ? credentialsOf(this.wire, key) : {};
    const first = this.#turn++;
    for (let n = 0; ; n++) {
      const url = resolveUrl(this.wire, this.urls[(first + n) % this.urls.length]!, path);
      try {
        return await this.#agent.request({
          origin: url.origin,
          path: url.pathname + url.search,
          method,
          headers: { ...options.headers, ...own, ...credentials, "accept-encoding": "identity" },
          body: options.body ?? null,
          signal: options.signal ?? null,
        });
      } catch (error) {
        if (n + 1 >= this.urls.length || !UNREACHED.has(codeOf(error))) throw error;
      }
    }
  }

  async #readError(answer: Dispatcher.ResponseData): Promise<ErrorInfo> {
    const body = (await textOf(answer.body)).slice(0, MAX_ERROR_CHARS);
    const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
    const error = this.#wire.decodeError(answer.statusCode, headers, body);
    if (error.code === "auth") {
      // It is our key that was refused, not the client's.
      return this.#clean({ ...error, code: "upstream", message: `the upstream refused the gateway's key: ${error.message}` });
    }
    return this.#clean(error);
  }

  /** What went wrong before or beside the wire. */
  #explain(error: unknown): ErrorInfo {
    if (error instanceof EngineError) return error.info;
    const code = codeOf(error);
    const known = PROBLEMS[code];
    const where = this.urls.map((url) => new URL(url).host).join(", ");
    if (known) return this.#clean({ ...known, message: `${known.message} (${where})` });
    if (code === "" || code.startsWith("ERR_")) {
      return this.#clean({ code: "internal", message: error instanceof Error ? error.message : String(error) });
    }
    return this.#clean({ code: "upstream", message: `the connection to the upstream failed: ${code} (${where})` });
  }

  // ---- Secrets: a server may say the key that it was given

  #clean(error: ErrorInfo): ErrorInfo {
    const { key = "" } = this.#options;
    return key.length < 4 || !error.message.includes(key) ? error : { ...error, message: error.message.replaceAll(key, "[key]") };
  }

  #safeEvent(event: Event): Event {
    return event.type === "finish" && event.error ? { ...event, error: this.#clean(event.error) } : event;
  }

  #safe<T extends { finish?: { error?: ErrorInfo } }>(response: T): T {
    const error = response.finish?.error;
    return error ? { ...response, finish: { ...response.finish, error: this.#clean(error) } } : response;
  }
}

// ---- Answers

/** Ids by which a server's operator finds the request again. */
const TRAVELLING = ["x-request-id", "request-id", "openai-processing-ms", "x-ratelimit-remaining-requests", "x-ratelimit-remaining-tokens"];

function travelling(headers: Dispatcher.ResponseData["headers"]): Headers {
  const found = TRAVELLING.flatMap((name) => {
    const value = headers[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return Object.fromEntries(found);
}

/** A server that says nothing, or nonsense, does what it was asked to do. */
function isStream(type: string | string[] | undefined, asked: boolean): boolean {
  const name = String(type ?? "");
  if (/event-stream|ndjson|jsonl/.test(name)) return true;
  return /\bapplication\/json\b/.test(name) ? false : asked;
}

type Body = Dispatcher.ResponseData["body"];

async function textOf(body: Body): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) text += decoder.decode(chunk as Uint8Array, { stream: true });
  return text + decoder.decode();
}

/** Reads what stands behind the end, unless it is a lot. */
function drain(body: Body): void {
  body.dump({ limit: 65_536 }).catch(() => {});
}

const quick = (signal: AbortSignal | undefined): AbortSignal => {
  const timeout = AbortSignal.timeout(QUICK_MS);
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
};

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
