/** A cache with a limited size that drops the least recently used values first. */
export class LastUsed<T> {
  /** In order of use, the least recently used first. */
  readonly #kept = new Map<string, { readonly value: T; readonly chars: number }>();
  readonly #maxChars: number;
  readonly #maxItems: number;
  #chars = 0;

  constructor(maxChars: number, maxItems = Number.POSITIVE_INFINITY) {
    this.#maxChars = maxChars;
    this.#maxItems = maxItems;
  }

  get(key: string): T | undefined {
    const found = this.#kept.get(key);
    if (!found) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    return found.value;
  }

  /** A value larger than the whole cache is not kept, and drops nothing but what it replaces. */
  set(key: string, value: T, chars: number): void {
    this.#drop(key);
    if (chars > this.#maxChars) return;
    this.#kept.set(key, { value, chars });
    this.#chars += chars;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#maxItems && this.#chars <= this.#maxChars) break;
      this.#drop(oldest);
    }
  }

  clear(): void {
    this.#kept.clear();
    this.#chars = 0;
  }

  #drop(key: string): void {
    this.#chars -= this.#kept.get(key)?.chars ?? 0;
    this.#kept.delete(key);
  }
}
