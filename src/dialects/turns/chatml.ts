/** `<|im_start|>user`: the turns of Qwen and of many others. */
import { markup } from "../prompt.ts";
import type { TurnMarks } from "../tools.ts";

const t = markup(["<|im_start|>", "<|im_end|>", "<|endoftext|>"]);

export const CHATML: TurnMarks = {
  turn: (role, text) => t`<|im_start|>${role}\n${text}<|im_end|>\n`,
  open: t`<|im_start|>assistant\n`,
};
