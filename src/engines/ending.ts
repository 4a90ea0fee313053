/**
 * What is known of an answer in a dialect only when more of it is there: whether blanks are its text or stand around its calls, and how it
 * ended. A server that only completes text knows nothing of calls, so whoever scans it must say it.
 */
import type { Event, Finish, FinishReason, Request } from "../core/nouns.ts";
import { callIds } from "../wires/calls.ts";

export class Ending {
  #complete = 0;
  #truncated = 0;
  #malformed = 0;
  /** What was said last, since the answer or its thinking. */
  #last: "nothing" | "words" | "call" = "nothing";
  /** Blanks, and marks between them. */
  #held: Event[] = [];

  /** The scanner's events, as they are passed on. */
  see(events: readonly Event[]): Event[] {
    const out: Event[] = [];
    for (const event of events) {
      if (this.#waits(event)) this.#held.push(event);
      else {
        out.push(...this.#release(event.type), event);
        this.#take(event);
      }
    }
    return out;
  }

  /** The scanner's last events. What the limit cut before it had a name is no call yet: nothing is wrong with it, and the end says why. */
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

  /** Blanks between calls are the dialect's, not the model's; clients would show them, and Anthropic refuses such a text. */
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

  /** The server's own end, and what the calls make of it. */
  finish(end: Finish): Finish {
    if (end.reason !== "stop" && end.reason !== "tool-calls") return end;
    if (this.#complete === 0 && this.#truncated === 0 && this.#malformed > 0) {
      return { ...end, reason: "error", error: { code: "malformed-call", message: "the model wrote a tool call that cannot be read" } };
    }
    const reason: FinishReason = this.#complete > 0 ? "tool-calls" : this.#truncated > 0 ? "length" : "stop";
    return { ...end, reason };
  }
}

/** Ids for the calls of an answer: they count on from those that the conversation has, of which a client may have left the first out. */
export const mintIds = ({ messages }: Request): ((n: number) => string) => idsBehind(callIds(messages));

/** The same, behind calls of these ids. */
export function idsBehind(ids: readonly string[]): (n: number) => string {
  const numbers = ids.map((id) => Number(/^call_(\d{1,9})$/.exec(id)?.[1] ?? -1));
  const next = Math.max(ids.length, ...numbers.map((number) => number + 1));
  return (n) => `call_${next + n}`;
}
