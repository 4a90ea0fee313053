/** What is kept as long as there is room: what was not used for the longest time goes first. */
export class LastUsed<T> {
  /** The first was not used for the longest time. */
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

  /** What is longer than there is room drives nothing out. */
  set(key: string, value: T, chars: number): void {
    if (chars > this.#maxChars) return;
    this.#drop(key);
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
