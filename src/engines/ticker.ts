/** One timer for all that is open: a timer of its own for each stream, put off with each piece, would cost more than what it guards. */

import { Roster, type Seated } from "./roster.ts";

export interface Watched extends Seated {
  /** What there is to do at this time, in milliseconds of `performance.now()`, or before the next time. */
  tick(now: number, next: number): void;
}

const MAX_MS = 1000;

export class Ticker {
  readonly #watched = new Roster<Watched>();
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;

  /** Looks often enough for a limit of so many milliseconds. */
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
