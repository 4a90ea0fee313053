/** What was found out about models, by any key, and until when that is believed. */

/** Names come from clients: more are not remembered. */
const MAX_KNOWN = 1000;
/** Models change behind their names, and an error may have meant something else: one refusal in so many milliseconds costs little. */
const KNOWN_MS = 600_000;

export class Remembered<T> {
  readonly #known = new Map<string, { value: T; until: number }>();
  readonly #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  get(key: string): T | undefined {
    const known = this.#known.get(key);
    return known && this.#now() < known.until ? known.value : undefined;
  }

  set(key: string, value: T, ms = KNOWN_MS): void {
    if (this.#known.size >= MAX_KNOWN && !this.#known.has(key)) this.#known.clear();
    this.#known.set(key, { value, until: this.#now() + ms });
  }
}
