/**
 * DeepSeek-V3.2:
 *
 *     <｜DSML｜function_calls>
 *     <｜DSML｜invoke name="get_weather">
 *     <｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>
 *     <｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>
 *     </｜DSML｜invoke>
 *     </｜DSML｜function_calls>
 */
import type { Message, Request, Tool } from "../core/nouns.ts";
import type { Dialect, Prompt, RenderableCall, RenderableResult, RenderOptions } from "./dialect.ts";
import { callBlock, createScanner, exampleBlock, STOPS, saidPieces, schemaLines, t, thought } from "./dsml.ts";
import { thinkingOption, variantOf } from "./options.ts";
import { type Pieces, prompt } from "./prompt.ts";
import { explain } from "./tools.ts";
import { hoisted, resultText, textOf, thinkingOf, turnsOf } from "./transcript.ts";

const VARIANTS = { "deepseek-v3.2": t`<｜begin▁of▁sentence｜>` };
const WORD = "function_calls";
/** What the model says opens so behind a user and behind results; behind its own words there is no mark. */
const OPENS: Partial<Record<Message["role"], Pieces>> = { user: t`<｜Assistant｜>`, tool: "\n\n" };

function render(request: Request, options: RenderOptions = {}): Prompt {
  const bos = variantOf(VARIANTS, options);
  const { system, rest } = hoisted(request);
  const tools = renderTools(request.tools ?? []);
  const thinks = thinkingOption(request, options) ?? false;
  const turns = turnsOf(rest);
  const opens = OPENS[rest.at(-1)?.role ?? "system"];
  return prompt(
    options.bos ? bos : [],
    [system, system && tools.length > 0 ? "\n\n" : [], tools],
    turns.map((turn, n) => {
      if (turn.side !== "assistant") return t`<｜User｜>${textOf(turn.content)}`;
      return turn.rounds.map(({ said, results }, i) => {
        const before = turn.rounds[i - 1];
        const open = before ? before.results.length > 0 && OPENS.tool : turns[n - 1] && OPENS.user;
        const thinking = thinks && turn.current ? thought(thinkingOf(said)) : t`</think>`;
        return [
          said.length > 0 ? [open ? [open, thinking] : [], saidPieces(said, renderToolCalls)] : [],
          results.length > 0 ? ["\n\n", renderToolResults(results)] : [],
        ];
      });
    }),
    options.addGenerationPrompt === false || !opens ? [] : [opens, t`<think>${thinks ? [] : t`</think>`}`],
  );
}

function renderTools(tools: readonly Tool[]): Prompt {
  if (tools.length === 0) return [];
  return prompt(t`## Tools

You have access to a set of tools you can use to answer the user's question.
You can invoke functions by writing a "<｜DSML｜function_calls>" block like the following as part of your reply to the user:
${exampleBlock(WORD, "$FUNCTION_NAME")}

String and scalar parameters should be specified as is without any escaping or quotes, while lists and objects should use JSON format. The "string" attribute should be set to "true" for string type parameters and "false" for other types (numbers, booleans, arrays, objects).

If the thinking_mode is enabled, then after function results you should strongly consider outputting a thinking block. Here is an example:

<｜DSML｜function_calls>
...
</｜DSML｜function_calls>

<function_results>
...
</function_results>

<think>...thinking about results</think>

Here are the functions available in JSONSchema format:
<functions>
${schemaLines(tools)}</functions>
`);
}

const renderToolCall = (call: RenderableCall): Prompt => renderToolCalls([call]);
const renderToolCalls = (calls: readonly RenderableCall[]): Prompt => prompt(callBlock(WORD, calls));
const renderToolResults = (results: readonly RenderableResult[]): Prompt =>
  results.length === 0
    ? []
    : prompt(
        "<function_results>\n",
        results.map(({ output }) => `<result>${resultText(output)}</result>\n`),
        "</function_results>",
      );
const renderThinking = (text: string): Prompt => (text === "" ? [] : prompt(thought(text)));

export const deepseekV32: Dialect = {
  id: "deepseek-v3.2",
  title: "DeepSeek V3.2",
  models: ["DeepSeek-V3.2", "DeepSeek-V3.2-Exp", "DeepSeek-V3.2-Speciale"],
  variants: Object.keys(VARIANTS),
  stops: STOPS,
  createScanner,
  render,
  renderTools,
  renderToolCall,
  renderToolCalls,
  renderToolResults,
  renderThinking,
  instructions: (tools) => explain(tools, deepseekV32),
};
