/** Models that were tuned for tools: before the families of their base models, whose names they contain. */
import type { Family } from "./family.ts";

export const SPECIALISTS: readonly Family[] = [
  {
    name: "xLAM-2 on Llama",
    id: "xlam",
    variant: "vllm-xlam-llama",
    models: /llama-?(?:\d[.\d]*-)?xlam/,
    templates: [["single JSON array", "<|start_header_id|>"]],
  },
  { name: "xLAM-2 on Qwen", id: "xlam", variant: "vllm-xlam-qwen", models: /xlam-?2/, templates: [["single JSON array", "<|im_start|>"]] },
  { name: "xLAM", id: "xlam", doubtful: true, models: /xlam/ },
  {
    name: "Hammer",
    id: "json",
    variant: "chatml",
    models: /hammer-?[12]/,
    templates: [["[BEGIN OF TASK INSTRUCTION]", "<|im_start|>"]],
    types: ["hammer"],
  },
  {
    name: "Functionary v3.1",
    id: "functionary-v3.1",
    variant: "functionary-medium-v3.1",
    models: /functionary-(?:small-|medium-)?v3\.1/,
    templates: [["<|start_header_id|>", "'<function=' + tool_call", "{end_tag}"]],
  },
  {
    name: "Functionary v3.2",
    id: "functionary-v3.2",
    variant: "functionary-medium-v3.2",
    models: /functionary-(?:small-|medium-)?v3\.2/,
    templates: [["<|start_header_id|>", "to:recipient==all"]],
  },
  {
    name: "Cogito on Qwen",
    id: "hermes",
    variant: "qwen3-instruct-2507",
    models: /cogito(?:-v1-preview-qwen|:(?:14|32)b)/,
    templates: [["Enable deep thinking subroutine", "<|im_start|>"]],
  },
  {
    name: "Cogito on Llama",
    id: "cogito",
    variant: "cogito-v1-llama",
    models: /cogito(?:-v1-preview-llama|:(?:3|8|70)b|(?=:latest|$))/,
    templates: [["Enable deep thinking subroutine", "<|start_header_id|>"]],
  },
  { name: "Cogito v2 on Llama", id: "cogito", doubtful: true, models: /cogito-v2-preview-llama-(?!109)/ },
  {
    name: "rnj-1",
    id: "cogito",
    variant: "rnj-1",
    models: /rnj-?1(?=-instruct|:)/, // the hub's rnj-1 is the base model
    templates: [["You are rnj-1", "<|start_header_id|>"]],
  },
  { name: "FireFunction v2", id: "phi4-mini", models: /firefunction-?v2/, templates: [["functools[", "<|start_header_id|>"]] },
  { name: "ToolACE", id: "pythonic", models: /toolace/ },
  { name: "watt-tool", id: "pythonic", models: /watt-tool/ },
];
