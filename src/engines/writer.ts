/** What a model in this process says: its text as events, up to a stop string of the request, and how it ended. */
import type { Event, FinishReason, Request } from "../core/nouns.ts";
import type { Dialect, Prompt, Scanner } from "../dialects/dialect.ts";
import { Ending, mintIds } from "./ending.ts";
import { endsInThinking } from "./inband/request.ts";
import { Stops } from "./stops.ts";

export class Writer {
  readonly #scanner: Scanner;
  readonly #stops: Stops;
  readonly #ending = new Ending();
  readonly #restore: (events: Event[]) => Event[];
  #thinking: boolean;

  /** `restore`: what is done to the scanner's events before anybody looks at them. */
  constructor(dialect: Dialect, request: Request, prompt: Prompt, restore: (events: Event[]) => Event[] = (events) => events) {
    this.#scanner = dialect.createScanner({ prompt, mintId: mintIds(request), tools: request.tools ?? [] });
    this.#stops = new Stops(request.stop);
    this.#restore = restore;
    this.#thinking = endsInThinking(dialect, prompt);
  }

  /** The stop string that ended it. */
  get stopped(): string | undefined {
    return this.#stops.found;
  }

  /** What was written last is thinking. */
  get thinking(): boolean {
    return this.#thinking;
  }

  write(text: string): Event[] {
    return this.#ending.see(this.#read(this.#scanner.feed(text)));
  }

  /** The last events, and what comes between them and the end. */
  end(given: FinishReason, usage: readonly Event[]): Event[] {
    const events = this.stopped === undefined ? this.#read(this.#scanner.flush()) : [];
    const { stopped } = this;
    const reason = stopped === undefined ? given : "stop";
    const last = this.#ending.flush([...events, ...this.#held()], reason);
    return [...last, ...usage, this.#ending.finish({ type: "finish", reason, ...(stopped === undefined ? {} : { stop: stopped }) })];
  }

  #read(scanned: Event[]): Event[] {
    const events: Event[] = [];
    for (const event of this.#restore(scanned)) {
      if (this.stopped !== undefined) break;
      if (event.type === "text") {
        const text = this.#stops.feed(event.text);
        if (text !== "") events.push({ ...event, text });
        continue;
      }
      if (event.type === "thinking-start") this.#thinking = true;
      else if (event.type === "thinking-end") this.#thinking = false;
      events.push(...this.#held(), event); // a stop string does not reach over a call
    }
    return events;
  }

  /** Text that looked like the beginning of a stop string. */
  #held(): Event[] {
    const text = this.#stops.flush();
    return text === "" ? [] : [{ type: "text", text }];
  }
}
