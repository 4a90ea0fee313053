/** The calls of a conversation that is read from its start: every call has an id, every result finds its call. */

export class Calls {
  readonly #ids: () => Iterable<unknown>;
  #taken: Set<unknown> | undefined;
  readonly #names = new Map<string, string>();
  /** The calls without a result, in their order. */
  readonly #waiting = new Set<string>();
  /** Ids that a server used again, by their latest meaning. */
  #renamed: Map<string, string> | undefined;

  /** `taken`: the ids that stand anywhere in the conversation, which no minted one may be. */
  constructor(taken: () => Iterable<unknown>) {
    this.#ids = taken;
  }

  add(given: string | undefined, name: string): { id: string; name: string } {
    const id = given && !this.#names.has(given) ? given : this.#mint();
    if (given && id !== given) {
      this.#renamed ??= new Map();
      this.#renamed.set(given, id);
    }
    this.#names.set(id, name);
    this.#waiting.add(id);
    return { id, name };
  }

  /** A result without an id answers the first call of its name that still waits, or else the first that waits. */
  answer(given: { id: string | undefined; name: string | undefined }): { id: string; name: string } {
    const waiting = given.id ? [] : [...this.#waiting];
    const match = waiting.find((id) => this.#names.get(id) === given.name) ?? waiting[0];
    const id = (given.id && (this.#renamed?.get(given.id) ?? given.id)) || match || this.#mint();
    this.#waiting.delete(id);
    return { id, name: given.name || this.#names.get(id) || "" };
  }

  #mint(): string {
    this.#taken ??= new Set(this.#ids());
    let n = 0;
    while (this.#taken.has(`call_${n}`)) n++;
    this.#taken.add(`call_${n}`);
    return `call_${n}`;
  }
}
