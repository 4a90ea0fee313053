/** Cuts a stream of text at the first of a request's stop strings. Text that may be the beginning of one is held back. */
export class Stops {
  readonly #stops: readonly string[];
  #held = "";
  #found: string | undefined;

  constructor(stops: readonly string[] = []) {
    this.#stops = stops.filter((stop) => stop !== "");
  }

  /** The stop string that appeared and ended the answer. */
  get found(): string | undefined {
    return this.#found;
  }

  /** Returns the text that can be passed on. */
  feed(text: string): string {
    if (this.#stops.length === 0) return text;
    const all = this.#held + text;
    const places = this.#stops.map((stop) => ({ stop, at: all.indexOf(stop) })).filter(({ at }) => at >= 0);
    if (places.length > 0) {
      const first = places.reduce((a, b) => (b.at < a.at ? b : a));
      this.#found = first.stop;
      this.#held = "";
      return all.slice(0, first.at);
    }
    const keep = Math.max(...this.#stops.map((stop) => beginningAtEnd(all, stop)));
    this.#held = all.slice(all.length - keep);
    return all.slice(0, all.length - keep);
  }

  /** The text that was held back and is not a stop string. */
  flush(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }
}

/** How many characters at the end of the text could be the beginning of `stop`. */
export function beginningAtEnd(text: string, stop: string): number {
  for (let length = Math.min(stop.length - 1, text.length); length > 0; length--) if (text.endsWith(stop.slice(0, length))) return length;
  return 0;
}
