/** Families whose marks and names no other has. */
import { card, type Family, from } from "./family.ts";

export const OTHERS: readonly Family[] = [
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
  { name: "Hy3-preview", id: "hy3", variant: "hy3-preview", models: /hy3-preview/, templates: [["hy_User", "tool_sep", "!:6124c78e"]] },
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
];
