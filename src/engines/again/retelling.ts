/** Sends a request until the model accepts it or nothing is left to try. The listener hears only the last answer. */
import type { Event, Request } from "../../core/nouns.ts";
import type { Answer, GenerateOptions, Hear, Telling } from "../engine.ts";
import type { Again } from "./again.ts";

export type Tell = (request: Request, options: GenerateOptions, hear: Hear) => Telling;

export class Retelling implements Telling {
  readonly #again: Again;
  readonly #tell: Tell;
  readonly #options: GenerateOptions;
  readonly #onAnswer: GenerateOptions["onAnswer"];
  readonly #hear: Hear;
  #telling: Telling | undefined;
  #asked = 0;
  /** A refusal that was not reported to `onAnswer` yet. */
  #refusal: Answer | undefined;
  #begun = false;

  constructor(again: Again, tell: Tell, options: GenerateOptions, hear: Hear) {
    this.#again = again;
    this.#tell = tell;
    this.#options = { ...options, onAnswer: (answer) => this.#answered(answer) };
    this.#onAnswer = options.onAnswer;
    this.#hear = hear;
    this.#ask();
  }

  pause(): void {
    this.#telling?.pause();
  }
  resume(): void {
    this.#telling?.resume();
  }
  stop(): void {
    this.#begun = true;
    this.#telling?.stop();
  }

  #ask(): void {
    const asked = ++this.#asked;
    this.#refusal = undefined;
    const telling = this.#tell(this.#again.request, this.#options, (events) => {
      if (this.#begun || this.#isFinal(events)) this.#hear(events);
      else this.#ask();
    });
    if (asked === this.#asked) this.#telling = telling; // otherwise it was refused within `#tell`, and a newer one is running
  }

  #answered(answer: Answer): void {
    if (answer.ok) this.#onAnswer?.(answer);
    else this.#refusal = answer;
  }

  /** Whether the listener gets this answer; its first event decides. */
  #isFinal([first]: readonly Event[]): boolean {
    const error = first?.type === "finish" ? first.error : undefined;
    if (error && this.#again.refused(error)) return false;
    this.#begun = true;
    if (!error) this.#again.took();
    if (this.#refusal) this.#onAnswer?.(this.#refusal);
    return true;
  }
}
