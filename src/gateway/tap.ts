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

/** Every method is optional. A tap that throws is told nothing more of this exchange, which goes on; its `fault` is what was thrown. */
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
  const taps = new Set<Tap>();
  const attempt = (work: () => void, failed?: () => void): void => {
    try {
      work();
    } catch (error) {
      exchange.fault ??= error;
      failed?.();
    }
  };
  for (const open of openers) {
    attempt(() => {
      const tap = open(exchange);
      if (tap) taps.add(tap);
    });
  }
  if (taps.size === 0) return undefined;
  const tell = (work: (tap: Tap) => void): void => {
    for (const tap of taps) {
      attempt(
        () => work(tap),
        () => taps.delete(tap),
      );
    }
  };
  const upstream: UpstreamTap = {
    sent: (request) => tell((tap) => tap.upstream?.sent?.(request)),
    answered: (answer) => tell((tap) => tap.upstream?.answered?.(answer)),
    received: (bytes) => tell((tap) => tap.upstream?.received?.(bytes)),
    over: (whole) => tell((tap) => tap.upstream?.over?.(whole)),
  };
  return {
    asked: (request) => tell((tap) => tap.asked?.(request)),
    recalled: (id, item) => tell((tap) => tap.recalled?.(id, item)),
    replied: (answer) => tell((tap) => tap.replied?.(answer)),
    wrote: (bytes) => tell((tap) => tap.wrote?.(bytes)),
    event: (event) => tell((tap) => tap.event?.(event)),
    ended: (over) => tell((tap) => tap.ended?.(over)),
    ...([...taps].some((tap) => tap.upstream) ? { upstream } : {}),
  };
}
