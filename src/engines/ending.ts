/** How an answer in a dialect ended. A server that only completes text knows nothing of calls, so whoever scans it must say it. */
import type { Event, Finish, FinishReason, Request } from "../core/nouns.ts";

export class Ending {
  #complete = 0;
  #truncated = 0;
  #malformed = 0;

  see(event: Event): void {
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

/** Ids for the calls of an answer: they count on from those that the conversation has. */
export function mintIds({ messages }: Request): (n: number) => string {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.content : [])).filter((part) => "id" in part);
  return (n) => `call_${calls.length + n}`;
}
