/** Kimi. */
import { card, type Family } from "./family.ts";

export const KIMI: readonly Family[] = [
  { name: "Kimi K2.7 Code", id: "kimi-k2", variant: "kimi-k2.7-code", models: /kimi-?k2[.-]?7-code/ },
  {
    name: "Kimi K2.5 and later",
    id: "kimi-k2",
    variant: "kimi-k2.5",
    models: /kimi-?k2[.-]?[5-9]/,
    templates: [["<|tool_calls_section_begin|>", "thinking is false"]],
  },
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
];
