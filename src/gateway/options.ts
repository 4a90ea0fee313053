/** What a gateway is made of, and what holds where nothing is said. */
import type { Engine } from "../engines/engine.ts";
import { isLoopback } from "../engines/proxy.ts";
import { Ticker } from "../engines/ticker.ts";
import { Keys, nameOf } from "./edge.ts";
import type { Exchange } from "./exchange.ts";
import { Kept } from "./kept.ts";
import type { Metrics } from "./metrics.ts";
import { Models } from "./models.ts";
import { Exchanges } from "./page.ts";
import { Refusal } from "./refusal.ts";
import type { ModelRule } from "./rules.ts";
import type { OpenTap } from "./tap.ts";

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
  patience?: Patience | undefined;
  /** Hears of every exchange, when it is over. */
  onExchange?: ((exchange: Exchange) => void) | undefined;
  /** Each may listen to an exchange while it happens: its bytes at both edges, and its events. */
  taps?: readonly OpenTap[] | undefined;
  /** What `/metrics` says; without it there is none. */
  metrics?: Metrics | undefined;
  /** The folder of a recorder, whose recordings the page shows to whoever has a key. */
  recordings?: string | undefined;
}

/** In milliseconds. */
export interface Patience {
  /** For a whole request to arrive; it holds from the start of the server on. */
  requestMs?: number | undefined;
  /** Until status and headers leave although the upstream has not answered. */
  headersMs?: number | undefined;
  /** The same where the answer does not stream: SDKs take an error for one only by its status, and so it is waited for longer. */
  wholeMs?: number | undefined;
  /** Between two signs of life. */
  heartbeatMs?: number | undefined;
}

/** What can change while the gateway runs. */
export type Changes = Pick<GatewayOptions, "upstreams" | "models" | "keys" | "names" | "origins" | "bodyLimit" | "patience">;

const BODY_LIMIT = 64 * 1024 * 1024;
/** `wholeMs`: whoever wants the status of errors that come later may wait longer; gemini-cli, nginx and most load balancers give up after 60 s. */
const PATIENCE = { requestMs: 120_000, headersMs: 10_000, wholeMs: 10_000, heartbeatMs: 15_000 } as const;

/** What holds for a request from its beginning to its end, however the configuration changes meanwhile. */
export class State {
  readonly options: GatewayOptions;
  readonly keys: Keys;
  readonly models: Models;
  readonly bodyLimit: number;
  readonly patience: { readonly [name in keyof typeof PATIENCE]: number };
  readonly ticker: Ticker;
  readonly kept: Kept;
  readonly exchanges: Exchanges | undefined;
  /** Requests that are under way. */
  users = 0;

  /** Throws where the options would let everybody in. `former`: the state before this one. */
  constructor(options: GatewayOptions, former?: State) {
    const { upstreams, keys = [], patience = {} } = options;
    for (const [name, engine] of Object.entries(upstreams ?? { NAME: undefined }))
      if (typeof engine?.generate !== "function")
        throw new TypeError(`upstreams.${name} must be an engine: createRemote({ wire, url }) makes one`);
    this.options = options;
    this.keys = new Keys(keys);
    this.models = new Models(upstreams, options.models);
    this.kept = former?.kept ?? new Kept();
    this.exchanges = former?.exchanges ?? (options.recordings === undefined ? undefined : new Exchanges(options.recordings));
    this.bodyLimit = options.bodyLimit ?? BODY_LIMIT;
    this.patience = {
      requestMs: patience.requestMs ?? PATIENCE.requestMs,
      headersMs: patience.headersMs ?? PATIENCE.headersMs,
      wholeMs: patience.wholeMs ?? PATIENCE.wholeMs,
      heartbeatMs: patience.heartbeatMs ?? PATIENCE.heartbeatMs,
    };
    const { headersMs, wholeMs, heartbeatMs } = this.patience;
    this.ticker = new Ticker(Math.min(headersMs, wholeMs, heartbeatMs));
    const why = exposed(options);
    if (why !== undefined) throw new Refusal(403, why);
  }
}

/** Why nobody should listen so: others than this machine can reach it, and there are no keys. */
export function exposed({
  host = "127.0.0.1",
  keys = [],
  insecure,
}: Pick<GatewayOptions, "host" | "keys" | "insecure">): string | undefined {
  if (insecure || keys.length > 0 || isLoopback(nameOf(host))) return undefined;
  return `listening on ${host} would let everybody on the network in: set keys, or allow it with --insecure`;
}
