/**
 * Limits how many answers an engine gives at a time. Further requests wait in a queue; if it is full, or the wait too long, a request
 * fails as `overloaded`, with a time to retry after.
 */
import type { Event } from "../core/nouns.ts";
import { around } from "./around.ts";
import { onAbort } from "./bounded.ts";
import type { Engine } from "./engine.ts";
import { EngineError } from "./error.ts";
import { ABORTED, closing } from "./finish.ts";

export interface Limits {
  /** How many answers at a time. */
  concurrent: number;
  /** How many requests may wait. */
  queue?: number | undefined;
  /** How long a request may wait, in milliseconds. */
  waitMs?: number | undefined;
}

const QUEUE = 100;
/** Short enough that a client that does not stream still gets the error as a status. */
const WAIT_MS = 45_000;
/** A guess at when a place will be free. */
const RETRY_MS = 5_000;

export const createLimited = (engine: Engine, limits: Limits): Engine => behind(new Gate(limits), engine);

function behind(gate: Gate, engine: Engine): Engine {
  return around(engine, {
    // The same server in another dialect shares its places.
    ...(engine.speaking ? { speaking: (dialect) => behind(gate, engine.speaking!(dialect)) } : {}),
    generate: (request, options = {}) =>
      closing(options.signal, async function* (): AsyncGenerator<Event[], void, undefined> {
        const leave = await gate.enter(options.signal);
        try {
          for await (const event of engine.generate(request, options)) yield [event];
        } finally {
          leave();
        }
      }),
  });
}

class Gate {
  readonly #concurrent: number;
  readonly #queue: number;
  readonly #waitMs: number;
  #inside = 0;
  /** The waiting requests, the oldest first. */
  readonly #line = new Set<() => void>();

  constructor({ concurrent, queue = QUEUE, waitMs = WAIT_MS }: Limits) {
    this.#concurrent = concurrent;
    this.#queue = queue;
    this.#waitMs = waitMs;
  }

  /** Returns the function that leaves. Throws if there is no place. */
  async enter(signal: AbortSignal | undefined): Promise<() => void> {
    if (this.#inside < this.#concurrent) this.#inside++;
    else if (this.#line.size >= this.#queue) throw this.#full(`are taken, and ${this.#line.size} requests wait`);
    else await this.#wait(signal);
    let left = false;
    return () => {
      if (!left) this.#leave();
      left = true;
    };
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const over = (): void => {
        clearTimeout(timer);
        forget();
        this.#line.delete(called);
      };
      const called = (): void => {
        over();
        resolve();
      };
      const gone = (): void => {
        over();
        reject(new EngineError(ABORTED));
      };
      const timer = setTimeout(() => {
        over();
        reject(this.#full(`were taken for ${this.#waitMs / 1000} s`));
      }, this.#waitMs);
      const forget = onAbort(signal, gone);
      this.#line.add(called);
    });
  }

  /** Gives the place to the first in line, or frees it. */
  #leave(): void {
    const [next] = this.#line;
    if (next) next();
    else this.#inside--;
  }

  #full(what: string): EngineError {
    const message = `overloaded: all ${this.#concurrent} places of the upstream ${what}`;
    return new EngineError({ code: "overloaded", message, retryAfterMs: RETRY_MS });
  }
}
