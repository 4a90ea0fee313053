/** What every dialect offers: one object in one file each. Nothing outside this room knows a model's syntax. */
import type { Event, Json, JsonObject, Media, Request, Tool, ToolCall, ToolChoice, ToolResult } from "../core/nouns.ts";

/**
 * A prompt keeps control tokens apart from data, so that data can never be tokenized as a control token.
 * A control piece is exactly one control token; all text between two of them is one plain piece.
 */
export type Prompt = PromptPiece[];
export interface PromptPiece {
  text: string;
  control?: true;
  /** What `text`, the template's placeholder, stands for. */
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
  /** The tokens that calls and thinking are written with. A server that strips special tokens from its output must keep these. */
  readonly preserved: readonly string[];
  /** The template revision that `inVariant` has set; absent: the reference. */
  readonly variant?: string;
  /** Further stops by variant: strings that models of other variants may write as text. */
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

/** A call to render: a part of a message, a `tool-end` event, or just a name and arguments. */
export type RenderableCall = Pick<ToolCall, "name" | "arguments"> & Partial<Omit<ToolCall, "type">> & { type?: string };
/** A result to render: a tool message, or just a name and the output. */
export type RenderableResult = Pick<ToolResult, "name" | "output"> & Partial<ToolResult>;

/** Turns the model's text into events, however it is cut into pieces. `flush` says that no more will come. */
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
  /** A revision of the template. Default: the reference. */
  variant?: string;
}

export interface RenderOptions extends VariantOptions {
  /** On by default. */
  addGenerationPrompt?: boolean;
  /** Whether the model is to think. Overrides `request.thinking`. */
  thinking?: boolean;
  /** Off by default: most tokenizers add it. */
  bos?: boolean;
  now?: Date;
}

export interface GrammarOptions {
  /** The template revision whose form the calls must have. Default: any. */
  variant?: string;
  /** `false`: at most one call. */
  parallelCalls?: boolean;
  /** Whether the prompt ends inside a thinking block. Default: it does not, but the model may open one. */
  startInThinking?: boolean;
  /** The schema that an answer without calls must follow. */
  output?: JsonObject;
}

/** Constrains the model's output to the format of calls, the declared names and the tools' schemas. */
export interface Grammar {
  /** For llama.cpp. Empty if nothing can be constrained, because nothing in this dialect says where a call begins. */
  gbnf: string;
  /** The same for xgrammar, as vLLM and SGLang take it. It describes the whole output and needs no triggers. */
  structuralTag?: Json;
  /** Where the grammar starts with `auto`: at one of these strings, which is part of it. None: at the first token. */
  triggers: { type: "word" | "pattern"; value: string }[];
  /** Tokens that the server must not strip from the output. */
  preserved: string[];
  /** What the grammar cannot express, and therefore allows. */
  relaxed: { tool: string; path: string; keyword: string }[];
}
