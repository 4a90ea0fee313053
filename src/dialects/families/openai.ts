/** gpt-oss. */
import { type Family, from } from "./family.ts";

export const OPENAI: readonly Family[] = [
  {
    name: "Unsloth's gpt-oss",
    id: "harmony",
    variant: "unsloth-gpt-oss",
    templates: [["<|channel|>", "<|message|>", "<|start|>", 'commentary<|message|>" + message.content + ']],
  },
  {
    name: "gpt-oss",
    id: "harmony",
    variant: "gpt-oss-120b",
    models: /gpt-?oss/,
    templates: [["<|channel|>", "<|message|>", "<|start|>"]],
    sampling: from("README of openai/gpt-oss", { temperature: 1, topP: 1 }),
  },
];
