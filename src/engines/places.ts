/**
 * The URLs of one upstream, and how each has done lately: nobody asks them whether they are well, what happens to requests tells. One that
 * failed rests, longer with each failure; among the others the one with the fewest answers under way is next.
 */

const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 30_000;

export class Place<T> {
  readonly base: T;
  /** Requests and answers under way. */
  busy = 0;
  #failures = 0;
  #restsUntil = 0;

  constructor(base: T) {
    this.base = base;
  }

  rests(now: number): boolean {
    return this.#restsUntil > now;
  }

  get restsUntil(): number {
    return this.#restsUntil;
  }

  worked(): void {
    this.#failures = 0;
    this.#restsUntil = 0;
  }

  /** `restMs`: what the server itself asks for. */
  failed(now: number, restMs?: number): void {
    const rest = restMs ?? FIRST_REST_MS * 2 ** Math.min(this.#failures, 10);
    this.#failures++;
    this.#restsUntil = now + Math.min(rest, LONGEST_REST_MS);
  }
}

export class Places<T> {
  readonly list: readonly Place<T>[];
  readonly #now: () => number;
  /** Where there is one: a connection that was kept may be closed by the server just when it is used again, and that says nothing about it. */
  readonly #twice: readonly Place<T>[];
  #turn = 0;

  constructor(bases: readonly T[], now = (): number => performance.now()) {
    this.list = bases.map((base) => new Place(base));
    this.#twice = [...this.list, ...this.list];
    this.#now = now;
  }

  now(): number {
    return this.#now();
  }

  get several(): boolean {
    return this.list.length > 1;
  }

  /** The best first. Those that rest come last: if all do, the one that is to wake first is tried all the same. */
  inOrder(): readonly Place<T>[] {
    const { list } = this;
    if (!this.several) return this.#twice;
    const now = this.#now();
    const first = this.#turn++ % list.length;
    const inTurn = [...list.slice(first), ...list.slice(0, first)];
    const rested = inTurn.filter((place) => !place.rests(now)).toSorted((a, b) => a.busy - b.busy);
    const resting = inTurn.filter((place) => place.rests(now)).toSorted((a, b) => a.restsUntil - b.restsUntil);
    return [...rested, ...resting];
  }
}
