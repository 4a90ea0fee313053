/** The ids of a scanner's calls: the model's own where it wrote one, else minted ones; none is used twice. */

/** How many ids are remembered: no answer has that many calls. */
const MAX_IDS = 256;

const numberedId = (n: number): string => `call_${n}`;

export class Ids {
  readonly #mint: (n: number) => string;
  /** The ids of the last calls: those that the model wrote, and those minted. */
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
    if (this.#given.size > 0) while (this.#given.has(id)) id += "_"; // without the check, each new string would be hashed
    this.#minted[index % MAX_IDS] = id;
    return id;
  }

  /** The call turned out not to be one. */
  forget(id: string): void {
    this.#given.delete(id);
  }
}
