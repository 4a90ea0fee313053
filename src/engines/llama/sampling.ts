/** Translates a request's sampling for node-llama-cpp. */
import type { SequenceEvaluateOptions, Token } from "node-llama-cpp";
import type { Sampling } from "../../core/nouns.ts";
import { defined } from "../../wires/read.ts";

/** llama.cpp's defaults. */
export const SAMPLING: Sampling = { temperature: 0.8, topK: 40, topP: 0.95, minP: 0.05 };
/** How many of the last tokens penalties apply to. */
const PENALIZED = 64;

/** A setting that a request leaves open, also as `undefined`, is that of the model. */
export const merged = (defaults: Sampling, asked: Sampling = {}): Sampling => ({ ...defaults, ...defined<Sampling>(asked) });

/** `made`: the tokens of the answer so far, to which penalties apply. */
export function samplingOf(sampling: Sampling, made: readonly Token[]): SequenceEvaluateOptions {
  const { temperature = 0, topP = 1, topK = 0, minP = 0, seed } = sampling;
  const { presencePenalty = 0, frequencyPenalty = 0 } = sampling;
  const repeatPenalty = Number(sampling.repeatPenalty) > 0 ? Number(sampling.repeatPenalty) : 1; // llama.cpp divides by it
  const punishes = repeatPenalty !== 1 || presencePenalty !== 0 || frequencyPenalty !== 0;
  return {
    temperature,
    topP,
    topK,
    minP,
    ...(seed === undefined ? {} : { seed }),
    ...(punishes
      ? { repeatPenalty: { punishTokens: () => made.slice(-PENALIZED), penalty: repeatPenalty, presencePenalty, frequencyPenalty } }
      : {}),
  };
}
