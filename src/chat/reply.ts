/** What `chat.send` returns: the events of a turn, or, for callers that do not want them one by one, its text or its `Turn`. */
import { EngineError } from "../engines/error.ts";
import type { ChatEvent } from "./chat.ts";
import type { Turn, TurnReason } from "./data.ts";

/** Reasons with which a turn ends in calls, without an answer. */
const UNANSWERED: Readonly<Partial<Record<TurnReason, string>>> = {
  "tool-calls": "the turn ended with calls that need results: give them with chat.answer",
  "max-steps": "the model called tools until maxSteps was reached, without an answer; chat.resume continues",
};

export class Reply implements AsyncIterable<ChatEvent> {
  readonly #begin: () => AsyncGenerator<ChatEvent, Turn, undefined>;
  #begun = false;

  constructor(begin: () => AsyncGenerator<ChatEvent, Turn, undefined>) {
    this.#begin = begin;
  }

  /** Can be read only once, since a turn happens once. */
  [Symbol.asyncIterator](): AsyncGenerator<ChatEvent, Turn, undefined> {
    if (this.#begun) throw new Error("the events of a reply can be read only once");
    this.#begun = true;
    return this.#begin();
  }

  async turn(): Promise<Turn> {
    return (await this.#read()).turn;
  }

  /** The text of the last answer. Throws an `EngineError` if the turn ended without one: with an error, aborted, or with open calls. */
  async text(): Promise<string> {
    const { text, turn } = await this.#read();
    const message = UNANSWERED[turn.reason];
    const error = turn.error ?? (message === undefined ? undefined : { code: "internal" as const, message });
    if (error) throw new EngineError(error);
    return text;
  }

  async #read(): Promise<{ text: string; turn: Turn }> {
    let text = "";
    const events = this[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await events.next();
      if (done) return { text, turn: value };
      if (value.type === "text" || value.type === "refusal") text += value.text;
      else if (value.type === "tool-result") text = ""; // text before a call is not the answer
    }
  }
}
