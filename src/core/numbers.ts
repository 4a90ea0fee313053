/**
 * How the numbers of an object or a list were written, where a double cannot hold them or would print them otherwise:
 * `{"id": 1234567890123456789}`. The texts are kept beside the value, which stays plain JSON: a copy has none unless it is given them.
 */
type Texts = ReadonlyMap<string, string>;

const TEXTS = new WeakMap<object, Texts>();

export const keepNumbers = (holder: object, texts: Texts): void => void TEXTS.set(holder, texts);

/** The texts of its numbers by key; the values may have changed since. */
export const numbersOf = (holder: object): Texts | undefined => TEXTS.get(holder);

/** How the number under a key was written, if it would be printed otherwise. */
export function numberText(holder: object, key: string, value: unknown): string | undefined {
  const text = TEXTS.get(holder)?.get(key);
  return Number(text) === value ? text : undefined;
}
