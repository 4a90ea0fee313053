/** What `chat.send` gives: the events of a turn, or, for whoever does not want them one by one, what they come to. */
import { EngineError } from "../engines/error.ts";
import type { ChatEvent } from "./chat.ts";
import type { Turn, TurnReason } from "./data.ts";

/** Ends at which there are calls and no answer. */
const UNANSWERED: Readonly<Partial<Record<TurnReason, string>>> = {
  "tool-calls": "calls wait for chat.answer",
  "max-steps": "the model made calls until maxSteps was reached, and gave no answer; chat.resume goes on",
};

export class Reply implements AsyncIterable<ChatEvent> {
  readonly #begin: () => AsyncGenerator<ChatEvent, Turn, undefined>;
  #begun = false;

  constructor(begin: () => AsyncGenerator<ChatEvent, Turn, undefined>) {
    this.#begin = begin;
  }

  /** Once: a turn happens once. */
  [Symbol.asyncIterator](): AsyncGenerator<ChatEvent, Turn, undefined> {
    if (this.#begun) throw new Error("the events of a reply are read once");
    this.#begun = true;
    return this.#begin();
  }

  async turn(): Promise<Turn> {
    return (await this.#read()).turn;
  }

  /** The words of the last answer. Throws an `EngineError` if the turn ended without one: in an error, aborted, or before the model had its say. */
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
      else if (value.type === "tool-result") text = ""; // what was said before a call is not the answer
    }
  }
}
