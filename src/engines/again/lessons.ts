/**
 * What a model refuses of a request: a limit that is too high, `temperature`, an old name for the limit, images. It is asked again as it
 * wants it, with a warning for what is lost, and so is whoever comes after, for a while.
 */
import type { ErrorInfo, Request, Sampling, Warning } from "../../core/nouns.ts";
import { intoResults, isAnyBehind, refusesBehind } from "./behind.ts";
import { kindsIn, type MediaKind, refusedMedia, withoutMedia } from "./media.ts";

/** Names come from clients: more are not remembered. */
const MAX_KNOWN = 1000;
/** Models change behind their names, and an error may have meant something else: one refusal in so many milliseconds costs little. */
const KNOWN_MS = 600_000;

/** What was found out about models, by any key, and until when that is believed. */
export class Remembered<T> {
  readonly #known = new Map<string, { value: T; until: number }>();
  readonly #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  get(key: string): T | undefined {
    const known = this.#known.get(key);
    return known && this.#now() < known.until ? known.value : undefined;
  }

  set(key: string, value: T): void {
    if (this.#known.size >= MAX_KNOWN && !this.#known.has(key)) this.#known.clear();
    this.#known.set(key, { value, until: this.#now() + KNOWN_MS });
  }
}

/** A client may try many values. */
const MAX_VALUES = 32;

/** Where one value was refused, another may be taken. */
type Setting = readonly [keyof Sampling, number];

export interface Lesson {
  /** It writes no more than that. */
  readonly maxTokens?: number;
  /** It does not take these values. */
  readonly without?: readonly Setting[];
  /** It does not take media of these kinds. */
  readonly media?: readonly MediaKind[];
  /** Behind a tool's result it takes nobody's words but its own. */
  readonly speaksNext?: true;
  /** It knows the limit only as `max_completion_tokens`. */
  readonly isNewer?: true;
}

/** `is not supported`, `Unknown parameter`, `must be one of`, `Extra inputs`, `does not match any of the expected tags`, `is mandatory`. */
export const REFUSED =
  /\bnot\b|n't\b|\bcannot\b|\bun(?:supported|known|recognized|expected)|invalid|\b(?:must|should) be\b|\bonly\b|\bextra\b|mandatory|deprecated/i;

/** How servers call them; of two that may not stand together the first stays. */
const SETTINGS: readonly (readonly [RegExp, keyof Sampling])[] = [
  [/temperature/i, "temperature"],
  [/\btop_?p\b/i, "topP"],
  [/\btop_?k\b/i, "topK"],
  [/\bmin_?p\b/i, "minP"],
  [/\bseed\b/i, "seed"],
  [/presence_?penalty/i, "presencePenalty"],
  [/frequency_?penalty/i, "frequencyPenalty"],
  [/repe\w+_?penalty/i, "repeatPenalty"],
];

/** `supports at most 16384 completion tokens`, `Expected a value <= 16384`, `range of max_tokens is [1, 8192]`, `> 64000, which is the maximum`, `less than or equal to 8192`. */
const MOST =
  /max_?(?:completion_?|output_?)?tokens.*?(?:at most |<= |\[1, |> (?=\d+, which)|\) to |equal to `?)(?<most>\d+)(?<exclusive> \(exclusive)?/i;

/** `isTranslated`: the settings are not the words of the upstream's own client, who wants them as they are. */
export function lessonOf(error: ErrorInfo, request: Request, isTranslated: boolean): Lesson | undefined {
  const { code, message, param = "" } = error;
  const { maxTokens = 0, sampling = {} } = request;
  const media = isTranslated ? refusedMedia(error, request) : [];
  if (media.length > 0) return { media };
  if (isTranslated && refusesBehind(error, request)) return { speaksNext: true };
  if (code !== "bad-request") return undefined;
  const { most, exclusive } = MOST.exec(message)?.groups ?? {};
  const limit = Number(most) - (exclusive ? 1 : 0);
  if (limit > 0 && limit < maxTokens) return { maxTokens: limit };
  if (maxTokens > 0 && /\bmax_tokens\b.*max_completion_tokens/.test(message)) return { isNewer: true };
  const said = `${param} ${message}`;
  if (!isTranslated || !REFUSED.test(said)) return undefined;
  const named = SETTINGS.flatMap(([word, key]): Setting[] => {
    const value = sampling[key];
    return value !== undefined && word.test(said) ? [[key, value]] : [];
  });
  const without = /\bboth\b/.test(said) ? named.slice(1) : named;
  return without.length > 0 ? { without } : undefined;
}

/** The request as the model takes it. */
export function heeding(
  given: Request,
  { maxTokens, without = [], media = [], speaksNext, isNewer }: Lesson,
): { request: Request; warnings: Warning[] } {
  const request = { ...given };
  const warnings: Warning[] = [];
  if (maxTokens !== undefined && given.maxTokens !== undefined && maxTokens < given.maxTokens) {
    request.maxTokens = maxTokens;
    const message = `the limit of ${given.maxTokens} tokens was lowered to ${maxTokens}: the model writes no more`;
    warnings.push({ code: "max-tokens", message });
  }
  const settings = new Set(without.flatMap(([key, value]) => (given.sampling?.[key] === value ? key : [])));
  const unseen = media.filter((kind) => kindsIn(given).has(kind));
  if (settings.size > 0)
    request.sampling = Object.fromEntries(Object.entries(given.sampling ?? {}).filter(([key]) => !settings.has(key as keyof Sampling)));
  if (unseen.length > 0) request.messages = withoutMedia(given.messages, unseen);
  const refused = [...settings, ...unseen];
  if (refused.length > 0) warnings.push({ code: "dropped", message: `the model refuses ${refused.join(", ")}: it was asked without` });
  if (speaksNext && isAnyBehind(request)) {
    request.messages = intoResults(request.messages);
    const message = "the model takes nothing behind a tool's result: what was said or shown there is told in the result";
    warnings.push({ code: "converted", message });
  }
  if (isNewer && request.maxTokens !== undefined) {
    request.extra = [...(given.extra ?? []), { wire: "openai-chat", kind: "max_completion_tokens", data: request.maxTokens, quiet: true }];
    delete request.maxTokens;
  }
  return { request, warnings };
}

export class Lessons {
  readonly #learnt = new Remembered<Lesson>();

  of(model: string): Lesson | undefined {
    return this.#learnt.get(model);
  }

  /** It answered, once it was heeded. */
  keep(model: string, lesson: Lesson): void {
    this.#learnt.set(model, joined(this.of(model), lesson));
  }
}

export const joined = (known: Lesson = {}, lesson: Lesson = {}): Lesson => ({
  ...known,
  ...lesson,
  without: [...(known.without ?? []), ...(lesson.without ?? [])].slice(-MAX_VALUES),
  media: [...new Set([...(known.media ?? []), ...(lesson.media ?? [])])],
});
