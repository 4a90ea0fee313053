/**
 * Work that abort signals or a timeout can end. It leaves almost nothing behind on a signal, since a program may use one for all its
 * requests.
 */

/** All waiters share one listener per signal: Node warns about more than ten, and many calls may run at once. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Returns a function that unregisters `act`. A signal that was aborted before does not call it. */
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

/** Rejects as soon as the signal aborts, even if the work goes on. */
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

/** Gives the work a signal of its own. Not with `AbortSignal.any`: Node 20 keeps memory for each one as long as its sources live. */
export async function bounded<T>({ signals, ms }: Bounds, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const own = new AbortController();
  const others = signals.filter((signal) => signal !== undefined);
  const end = (): void => own.abort(others.find(({ aborted }) => aborted)?.reason);
  const ways = others.map((other) => onAbort(other, end));
  if (others.some(({ aborted }) => aborted)) end();
  const timer = ms === undefined ? undefined : setTimeout(() => own.abort(new Error(`it took longer than ${ms / 1000} s`)), ms);
  try {
    return await work(own.signal);
  } finally {
    clearTimeout(timer);
    for (const back of ways) back();
  }
}
