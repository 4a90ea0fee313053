/**
 * The gateway: one port that speaks all wires to clients, in front of engines. Its life is here; HTTP is in server.ts, a model's answer in
 * generate.ts, everything else that is answered in beside.ts.
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
  /** Rejects where the port is taken (`EADDRINUSE`). */
  listen(port?: number): Promise<{ url: string; host: string; port: number }>;
  /** From the next request on; exchanges under way end as they began, and then the upstreams that are no more are closed. */
  update(changes: Changes): void;
  /** Takes no more requests; those under way have so long to end. */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** Throws where the options contradict each other, or would let everybody in. */
export const createGateway = (options: GatewayOptions): Gateway & Disposing => disposing(new Running(options));

/** What is asked every few seconds and is worth no line. */
const QUIET: ReadonlySet<string> = new Set(["root", "page", "exchanges", "health", "ready", "metrics"]);

/** How long a client that is told of the end has to read it. */
const LAST_WORDS_MS = 1000;

class Running implements Gateway, Watch {
  state: State;
  readonly #app: FastifyInstance;
  readonly #open = new Roster<Passage>();
  /** States that are no more, as long as somebody uses them. */
  readonly #former = new Set<State>();
  /** Who waits until nobody is on the way. */
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

  /** The engines of a state that nobody uses any more, unless they are still those of another. */
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
    this.#app.server.closeAllConnections(); // whoever is connected has nothing under way, or does not read
    await closed;
    await Promise.all(Object.values(this.state.options.upstreams).map((engine) => engine.close()));
  }

  /** When nobody is on the way any more, or after so long. */
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

  // ---- Who is on the way

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
        delete exchange.brokenOff; // all was said already
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

  /** All that is known of it. */
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
