/** Not trained on tools: asked for JSON, in the model's own turns. */
import { type Family, GEMMA } from "./family.ts";

export const WITHOUT_TOOLS: readonly Family[] = [
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
  {
    name: "Phi-3",
    id: "json",
    variant: "phi",
    models: /phi-?3/,
    doubtful: true,
    templates: [["<|end|>", "!tools"]],
  },
  {
    name: "a ChatML template without tools",
    id: "json",
    variant: "chatml",
    doubtful: true,
    templates: [["<|im_start|>", "!tool", "!document", "!<Document>"]],
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
