/**
 * DeepSeek-V3, R1 and its distills:
 *
 *     <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather
 *     ```json
 *     {"city": "Paris"}
 *     ```<｜tool▁call▁end｜><｜tool▁calls▁end｜>
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import { createScanner, outputs, STOPS, section, t } from "./deepseek.ts";
import type { Dialect, Prompt, RenderableCall, RenderableResult, RenderOptions } from "./dialect.ts";
import { thinkingOption, variantOf } from "./options.ts";
import { argumentsText, pythonJson } from "./print.ts";
import { joined, type Pieces, prompt } from "./prompt.ts";
import { explain, functionTool } from "./tools.ts";
import { callsOf, hoisted, resultText, textOf, turnsOf } from "./transcript.ts";

/** R1 thinks, unless it is told not to. */
const VARIANTS = { "vllm-deepseekv3": { thinks: false }, "deepseek-r1": { thinks: true } };

function render(request: Request, options: RenderOptions = {}): Prompt {
  const { thinks } = variantOf(VARIANTS, options);
  const { system, rest } = hoisted(request);
  const turns = turnsOf(rest);
  const resumes = rest.at(-1)?.role === "tool";
  const opens = thinks && thinkingOption(request, options) !== false;
  return prompt(
    options.bos ? t`<｜begin▁of▁sentence｜>` : [],
    system,
    renderTools(request.tools ?? []),
    turns.map((turn, i) => {
      if (turn.side !== "assistant") return t`<｜User｜>${textOf(turn.content)}<｜Assistant｜>`;
      const interrupted = turns[i + 1] !== undefined;
      return [
        thinks && !turns[i - 1] ? t`<｜Assistant｜>` : [],
        turn.rounds.map(({ said, results }, n) => [
          said.length > 0 ? [saidPieces(said, thinks), t`<｜end▁of▁sentence｜>`] : [],
          // A user who does not wait for the answer leaves the outputs open.
          results.length > 0 ? outputPieces(results, !interrupted || turn.rounds[n + 1] !== undefined) : [],
        ]),
      ];
    }),
    options.addGenerationPrompt === false || resumes
      ? []
      : [turns.at(-1)?.side === "user" ? [] : t`<｜Assistant｜>`, opens ? t`<think>\n` : []],
  );
}

/** R1 does not get back what a server left of its thinking in the text. */
const saidPieces = (said: readonly Part[], thinks: boolean): Pieces => [
  thinks ? (textOf(said).split("</think>").at(-1) ?? "") : textOf(said),
  section(joinedCalls(callsOf(said))),
  said.map((part) => (part.type === "malformed" ? part.raw : [])),
];

const joinedCalls = (calls: readonly RenderableCall[]): Pieces[] => calls.map((call, i) => [i > 0 ? "\n" : [], callPieces(call)]);

const callPieces = (call: RenderableCall): Pieces =>
  t`<｜tool▁call▁begin｜>function<｜tool▁sep｜>${call.name}\n\`\`\`json\n${argumentsText(call)}\n\`\`\`<｜tool▁call▁end｜>`;

const outputPieces = (results: readonly RenderableResult[], closed: boolean): Pieces => [
  t`<｜tool▁outputs▁begin｜>`,
  joined(outputs(results.map(({ output }) => resultText(output))), "\n"),
  closed ? t`<｜tool▁outputs▁end｜>` : [],
];

function renderTools(tools: readonly Tool[]): Prompt {
  if (tools.length === 0) return [];
  return prompt(t`

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

    At the end of function call returns, you should print <｜tool▁calls▁end｜><｜end▁of▁sentence｜>`);
}

const renderToolCall = (call: RenderableCall): Prompt => renderToolCalls([call]);
const renderToolCalls = (calls: readonly RenderableCall[]): Prompt => prompt(section(joinedCalls(calls)));
const renderToolResults = (results: readonly RenderableResult[]): Prompt =>
  results.length === 0 ? [] : prompt(outputPieces(results, true));
const renderThinking = (text: string): Prompt => (text === "" ? [] : prompt(t`<think>${text}</think>`));

export const deepseekV3: Dialect = {
  id: "deepseek-v3",
  title: "DeepSeek V3 and R1",
  models: ["DeepSeek-V3", "DeepSeek-R1", "DeepSeek-R1-Distill"],
  variants: Object.keys(VARIANTS),
  stops: STOPS,
  createScanner,
  render,
  renderTools,
  renderToolCall,
  renderToolCalls,
  renderToolResults,
  renderThinking,
  instructions: (tools) => explain(tools, deepseekV3),
};
