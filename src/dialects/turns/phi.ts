/** `<|user|>`: the turns of Phi. */
import { control, markup } from "../prompt.ts";
import type { TurnMarks } from "../tools.ts";

export const t = markup([
  ...["<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|endoftext|>"],
  ...["<|tool|>", "<|/tool|>", "<|tool_call|>", "<|/tool_call|>"],
]);

export const PHI: TurnMarks = {
  turn: (role, text) => [control(`<|${role}|>`), t`${text}<|end|>`],
  open: t`<|assistant|>`,
};
