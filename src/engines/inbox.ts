/** A queue between a source that pushes items and a consumer that takes them one by one. A slow consumer pauses the source. */

export interface Source {
  /** Called with the first `next()`. */
  start?(): void;
  pause(): void;
  resume(): void;
  /** The consumer does not want the rest. */
  stop(): void;
}

/** With more items than this in the queue, the source is paused. */
const FULL = 256;

type Step<T> = IteratorResult<T, undefined>;
const OVER: Step<never> = { value: undefined, done: true };

export class Inbox<T> implements AsyncIterableIterator<T, undefined> {
  readonly #source: Source;
  #queue: T[] = [];
  #taken = 0;
  #waiting: { resolve(step: Step<T>): void; reject(error: unknown): void } | undefined;
  #started = false;
  #paused = false;
  #over = false;
  #problem: { error: unknown } | undefined;

  constructor(source: Source) {
    this.#source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  // ---- For the source

  push(item: T): void {
    if (this.#over) return;
    if (this.#waiting) {
      this.#waiting.resolve({ value: item, done: false });
      this.#waiting = undefined;
      return;
    }
    this.#queue.push(item);
    if (this.#paused || this.#queue.length <= FULL) return;
    this.#paused = true;
    this.#source.pause();
  }

  /** No more items will come; those in the queue can still be taken. */
  end(problem?: { error: unknown }): void {
    if (this.#over) return;
    this.#over = true;
    this.#problem = problem;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) this.#last().then(waiting.resolve, waiting.reject);
  }

  // ---- For the consumer

  next(): Promise<Step<T>> {
    if (this.#taken < this.#queue.length) {
      const value = this.#queue[this.#taken++]!;
      if (this.#taken === this.#queue.length) this.#emptied();
      return Promise.resolve({ value, done: false });
    }
    if (this.#over) return this.#last();
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.#started) return;
      this.#started = true;
      this.#source.start?.();
    });
  }

  return(): Promise<Step<T>> {
    if (this.#over) this.#emptied();
    else {
      this.end();
      this.#source.stop();
    }
    this.#queue = [];
    this.#taken = 0;
    return Promise.resolve(OVER);
  }

  #last(): Promise<Step<T>> {
    const problem = this.#problem;
    this.#problem = undefined;
    return problem ? Promise.reject(problem.error) : Promise.resolve(OVER);
  }

  /** Resumes a paused source, even after its last item: it would keep its connection. */
  #emptied(): void {
    this.#queue = [];
    this.#taken = 0;
    if (!this.#paused) return;
    this.#paused = false;
    this.#source.resume();
  }
}
