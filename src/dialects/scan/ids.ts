/** The ids of a scanner's calls: the model's own where it wrote one, else minted ones; none comes twice. */

/** So many are remembered: no answer has as many calls. */
const MAX_IDS = 256;

const numberedId = (n: number): string => `call_${n}`;

export class Ids {
  readonly #mint: (n: number) => string;
  /** Of the last calls: those that the model gave, and all others. */
  readonly #given = new Set<string>();
  readonly #minted: string[] = [];

  constructor(mint = numberedId) {
    this.#mint = mint;
  }

  /** The id of the call that has this index; `own`: what the model wrote. */
  of(index: number, own: string | undefined): string {
    if (own !== undefined && !this.#given.has(own) && !this.#minted.includes(own)) {
      this.#given.add(own);
      if (this.#given.size > MAX_IDS) this.#given.delete(this.#given.values().next().value as string);
      return own;
    }
    let id = this.#mint(index);
    while (this.#given.has(id)) id += "_";
    this.#minted[index % MAX_IDS] = id;
    return id;
  }

  /** The call was none. */
  forget(id: string): void {
    this.#given.delete(id);
  }
}
