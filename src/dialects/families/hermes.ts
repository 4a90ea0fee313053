/** Calls like Hermes', in prompts of their own; then any template with such calls. */
import { card, type Family, from } from "./family.ts";

export const HERMES: readonly Family[] = [
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
      /trinity-(?:nano|mini|large-preview)|mellum2|motif-3(?![.\da-z])|a\.x-k|nemotron-orchestrator|ernie-?4\.5-.*thinking|step-?3-vl|jamba(?!-v0)|llama-?3-groq-(?:8b-|70b-)?tool-use|smollm-?2[-:]1\.7b|nanbeige-?4|falcon-?(?:3[-:]|h1r)|youtu-llm|tongyi-deepresearch/,
  },
];
