/** MiniMax; M1 is in `hermes.ts`. */
import { card, type Family } from "./family.ts";

const M2 = card("MiniMaxAI/MiniMax-M2", { temperature: 1, topP: 0.95, topK: 40 });

export const MINIMAX: readonly Family[] = [
  { name: "MiniMax-M3", id: "minimax-m3", variant: "minimax-m3", models: /minimax-?m3(?!\d)/, templates: [["]<]minimax[>["]] },
  ...["1", "5", "7"].map(
    (minor): Family => ({
      name: `MiniMax-M2.${minor}`,
      id: "minimax-m2",
      variant: `minimax-m2.${minor}`,
      models: new RegExp(`minimax-?m2[.-]?${minor}(?![\\d.b])`),
      templates: [["<minimax:tool_call>", `MiniMax-M2.${minor} `]],
      sampling: M2,
    }),
  ),
  {
    name: "MiniMax-M2",
    id: "minimax-m2",
    variant: "minimax-m2",
    models: /minimax-?m2/,
    templates: [["<minimax:tool_call>"]],
    sampling: M2,
  },
];
