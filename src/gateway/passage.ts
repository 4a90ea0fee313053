/** One request on its way through the gateway: what was asked, what is known of it by now, and every way to answer that is not a stream. */
import { randomBytes } from "node:crypto";
import type { FastifyReply } from "fastify";
import { BadRequest } from "../core/errors.ts";
import type { ErrorInfo, JsonObject, Request, WireId } from "../core/nouns.ts";
import type { CallOptions } from "../engines/engine.ts";
import { EngineError } from "../engines/error.ts";
import type { Seated } from "../engines/roster.ts";
import { printBody } from "../wires/raw.ts";
import { getWire } from "../wires/registry.ts";
import type { EncoderOptions, Headers } from "../wires/wire.ts";
import { Account, type Exchange } from "./exchange.ts";
import { ownerOf } from "./kept.ts";
import type { Target } from "./models.ts";
import type { State } from "./options.ts";
import { Refusal } from "./refusal.ts";
import type { Route, Visit } from "./routes.ts";
import { openTaps, type Tap } from "./tap.ts";

export const JSON_TYPE = "application/json; charset=utf-8";

/** Headers that travel to the upstream; the wires carry their own. */
const TRAVELLING = ["idempotency-key", "traceparent", "tracestate", "openai-beta"];

/** An answer that nobody named is called after its exchange: a name in a client's log leads to the line in ours. */
const ID_PREFIXES: Readonly<Record<Exclude<WireId, "openai-responses" | "ollama">, string>> = {
  "openai-chat": "chatcmpl-",
  anthropic: "msg_",
  gemini: "",
};

/** Who is still there is told to ask again. */
export const CLOSING: ErrorInfo = { code: "overloaded", message: "the gateway is closing" };

export class Passage implements Seated {
  seat = 0;
  readonly visit: Visit;
  readonly route: Route;
  readonly state: State;
  readonly reply: FastifyReply;
  readonly account: Account;
  readonly tap: Tap | undefined;
  /** Of every answer. */
  readonly headers: Record<string, string>;
  /** The answer is a stream. */
  streaming = false;
  /** We broke it off: when it closes, it is not the client who left. */
  broken = false;
  /** Calls that are being looked at; the answer does not wait for it. */
  readonly checks: Promise<void>[] = [];
  #controller: AbortController | undefined;
  #stopped: { stop(): void } | undefined;
  #owned: string | undefined;
  /** How many warnings have left. */
  #warned = 0;

  constructor(id: string, visit: Visit, route: Route, state: State, reply: FastifyReply) {
    this.visit = visit;
    this.route = route;
    this.state = state;
    this.reply = reply;
    this.account = new Account(id, route.wire, route.kind);
    this.tap = openTaps(state.options.taps, this.account.exchange);
    this.headers = {
      "x-request-id": id,
      "request-id": id,
      "cache-control": "no-store, no-transform",
      "x-content-type-options": "nosniff",
    };
  }

  get exchange(): Exchange {
    return this.account.exchange;
  }

  /** There is nobody to tell any more. */
  get gone(): boolean {
    return this.exchange.brokenOff === "client";
  }

  abort(by: "client" | "gateway"): void {
    if (this.reply.raw.writableFinished) return; // all was said already
    this.exchange.brokenOff ??= by;
    this.#controller?.abort();
    this.#stopped?.stop();
  }

  /** Stopped when it is aborted. */
  onAbort(stopped: { stop(): void }): void {
    this.#stopped = stopped;
    if (this.exchange.brokenOff) stopped.stop();
  }

  /** The same for those who need a signal; made when it is asked for. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.exchange.brokenOff) this.#controller.abort();
    return this.#controller.signal;
  }

  // ---- What is asked

  /** Throws `BadRequest`. */
  decode({ wire, path, model }: Route & { path: string; model?: string }, body: string): Request {
    const { query, headers } = this.visit;
    const request = getWire(wire).decodeRequest({ path, query, headers, body, recall: (id) => this.#recall(id) });
    return model === undefined ? request : { ...request, model };
  }
  #recall(id: string): JsonObject | undefined {
    const item = this.state.kept.recall(this.#owner, id);
    if (item) this.tap?.recalled?.(id, item);
    return item;
  }
  get #owner(): string {
    this.#owned ??= ownerOf(this.visit);
    return this.#owned;
  }

  // ---- The upstream

  /** Who answers for a model; the exchange knows it from then on. */
  aim(model: string): Target | Promise<Target> {
    this.exchange.model = model;
    const target = this.state.models.resolve(model);
    return target instanceof Promise ? target.then((found) => this.#aimed(found)) : this.#aimed(target);
  }

  #aimed(target: Target): Target {
    const { exchange } = this;
    exchange.upstream = target.upstream;
    exchange.upstreamModel = target.model;
    if (target.rule) {
      const { name, tools, rescue } = target.rule;
      Object.assign(exchange, { rule: name, ...(tools && { tools }), ...(rescue === undefined ? {} : { rescue }) });
    }
    return target;
  }

  /** The client's headers that the upstream gets. */
  get travelling(): Headers | undefined {
    const { headers } = this.visit;
    let found: Record<string, string> | undefined;
    for (const name of TRAVELLING) {
      const value = headers[name];
      if (value === undefined) continue;
      found ??= {};
      found[name] = value;
    }
    return found;
  }

  /** What goes with each call of an engine, beside a signal. */
  get callOptions(): Omit<CallOptions, "signal"> {
    return { headers: this.travelling, tap: this.tap?.upstream };
  }

  get encoderOptions(): EncoderOptions {
    const { exchange } = this;
    const { wire } = this.route;
    const id = exchange.id.slice("req_".length);
    const warn: EncoderOptions["warn"] = (warning) => void exchange.warnings.push(warning);
    if (wire === "ollama") return { warn, spent: () => this.account.spent() };
    if (wire !== "openai-responses") return { warn, mintId: () => ID_PREFIXES[wire] + id };
    // Who knows one item's name could guess others, which can be asked for by their names.
    const mintId = (): string => id + randomBytes(8).toString("hex");
    return { warn, mintId, keep: (name, item) => this.state.kept.keep(this.#owner, name, item) };
  }

  // ---- Answers

  /** Those of every answer, and the upstream's that travel back. */
  allHeaders(back: Headers): Record<string, string> {
    const { headers } = this;
    for (const name in back) headers[name] = back[name]!;
    return Object.assign(headers, this.warningHeader());
  }

  /** Status and headers, on top of those of every answer. */
  head(status: number, headers: Headers): FastifyReply {
    const all = { ...this.headers, ...headers };
    this.tap?.replied?.({ status, headers: all });
    return this.reply.code(status).headers(all);
  }

  send(status: number, headers: Headers, body = ""): void {
    const reply = this.head(status, headers);
    this.tap?.wrote?.(body);
    reply.send(body);
  }

  /** The answer is a stream from now on, until it is closed. */
  streams(): void {
    this.reply.hijack();
    this.streaming = true;
    this.state.options.metrics?.streams(1);
  }

  /** There is nobody to tell. */
  drop(): void {
    this.reply.hijack();
    this.reply.raw.destroy();
  }

  sendJson(body: unknown, headers: Headers = {}): void {
    this.send(200, { ...headers, "content-type": JSON_TYPE }, printBody(body));
  }

  /** In the caller's own format. */
  sendError(error: ErrorInfo, { request, status, headers = {} }: { request?: Request; status?: number; headers?: Headers } = {}): void {
    if (this.gone) {
      this.drop();
      return;
    }
    const encoded = getWire(this.route.wire).encodeError(error, request, { ...this.encoderOptions, status });
    const { body } = encoded;
    const all = { "content-type": JSON_TYPE, ...headers, ...encoded.headers };
    this.send(status ?? encoded.status, all, typeof body === "string" ? body : printBody(body));
  }

  /** What was thrown on the way. */
  refuse(thrown: unknown): void {
    const info = this.exchange.brokenOff === "gateway" ? CLOSING : infoOf(thrown);
    this.account.fail(info, thrown);
    if (thrown instanceof Refusal) this.exchange.refused = true;
    this.sendError(info, thrown instanceof Refusal ? { status: thrown.status, headers: thrown.headers } : {});
  }

  /** What no header has said yet. Named, not quoted: a header holds little, and no line ends. */
  warningHeader(): Headers | undefined {
    const { length } = this.exchange.warnings;
    if (this.#warned === length) return undefined;
    const warnings = this.exchange.warnings.slice(this.#warned);
    this.#warned = length;
    const text = warnings.map(({ message }) => message).join("; ");
    return { "x-dragoman-warnings": text.replace(/[^\x20-\x7e]+/g, "?").slice(0, 1000) };
  }
}

export function infoOf(error: unknown): ErrorInfo {
  if (error instanceof Refusal || error instanceof BadRequest || error instanceof EngineError) return error.info;
  return { code: "internal", message: "the gateway has a fault; its log says more" };
}
