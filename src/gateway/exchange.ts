/** The facts of one exchange, for the log and for metrics; never a key, and never the text of the conversation. */
import type { ErrorInfo, Event, Usage, Warning, WireId } from "../core/nouns.ts";
import type { Modes } from "./modes.ts";

export interface Exchange {
  readonly id: string;
  readonly wire: WireId;
  /** `generate`, `count`, `models`, `pass`… */
  readonly kind: string;
  /** The name that the client asked for. */
  model?: string;
  upstream?: string;
  /** The upstream's own name for the model. */
  upstreamModel?: string;
  /** The rule's name or pattern in the configuration: a label that no client can make up. */
  rule?: string;
  /** The configured modes of the model's tools, if any; `dialect`: the one in which Dragoman read the answer. */
  tools?: Modes["tools"];
  rescue?: Modes["rescue"];
  dialect?: string;
  streamed: boolean;
  status: number;
  outcome: "ok" | "error" | "aborted";
  /** Who ended the exchange early: the client by leaving, or the gateway by closing. */
  brokenOff?: "client" | "gateway";
  error?: ErrorInfo;
  /** The gateway itself refused the request: the error's message is its own. */
  refused?: true;
  /** Advice for the reader of the log. */
  hint?: string;
  /** The thrown value behind an internal error of the gateway. */
  fault?: unknown;
  /** Milliseconds since the request arrived; `firstMs`: until the first event with content. */
  ms: number;
  firstMs?: number;
  usage?: Usage;
  calls: Calls;
  /** Complete calls whose arguments violate their tool's schema: the tool, and what is wrong. */
  outside: { name: string; why: string }[];
  /** The number of argument pieces over all calls. */
  fragments: number;
  warnings: Warning[];
}

/** How many calls ended in which way; rescued calls count as complete, too. */
export interface Calls {
  complete: number;
  truncated: number;
  malformed: number;
  rescued: number;
}

/** The resolution of the times; `spent` never reports zero. */
const LEAST_MS = 0.1;

/** Fills in the facts of an exchange while it runs. */
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

  /** The time until now, and until the first event with content. */
  spent(): { ms: number; firstMs?: number | undefined } {
    const ms = Math.max(LEAST_MS, this.#elapsed());
    return { ms, firstMs: this.exchange.firstMs || undefined };
  }

  #elapsed(): number {
    return Math.round((performance.now() - this.#began) * 10) / 10;
  }
}

const CONTENT: ReadonlySet<Event["type"]> = new Set(["text", "thinking-delta", "tool-start", "tool-end", "malformed", "refusal"]);
