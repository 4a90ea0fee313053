/**
 * An engine for a server that only completes text: the prompt is rendered in the model's dialect, and calls are read from the output.
 *
 *     createCompletions({ url: "http://127.0.0.1:8080", dialect: "gemma4" })
 *
 * If the options name no server or no dialect, the server is asked.
 */

import type { ErrorInfo, Event, Request } from "../../core/nouns.ts";
import { promptText } from "../../dialects/prompt.ts";
import { settingOf } from "../../dialects/variant.ts";
import { getWire } from "../../wires/registry.ts";
import type { ModelInfo } from "../../wires/wire.ts";
import { aboutModel, identify } from "../about.ts";
import { answerEvents } from "../answer.ts";
import { bounded, unlessAborted } from "../bounded.ts";
import { type Disposing, disposing } from "../disposing.ts";
import type { About, CallOptions, Engine, GenerateOptions, Preview, ServerId, TokenCount } from "../engine.ts";
import { EngineError } from "../error.ts";
import { estimateTokens } from "../estimate.ts";
import { closing, failed } from "../finish.ts";
import { type ServerAddress, serverAt } from "../http/address.ts";
import { type HttpServer, QUICK_MS, travelling } from "../http/http.ts";
import { DialectFinder, type DialectSetting, type FoundDialect } from "../inband/dialects.ts";
import { Remembered } from "../remembered.ts";
import { contextError, rendered } from "../rendered.ts";
import { BACKENDS, type Backend } from "./backends.ts";
import { carries, jobOf, limitOf } from "./job.ts";
import { Reading } from "./reading.ts";
import { type Tokenized, Tokens } from "./tokens.ts";

export interface CompletionsOptions extends ServerAddress {
  /** Default: found by asking the server. */
  server?: ServerId | undefined;
  /** Default: `auto`. */
  dialect?: DialectSetting | undefined;
}

/** An engine for a server that completes text: the dialect renders the prompt and reads the answer. */
export const createCompletions = (options: CompletionsOptions): Completions & Disposing =>
  disposing(new Completions(new Connection(options), options.dialect));

export class Completions implements Engine {
  readonly #at: Connection;
  readonly #finder: DialectFinder;

  constructor(at: Connection, dialect: DialectSetting = "auto") {
    this.#at = at;
    this.#finder = new DialectFinder(dialect, (model, options) => this.about(model, options));
  }

  speaking(dialect: DialectSetting): Engine {
    return new Completions(this.#at, dialect);
  }

  generate(request: Request, options: GenerateOptions = {}): AsyncIterable<Event> {
    return closing(
      options.signal,
      () => this.#generate(request, options),
      (error) => this.#at.http.explain(error),
    );
  }

  async preview(asked: Request): Promise<Preview> {
    const { dialect } = await this.dialectOf(asked.model);
    return { dialect: dialect.id, prompt: rendered(asked, dialect).prompt };
  }

  async *#generate(asked: Request, options: GenerateOptions): AsyncGenerator<Event[], void, undefined> {
    // What is found out about the server and the model serves later requests, too: an abort ends only the wait for it.
    const found = <T>(work: Promise<T>): Promise<T> => unlessAborted(options.signal, work);
    const { backend, tokens } = await found(this.#at.server(options));
    const beginning = await tokens?.beginning(asked.model, options);
    const { dialect } = await found(this.dialectOf(asked.model, options));
    options.onDialect?.(settingOf(dialect));
    const { request, prompt, warnings } = rendered(asked, dialect, (opaque) => carries(backend, opaque));
    const tokenized = beginning && (await tokens?.of(prompt, beginning, dialect, asked.model, options));
    const used = tokenized?.ids.length;
    const context = tokenized?.context ?? (backend.needsLimit ? await found(this.#at.contextOf(asked.model)) : undefined);
    if (used !== undefined && context !== undefined && used >= context) return yield [failed(contextError(used, context))];
    const limit = limitOf(request, { used, context, needed: backend.needsLimit });
    // In a prompt sent as text, the server reads every control token as real, so those in other people's text are neutralized.
    const text = tokenized?.ids ?? promptText(prompt, { neutralize: true });
    const { job, quoted, warnings: more } = jobOf(request, dialect, backend, { prompt, text, limit, controls: tokenized?.controls });
    const sending = { ...options, body: JSON.stringify(backend.body(job)) };
    const events = answerEvents({
      ask: (listener) => this.#at.http.ask("POST", backend.path, sending, listener),
      open: (status, headers) => {
        const ok = status >= 200 && status < 300;
        options.onAnswer?.({ ok, headers: travelling(headers, status), warnings: [...warnings, ...more] });
        if (!ok) return this.#at.http.refusing(status, headers);
        const clean = (error: ErrorInfo): ErrorInfo => this.#at.http.clean(error);
        return new Reading(backend, dialect, { request, stops: asked.stop, prompt, quoted, type: headers["content-type"] ?? "", clean });
      },
      explain: (error) => this.#at.http.explain(error),
    });
    for await (const event of events) yield [event];
  }

  async countTokens(asked: Request, options: CallOptions = {}): Promise<TokenCount> {
    try {
      const counted = await bounded({ signals: [options.signal], ms: QUICK_MS }, (signal) => this.#tokensOf(asked, { ...options, signal }));
      if (counted) return { tokens: counted.ids.length, exact: true };
    } catch (error) {
      if (options.signal?.aborted) throw this.#at.http.thrown(error);
    }
    return { tokens: estimateTokens(asked), exact: false };
  }

  async #tokensOf(asked: Request, options: CallOptions): Promise<Tokenized | undefined> {
    const { tokens } = await this.#at.server(options);
    const beginning = await tokens?.beginning(asked.model, options);
    const { dialect } = await this.dialectOf(asked.model, options);
    return beginning && tokens?.of(rendered(asked, dialect).prompt, beginning, dialect, asked.model, options);
  }

  async models(options: CallOptions = {}): Promise<ModelInfo[]> {
    try {
      const { backend } = await this.#at.server(options);
      const wire = getWire(backend.id === "ollama" ? "ollama" : "openai-chat");
      const answer = await this.#at.http.brief("GET", wire.modelsPath, options);
      if (answer.status !== 200) throw new EngineError(this.#at.http.refusal(answer));
      return wire.decodeModels(JSON.parse(answer.text));
    } catch (error) {
      throw this.#at.http.thrown(error);
    }
  }

  async about(model: string, options: CallOptions = {}): Promise<About> {
    const { backend } = await this.#at.server(options);
    return aboutModel(this.#at.http, backend.id, model, options);
  }

  /** The dialect of a model, and how it was found. Throws if it is unknown: the model would not understand another one. */
  async dialectOf(model: string, options: CallOptions = {}): Promise<FoundDialect> {
    const found = await this.#finder.find(model, options);
    if (found) return found;
    throw new EngineError({ code: "bad-request", message: `nobody knows which dialect "${model}" speaks: set dialect for this model` });
  }

  async close(): Promise<void> {
    await this.#at.http.close();
  }
}

interface Server {
  readonly backend: Backend;
  readonly tokens: Tokens | undefined;
}

/** The connection to a server, shared by the engines for all dialects spoken over it. */
class Connection {
  readonly http: HttpServer;
  readonly #id: ServerId | undefined;
  #server: Promise<Server> | undefined;
  readonly #abouts = new Remembered<About>();

  constructor({ server, ...address }: CompletionsOptions) {
    if (server !== undefined && !Object.hasOwn(BACKENDS, server)) throw new TypeError(`server must be one of ${KNOWN}; it is ${server}`);
    this.http = serverAt(server === "ollama" ? "ollama" : "openai-chat", address);
    this.#id = server;
  }

  /** Identifies the server. If it does not answer, the next request asks again. */
  async server({ headers }: CallOptions): Promise<Server> {
    this.#server ??= this.#find({ headers });
    try {
      return await this.#server;
    } catch (error) {
      this.#server = undefined;
      throw error;
    }
  }

  /** The model's context size, if the server reports it. Asked again now and then, since the server may be restarted with another model. */
  async contextOf(model: string): Promise<number | undefined> {
    const known = this.#abouts.get(model);
    if (known) return known.context;
    const { backend } = await this.server({});
    const about = await aboutModel(this.http, backend.id, model);
    this.#abouts.set(model, about, FRESH_MS);
    return about.context;
  }

  async #find(options: CallOptions): Promise<Server> {
    const id = this.#id ?? (await identify(this.http, options)) ?? (await this.#identifyLate(options));
    const backend = BACKENDS[id];
    return { backend, tokens: backend.tokenize && new Tokens(this.http, backend.tokenize) };
  }

  /**
   * Reports a server that is unreachable or still loading its model as such; otherwise identifies it once more, since loading may be done
   * by now.
   */
  async #identifyLate(options: CallOptions): Promise<ServerId> {
    const answer = await this.http.brief("GET", "/v1/models", { headers: options.headers });
    if ([401, 429, 503].includes(answer.status)) throw new EngineError(this.http.refusal(answer));
    const id = await identify(this.http, options);
    if (id !== undefined) return id;
    throw new EngineError({ code: "upstream", message: `this is none of the servers that are known to complete text: ${KNOWN}` });
  }
}

const FRESH_MS = 60_000;
const KNOWN = Object.keys(BACKENDS).join(", ");
