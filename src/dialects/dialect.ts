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

/** How models of one family write tool calls, thinking and prompts. */
export interface Dialect {
  readonly id: string;
  /** Its name, for people to read. */
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
  /** Makes a scanner for one output of a model. */
  createScanner(options?: ScannerOptions): Scanner;
  /** What a good prompt needs beyond the template's bytes; engines call it before `render`. */
  adapt?(request: Request): Request;
  /** The whole prompt, as the model's own template writes it; `promptText` makes a text of it. */
  render(request: Request, options?: RenderOptions): Prompt;
  /** The declarations of tools alone. */
  renderTools(tools: readonly Tool[], options?: VariantOptions): Prompt;
  /** One call, as the model writes it. */
  renderToolCall(call: RenderableCall, options?: VariantOptions): Prompt;
  /** Several calls of one answer. */
  renderToolCalls(calls: readonly RenderableCall[], options?: VariantOptions): Prompt;
  /** The results of calls, as the model gets them back. */
  renderToolResults(results: readonly RenderableResult[], options?: VariantOptions): Prompt;
  /** A thought, as the model writes it; empty if the dialect has no thinking. */
  renderThinking(text: string): Prompt;
  /** The convention explained to a model that was not trained on it. */
  instructions(tools: readonly Tool[], options?: VariantOptions): string;
  /** What makes a model keep to its tools while it writes. Throws if a call is required and there is no tool for it. */
  grammar?(tools: readonly Tool[], toolChoice: ToolChoice, options?: GrammarOptions): Grammar;
}

/** A call to render: a part of a message, a `tool-end` event, or just a name and arguments. */
export type RenderableCall = Pick<ToolCall, "name" | "arguments"> & Partial<Omit<ToolCall, "type">> & { type?: string };
/** A result to render: a tool message, or just a name and the output. */
export type RenderableResult = Pick<ToolResult, "name" | "output"> & Partial<ToolResult>;

/** Turns one output of a model into events, however it is cut into pieces. */
export interface Scanner {
  /** The events that the next piece of the output completes. */
  feed(text: string): Event[];
  /** The output has ended: the events that were still waiting. Each output needs a scanner of its own. */
  flush(): Event[];
}

/**
 * What becomes of a call opener inside an open thinking block: it stays thinking (`ignore`), ends the block (`promote`), or ends it
 * unless the block is closed later (`promote-if-unclosed`).
 */
export type CallsInThinking = "ignore" | "promote-if-unclosed" | "promote";

export interface ScannerOptions {
  /** The declared tools: for the types of values, and for names that the model wrote with a prefix. */
  tools?: readonly Tool[] | undefined;
  /** What the output continues: its tail sets the start state. */
  prompt?: Prompt | string | undefined;
  /** Whether the output begins inside thinking. Default: as the prompt says. */
  startInThinking?: boolean | undefined;
  /** Default: by dialect. */
  callsInThinking?: CallsInThinking | undefined;
  /** A longer call is malformed. Default: 8,388,608. */
  maxCallChars?: number | undefined;
  /** How deep arguments may nest. Default: 256. */
  maxDepth?: number | undefined;
  /** Makes the id of a call to which the model gave none, from its `index`. */
  mintId?: ((n: number) => string) | undefined;
}

export interface VariantOptions {
  /** A revision of the template. Default: the reference. */
  variant?: string | undefined;
}

export interface RenderOptions extends VariantOptions {
  /** Whether to end with the header that makes the model answer. On by default. */
  addGenerationPrompt?: boolean | undefined;
  /** Whether the model is to think. Overrides `request.thinking`. */
  thinking?: boolean | undefined;
  /** Whether to begin with the beginning-of-sequence token. Off by default: most tokenizers add it. */
  bos?: boolean | undefined;
  /** The date, for templates that write one. Default: today. */
  now?: Date | undefined;
}

export interface GrammarOptions {
  /** The template revision whose form the calls must have. Default: any. */
  variant?: string | undefined;
  /** `false`: at most one call. */
  parallelCalls?: boolean | undefined;
  /** Whether the prompt ends inside a thinking block. Default: it does not, but the model may open one. */
  startInThinking?: boolean | undefined;
  /** The schema that an answer without calls must follow. */
  output?: JsonObject | undefined;
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
