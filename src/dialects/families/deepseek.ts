/** DeepSeek, its distills, and Cogito 2.1. */
import { card, config, type Family } from "./family.ts";

const R1 = card("deepseek-ai/DeepSeek-R1", { temperature: 0.6, topP: 0.95 });

export const DEEPSEEK: readonly Family[] = [
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
    models: /deepseek[-.]?(?:v?3[.-]|v3)2(?!\d|-exp)/,
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
    models: /deepseek[-.]?(?:chat-)?v3[.-]?(?:1(?!\d)|2-exp)|deepseek\.v3-v1:/,
    templates: [["<｜tool▁sep｜>", "!```json"]],
    sampling: config("deepseek-ai/DeepSeek-V3.1", { temperature: 0.6, topP: 0.95 }),
  },
  // Distills have R1's template, but were not trained on tools.
  {
    name: "a distill or fine-tune of DeepSeek R1",
    id: "deepseek-v3",
    variant: "deepseek-r1",
    models: /deepseek[-.]?r1(?:-.*(?:distill|qwen|llama|zero)|[^:]*:(?:1\.5|7|8|14|32|70)b)|r1-1776|mai-ds-r1/,
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
];
