/**
 * LG's EXAONE 4. Hermes' calls on one line, and results in tags of their own:
 *
 *     [|assistant|]
 *     <tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>[|endofturn|]
 *     [|tool|]
 *     <tool_result>{"result": "4 °C"}</tool_result>[|endofturn|]
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, pythonJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonTags } from "./scan/json-tags.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { dialogue, leadingSystem, plainOutput, textOf, textThenCalls, thoughtAndText, turnsOf } from "./transcript.ts";

/** Later versions have the second. */
const STOPS = ["[|endofturn|]", "<|endofturn|>"];
const PRESERVED = ["<tool_call>", "</tool_call>", "<think>", "</think>"];
const ROLES = ["[|system|]", "[|user|]", "[|assistant|]", "[|tool|]"];

const createScanner = jsonTags(["<tool_call>"], { stops: STOPS, control: ROLES });

// ---- Rendering

const t = markup([...ROLES, ...STOPS, ...PRESERVED, "<tool_result>", "</tool_result>", "<tool>", "</tool>"]);

const MARKS = { system: t`[|system|]`, user: t`[|user|]`, assistant: t`[|assistant|]`, tool: t`[|tool|]` };
const turn = (role: keyof typeof MARKS, text: Pieces): Pieces => t`${MARKS[role]}\n${text}[|endofturn|]\n`;

const SILENT = t`<think>\n\n</think>\n\n`;

function render(request: Request, _: unknown, { declared, thinking }: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  return {
    messages: [
      (system || declared) && turn("system", [system && textOf(system), system && declared && "\n\n", declared]),
      dialogue(turnsOf(rest), {
        other: (role, content) => turn(role, textOf(content)),
        said: (said) => turn("assistant", saidPieces(said)),
        results: (results) => turn("tool", resultPieces(results)),
      }),
    ],
    open: [MARKS.assistant, "\n", thinking ? t`<think>\n` : SILENT],
  };
}

/** History does not repeat thinking. Text behind thinking that a server left in it is trimmed. */
function saidPieces(said: readonly Part[]): Pieces {
  const spoken = said.filter((part) => part.type !== "thinking");
  const { thinking, text } = thoughtAndText(said);
  const pieces = textThenCalls(said, callPieces, thinking && spoken.length === said.length ? text.trim() : text);
  return spoken.length > 0 && [SILENT, pieces];
}

const callPieces = (call: RenderableCall): Pieces => t`<tool_call>${callObject(call)}</tool_call>`;
const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  joined(
    results.map(({ output }) => t`<tool_result>{"result": ${pythonJson(plainOutput(output))}}</tool_result>`),
    "\n",
  );

const toolPieces = (tools: readonly Tool[]): Pieces => t`# Available Tools
You can use none, one, or multiple of the following tools by calling them as functions to help with the user’s query.
Here are the tools available to you in JSON format within <tool> and </tool> tags:
${tools.map((tool) => t`<tool>${pythonJson(functionTool(tool))}</tool>\n`)}
For each function call you want to make, return a JSON object with function name and arguments within <tool_call> and </tool_call> tags, like:
<tool_call>{"name": function_1_name, "arguments": {argument_1_name: argument_1_value, argument_2_name: argument_2_value}}</tool_call>
<tool_call>{"name": function_2_name, "arguments": {...}}</tool_call>
...
Note that if no argument name is specified for a tool, you can just print the argument value directly, without the argument name or JSON formatting.`;

export const exaone = dialectOf({
  id: "exaone",
  title: "EXAONE",
  models: ["EXAONE 4"],
  variants: { "exaone-4.0": {} },
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => joined(calls.map(callPieces), "\n"),
  results: resultPieces,
  thinking: (text) => t`<think>\n${text}\n</think>\n\n`,
});
