/**
 * Text that grows by small pieces. Concatenation alone would leave one engine-internal node per piece alive until the end, which the
 * garbage collector then carries around; so every few thousand characters the young nodes are made one flat string and dropped.
 */
const FLAT = 4096;

export class Pile {
  #flat = "";
  #young = "";
  /** Reading a character is what makes an engine flatten a string; keeping it is what keeps the read from being optimised away. */
  #witness = 0;

  get length(): number {
    return this.#flat.length + this.#young.length;
  }

  add(piece: string): void {
    this.#young += piece;
    if (this.#young.length < FLAT) return;
    this.#witness ^= this.#young.charCodeAt(0);
    this.#flat += this.#young;
    this.#young = "";
  }

  toString(): string {
    return this.#flat === "" ? this.#young : this.#flat + this.#young;
  }

  clear(): void {
    this.#flat = "";
    this.#young = "";
  }
}
