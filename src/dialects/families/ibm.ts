/** Granite. */
import type { Family } from "./family.ts";

export const IBM: readonly Family[] = [
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
];
