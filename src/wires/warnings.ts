/** What a target cannot express, said once each. */
import type { Warning, WireId } from "../core/nouns.ts";

export class Warnings {
  readonly list: Warning[] = [];
  readonly #said = new Set<string>();

  add(code: string, message: string): void {
    if (this.#said.has(message)) return;
    this.#said.add(message);
    this.list.push({ code, message });
  }

  /** Left out: the target has no place for it. */
  dropped(what: string, target: WireId): void {
    this.add("dropped", `${what} has no place in ${target} and was left out`);
  }

  /** Sent, but in another form. */
  converted(what: string, into: string): void {
    this.add("converted", `${what} was sent as ${into}`);
  }
}
