/** `<|header_start|>user<|header_end|>`: the turns of Llama 4. */
import { markup } from "../prompt.ts";
import type { TurnMarks } from "../tools.ts";

export const TOKENS = [
  "<|begin_of_text|>",
  "<|header_start|>",
  "<|header_end|>",
  "<|eot|>",
  "<|eom|>",
  "<|python_start|>",
  "<|python_end|>",
];

export const t = markup([...TOKENS, "<|image|>"]);

export const LLAMA4: TurnMarks = {
  bos: t`<|begin_of_text|>`,
  turn: (role, text) => t`<|header_start|>${role}<|header_end|>\n\n${text}<|eot|>`,
  open: t`<|header_start|>assistant<|header_end|>\n\n`,
};
