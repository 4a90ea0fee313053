/** Settings of a request that several wires have under other names. */
import type { Sampling } from "../core/nouns.ts";
import { type Field, someOf } from "./read.ts";

/** The numbers that a table names: the API's key, then ours. Of two keys for one setting the last one given counts. */
export function readSampling(field: Field, table: Readonly<Record<string, keyof Sampling>>): Sampling | undefined {
  const sampling: Sampling = {};
  for (const [key, name] of Object.entries(table)) {
    const value = field.at(key).number();
    if (value !== undefined) sampling[name] = value;
  }
  return Object.keys(sampling).length > 0 ? sampling : undefined;
}

/** One string to stop at, or a list of them. */
export function readStop(stop: Field): string[] | undefined {
  if (typeof stop.value === "string") return someOf([stop.value].filter(Boolean));
  return someOf(stop.list().map((item) => item.name()));
}
