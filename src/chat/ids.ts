/**
 * Makes the ids of calls unique within a conversation. Many models and servers count their calls from zero in every answer, and a history
 * with two calls `call_0` is useless to a server that pairs calls and results by id.
 */
import type { Event, Message } from "../core/nouns.ts";

export class FreshIds {
  readonly #taken: Set<string>;
  /** Ids of this answer that were replaced. */
  readonly #renamed = new Map<string, string>();

  constructor(history: readonly Message[]) {
    const calls = history.flatMap((message) => (message.role === "assistant" ? message.content : []));
    this.#taken = new Set(calls.flatMap((part) => ("id" in part && part.id !== undefined ? [part.id] : [])));
  }

  /** The same event with an id that no other call has. A malformed call gets one too, since it will have a result. */
  fresh(event: Event): Event {
    if (event.type === "tool-start") return { ...event, id: this.#open(event.id) };
    if (event.type === "tool-delta" || event.type === "tool-end") return { ...event, id: this.#renamed.get(event.id) ?? event.id };
    if (event.type !== "malformed") return event;
    return { ...event, id: event.id === undefined ? this.#mint("malformed") : (this.#renamed.get(event.id) ?? event.id) };
  }

  #open(id: string): string {
    const fresh = this.#taken.has(id) ? this.#mint(id) : id;
    this.#taken.add(fresh);
    if (fresh !== id) this.#renamed.set(id, fresh);
    return fresh;
  }

  #mint(base: string): string {
    let n = 1;
    while (this.#taken.has(`${base}_${n}`)) n++;
    this.#taken.add(`${base}_${n}`);
    return `${base}_${n}`;
  }
}
