/** The calls of a conversation that is read from its start: every call has an id, every result finds its call. */
import type { Message, Part } from "../core/nouns.ts";

/** Ids in the order of their calls; those before `at` have their results. */
interface Line {
  readonly ids: string[];
  at: number;
}

/** What an id becomes depends on nothing that comes later: history that was sent never changes. */
export class Calls {
  #minted = 0;
  readonly #names = new Map<string, string>();
  /** The calls without a result: all of them, in their order, and in that of each name. */
  readonly #waiting = new Set<string>();
  readonly #line: Line = { ids: [], at: 0 };
  readonly #lines = new Map<string, Line>();
  /** Ids that came again, by their latest meaning. */
  readonly #renamed = new Map<string, string>();

  add(given: string | undefined, name: string): { id: string; name: string } {
    const id = given && !this.#names.has(given) ? given : this.#mint();
    if (given && id !== given) this.#renamed.set(given, id);
    this.#names.set(id, name);
    this.#waiting.add(id);
    this.#line.ids.push(id);
    const line = this.#lines.get(name);
    if (line) line.ids.push(id);
    else this.#lines.set(name, { ids: [id], at: 0 });
    return { id, name };
  }

  /** Whether a call has no result yet. */
  get areWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** A result without an id answers the first call of its name that still waits, or else the first that waits. */
  answer(given: { id: string | undefined; name: string | undefined }): { id: string; name: string } {
    const match = given.id ? undefined : (this.#first(this.#lines.get(given.name ?? "")) ?? this.#first(this.#line));
    const id = (given.id && (this.#renamed.get(given.id) ?? given.id)) || match || this.#mint();
    this.#waiting.delete(id);
    return { id, name: given.name || this.#names.get(id) || "" };
  }

  #first(line: Line | undefined): string | undefined {
    if (!line) return undefined;
    while (line.at < line.ids.length && !this.#waiting.has(line.ids[line.at]!)) line.at++;
    return line.ids[line.at];
  }

  #mint(): string {
    let id: string;
    do id = `call_${this.#minted++}`;
    while (this.#names.has(id));
    this.#names.set(id, "");
    return id;
  }
}

/** What the model said in messages. */
export const saidIn = (messages: readonly Message[]): Part[] =>
  messages.flatMap((message) => (message.role === "assistant" ? message.content : []));

/** The ids of the calls in messages. */
export const callIds = (messages: readonly Message[]): string[] =>
  saidIn(messages).flatMap((part) => ("id" in part && part.id !== undefined ? part.id : []));
