/**
 * IBM Granite 3 and 4. Version 4 writes Hermes calls; version 3 a list behind a mark, the 20b function-calling model an object:
 *
 *     <tool_call>
 *     {"name": "get_weather", "arguments": {"city": "Paris"}}
 *     </tool_call>
 *
 *     <|tool_call|> [{"arguments": {"city": "Paris"}, "name": "get_weather"}]
 */
import type { Request, Tool } from "../core/nouns.ts";
import { Marks } from "../core/window.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, pythonJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import type { Step } from "./scan/scan.ts";
import { control, speak } from "./scan/steps.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { dialogue, leadingSystem, resultText, textOf, textThenCalls, turnsOf } from "./transcript.ts";

const STOPS = ["<|end_of_text|>", "<|start_of_role|>"];

// ---- Scanning

const OPENERS = ["<tool_call>", "<|tool_call|>", "<function_call>"];
const calls = jsonCalls({ marks: [...OPENERS, "</tool_call>", "</think>", ...STOPS] });

/** Version 3.3 may put its answer into tags behind its thinking. */
const RESPONSE = new Marks(["<response>"]);
const RESPONSE_END = "</response>";
const response: Step = (s) => {
  const mark = s.match(RESPONSE);
  if (mark === undefined) return undefined;
  s.pos += mark.length;
  s.fence = mark === "" ? "" : RESPONSE_END;
  return control;
};
const responseEnd: Step = (s) => {
  if (s.fence === RESPONSE_END) s.control();
  else s.sayRaw();
  s.fence = "";
  return speak;
};

const createScanner = scannerOf({
  calls: Object.fromEntries(OPENERS.map((mark) => [mark, calls.marked])),
  closers: ["</tool_call>"],
  inLine: { [RESPONSE_END]: responseEnd },
  thinking: { ...THINK_TAGS, behind: response },
  // Version 3.2 thinks in these words.
  phrases: {
    open: ["Here is my thought process:", "Here's my thought process:"],
    close: ["Here is my response:", "Here's my response:"],
  },
  stops: STOPS,
  control: ["<|end_of_role|>"],
  callsInThinking: "promote-if-unclosed",
});

// ---- Rendering

const t = markup([
  ...["<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>", "<|tool_call|>"],
  ...["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"],
]);

/** What the system says when nobody else does. */
const VARIANTS = {
  "granite-4.0": "You are a helpful assistant. Please ensure responses are professional, accurate, and safe.",
  "granite-4.1": "",
};

function render(request: Request, fallback: string, { declared }: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const rules = declared ? [system && [textOf(system, "\n"), "\n\n"], declared] : (system && textOf(system, "\n")) || fallback;
  return {
    messages: [
      rules === "" ? [] : turnPieces("system", rules),
      dialogue(turnsOf(rest), {
        other: (role, content) => turnPieces(role, textOf(content, "\n")),
        said: (said) => turnPieces("assistant", textThenCalls(said, callPieces, textOf(said, "\n"))),
        results: (results) => turnPieces("user", ["\n", resultPieces(results)]),
      }),
    ],
    open: t`<|start_of_role|>assistant<|end_of_role|>`,
  };
}

const turnPieces = (role: string, text: Pieces): Pieces => t`<|start_of_role|>${role}<|end_of_role|>${text}<|end_of_text|>\n`;

const callPieces = (call: RenderableCall): Pieces => t`<tool_call>\n${callObject(call)}\n</tool_call>`;

const toolPieces = (
  tools: readonly Tool[],
): Pieces => t`You are a helpful assistant with access to the following tools. You may call one or more tools to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
${tools.map((tool) => `${pythonJson(functionTool(tool))}\n`)}</tools>

For each tool call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>. If a tool does not exist in the provided list of tools, notify the user that you do not have the ability to fulfill the request.`;

const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  joined(
    results.map(({ output }) => t`<tool_response>\n${resultText(output, "\n")}\n</tool_response>`),
    "\n",
  );

export const granite = dialectOf({
  id: "granite",
  title: "Granite",
  models: ["granite-3", "granite-4", "granite-20b-functioncalling"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: ["<tool_call>", "<|tool_call|>", "<function_call>", "</tool_call>", "<think>", "</think>"],
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => joined(calls.map(callPieces), "\n"),
  results: resultPieces,
  thinking: (text) => t`<think>${text}</think>`,
});
