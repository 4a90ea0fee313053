/** Turn marks that several dialects share. */
import { control, markup, type Pieces } from "./prompt.ts";

export interface TurnMarks {
  readonly bos?: Pieces;
  readonly turn: (role: string, text: Pieces) => Pieces;
  /** The generation prompt. */
  readonly open: Pieces;
}

const chatml = markup(["<|im_start|>", "<|im_end|>", "<|endoftext|>"]);

export const CHATML: TurnMarks = {
  turn: (role, text) => chatml`<|im_start|>${role}\n${text}<|im_end|>\n`,
  open: chatml`<|im_start|>assistant\n`,
};

const llama3 = markup([
  ...["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>"],
  ...["<|eot_id|>", "<|eom_id|>", "<|python_tag|>"],
]);

export const LLAMA3: TurnMarks = {
  bos: llama3`<|begin_of_text|>`,
  turn: (role, text) => llama3`<|start_header_id|>${role}<|end_header_id|>\n\n${text}<|eot_id|>`,
  open: llama3`<|start_header_id|>assistant<|end_header_id|>\n\n`,
};

const phi = markup([
  ...["<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|endoftext|>"],
  ...["<|tool|>", "<|/tool|>", "<|tool_call|>", "<|/tool_call|>"],
]);

export const PHI: TurnMarks = {
  turn: (role, text) => [control(`<|${role}|>`), phi`${text}<|end|>`],
  open: phi`<|assistant|>`,
};
