/**
 * DeepSeek-V4, Flash and Pro:
 *
 *     <｜DSML｜tool_calls>
 *     <｜DSML｜invoke name="get_weather">
 *     <｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>
 *     </｜DSML｜invoke>
 *     </｜DSML｜tool_calls>
 */
import type { Effort, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callBlock, createScanner, exampleBlock, PRESERVED, STOPS, saidPieces, schemaLines, t, thought } from "./dsml.ts";
import { pythonJson } from "./print.ts";
import { joined, type Pieces } from "./prompt.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { hoisted, resultText, textOf, thinkingOf, turnsOf } from "./transcript.ts";

const WORD = "tool_calls";

const MUCH = `Reasoning Effort: Absolute maximum with no shortcuts permitted.
You MUST be very thorough in your thinking and comprehensively decompose the problem to resolve the root cause, rigorously stress-testing your logic against all potential paths, edge cases, and adversarial scenarios.
Explicitly write out your entire deliberation process, documenting every intermediate step, considered alternative, and rejected hypothesis to ensure absolutely no assumption is left unchecked.

`;
const MOST = `Reasoning Effort: Beyond maximum — exhaustive, relentless, and uncompromising.
You MUST reason with the utmost depth and rigor, leaving absolutely nothing to chance: exhaustively decompose the problem into its most fundamental components, trace every causal chain to its root, and resolve the underlying cause rather than any surface symptom.
Do not stop reasoning until you have independently verified the solution from multiple angles and are certain that no assumption remains unchecked and no error remains undiscovered.

`;

/** What stands in front of all for an effort: what was the most until Flash 0731 and Pro 0813 is less there. */
const VARIANTS: Readonly<Record<string, Readonly<Partial<Record<Effort, string>>>>> = {
  "deepseek-v4": { max: MUCH },
  "deepseek-v4-flash-0731": { high: MUCH, xhigh: MUCH, max: MOST },
};

function render(request: Request, efforts: Readonly<Partial<Record<Effort, string>>>, options: Setting): Rendered {
  const { messages, tools = [], output, thinking } = request;
  // Only what stands in front: a later one would change what was said before. A developer is a user here.
  const behind = messages.findIndex(({ role }) => role !== "system");
  const first = behind < 0 ? messages.length : behind;
  const { system } = hoisted({ messages: messages.slice(0, first) });
  const thinks = options.thinking ?? false;
  const keeps = tools.length > 0 || messages.some((message) => message.role === "tool");
  const head = [
    system,
    options.declared ?? "",
    output?.schema ? `## Response Format:\n\nYou MUST strictly adhere to the following schema to reply:\n${pythonJson(output.schema)}` : "",
  ].filter((part) => part !== "");
  const turns: Pieces[] = [];
  let userSide = false;
  const user = (text: Pieces): void => {
    turns.push(userSide ? ["\n\n", text] : t`<｜User｜>${text}`);
    userSide = true;
  };
  for (const turn of turnsOf(messages.slice(first))) {
    if (turn.side !== "assistant") {
      user(textOf(turn.content));
      continue;
    }
    for (const { said, results } of turn.rounds) {
      if (said) {
        turns.push(
          t`<｜Assistant｜>`,
          thinks && (keeps || turn.current) ? thought(thinkingOf(said)) : t`</think>`,
          saidPieces(said, callPieces),
        );
        userSide = false;
      }
      for (const result of results) user(resultPieces([result]));
    }
  }
  return {
    bos: t`<｜begin▁of▁sentence｜>`,
    messages: [thinks && thinking?.effort ? efforts[thinking.effort] : [], joined(head, "\n\n"), turns],
    open: t`<｜Assistant｜>${thinks ? t`<think>` : t`</think>`}`,
  };
}

const toolPieces = (tools: readonly Tool[]): Pieces => t`## Tools

You have access to a set of tools to help answer the user's question. You can invoke tools by writing a "<｜DSML｜tool_calls>" block like the following:

${exampleBlock(WORD, "$TOOL_NAME")}

String parameters should be specified as is and set \`string="true"\`. For all other types (numbers, booleans, arrays, objects), pass the value in JSON format and set \`string="false"\`.

If thinking_mode is enabled (triggered by <think>), you MUST output your complete reasoning inside <think>...</think> BEFORE any tool calls or final response.

Otherwise, output directly after </think> with tool calls or final response.

### Available Tool Schemas

${schemaLines(tools)}
You MUST strictly follow the above defined tool name and parameter schemas to invoke tool calls.
`;

const callPieces = (calls: readonly RenderableCall[]): Pieces => callBlock(WORD, calls, "\n");
const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  joined(
    results.map(({ output }) => `<tool_result>${resultText(output)}</tool_result>`),
    "\n\n",
  );

export const deepseekV4 = dialectOf({
  id: "deepseek-v4",
  title: "DeepSeek V4",
  models: ["DeepSeek-V4", "DeepSeek-V4-Flash", "DeepSeek-V4-Pro"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: callPieces,
  results: resultPieces,
  thinking: thought,
});
