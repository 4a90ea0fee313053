/**
 * How the numbers of an object or a list were written, where a double cannot hold them or would print them otherwise:
 * `{"id": 1234567890123456789}`. It is known beside the value, which stays plain JSON: a copy of it knows nothing unless it is told.
 */
import type { Json } from "./nouns.ts";

type Holder = { readonly [key: string]: Json } | readonly Json[];

const TEXTS = new WeakMap<object, ReadonlyMap<string, string>>();

export const keepNumbers = (holder: Holder, texts: ReadonlyMap<string, string>): void => void TEXTS.set(holder, texts);

/** The texts of its numbers by their keys, without those that were replaced since; `undefined`: there are none. */
export function numbersOf(holder: Holder): ReadonlyMap<string, string> | undefined {
  const texts = TEXTS.get(holder);
  return texts && new Map([...texts].filter(([key, text]) => (holder as { readonly [key: string]: Json })[key] === Number(text)));
}
