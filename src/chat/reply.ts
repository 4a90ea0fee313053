/** What `chat.send` gives: the events of a turn, or, for whoever does not want them one by one, what they come to. */
import { EngineError } from "../engines/error.ts";
import type { ChatEvent } from "./chat.ts";
import type { Turn } from "./data.ts";

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

  /** The words of the last answer. Throws an `EngineError` if the turn ended in an error or was aborted. */
  async text(): Promise<string> {
    const { text, turn } = await this.#read();
    if (turn.error) throw new EngineError(turn.error);
    return text;
  }

  async #read(): Promise<{ text: string; turn: Turn }> {
    let text = "";
    const events = this[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await events.next();
      if (done) return { text, turn: value };
      if (value.type === "text") text += value.text;
      else if (value.type === "tool-result") text = ""; // what was said before a call is not the answer
    }
  }
}
