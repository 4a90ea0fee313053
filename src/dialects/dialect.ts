/** What every dialect offers. One file per dialect holds one such object; nothing outside this room knows a model's syntax. */
import type { Event, Json, JsonObject, Media, Request, Tool, ToolCall, ToolChoice, ToolResult } from "../core/nouns.ts";

/**
 * A prompt keeps control tokens apart from data, so that data can never be tokenized as a control token.
 * A control piece is exactly one control token; all text between two of them is one plain piece.
 */
export type Prompt = PromptPiece[];
export interface PromptPiece {
  text: string;
  control?: true;
  /** The thing that `text`, the template's placeholder, stands for. */
  media?: Media;
}

/** The ids of all dialects. */
export type DialectId =
  | "apertus"
  | "apriel"
  | "bielik"
  | "cogito"
  | "cohere"
  | "command-r"
  | "command-r7b"
  | "deepseek-v3"
  | "deepseek-v3.1"
  | "deepseek-v3.2"
  | "deepseek-v4"
  | "exaone"
  | "functionary-v3.1"
  | "functionary-v3.2"
  | "functiongemma"
  | "gemma4"
  | "gigachat"
  | "glm"
  | "glm4"
  | "granite"
  | "harmony"
  | "hermes"
  | "hunyuan"
  | "hy3"
  | "inkling"
  | "internlm"
  | "jamba"
  | "json"
  | "kimi-k2"
  | "kimi-k3"
  | "laguna"
  | "ling"
  | "ling3"
  | "llama3"
  | "minicpm5"
  | "minimax-m1"
  | "minimax-m2"
  | "minimax-m3"
  | "mistral"
  | "muse-glimmer"
  | "nemotron"
  | "phi4-mini"
  | "pythonic"
  | "qwen3-coder"
  | "reka-edge"
  | "seed-oss"
  | "smollm3"
  | "solar-open"
  | "xlam";

export interface Dialect {
  readonly id: string;
  readonly title: string;
  /** Model families that speak it. */
  readonly models: string[];
  /** Template revisions in circulation, the reference first. */
  readonly variants: string[];
  /** Strings at which generation must stop. */
  readonly stops: readonly string[];
  /** Tokens in which calls and thinking are written: who strips special tokens from the output must leave these. */
  readonly preserved: readonly string[];
  /** The revision that it is spoken in (`inVariant`); absent: the reference. */
  readonly variant?: string;
  /** What must stop it besides, by variant: words that others may well write. */
  readonly variantStops?: Readonly<Record<string, readonly string[]>>;
  createScanner(options?: ScannerOptions): Scanner;
  /** What a good prompt needs beyond the template's bytes; engines call it before `render`. */
  adapt?(request: Request): Request;
  render(request: Request, options?: RenderOptions): Prompt;
  renderTools(tools: readonly Tool[], options?: VariantOptions): Prompt;
  renderToolCall(call: RenderableCall, options?: VariantOptions): Prompt;
  renderToolCalls(calls: readonly RenderableCall[], options?: VariantOptions): Prompt;
  renderToolResults(results: readonly RenderableResult[], options?: VariantOptions): Prompt;
  renderThinking(text: string): Prompt;
  /** The convention explained to a model that was not trained on it. */
  instructions(tools: readonly Tool[], options?: VariantOptions): string;
  /** Throws if a call is required and there is no tool for it. */
  grammar?(tools: readonly Tool[], toolChoice: ToolChoice, options?: GrammarOptions): Grammar;
}

/** A call as a part of a message or as the event that ends it, or no more than what is written of it. */
export type RenderableCall = Pick<ToolCall, "name" | "arguments"> & Partial<Omit<ToolCall, "type">> & { type?: string };
/** A result as a message, or no more than what is written of it. */
export type RenderableResult = Pick<ToolResult, "name" | "output"> & Partial<ToolResult>;

/** Turns the model's text into events, whatever the pieces it comes in. `flush` ends it. */
export interface Scanner {
  feed(text: string): Event[];
  flush(): Event[];
}

/**
 * What becomes of a call opener inside an open thinking block: it stays thinking (`ignore`), ends the block (`promote`), or ends it
 * unless the block is closed later (`promote-if-unclosed`).
 */
export type CallsInThinking = "ignore" | "promote-if-unclosed" | "promote";

export interface ScannerOptions {
  tools?: readonly Tool[];
  /** What the output continues: its tail sets the start state. */
  prompt?: Prompt | string;
  startInThinking?: boolean;
  callsInThinking?: CallsInThinking;
  maxCallChars?: number;
  maxDepth?: number;
  mintId?: (n: number) => string;
}

export interface VariantOptions {
  /** A revision of the template; unsaid: the reference. */
  variant?: string;
}

export interface RenderOptions extends VariantOptions {
  /** On by default. */
  addGenerationPrompt?: boolean;
  /** Overrides whether `request.thinking` is a wish to think. */
  thinking?: boolean;
  /** Off by default: most tokenizers add it. */
  bos?: boolean;
  now?: Date;
}

export interface GrammarOptions {
  /** Which revision's form the calls have; unsaid: any that is in circulation. */
  variant?: string;
  /** Off: one call at most. */
  parallelCalls?: boolean;
  /** Whether the prompt ends inside a thinking block; unsaid: the model may open one. */
  startInThinking?: boolean;
  /** An answer without calls is JSON by this schema. */
  output?: JsonObject;
}

/** What holds the model to the format of calls, the declared names and the tools' schemas. */
export interface Grammar {
  /** For llama.cpp. Empty: nothing can be held, since nothing in this dialect says where a call begins. */
  gbnf: string;
  /** The same for xgrammar, as vLLM and SGLang take it. It is for the whole output, and needs no triggers. */
  structuralTag?: Json;
  /** What arms the grammar in `auto`, which begins with it. None: it holds from the first token on. */
  triggers: { type: "word" | "pattern"; value: string }[];
  /** Tokens that the server must not strip from the output. */
  preserved: string[];
  /** What the grammar could not express, and so allows. */
  relaxed: { tool: string; path: string; keyword: string }[];
}
