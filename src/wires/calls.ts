/** Gives every call of a conversation an id, and finds the call of every result, in one pass from the start. */
import type { Message, Part } from "../core/nouns.ts";

/** Ids in the order of their calls; the calls before `at` have their results. */
interface Line {
  readonly ids: string[];
  at: number;
}

/** An id depends only on what comes before it, so that history that was sent once never changes. */
export class Calls {
  #minted = 0;
  readonly #names = new Map<string, string>();
  /** The calls without a result; all calls in order, and the same by name. */
  readonly #waiting = new Set<string>();
  readonly #line: Line = { ids: [], at: 0 };
  readonly #lines = new Map<string, Line>();
  /** For an id that was used again: the id that its latest call got instead. */
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

  /** Whether any call has no result yet. */
  get areWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** A result without an id belongs to the first call of its name that has no result yet, or else to the first call without one. */
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

/** The parts of all assistant messages. */
export const saidIn = (messages: readonly Message[]): Part[] =>
  messages.flatMap((message) => (message.role === "assistant" ? message.content : []));

/** The ids of the calls in messages. */
export const callIds = (messages: readonly Message[]): string[] =>
  saidIn(messages).flatMap((part) => ("id" in part ? (part.id ?? []) : []));

/** Where the result of a call belongs among the results of an answer with these calls: from 0 to 1, which is for unknown calls. */
export function placeAmong(ids: readonly string[]): (id: string) => number {
  const places = new Map(ids.map((id, n) => [id, n / ids.length]));
  return (id) => places.get(id) ?? 1;
}

/** Sorts the results of a round by the order of its calls: in most templates only the order tells which call a result belongs to. */
export function inCallOrder(messages: readonly Message[]): Message[] {
  let placeOf = placeAmong([]);
  let behind = 0;
  const placed = messages.map((message, i): [number, Message] => {
    if (message.role === "tool") return [behind + placeOf(message.id), message];
    if (message.role === "assistant") placeOf = placeAmong(callIds([message]));
    behind = i + 1;
    return [i, message];
  });
  return placed.toSorted(([one], [other]) => one - other).map(([, message]) => message);
}
