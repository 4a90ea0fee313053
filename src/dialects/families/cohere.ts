/** Cohere. */
import { card, type Family } from "./family.ts";

export const COHERE: readonly Family[] = [
  {
    name: "Cohere's North",
    id: "cohere",
    variant: "cohere2-moe",
    models: /north-mini|cohere2-?moe/,
    templates: [["<|START_ACTION|>", "<|START_TEXT|>"]],
  },
  // It has the same architecture; its template is not available.
  { name: "Command A+", id: "cohere", doubtful: true, models: /command-?a-plus/ },
  {
    name: "Command A Reasoning",
    id: "command-r7b",
    variant: "command-a-reasoning-08-2025",
    doubtful: true,
    models: /command-?a-reasoning/,
    templates: [["<|START_ACTION|>", "<|START_RESPONSE|>", "reasoning is not undefined"]],
  },
  { name: "Command A Vision", id: "command-r7b", doubtful: true, models: /command-?a-vision/ },
  {
    name: "Command R7B, Command A",
    id: "command-r7b",
    variant: "command-r7b-12-2024",
    models: /(?:c4ai-)?command-?(?:r7b|a(?![a-z]))/,
    templates: [["<|START_ACTION|>", "<|START_RESPONSE|>"]],
    sampling: card("CohereLabs/c4ai-command-a-03-2025", { temperature: 0.3 }),
  },
  {
    name: "Command R, Command R+",
    id: "command-r",
    variant: "command-r-plus",
    models: /(?:c4ai-)?command-?r(?![a-z\d])/,
    templates: [
      ["<|START_OF_TURN_TOKEN|>", "Write \\'Action:\\' followed by"],
      ["<|START_OF_TURN_TOKEN|>", "Write 'Action:' followed by"],
    ],
  },
  { name: "Cohere's models", id: "cohere", doubtful: true, templates: [["<|START_ACTION|>"]] },
];
