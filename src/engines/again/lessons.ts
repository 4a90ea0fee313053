/**
 * What a model refuses of a request: a limit that is too high, `temperature`, an old name for the limit, images. It is asked again as it
 * wants it, with a warning for what is lost, and so is whoever comes after, for a while.
 */
import type { ErrorInfo, Message, Part, Request, Sampling, Warning } from "../../core/nouns.ts";
import { withInstruction } from "../../wires/adapt-messages.ts";
import { ownState } from "../../wires/opaque.ts";
import { WIRE as CHAT, UNCOUNTED } from "../../wires/openai-chat/tables.ts";
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
  /** It writes no more than that, and takes no limit below the other. */
  readonly maxTokens?: number | undefined;
  readonly minTokens?: number | undefined;
  /** It does not take these values. */
  readonly without?: readonly Setting[];
  /** It does not take media of these kinds. */
  readonly media?: readonly MediaKind[];
  /** It wants thinking with every call. */
  readonly isThoughtful?: true;
  /** It shows nobody how it thinks. */
  readonly isSilent?: true;
  /** It is held to no format where it has tools. */
  readonly isFree?: true;
  /** Behind a tool's result it takes nobody's words but its own. */
  readonly speaksNext?: true;
  /** It knows the limit only as `max_completion_tokens`. */
  readonly isNewer?: true | undefined;
  /** It does not know `stream_options`. */
  readonly isUncounted?: true | undefined;
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

/** `integer below minimum value. Expected a value >= 16`. */
const LEAST = /max_?(?:completion_?|output_?)?tokens.*?(?:>= |at least )(?<least>\d+)/i;
/** DeepSeek's and Kimi's: `reasoning_content in the thinking mode must be passed back`, `reasoning_content is missing in assistant tool call message`. */
const THOUGHTS = /reasoning_content.*(?:passed back|missing)/i;
/** `Your organization must be verified to generate reasoning summaries`. */
const SUMMARY = /reasoning.summar/i;
/** `Function calling with a response mime type: 'application/json' is unsupported`, `json mode cannot be combined with tool/function calling`. */
const FORMAT = /response.?(?:mime.?type|format)|json mode/i;
/** What nobody but us asks for. */
const STREAM_OPTIONS = "stream_options";

/** `isTranslated`: the settings are not the words of the upstream's own client, who wants them as they are. */
export function lessonOf(error: ErrorInfo, request: Request, isTranslated: boolean): Lesson | undefined {
  const { code, message, param = "" } = error;
  const { messages, maxTokens = 0, sampling = {}, thinking, extra = [] } = request;
  const media = isTranslated ? refusedMedia(error, request) : [];
  if (media.length > 0) return { media };
  if (isTranslated && refusesBehind(error, request)) return { speaksNext: true };
  if (code !== "bad-request") return undefined;
  const { most, exclusive } = MOST.exec(message)?.groups ?? {};
  const limit = Number(most) - (exclusive ? 1 : 0);
  if (limit > 0 && limit < maxTokens) return { maxTokens: limit };
  const minTokens = Number(LEAST.exec(message)?.groups?.least);
  if (maxTokens > 0 && minTokens > maxTokens) return { minTokens };
  if (maxTokens > 0 && /\bmax_tokens\b.*max_completion_tokens/.test(message)) return { isNewer: true };
  const said = `${param} ${message}`;
  if (isTranslated && THOUGHTS.test(said) && messages.some(isThoughtless)) return { isThoughtful: true };
  if (!REFUSED.test(said)) return undefined;
  if (request.stream && said.includes(STREAM_OPTIONS) && !ownState(CHAT, extra, STREAM_OPTIONS)) return { isUncounted: true };
  if (!isTranslated) return undefined;
  if (thinking && thinking.show !== false && SUMMARY.test(said)) return { isSilent: true };
  if (isFormatted(request) && FORMAT.test(said) && /tool|function/i.test(said)) return { isFree: true };
  const named = SETTINGS.flatMap(([word, key]): Setting[] => {
    const value = sampling[key];
    return value !== undefined && word.test(said) ? [[key, value]] : [];
  });
  const without = /\bboth\b/.test(said) ? named.slice(1) : named;
  return without.length > 0 ? { without } : undefined;
}

/** Another model made its calls, or this one made them without a thought. */
const isThoughtless = (message: Message): message is Message & { role: "assistant" } =>
  message.role === "assistant" &&
  message.content.some(({ type }) => type === "tool-call") &&
  !message.content.some((part) => part.type === "thinking" && part.text !== "");

const isFormatted = ({ output, tools = [] }: Request): boolean => output !== undefined && tools.length > 0;

/** The request as the model takes it. */
export function heeding(
  given: Request,
  { maxTokens, minTokens = 0, without = [], media = [], isThoughtful, isSilent, isFree, speaksNext, isNewer, isUncounted }: Lesson,
): { request: Request; warnings: Warning[] } {
  const request = { ...given };
  const warnings: Warning[] = [];
  if (given.maxTokens !== undefined) {
    const limit = Math.max(Math.min(given.maxTokens, maxTokens ?? given.maxTokens), minTokens);
    const how = limit < given.maxTokens ? `lowered to ${limit}: the model writes no more` : `raised to ${limit}: the model takes no less`;
    if (limit !== given.maxTokens) warnings.push({ code: "max-tokens", message: `the limit of ${given.maxTokens} tokens was ${how}` });
    request.maxTokens = limit;
  }
  if (isSilent && given.thinking) request.thinking = { ...given.thinking, show: false };
  const settings = new Set(without.flatMap(([key, value]) => (given.sampling?.[key] === value ? key : [])));
  const unseen = media.filter((kind) => kindsIn(given).has(kind));
  if (settings.size > 0)
    request.sampling = Object.fromEntries(Object.entries(given.sampling ?? {}).filter(([key]) => !settings.has(key as keyof Sampling)));
  if (unseen.length > 0) request.messages = withoutMedia(given.messages, unseen);
  if (isThoughtful && given.messages.some(isThoughtless)) {
    const thought: Part = { type: "thinking", text: "." };
    request.messages = request.messages.map((message) =>
      isThoughtless(message) ? { ...message, content: [thought, ...message.content] } : message,
    );
    warnings.push({ code: "thinking", message: "the model wants thinking with every call: a dot stands for what is not there" });
  }
  if (isFree && isFormatted(given)) {
    const form = given.output?.schema ? `JSON that fits this schema: ${JSON.stringify(given.output.schema)}` : "JSON.";
    request.messages = withInstruction(request.messages, `When no tool is left to call, answer with nothing but ${form}`);
    delete request.output;
    warnings.push({ code: "not-enforced", message: "the format of the answer is not enforced: the model takes none beside tools" });
  }
  const refused = [...settings, ...unseen];
  if (refused.length > 0) warnings.push({ code: "dropped", message: `the model refuses ${refused.join(", ")}: it was asked without` });
  if (speaksNext && isAnyBehind(request)) {
    request.messages = intoResults(request.messages);
    const message = "the model takes nothing behind a tool's result: what was said or shown there is told in the result";
    warnings.push({ code: "converted", message });
  }
  if (isNewer && request.maxTokens !== undefined) {
    request.extra = [...(given.extra ?? []), { wire: CHAT, kind: "max_completion_tokens", data: request.maxTokens, quiet: true }];
    delete request.maxTokens;
  }
  if (isUncounted && request.stream) {
    request.extra = [...(request.extra ?? []), { wire: CHAT, kind: UNCOUNTED, data: true, quiet: true }];
    warnings.push({ code: "dropped", message: `the server refuses ${STREAM_OPTIONS}: it was not asked for the usage` });
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
