/**
 * DeepSeek-V3, R1 and its distills:
 *
 *     <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather
 *     ```json
 *     {"city": "Paris"}
 *     ```<｜tool▁call▁end｜><｜tool▁calls▁end｜>
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import { createScanner, outputs, PRESERVED, STOPS, section, t } from "./deepseek.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsText, pythonJson } from "./print.ts";
import { joined, type Pieces } from "./prompt.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { batched, hoisted, resultText, textOf, turnsOf } from "./transcript.ts";

interface Variant {
  readonly thinks: boolean;
}

/** R1 thinks unless the request says otherwise. */
const VARIANTS: Readonly<Record<string, Variant>> = { "vllm-deepseekv3": { thinks: false }, "deepseek-r1": { thinks: true } };

function render(request: Request, { thinks }: Variant, options: Setting): Rendered {
  const { system, rest } = hoisted(request);
  const turns = turnsOf(rest);
  const resumes = rest.at(-1)?.role === "tool";
  const opens = thinks && options.thinking !== false;
  return {
    bos: t`<｜begin▁of▁sentence｜>`,
    messages: [
      system,
      options.declared,
      turns.map((turn, i) => {
        if (turn.side !== "assistant") return t`<｜User｜>${textOf(turn.content)}<｜Assistant｜>`;
        const interrupted = turns[i + 1] !== undefined;
        return [
          thinks && !turns[i - 1] && t`<｜Assistant｜>`,
          turn.rounds.map(({ said, results }, n) => [
            said && [saidPieces(said, thinks), t`<｜end▁of▁sentence｜>`],
            // The template leaves the outputs open if a user message follows them instead of an answer.
            results.length > 0 && outputPieces(results, !interrupted || turn.rounds[n + 1] !== undefined),
          ]),
        ];
      }),
    ],
    open: resumes ? [] : [turns.at(-1)?.side === "user" ? [] : t`<｜Assistant｜>`, opens && t`<think>\n`],
  };
}

/** For R1, thinking that a server left in the text is dropped. */
const saidPieces = (said: readonly Part[], thinks: boolean): Pieces => [
  thinks ? (textOf(said).split("</think>").at(-1) ?? "") : textOf(said),
  batched(said, callSection),
];

const callSection = (calls: readonly RenderableCall[]): Pieces => section(joined(calls.map(callPieces), "\n"));

const callPieces = (call: RenderableCall): Pieces =>
  t`<｜tool▁call▁begin｜>function<｜tool▁sep｜>${call.name}\n\`\`\`json\n${argumentsText(call)}\n\`\`\`<｜tool▁call▁end｜>`;

const outputPieces = (results: readonly RenderableResult[], closed: boolean): Pieces => [
  t`<｜tool▁outputs▁begin｜>`,
  joined(outputs(results.map(({ output }) => resultText(output))), "\n"),
  closed && t`<｜tool▁outputs▁end｜>`,
];

const toolPieces = (tools: readonly Tool[]): Pieces => t`

# Tools

You may call one or more functions to assist with the user query.
${joined(
  tools.map((tool) => pythonJson(functionTool(tool))),
  "\n",
)}
</tools>



    For function call returns, you should first print <｜tool▁calls▁begin｜>

    For each function call, you should return object like:

    <｜tool▁call▁begin｜>function<｜tool▁sep｜><function_name>
\`\`\`json
<function_arguments_in_json_format>
\`\`\`<｜tool▁call▁end｜>

    At the end of function call returns, you should print <｜tool▁calls▁end｜><｜end▁of▁sentence｜>`;

export const deepseekV3 = dialectOf({
  id: "deepseek-v3",
  title: "DeepSeek V3 and R1",
  models: ["DeepSeek-V3", "DeepSeek-R1", "DeepSeek-R1-Distill"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: callSection,
  results: (results) => outputPieces(results, true),
  thinking: (text) => t`<think>${text}</think>`,
});
