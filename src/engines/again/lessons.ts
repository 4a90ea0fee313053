/**
 * What a model refuses in a request: a token limit that is too high, `temperature`, an old name for the limit, images. The request is
 * changed and sent again, with a warning for what is lost; for a while, later requests are changed beforehand. Each lesson is a row of
 * `ROWS`.
 */
import type { ErrorInfo, Message, Part, Request, Sampling, Warning } from "../../core/nouns.ts";
import { isForced } from "../../wires/adapt.ts";
import { withInstruction } from "../../wires/adapt-messages.ts";
import { namedBy } from "../../wires/bridge.ts";
import { callIds, saidIn } from "../../wires/calls.ts";
import { ownState } from "../../wires/opaque.ts";
import { WIRE as CHAT, NEWER, UNCOUNTED } from "../../wires/openai-chat/tables.ts";
import { intoResults, isAnyBehind, refusesBehind } from "./behind.ts";
import { hasOtherIds, refusesIds, withItsIds } from "./ids.ts";
import { kindsIn, type MediaKind, refusedMedia, withoutMedia } from "./media.ts";

/** A setting with the value that was refused: another value may be accepted. */
type Setting = readonly [keyof Sampling, number];

/** Everything that can be learnt about a model or its server. */
interface Teachings {
  /** It accepts no media of these kinds. */
  media: readonly MediaKind[];
  /** After a tool result it accepts only a message of the model. */
  speaksNext: true;
  /** It accepts call ids only in its own form. */
  ownIds: true;
  /** The highest token limit it accepts. */
  maxTokens: number;
  /** The lowest token limit it accepts. */
  minTokens: number;
  /** How many stop strings it accepts. */
  stops: number;
  /** It knows the token limit only as `max_completion_tokens`. */
  isNewer: true;
  /** It demands thinking in every message that has calls. */
  isThoughtful: true;
  /** It accepts no thinking from earlier turns. */
  isForgetful: true;
  /** It demands text in every message that has calls, even if it is empty. */
  isWordy: true;
  /** It does not know `stream_options`. */
  isUncounted: true;
  /** It does not show its thinking. */
  isSilent: true;
  /** It accepts no output format together with tools. */
  isFree: true;
  /** `json`: it accepts no schema, or JSON output only where the messages contain the word "json". `none`: it accepts no output format. */
  formats: "json" | "none";
  /** It cannot be forced to call a tool. */
  isUnforced: true;
  /** It does not know `parallel_tool_calls`. */
  isUnnumbered: true;
  /** It accepts no schema for a tool's response. */
  isIncurious: true;
  /** It enforces strict schemas only if together they are shorter than this many characters of JSON. */
  strictly: number;
  /** It refuses these values. */
  without: readonly Setting[];
}
export type Lesson = Readonly<Partial<Teachings>>;

/** `said`: the error's `param` and its message. */
interface Refusal {
  readonly error: ErrorInfo;
  readonly said: string;
}

interface Heeded {
  readonly request: Request;
  /** What is lost. */
  readonly warning?: Warning;
}

interface Row<T> {
  /**
   * Applies even to a client of the server's own wire; any other setting of such a client is left alone, and the client gets the refusal.
   */
  readonly isOurs?: true;
  /** What this refusal of the request teaches, if anything. */
  readonly learn: (refusal: Refusal, request: Request) => T | undefined;
  /** What to send instead; `undefined`: the request is not affected. */
  readonly heed: (request: Request, taught: T) => Heeded | undefined;
}

/** `is not supported`, `Unknown parameter`, `must be one of`, `Extra inputs`, `does not match any of the expected tags`, `is mandatory`. */
export const REFUSED =
  /\bnot\b|n't\b|\bcannot\b|\bun(?:supported|known|recognized|expected|available)|invalid|\b(?:must|should) be\b|\bonly\b|\bextra\b|mandatory|deprecated/i;

/** How servers name the settings. If two exclude each other, the first in this list is kept. */
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

/**
 * `supports at most 16384 completion tokens`, `Expected a value <= 16384`, `range of max_tokens is [1, 8192]`, `> 64000, which is the
 * maximum`, `less than or equal to 8192`, vLLM's `cannot be greater than max_model_len=max_total_tokens=8192`.
 */
const MOST =
  /max_?(?:completion_?|output_?)?tokens.*?(?:at most |<= |\[1, |> (?=\d+, which)|\) to |equal to `?|greater than [\w=]+=)(?<most>\d+)(?<exclusive> \(exclusive)?/i;

/** `integer below minimum value. Expected a value >= 16`. */
const LEAST = /max_?(?:completion_?|output_?)?tokens.*?(?:>= |at least )(?<least>\d+)/i;
/**
 * `'stop': List should have at most 4 items`, `'stop': array too long. Expected an array with maximum length 4`, `'stop' : maximum number
 * of items is 4`.
 */
const STOPS = /\bstop(?:_?sequences)?\b.{0,300}?(?:at most|maximum (?:length|number of items is)|up to) (?<most>\d+)/is;
const OLD_NAME = /\bmax_tokens\b.*max_completion_tokens/;
/**
 * DeepSeek and Kimi: `reasoning_content in the thinking mode must be passed back`, `reasoning_content is missing in assistant tool call
 * message`, `Missing reasoning_content field`.
 */
const THOUGHTS = /reasoning_content.*(?:passed back|missing)|missing reasoning_content/i;
/**
 * Groq and Cerebras: `property 'messages.2.assistant.reasoning_content' is unsupported`; Mistral:
 * `body.messages.1.assistant.reasoning_content: Extra inputs`.
 */
const THOUGHT_BEFORE = /\breasoning_(?:content|details)\b|\bmessages\b\S*\.reasoning\b|property '\S*reasoning'/i;
/** Ollama: `invalid message content type: <nil>`; LM Studio: `'content' field must be a string`. */
const NO_WORDS = /content type: <nil>|'content' field must be a string/i;
/** Sent by this library on its own account, unless the client set it. */
const STREAM_OPTIONS = "stream_options";
/** `Your organization must be verified to generate reasoning summaries`. */
const SUMMARY = /reasoning.summar/i;
/**
 * `Function calling with a response mime type: 'application/json' is unsupported`, `json mode cannot be combined with tool/function
 * calling`.
 */
const FORMAT = /response.?(?:mime.?type|format)|json mode/i;

/**
 * DeepSeek: `This response_format type is unavailable now`; Groq: `does not support response format`; LM Studio: `'response_format.type'
 * must be 'json_schema'`.
 */
const FORMLESS =
  /^(?:.*response.?format.*(?:unavailable|support|must be)|.*support.*(?:response.?format|json_schema|json_object|structured output))/is;
/** The fault is in this request's schema. Groq: `invalid JSON schema for response_format: 'x'`. */
const OF_SCHEMA = /invalid (?:json )?schema/i;
/** Qwen: `'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'`. */
const WORDLESS = /\bword\W+json\b/i;
/** Qwen and DeepSeek: `The tool_choice parameter does not support being set to required or object in thinking mode`. */
const FORCED = /tool_?choice/i;
const PARALLEL = /parallel_tool_(?:calls|use)/;

/**
 * Mistral and OpenAI: `body.tools.0.function.response: Extra inputs are not permitted`, `Unknown parameter: 'tools[0].function.response'`.
 */
const RESPONSE = /\bfunction\b\W*(?:property\W*)?response\b/;

/**
 * Anthropic: `Too many strict tools (21)`, `too many parameters with union types`, `too many optional parameters`, `Schema is too complex
 * for compilation`.
 */
const STRICT = /too many (?:strict tools|(?:optional )?parameters)|too complex for compilation/i;

/** The lessons, in the order in which they are recognized and applied. */
const ROWS: { readonly [K in keyof Teachings]: Row<Teachings[K]> } = {
  media: {
    learn: ({ error }, request) => some(refusedMedia(error, request)),
    heed: (request, kinds) => {
      const unseen = kinds.filter((kind) => kindsIn(request).has(kind));
      if (unseen.length > 0) return { request: { ...request, messages: withoutMedia(request.messages, unseen) }, warning: dropped(unseen) };
    },
  },
  speaksNext: {
    learn: ({ error }, request) => refusesBehind(error, request) || undefined,
    heed: (request) => {
      const message = "the model takes nothing after a tool's result: what was said or shown there is told in the result";
      if (isAnyBehind(request))
        return { request: { ...request, messages: intoResults(request.messages) }, warning: { code: "converted", message } };
    },
  },
  ownIds: {
    learn: ({ error }, request) => refusesIds(error, request) || undefined,
    heed: (request) => (hasOtherIds(request) ? { request: { ...request, messages: withItsIds(request.messages) } } : undefined),
  },
  maxTokens: {
    isOurs: true,
    learn: ({ error }, { maxTokens = 0 }) => {
      const { most, exclusive } = (isBad(error) && MOST.exec(error.message)?.groups) || {};
      const limit = Number(most) - (exclusive ? 1 : 0);
      return limit > 0 && limit < maxTokens ? limit : undefined;
    },
    heed: (request, most) => limited(request, Math.min(request.maxTokens ?? most, most), "lowered", "the model writes no more"),
  },
  minTokens: {
    isOurs: true,
    learn: ({ error }, { maxTokens = 0 }) => {
      const least = Number(isBad(error) && LEAST.exec(error.message)?.groups?.least);
      return maxTokens > 0 && least > maxTokens ? least : undefined;
    },
    heed: (request, least) => limited(request, Math.max(request.maxTokens ?? least, least), "raised", "the model takes no less"),
  },
  stops: {
    learn: ({ error, said }, { stop = [] }) => {
      const most = Number(isBad(error) && STOPS.exec(said)?.groups?.most);
      return most > 0 && most < stop.length ? most : undefined;
    },
    heed: (request, most) => {
      const { stop = [] } = request;
      if (stop.length > most)
        return { request: { ...request, stop: stop.slice(0, most) }, warning: dropped([`every stop string after the first ${most}`]) };
    },
  },
  isNewer: {
    isOurs: true,
    learn: ({ error }, { maxTokens = 0, extra }) =>
      (isBad(error) && maxTokens > 0 && !ownState(CHAT, extra, NEWER) && OLD_NAME.test(error.message)) || undefined,
    // Only marked: the limit stays where it is, since the model may refuse its value, too.
    heed: (request) => (request.maxTokens === undefined ? undefined : { request: withExtra(request, NEWER) }),
  },
  isThoughtful: {
    learn: ({ error, said }, { messages }) => (isBad(error) && THOUGHTS.test(said) && messages.some(isThoughtless)) || undefined,
    heed: (request) => {
      if (!request.messages.some(isThoughtless)) return;
      const thought: Part = { type: "thinking", text: "." };
      const messages = request.messages.map((message) =>
        isThoughtless(message) ? { ...message, content: [thought, ...message.content] } : message,
      );
      const message = "the model wants thinking with every call: a dot stands for what is not there";
      return { request: { ...request, messages }, warning: { code: "thinking", message } };
    },
  },
  isForgetful: {
    learn: (refusal, request) =>
      (isThinking(request) && THOUGHT_BEFORE.test(refusal.said) && !THOUGHTS.test(refusal.said) && isRefused(refusal)) || undefined,
    heed: (request) => {
      if (!isThinking(request)) return;
      const messages = request.messages.map((message) => withParts(message, (parts) => parts.filter(({ type }) => type !== "thinking")));
      return { request: { ...request, messages }, warning: dropped(["thinking of before"]) };
    },
  },
  isWordy: {
    learn: ({ error, said }, { messages }) => (isBad(error) && NO_WORDS.test(said) && messages.some(isWordless)) || undefined,
    heed: (request) => {
      if (!request.messages.some(isWordless)) return;
      const none: Part = { type: "text", text: "" };
      return {
        request: {
          ...request,
          messages: request.messages.map((one) => (isWordless(one) ? withParts(one, (parts) => [none, ...parts]) : one)),
        },
      };
    },
  },
  isUncounted: {
    isOurs: true,
    learn: (refusal, { stream, extra }) =>
      (stream && refusal.said.includes(STREAM_OPTIONS) && !ownState(CHAT, extra, STREAM_OPTIONS) && isRefused(refusal)) || undefined,
    heed: (request) => {
      const message = `the server refuses ${STREAM_OPTIONS}: it was not asked for the usage`;
      if (request.stream) return { request: withExtra(request, UNCOUNTED), warning: { code: "dropped", message } };
    },
  },
  isSilent: {
    learn: (refusal, { thinking }) =>
      (thinking && thinking.show !== false && SUMMARY.test(refusal.said) && isRefused(refusal)) || undefined,
    heed: (request) => (request.thinking ? { request: { ...request, thinking: { ...request.thinking, show: false } } } : undefined),
  },
  isFree: {
    learn: (refusal, request) =>
      (isFormatted(request) &&
        FORMAT.test(refusal.said) &&
        /tool|function/i.test(refusal.said) &&
        isRefused(refusal) &&
        !OF_SCHEMA.test(refusal.said)) ||
      undefined,
    heed: (given) => {
      if (!isFormatted(given)) return;
      const { output, ...request } = given;
      const messages = withInstruction(request.messages, `When no tool is left to call, answer with nothing but ${formOf(output)}`);
      const message = "the format of the answer is not enforced: the model takes none beside tools";
      return { request: { ...request, messages }, warning: { code: "not-enforced", message } };
    },
  },
  formats: {
    learn: ({ error, said }, { output }) => {
      if (!output || !isBad(error) || OF_SCHEMA.test(said)) return undefined;
      if (WORDLESS.test(said)) return "json";
      return FORMLESS.test(said) ? (output.schema ? "json" : "none") : undefined;
    },
    heed: ({ output, ...request }, formats) => {
      if (!output || (formats === "json" && !output.schema && saysJson(request))) return;
      const messages = withInstruction(request.messages, `Answer with nothing but ${formOf(output)}`);
      const message = `the format of the answer is not enforced: the model takes ${formats === "json" ? "no schema" : "none"}`;
      const asked = { ...request, messages, ...(formats === "json" && { output: {} }) };
      return { request: asked, ...((output.schema || formats === "none") && { warning: { code: "not-enforced", message } }) };
    },
  },
  isUnforced: {
    learn: (refusal, request) => (isForced(request) && FORCED.test(refusal.said) && isRefused(refusal)) || undefined,
    heed: (request) => {
      if (!isForced(request)) return;
      const allowed = namedBy(request.toolChoice);
      const message = "the model cannot be made to call a tool: it may answer in words";
      return {
        request: { ...request, toolChoice: allowed ? { allowed: [...allowed] } : "auto" },
        warning: { code: "tool-choice", message },
      };
    },
  },
  isUnnumbered: {
    learn: (refusal, { parallelCalls }) => (parallelCalls !== undefined && PARALLEL.test(refusal.said) && isRefused(refusal)) || undefined,
    heed: ({ parallelCalls, ...request }) => {
      if (parallelCalls !== undefined) return { request, ...(!parallelCalls && { warning: dropped(["the wish for one call at a time"]) }) };
    },
  },
  isIncurious: {
    learn: (refusal, request) => (isTelling(request) && RESPONSE.test(refusal.said) && isRefused(refusal)) || undefined,
    heed: (request) => {
      if (!isTelling(request)) return;
      const tools = request.tools?.map(({ response: _response, ...tool }) => tool);
      return { request: { ...request, tools: tools ?? [] }, warning: dropped(["the schemas of what tools give back"]) };
    },
  },
  strictly: {
    learn: ({ error, said }, request) => (isBad(error) && STRICT.test(said) && strictText(request)) || undefined,
    heed: (request, less) => {
      if (strictText(request) < less) return;
      const tools = request.tools?.map(({ strict: _strict, ...tool }) => tool);
      const message = "the schemas of the strict tools are not enforced: they are too much for the model";
      return { request: { ...request, tools: tools ?? [] }, warning: { code: "not-enforced", message } };
    },
  },
  without: {
    learn: (refusal, { sampling = {} }) => {
      if (!isRefused(refusal)) return undefined;
      const named = SETTINGS.flatMap(([word, key]): Setting[] => {
        const value = sampling[key];
        return value !== undefined && word.test(refusal.said) ? [[key, value]] : [];
      });
      return some(/\bboth\b/.test(refusal.said) ? named.slice(1) : named);
    },
    heed: (request, without) => {
      const sampling = { ...request.sampling };
      const settings = new Set(without.flatMap(([key, value]) => (sampling[key] === value ? key : [])));
      for (const key of settings) delete sampling[key];
      if (settings.size > 0) return { request: { ...request, sampling }, warning: dropped([...settings]) };
    },
  },
};
const NAMES = Object.keys(ROWS) as (keyof Teachings)[];

const isBad = ({ code }: ErrorInfo): boolean => code === "bad-request";
const isRefused = ({ error, said }: Refusal): boolean => isBad(error) && REFUSED.test(said);

const some = <T>(list: readonly T[]): readonly T[] | undefined => (list.length > 0 ? list : undefined);

/** A message with calls but no thinking: another model wrote it, or this one did not think. */
const isThoughtless = (message: Message): message is Message & { role: "assistant" } =>
  message.role === "assistant" &&
  message.content.some(({ type }) => type === "tool-call") &&
  !message.content.some((part) => part.type === "thinking" && part.text !== "");

/** The conversation contains thinking. */
const isThinking = ({ messages }: Request): boolean => saidIn(messages).some(({ type }) => type === "thinking");
/** A message with calls but no text. */
const isWordless = (message: Message): boolean =>
  message.role === "assistant" && callIds([message]).length > 0 && !message.content.some(({ type }) => type === "text");
const withParts = (message: Message, change: (parts: Part[]) => Part[]): Message =>
  message.role === "assistant" ? { ...message, content: change(message.content) } : message;

const formOf = ({ schema }: NonNullable<Request["output"]> = {}): string =>
  schema ? `JSON that fits this schema: ${JSON.stringify(schema)}` : "JSON.";
const saysJson = ({ messages }: Request): boolean => /json/i.test(JSON.stringify(messages));

const isFormatted = ({ output, tools = [] }: Request): boolean => output !== undefined && tools.length > 0;

/** Whether a tool declares a schema for its response. */
const isTelling = ({ tools = [] }: Request): boolean => tools.some(({ response }) => response !== undefined);

/** The length of all strict schemas: no server says what makes them too complex, so length is the measure. */
const strictText = ({ tools = [] }: Request): number =>
  tools.reduce((length, { strict, parameters }) => length + (strict ? JSON.stringify(parameters ?? {}).length : 0), 0);

const dropped = (refused: readonly string[]): Warning => ({
  code: "dropped",
  message: `the model refuses ${refused.join(", ")}: it was asked without`,
});

const withExtra = (request: Request, kind: string): Request => ({
  ...request,
  extra: [...(request.extra ?? []), { wire: CHAT, kind, data: true, quiet: true }],
});

function limited(request: Request, maxTokens: number, how: string, why: string): Heeded | undefined {
  if (request.maxTokens === undefined || request.maxTokens === maxTokens) return undefined;
  const message = `the limit of ${request.maxTokens} tokens was ${how} to ${maxTokens}: ${why}`;
  return { request: { ...request, maxTokens }, warning: { code: "max-tokens", message } };
}

/** `isTranslated`: the client speaks another wire than the upstream; if it speaks the same, its settings are sent as they are. */
export function lessonOf(error: ErrorInfo, request: Request, isTranslated: boolean): Lesson | undefined {
  const refusal: Refusal = { error, said: `${error.param ?? ""} ${error.message}` };
  for (const name of NAMES) {
    const { isOurs, learn } = ROWS[name];
    const taught = isOurs || isTranslated ? learn(refusal, request) : undefined;
    if (taught !== undefined) return { [name]: taught };
  }
}

/** Applies the lesson to the request. */
export function heeding(given: Request, lesson: Lesson, isTranslated: boolean): { request: Request; warnings: Warning[] } {
  let request = given;
  const warnings: Warning[] = [];
  const heed = <K extends keyof Teachings>(name: K): void => {
    const row: Row<Teachings[K]> = ROWS[name];
    const taught = lesson[name];
    const heeded = taught !== undefined && (row.isOurs || isTranslated) ? row.heed(request, taught) : undefined;
    if (!heeded) return;
    request = heeded.request;
    if (heeded.warning) warnings.push(heeded.warning);
  };
  NAMES.forEach(heed);
  return { request, warnings };
}

/** How many refused values are kept: a client may try many. */
const MAX_VALUES = 32;

export const joined = (known: Lesson = {}, lesson: Lesson = {}): Lesson => ({
  ...known,
  ...lesson,
  without: [...(known.without ?? []), ...(lesson.without ?? [])].slice(-MAX_VALUES),
  media: [...new Set([...(known.media ?? []), ...(lesson.media ?? [])])],
});
