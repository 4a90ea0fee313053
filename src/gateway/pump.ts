/** Gives an engine that only has `generate` the interface of `tell`: its events are pushed to `hear`. */
import { CUT_OFF } from "../core/errors.ts";
import type { Event } from "../core/nouns.ts";
import type { Hear, Telling } from "../engines/engine.ts";
import { failed } from "../engines/finish.ts";

export class Pump implements Telling {
  readonly #controller = new AbortController();
  #held: Promise<void> | undefined;
  #release: (() => void) | undefined;

  /** `broke` is called if the engine throws, which no engine should; after `stop`, it does not matter any more. */
  constructor(generate: (signal: AbortSignal) => AsyncIterable<Event>, hear: Hear, broke: (error: unknown) => void) {
    this.#run(generate, hear).catch((error: unknown) => this.#controller.signal.aborted || broke(error));
  }

  pause(): void {
    this.#held ??= new Promise((resolve) => {
      this.#release = resolve;
    });
  }
  resume(): void {
    this.#held = undefined;
    this.#release?.();
  }
  stop(): void {
    this.#controller.abort();
    this.#release?.();
  }

  async #run(generate: (signal: AbortSignal) => AsyncIterable<Event>, hear: Hear): Promise<void> {
    const { signal } = this.#controller;
    for await (const event of generate(signal)) {
      if (signal.aborted) return;
      hear([event]);
      if (this.#held) await this.#held;
    }
    if (!signal.aborted) hear([failed(CUT_OFF)]); // for an engine without `finish`; after one, `hear` ignores this
  }
}
