/**
 * The sequences of a context, each with the conversation that it evaluated last. Whoever waits longest gets the next one that is free; of
 * several it gets the one that already holds most of its prompt.
 */
import type { LlamaContextSequence, Token } from "node-llama-cpp";
import { onAbort } from "../bounded.ts";

export interface Seat {
  readonly sequence: LlamaContextSequence;
  /** How many tokens of the prompt the sequence holds already. */
  readonly held: number;
  release(): void;
}

interface Waiter {
  readonly tokens: Token[];
  readonly sit: (seat: Seat) => void;
  readonly leave: (reason: unknown) => void;
}

/** A sequence that nobody uses, and how long the last prompt was that it was given. */
interface Free {
  readonly sequence: LlamaContextSequence;
  readonly prompt: number;
}

export class Pool {
  /** Those used least recently come first. */
  readonly #free: Free[];
  readonly #waiting: Waiter[] = [];

  constructor(sequences: readonly LlamaContextSequence[]) {
    this.#free = sequences.map((sequence) => ({ sequence, prompt: 0 }));
  }

  /** Rejects with the signal's reason. */
  take(tokens: Token[], signal?: AbortSignal): Promise<Seat> {
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        waiter.leave(signal?.reason);
      };
      const settled = <T>(settle: (result: T) => void) => {
        return (result: T): void => {
          forget();
          settle(result);
        };
      };
      const waiter: Waiter = { tokens, sit: settled(resolve), leave: settled(reject) };
      if (signal?.aborted) return reject(signal.reason);
      const forget = onAbort(signal, aborted);
      this.#waiting.push(waiter);
      this.#serve();
    });
  }

  /** Nobody who waits is served any more. */
  close(reason: unknown): void {
    for (const waiter of this.#waiting.splice(0)) waiter.leave(reason);
  }

  #serve(): void {
    while (this.#free.length > 0) {
      const waiter = this.#waiting.shift();
      if (!waiter) return;
      const { free, held } = best(this.#free, waiter.tokens);
      this.#free.splice(this.#free.indexOf(free), 1);
      waiter.sit({
        sequence: free.sequence,
        held,
        release: () => {
          this.#free.push({ sequence: free.sequence, prompt: waiter.tokens.length });
          this.#serve();
        },
      });
    }
  }
}

/** What the end of a prompt may be that only begins the answer: the next prompt of the same conversation has it otherwise. */
const OPENING = 16;

/**
 * Another conversation that merely begins alike is left alone: then the one that was used least recently is given up. The same one has all of
 * the prompt before; it may have much less of the answer, which was mostly thinking.
 */
function best(all: readonly Free[], tokens: Token[]): { free: Free; held: number } {
  const seats = all.map((free) => {
    // The last token is evaluated in any case: it tells what comes next.
    const held = Math.min(free.sequence.compareContextTokens(tokens).firstDifferentIndex, tokens.length - 1);
    return { free, held, isItsOwn: held > free.sequence.nextTokenIndex - held || held >= free.prompt - OPENING };
  });
  return seats.reduce((a, b) => (b.isItsOwn && b.held > a.held ? b : a));
}
