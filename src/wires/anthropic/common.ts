/** What requests and answers of the Anthropic wire share: its tables, and the state of its blocks. */
import type { FinishReason, Json, Opaque, Part, Text, Usage } from "../../core/nouns.ts";
import { opaque, ownState, ownStates, putState, withState } from "../opaque.ts";
import { listOf, spelling, united, words } from "../read.ts";
import type { Draft } from "../wire.ts";

export const WIRE = "anthropic";
export const VERSION = "2023-06-01";

// ---- Tables

/** Of several reasons with the same meaning, the first is sent. */
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

/** The counts that the nouns have, too. In this API, `input_tokens` excludes cache reads and writes. */
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

export const TITLE = { title: "name" } as const;
export const SOURCE = { media_type: "mediaType", data: "data", url: "url" } as const;

/** The kind of state that is a whole block which the nouns have no place for. */
export const BLOCK = "block";
/** Marks the start and the deltas of such a block, as it was streamed. */
export const STREAM = "#stream";

/** Marks a tool that is not declared in `tools`, but defined in mid-conversation. */
export const DEFINED = "#defined";

/** Other kinds of state: the `data` of redacted thinking; the blocks of a result, if the nouns cannot hold all of them. */
export const REDACTED = "data";
export const CONTENT = "content";

/** The kind of extra that holds the client's headers for the API. */
export const HEADERS = "headers";

// ---- State

/** The signature of thinking. An empty one is kept, too, so that the server gets back what it sent. */
export const signed = (data: string): Opaque => opaque(WIRE, "signature", data, data === "");

export const own = (state: readonly Opaque[] | undefined, kind: string): Json | undefined => ownState(WIRE, state, kind);

/** Another wire's state of calls, by call id, as our capsule brought it back. */
export type Carried = Map<string, readonly Opaque[]>;

/** All citations of a text; a stream sends them one by one. */
export const citationsOf = (state?: readonly Opaque[]): Json[] => ownStates(WIRE, state, "citations").flatMap(listOf);

/** Moves citations that were streamed after their text back onto it. */
export const withCitations = (parts: readonly Part[]): Part[] =>
  united(parts, (last, next) => {
    const isCited = next.type === "text" && next.text === "" && citationsOf(next.state).length > 0;
    return isCited && last.type === "text" && withState({ ...last }, next.state);
  });

/** The block for a text; none if it is empty. */
export function textBlocks({ text, state }: Text): unknown[] {
  const block = own(state, BLOCK);
  if (block) return [block];
  if (text === "") return [];
  const citations = citationsOf(state);
  return [putState<Draft>(WIRE, { type: "text", text, ...(citations.length > 0 ? { citations } : {}) }, state)];
}
