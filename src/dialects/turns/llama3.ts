/** `<|start_header_id|>user<|end_header_id|>`: the turns of Llama 3. */
import { markup } from "../prompt.ts";
import type { TurnMarks } from "../tools.ts";

const t = markup([
  ...["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>"],
  ...["<|eot_id|>", "<|eom_id|>", "<|python_tag|>"],
]);

export const LLAMA3: TurnMarks = {
  bos: t`<|begin_of_text|>`,
  turn: (role, text) => t`<|start_header_id|>${role}<|end_header_id|>\n\n${text}<|eot_id|>`,
  open: t`<|start_header_id|>assistant<|end_header_id|>\n\n`,
};
