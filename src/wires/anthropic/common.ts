/** What requests and answers of the Anthropic wire have in common: its tables, and the state that its blocks carry. */
import type { FinishReason, Json, Opaque, Part, Text, Usage } from "../../core/nouns.ts";
import { opaque, ownState, putState, withState } from "../opaque.ts";
import { listOf, spelling, united, words } from "../read.ts";
import type { Draft } from "../wire.ts";

export const WIRE = "anthropic";
export const VERSION = "2023-06-01";

// ---- Tables

/** Of those with the same meaning the first is written. */
export const STOP_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  compaction: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content-filter",
};

/** What of the usage the nouns count; here the prompt is counted without what the cache had or got. */
export const USAGE = {
  input_tokens: "inputTokens",
  cache_creation_input_tokens: "cacheWriteTokens",
  cache_read_input_tokens: "cachedTokens",
  output_tokens: "outputTokens",
  thinking_tokens: "thinkingTokens",
} as const satisfies Record<string, keyof Usage>;

export const EFFORTS: ReadonlySet<unknown> = words("low medium high xhigh max");

export const SAMPLING = spelling("temperature topP topK");

export const TOOL = {
  ...spelling("name description"),
  input_schema: "parameters",
  strict: "strict",
  defer_loading: "deferred",
} as const;

/** Where media come from. */
export const TITLE = { title: "name" } as const;
export const SOURCE = { media_type: "mediaType", data: "data", url: "url" } as const;

/** The kind of a state that is a whole block, which no noun stands for. */
export const BLOCK = "block";
/** Marks how such a block streamed: its start, and its deltas. */
export const STREAM = "#stream";

/** Marks a tool that is not declared, but defined in mid-conversation. */
export const DEFINED = "#defined";

/** Other kinds of state: redacted thinking is all in its `data`; a result's blocks, where the nouns say less than they do. */
export const REDACTED = "data";
export const CONTENT = "content";

/** The kind of an extra: what a client asks of the API beside the body. */
export const HEADERS = "headers";

// ---- State

/** The signature of thinking is kept even if it is empty: so its server gets back what it said. */
export const signed = (data: string): Opaque => opaque(WIRE, "signature", data, data === "");

export const own = (state: readonly Opaque[] | undefined, kind: string): Json | undefined => ownState(WIRE, state, kind);

/** Another wire's state of calls, by their ids: what our capsule brought back. */
export type Carried = Map<string, readonly Opaque[]>;

/** The citations of a text, which stream one by one. */
export const citationsOf = (state: readonly Opaque[] = []): Json[] =>
  state.flatMap(({ wire, kind, data }) => (wire === WIRE && kind === "citations" ? listOf(data) : []));

/** The parts of an answer, with the citations that streamed behind their text back on it. */
export const withCitations = (parts: readonly Part[]): Part[] =>
  united(parts, (last, next) => {
    const isCited = next.type === "text" && next.text === "" && citationsOf(next.state).length > 0;
    return isCited && last.type === "text" && withState({ ...last }, next.state);
  });

/** None, if there is nothing to say. */
export function textBlocks({ text, state }: Text): unknown[] {
  const block = own(state, BLOCK);
  if (block) return [block];
  if (text === "") return [];
  const citations = citationsOf(state);
  return [putState<Draft>(WIRE, { type: "text", text, ...(citations.length > 0 ? { citations } : {}) }, state)];
}
