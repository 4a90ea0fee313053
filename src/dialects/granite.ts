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
import type { Dialect, Prompt, RenderableCall, RenderableResult, RenderOptions } from "./dialect.ts";
import { variantOf } from "./options.ts";
import { callObject, pythonJson } from "./print.ts";
import { joined, markup, type Pieces, prompt } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import type { Step } from "./scan/scan.ts";
import { control, speak, think } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { explain, functionTool } from "./tools.ts";
import { leadingSystem, resultText, textOf, textThenCalls, turnsOf } from "./transcript.ts";

const STOPS = ["<|end_of_text|>", "<|start_of_role|>"];

// ---- Scanning

const OPENERS = ["<tool_call>", "<|tool_call|>", "<function_call>"];
const calls = jsonCalls({ marks: [...OPENERS, "</tool_call>", "</think>", ...STOPS] });

/** Version 3.2 thinks in phrases, if the output begins with one. */
const THOUGHTS = new Marks(["Here is my thought process:", "Here's my thought process:"]);
const ANSWER = new Marks(["Here is my response:", "Here's my response:"]);

const start: Step = (s) => {
  const mark = s.match(THOUGHTS);
  if (mark === undefined) return undefined;
  if (mark === "") return speak;
  s.pos += mark.length;
  s.openThinking();
  return thoughts;
};
const thoughts: Step = (s) => {
  const mark = s.until(ANSWER);
  s.sayRun();
  if (!mark) return undefined;
  s.pos += mark.length;
  s.closeThinking();
  return speak;
};

/** Version 3.3 may put its answer into tags behind its thinking. */
const RESPONSE = new Marks(["<response>"]);
const response: Step = (s) => {
  const mark = s.match(RESPONSE);
  if (mark === undefined) return undefined;
  s.pos += mark.length;
  s.unclosed = mark !== "";
  return control;
};

const createScanner = scannerOf({
  calls: Object.fromEntries(OPENERS.map((mark) => [mark, calls.marked])),
  closers: ["</tool_call>", "</response>"],
  thinking: { open: { "<think>": think }, close: ["</think>"], stray: "text", behind: response },
  stops: STOPS,
  callsInThinking: "promote-if-unclosed",
  start,
});

// ---- Rendering

const t = markup([
  ...["<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>", "<|tool_call|>"],
  ...["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"],
]);

const VARIANTS = { "granite-4.0": "You are a helpful assistant. Please ensure responses are professional, accurate, and safe." };

function render(request: Request, options: RenderOptions = {}): Prompt {
  const fallback = variantOf(VARIANTS, options);
  const { system, rest } = leadingSystem(request.messages);
  return prompt(
    head(system && textOf(system, "\n"), fallback, request.tools ?? []),
    turnsOf(rest).map((turn) => {
      if (turn.side !== "assistant") return turnPieces(turn.side === "user" ? "user" : "system", textOf(turn.content, "\n"));
      return turn.rounds.map(({ said, results }) => [
        said.length > 0 ? turnPieces("assistant", textThenCalls(said, callPieces)) : [],
        results.length > 0 ? turnPieces("user", ["\n", renderToolResults(results)]) : [],
      ]);
    }),
    options.addGenerationPrompt === false ? [] : t`<|start_of_role|>assistant<|end_of_role|>`,
  );
}

const turnPieces = (role: string, text: Pieces): Pieces => t`<|start_of_role|>${role}<|end_of_role|>${text}<|end_of_text|>\n`;

function head(system: string | undefined, fallback: string, tools: readonly Tool[]): Pieces {
  if (tools.length === 0) return turnPieces("system", system || fallback);
  return turnPieces("system", [system === undefined ? [] : `${system}\n\n`, renderTools(tools)]);
}

const callPieces = (call: RenderableCall): Pieces => t`<tool_call>\n${callObject(call)}\n</tool_call>`;

function renderTools(tools: readonly Tool[]): Prompt {
  if (tools.length === 0) return [];
  return prompt(t`You are a helpful assistant with access to the following tools. You may call one or more tools to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
${tools.map((tool) => `${pythonJson(functionTool(tool))}\n`)}</tools>

For each tool call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>. If a tool does not exist in the provided list of tools, notify the user that you do not have the ability to fulfill the request.`);
}

const renderToolCall = (call: RenderableCall): Prompt => prompt(callPieces(call));
const renderToolCalls = (calls: readonly RenderableCall[]): Prompt => prompt(joined(calls.map(callPieces), "\n"));
const renderToolResults = (results: readonly RenderableResult[]): Prompt =>
  prompt(
    joined(
      results.map(({ output }) => t`<tool_response>\n${resultText(output)}\n</tool_response>`),
      "\n",
    ),
  );
const renderThinking = (text: string): Prompt => (text === "" ? [] : prompt(t`<think>${text}</think>`));

export const granite: Dialect = {
  id: "granite",
  title: "Granite",
  models: ["granite-3", "granite-4", "granite-20b-functioncalling"],
  variants: Object.keys(VARIANTS),
  stops: STOPS,
  createScanner,
  render,
  renderTools,
  renderToolCall,
  renderToolCalls,
  renderToolResults,
  renderThinking,
  instructions: (tools) => explain(tools, granite),
};
