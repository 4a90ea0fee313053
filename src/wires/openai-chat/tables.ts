/** The words of chat completions, and what they mean. */
import type { FinishReason, Opaque } from "../../core/nouns.ts";
import { opaque, ownState } from "../opaque.ts";
import { spelling, textOf } from "../read.ts";

export const WIRE = "openai-chat";

/** Thinking has as many spellings as there are servers. */
export const THINKING = ["reasoning_content", "reasoning", "thinking"] as const;

/** Remembers how thinking was spelled: many servers read only what they write themselves (vllm#38488). */
export const spelled = (field: string | undefined): Opaque[] =>
  field === undefined || field === THINKING[0] ? [] : [opaque(WIRE, "#spelling", field, true)];

/** Mistral's way: it is a part of the content. */
export const AS_PART = "content";

export const spellingOf = (state: readonly Opaque[] | undefined): string | undefined => textOf(ownState(WIRE, state, "#spelling"));

/** The kinds of other marks: what stands beside a text, and the signatures and seals of thinking that OpenRouter wants back with its message. */
export const LOGPROBS = "#logprobs";
export const DETAILS = "#reasoning_details";
/** The part of a file as the client wrote it: its link (OpenRouter), or a `document_url` (Mistral). */
export const PART = "#part";
/** What a kind of audio is called, where that is not the end of its media type. */
export const AUDIO: Readonly<Record<string, string>> = { "audio/mpeg": "mp3", "audio/x-wav": "wav", "audio/wave": "wav" };
/** The client knows `functions` and `function_call` only, as the API had them before there were tools. */
export const FUNCTIONS = "#functions";
/** How much thinking is wanted was said in another field than `reasoning_effort`, which goes along. */
export const THINKS = "#thinks";
/** The server does not know `stream_options`: it is not asked how many tokens a stream has taken. */
export const UNCOUNTED = "#uncounted";

export const OFFICIAL_SAMPLING = spelling("temperature topP seed presencePenalty frequencyPenalty");
/** With those of the servers that speak like it. */
export const SAMPLING = { ...OFFICIAL_SAMPLING, ...spelling("topK minP"), repetition_penalty: "repeatPenalty" } as const;

export const TOOL = spelling("name description parameters strict response");

/** What a call is called by such a client, and the reason of an answer that ends in one. */
export const FUNCTION_CALL = "function_call";

/** How the reason of an end is written. */
export const REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  length: "length",
  "tool-calls": "tool_calls",
  "content-filter": "content_filter",
  error: "error",
};

/** Servers have words of their own: Mistral's `model_length`, Z.ai's `model_context_window_exceeded` and `sensitive`, DeepSeek's `insufficient_system_resource`. */
const MEANINGS: readonly (readonly [RegExp, FinishReason])[] = [
  [/tool|function/i, "tool-calls"],
  [/length|max_|context/i, "length"],
  [/filter|sensitive|safety/i, "content-filter"],
  [/error|abort|cancel|fail|timeout|insufficient/i, "error"],
];

/** What is none of these is a good end: `eos`, `end_turn`. */
export const reasonOf = (word: string): FinishReason => MEANINGS.find(([meaning]) => meaning.test(word))?.[1] ?? "stop";
