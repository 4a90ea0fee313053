/** What was read before: clients say the same few things again and again. */

const MAX_ENTRIES = 256;
const MAX_CHARS = 512;

/** A function of a short text, which remembers its answers, but for those that shall be forgotten. Whoever floods it only empties it. */
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
