/** What is known of one exchange: enough for a line in a log and for numbers, never a key and never what was said. */
import type { ErrorInfo, Event, Usage, Warning, WireId } from "../core/nouns.ts";
import type { Modes } from "./modes.ts";

export interface Exchange {
  readonly id: string;
  readonly wire: WireId;
  /** `generate`, `count`, `models`, `pass`… */
  readonly kind: string;
  /** What the client asked for. */
  model?: string;
  upstream?: string;
  /** As the upstream calls it. */
  upstreamModel?: string;
  /** The name or pattern of the configuration: a label that no client can make up. */
  rule?: string;
  /** What the configuration says of the model's tools, where it says something; and the dialect in which the answer was read by us. */
  tools?: Modes["tools"];
  rescue?: Modes["rescue"];
  dialect?: string;
  streamed: boolean;
  status: number;
  outcome: "ok" | "error" | "aborted";
  /** Who broke it off: the client by leaving, or the gateway by closing. */
  brokenOff?: "client" | "gateway";
  error?: ErrorInfo;
  /** The gateway itself turned the request away: the words of the error are its own. */
  refused?: true;
  /** What may help, for whoever reads the log. */
  hint?: string;
  /** A fault of ours: what was thrown. */
  fault?: unknown;
  /** In milliseconds, since the request came; `firstMs`: until the first event with content. */
  ms: number;
  firstMs?: number;
  usage?: Usage;
  calls: Calls;
  /** Complete calls whose arguments are outside their tool's schema: which tool, and what is wrong. */
  outside: { name: string; why: string }[];
  /** Pieces of arguments, over all calls. */
  fragments: number;
  warnings: Warning[];
}

/** How many ended in which way; those that were rescued are complete, too. */
export interface Calls {
  complete: number;
  truncated: number;
  malformed: number;
  rescued: number;
}

/** What is counted in: nothing takes no time. */
const LEAST_MS = 0.1;

/** Keeps the account of an exchange while it happens. */
export class Account {
  readonly #began = performance.now();
  readonly exchange: Exchange;

  constructor(id: string, wire: WireId, kind: string) {
    this.exchange = {
      id,
      wire,
      kind,
      streamed: false,
      status: 200,
      outcome: "ok",
      ms: 0,
      calls: { complete: 0, truncated: 0, malformed: 0, rescued: 0 },
      outside: [],
      fragments: 0,
      warnings: [],
    };
  }

  see(event: Event): void {
    const { exchange } = this;
    if (exchange.firstMs === undefined && CONTENT.has(event.type)) exchange.firstMs = this.#elapsed();
    if (event.type === "tool-delta") exchange.fragments++;
    else if (event.type === "tool-end") exchange.calls[event.truncated ? "truncated" : "complete"]++;
    else if (event.type === "malformed") exchange.calls.malformed++;
    else if (event.type === "usage") {
      const { type: _, ...usage } = event;
      exchange.usage = exchange.usage ? { ...exchange.usage, ...usage } : usage;
    } else if (event.type === "finish" && event.error) this.fail(event.error);
  }

  fail(error: ErrorInfo, thrown?: unknown): void {
    this.exchange.error = error;
    if (error.code === "internal" && thrown !== undefined) this.exchange.fault = thrown;
    this.exchange.outcome = error.code === "aborted" ? "aborted" : "error";
  }

  done(): void {
    this.exchange.ms = this.#elapsed();
  }

  /** Until now, and until the first event with content. */
  spent(): { ms: number; firstMs?: number | undefined } {
    const ms = Math.max(LEAST_MS, this.#elapsed());
    return { ms, firstMs: this.exchange.firstMs || undefined };
  }

  #elapsed(): number {
    return Math.round((performance.now() - this.#began) * 10) / 10;
  }
}

const CONTENT: ReadonlySet<Event["type"]> = new Set(["text", "thinking-delta", "tool-start", "tool-end", "malformed", "refusal"]);
