/** Work that ends with a signal, or with several, and leaves next to nothing on them: a program may give one to all that it ever asks. */

/** Those who wait for a signal have one listener together: Node warns of more than ten, and many calls may run at once. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Answers with the way to take it back. A signal that is aborted already says nothing any more. */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (!signal) return () => {};
  const all = waiting.get(signal) ?? listen(signal);
  all.add(act);
  return () => all.delete(act);
}

function listen(signal: AbortSignal): Set<() => void> {
  const all = new Set<() => void>();
  const actAll = (): void => {
    for (const act of all) act();
  };
  signal.addEventListener("abort", actAll, { once: true });
  waiting.set(signal, all);
  return all;
}

/** Rejects as soon as the signal says so, whatever becomes of the work. */
export async function unlessAborted<T>(signal: AbortSignal | undefined, work: T | Promise<T>): Promise<T> {
  let back = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(signal?.reason);
    back = onAbort(signal, stop);
    if (signal?.aborted) stop();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    back();
  }
}

export interface Bounds {
  readonly signals: readonly (AbortSignal | undefined)[];
  readonly ms?: number | undefined;
}

/** Work with a signal of its own. Not by `AbortSignal.any`, of which Node 20 keeps something for as long as the others live. */
export async function bounded<T>({ signals, ms }: Bounds, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const own = new AbortController();
  const others = signals.filter((signal) => signal !== undefined);
  const end = (): void => own.abort(others.find(({ aborted }) => aborted)?.reason);
  const ways = others.map((other) => onAbort(other, end));
  if (others.some(({ aborted }) => aborted)) end();
  const timer = ms === undefined ? undefined : setTimeout(() => own.abort(new Error(`it was given ${ms / 1000} s`)), ms);
  try {
    return await work(own.signal);
  } finally {
    clearTimeout(timer);
    for (const back of ways) back();
  }
}
