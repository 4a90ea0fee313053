/** Phi with tools. */
import type { Family } from "./family.ts";

export const MICROSOFT: readonly Family[] = [
  {
    name: "Phi-4-mini",
    id: "phi4-mini",
    variant: "vllm-phi4-mini-string-args",
    models: /phi-?4-(?:mini|multimodal)(?!-(?:flash-)?reasoning)/,
    templates: [["functools["]],
    types: ["phi"],
  },
  { name: "Phi-4-mini, by Microsoft", id: "phi4-mini", variant: "phi-4-mini-instruct", templates: [["<|tool|>", "<|/tool|>"]] },
  { name: "Phi-4-mini-reasoning", id: "phi4-mini", models: /phi-?4-mini-reasoning/, doubtful: true },
];
