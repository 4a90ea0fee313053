/**
 * Whoever wants to hear an exchange while it happens: `--verbose` prints its calls, `--record` keeps its bytes. Taps hear no credentials:
 * headers and URLs come to them without.
 *
 *     const tap: OpenTap = (exchange) => ({ event: (event) => console.log(exchange.id, event.type) });
 */
import type { Event, JsonObject } from "../core/nouns.ts";
import type { UpstreamTap } from "../engines/engine.ts";
import type { Headers } from "../wires/wire.ts";
import type { Exchange } from "./exchange.ts";

/** Everything is optional: a tap hears what it has ears for. What it throws ends the exchange. */
export interface Tap {
  /** The client's edge: what came in… */
  asked?(request: { method: string; url: string; headers: Headers; body: string }): void;
  /** What was kept of an answer and stands for its name in this request. */
  recalled?(id: string, item: JsonObject): void;
  /** …and what went out. */
  replied?(answer: { status: number; headers: Headers }): void;
  wrote?(bytes: string | Uint8Array): void;
  /** What the engine said, before it became the client's. */
  event?(event: Event): void;
  /** The upstream's edge; a request may go to several URLs. */
  readonly upstream?: UpstreamTap;
  /** The last that it hears. */
  ended?(exchange: Exchange): void;
}

/** Asked at the beginning of each exchange, when only its id, wire and kind are known. */
export type OpenTap = (exchange: Exchange) => Tap | undefined;

/** One tap for all that want to hear; `undefined`: nobody does, and nothing is spent on it. */
export function openTaps(openers: readonly OpenTap[] = [], exchange: Exchange): Tap | undefined {
  const taps = openers.map((open) => open(exchange)).filter((tap) => tap !== undefined);
  if (taps.length < 2) return taps[0];
  const upstreams = taps.map(({ upstream }) => upstream).filter((upstream) => upstream !== undefined);
  return {
    asked: (request) => each(taps, (tap) => tap.asked?.(request)),
    recalled: (id, item) => each(taps, (tap) => tap.recalled?.(id, item)),
    replied: (answer) => each(taps, (tap) => tap.replied?.(answer)),
    wrote: (bytes) => each(taps, (tap) => tap.wrote?.(bytes)),
    event: (event) => each(taps, (tap) => tap.event?.(event)),
    ended: (over) => each(taps, (tap) => tap.ended?.(over)),
    upstream: {
      sent: (request) => each(upstreams, (tap) => tap.sent?.(request)),
      answered: (answer) => each(upstreams, (tap) => tap.answered?.(answer)),
      received: (bytes) => each(upstreams, (tap) => tap.received?.(bytes)),
      over: (whole) => each(upstreams, (tap) => tap.over?.(whole)),
    },
  };
}

function each<T>(taps: readonly T[], tell: (tap: T) => void): void {
  for (const tap of taps) tell(tap);
}
