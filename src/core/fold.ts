/** Folds the events of one answer into a response: all at once, or one by one, to show an answer while it is being written. */
import { type Fold, Folding, type GrowingArguments } from "./folding.ts";
import { isObject, JsonWriter } from "./json.ts";
import { JSON_SYNTAX } from "./json-syntax.ts";
import type { Event, OpenCall, Response } from "./nouns.ts";
import { NO_MARKS, Reader } from "./reader.ts";

export type { Fold } from "./folding.ts";

/** The response of a whole answer. For events that are still coming, use `createFold`. */
export function collect(events: Iterable<Event>): Response {
  const fold = createFold();
  for (const event of events) fold.add(event);
  return fold.response();
}

/** Makes a response of events while they arrive. */
export function createFold(): Fold {
  return new Folding(() => new PartialArguments());
}

const NO_DEPTH_LIMIT = Number.MAX_SAFE_INTEGER;

/** The arguments of a call that is being written, built as their text arrives. */
class PartialArguments implements GrowingArguments {
  readonly #writer = new JsonWriter(true);
  readonly #reader = new Reader(NO_DEPTH_LIMIT).begin(JSON_SYNTAX, this.#writer, NO_MARKS);

  add(json: string): void {
    this.#reader.add(json);
    this.#reader.read();
    this.#writer.take();
  }
  get value(): OpenCall["partial"] {
    const { value } = this.#writer;
    return isObject(value) ? value : {};
  }
}
