/**
 * The HTTP server: one port that speaks all wires to clients, in front of engines.
 *
 *     const gateway = createGateway({ upstreams: { local: createRemote({ wire: "openai-chat", url: "http://127.0.0.1:8000/v1" }) } });
 *     const { url } = await gateway.listen();
 */
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { BadRequest } from "../core/errors.ts";
import { createFold } from "../core/fold.ts";
import { isObject } from "../core/json.ts";
import type { ErrorInfo, Event, Request, Warning, WireId } from "../core/nouns.ts";
import type { Answer, Engine } from "../engines/engine.ts";
import { EngineError } from "../engines/error.ts";
import { printBody } from "../wires/raw.ts";
import { getWire } from "../wires/registry.ts";
import type { EncoderOptions, Headers } from "../wires/wire.ts";
import { readBody } from "./body.ts";
import { corsHeaders, hostAllowed, hostName, isLoopback, Keys, originAllowed, preflightHeaders } from "./edge.ts";
import { type Exchange, Recorder } from "./exchange.ts";
import { encodeModel, encodeModelList, encodeShow, OLLAMA_VERSION } from "./lists.ts";
import type { Metrics } from "./metrics.ts";
import { aimed, fitted, type ModelRule, Models, type Target } from "./models.ts";
import { Refusal } from "./refusal.ts";
import { type Route, readUrl, routeOf, type Visit } from "./routes.ts";
import { Sink, streamHeaders } from "./sink.ts";
import { GREETING } from "./upstreams.ts";

export interface GatewayOptions {
  /** By the names that models and logs call them. They are closed with the gateway. */
  upstreams: Readonly<Record<string, Engine>>;
  models?: readonly ModelRule[] | undefined;
  /** Loopback, unless said otherwise. */
  host?: string | undefined;
  /** 0: one that the system chooses. */
  port?: number | undefined;
  /** Names, beside loopback's, by which clients may call this server. */
  names?: readonly string[] | undefined;
  keys?: readonly string[] | undefined;
  /** Listen beyond loopback although there are no keys. */
  insecure?: boolean | undefined;
  /** Web pages of other origins that may ask; `*`: all. */
  origins?: readonly string[] | undefined;
  /** In bytes, after decompression. */
  bodyLimit?: number | undefined;
  /** Until status and headers leave although the upstream has not answered, and between two signs of life. */
  patience?: { headersMs?: number | undefined; heartbeatMs?: number | undefined } | undefined;
  /** Hears of every exchange, when it is over. */
  onExchange?: ((exchange: Exchange) => void) | undefined;
  /** What `/metrics` says; without it there is none. */
  metrics?: Metrics | undefined;
}

/** What can change while the gateway runs. */
export type Changes = Pick<GatewayOptions, "upstreams" | "models" | "keys" | "names" | "origins" | "bodyLimit" | "patience">;

export interface Gateway {
  /** Rejects where the configuration forbids it, or the port is taken (`EADDRINUSE`). */
  listen(port?: number): Promise<{ url: string; host: string; port: number }>;
  /** From the next request on; exchanges under way end as they began, and then the upstreams that are no more are closed. */
  update(changes: Changes): void;
  /** Takes no more requests; those under way have so long to end. */
  close(options?: { graceMs?: number }): Promise<void>;
}

export const createGateway = (options: GatewayOptions): Gateway => new Server(options);

const BODY_LIMIT = 64 * 1024 * 1024;
const HEADERS_MS = 10_000;
const HEARTBEAT_MS = 15_000;
/** For a whole request to arrive: who trickles is not waited for. */
const REQUEST_MS = 120_000;

/** Headers that travel to the upstream; the wires carry their own. */
const TRAVELLING = ["idempotency-key", "traceparent", "tracestate", "openai-beta"];

/** One request on its way through. */
interface Passage {
  readonly visit: Visit;
  readonly route: Route;
  readonly recorder: Recorder;
  readonly reply: FastifyReply;
  readonly signal: AbortSignal;
}

class Server implements Gateway {
  #options: GatewayOptions;
  #keys: Keys;
  #models: Models;
  readonly #app: FastifyInstance;
  readonly #passages = new WeakMap<FastifyRequest, Passage>();
  readonly #open = new Set<AbortController>();
  #idle: (() => void) | undefined;
  /** Upstreams that are no more, and the exchanges that may still use them. */
  readonly #retired = new Set<{ engines: Engine[]; users: Set<AbortController> }>();

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#keys = new Keys(options.keys ?? []);
    this.#models = new Models(options.upstreams, options.models);
    this.#app = this.#build();
  }

  async listen(port = this.#options.port ?? 8080): Promise<{ url: string; host: string; port: number }> {
    const { host = "127.0.0.1" } = this.#options;
    refuseOpen(this.#options);
    await this.#app.listen({ host, port });
    const address = this.#app.server.address() as AddressInfo;
    const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
    return { url: `http://${name}:${address.port}`, host: address.address, port: address.port };
  }

  update(changes: Changes): void {
    refuseOpen({ ...this.#options, ...changes });
    const models = new Models(changes.upstreams, changes.models);
    const kept = new Set(Object.values(changes.upstreams));
    const engines = Object.values(this.#options.upstreams).filter((engine) => !kept.has(engine));
    this.#options = { ...this.#options, ...changes };
    this.#keys = new Keys(changes.keys ?? []);
    this.#models = models;
    this.#retired.add({ engines, users: new Set(this.#open) });
    this.#retire();
  }

  #retire(gone?: AbortController): void {
    for (const retired of this.#retired) {
      if (gone) retired.users.delete(gone);
      if (retired.users.size > 0) continue;
      this.#retired.delete(retired);
      for (const engine of retired.engines) engine.close().catch(() => {});
    }
  }

  async close({ graceMs = 0 }: { graceMs?: number } = {}): Promise<void> {
    const closed = this.#app.close();
    if (this.#open.size > 0 && graceMs > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        this.#idle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    for (const controller of this.#open) controller.abort();
    await closed;
    await Promise.all(Object.values(this.#options.upstreams).map((engine) => engine.close()));
  }

  // ---- Fastify: it has one route; paths are read by routes.ts

  #build(): FastifyInstance {
    const app = fastify({
      rewriteUrl: () => "/",
      bodyLimit: this.#bodyLimit,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: 72_000,
      forceCloseConnections: "idle",
      exposeHeadRoutes: false,
      return503OnClosing: true,
      clientErrorHandler: (_, socket) => {
        if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
      },
    });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (request: FastifyRequest, payload: IncomingMessage) =>
      readBody(payload, this.#passage(request).visit.headers, this.#bodyLimit),
    );
    app.addHook("onRequest", async (request, reply) => this.#receive(request, reply));
    app.setErrorHandler((error, request, reply) => this.#refuse(error, request, reply));
    app.setNotFoundHandler((request, reply) => this.#handle(request, reply));
    app.route({
      method: ["GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"],
      url: "/",
      handler: (request, reply) => this.#handle(request, reply),
    });
    return app;
  }

  get #bodyLimit(): number {
    return this.#options.bodyLimit ?? BODY_LIMIT;
  }

  #passage(request: FastifyRequest): Passage {
    const passage = this.#passages.get(request);
    if (!passage) throw new Refusal(500, "the request was lost on its way");
    return passage;
  }

  /** Before the body is read: who is it, and may they? */
  #receive(request: FastifyRequest, reply: FastifyReply): void {
    const headers = headersOf(request);
    const visit: Visit = { method: request.method, ...readUrl(request.originalUrl), headers };
    const route = routeOf(visit);
    const id = `req_${randomBytes(12).toString("hex")}`;
    const recorder = new Recorder(id, route.wire, route.kind);
    const controller = new AbortController();
    this.#open.add(controller);
    reply.raw.once("close", () => this.#left(controller, recorder, reply)).on("error", () => {}); // who is gone cannot be told
    this.#passages.set(request, { visit, route, recorder, reply, signal: controller.signal });
    reply.headers({ "x-request-id": id, "request-id": id, "cache-control": "no-store, no-transform", "x-content-type-options": "nosniff" });

    const { names = [], host: own, origins = [] } = this.#options;
    const { host, origin } = headers;
    if (!hostAllowed(host, request.socket.localAddress, own === undefined ? names : [...names, own])) {
      throw new Refusal(403, `this server does not go by the name "${hostName(host ?? "")}"; its names are set with server.names`);
    }
    if (!originAllowed(origin, host, origins)) {
      throw new Refusal(403, "a web page of another origin may not ask this server, unless it is listed in cors.origins");
    }
    reply.headers(corsHeaders(origin));
    if (visit.method !== "OPTIONS" && !OPEN.has(route.kind) && !this.#keys.admit(visit)) {
      throw new Refusal(401, "no key, or a wrong one: send the gateway's key as the client sends its API key");
    }
  }

  #left(controller: AbortController, recorder: Recorder, reply: FastifyReply): void {
    const { exchange } = recorder;
    if (!reply.raw.writableFinished) {
      controller.abort();
      exchange.outcome = "aborted";
    }
    exchange.status = reply.raw.statusCode;
    this.#open.delete(controller);
    this.#retire(controller);
    if (this.#open.size === 0) this.#idle?.();
    if (QUIET.has(exchange.kind)) return;
    recorder.done();
    this.#options.metrics?.see(exchange);
    this.#options.onExchange?.(exchange);
  }

  /** Every error in the caller's own format. */
  #refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const { route, recorder } = this.#passage(request);
    const info = infoOf(error);
    recorder.fail(info, error);
    const encoded = getWire(route.wire).encodeError(info);
    const status = error instanceof Refusal ? error.status : encoded.status;
    const more = error instanceof Refusal ? error.headers : {};
    reply
      .code(status)
      .headers({ ...encoded.headers, ...more, "content-type": "application/json; charset=utf-8" })
      .send(printBody(encoded.body));
  }

  async #handle(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const passage = this.#passage(request);
    const { visit, route } = passage;
    const body = typeof request.body === "string" ? request.body : "";
    if (visit.method === "OPTIONS") {
      reply.code(204).headers(preflightHeaders(visit)).send();
      return;
    }
    if (visit.method === "HEAD" && route.kind !== "unknown") {
      reply.code(200).send();
      return;
    }
    switch (route.kind) {
      case "generate":
        return this.#generate(passage, body);
      case "count":
        return this.#count(passage, body);
      case "pass":
        return this.#pass(passage, route, body);
      case "wrong-method":
        throw new Refusal(405, `this path takes ${route.allow}, not ${visit.method}`, { headers: { allow: route.allow } });
      case "upgrade":
        throw new Refusal(426, "there are no WebSockets here: send the request over HTTP", { headers: { connection: "close" } });
      case "unknown":
        throw new Refusal(404, `there is nothing at ${visit.method} ${visit.path}: ${route.hint}`);
      case "metrics":
        if (!this.#options.metrics) throw new Refusal(404, "there are no metrics: they are turned off");
        reply.header("content-type", this.#options.metrics.contentType).send(await this.#options.metrics.print());
        return;
      case "root":
        reply.header("content-type", "text/plain; charset=utf-8").send(GREETING);
        return;
      default:
        return sendJson(reply, await this.#look(route, body));
    }
  }

  /** What is answered without a model at work. */
  async #look(route: Route, body: string): Promise<unknown> {
    switch (route.kind) {
      case "models":
        return encodeModelList(route.wire, await this.#models.list());
      case "model":
        return encodeModel(route.wire, await this.#known(route.id));
      case "show": {
        const { model, name } = parseObject(body);
        return encodeShow(await this.#known(String(model ?? name ?? "")));
      }
      case "running":
        return { models: [] };
      case "version":
        return { version: OLLAMA_VERSION };
      case "ready":
        if (!(await this.#models.ready())) throw new Refusal(503, "no upstream answers");
        return { status: "ready" };
      default:
        return { status: "ok" };
    }
  }

  async #known(id: string) {
    const models = await this.#models.list();
    const found = models.find((model) => model.id === id || model.id === `${id}:latest`);
    if (!found) throw new Refusal(404, `there is no model "${id}"`);
    return found;
  }

  // ---- Generation

  async #generate(passage: Passage, body: string): Promise<void> {
    const { visit, route, recorder } = passage;
    if (route.kind !== "generate") return;
    const wire = getWire(route.wire);
    const asked = wire.decodeRequest({ path: route.path, query: visit.query, headers: visit.headers, body });
    const target = await this.#aim(asked.model, passage);
    const { request, warnings } = this.#fitted(aimed(asked, target), target);
    recorder.exchange.warnings.push(...(asked.warnings ?? []), ...warnings);
    recorder.exchange.streamed = Boolean(asked.stream);
    if (asked.stream) await this.#stream(passage, asked, request, target);
    else await this.#whole(passage, asked, request, target);
  }

  async #aim(model: string, { recorder: { exchange } }: Passage): Promise<Target> {
    exchange.model = model;
    const target = await this.#models.resolve(model);
    exchange.upstream = target.upstream;
    exchange.upstreamModel = target.model;
    if (target.rule) exchange.rule = target.rule.name;
    return target;
  }

  #fitted(request: Request, target: Target): ReturnType<typeof fitted> {
    return fitted(request, request.maxTokens === undefined ? undefined : this.#models.contextOf(target));
  }

  #events(passage: Passage, request: Request, target: Target, onAnswer: (answer: Answer) => void): AsyncIterable<Event> {
    const { visit, signal, recorder } = passage;
    return target.engine.generate(request, {
      signal,
      headers: travelling(visit.headers),
      onAnswer: (answer) => {
        recorder.exchange.warnings.push(...answer.warnings);
        onAnswer(answer);
      },
    });
  }

  async #stream(passage: Passage, asked: Request, request: Request, target: Target): Promise<void> {
    const { reply, recorder, route } = passage;
    const { headersMs = HEADERS_MS, heartbeatMs = HEARTBEAT_MS } = this.#options.patience ?? {};
    const wire = getWire(route.wire);
    const encoder = wire.createStreamEncoder(asked, this.#encoderOptions(passage));
    const sink = new Sink(reply.raw, encoder, heartbeatMs);
    let back: Headers = {};
    const open = (): void => {
      if (sink.opened) return;
      reply.hijack();
      this.#options.metrics?.streams(1);
      reply.raw.once("close", () => this.#options.metrics?.streams(-1));
      const warned = warningHeader(recorder.exchange.warnings);
      sink.open({ ...reply.getHeaders(), ...back, ...warned, ...streamHeaders(asked.stream || "sse") });
    };
    const late = setTimeout(() => {
      open();
      sink.beat();
    }, headersMs);
    try {
      const events = this.#events(passage, request, target, (answer) => {
        back = answer.headers;
        if (answer.ok) open();
      });
      for await (const event of events) {
        clearTimeout(late);
        recorder.see(event);
        if (!sink.opened && event.type === "finish" && event.error) return this.#sendError(passage, event.error, back, asked);
        open();
        sink.write(encoder.encode(renamed(event, asked, target, route.wire)));
        await sink.full;
      }
      sink.close(encoder.end());
    } catch (error) {
      if (!sink.opened) throw error;
      recorder.fail(infoOf(error), error);
      reply.raw.destroy(); // a fault of ours: nobody shall take what was sent for the whole
    } finally {
      clearTimeout(late);
    }
  }

  async #whole(passage: Passage, asked: Request, request: Request, target: Target): Promise<void> {
    const { reply, recorder, route, signal } = passage;
    const wire = getWire(route.wire);
    const fold = createFold();
    let back: Headers = {};
    const events = this.#events(passage, request, target, (answer) => {
      back = answer.headers;
    });
    for await (const event of events) {
      recorder.see(event);
      fold.add(renamed(event, asked, target, route.wire));
    }
    if (signal.aborted) return void reply.hijack();
    const response = fold.response();
    const error = response.finish?.error;
    // Gemini has a reason for a call that cannot be read: it is an answer there.
    if (error && !(route.wire === "gemini" && error.code === "malformed-call")) return this.#sendError(passage, error, back, asked);
    const body = wire.encodeResponse(response, asked, this.#encoderOptions(passage));
    reply.headers({ ...back, ...warningHeader(recorder.exchange.warnings) });
    sendJson(reply, body);
  }

  #encoderOptions({ route, recorder: { exchange } }: Passage): EncoderOptions {
    return {
      warn: (warning) => void exchange.warnings.push(warning),
      ...(route.wire === "openai-chat" ? { mintId: () => `chatcmpl-${exchange.id.slice("req_".length)}` } : {}),
    };
  }

  #sendError({ reply, route, signal }: Passage, error: ErrorInfo, headers: Headers, request: Request): void {
    if (signal.aborted) return void reply.hijack(); // there is nobody to tell
    const encoded = getWire(route.wire).encodeError(error, request);
    const { body } = encoded;
    const type = encoded.headers["content-type"] ?? "application/json; charset=utf-8";
    reply
      .code(encoded.status)
      .headers({ ...headers, ...encoded.headers, "content-type": type })
      .send(typeof body === "string" ? body : printBody(body));
  }

  // ---- Counting, and bytes that are passed on

  async #count(passage: Passage, body: string): Promise<void> {
    const { visit, route, reply, signal } = passage;
    if (route.kind !== "count") return;
    const wire = getWire(route.wire);
    const asked = wire.decodeRequest({ path: route.path, query: visit.query, headers: visit.headers, body });
    const target = await this.#aim(asked.model, passage);
    const { tokens, exact } = await target.engine.countTokens(aimed(asked, target), { signal, headers: travelling(visit.headers) });
    reply.header("x-dragoman-count", exact ? "exact" : "estimate");
    sendJson(reply, wire.encodeTokenCount?.({ tokens }) ?? { tokens });
  }

  async #pass(passage: Passage, route: Route & { kind: "pass" }, body: string): Promise<void> {
    const { visit, reply, signal } = passage;
    const asked = parseObject(body);
    const model = route.model ?? (typeof asked.model === "string" ? asked.model : "");
    const target = await this.#aim(model, passage);
    const { engine } = target;
    if (!engine.send || familyOf(engine.wire) !== familyOf(route.wire)) {
      throw new Refusal(
        501,
        `${visit.path} is only passed on to an upstream of the same wire (${route.wire}); "${target.upstream}" is none`,
      );
    }
    const path = route.model === undefined ? route.path : `${route.path}${encodeURIComponent(target.model)}${route.behind}`;
    // The bytes as they came, unless the model goes by another name there.
    const text = route.model === undefined && target.model !== model ? JSON.stringify({ ...asked, model: target.model }) : body;
    const answer = await engine.send(path, { body: text, signal, headers: travelling(visit.headers) });
    reply
      .code(answer.status)
      .headers(answer.headers)
      .send(Readable.from(answer.body, { objectMode: false }));
    await reply;
  }
}

/** Beyond loopback everybody could use the upstream's key. */
function refuseOpen({ host = "127.0.0.1", keys = [], insecure }: GatewayOptions): void {
  if (insecure || keys.length > 0 || isLoopback(hostName(host.includes(":") ? `[${host}]` : host))) return;
  throw new Refusal(403, `listening on ${host} would let everybody on the network in: set keys, or allow it with --insecure`);
}

/** What needs no key. */
const OPEN: ReadonlySet<Route["kind"]> = new Set(["root", "health", "ready"]);
/** What is asked every few seconds and is worth no line. */
const QUIET: ReadonlySet<string> = new Set(["root", "health", "ready", "metrics"]);

const familyOf = (wire: string | undefined): string | undefined => wire?.replace(/^openai-.*/, "openai");

function headersOf(request: FastifyRequest): Headers {
  const entries = Object.entries(request.headers).map(
    ([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")] as const,
  );
  return Object.fromEntries(entries);
}

const travelling = (headers: Headers): Headers =>
  Object.fromEntries(TRAVELLING.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));

/**
 * Clients hear the name that they asked for. The id of an answer is one only in its own wire, and many servers give all answers the same:
 * Claude Code takes two answers of one id for one.
 */
function renamed(event: Event, asked: Request, { model, engine }: Target, wire: WireId): Event {
  if (event.type !== "start") return event;
  const { id, ...start } = event;
  return {
    ...start,
    ...(id !== undefined && engine.wire === wire ? { id } : {}),
    ...(model === asked.model ? {} : { model: asked.model }),
  };
}

function sendJson(reply: FastifyReply, body: unknown): void {
  reply.header("content-type", "application/json; charset=utf-8").send(printBody(body));
}

/** Named, not quoted: a header holds little, and no line ends. */
function warningHeader(warnings: readonly Warning[]): Record<string, string> {
  if (warnings.length === 0) return {};
  const text = warnings.map(({ message }) => message).join("; ");
  return { "x-dragoman-warnings": text.replace(/[^\x20-\x7e]+/g, "?").slice(0, 1000) };
}

function parseObject(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    if (isObject(value)) return value;
  } catch {
    // said below
  }
  throw new BadRequest("the body must be a JSON object");
}

function infoOf(error: unknown): ErrorInfo {
  if (error instanceof Refusal || error instanceof BadRequest || error instanceof EngineError) return error.info;
  const status = isObject(error as never) || error instanceof Error ? (error as { statusCode?: unknown }).statusCode : undefined;
  if (typeof status === "number" && status < 500)
    return { code: status === 413 ? "too-large" : "bad-request", message: String((error as Error).message) };
  return { code: "internal", message: "the gateway has a fault; its log says more" };
}
