/** Checks for single keywords of a JSON Schema: a value's type, format and pattern, and whether two values are equal. */
import { isObject } from "../../core/json.ts";
import type { Json } from "../../core/nouns.ts";

export const TYPES: Readonly<Record<string, (value: Json) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: Array.isArray,
  object: isObject,
};

const matching = (pattern: RegExp) => (text: string) => pattern.test(text);
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number);
  return (
    day !== undefined && day > 0 && day <= new Date(Date.UTC(2000 + (year! % 400), month!, 0)).getUTCDate() && month! > 0 && month! < 13
  );
}

/** The formats that models get wrong; others are not checked. */
export const FORMATS: Readonly<Record<string, { words: string; fits(text: string): boolean }>> = {
  date: { words: "a date like 2026-01-31", fits: isDate },
  time: { words: "a time like 23:59:59Z", fits: matching(TIME) },
  "date-time": {
    words: "a time like 2026-01-31T23:59:59Z",
    fits: (text) => isDate(text.slice(0, 10)) && /^[t\s]$/i.test(text.charAt(10)) && TIME.test(text.slice(11)),
  },
  email: { words: "an e-mail address", fits: matching(/^([^\s@]+|".*")@[^\s@]+$/) },
  uri: { words: "a URL", fits: (text) => /^[a-z][a-z\d+.-]*:\S+$/i.test(text) },
  uuid: { words: "a UUID", fits: matching(/^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i) },
  ipv4: { words: "an IPv4 address", fits: matching(/^((25[0-5]|2[0-4]\d|1?\d?\d)(\.|$)){4}(?<!\.)$/) },
};

/** Equal for equal values, whatever the order of their keys. */
export const textOf = (json: Json): string =>
  JSON.stringify(json, (_, value: Json) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  );

/** A cache, so that a pattern is compiled once for all items of a list. */
const patterns = new Map<string, RegExp | undefined>();
const MAX_PATTERNS = 256;

/** `undefined`: not a regular expression. */
export function patternOf(source: Json): RegExp | undefined {
  if (typeof source !== "string") return undefined;
  if (!patterns.has(source)) {
    if (patterns.size >= MAX_PATTERNS) patterns.clear();
    patterns.set(source, regExpOf(source, "u") ?? regExpOf(source));
  }
  return patterns.get(source);
}

function regExpOf(source: string, flags?: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined; // some patterns are valid only with the `u` flag, some only without
  }
}
