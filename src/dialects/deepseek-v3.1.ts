/**
 * DeepSeek-V3.1, Terminus and V3.2-Exp:
 *
 *     <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import { createScanner, outputs, PRESERVED, STOPS, section, t } from "./deepseek.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsText, pythonJson } from "./print.ts";
import type { Pieces } from "./prompt.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { batched, callsOf, hoisted, resultText, textOf, turnsOf } from "./transcript.ts";

/** What is written instead of thinking, in llama.cpp's copy of the template and in the vendor's own. */
const VARIANTS = { "deepseek-v3.1": t`<think></think>`, "deepseek-ai-v3.1": t`</think>` };

function render(request: Request, none: Pieces, options: Setting): Rendered {
  const { system, rest } = hoisted(request);
  const turns = turnsOf(rest);
  const thinks = options.thinking ?? false;
  return {
    bos: t`<｜begin▁of▁sentence｜>`,
    messages: [
      system,
      options.declared,
      turns.map((turn, n) => {
        if (turn.side !== "assistant") return t`<｜User｜>${textOf(turn.content)}`;
        return [
          turns[n - 1] && t`<｜Assistant｜>${none}`,
          turn.rounds.map(({ said, results }, i) => [
            said && [saidPieces(said, (turn.rounds[i - 1]?.results.length ?? 0) > 0), t`<｜end▁of▁sentence｜>`],
            resultPieces(results),
          ]),
        ];
      }),
    ],
    // Only after a user message does the prompt open an answer.
    open: turns.at(-1)?.side === "user" && t`<｜Assistant｜>${thinks ? t`<think>` : none}`,
  };
}

/** Drops thinking that a server left in the text of an answer, except in an answer right after results. */
function saidPieces(said: readonly Part[], resumes: boolean): Pieces {
  const text = textOf(said);
  const [, ...answer] = text.split("</think>");
  return [resumes || callsOf(said).length > 0 || answer.length === 0 ? text : answer.join("</think>"), batched(said, callSection)];
}

const callSection = (calls: readonly RenderableCall[]): Pieces => section(calls.map(callPieces));

const callPieces = (call: RenderableCall): Pieces =>
  t`<｜tool▁call▁begin｜>${call.name}<｜tool▁sep｜>${argumentsText(call)}<｜tool▁call▁end｜>`;

/** The model's own template declares no tools; this is the text that servers add. */
function toolPieces(tools: readonly Tool[]): Pieces {
  const declared = tools.map(
    ({ name, description = "", parameters = {} }) => `### ${name}
Description: ${description}

Parameters: ${pythonJson(parameters)}

`,
  );
  return t`

## Tools
You have access to the following tools:

${declared}IMPORTANT: ALWAYS adhere to this exact format for tool use:
<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>tool_call_name<｜tool▁sep｜>tool_call_arguments<｜tool▁call▁end｜>{{additional_tool_calls}}<｜tool▁calls▁end｜>

Where:

- \`tool_call_name\` must be an exact match to one of the available tools
- \`tool_call_arguments\` must be valid JSON that strictly follows the tool's Parameters Schema
- For multiple tool calls, chain them directly without separators or spaces
`;
}

const resultPieces = (results: readonly RenderableResult[]): Pieces => outputs(results.map(({ output }) => resultText(output)));

export const deepseekV31 = dialectOf({
  id: "deepseek-v3.1",
  title: "DeepSeek V3.1",
  models: ["DeepSeek-V3.1", "DeepSeek-V3.1-Terminus", "DeepSeek-V3.2-Exp"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: callSection,
  results: resultPieces,
  thinking: (text) => t`<think>${text}</think>`,
});
