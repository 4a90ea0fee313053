/**
 * The servers that complete text: how each names its fields, and how its answer is read. One entry per server, with the same members.
 *
 *     POST /completion { "prompt": [2, 105, 2364], "n_predict": 512, "stop": ["<turn|>"] }
 *     data: {"content": "Hi", "stop": false}
 *
 * All of them strip control tokens from their output unless they are told not to, and then no call can be read.
 */
import { isObject } from "../../core/json.ts";
import type { ErrorInfo, Json, JsonObject, Sampling, Usage } from "../../core/nouns.ts";
import type { Grammar } from "../../dialects/dialect.ts";
import { readError } from "../../wires/errors.ts";
import { numberOf } from "../../wires/read.ts";
import type { ServerId } from "../engine.ts";
import type { Holding } from "../inband/request.ts";

/** What to send, independent of the server. */
export interface Job {
  readonly model: string;
  readonly prompt: string | readonly number[];
  /** The strings and tokens at which the answer ends. */
  readonly stops: readonly string[];
  readonly stopIds: readonly number[];
  readonly maxTokens: number | undefined;
  readonly sampling: Sampling;
  /** Tokens that must stay in the output, and those that end it: llama-server does not recognize a stop that it does not write. */
  readonly preserved: readonly string[];
  readonly grammar: Grammar | undefined;
  /** A schema for the whole answer, where the server takes no grammar. */
  readonly format: JsonObject | undefined;
  readonly options: JsonObject;
}

/** The content of one message of the server's stream. */
export interface Said {
  text?: string;
  id?: string;
  model?: string;
  usage?: Usage;
  end?: { reason: "stop" | "length"; native: string; stop?: string };
  error?: ErrorInfo;
}

export interface Backend {
  readonly id: ServerId;
  readonly path: string;
  /** How the server can constrain the output. */
  readonly holding?: Holding;
  /** Without a token limit the server stops after a few words. */
  readonly needsLimit?: true;
  /** The server removes control tokens from the text, and cannot be told not to. */
  readonly strips?: true;
  /** The server accepts ids of tokens to stop at. */
  readonly takesStopIds?: true;
  /** How many stop strings the server accepts; absent: any number. */
  readonly mostStops?: number;
  /** Tokens at which the server always stops. */
  readonly ends?: ReadonlySet<string>;
  /** Absent: the server takes the prompt as text only. */
  readonly tokenize?: Tokenize;
  body(job: Job): JsonObject;
  read(message: JsonObject): Said;
}

/** How to ask the server's tokenizer. */
export interface Tokenize {
  readonly path: string;
  body(text: string, options: { model: string; bos: boolean; control: boolean }): JsonObject;
  /** The tokenizer always reads control tokens in the text, and cannot be told not to. */
  readonly alwaysControl?: true;
  /** Its `max_model_len` is the model's context size. SGLang's is the tokenizer's own, and often a meaningless number. */
  readonly saysContext?: true;
}

// ---- llama-server

const TRIGGER_TYPES = { word: 1, pattern: 2 } as const;

/** The fields that are read from the last message. */
const LAST_FIELDS: readonly string[] = [
  "content",
  "model",
  "stop",
  "stop_type",
  "stopped_limit",
  "stopping_word",
  "tokens_evaluated",
  "tokens_predicted",
  "timings",
];

/** Those of the dialects' stops that llama.cpp recognizes as an end by their name (llama-vocab.cpp). */
const LLAMA_ENDS: ReadonlySet<string> = new Set([
  "<|eot_id|>",
  "<|eom_id|>",
  "<|im_end|>",
  "<|end|>",
  "<end_of_turn>",
  "<|endoftext|>",
  "<|end_of_text|>",
  "<｜end▁of▁sentence｜>",
]);

const llamaServer: Backend = {
  id: "llama-server",
  path: "/completion",
  holding: "gbnf",
  ends: LLAMA_ENDS,
  tokenize: {
    path: "/tokenize",
    body: (content, { model, bos, control }) => ({ model, content, add_special: bos, parse_special: control }),
  },
  body: ({ model, prompt, stops, maxTokens = -1, sampling, preserved, grammar }) => ({
    model,
    prompt,
    stream: true,
    n_predict: maxTokens,
    stop: stops,
    cache_prompt: true,
    ...samplingFields(sampling, "repeat_penalty"),
    preserved_tokens: preserved,
    response_fields: LAST_FIELDS, // otherwise the last message contains the whole prompt
    ...(grammar?.gbnf ? { grammar: grammar.gbnf } : {}),
    ...(grammar?.gbnf && grammar.triggers.length > 0
      ? { grammar_lazy: true, grammar_triggers: grammar.triggers.map(({ type, value }) => ({ type: TRIGGER_TYPES[type], value })) }
      : {}),
  }),
  read: (message) => {
    const { content, stop, stopped_limit, stop_type, stopping_word, tokens_evaluated, tokens_predicted, model, timings } = message;
    const cached = isObject(timings) ? numberOf(timings.cache_n) : undefined;
    const native = textOf(stop_type) ?? (stopped_limit ? "limit" : "none"); // `stopped_limit` was its form until 2025
    const word = textOf(stopping_word);
    return {
      ...(typeof content === "string" && { text: content }),
      ...(textOf(model) !== undefined && { model: textOf(model)! }),
      ...(stop === true && {
        usage: usageOf(tokens_evaluated, tokens_predicted, cached),
        end: { reason: native === "limit" ? "length" : "stop", native, ...(word ? { stop: word } : {}) },
      }),
    };
  },
};

// ---- vLLM and SGLang

interface Manner {
  readonly hold: (tag: Json) => JsonObject;
  readonly more?: JsonObject;
  readonly tokenize?: Pick<Tokenize, "saysContext">;
  readonly mostStops?: number;
}

const openai = (id: "vllm" | "sglang", { hold, more, tokenize, ...rest }: Manner): Backend => ({
  id,
  path: "/v1/completions",
  holding: "structural-tag",
  needsLimit: true,
  takesStopIds: true,
  ...rest,
  tokenize: {
    path: "/tokenize",
    body: (prompt, { model, bos }) => ({ model, prompt, add_special_tokens: bos }),
    alwaysControl: true,
    ...tokenize,
  },
  body: ({ model, prompt, stops, stopIds, maxTokens, sampling, grammar }) => ({
    model,
    prompt,
    stream: true,
    stream_options: { include_usage: true },
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    stop: stops,
    ...(stopIds.length > 0 ? { stop_token_ids: stopIds } : {}),
    ...samplingFields(sampling, "repetition_penalty"),
    skip_special_tokens: false,
    ...more,
    ...(grammar?.structuralTag === undefined ? {} : hold(grammar.structuralTag)),
  }),
  read: ({ id, model, choices, usage }) => {
    const [choice] = Array.isArray(choices) ? (choices as Json[]).filter(isObject) : [];
    const native = textOf(choice?.finish_reason);
    const word = textOf(choice?.stop_reason) ?? textOf(choice?.matched_stop);
    const details = isObject(usage) && isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
    return {
      ...(typeof choice?.text === "string" && { text: choice.text }),
      ...(textOf(id) !== undefined && { id: textOf(id)! }),
      ...(textOf(model) !== undefined && { model: textOf(model)! }),
      ...(isObject(usage) && { usage: usageOf(usage.prompt_tokens, usage.completion_tokens, numberOf(details.cached_tokens)) }),
      ...(native === "abort" && { error: { code: "upstream", message: "the server gave the answer up" } satisfies ErrorInfo }),
      ...(native !== undefined &&
        native !== "abort" && { end: { reason: native === "length" ? "length" : "stop", native, ...(word ? { stop: word } : {}) } }),
    };
  },
});

// ---- Ollama

const ollama: Backend = {
  id: "ollama",
  path: "/api/generate",
  strips: true,
  body: ({ model, prompt, stops, maxTokens = -1, sampling, format, options }) => ({
    model,
    prompt: prompt as string,
    raw: true,
    stream: true,
    truncate: false, // a prompt that is too long shall be an error
    shift: false,
    ...(format && { format }),
    options: { ...samplingFields(sampling, "repeat_penalty"), num_predict: maxTokens, stop: stops, ...options },
  }),
  read: ({ response, model, done, done_reason, prompt_eval_count, eval_count }) => {
    const native = textOf(done_reason) ?? "stop";
    return {
      ...(typeof response === "string" && { text: response }),
      ...(textOf(model) !== undefined && { model: textOf(model)! }),
      ...(done === true && {
        usage: usageOf(prompt_eval_count, eval_count),
        end: { reason: native === "length" ? "length" : "stop", native },
      }),
    };
  },
};

export const BACKENDS: Readonly<Record<ServerId, Backend>> = {
  "llama-server": llamaServer,
  vllm: openai("vllm", {
    hold: (tag) => ({ structured_outputs: { structural_tag: JSON.stringify(tag) } }),
    more: { spaces_between_special_tokens: false },
    tokenize: { saysContext: true },
    mostStops: 4, // the default of VLLM_MAX_STOP_STRINGS
  }),
  sglang: openai("sglang", { hold: (tag) => ({ response_format: tag }) }),
  ollama,
};

/** Reads one message of any server; errors look alike everywhere. */
export function readMessage(backend: Backend, message: JsonObject): Said {
  if (message.error !== undefined && message.error !== null) return { error: readError(0, {}, message) };
  if (message.object === "error") return { error: readError(0, {}, { error: message }) };
  return backend.read(message);
}

// ---- Values

const SAMPLING: Readonly<Record<Exclude<keyof Sampling, "repeatPenalty">, string>> = {
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
  minP: "min_p",
  seed: "seed",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
};

function samplingFields({ repeatPenalty, ...sampling }: Sampling, repeat: string): JsonObject {
  const fields: Record<string, number> = repeatPenalty === undefined ? {} : { [repeat]: repeatPenalty };
  for (const [key, name] of Object.entries(SAMPLING)) {
    const value = sampling[key as keyof typeof SAMPLING];
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

function usageOf(input: Json | undefined, output: Json | undefined, cached?: number): Usage {
  const [inputTokens, outputTokens] = [numberOf(input), numberOf(output)];
  return {
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(cached === undefined ? {} : { cachedTokens: cached }),
  };
}

const textOf = (value: Json | undefined): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
