/**
 * The gateway: one port that speaks all wires to clients, in front of engines. This file starts, updates and closes it; HTTP is in
 * server.ts, generation in generate.ts, all other answers in beside.ts.
 *
 *     const gateway = createGateway({ upstreams: { local: createRemote({ wire: "openai-chat", url: "http://127.0.0.1:8000/v1" }) } });
 *     const { url } = await gateway.listen();
 */
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { type Disposing, disposing } from "../engines/disposing.ts";
import { Roster } from "../engines/roster.ts";
import { type Changes, type GatewayOptions, State } from "./options.ts";
import type { Passage } from "./passage.ts";
import { createServer, type Watch } from "./server.ts";

export interface Gateway {
  /** Rejects if the port is taken (`EADDRINUSE`). */
  listen(port?: number): Promise<{ url: string; host: string; port: number }>;
  /** Applies from the next request on. Running exchanges keep the old options; once they end, upstreams that were removed are closed. */
  update(changes: Changes): void;
  /** Accepts no more requests; running ones have `graceMs` to end. */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** Throws if the options contradict each other, or would let everybody in. */
export const createGateway = (options: GatewayOptions): Gateway & Disposing => disposing(new Running(options));

/** Requests that come every few seconds and are not logged. */
const QUIET: ReadonlySet<string> = new Set(["root", "page", "exchanges", "health", "ready", "metrics"]);

/** How long clients have to read the error when the gateway closes. */
const LAST_WORDS_MS = 1000;

class Running implements Gateway, Watch {
  state: State;
  readonly #app: FastifyInstance;
  readonly #open = new Roster<Passage>();
  /** Earlier states that running requests still use. */
  readonly #former = new Set<State>();
  /** Called when no request is running any more. */
  readonly #waiting = new Set<() => void>();

  constructor(options: GatewayOptions) {
    this.state = new State(options);
    this.#app = createServer(this);
  }

  async listen(port = this.state.options.port ?? 8080): Promise<{ url: string; host: string; port: number }> {
    const { host = "127.0.0.1" } = this.state.options;
    await this.#app.listen({ host, port });
    const address = this.#app.server.address() as AddressInfo;
    const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
    return { url: `http://${name}:${address.port}`, host: address.address, port: address.port };
  }

  update(changes: Changes): void {
    const former = this.state;
    this.state = new State({ ...former.options, ...changes }, former);
    this.#former.add(former);
    this.#retire(former);
  }

  /** Closes the engines of an earlier state once no request uses it, except those that another state still has. */
  #retire(state: State): void {
    if (state.users > 0 || !this.#former.delete(state)) return;
    const needed = new Set([this.state, ...this.#former].flatMap(({ options }) => Object.values(options.upstreams)));
    for (const engine of Object.values(state.options.upstreams)) if (!needed.has(engine)) engine.close().catch(() => {});
  }

  async close({ graceMs = 0 }: { graceMs?: number } = {}): Promise<void> {
    const closed = this.#app.close();
    await this.#emptied(graceMs);
    this.#open.each((passage) => passage.abort("gateway"));
    await this.#emptied(LAST_WORDS_MS);
    this.#app.server.closeAllConnections(); // those left are idle, or their clients do not read
    await closed;
    await Promise.all(Object.values(this.state.options.upstreams).map((engine) => engine.close()));
  }

  /** Resolves when no request is running any more, or after `ms`. */
  #emptied(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#open.size === 0) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#waiting.add(done);
    });
  }

  // ---- Running requests

  came(passage: Passage): void {
    this.#open.add(passage);
    passage.state.users++;
  }

  left(passage: Passage): void {
    const { account, exchange, reply, state } = passage;
    const { writableFinished } = reply.raw;
    if (!writableFinished && !passage.broken) passage.abort("client");
    if (exchange.brokenOff) {
      if (writableFinished && !exchange.error)
        delete exchange.brokenOff; // the whole answer had been sent
      else exchange.outcome = "aborted";
    }
    exchange.status = reply.raw.statusCode;
    state.users--;
    this.#retire(state);
    if (passage.streaming) state.options.metrics?.streams(-1);
    account.done();
    if (passage.checks.length === 0) this.#tell(passage);
    else Promise.allSettled(passage.checks).then(() => this.#tell(passage));
  }

  /** Reports the exchange to the tap, the metrics and the log. */
  #tell(passage: Passage): void {
    const { exchange, state, tap } = passage;
    this.#open.delete(passage);
    if (this.#open.size === 0) for (const done of this.#waiting) done();
    tap?.ended?.(exchange);
    if (QUIET.has(exchange.kind)) return;
    state.options.metrics?.see(exchange);
    state.options.onExchange?.(exchange);
  }
}
