/** FunctionGemma and Gemma 4; models without tools are in `without-tools.ts`. */
import { type Family, GEMMA } from "./family.ts";

export const GOOGLE: readonly Family[] = [
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
    templates: [["<|tool_call>", "<|turn>", "'<|channel>thought\\n<channel|>"]],
    sampling: GEMMA,
  },
  {
    name: "Gemma 4 E2B/E4B, DiffusionGemma",
    id: "gemma4",
    variant: "google-gemma-4-e2b-2026-07-09",
    models: /gemma-?4(?![.\d]|b)|diffusiongemma/,
    bare: "unclear",
    templates: [["<|tool_call>", "<|turn>"]],
    sampling: GEMMA,
  },
];
