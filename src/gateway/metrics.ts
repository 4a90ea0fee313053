/** Numbers for Prometheus. Labels are names of ours or of the configuration, never what a client sent: nobody can make them grow. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Exchange } from "./exchange.ts";

export interface Metrics {
  readonly contentType: string;
  print(): Promise<string>;
  /** An exchange is over. */
  see(exchange: Exchange): void;
  /** A stream to a client began, or ended. */
  streams(change: 1 | -1): void;
}

const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** Exchanges are counted when somebody asks, or when so many wait: one at a time, all of prom-client has to be fetched anew for each. */
const MAX_WAITING = 64;

const PLACE = ["wire", "upstream", "model"] as const;

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: readonly T[]) =>
    new Counter({ name: `dragoman_${name}`, help, labelNames, registers });
  const seconds = (name: string, help: string) =>
    new Histogram({ name: `dragoman_${name}`, help, labelNames: PLACE, buckets: SECONDS, registers });

  const requests = counter("requests_total", "Exchanges that have ended", ["wire", "upstream", "model", "kind", "outcome"]);
  let streams = 0;
  new Gauge({
    name: "dragoman_streams_open",
    help: "Streams to clients that are open",
    registers,
    collect() {
      this.set(streams);
    },
  });
  const first = seconds("first_event_seconds", "Until the first event with content");
  const total = seconds("exchange_seconds", "Until the end of the exchange");
  const tokens = counter("tokens_total", "Tokens that the upstreams counted", [...PLACE, "direction"]);
  const calls = counter("calls_total", "Tool calls", [...PLACE, "outcome"]);
  const fragments = counter("call_fragments_total", "Pieces that the arguments of tool calls came in", PLACE);
  const warnings = counter("warnings_total", "What was said in x-dragoman-warnings or in the log; rescued: calls read in the text", [
    "wire",
    "upstream",
    "code",
  ]);
  const outside = counter("calls_outside_schema_total", "Tool calls whose arguments are not what the schema asks for", PLACE);
  const errors = counter("errors_total", "Exchanges that ended with an error", ["wire", "upstream", "code"]);

  /** The counters of a place: looking them up by their labels costs more than counting. */
  const makePlace = (wire: string, upstream: string, model: string) => {
    const place = { wire, upstream, model };
    return {
      ended: new Lazy((kind) => new Lazy((outcome) => requests.labels({ ...place, kind, outcome }))),
      total: total.labels(place),
      first: first.labels(place),
      tokensIn: tokens.labels({ ...place, direction: "in" }),
      tokensOut: tokens.labels({ ...place, direction: "out" }),
      fragments: fragments.labels(place),
    };
  };
  const places = new Lazy((wire) => new Lazy((upstream) => new Lazy((model) => makePlace(wire, upstream, model))));

  const count = (exchange: Exchange): void => {
    const { wire, upstream = "", rule = "", kind, outcome, error, usage, ms, firstMs } = exchange;
    const { calls: made, outside: wrong, fragments: pieces, warnings: warned } = exchange;
    const at = places.at(wire).at(upstream).at(rule);
    at.ended.at(kind).at(outcome).inc();
    if (error && outcome === "error") errors.inc({ wire, upstream, code: error.code });
    for (const { code } of warned) warnings.inc({ wire, upstream, code });
    if (kind !== "generate") return;
    at.total.observe(ms / 1000);
    if (firstMs !== undefined) at.first.observe(firstMs / 1000);
    if (usage?.inputTokens) at.tokensIn.inc(usage.inputTokens);
    if (usage?.outputTokens) at.tokensOut.inc(usage.outputTokens);
    if (pieces > 0) at.fragments.inc(pieces);
    if (wrong.length > 0) outside.inc({ wire, upstream, model: rule }, wrong.length);
    for (const how in made) {
      const many = made[how as keyof typeof made];
      if (many > 0) calls.inc({ wire, upstream, model: rule, outcome: how }, many);
    }
  };
  let waiting: Exchange[] = [];
  const settle = (): void => {
    const settled = waiting;
    waiting = [];
    for (const exchange of settled) count(exchange);
  };

  return {
    contentType: registry.contentType,
    print() {
      settle();
      return registry.metrics();
    },
    streams(change) {
      streams += change;
    },
    see(exchange) {
      if (waiting.push(exchange) === MAX_WAITING) settle();
    },
  };
}

/** Things by a word, made when they are first asked for. Several words are several of these: a key put together would be hashed each time. */
class Lazy<T> {
  readonly #made = new Map<string, T>();
  readonly #make: (word: string) => T;

  constructor(make: (word: string) => T) {
    this.#make = make;
  }

  at(word: string): T {
    const known = this.#made.get(word);
    if (known !== undefined) return known;
    const made = this.#make(word);
    this.#made.set(word, made);
    return made;
  }
}
