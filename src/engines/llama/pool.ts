/**
 * The sequences of a context, each with the conversation that it evaluated last. The request that has waited longest gets the next free
 * sequence; of several, the one that already holds most of its prompt.
 */
import type { LlamaContextSequence, Token } from "node-llama-cpp";
import { onAbort } from "../bounded.ts";

export interface Seat {
  readonly sequence: LlamaContextSequence;
  /** How many tokens of the prompt the sequence already holds. */
  readonly held: number;
  release(): void;
}

interface Waiter {
  readonly tokens: Token[];
  readonly sit: (seat: Seat) => void;
  readonly leave: (reason: unknown) => void;
}

/** A free sequence, and the length of its last prompt. */
interface Free {
  readonly sequence: LlamaContextSequence;
  readonly prompt: number;
}

export class Pool {
  /** The least recently used first. */
  readonly #free: Free[];
  readonly #waiting: Waiter[] = [];

  constructor(sequences: readonly LlamaContextSequence[]) {
    this.#free = sequences.map((sequence) => ({ sequence, prompt: 0 }));
  }

  /** On abort, rejects with the signal's reason. */
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

  /** Rejects all waiting requests. */
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

/** Most tokens that a prompt may end with only to open the answer; the next prompt of the same conversation may differ there. */
const OPENING = 16;

/**
 * Prefers the sequence of the same conversation. It holds the whole previous prompt, though perhaps little of the answer, which may have
 * been mostly thinking. A conversation that merely begins alike is left alone; then the least recently used sequence is taken.
 */
function best(all: readonly Free[], tokens: Token[]): { free: Free; held: number } {
  const seats = all.map((free) => {
    // The last token must be evaluated in any case, to predict the next one.
    const held = Math.min(free.sequence.compareContextTokens(tokens).firstDifferentIndex, tokens.length - 1);
    return { free, held, isItsOwn: held > free.sequence.nextTokenIndex - held || held >= free.prompt - OPENING };
  });
  return seats.reduce((a, b) => (b.isItsOwn && b.held > a.held ? b : a));
}
