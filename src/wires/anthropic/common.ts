/** What requests and answers of the Anthropic wire have in common: its tables, and the state that its blocks carry. */
import { isObject } from "../../core/json.ts";
import type { FinishReason, Json, Opaque, Part, Text, ThinkingSettings, Usage } from "../../core/nouns.ts";
import { type Draft, openCapsule, putState, sealCapsule, withState } from "../opaque.ts";
import type { Warnings } from "../warnings.ts";

export const WIRE = "anthropic";
export const VERSION = "2023-06-01";

// ---- Tables

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

export const EFFORTS: Readonly<Record<string, NonNullable<ThinkingSettings["effort"]>>> = {
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "max",
  max: "max",
};

export const SAMPLING = { temperature: "temperature", top_p: "topP", top_k: "topK" } as const;

/** The parts of the usage that the nouns count, beside `input_tokens`. */
export const USAGE: Readonly<Record<string, keyof Usage>> = {
  output_tokens: "outputTokens",
  cache_read_input_tokens: "cachedTokens",
  cache_creation_input_tokens: "cacheWriteTokens",
  thinking_tokens: "thinkingTokens",
};

/** The kind of a state that is a whole block, which no noun stands for. */
export const BLOCK = "block";

/** Other kinds of state: redacted thinking is all in its `data`; a result's blocks, where the nouns say less than they do. */
export const REDACTED = "data";
export const CONTENT = "content";

/** Kinds of extra: what a client asks of the API beside the body; the exact word for an effort. */
export const HEADERS = "headers";
export const EFFORT = "output_config.effort";

/** The kind of what our capsule carries for a call: another wire's state of it. */
const CALL_STATE = "tool_use";

// ---- State

/** The signature of thinking is kept even if it is empty: so its server gets back what it said. */
export const signed = (data: string): Opaque =>
  data === "" ? { wire: WIRE, kind: "signature", data, quiet: true } : { wire: WIRE, kind: "signature", data };

export const ownState = (state: readonly Opaque[] | undefined): Opaque[] => state?.filter((opaque) => opaque.wire === WIRE) ?? [];

export const own = (state: readonly Opaque[] | undefined, kind: string): Opaque | undefined =>
  ownState(state).find((opaque) => opaque.kind === kind);

/** Another wire's state of calls, by their ids: what our capsule brought back. */
export type Carried = Map<string, Opaque[]>;

/** What our capsule carries in the place of a signature; `undefined`: the signature is Anthropic's. A `carrier` is no thinking, but brings the state of a call. */
export function openSignature(signature: string, carried: Carried): { thinking: string; state: Opaque[]; carrier: boolean } | undefined {
  const capsule = openCapsule(signature);
  if (!capsule) return undefined;
  const { thinking = "", state = [] } = capsule;
  const own = state.filter(({ wire, kind }) => wire !== WIRE || kind !== CALL_STATE);
  for (const { data } of state.filter((opaque) => !own.includes(opaque))) {
    if (isObject(data) && typeof data.id === "string" && Array.isArray(data.state)) carried.set(data.id, data.state as unknown as Opaque[]);
  }
  return { thinking, state: own, carrier: own.length < state.length };
}

/** The capsule that carries another wire's state of a call, if it has any. */
export function sealCallState(id: string, state: readonly Opaque[] | undefined): string | undefined {
  const foreign = state?.filter(({ wire }) => wire !== WIRE) ?? [];
  if (foreign.every(({ quiet }) => quiet)) return undefined;
  return sealCapsule({ state: [{ wire: WIRE, kind: CALL_STATE, data: { id, state: foreign as unknown as Json } }] });
}

/** The citations of a text, which stream one by one. */
export function citationsOf(state: readonly Opaque[] | undefined): Json[] {
  return ownState(state).flatMap(({ kind, data }) => (kind === "citations" ? (data as Json[]) : []));
}

/** The parts of an answer, with the citations that streamed behind their text back on it. */
export function withCitations(parts: readonly Part[]): Part[] {
  const out: Part[] = [];
  for (const part of parts) {
    const last = out.at(-1);
    if (part.type === "text" && part.text === "" && citationsOf(part.state).length > 0 && last?.type === "text")
      out[out.length - 1] = withState(last, last.state, part.state);
    else out.push(part);
  }
  return out;
}

/** None, if there is nothing to say. */
export function textBlocks(part: Text, warnings: Warnings): Draft[] {
  const block = own(part.state, BLOCK);
  if (block) return [block.data as Draft];
  if (part.text === "") return [];
  const citations = citationsOf(part.state);
  return [putState(WIRE, { type: "text", text: part.text, ...(citations.length > 0 ? { citations } : {}) }, part.state, warnings)];
}
