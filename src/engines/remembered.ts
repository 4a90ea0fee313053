/** Remembers for a while what was found out about models, by any key. */

/** Clients choose the names, so their number and length must be limited. */
const MAX_KNOWN = 1000;
const MAX_KEY = 1024;
/** The model behind a name may change, and an error may have had another cause; one refused request in this time costs little. */
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
    if (key.length > MAX_KEY) return;
    if (this.#known.size >= MAX_KNOWN && !this.#known.has(key)) this.#known.clear();
    this.#known.set(key, { value, until: this.#now() + ms });
  }
}
