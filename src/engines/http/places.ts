/**
 * The URLs of one upstream and their health, which is judged by the outcome of requests; there are no health checks. A URL that failed is
 * avoided for a while, longer with each failure; of the others, the one with the fewest open requests is next.
 */

const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 30_000;

export class Place<T> {
  readonly base: T;
  /** Its open requests. */
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

  /** `restMs`: how long the server itself asks clients to wait. */
  failed(now: number, restMs?: number): void {
    const rest = restMs ?? FIRST_REST_MS * 2 ** Math.min(this.#failures, 10);
    this.#failures++;
    this.#restsUntil = now + Math.min(rest, LONGEST_REST_MS);
  }
}

export class Places<T> {
  readonly list: readonly Place<T>[];
  readonly #now: () => number;
  /** The order for a single URL, which is tried twice: the server may close a kept-alive connection just when it is used again. */
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

  /** The best first. Those that rest come last, the one whose rest ends first before the others. */
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
