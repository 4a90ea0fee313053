/**
 * Any server that speaks a wire, over HTTP:
 *
 *     createRemote({ wire: "openai-chat", url: "http://127.0.0.1:8080/v1" })
 *
 * What a server answers is read with the wire's own decoders. A server that streams although it was not asked to, or does not although it
 * was, is understood all the same: its content type says what it does.
 */
import type { ErrorInfo, Event, Request, WireId } from "../core/nouns.ts";
import { printBody } from "../wires/raw.ts";
import { getWire } from "../wires/registry.ts";
import type { Headers, ModelInfo, Wire, WireContext, WireProfile } from "../wires/wire.ts";
import { aboutModel, identify } from "./about.ts";
import type { About, CallOptions, Engine, GenerateOptions, Preview, RawAnswer, SendOptions, TokenCount } from "./engine.ts";
import { EngineError } from "./error.ts";
import { estimateTokens } from "./estimate.ts";
import { eventsOf } from "./events.ts";
import { closing, failed } from "./finish.ts";
import { type Base, bytesOf, errorTextOf, HttpServer, quick, type ServerAnswer, type Timeouts, textOf, travelling } from "./http.ts";

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
  /** It is a cloud API, whose models nobody can be asked about. */
  cloud?: boolean | undefined;
}

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

/** Where the paths of the wire are found under a URL that a user gave. */
export function baseOf(wire: WireId, url: string): Base {
  const { prefix, inUrl } = HABITS[wire];
  const { origin, pathname } = new URL(url);
  const root = pathname.replace(/\/+$/, "");
  const bare = inUrl && root !== "" && !prefix.test(root); // a prefix of the server's own, such as /v1beta/openai
  if (bare) return { origin, path: (path) => root + path.replace(/^\/v1(?=\/)/, "") };
  const above = root.replace(prefix, "");
  return { origin, path: (path) => above + path };
}

export function createRemote(options: RemoteOptions): Remote {
  return new Remote(options);
}

export class Remote implements Engine {
  readonly wire: WireId;
  readonly urls: readonly string[];
  readonly #wire: Wire;
  readonly #profile: WireProfile | undefined;
  readonly #server: HttpServer;
  readonly about?: NonNullable<Engine["about"]>;

  constructor({ wire, url, key, headers, profile, timeouts, connections, cloud = false }: RemoteOptions) {
    this.wire = wire;
    this.urls = [url].flat();
    this.#wire = getWire(wire);
    this.#profile = profile;
    const bases = this.urls.map((one) => baseOf(wire, one));
    const credentials = key === undefined ? undefined : credentialsOf(wire, key);
    this.#server = new HttpServer({ bases, headers, credentials, secret: key, timeouts, connections });
    if (!cloud && OPEN_WIRES.has(wire)) this.about = (model, options) => this.#about(model, options);
  }

  generate(request: Request, options: GenerateOptions = {}): AsyncIterable<Event> {
    return closing(
      options.signal,
      () => this.#generate(request, options),
      (error) => this.#server.explain(error),
    );
  }

  async preview(request: Request): Promise<Preview> {
    const { path, body } = this.#encode(request);
    const base = baseOf(this.wire, this.urls[0]!);
    return { wire: this.wire, url: base.origin + base.path(path), body };
  }

  /** Servers stream in one way; the other ways are for clients. */
  #encode(request: Request) {
    return this.#wire.encodeRequest({ ...request, stream: request.stream ? "sse" : false }, this.#profile);
  }

  async *#generate(request: Request, options: GenerateOptions): AsyncGenerator<Event[], void, undefined> {
    const { path, headers, body, context } = this.#encode(request);
    const answer = await this.#post(path, { ...options, headers: { ...options.headers, ...headers }, body: printBody(body) });
    const ok = answer.status >= 200 && answer.status < 300;
    options.onAnswer?.({ ok, headers: travelling(answer.headers), warnings: context.warnings });
    if (!ok) yield [failed(await this.#readError(answer, options))];
    else if (isStream(answer.headers["content-type"], Boolean(request.stream), this.wire)) yield* this.#stream(answer, context, options);
    else yield [...eventsOf(this.#wire.decodeResponse(await textOf(answer, options), context))].map((event) => this.#safe(event));
  }

  async *#stream(answer: ServerAnswer, context: WireContext, options: CallOptions): AsyncGenerator<Event[], void, undefined> {
    const decoder = this.#wire.createStreamDecoder(context);
    const text = new TextDecoder();
    let over = false;
    let problem: ErrorInfo | undefined;
    try {
      for await (const chunk of bytesOf(answer, options, () => over)) {
        const events = decoder.feed(text.decode(chunk, { stream: true }));
        over = events.at(-1)?.type === "finish";
        if (events.length > 0) yield over ? events.map((event) => this.#safe(event)) : events;
        if (over) return;
      }
    } catch (error) {
      problem = this.#server.explain(error);
    }
    const last = [...decoder.feed(text.decode()), ...decoder.flush()];
    yield last.map((event) => (problem && event.type === "finish" ? failed(problem) : this.#safe(event)));
  }

  async countTokens(request: Request, options: CallOptions = {}): Promise<TokenCount> {
    const encoded = this.#wire.encodeTokenCountRequest?.(request, this.#profile);
    if (encoded && this.#wire.decodeTokenCount) {
      const { signal } = options;
      try {
        const headers = { ...options.headers, ...encoded.headers };
        const answer = await this.#post(encoded.path, { ...options, headers, body: printBody(encoded.body), signal: quick(signal) });
        const body = await textOf(answer, options);
        if (answer.status === 200) return { tokens: this.#wire.decodeTokenCount(JSON.parse(body)), exact: true };
      } catch (error) {
        if (signal?.aborted) throw this.#thrown(error);
        // Compatible servers often lack it.
      }
    }
    return { tokens: estimateTokens(request), exact: false };
  }

  async models(options: CallOptions = {}): Promise<ModelInfo[]> {
    const path = this.#wire.modelsPath + (HABITS[this.wire].modelsQuery ?? "");
    try {
      const answer = await this.#server.request("GET", path, { ...options, signal: quick(options.signal) });
      if (answer.status !== 200) throw new EngineError(await this.#readError(answer, options));
      return this.#wire.decodeModels(JSON.parse(await textOf(answer, options)));
    } catch (error) {
      throw this.#thrown(error);
    }
  }

  async send(path: string, options: SendOptions): Promise<RawAnswer> {
    try {
      const answer = await this.#post(path, options);
      const { status, headers } = answer;
      if (status === 401) throw new EngineError(await this.#readError(answer, options));
      const type = headers["content-type"];
      return {
        status,
        headers: { ...travelling(headers), ...(type === undefined ? {} : { "content-type": type }) },
        body: bytesOf(answer, options, () => false),
      };
    } catch (error) {
      throw this.#thrown(error);
    }
  }

  async #about(model: string, options: CallOptions = {}): Promise<About> {
    const server = await identify(this.#server, options);
    return server ? aboutModel(this.#server, server, model, options) : {};
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  #post(path: string, { headers, body, signal, tap }: SendOptions): Promise<ServerAnswer> {
    return this.#server.request("POST", path, { headers, body, signal, tap });
  }

  #thrown(error: unknown): EngineError {
    return error instanceof EngineError ? error : new EngineError(this.#server.explain(error), { cause: error });
  }

  async #readError(answer: ServerAnswer, options: CallOptions): Promise<ErrorInfo> {
    return this.#server.refusal(this.#wire.decodeError(answer.status, answer.headers, await errorTextOf(answer, options)));
  }

  #safe(event: Event): Event {
    return event.type === "finish" && event.error ? { ...event, error: this.#server.clean(event.error) } : event;
  }
}

/** What servers of open models speak. */
const OPEN_WIRES: ReadonlySet<WireId> = new Set(["openai-chat", "ollama"]);

/** A server that says nothing, or nonsense, does what it was asked to do. Gemini's streams may be JSON: an array, element by element. */
function isStream(type = "", asked: boolean, wire: WireId): boolean {
  if (/event-stream|ndjson|jsonl/.test(type)) return true;
  return asked && (wire === "gemini" || !/\bapplication\/json\b/.test(type));
}
