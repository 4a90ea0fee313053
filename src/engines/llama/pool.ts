/**
 * The sequences of a context, each with the conversation that it evaluated last. Whoever waits longest gets the next one that is free; of
 * several it gets the one that already holds most of its prompt.
 */
import type { LlamaContextSequence, Token } from "node-llama-cpp";

export interface Seat {
  readonly sequence: LlamaContextSequence;
  /** How many tokens of the prompt the sequence holds already. */
  readonly held: number;
  release(): void;
}

interface Waiter {
  readonly tokens: Token[];
  readonly sit: (seat: Seat) => void;
}

export class Pool {
  /** Those used least recently come first. */
  readonly #free: LlamaContextSequence[];
  readonly #waiting: Waiter[] = [];

  constructor(sequences: readonly LlamaContextSequence[]) {
    this.#free = [...sequences];
  }

  /** Rejects with the signal's reason. */
  take(tokens: Token[], signal?: AbortSignal): Promise<Seat> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        tokens,
        sit: (seat) => {
          signal?.removeEventListener("abort", leave);
          resolve(seat);
        },
      };
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting.push(waiter);
      this.#serve();
    });
  }

  #serve(): void {
    while (this.#free.length > 0) {
      const waiter = this.#waiting.shift();
      if (!waiter) return;
      const { sequence, held } = best(this.#free, waiter.tokens);
      this.#free.splice(this.#free.indexOf(sequence), 1);
      waiter.sit({
        sequence,
        held,
        release: () => {
          this.#free.push(sequence);
          this.#serve();
        },
      });
    }
  }
}

/** Another conversation that merely begins alike is left alone: then the one that was used least recently is given up. */
function best(free: readonly LlamaContextSequence[], tokens: Token[]): { sequence: LlamaContextSequence; held: number } {
  const seats = free.map((sequence) => {
    // The last token is evaluated in any case: it tells what comes next.
    const held = Math.min(sequence.compareContextTokens(tokens).firstDifferentIndex, tokens.length - 1);
    return { sequence, held, lost: sequence.nextTokenIndex - held };
  });
  return seats.reduce((a, b) => (b.held > b.lost && b.held > a.held ? b : a));
}
