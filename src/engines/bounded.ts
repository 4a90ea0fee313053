/**
 * Work with a signal of its own, which aborts with others, or after some time. Not by `AbortSignal.any`: of every signal that is made so,
 * Node 20 keeps something for as long as the others live, and a program may give one signal to all that it ever asks.
 */
export interface Bounds {
  readonly signals: readonly (AbortSignal | undefined)[];
  readonly ms?: number | undefined;
}

export async function bounded<T>({ signals, ms }: Bounds, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const own = new AbortController();
  const others = signals.filter((signal) => signal !== undefined);
  const end = (): void => own.abort(others.find(({ aborted }) => aborted)?.reason);
  for (const other of others) other.addEventListener("abort", end);
  if (others.some(({ aborted }) => aborted)) end();
  const timer = ms === undefined ? undefined : setTimeout(() => own.abort(new Error(`it was given ${ms / 1000} s`)), ms);
  try {
    return await work(own.signal);
  } finally {
    clearTimeout(timer);
    for (const other of others) other.removeEventListener("abort", end);
  }
}
