/** Llama 3, and Llama 4 by its template. */
import { config, type Family } from "./family.ts";

const LLAMA_3 = config("meta-llama/Llama-3.1-8B-Instruct", { temperature: 0.6, topP: 0.9 });

export const LLAMA: readonly Family[] = [
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
    sampling: LLAMA_3,
    types: ["llama"],
  },
  // There is no base model of 3.3.
  { name: "Llama 3.3", id: "llama3", variant: "llama-3.1-8b-instruct", models: /llama-?v?3[.-]3(?![\db])(?!-nemotron)/, sampling: LLAMA_3 },
  {
    name: "Llama 3.1",
    id: "llama3",
    variant: "llama-3.1-8b-instruct",
    models: /llama-?v?3[.-]1(?![\db])(?!-nemotron-nano)|nemotron:70b/,
    bare: "base",
    templates: [["<|start_header_id|>", "respond with a JSON for a function call"]],
    sampling: LLAMA_3,
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
];
