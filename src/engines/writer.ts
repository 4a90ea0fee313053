/** What a model in this process says: its text as events, and how it ended. */
import type { Event, Finish, Request } from "../core/nouns.ts";
import type { Dialect, Prompt, Scanner } from "../dialects/dialect.ts";
import { Ending, mintIds } from "./ending.ts";
import { endsInThinking } from "./inband/request.ts";
import { Stops } from "./stops.ts";

/** The model's text as events, up to a stop string of the request. */
export class Writer {
  readonly #scanner: Scanner;
  readonly #stops: Stops;
  readonly #ending = new Ending();
  thinking: boolean;
  thinkingTokens = 0;

  constructor(dialect: Dialect, request: Request, prompt: Prompt) {
    this.#scanner = dialect.createScanner({ prompt, mintId: mintIds(request), ...(request.tools ? { tools: request.tools } : {}) });
    this.#stops = new Stops(request.stop);
    this.thinking = endsInThinking(dialect, prompt);
  }

  get stopped(): string | undefined {
    return this.#stops.found;
  }

  write(text: string): Event[] {
    return this.#seen(this.#scanner.feed(text));
  }

  end(): Event[] {
    const events = this.stopped === undefined ? this.#seen(this.#scanner.flush()) : [];
    return [...events, ...this.#held()];
  }

  finish(reason: Finish["reason"]): Finish {
    const { stopped } = this;
    return this.#ending.finish({
      type: "finish",
      reason: stopped === undefined ? reason : "stop",
      ...(stopped === undefined ? {} : { stop: stopped }),
    });
  }

  #seen(events: readonly Event[]): Event[] {
    const out: Event[] = [];
    for (const event of events) {
      if (this.stopped !== undefined) break;
      if (event.type === "text") {
        const text = this.#stops.feed(event.text);
        if (text !== "") out.push({ ...event, text });
        continue;
      }
      this.#ending.see(event);
      if (event.type === "thinking-start") this.thinking = true;
      else if (event.type === "thinking-end") this.thinking = false;
      out.push(...this.#held(), event); // a stop string does not reach over a call
    }
    return out;
  }

  #held(): Event[] {
    const text = this.#stops.flush();
    return text === "" ? [] : [{ type: "text", text }];
  }
}
