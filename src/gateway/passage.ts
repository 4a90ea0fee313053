/** One request on its way through the gateway: what the client sent, what is known so far, and every way to answer other than streaming. */
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

/** Client headers that are forwarded to the upstream; the wires forward their own. */
const TRAVELLING = ["idempotency-key", "traceparent", "tracestate", "openai-beta"];

/** An answer without an id is named after its exchange, so that an id in the client's log leads to the line in the gateway's log. */
const ID_PREFIXES: Readonly<Record<Exclude<WireId, "openai-responses" | "ollama">, string>> = {
  "openai-chat": "chatcmpl-",
  anthropic: "msg_",
  gemini: "",
};

/** Sent to clients that still wait when the gateway closes; `overloaded` tells them to retry. */
export const CLOSING: ErrorInfo = { code: "overloaded", message: "service unavailable: the gateway is closing" };

export class Passage implements Seated {
  seat = 0;
  readonly visit: Visit;
  readonly route: Route;
  readonly state: State;
  readonly reply: FastifyReply;
  readonly account: Account;
  readonly tap: Tap | undefined;
  /** Sent with every answer. */
  readonly headers: Record<string, string>;
  streaming = false;
  /** The gateway cut the connection: its closing does not mean that the client left. */
  broken = false;
  /** Schema checks of tool calls that still run; the answer does not wait for them. */
  readonly checks: Promise<void>[] = [];
  #controller: AbortController | undefined;
  #stopped: { stop(): void } | undefined;
  #owned: string | undefined;
  /** How many warnings have been sent in headers. */
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

  /** The client has left: nobody is there to be answered. */
  get gone(): boolean {
    return this.exchange.brokenOff === "client";
  }

  abort(by: "client" | "gateway"): void {
    if (this.reply.raw.writableFinished) return; // the whole answer has been sent
    this.exchange.brokenOff ??= by;
    this.#controller?.abort();
    this.#stopped?.stop();
  }

  /** `stopped` is stopped when the request is aborted, at once if it already was. */
  onAbort(stopped: { stop(): void }): void {
    this.#stopped = stopped;
    if (this.exchange.brokenOff) stopped.stop();
  }

  /** The same as a signal, created on first use. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.exchange.brokenOff) this.#controller.abort();
    return this.#controller.signal;
  }

  // ---- The request

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

  /** Finds the upstream that serves the model and notes it in the exchange. */
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

  /** The client's headers that are forwarded to the upstream. */
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

  /** The options of every engine call, except the signal. */
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
    // Random: items are requested by their ids, so knowing one id must not help to guess others.
    const mintId = (): string => id + randomBytes(8).toString("hex");
    return { warn, mintId, keep: (name, item) => this.state.kept.keep(this.#owner, name, item) };
  }

  // ---- Answers

  /** The headers of every answer plus those of the upstream that are forwarded. */
  allHeaders(back: Headers): Record<string, string> {
    const { headers } = this;
    for (const name in back) headers[name] = back[name]!;
    return Object.assign(headers, this.warningHeader());
  }

  /** Sets the status, and headers in addition to those of every answer. */
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

  /** From now on the answer is a stream, until the connection closes. */
  streams(): void {
    this.reply.hijack();
    this.streaming = true;
    this.state.options.metrics?.streams(1);
  }

  /** Closes the connection without an answer: the client has left. */
  drop(): void {
    this.reply.hijack();
    this.reply.raw.destroy();
  }

  sendJson(body: unknown, headers: Headers = {}): void {
    this.send(200, { ...headers, "content-type": JSON_TYPE }, printBody(body));
  }

  /** Sends the error in the client's own format. */
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

  /** Answers with the error for what was thrown. */
  refuse(thrown: unknown): void {
    const info = this.exchange.brokenOff === "gateway" ? CLOSING : infoOf(thrown);
    this.account.fail(info, thrown);
    if (thrown instanceof Refusal) this.exchange.refused = true;
    this.sendError(info, thrown instanceof Refusal ? { status: thrown.status, headers: thrown.headers } : {});
  }

  /** The warnings that no header has carried yet; shortened, and without line breaks, because a header holds little. */
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
