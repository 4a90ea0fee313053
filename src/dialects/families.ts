/**
 * Which dialect each model speaks: one row per model family, special ones before general ones, because the first row that fits wins. A row
 * recognizes its family by the model's name and by marks in the chat template. A row names a variant if the family's template is that variant,
 * or is closer to it than to the reference.
 */
import type { Sampling } from "../core/nouns.ts";
import type { DialectId } from "./dialect.ts";

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

const from = (source: string, values: Sampling): SamplingDefaults => ({ values, source });
const card = (model: string, values: Sampling): SamplingDefaults => from(`model card of ${model}`, values);
const config = (model: string, values: Sampling): SamplingDefaults => from(`generation_config.json of ${model}`, values);

/** flutter_gemma uses the same values for FunctionGemma. */
const GEMMA = config("google/gemma-3-4b-it", { temperature: 1, topK: 64, topP: 0.95 });
const R1 = card("deepseek-ai/DeepSeek-R1", { temperature: 0.6, topP: 0.95 });
const LLAMA = config("meta-llama/Llama-3.1-8B-Instruct", { temperature: 0.6, topP: 0.9 });
const QWEN25 = config("Qwen/Qwen2.5-7B-Instruct", { temperature: 0.7, topP: 0.8, topK: 20, repeatPenalty: 1.05 });
const QWEN3 = config("Qwen/Qwen3-0.6B", { temperature: 0.6, topP: 0.95, topK: 20 });
const GPT_OSS = from("README of openai/gpt-oss", { temperature: 1, topP: 1 });
const MINIMAX = card("MiniMaxAI/MiniMax-M2", { temperature: 1, topP: 0.95, topK: 40 });

export const FAMILIES: readonly Family[] = [
  // ---- Google
  {
    name: "FunctionGemma",
    id: "functiongemma",
    variant: "google-functiongemma-270m-it",
    models: /function-?gemma/,
    templates: [["<start_function_declaration>"]],
    sampling: GEMMA,
    types: ["functionGemma"],
  },
  { name: "FunctionGemma with tools as prose", id: "functiongemma", templates: [["<start_function_call>"]] },
  { name: "Dragoman Tiny", id: "gemma4", variant: "google-gemma-4-31b-2026-07-09", models: /dragoman-tiny/ },
  {
    name: "Gemma 4",
    id: "gemma4",
    variant: "google-gemma-4-31b-2026-07-09",
    models: /gemma-?4(?![.\d]|b)(?!.*\be\d+b)/,
    bare: "unclear",
    templates: [["<|tool_call>", "<|turn>", "<|channel>thought\\n<channel|>"]],
    sampling: GEMMA,
  },
  {
    name: "Gemma 4 E2B/E4B",
    id: "gemma4",
    variant: "google-gemma-4-e2b-2026-07-09",
    models: /gemma-?4(?![.\d]|b)/,
    bare: "unclear",
    templates: [["<|tool_call>", "<|turn>"]],
    sampling: GEMMA,
  },

  // ---- DeepSeek
  {
    name: "DeepSeek V4.1",
    id: "deepseek-v4",
    variant: "deepseek-v4.1-flash",
    models: /deepseek[-.]?v?4[.-]1(?![\db])/,
    templates: [["｜DSML｜", "<｜System｜>"]],
  },
  {
    name: "DeepSeek V4 Flash 0731, Pro 0813",
    id: "deepseek-v4",
    variant: "deepseek-v4-flash-0731",
    models: /deepseek[-.]?v?4-.*0[78]\d\d/,
    templates: [["｜DSML｜", "!function_calls", "Beyond maximum"]],
  },
  {
    name: "DeepSeek V4",
    id: "deepseek-v4",
    variant: "deepseek-v4",
    models: /deepseek[-.]?v?4(?![\db])/,
    templates: [["｜DSML｜", "!function_calls"]],
  },
  // Made for reasoning, not for tools.
  { name: "DeepSeek V3.2 Speciale", id: "deepseek-v3.2", variant: "deepseek-ai-v3.2", doubtful: true, models: /deepseek.*speciale/ },
  {
    name: "DeepSeek V3.2",
    id: "deepseek-v3.2",
    variant: "deepseek-ai-v3.2",
    models: /deepseek[-.]?v?3[.-]2(?!\d|-exp)/,
    sampling: card("deepseek-ai/DeepSeek-V3.2", { temperature: 1, topP: 0.95 }),
  },
  { name: "DeepSeek V3.2 as llama.cpp has it", id: "deepseek-v3.2", variant: "deepseek-v3.2", templates: [["｜DSML｜"]] },
  {
    name: "DeepSeek V3.1 as llama.cpp has it",
    id: "deepseek-v3.1",
    variant: "deepseek-v3.1",
    templates: [["<｜tool▁sep｜>", "<think></think>", "!```json"]],
  },
  {
    name: "DeepSeek V3.1, V3.2-Exp",
    id: "deepseek-v3.1",
    variant: "deepseek-ai-v3.1",
    models: /deepseek[-.]?(?:chat-)?v3[.-](?:1(?!\d)|2-exp)|deepseek\.v3-v1:/,
    templates: [["<｜tool▁sep｜>", "!```json"]],
    sampling: config("deepseek-ai/DeepSeek-V3.1", { temperature: 0.6, topP: 0.95 }),
  },
  // Distills have R1's template, but were not trained on tools.
  {
    name: "a distill of DeepSeek R1",
    id: "deepseek-v3",
    variant: "deepseek-r1",
    models: /deepseek[-.]?r1(?:-.*(?:distill|qwen|llama|zero)|[^:]*:(?:1\.5|7|8|14|32|70)b)/,
    doubtful: true,
    sampling: R1,
  },
  {
    name: "DeepSeek R1",
    id: "deepseek-v3",
    variant: "deepseek-r1",
    models: /deepseek[-.]?(?:tng-)?r1/,
    templates: [["<｜tool▁sep｜>", "</think>"]],
    sampling: R1,
    types: ["deepSeek"],
  },
  { name: "Cogito 2.1", id: "deepseek-v3", doubtful: true, models: /cogito-?(?:671b-)?v?2[.-]1|cogito-v2-.*deepseek/ },
  {
    name: "DeepSeek V2.5, V3",
    id: "deepseek-v3",
    variant: "vllm-deepseekv3",
    models: /deepseek-?(?:chat-)?v(?:2\.5|3(?![.\d]|-\d(?!\d)))/,
    templates: [["<｜tool▁sep｜>"]],
    sampling: card("deepseek-ai/DeepSeek-V3-0324", { temperature: 0.3 }),
  },

  // ---- Kimi, GLM, MiniMax, gpt-oss
  {
    name: "Kimi K2.5 and later",
    id: "kimi-k2",
    variant: "kimi-k2.5",
    models: /kimi-?k2[.-][5-9](?!-code)/,
    templates: [["<|tool_calls_section_begin|>", "thinking is false"]],
  },
  { name: "Kimi K2.7 Code", id: "kimi-k2", variant: "kimi-k2.7-code", models: /kimi-?k2[.-]7-code/ },
  { name: "Kimi Linear", id: "kimi-k2", models: /kimi-?linear/ },
  {
    name: "Kimi K2 Thinking",
    id: "kimi-k2",
    variant: "kimi-k2-thinking",
    models: /kimi-?k2-thinking/,
    templates: [["<|tool_calls_section_begin|>", "<think>"]],
    sampling: card("moonshotai/Kimi-K2-Thinking", { temperature: 1 }),
  },
  { name: "Kimi K3", id: "kimi-k3", variant: "kimi-k3", models: /kimi-?k3(?!\d)/, templates: [["<|open|>", "<|sep|>", "<|close|>"]] },
  {
    name: "Kimi K2",
    id: "kimi-k2",
    variant: "kimi-k2-instruct",
    models: /kimi-?k2(?!\d)/,
    templates: [["<|tool_calls_section_begin|>"]],
    sampling: card("moonshotai/Kimi-K2-Instruct", { temperature: 0.6 }),
  },
  {
    name: "GLM-Z1",
    id: "glm4",
    variant: "glm-z1-0414",
    models: /glm-?(?:4-)?z1(?!-rumination)/,
    templates: [["[gMASK]", "可用工具", "</think>"]],
  },
  {
    name: "GLM-4-0414",
    id: "glm4",
    variant: "glm-4-0414",
    models: /glm-?4-(?:\d+b-0414|32b)/,
    templates: [["[gMASK]", "可用工具", "!item['tools']"]],
  },
  {
    name: "GLM-4",
    id: "glm4",
    variant: "glm-4-9b-chat",
    models: /glm-?4(?:-9b|(?=:|$))/,
    bare: "base",
    templates: [["[gMASK]", "可用工具"]],
  },
  {
    name: "GLM-4.5/4.6",
    id: "glm",
    variant: "glm-4.6",
    models: /glm-?4[.-][56](?![\db])/,
    templates: [["<arg_key>", "[gMASK]", "/nothink"]],
    sampling: card("zai-org/GLM-4.6", { temperature: 1 }),
  },
  {
    name: "GLM-4.7",
    id: "glm",
    variant: "glm-4.7-flash",
    models: /glm-?4[.-]7(?![\db])/,
    templates: [["<arg_key>", "[gMASK]", "!Reasoning Effort", "!tool_to_json"]],
    sampling: card("zai-org/GLM-4.7", { temperature: 1, topP: 0.95 }),
  },
  {
    name: "GLM-5.3",
    id: "glm",
    variant: "glm-5.3",
    models: /glm-?5[.-]3(?![\db])/,
    templates: [["<arg_key>", "[gMASK]", "Reasoning Effort", "in ['low', 'high']"]],
  },
  {
    name: "GLM-5.2",
    id: "glm",
    variant: "glm-5.2",
    models: /glm-?5[.-]2(?![\db])/,
    templates: [["<arg_key>", "[gMASK]", "Reasoning Effort"]],
  },
  {
    name: "GLM-5.1",
    id: "glm",
    variant: "glm-5.1",
    models: /glm-?5[.-]1(?![\db])/,
    templates: [["<arg_key>", "[gMASK]", "tool_to_json"]],
  },
  { name: "GLM-5", id: "glm", variant: "glm-4.7-flash", models: /glm-?5(?![.\d])/ },
  { name: "a later GLM", id: "glm", doubtful: true, models: /glm-?5/ },
  {
    name: "Laguna's eighth template",
    id: "laguna",
    variant: "laguna-v8",
    templates: [["<available_tools>", "<arg_key>", "laguna_glm_thinking_v8", "!preserve_thinking"]],
  },
  {
    name: "Laguna S",
    id: "laguna",
    variant: "laguna-s-2.1",
    models: /laguna-?s(?![a-z])/,
    templates: [["<available_tools>", "<arg_key>", "!</arg_key>\\n"]],
  },
  {
    name: "Laguna XS.2",
    id: "laguna",
    variant: "laguna-xs.2",
    models: /laguna-?xs(?![a-z])(?!.*2\.1)/,
    templates: [["<available_tools>", "<arg_key>", "made by Poolside"]],
  },
  {
    name: "Laguna XS-2.1",
    id: "laguna",
    variant: "laguna-xs-2.1",
    models: /laguna-?xs(?![a-z])/,
    templates: [["<available_tools>", "<arg_key>"]],
  },
  { name: "Laguna M", id: "laguna", variant: "laguna-xs.2", doubtful: true, models: /laguna-?m(?![a-z])/ },
  {
    name: "Ling 3",
    id: "ling3",
    variant: "ling-3.0",
    models: /ling-?3(?![\db])/,
    templates: [["<role>", "<arg_key>", "Bailing V3"]],
  },
  { name: "Ring 2.6", id: "ling3", doubtful: true, models: /ring-?2\.6/, templates: [["<role>", "<arg_key>"]] },
  { name: "a template with GLM's calls and turns of its own", id: "glm", doubtful: true, templates: [["<arg_key>", "!<tool_sep>"]] },
  {
    name: "LongCat",
    id: "glm",
    doubtful: true,
    models: /longcat-(?:flash-(?:chat|thinking)|2(?!\d))/,
    templates: [["<longcat_tool_call>"]],
  },
  { name: "MiniMax-M3", id: "minimax-m3", variant: "minimax-m3", models: /minimax-?m3(?!\d)/, templates: [["]<]minimax[>["]] },
  ...["1", "5", "7"].map(
    (minor): Family => ({
      name: `MiniMax-M2.${minor}`,
      id: "minimax-m2",
      variant: `minimax-m2.${minor}`,
      models: new RegExp(`minimax-?m2[.-]${minor}(?![\\d.b])`),
      templates: [["<minimax:tool_call>", `MiniMax-M2.${minor} `]],
      sampling: MINIMAX,
    }),
  ),
  {
    name: "MiniMax-M2",
    id: "minimax-m2",
    variant: "minimax-m2",
    models: /minimax-?m2/,
    templates: [["<minimax:tool_call>"]],
    sampling: MINIMAX,
  },
  {
    name: "gpt-oss",
    id: "harmony",
    variant: "gpt-oss-120b",
    models: /gpt-?oss/,
    templates: [["<|channel|>", "<|message|>", "<|start|>"]],
    sampling: GPT_OSS,
  },

  // ---- Tool specialists: before the families of their base models
  {
    name: "xLAM-2 on Llama",
    id: "xlam",
    variant: "vllm-xlam-llama",
    models: /llama-?(?:\d[.\d]*-)?xlam/,
    templates: [["single JSON array", "<|start_header_id|>"]],
  },
  { name: "xLAM-2 on Qwen", id: "xlam", variant: "vllm-xlam-qwen", models: /xlam-?2/, templates: [["single JSON array", "<|im_start|>"]] },
  { name: "xLAM", id: "xlam", doubtful: true, models: /xlam/ },
  {
    name: "Hammer",
    id: "json",
    variant: "chatml",
    models: /hammer-?[12]/,
    templates: [["[BEGIN OF TASK INSTRUCTION]", "<|im_start|>"]],
    types: ["hammer"],
  },
  {
    name: "Functionary v3.1",
    id: "functionary-v3.1",
    variant: "functionary-medium-v3.1",
    models: /functionary-(?:small-|medium-)?v3\.1/,
    templates: [["<|start_header_id|>", "'<function=' + tool_call", "{end_tag}"]],
  },
  {
    name: "Functionary v3.2",
    id: "functionary-v3.2",
    variant: "functionary-medium-v3.2",
    models: /functionary-(?:small-|medium-)?v3\.2/,
    templates: [["<|start_header_id|>", "to:recipient==all"]],
  },
  {
    name: "Cogito on Qwen",
    id: "hermes",
    variant: "qwen3-instruct-2507",
    models: /cogito(?:-v1-preview-qwen|:(?:14|32)b)/,
    templates: [["Enable deep thinking subroutine", "<|im_start|>"]],
  },
  {
    name: "Cogito on Llama",
    id: "cogito",
    variant: "cogito-v1-llama",
    models: /cogito(?:-v1-preview-llama|:(?:3|8|70)b|(?=:latest|$))/,
    templates: [["Enable deep thinking subroutine", "<|start_header_id|>"]],
  },
  { name: "Cogito v2 on Llama", id: "cogito", doubtful: true, models: /cogito-v2-preview-llama-(?!109)/ },
  {
    name: "rnj-1",
    id: "cogito",
    variant: "rnj-1",
    models: /rnj-?1(?=-instruct|:)/, // the hub's rnj-1 is the base model
    templates: [["You are rnj-1", "<|start_header_id|>"]],
  },
  { name: "FireFunction v2", id: "phi4-mini", models: /firefunction-?v2/, templates: [["functools[", "<|start_header_id|>"]] },
  { name: "ToolACE", id: "pythonic", models: /toolace/ },
  { name: "watt-tool", id: "pythonic", models: /watt-tool/ },

  // ---- Liquid, Llama 4, Olmo
  {
    name: "LFM2.5-8B-A1B, LFM2.5 Thinking",
    id: "pythonic",
    variant: "lfm2.5-8b-a1b",
    models: /lfm-?2\.5[-:](?:8b|.*thinking)/,
    templates: [["<|tool_call_start|>", "<|im_start|>"]],
  },
  {
    name: "LFM2.5",
    id: "pythonic",
    variant: "lfm2.5-instruct",
    models: /lfm-?2\.5(?!-vl)/,
    templates: [["List of tools: [", "<|im_start|>"]],
    sampling: card("LiquidAI/LFM2.5-1.2B-Instruct", { temperature: 0.1, topK: 50, topP: 0.1, repeatPenalty: 1.05 }),
  },
  { name: "LFM2.5-VL", id: "pythonic", variant: "lfm2.5-instruct", doubtful: true, models: /lfm-?2\.5-vl/ },
  {
    name: "LFM2",
    id: "pythonic",
    variant: "lfm2-8b-a1b",
    models: /lfm-?2(?![.\d]|-vl)/,
    templates: [["<|tool_list_start|>"]],
    sampling: card("LiquidAI/LFM2-8B-A1B", { temperature: 0.3, minP: 0.15, repeatPenalty: 1.05 }),
  },
  {
    name: "Llama 4",
    id: "pythonic",
    variant: "vllm-llama4-pythonic",
    models: /llama-?4(?![.\d])/,
    bare: "base",
    templates: [["<|header_start|>", "func_name1("]],
    sampling: config("meta-llama/Llama-4-Scout-17B-16E-Instruct", { temperature: 0.6, topP: 0.9 }),
  },
  {
    name: "Olmo 3",
    id: "pythonic",
    variant: "olmo-3-7b-instruct",
    models: /olmo-?3(?!.*think)/,
    bare: "base",
    templates: [["<function_calls>", "<functions>", "<|im_start|>"]],
    sampling: card("allenai/Olmo-3-7B-Instruct", { temperature: 0.6, topP: 0.95 }),
  },
  // Not trained on tools.
  { name: "Olmo 3 Think", id: "pythonic", variant: "olmo-3-7b-instruct", doubtful: true, models: /olmo-?3/ },
  { name: "a pythonic template", id: "pythonic", doubtful: true, templates: [["func_name1(params_name1"]] },

  // ---- Microsoft, IBM
  {
    name: "Phi-4-mini",
    id: "phi4-mini",
    variant: "vllm-phi4-mini-string-args",
    models: /phi-?4-(?:mini|multimodal)(?!-(?:flash-)?reasoning)/,
    templates: [["functools["]],
    types: ["phi"],
  },
  { name: "Phi-4-mini, by Microsoft", id: "phi4-mini", templates: [["<|tool|>", "<|/tool|>"]] },
  { name: "Phi-4-mini-reasoning", id: "phi4-mini", models: /phi-?4-mini-reasoning/, doubtful: true },
  // It writes Qwen3-Coder's calls; its template is not available.
  {
    name: "Granite 4.2",
    id: "qwen3-coder",
    doubtful: true,
    models: /granite-?4[.-]2(?![\db])/,
    templates: [["<|start_of_role|>", "<function=", "<parameter="]],
  },
  {
    name: "Granite 4.1",
    id: "granite",
    variant: "granite-4.1",
    models: /granite-?4[.-]1(?![\db])/,
    templates: [["<|start_of_role|>", "<tool_call>", "<tools>", "!Please ensure responses are professional"]],
  },
  {
    name: "Granite 4",
    id: "granite",
    variant: "granite-4.0",
    models: /granite-?4(?![\db])/,
    templates: [["<|start_of_role|>", "<tool_call>", "<tools>"]],
  },
  {
    name: "Granite 3",
    id: "granite",
    variant: "granite-3.3",
    models: /granite-?3(?![\db])/,
    templates: [["<|start_of_role|>", "tool"]],
  },
  {
    name: "Granite 20B Function Calling",
    id: "granite",
    models: /granite-20b-functioncalling/,
    templates: [["<|function_call_library|>", "<function_call> "]],
  },

  // ---- Mistral: the tokenizer's version decides
  {
    name: "Mistral Small 4, Medium 3.5",
    id: "mistral",
    variant: "mistral-v15",
    models: /mistral-(?:small-?4(?![.\db])|small-.*26\d\d|medium-?3[.-]5)/,
    templates: [["[TOOL_CALLS]", "[MODEL_SETTINGS]"]],
  },
  {
    name: "Mistral Small 3.2",
    id: "mistral",
    variant: "mistral-small-3.2-2506",
    models: /mistral-small-?(?:3[.-]2|.*2506)/,
    templates: [["[TOOL_CALLS]", "[CALL_ID]"]],
    sampling: card("mistralai/Mistral-Small-3.2-24B-Instruct-2506", { temperature: 0.15 }),
  },
  {
    name: "Ministral 3 Reasoning",
    id: "mistral",
    variant: "ministral-3-14b-reasoning-2512",
    models: /ministral-?3-.*reasoning/,
    templates: [["[TOOL_CALLS]", "[ARGS]", "[THINK]"]],
  },
  { name: "Ministral 3", id: "mistral", variant: "mistral-v13", models: /ministral-?3(?![.\d]|b)|ministral-(?:14b|\d+b.*2512)/ },
  {
    name: "Magistral",
    id: "mistral",
    models: /magistral/,
    sampling: card("mistralai/Magistral-Small-2509", { temperature: 0.7, topP: 0.95 }),
  },
  {
    name: "Devstral",
    id: "mistral",
    variant: "mistral-v13",
    models: /devstral/,
    templates: [["[TOOL_CALLS]", "[ARGS]"]],
    sampling: card("mistralai/Devstral-Small-2507", { temperature: 0.15 }),
  },
  // Ollama's "mistral-small" and "mistral-large" are among these.
  {
    name: "Mistral Small 3.0/3.1, Large 2411",
    id: "mistral",
    variant: "mistral-v7",
    models: /mistral-small(?:-?3[.-][01](?!\d)|-.*250[13]|(?=$|:(?!22b)))|mistral-large(?:-.*2411|(?=$|:(?!.*2407)))/,
    templates: [["[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[SYSTEM_PROMPT]"]],
  },
  {
    name: "Mistral Nemo",
    id: "mistral",
    variant: "mistral-nemo-2407",
    models: /mistral-nemo(?!t|-minitron)/,
    templates: [["[TOOL_CALLS]", "[AVAILABLE_TOOLS]"]],
    sampling: card("mistralai/Mistral-Nemo-Instruct-2407", { temperature: 0.3 }),
  },
  { name: "Voxtral Small", id: "mistral", variant: "mistral-v13", doubtful: true, models: /voxtral-small/ },
  { name: "Pixtral", id: "mistral", variant: "mistral-nemo-2407", doubtful: true, models: /pixtral/ },
  { name: "Mixtral 8x22B", id: "mistral", variant: "mistral-nemo-2407", models: /mixtral-8x22b|mixtral:8x22b/, bare: "base" },
  {
    name: "Mistral until 2025",
    id: "mistral",
    variant: "mistral-nemo-2407",
    models:
      /(?<!-)mistral(?=:|$)|mistral-7b(?=-instruct-v0\.?3|-v0\.3-instruct)|mistral-(?:small|large)[-:].*24\d\d|mistral-small:22b|ministral-8b(?!.*(?:25\d\d|latest))|codestral[-:](?:22b|24\d\d|2501)/,
  },
  { name: "Mistral", id: "mistral", variant: "mistral-v13", models: /mistral-(?:small|medium|large)|ministral-8b/ },
  { name: "Codestral", id: "mistral", variant: "mistral-v13", models: /codestral(?=-(?:2\d{3}|latest)|:latest|$)/ },

  // ---- Cohere
  {
    name: "Cohere's North",
    id: "cohere",
    variant: "cohere2-moe",
    models: /north-mini|cohere2-?moe/,
    templates: [["<|START_ACTION|>", "<|START_TEXT|>"]],
  },
  // It has the same architecture; its template is not available.
  { name: "Command A+", id: "cohere", doubtful: true, models: /command-?a-plus/ },
  {
    name: "Command A Reasoning",
    id: "command-r7b",
    variant: "command-a-reasoning-08-2025",
    doubtful: true,
    models: /command-?a-reasoning/,
    templates: [["<|START_ACTION|>", "<|START_RESPONSE|>", "reasoning is not undefined"]],
  },
  { name: "Command A Vision", id: "command-r7b", doubtful: true, models: /command-?a-vision/ },
  {
    name: "Command R7B, Command A",
    id: "command-r7b",
    variant: "command-r7b-12-2024",
    models: /(?:c4ai-)?command-?(?:r7b|a(?![a-z]))/,
    templates: [["<|START_ACTION|>", "<|START_RESPONSE|>"]],
    sampling: card("CohereLabs/c4ai-command-a-03-2025", { temperature: 0.3 }),
  },
  {
    name: "Command R, Command R+",
    id: "command-r",
    variant: "command-r-plus",
    models: /(?:c4ai-)?command-?r(?![a-z\d])/,
    templates: [
      ["<|START_OF_TURN_TOKEN|>", "Write \\'Action:\\' followed by"],
      ["<|START_OF_TURN_TOKEN|>", "Write 'Action:' followed by"],
    ],
  },
  { name: "Cohere's models", id: "cohere", doubtful: true, templates: [["<|START_ACTION|>"]] },

  // ---- Swiss AI
  // The template of 1.5 is not available.
  { name: "Apertus 1.5", id: "apertus", doubtful: true, models: /apertus-?v?1[.-]5/, bare: "base" },
  {
    name: "Apertus",
    id: "apertus",
    variant: "apertus-2509",
    models: /apertus/,
    bare: "base",
    templates: [["<|tools_prefix|>", "<|assistant_start|>"]],
    sampling: card("swiss-ai/Apertus-8B-Instruct-2509", { temperature: 0.8, topP: 0.9 }),
  },

  // ---- InternLM: its own templates have no tools, vLLM's does
  {
    name: "Intern-S1",
    id: "internlm",
    doubtful: true,
    models: /intern-?s1(?!\d)/,
    templates: [["<|action_start|>", "default_thinking_sys"]],
  },
  {
    name: "InternLM",
    id: "internlm",
    variant: "vllm-internlm2",
    models: /internlm-?[23](?!\d)/,
    bare: "base",
    templates: [["<|action_start|>", "<|plugin|>", "<|im_start|>"]],
  },

  // ---- AI21: later models write Hermes calls
  {
    name: "Jamba",
    id: "jamba",
    variant: "jamba-mini-1.7",
    models: /(?:ai21-)?jamba-(?:(?:mini|large)-)?1[.-][5-9]/,
    templates: [["<|bom|>", "<tool_calls>"]],
  },

  // ---- Tencent
  {
    name: "Hy3",
    id: "hy3",
    variant: "hy3",
    models: /hy3(?![.\da-z]|-preview)/,
    templates: [["hy_User", "tool_sep", ":opensource"]],
    sampling: from("README of Tencent-Hunyuan/Hy3", { temperature: 0.9, topP: 1 }),
  },
  { name: "Hy3-preview", id: "hy3", variant: "hy3-preview", models: /hy3-preview/, templates: [["hy_User", "tool_sep"]] },
  { name: "Hy4", id: "hy3", doubtful: true, models: /hy4(?![.\da-z])/, templates: [["hy_User", "arg_key"]] },

  // ---- Meta's Muse
  {
    name: "Muse Glimmer as vLLM has it",
    id: "muse-glimmer",
    variant: "vllm-muse-glimmer",
    templates: [["<atem:function_calls>", "<|eom|>", "To make parallel tool calls"]],
  },
  {
    name: "Muse Glimmer",
    id: "muse-glimmer",
    variant: "muse-glimmer-30b",
    models: /muse-?glimmer(?!.*assistant)/, // the assistant is a draft model
    templates: [["<atem:function_calls>", "<|eom|>"]],
  },

  // ---- Thinking Machines
  {
    name: "Inkling",
    id: "inkling",
    variant: "inkling",
    models: /inkling(?![a-z])/,
    templates: [["<|message_model|>", "<|content_invoke_tool_json|>"]],
  },

  // ---- Upstage
  {
    name: "Solar Open",
    id: "solar-open",
    variant: "solar-open-100b",
    models: /solar-open[-:]100b/,
    templates: [["<|tool_call:begin|>", "<|tool_call:args|>", "You are Solar Open 100B"]],
  },

  // ---- Sber
  {
    name: "GigaChat 3.1",
    id: "gigachat",
    variant: "gigachat3.1-10b-a1.8b",
    models: /gigachat-?3\.1/,
    templates: [["<|role_sep|>", "<|function_call|>"]],
  },
  {
    name: "GigaChat 3",
    id: "gigachat",
    variant: "gigachat3-10b-a1.8b",
    models: /gigachat-?3(?![.\d])/,
    templates: [["<|role_sep|>", "function descriptions"]],
  },

  // ---- ByteDance
  { name: "Seed-OSS", id: "seed-oss", variant: "seed-oss", models: /seed-oss/, templates: [["<seed:bos>", "<seed:tool_call>"]] },

  // ---- OpenBMB
  {
    name: "MiniCPM5",
    id: "minicpm5",
    variant: "minicpm5",
    models: /minicpm-?5(?![.\d])/,
    templates: [["<function name=", "<param name=", "<![CDATA["]],
  },

  // ---- Hermes and Qwen
  {
    name: "Qwen3.8",
    id: "qwen3-coder",
    variant: "qwen3.8-27b",
    models: /qwen-?3(?:\.|-?(?=\d-))8/,
    templates: [["<function=", "<parameter=", "<|im_start|>", "Reasoning effort is set to xhigh"]],
  },
  {
    name: "Qwen3.5 0.8B/2B",
    id: "qwen3-coder",
    variant: "qwen3.5-0.8b",
    models: /qwen-?3(?:\.|-?(?=\d-))5[-:](?:0\.8|2)b/,
    templates: [["<function=", "<parameter=", "<|im_start|>", "<|vision_start|>", "enable_thinking is true"]],
  },
  {
    name: "Qwen3.6 and later",
    id: "qwen3-coder",
    variant: "qwen3.6-35b-a3b",
    models: /qwen-?3(?:\.|-?(?=\d-))[6-9]/,
    templates: [["<function=", "<parameter=", "<|im_start|>", "<|vision_start|>", "preserve_thinking"]],
  },
  {
    name: "Qwen3.5",
    id: "qwen3-coder",
    variant: "qwen3.5-4b",
    models: /qwen-?3(?:\.|-?(?=\d-))5/,
    templates: [["<function=", "<parameter=", "<|im_start|>", "<|vision_start|>"]],
  },
  { name: "Ornith, Nex-N2", id: "qwen3-coder", variant: "qwen3.5-4b", models: /ornith(?![a-z])|nex-n2(?!\d)/ },
  // The same calls in another tag; its template is not available.
  { name: "ZAYA1", id: "qwen3-coder", doubtful: true, models: /zaya-?1/, templates: [["<zyphra_tool_call>"]] },
  { name: "MiniCPM-V 4.6", id: "qwen3-coder", variant: "qwen3.5-0.8b", doubtful: true, models: /minicpm-v-?4[.-]6/ },
  { name: "Intern-S2", id: "qwen3-coder", variant: "qwen3.5-4b", doubtful: true, models: /intern-?s2/ },
  {
    name: "Nemotron 3.5, Nemotron 3 Ultra",
    id: "qwen3-coder",
    variant: "nemotron-3.5-nano",
    models: /nemotron-?(?:(?:nano|super|ultra)-)?3\.5|nemotron-?3-ultra/,
    templates: [["<function=", "<parameter=", "<|im_start|>", "{reasoning effort: efficient}"]],
  },
  {
    name: "Nemotron 3",
    id: "qwen3-coder",
    variant: "nemotron-3-nano",
    models: /nemotron-?(?:(?:nano|super)-)?3(?![.\d]|b)|nemotron-cascade-2/,
    templates: [["<function=", "<parameter=", "<|im_start|>", "truncate_history_thinking"]],
  },
  {
    name: "Step 3.5 and later",
    id: "qwen3-coder",
    variant: "step-3.5-flash",
    models: /step-?3\.[5-9]/,
    templates: [["<function=", "<parameter=", "<|im_start|>", "in JSONSchema format"]],
  },
  { name: "MiMo V2", id: "qwen3-coder", models: /mimo-?v2/ },
  { name: "INTELLECT-3", id: "qwen3-coder", doubtful: true, models: /intellect-?3/ },
  {
    name: "Qwen3-Coder",
    id: "qwen3-coder",
    variant: "qwen3-coder",
    models: /qwen-?3-coder/,
    templates: [["<function=", "<parameter=", "<tool_call>", "<|im_start|>", "!<think>", "!following functions"]],
    sampling: config("Qwen/Qwen3-Coder-30B-A3B-Instruct", {
      temperature: 0.7,
      topP: 0.8,
      topK: 20,
      repeatPenalty: 1.05,
    }),
  },
  { name: "a relative of Qwen3-Coder", id: "qwen3-coder", templates: [["<function=", "<parameter=", "<tool_call>", "<|im_start|>"]] },
  {
    name: "a template with Qwen3-Coder's calls and turns of its own",
    id: "qwen3-coder",
    doubtful: true,
    templates: [["<function=", "<parameter=", "<tool_call>"]],
  },
  {
    name: "Hermes 2 Pro, Hermes 3",
    id: "hermes",
    variant: "hermes-3-llama-3.1-8b",
    models: /hermes-?(?:3|2-(?:pro|theta))/,
    templates: [["<tool_call>", "function calling AI model", "<|im_start|>", "json_to_python_type"]],
  },
  {
    name: "a relative of Hermes 3",
    id: "hermes",
    templates: [["<tool_call>", "function calling AI model", "<|im_start|>"]],
  },
  {
    name: "Hermes 4, DeepHermes", // the same calls, in the turns of each base model
    id: "hermes",
    doubtful: true,
    models: /deephermes-?3|hermes-?4/,
    templates: [["<tool_call>", "keep_cots"]],
    sampling: card("NousResearch/Hermes-4-405B", { temperature: 0.6, topP: 0.95, topK: 20 }),
  },
  {
    name: "Qwen2.5",
    id: "hermes",
    variant: "qwen2.5-7b-instruct",
    models: /qwen-?2[.-]?5(?![\db]|-(?:vl|omni|math|audio|.*vision))/,
    bare: "base",
    templates: [["<tool_call>", '"arguments"', "<|im_start|>", "You are Qwen, created by Alibaba Cloud"]],
    sampling: QWEN25,
    types: ["qwen"],
  },
  {
    name: "MiMo-VL",
    id: "hermes",
    variant: "mimo-vl",
    models: /mimo-vl/,
    templates: [["<tool_call>", "<tools>", "<|im_start|>", "You are MiMo, an AI assistant developed by Xiaomi"]],
  },
  {
    name: "Qwen3 Thinking",
    id: "hermes",
    variant: "qwen3-thinking-2507",
    models: /qwen-?3[-:](?!omni).*thinking|qwen-?3-next(?=$|:(?!.*instruct))/, // Ollama's tag
    templates: [["<tool_call>", "<tools>", "<|im_start|>assistant\\n<think>\\n", "reasoning_content"]],
    sampling: QWEN3,
  },
  {
    name: "QwQ",
    id: "hermes",
    variant: "qwq-32b",
    models: /qwq(?!.*preview)/,
    templates: [["<tool_call>", "<tools>", "<|im_start|>assistant\\n<think>\\n"]],
    sampling: config("Qwen/QwQ-32B", { temperature: 0.6, topP: 0.95, topK: 40 }),
  },
  {
    name: "Qwen3-VL Instruct",
    id: "hermes",
    variant: "qwen3-vl-instruct",
    models: /qwen-?3-vl[-:].*instruct/,
    templates: [["<tool_call>", "<tools>", '"arguments"', "<|im_start|>", "<|vision_start|>", "!<think>"]],
  },
  {
    name: "Qwen3 2507 Instruct",
    id: "hermes",
    variant: "qwen3-instruct-2507",
    templates: [["<tool_call>", '"arguments"', "<|im_start|>", "# Tools\\n\\nYou may call one or more", "!think", "!system\\nYou are"]],
    models: /qwen-?3[-:](?!omni).*(?:instruct|2507)|qwen-?3-next-80b/,
    sampling: config("Qwen/Qwen3-4B-Instruct-2507", { temperature: 0.7, topP: 0.8, topK: 20 }),
  },
  {
    name: "Qwen3",
    id: "hermes",
    variant: "qwen3-0.6b",
    models: /qwen-?3(?![.\d]|guard|-(?:omni|asr|tts))/,
    templates: [["<tool_call>", "<tools>", '"arguments"', "<|im_start|>", "enable_thinking", "reasoning_content"]],
    sampling: QWEN3,
  },
  {
    name: "Qwen2.5-VL, Qwen3-Omni",
    id: "hermes",
    variant: "qwen3-vl-instruct",
    doubtful: true,
    models: /qwen-?(?:2[.-]?5-(?:vl|.*vision)|3-omni)/,
  },
  { name: "Baichuan-M2", id: "hermes", variant: "qwen3-0.6b", models: /baichuan-m2/ },
  { name: "Arch-Function, Arch-Agent", id: "hermes", models: /arch-(?:function|agent)/ },
  { name: "Jan", id: "hermes", models: /jan-(?:nano|v[1-3])/, sampling: QWEN3 },

  // ---- Calls like Hermes', in prompts of their own
  {
    name: "SmolLM3",
    id: "smollm3",
    variant: "smollm3-3b",
    models: /smollm-?3/,
    templates: [["Reasoning Mode: ", "assistant named SmolLM", "Today Date: "]],
    sampling: card("HuggingFaceTB/SmolLM3-3B", { temperature: 0.6, topP: 0.95 }),
  },
  {
    name: "SmolLM3, by Unsloth",
    id: "smollm3",
    variant: "unsloth-smollm3-3b",
    templates: [["Reasoning Mode: ", "assistant named SmolLM"]],
  },
  {
    name: "Nemotron Nano v2",
    id: "nemotron",
    variant: "nemotron-nano-v2",
    models: /nemotron-nano-(?:\d+b-)?v2(?!-vl)/,
    templates: [["<TOOLCALL>[", "<SPECIAL_11>"]],
  },
  {
    name: "Llama-Nemotron Super v1.5",
    id: "nemotron",
    variant: "llama-nemotron-super-v1.5",
    models: /llama-?3[.-]3-nemotron-super-\d+b-v1[.-]5/,
    templates: [["<TOOLCALL>[", "Response from tool(s) will be returned in this format"]],
  },
  {
    name: "Llama-Nemotron, for tools",
    id: "nemotron",
    variant: "llama-nemotron-nano-v1",
    templates: [["<TOOLCALL>[", "<AVAILABLE_TOOLS>["]],
  },
  {
    name: "Llama-Nemotron", // it comes with two templates, one of them without tools
    id: "nemotron",
    variant: "llama-nemotron-nano-v1",
    doubtful: true,
    models: /(?:llama-?3[.-][13]-)?nemotron-(?:nano|super|ultra)-\d+b-v1/,
  },
  { name: "Nemotron Nano v2 VL", id: "nemotron", variant: "nemotron-nano-v2", doubtful: true, models: /nemotron-nano-(?:\d+b-)?v2/ },
  {
    name: "Hunyuan-A13B",
    id: "hunyuan",
    variant: "vllm-hunyuan-a13b",
    models: /hunyuan-a13b/,
    templates: [["<tool_calls>", "<|extra_0|>", "<|extra_4|>"]],
  },
  {
    name: "Hunyuan 0.5B to 7B", // the turns of the small models have other marks
    id: "hunyuan",
    doubtful: true,
    models: /hunyuan-(?:0\.5|1\.8|4|7)b/,
    sampling: from("README of Tencent-Hunyuan/Hunyuan-7B", { temperature: 0.7, topP: 0.8, topK: 20, repeatPenalty: 1.05 }),
  },
  {
    name: "Apriel 1.6",
    id: "apriel",
    variant: "apriel-1.6-15b-thinker",
    models: /apriel-1[.-]6/,
    templates: [["<tool_calls>[", "<|begin_assistant|>"]],
  },
  {
    name: "Apriel 1.5",
    id: "apriel",
    variant: "unsloth-apriel-1.5",
    models: /apriel-1[.-]5/,
    templates: [["<tool_calls>[", "[BEGIN FINAL RESPONSE]", "<|assistant|>"]],
  },
  {
    name: "Ling 2",
    id: "ling",
    variant: "ling-2.0",
    models: /ling-(?:(?:mini|flash)-?2[.-]0|1t(?![a-z]))/,
    templates: [["<role>HUMAN</role>", "<tool_call>", "thinking_option = 'off'"]],
  },
  {
    name: "Ring 2, Ling 2.5 and 2.6", // the same calls, but little is known of the turns
    id: "ling",
    doubtful: true,
    models: /ring-(?:(?:mini|flash)-?(?:linear-)?2[.-]0|1t(?![a-z])|2[.-]5)|ling-?2[.-][56]/,
    templates: [["<role>HUMAN</role>", "<tool_call>"]],
  },
  {
    name: "EXAONE 4.0",
    id: "exaone",
    variant: "exaone-4.0",
    models: /exaone-?4[.-]0/,
    templates: [["[|endofturn|]", "<tool_result>"]],
  },
  { name: "K-EXAONE 2", id: "qwen3-coder", doubtful: true, models: /k-exaone-?2[.-]/ }, // little is known of its turns, too
  { name: "a later EXAONE", id: "exaone", doubtful: true, models: /(?:k-)?exaone-?4|k-exaone/, templates: [["endofturn|", "<tool_call>"]] },
  {
    name: "Bielik 3",
    id: "bielik",
    variant: "bielik-11b-v3.0-instruct",
    models: /bielik-(?:minitron-)?[\d.]+b-v3/,
    bare: "base",
    templates: [["<|function_list|>", "<tool_call>"]],
  },
  {
    name: "MiniMax-M1",
    id: "minimax-m1",
    variant: "minimax-m1",
    models: /minimax-?m1(?!\d)/,
    templates: [["<beginning_of_sentence>", "<tool_calls>"]],
  },
  {
    name: "Reka Edge",
    id: "reka-edge",
    variant: "reka-edge",
    models: /reka-edge/,
    templates: [["human: ", "<sep>", "<tool_call>"]],
  },
  { name: "a template with Hermes calls", id: "hermes", templates: [["<tool_call>", "arguments", "<tools>", "<|im_start|>"]] },
  {
    name: "a template with Hermes calls and turns of its own",
    id: "hermes",
    doubtful: true,
    templates: [
      ['<tool_call>\\n{"name"'],
      ['<tool_call>{"name"'],
      ['<tool_call>{\\"name\\"'],
      ["<tool_call>", "<function-name>, "],
      ["<tool_calls>["],
      ["<TOOLCALL>["],
    ],
  },
  {
    name: "a model with Hermes calls and turns of its own",
    id: "hermes",
    doubtful: true,
    models:
      /trinity-(?:nano|mini|large)|ernie-?4\.5-.*thinking|step-?3-vl|jamba(?!-v0)|llama-?3-groq-(?:8b-|70b-)?tool-use|smollm-?2[-:]1\.7b|nanbeige-?4|falcon-?3[-:]|youtu-llm|tongyi-deepresearch/,
  },

  // ---- Llama 3
  {
    name: "a Llama 3 template of vLLM",
    id: "llama3",
    templates: [["<|start_header_id|>", "respond with a JSON for a function call", '"output":']],
  },
  {
    name: "Llama 3.2",
    id: "llama3",
    variant: "llama-3.2-3b-instruct",
    models: /llama-?v?3[.-]2(?![\db])/,
    bare: "base",
    templates: [["<|start_header_id|>", "respond with a JSON for a function call", "strftime_now"]],
    sampling: LLAMA,
    types: ["llama"],
  },
  // There is no base model of 3.3.
  { name: "Llama 3.3", id: "llama3", variant: "llama-3.1-8b-instruct", models: /llama-?v?3[.-]3(?![\db])(?!-nemotron)/, sampling: LLAMA },
  {
    name: "Llama 3.1",
    id: "llama3",
    variant: "llama-3.1-8b-instruct",
    models: /llama-?v?3[.-]1(?![\db])(?!-nemotron-nano)|nemotron:70b/,
    bare: "base",
    templates: [["<|start_header_id|>", "respond with a JSON for a function call"]],
    sampling: LLAMA,
  },
  // By its name, Llama 4 is detected as pythonic, the form for which servers are configured.
  {
    name: "Llama 4 by Meta's template",
    id: "llama3",
    variant: "llama-4",
    templates: [["<|header_start|>", "respond with a JSON for a function call"]],
  },
  {
    name: "Llama 4, asked for JSON by vLLM",
    id: "llama3",
    variant: "vllm-llama4-json",
    templates: [["<|header_start|>", "Separate multiple function calls by"]],
  },

  // ---- Not trained on tools: asked for JSON, in the model's own turns
  { name: "Gemma 3", id: "json", variant: "gemma", models: /gemma-?3n?(?![.\d])/, doubtful: true, sampling: GEMMA, types: ["gemmaIt"] },
  {
    name: "Gemma",
    id: "json",
    variant: "gemma",
    models: /gemma-?2(?![.\d]|b)|gemma-1\.1|gemma:|gemma2:|gemma-[27]b/,
    doubtful: true,
    bare: "base",
    templates: [["<start_of_turn>", "!tools"]],
  },
  {
    name: "Phi-4",
    id: "json",
    variant: "phi4",
    models: /phi-?4(?!-(?:mini|multi))/,
    doubtful: true,
    templates: [["<|im_sep|>", "!tools"]],
  },
  { name: "Phi-3", id: "json", variant: "phi", models: /phi-?3/, doubtful: true, templates: [["<|user|>", "<|end|>", "!tools"]] },
  {
    name: "a ChatML template without tools",
    id: "json",
    variant: "chatml",
    doubtful: true,
    templates: [["<|im_start|>", "!tool", "!document"]],
  },
  {
    name: "a Llama 3 template without tools",
    id: "json",
    variant: "llama3",
    doubtful: true,
    templates: [["<|start_header_id|>", "<|eot_id|>", "!tool", "!document"]],
  },
  {
    name: "any chat model",
    id: "json",
    variant: "plain",
    doubtful: true,
    // A base model knows no turns: it continues a plain transcript best.
    types: ["gemma", "general"],
  },
];
