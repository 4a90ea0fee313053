/** Caches for text that clients send again and again, such as URLs and host names. */

const MAX_ENTRIES = 256;
const MAX_CHARS = 512;

/** Caches the results of `answer` for short texts, if `keeps` agrees. A full cache is emptied, so flooding it does no harm. */
export function remembering<T>(answer: (text: string) => T, keeps = (value: T): boolean => value !== undefined): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const value = answer(text);
    if (known.size >= MAX_ENTRIES) known.clear();
    if (text.length <= MAX_CHARS && keeps(value)) known.set(text, value);
    return value;
  };
}
