/** Numbers for Prometheus. Labels are names of ours or of the configuration, never what a client sent: nobody can make them grow. */
import { Counter, Gauge, Histogram, type HistogramConfiguration, Registry } from "prom-client";
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
const PLACE = ["wire", "upstream", "rule"] as const;
type Place = Readonly<Record<(typeof PLACE)[number], string>>;

/** What every exchange adds to is added up here: prom-client, which looks up the labels each time, hears of it when somebody asks. */
interface Tally {
  readonly place: Place;
  readonly ended: Lazy<Lazy<{ count: number }>>;
  readonly first: Times;
  readonly total: Times;
  tokensIn: number;
  tokensOut: number;
  fragments: number;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: readonly T[]) =>
    new Counter({ name: `dragoman_${name}`, help, labelNames, registers });

  const requests = counter("requests_total", "Exchanges that have ended", [...PLACE, "kind", "outcome"]);
  let streams = 0;
  new Gauge({
    name: "dragoman_streams_open",
    help: "Streams to clients that are open",
    registers,
    collect() {
      this.set(streams);
    },
  });
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

  const tallies: Tally[] = [];
  const places = new Lazy((wire) => new Lazy((upstream) => new Lazy((rule) => newTally({ wire, upstream, rule }, tallies))));
  const seconds = (name: string, help: string, which: "first" | "total") =>
    new Told({ name: `dragoman_${name}`, help, labelNames: PLACE, buckets: SECONDS, registers }, () =>
      tallies.map(({ place, [which]: times }) => ({ place, times })),
    );
  seconds("first_event_seconds", "Until the first event with content", "first");
  seconds("exchange_seconds", "Until the end of the exchange", "total");

  const tell = (tally: Tally): void => {
    const { place, ended } = tally;
    ended.each((outcomes, kind) =>
      outcomes.each((exchanges, outcome) => {
        requests.inc({ ...place, kind, outcome }, exchanges.count);
        exchanges.count = 0;
      }),
    );
    if (tally.tokensIn > 0) tokens.inc({ ...place, direction: "in" }, tally.tokensIn);
    if (tally.tokensOut > 0) tokens.inc({ ...place, direction: "out" }, tally.tokensOut);
    if (tally.fragments > 0) fragments.inc(place, tally.fragments);
    tally.tokensIn = tally.tokensOut = tally.fragments = 0;
  };

  return {
    contentType: registry.contentType,
    print() {
      tallies.forEach(tell);
      return registry.metrics();
    },
    streams(change) {
      streams += change;
    },
    see(exchange) {
      const { wire, upstream = "", rule = "", kind, outcome, error, usage, ms, firstMs } = exchange;
      const { calls: made, outside: wrong, fragments: pieces, warnings: warned } = exchange;
      const tally = places.at(wire).at(upstream).at(rule);
      tally.ended.at(kind).at(outcome).count++;
      if (error && outcome === "error") errors.inc({ wire, upstream, code: error.code });
      for (const { code } of warned) warnings.inc({ wire, upstream, code });
      if (kind !== "generate") return;
      tally.total.add(ms / 1000);
      if (firstMs !== undefined) tally.first.add(firstMs / 1000);
      tally.tokensIn += usage?.inputTokens ?? 0;
      tally.tokensOut += usage?.outputTokens ?? 0;
      tally.fragments += pieces;
      if (wrong.length > 0) outside.inc({ wire, upstream, rule }, wrong.length);
      for (const how in made) {
        const many = made[how as keyof typeof made];
        if (many > 0) calls.inc({ wire, upstream, rule, outcome: how }, many);
      }
    },
  };
}

function newTally(place: Place, tallies: Tally[]): Tally {
  const ended = new Lazy(() => new Lazy(() => ({ count: 0 })));
  const tally: Tally = { place, ended, first: new Times(), total: new Times(), tokensIn: 0, tokensOut: 0, fragments: 0 };
  tallies.push(tally);
  return tally;
}

/** How long things took: how many of them no longer than each of the limits. */
class Times {
  readonly counts = SECONDS.map(() => 0);
  count = 0;
  sum = 0;

  add(seconds: number): void {
    for (let i = SECONDS.length - 1; i >= 0 && seconds <= SECONDS[i]!; i--) this.counts[i]!++;
    this.count++;
    this.sum += seconds;
  }
}

type Label = keyof Place;

/** A histogram whose numbers are somebody else's. */
class Told extends Histogram<Label> {
  readonly #options: HistogramConfiguration<Label>;
  readonly #told: () => { place: Place; times: Times }[];

  constructor(options: HistogramConfiguration<Label>, told: () => { place: Place; times: Times }[]) {
    super(options);
    this.#options = options;
    this.#told = told;
  }

  /** What the registry prints. */
  async getForPromString() {
    const { name, help } = this.#options;
    const values = this.#told().flatMap(({ place, times: { counts, count, sum } }) => {
      const bucket = (le: number | string, value: number) => ({ metricName: `${name}_bucket`, labels: { le, ...place }, value });
      if (count === 0) return [];
      return [
        ...SECONDS.map((limit, i) => bucket(limit, counts[i]!)),
        bucket("+Inf", count),
        { metricName: `${name}_sum`, labels: place, value: sum },
        { metricName: `${name}_count`, labels: place, value: count },
      ];
    });
    return { name, help, type: "histogram", values };
  }
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

  each(tell: (made: T, word: string) => void): void {
    this.#made.forEach(tell);
  }
}
