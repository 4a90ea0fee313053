/** A gateway's options, and their defaults. */
import type { Engine } from "../engines/engine.ts";
import { isLoopback } from "../engines/http/proxy.ts";
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
  /** Keyed by the names that rules and logs use. They are closed with the gateway. */
  upstreams: Readonly<Record<string, Engine>>;
  models?: readonly ModelRule[] | undefined;
  /** Loopback by default. */
  host?: string | undefined;
  /** 0: a free port that the system chooses. */
  port?: number | undefined;
  /** Host names, beside loopback's, at which clients may reach this server. */
  names?: readonly string[] | undefined;
  keys?: readonly string[] | undefined;
  /** Allows listening beyond loopback without keys. */
  insecure?: boolean | undefined;
  /** Origins of web pages that may send requests; `*`: all. */
  origins?: readonly string[] | undefined;
  /** In bytes, after decompression. */
  bodyLimit?: number | undefined;
  patience?: Patience | undefined;
  /** Called when an exchange has ended. */
  onExchange?: ((exchange: Exchange) => void) | undefined;
  /** Each may observe an exchange while it runs: its bytes at both edges, and its events. */
  taps?: readonly OpenTap[] | undefined;
  /** The content of `/metrics`; without it, `/metrics` is a 404. */
  metrics?: Metrics | undefined;
  /** The folder of a recorder. The web page shows its recordings to anyone who has a key. */
  recordings?: string | undefined;
}

/** Time limits in milliseconds. */
export interface Patience {
  /** For a whole request to arrive. `update` does not change it. */
  requestMs?: number | undefined;
  /** Until status and headers are sent although the upstream has not answered. */
  headersMs?: number | undefined;
  /** The same for an answer that does not stream. SDKs recognize an error only by its status, so this may be worth more waiting. */
  wholeMs?: number | undefined;
  /** Between two heartbeats. */
  heartbeatMs?: number | undefined;
  /** Until a client that takes nothing of its answer is given up. */
  readMs?: number | undefined;
}

/** Options that can change while the gateway runs. */
export type Changes = Pick<GatewayOptions, "upstreams" | "models" | "keys" | "names" | "origins" | "bodyLimit" | "patience">;

const BODY_LIMIT = 64 * 1024 * 1024;
/** A longer `wholeMs` gives later errors their status, too; gemini-cli, nginx and most load balancers give up after 60 s. */
const PATIENCE = { requestMs: 120_000, headersMs: 10_000, wholeMs: 10_000, heartbeatMs: 15_000, readMs: 600_000 } as const;

/** The options that a request keeps from beginning to end, even if the configuration changes meanwhile. */
export class State {
  readonly options: GatewayOptions;
  readonly keys: Keys;
  readonly models: Models;
  readonly bodyLimit: number;
  readonly patience: { readonly [name in keyof typeof PATIENCE]: number };
  readonly ticker: Ticker;
  readonly kept: Kept;
  readonly exchanges: Exchanges | undefined;
  /** The number of running requests. */
  users = 0;

  /** Throws if the options would let everybody in. `former`: the state before this one. */
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
      readMs: patience.readMs ?? PATIENCE.readMs,
    };
    const { headersMs, wholeMs, heartbeatMs } = this.patience;
    this.ticker = new Ticker(Math.min(headersMs, wholeMs, heartbeatMs));
    const why = exposed(options);
    if (why !== undefined) throw new Refusal(403, why);
  }
}

/** Why listening with these options is refused: other machines can reach the server, and there are no keys. */
export function exposed({
  host = "127.0.0.1",
  keys = [],
  insecure,
}: Pick<GatewayOptions, "host" | "keys" | "insecure">): string | undefined {
  if (insecure || keys.length > 0 || isLoopback(nameOf(host))) return undefined;
  return `listening on ${host} would let everybody on the network in: set keys, or allow it with --insecure`;
}
