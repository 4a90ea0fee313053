/**
 * Taps observe an exchange while it runs: `--verbose` prints its calls, `--record` keeps its bytes. Headers and URLs are passed to them
 * without credentials.
 *
 *     const tap: OpenTap = (exchange) => ({ event: (event) => console.log(exchange.id, event.type) });
 */
import type { Event, JsonObject } from "../core/nouns.ts";
import type { UpstreamTap } from "../engines/engine.ts";
import type { Headers } from "../wires/wire.ts";
import type { Exchange } from "./exchange.ts";

/** Every method is optional. An exception in one ends the exchange. */
export interface Tap {
  /** The client's edge: the request… */
  asked?(request: { method: string; url: string; headers: Headers; body: string }): void;
  /** An item of an earlier answer that the request named by its id. */
  recalled?(id: string, item: JsonObject): void;
  /** …and the answer. */
  replied?(answer: { status: number; headers: Headers }): void;
  wrote?(bytes: string | Uint8Array): void;
  /** An event of the engine, before it is encoded for the client. */
  event?(event: Event): void;
  /** The upstream's edge; one exchange may send several requests. */
  readonly upstream?: UpstreamTap;
  /** Called last. */
  ended?(exchange: Exchange): void;
}

/** Called at the beginning of each exchange, when only its id, wire and kind are known. */
export type OpenTap = (exchange: Exchange) => Tap | undefined;

/** Combines all taps into one; `undefined` if there are none, which costs nothing. */
export function openTaps(openers: readonly OpenTap[] = [], exchange: Exchange): Tap | undefined {
  if (openers.length === 0) return undefined;
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
