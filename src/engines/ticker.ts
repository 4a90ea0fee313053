/** One timer for all open streams: a timer per stream, reset with each piece, would cost more than the stream itself. */

import { Roster, type Seated } from "./roster.ts";

export interface Watched extends Seated {
  /** Called regularly. `now` and `next`, the time of the next call, are in milliseconds of `performance.now()`. */
  tick(now: number, next: number): void;
}

const MAX_MS = 1000;

export class Ticker {
  readonly #watched = new Roster<Watched>();
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;

  /** Ticks often enough for a time limit of `limitMs`. */
  constructor(limitMs: number) {
    this.#everyMs = Math.max(1, Math.min(MAX_MS, limitMs / 4));
  }

  watch(one: Watched): void {
    this.#watched.add(one);
    this.#timer ??= setInterval(() => this.#tick(), this.#everyMs).unref();
  }

  leave(one: Watched): void {
    this.#watched.delete(one);
  }

  #tick(): void {
    const now = performance.now();
    this.#watched.each((one) => one.tick(now, now + this.#everyMs));
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
