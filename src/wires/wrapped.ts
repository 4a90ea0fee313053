/**
 * Structured output for an API that accepts only objects: a list is requested inside an object, `{"value": [1, 2]}`, and taken out of it
 * again, piece by piece as it streams. An answer that is not such an object stays unchanged.
 */
import type { Event, JsonObject } from "../core/nouns.ts";
import { Balance } from "./json-text.ts";
import { defined } from "./read.ts";

const KEY = "value";
const BEFORE = /^\s*\{\s*"value"\s*:\s*/;
/** Text that may be the start of `BEFORE`. */
const BEGINNING = /^\s*(?:\{\s*(?:"\w*(?:"\s*)?)?)?$/;

/** Definitions stay at the top, since references point there. */
export const wrappedSchema = ({ $defs, definitions, ...schema }: JsonObject): JsonObject =>
  defined<JsonObject>({
    type: "object",
    properties: { [KEY]: schema },
    required: [KEY],
    additionalProperties: false,
    $defs: $defs as JsonObject,
    definitions: definitions as JsonObject,
  });

export class Unwrapping {
  /** Text that may be the start of the object. */
  #held = "";
  /** The brackets of the object while it is open; `null`: there is no object, or it has ended; `undefined`: not known yet. */
  #open: Balance | null | undefined;

  *events(events: readonly Event[]): Generator<Event, void, undefined> {
    for (const event of events) {
      if (event.type === "text") {
        const text = this.#text(event.text);
        if (text !== "" || event.state) yield { ...event, text };
        continue;
      }
      if (this.#held !== "" && (event.type === "finish" || event.type === "tool-start")) {
        yield { type: "text", text: this.#held };
        this.#held = "";
        this.#open = null;
      }
      yield event;
    }
  }

  #text(piece: string): string {
    if (this.#open === null) return piece;
    const text = this.#held + piece;
    let from = 0;
    if (!this.#open) {
      const before = BEFORE.exec(text);
      this.#held = !before && BEGINNING.test(text) ? text : "";
      if (this.#held !== "") return "";
      this.#open = before ? new Balance() : null;
      if (!this.#open) return text;
      from = before?.[0].length ?? 0;
    }
    const end = this.#open.read(text);
    if (end < 0) return text.slice(from);
    this.#open = null;
    return text.slice(from, end - 1).trimEnd() + text.slice(end).trimEnd();
  }
}
