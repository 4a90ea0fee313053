/**
 * Whether a prompt begins like an earlier one. Servers cache what they computed for a prefix; if one byte near the front changes,
 * everything after it is computed again.
 *
 *     { back: 1, shared: 0.08, breaks: { at: "system", character: 41, is: "…cch=1a2b…", was: "…cch=3c4d…" } }
 */
import type { Recording } from "./recording.ts";

export interface Prefix {
  /** How many recordings back the prompt is that this one shares most of; 0: it shares nothing with any. */
  readonly back: number;
  /** The fraction of that prompt with which this one begins. */
  readonly shared: number;
  /** Where the two differ. Absent: this prompt contains the whole earlier one and continues it. */
  readonly breaks?: { readonly at: string; readonly character: number; readonly is: string; readonly was: string };
}

/** The parts of a prompt in the order in which a model reads them, each with its position in the request. */
type Prompt = readonly (readonly [at: string, text: string])[];

const FIELDS = ["tools", "system", "systemInstruction", "instructions", "messages", "contents", "input", "prompt"];

export class Prefixes {
  readonly #seen: Prompt[] = [];

  /** Compares the recording's prompt with those of all recordings added before. */
  add(recording: Recording): Prefix {
    const prompt = promptOf(recording);
    const places = this.#seen.map((earlier, n) => ({ back: this.#seen.length - n, ...compare(earlier, prompt) }));
    this.#seen.push(prompt);
    return places.reduce<Prefix>((best, one) => (one.shared > 0 && one.shared >= best.shared ? one : best), { back: 0, shared: 0 });
  }
}

function promptOf({ upstream }: Recording): Prompt {
  let body: Readonly<Record<string, unknown>>;
  try {
    body = Object(JSON.parse(upstream.at(-1)?.request.body ?? ""));
  } catch {
    return []; // no request was sent, or its body is not JSON
  }
  return FIELDS.flatMap((field): Prompt => {
    const value = body[field];
    if (value === undefined) return [];
    if (field !== "tools" && Array.isArray(value) && typeof value[0] === "object") {
      return value.map((item, i) => [`${field}[${i}]`, JSON.stringify(item)] as const);
    }
    return [[field, textOf(value)]];
  });
}

/** A list is printed without brackets, so that a longer list of tokens begins like a shorter one. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.map((item) => JSON.stringify(item)).join() : JSON.stringify(value);
}

function compare(earlier: Prompt, later: Prompt): Pick<Prefix, "shared" | "breaks"> {
  const total = earlier.reduce((sum, [, text]) => sum + text.length, 0);
  let characters = 0;
  for (const [i, [place, was]] of earlier.entries()) {
    const [at = "the end", is = ""] = later[i] ?? [];
    const character = at === place ? commonLength(was, is) : 0;
    characters += character;
    // The last text may be longer now, as in a prompt for a server that completes text.
    const isWhole = character === was.length && (is.length === was.length || i === earlier.length - 1);
    if (!isWhole) return { shared: characters / total, breaks: { at, character, is: around(is, character), was: around(was, character) } };
  }
  return { shared: total === 0 ? 0 : 1 };
}

function commonLength(one: string, other: string): number {
  const end = Math.min(one.length, other.length);
  let at = 0;
  while (at < end && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}

const BEFORE = 16;
const AFTER = 24;

const around = (text: string, at: number): string =>
  `${at > BEFORE ? "…" : ""}${text.slice(Math.max(0, at - BEFORE), at + AFTER)}${text.length > at + AFTER ? "…" : ""}`;
