/** Metrics for Prometheus. Labels come from the code or the configuration, never from a client, so that no client can multiply them. */
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

/** Sums over exchanges. prom-client looks up the labels on each increment, so it gets the sums only when metrics are read. */
interface Tally {
  readonly place: Place;
  readonly ended: Lazy<Lazy<{ count: number }>>;
  readonly first: Times;
  readonly total: Times;
  tokensIn: number;
  tokensOut: number;
  fragments: number;
}

/** Metrics for Prometheus. */
export const createMetrics = (): Metrics => new Prometheus();

class Prometheus implements Metrics {
  readonly #registry = new Registry();
  readonly #requests = this.#counter("requests_total", "Exchanges that have ended", [...PLACE, "kind", "outcome"]);
  readonly #tokens = this.#counter("tokens_total", "Tokens that the upstreams counted", [...PLACE, "direction"]);
  readonly #calls = this.#counter("calls_total", "Tool calls", [...PLACE, "outcome"]);
  readonly #fragments = this.#counter("call_fragments_total", "Pieces that the arguments of tool calls came in", PLACE);
  readonly #warnings = this.#counter(
    "warnings_total",
    "What was said in x-dragoman-warnings or in the log; rescued: calls read in the text",
    ["wire", "upstream", "code"],
  );
  readonly #outside = this.#counter("calls_outside_schema_total", "Tool calls whose arguments are not what the schema asks for", PLACE);
  readonly #errors = this.#counter("errors_total", "Exchanges that ended with an error", ["wire", "upstream", "code"]);
  readonly #tallies: Tally[] = [];
  readonly #places = new Lazy((wire) => new Lazy((upstream) => new Lazy((rule) => this.#newTally({ wire, upstream, rule }))));
  #streams = 0;

  constructor() {
    const open = (): number => this.#streams;
    new Gauge({
      name: "dragoman_streams_open",
      help: "Streams to clients that are open",
      registers: [this.#registry],
      collect() {
        this.set(open());
      },
    });
    this.#seconds("first_event_seconds", "Until the first event with content", "first");
    this.#seconds("exchange_seconds", "Until the end of the exchange", "total");
  }

  #counter<T extends string>(name: string, help: string, labelNames: readonly T[]): Counter<T> {
    return new Counter({ name: `dragoman_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #seconds(name: string, help: string, which: "first" | "total"): void {
    const told = () => this.#tallies.map(({ place, [which]: times }) => ({ place, times }));
    new Told({ name: `dragoman_${name}`, help, labelNames: PLACE, buckets: SECONDS, registers: [this.#registry] }, told);
  }

  #newTally(place: Place): Tally {
    const ended = new Lazy(() => new Lazy(() => ({ count: 0 })));
    const tally: Tally = { place, ended, first: new Times(), total: new Times(), tokensIn: 0, tokensOut: 0, fragments: 0 };
    this.#tallies.push(tally);
    return tally;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  print(): Promise<string> {
    for (const tally of this.#tallies) this.#tell(tally);
    return this.#registry.metrics();
  }

  streams(change: 1 | -1): void {
    this.#streams += change;
  }

  see(exchange: Exchange): void {
    const { wire, upstream = "", rule = "", kind, outcome, error, usage, ms, firstMs, calls, outside, fragments, warnings } = exchange;
    const tally = this.#places.at(wire).at(upstream).at(rule);
    tally.ended.at(kind).at(outcome).count++;
    if (error && outcome === "error") this.#errors.inc({ wire, upstream, code: error.code });
    for (const { code } of warnings) this.#warnings.inc({ wire, upstream, code });
    if (kind !== "generate") return;
    tally.total.add(ms / 1000);
    if (firstMs !== undefined) tally.first.add(firstMs / 1000);
    tally.tokensIn += usage?.inputTokens ?? 0;
    tally.tokensOut += usage?.outputTokens ?? 0;
    tally.fragments += fragments;
    if (outside.length > 0) this.#outside.inc({ wire, upstream, rule }, outside.length);
    for (const how in calls) {
      const many = calls[how as keyof typeof calls];
      if (many > 0) this.#calls.inc({ wire, upstream, rule, outcome: how }, many);
    }
  }

  #tell(tally: Tally): void {
    const { place, ended } = tally;
    ended.each((outcomes, kind) =>
      outcomes.each((exchanges, outcome) => {
        this.#requests.inc({ ...place, kind, outcome }, exchanges.count);
        exchanges.count = 0;
      }),
    );
    if (tally.tokensIn > 0) this.#tokens.inc({ ...place, direction: "in" }, tally.tokensIn);
    if (tally.tokensOut > 0) this.#tokens.inc({ ...place, direction: "out" }, tally.tokensOut);
    if (tally.fragments > 0) this.#fragments.inc(place, tally.fragments);
    tally.tokensIn = tally.tokensOut = tally.fragments = 0;
  }
}

/** Durations, counted in cumulative buckets. */
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

/** A histogram whose numbers are kept elsewhere. */
class Told extends Histogram<Label> {
  readonly #options: HistogramConfiguration<Label>;
  readonly #told: () => { place: Place; times: Times }[];

  constructor(options: HistogramConfiguration<Label>, told: () => { place: Place; times: Times }[]) {
    super(options);
    this.#options = options;
    this.#told = told;
  }

  /** Called by the registry when it prints. */
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

/** A map whose values are made on first use. Several keys are nested maps, because a joined key would be hashed anew each time. */
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
