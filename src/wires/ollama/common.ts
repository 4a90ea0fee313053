/** What requests and answers of Ollama's wire share. */
import type { ToolCall } from "../../core/nouns.ts";
import { argumentsValue } from "../raw.ts";
import { SETTINGS, spelling } from "../read.ts";
import type { Draft } from "../wire.ts";

export const WIRE = "ollama";

/** Marks a completion request, whose answer has another form. */
export const GENERATE = "/api/generate";

export const TOOL = spelling("name description parameters");

export const SAMPLING = spelling(`${SETTINGS} topK minP repeatPenalty`);

/** In nanoseconds; 0: unknown. If the answer came in one piece, `eval_duration` is the total, since clients divide by it. */
export function durations({ ms, firstMs = ms }: { ms: number; firstMs?: number | undefined }): Draft {
  const [total, first] = [Math.round(ms * 1e6), Math.round(firstMs * 1e6)];
  return { total_duration: total, load_duration: 0, prompt_eval_duration: first, eval_duration: total > first ? total - first : total };
}

export const DURATIONS = durations({ ms: 0 });

/** `rest`: the call's fields that the nouns have no place for. */
export function encodeCall(call: Pick<ToolCall, "id" | "name" | "arguments" | "json">, index: number, rest: Draft): Draft {
  const { function: inner, ...outer } = rest;
  const fn = { ...(inner as Draft | undefined), index, name: call.name, arguments: argumentsValue(call) };
  return { ...(call.id ? { id: call.id } : {}), ...outer, function: fn };
}
