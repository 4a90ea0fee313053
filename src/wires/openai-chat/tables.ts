/** Names, marks and finish reasons of chat completions. */
import type { FinishReason, Opaque } from "../../core/nouns.ts";
import { opaque, ownState } from "../opaque.ts";
import { type Meanings, meaningIn, SETTINGS, spelling, textOf } from "../read.ts";

export const WIRE = "openai-chat";

/** The fields of thinking in a message. Answers are known to have one of the first two. */
export const THINKING = ["reasoning_content", "reasoning", "thinking"] as const;

/** Remembers the field of the thinking: many servers read only the field that they write themselves (vllm#38488). */
export const spelled = (field: string | undefined): Opaque[] =>
  field === undefined || field === THINKING[0] ? [] : [opaque(WIRE, "#spelling", field, true)];

/** Mistral sends thinking as a part of the content. */
export const AS_PART = "content";

export const spellingOf = (state: readonly Opaque[] | undefined): string | undefined => textOf(ownState(WIRE, state, "#spelling"));

/** Marks the `logprobs` of a text. */
export const LOGPROBS = "#logprobs";
/** Marks `reasoning_details`: signatures and encrypted thinking that OpenRouter expects back with the message. */
export const DETAILS = "#reasoning_details";
/** Marks an original part: a file's link (OpenRouter) or `document_url`, or a `reference` (both Mistral). */
export const PART = "#part";
/** The name of an audio format, where that is not the end of its media type. */
export const AUDIO: Readonly<Record<string, string>> = { "audio/mpeg": "mp3", "audio/x-wav": "wav", "audio/wave": "wav" };
/** Marks a client that knows only `functions` and `function_call`, the API's fields before it had tools. */
export const FUNCTIONS = "#functions";
/** Marks thinking settings in other fields than `reasoning_effort`: those fields are sent on, and no `reasoning_effort`. */
export const THINKS = "#thinks";
/** Marks a server that does not know `stream_options`: it is not asked for a stream's usage. */
export const UNCOUNTED = "#uncounted";
/** Marks a model that knows the token limit only as `max_completion_tokens`, whatever its server's profile says. */
export const NEWER = "#newer";

export const OFFICIAL_SAMPLING = spelling(SETTINGS);
/** With those of other servers. */
export const SAMPLING = { ...OFFICIAL_SAMPLING, ...spelling("topK minP"), repetition_penalty: "repeatPenalty" } as const;

export const TOOL = spelling("name description parameters strict response");

/** The field of a call, and the finish reason, for clients marked with `FUNCTIONS`. */
export const FUNCTION_CALL = "function_call";

/** Finish reasons, as they are written. */
export const REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  length: "length",
  "tool-calls": "tool_calls",
  "content-filter": "content_filter",
  error: "error",
};

/**
 * Finish reasons, as they are read: Mistral's `model_length`, Z.ai's `model_context_window_exceeded` and `sensitive`, DeepSeek's
 * `insufficient_system_resource`.
 */
const MEANINGS: Meanings<FinishReason> = [
  [/tool|function/i, "tool-calls"],
  [/length|max_|context/i, "length"],
  [/filter|sensitive|safety/i, "content-filter"],
  [/error|abort|cancel|fail|timeout|insufficient/i, "error"],
];

/** Any other word is a normal end: `eos`, `end_turn`. */
export const reasonOf = (word: string): FinishReason => meaningIn(MEANINGS, word) ?? "stop";
