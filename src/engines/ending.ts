/**
 * What can be told about an answer in a dialect only later: whether blanks are part of its text or only surround its calls, and its finish
 * reason. A server that only completes text knows nothing about calls, so the reason must be derived from the scanner's events.
 */
import type { Event, Finish, FinishReason, Request } from "../core/nouns.ts";
import { callIds } from "../wires/calls.ts";

export class Ending {
  #complete = 0;
  #truncated = 0;
  #malformed = 0;
  /** The last thing since the beginning of the answer, or since its thinking. */
  #last: "nothing" | "words" | "call" = "nothing";
  /** Blanks, and the control events between them. */
  #held: Event[] = [];

  /** Takes the scanner's events and returns those to pass on. */
  see(events: readonly Event[]): Event[] {
    return events.flatMap((event) => {
      if (this.#waits(event)) {
        this.#held.push(event);
        return [];
      }
      const before = this.#release(event.type);
      this.#take(event);
      return [...before, event];
    });
  }

  /**
   * Takes the scanner's last events. A call that the token limit cut before its name is no malformed call: the finish reason says what
   * happened.
   */
  flush(events: readonly Event[], reason?: FinishReason): Event[] {
    const said = events.map((event): Event => {
      if (reason !== "length" || event.type !== "malformed" || event.id !== undefined) return event;
      return { type: "control", raw: event.raw };
    });
    return [...this.see(said), ...this.#release("finish")];
  }

  #waits(event: Event): boolean {
    if (event.type === "control") return this.#held.length > 0;
    return event.type === "text" && this.#last !== "words" && event.text.trim() === "" && !event.state;
  }

  /** Blanks between calls are syntax, not text: clients would show them, and Anthropic refuses a text of blanks. */
  #release(next: Event["type"]): Event[] {
    const held = this.#held.splice(0);
    const isText = next === "text" || (this.#last !== "call" && next !== "tool-start" && next !== "malformed");
    return isText ? held : held.map((event) => (event.type === "text" ? { type: "control", raw: event.text } : event));
  }

  #take(event: Event): void {
    if (event.type === "text") this.#last = "words";
    else if (event.type === "thinking-end") this.#last = "nothing";
    else if (event.type === "malformed" || event.type === "tool-end") this.#last = "call";
    if (event.type === "malformed") this.#malformed++;
    else if (event.type === "tool-end") event.truncated ? this.#truncated++ : this.#complete++;
  }

  /** Corrects the server's finish reason by the calls of the answer. */
  finish(end: Finish): Finish {
    if (end.reason !== "stop" && end.reason !== "tool-calls") return end;
    if (this.#complete === 0 && this.#truncated === 0 && this.#malformed > 0) {
      return { ...end, reason: "error", error: { code: "malformed-call", message: "the model wrote a tool call that cannot be read" } };
    }
    const reason: FinishReason = this.#complete > 0 ? "tool-calls" : this.#truncated > 0 ? "length" : "stop";
    return { ...end, reason };
  }
}

/**
 * Ids for the calls of an answer. They continue the numbers in the conversation, from which a client may have dropped the first messages.
 */
export const mintIds = ({ messages }: Request): ((n: number) => string) => idsBehind(callIds(messages));

/** The same, after calls with these ids. */
export function idsBehind(ids: readonly string[]): (n: number) => string {
  const numbers = ids.map((id) => Number(/^call_(\d{1,9})$/.exec(id)?.[1] ?? -1));
  const next = Math.max(ids.length, ...numbers.map((number) => number + 1));
  return (n) => `call_${next + n}`;
}
