/**
 * An engine for any server that speaks a wire over HTTP:
 *
 *     createRemote({ wire: "openai-chat", url: "http://127.0.0.1:8080/v1" })
 *
 * Answers are read with the wire's own decoders. Whether an answer is a stream is decided by its content type or its first bytes, so a
 * server that streams unasked, or does not stream when asked to, is understood, too.
 */

import { isObject } from "../core/json.ts";
import type { Event, Request, WireId } from "../core/nouns.ts";
import { eventsOf } from "../core/unfold.ts";
import { printBody } from "../wires/raw.ts";
import { getWire } from "../wires/registry.ts";
import type { ModelInfo, StreamDecoder, Wire, WireContext, WireProfile } from "../wires/wire.ts";
import { aboutModel, identify } from "./about.ts";
import { Again, Experience } from "./again/again.ts";
import { Retelling } from "./again/retelling.ts";
import { uncut } from "./again/window.ts";
import { type AnswerOptions, tellAnswer, whole } from "./answer.ts";
import { countOnServer } from "./count.ts";
import { type Disposing, disposing } from "./disposing.ts";
import type {
  About,
  CallOptions,
  Engine,
  GenerateOptions,
  Hear,
  Preview,
  RawAnswer,
  SendOptions,
  ServerId,
  Telling,
  TokenCount,
} from "./engine.ts";
import { EngineError } from "./error.ts";
import { estimateTokens } from "./estimate.ts";
import { failed } from "./finish.ts";
import { baseOf, modelsQueryOf, type ServerAddress, serverAt } from "./http/address.ts";
import { bodyText, type HttpServer, isFinal, travelling } from "./http/http.ts";
import { knownByUrl, usualProfile } from "./known.ts";
import { takeEvents } from "./take.ts";

export interface RemoteOptions extends ServerAddress {
  wire: WireId;
  /** How this server differs from others of its wire; overrides the profile that its URL implies. */
  profile?: WireProfile | undefined;
  /** It is a cloud API that cannot be asked about its models. Default: decided by its URL. */
  cloud?: boolean | undefined;
}

/** An engine for any HTTP API of the five wires. */
export function createRemote(options: RemoteOptions): Remote & Disposing {
  return disposing(new Remote(options));
}

export class Remote implements Engine {
  readonly wire: WireId;
  readonly urls: readonly string[];
  readonly #wire: Wire;
  readonly #profile: WireProfile;
  readonly #server: HttpServer;
  readonly #experience = new Experience();
  readonly about?: NonNullable<Engine["about"]>;
  #identified: { readonly id: Promise<ServerId | undefined>; readonly until: number } = { id: Promise.resolve(undefined), until: 0 };

  constructor({ wire, profile, cloud, ...address }: RemoteOptions) {
    this.wire = wire;
    this.urls = [address.url].flat();
    this.#wire = getWire(wire);
    this.#server = serverAt(wire, address, (status, headers, body) => this.#wire.decodeError(status, headers, body));
    const [first = "http://localhost"] = this.urls;
    this.#profile = { ...usualProfile(wire, first), ...profile };
    if (!(cloud ?? knownByUrl(first)) && OPEN_WIRES.has(wire)) this.about = (model, options) => this.#about(model, options);
  }

  generate(request: Request, options: GenerateOptions = {}): AsyncIterable<Event> {
    return takeEvents((hear) => this.tell(request, options, hear));
  }

  tell(request: Request, options: GenerateOptions, hear: Hear): Telling {
    const isTranslated = options.from !== this.wire;
    const warn = options.onWarning ?? (() => {});
    const again = new Again(this.#whole(request, isTranslated), { experience: this.#experience, isTranslated, warn });
    return new Retelling(again, (one, how, heard) => this.#tell(one, how, heard), options, hear);
  }

  #tell(request: Request, options: GenerateOptions, hear: Hear): Telling {
    let context: WireContext;
    const answer: AnswerOptions = {
      ask: (listener) => {
        const encoded = this.#encode(request);
        context = encoded.context;
        const headers = options.headers ? { ...options.headers, ...encoded.headers } : encoded.headers;
        const sending = { headers, body: printBody(encoded.body), signal: options.signal, tap: options.tap };
        return this.#server.ask("POST", encoded.path, sending, listener);
      },
      open: (status, headers) => {
        const answered = (ok: boolean) => options.onAnswer?.({ ok, headers: travelling(headers, status), warnings: context.warnings });
        if (status < 200 || status >= 300) {
          answered(false);
          return this.#server.refusing(status, headers);
        }
        const streamed = (): StreamDecoder => {
          answered(true);
          return this.#wire.createStreamDecoder(context);
        };
        const type = headers["content-type"];
        if (STREAMED.test(type ?? "")) return this.#safe(streamed());
        const asked = Boolean(request.stream);
        const read = (text: string): Event[] => {
          const response = this.#wire.decodeResponse(text, context);
          const { content, usage, finish } = response;
          const refused = content.length === 0 && !usage && finish?.native === undefined ? finish?.error : undefined;
          answered(refused === undefined);
          return refused ? [failed(refused)] : [...eventsOf(response)];
        };
        return this.#safe(byItsBeginning((text) => (isStream(text, type, asked, this.wire) ? streamed() : whole(read))));
      },
      explain: (error) => this.#server.explain(error),
    };
    return tellAnswer(answer, hear);
  }

  async preview(request: Request): Promise<Preview> {
    const { path, body } = this.#encode(this.#whole(request, true));
    const base = baseOf(this.wire, this.urls[0]!);
    return { wire: this.wire, url: base.origin + base.path(path), body };
  }

  #whole(request: Request, isTranslated: boolean): Request {
    return isTranslated && this.wire === "ollama" ? uncut(request) : request;
  }

  /** A server is always asked for `sse`; the other kinds of streams are for clients. */
  #encode(request: Request) {
    const stream = request.stream ? "sse" : false;
    return this.#wire.encodeRequest(request.stream === stream ? request : { ...request, stream }, this.#profile);
  }

  /** Uses the server's own count, if it has one. */
  async countTokens(request: Request, options: CallOptions = {}): Promise<TokenCount> {
    try {
      const tokens = (await this.#countOnWire(request, options)) ?? (await this.#countOnServer(request, options));
      if (tokens !== undefined) return { tokens, exact: true };
    } catch (error) {
      if (options.signal?.aborted) throw this.#server.thrown(error);
      // Compatible servers often lack the endpoint.
    }
    return { tokens: estimateTokens(request), exact: false };
  }

  async #countOnWire(request: Request, options: CallOptions): Promise<number | undefined> {
    const encoded = this.#wire.encodeTokenCountRequest?.(request, this.#profile);
    if (!encoded || !this.#wire.decodeTokenCount) return undefined;
    const headers = { ...options.headers, ...encoded.headers };
    const { status, text } = await this.#server.brief("POST", encoded.path, { ...options, headers, body: printBody(encoded.body) });
    return status === 200 ? this.#wire.decodeTokenCount(JSON.parse(text)) : undefined;
  }

  async #countOnServer(request: Request, options: CallOptions): Promise<number | undefined> {
    const server = this.about && this.wire === "openai-chat" ? await this.#identify(options) : undefined;
    const { body } = this.#encode(request);
    return server && isObject(body) ? countOnServer(this.#server, server, body, options) : undefined;
  }

  async models(options: CallOptions = {}): Promise<ModelInfo[]> {
    const path = this.#wire.modelsPath + modelsQueryOf(this.wire);
    try {
      const answer = await this.#server.brief("GET", path, options);
      if (answer.status !== 200) throw new EngineError(this.#server.refusal(answer));
      return this.#wire.decodeModels(JSON.parse(answer.text));
    } catch (error) {
      throw this.#server.thrown(error);
    }
  }

  async send(path: string, options: SendOptions): Promise<RawAnswer> {
    try {
      const answer = await this.#server.request("POST", path, options);
      const { status, headers, body } = answer;
      if (isFinal(status) || status >= 600) throw new EngineError(this.#server.refusal({ status, headers, text: await bodyText(answer) }));
      return { status, headers: travelling(headers, status, PASSED_ON), body };
    } catch (error) {
      throw this.#server.thrown(error);
    }
  }

  /** Identifies the server. Cached: Claude Code counts tokens two dozen times in a row, and each identification takes five requests. */
  #identify({ headers }: CallOptions): Promise<ServerId | undefined> {
    const now = performance.now();
    if (now >= this.#identified.until) this.#identified = { id: identify(this.#server, { headers }), until: now + IDENTIFIED_MS };
    return this.#identified.id;
  }

  async #about(model: string, options: CallOptions = {}): Promise<About> {
    return aboutModel(this.#server, await this.#identify(options), model, options);
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  /** Removes the key from the decoder's errors. */
  #safe(decoder: StreamDecoder): StreamDecoder {
    if (!this.#server.hasSecret) return decoder;
    const clean = (events: Event[]): Event[] => {
      const last = events.at(-1);
      if (last?.type === "finish" && last.error) events[events.length - 1] = { ...last, error: this.#server.clean(last.error) };
      return events;
    };
    return { feed: (text) => clean(decoder.feed(text)), flush: () => clean(decoder.flush()) };
  }
}

/** Headers of an answer whose body is not read here. */
const PASSED_ON = ["content-type", "retry-after", "retry-after-ms"];

/** How long an identification is cached: another server may be started in its place. */
const IDENTIFIED_MS = 60_000;

/** The wires that servers of open models speak. */
const OPEN_WIRES: ReadonlySet<WireId> = new Set(["openai-chat", "ollama"]);

const STREAMED = /event-stream|ndjson|jsonl/;
const SERVER_SENT = /^(?:data|event|id|retry)?:/;

/** The wires whose streams, as some servers send them, are lines of JSON. */
const BARE: ReadonlySet<WireId> = new Set(["openai-chat", "ollama"]);

/** Whether an answer is a stream if its content type does not tell. Gemini's streams may be JSON: an array, sent element by element. */
function isStream(beginning: string, type = "", asked: boolean, wire: WireId): boolean {
  if (SERVER_SENT.test(beginning)) return true;
  return asked && /^[{[]/.test(beginning) && (wire === "gemini" || (BARE.has(wire) && !/\bapplication\/json\b/.test(type)));
}

/** How many characters distinguish JSON, server-sent events and an HTML page. */
const TELLING = 6;

/** Chooses the decoder by the beginning of the answer. */
function byItsBeginning(open: (beginning: string) => StreamDecoder): StreamDecoder {
  let held = "";
  let decoder: StreamDecoder | undefined;
  return {
    feed(text) {
      if (decoder) return decoder.feed(text);
      held = (held + text).trimStart();
      if (held.length < TELLING) return [];
      decoder = open(held);
      return decoder.feed(held);
    },
    flush() {
      if (decoder) return decoder.flush();
      decoder = open(held);
      return [...decoder.feed(held), ...decoder.flush()];
    },
  };
}
