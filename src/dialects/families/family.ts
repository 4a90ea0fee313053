/** A row of the table of model families, and what a vendor recommends. */
import type { Sampling } from "../../core/nouns.ts";
import type { DialectId } from "../dialect.ts";

/** The model types of flutter_gemma, for programs that were written for it. */
export type ModelType = "gemmaIt" | "gemma" | "functionGemma" | "deepSeek" | "qwen" | "llama" | "hammer" | "phi" | "general";

/** Strings that a chat template must all contain; one with a `!` in front it must not contain. */
export type Marks = readonly string[];

export interface SamplingDefaults {
  readonly values: Sampling;
  /** Where the vendor recommends them. */
  readonly source: string;
}

export interface Family {
  /** The family's usual name. */
  readonly name: string;
  readonly id: DialectId;
  readonly variant?: string;
  /** Matches names in lower case, with "-" for blanks and underscores; not after a letter (`codegemma`). */
  readonly models?: RegExp;
  /** What a name with a size but no word such as "instruct" means: the base model, or unclear, because LM Studio drops the word. */
  readonly bare?: "base" | "unclear";
  /** The family was not trained on tools, or its template is only similar: the confidence is at most `possible`. */
  readonly doubtful?: true;
  readonly templates?: readonly Marks[];
  readonly sampling?: SamplingDefaults;
  readonly types?: readonly ModelType[];
}

export const from = (source: string, values: Sampling): SamplingDefaults => ({ values, source });
export const card = (model: string, values: Sampling): SamplingDefaults => from(`model card of ${model}`, values);
export const config = (model: string, values: Sampling): SamplingDefaults => from(`generation_config.json of ${model}`, values);

/** flutter_gemma uses the same values for FunctionGemma. */
export const GEMMA = config("google/gemma-3-4b-it", { temperature: 1, topK: 64, topP: 0.95 });
