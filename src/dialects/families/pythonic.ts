/** Calls in Python's syntax: Liquid, Llama 4, Olmo. */
import { card, config, type Family } from "./family.ts";

export const PYTHONIC: readonly Family[] = [
  {
    name: "LFM2.5-8B-A1B, LFM2.5 Thinking",
    id: "pythonic",
    variant: "lfm2.5-8b-a1b",
    models: /lfm-?2[.-]5[-:](?:8b|.*thinking)/,
    templates: [["<|tool_call_start|>", "<|im_start|>"]],
  },
  {
    name: "LFM2.5",
    id: "pythonic",
    variant: "lfm2.5-instruct",
    models: /lfm-?2[.-]5(?!-vl)/,
    templates: [["List of tools: [", "<|im_start|>"]],
    sampling: card("LiquidAI/LFM2.5-1.2B-Instruct", { temperature: 0.1, topK: 50, topP: 0.1, repeatPenalty: 1.05 }),
  },
  { name: "LFM2.5-VL", id: "pythonic", variant: "lfm2.5-instruct", doubtful: true, models: /lfm-?2[.-]5-vl/ },
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
];
