/**
 * A string that grows by small pieces. Plain concatenation would keep one node of the engine's rope alive per piece, for the garbage
 * collector to carry around; so the rope is flattened every few thousand characters.
 */
const FLAT = 4096;

export class Pile {
  #flat = "";
  #young = "";
  /** Reading a character makes the engine flatten the rope; storing it keeps the read from being optimised away. */
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
