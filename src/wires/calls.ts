/** The calls of a conversation that is read from its start: every call has an id, every result finds its call. */

export class Calls {
  readonly #body: unknown;
  #text: string | undefined;
  #minted = 0;
  readonly #names = new Map<string, string>();
  /** The calls without a result, in their order. */
  readonly #waiting = new Set<string>();
  /** Ids that a server used again, by their latest meaning. */
  #renamed: Map<string, string> | undefined;

  /** `body`: what the calls stand in; no id that we mint may be one of its strings. */
  constructor(body: unknown) {
    this.#body = body;
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
    this.#text ??= typeof this.#body === "string" ? this.#body : JSON.stringify(this.#body);
    let id: string;
    do id = `call_${this.#minted++}`;
    while (this.#text.includes(`"${id}"`));
    return id;
  }
}
