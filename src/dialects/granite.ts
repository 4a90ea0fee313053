/**
 * IBM Granite 3 and 4. Version 4 writes Hermes calls, version 3 a list after a mark, the 20b function-calling model an object after a mark:
 *
 *     <tool_call>
 *     {"name": "get_weather", "arguments": {"city": "Paris"}}
 *     </tool_call>
 *
 *     <|tool_call|> [{"arguments": {"city": "Paris"}, "name": "get_weather"}]
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, prettyJson, pythonJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { firstOf } from "./scan/json-places.ts";
import { answerBegin, answerEnd } from "./scan/steps.ts";
import { each, scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { dialogue, leadingSystem, resultText, textOf, textThenBatch, textThenCalls, turnsOf } from "./transcript.ts";

const STOPS = ["<|end_of_text|>", "<|start_of_role|>"];

// ---- Scanning

const OPENERS = ["<tool_call>", "<|tool_call|>", "<function_call>"];
const marks = [...OPENERS, "</tool_call>", "</think>", ...STOPS];
const calls = jsonCalls({ marks });
/** Version 3's mark is a control token, which some servers remove. */
const unmarked = jsonCalls({ firstKeys: new Set(["name", "arguments"]), marks });

const createScanner = scannerOf({
  calls: each(OPENERS, calls.marked),
  closers: ["</tool_call>"],
  start: firstOf(unmarked),
  // After thinking, version 3.3 may wrap its answer in tags.
  inLine: { "</response>": answerEnd },
  thinking: { ...THINK_TAGS, behind: answerBegin(["<response>"]) },
  // Version 3.2 marks its thinking with these phrases.
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

interface Variant {
  /** What precedes the conversation; `system`: the request's system text. */
  head(system: string | undefined, options: Setting): Pieces;
  tools(tools: readonly Tool[]): Pieces;
  /** An assistant message with text and calls. */
  said(said: readonly Part[], text: string): Pieces;
  calls(calls: readonly RenderableCall[]): Pieces;
  /** Results as whole turns, and as the content of one. */
  results(results: readonly RenderableResult[]): Pieces;
  resultPieces(results: readonly RenderableResult[]): Pieces;
}

/** `fallback`: the system text of a request that has none. */
const four = (fallback: string): Variant => ({
  head: (system, { declared }) => {
    const rules = declared ? [system !== undefined && [system, "\n\n"], declared] : system || fallback;
    return rules === "" ? [] : turnPieces("system", rules);
  },
  tools: toolPieces,
  said: (said, text) => textThenCalls(said, callPieces, text),
  calls: (calls) => joined(calls.map(callPieces), "\n"),
  results: (results) => turnPieces("user", ["\n", resultPieces(results)]),
  resultPieces,
});

const THREE: Variant = {
  head: (system, options) => [turnPieces("system", system ?? defaultOfThree(options)), options.declared],
  tools: (tools) => turnPieces("available_tools", prettyJson(tools.map(functionTool))),
  said: (said, text) => textThenBatch(said, listPieces, text),
  calls: (calls) => listPieces(calls),
  results: resultTurns,
  resultPieces: resultTurns,
};

const VARIANTS: Readonly<Record<string, Variant>> = {
  "granite-4.0": four("You are a helpful assistant. Please ensure responses are professional, accurate, and safe."),
  "granite-4.1": four(""),
  "granite-3.3": THREE,
};

function render(request: Request, variant: Variant, options: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  return {
    messages: [
      variant.head(system && textOf(system, "\n"), options),
      dialogue(turnsOf(rest), {
        other: (role, content) => turnPieces(role, textOf(content, "\n")),
        said: (said) => turnPieces("assistant", variant.said(said, textOf(said, "\n"))),
        results: (results) => variant.results(results),
      }),
    ],
    open: t`<|start_of_role|>assistant<|end_of_role|>`,
  };
}

function defaultOfThree({ declared, thinking, now = new Date() }: Setting): string {
  const today = now.toLocaleDateString("en-US", { month: "long", day: "2-digit", year: "numeric" });
  return `Knowledge Cutoff Date: April 2024. Today's Date: ${today}. You are Granite, developed by IBM. You are a helpful ${declared ? TOOLS : thinking ? THINKING : "AI assistant."}`;
}

const TOOLS =
  "assistant with access to the following tools. When a tool is required to answer the user's query, respond only with <|tool_call|> followed by a JSON list of tools used. If a tool does not exist in the provided list of tools, notify the user that you do not have the ability to fulfill the request.";
const THINKING = `AI assistant.
Respond to every user query in a comprehensive and detailed way. You can write down your thoughts and reasoning process before responding. In the thought process, engage in a comprehensive cycle of analysis, summarization, exploration, reassessment, reflection, backtracing, and iteration to develop well-considered thinking process. In the response section, based on various attempts, explorations, and reflections from the thoughts section, systematically present the final solution that you deem correct. The response should summarize the thought process. Write your thoughts between <think></think> and write your response between <response></response> for each user query.`;

const turnPieces = (role: string, text: Pieces): Pieces => t`<|start_of_role|>${role}<|end_of_role|>${text}<|end_of_text|>\n`;

const listPieces = (calls: readonly RenderableCall[]): Pieces =>
  t`<|tool_call|>[${joined(
    calls.map((call) => callObject(call)),
    ", ",
  )}]`;

const callPieces = (call: RenderableCall): Pieces => t`<tool_call>\n${callObject(call)}\n</tool_call>`;

function toolPieces(tools: readonly Tool[]): Pieces {
  return t`You are a helpful assistant with access to the following tools. You may call one or more tools to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
${tools.map((tool) => `${pythonJson(functionTool(tool))}\n`)}</tools>

For each tool call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>. If a tool does not exist in the provided list of tools, notify the user that you do not have the ability to fulfill the request.`;
}

function resultPieces(results: readonly RenderableResult[]): Pieces {
  return joined(
    results.map(({ output }) => t`<tool_response>\n${resultText(output, "\n")}\n</tool_response>`),
    "\n",
  );
}

function resultTurns(results: readonly RenderableResult[]): Pieces {
  return results.map(({ output }) => turnPieces("tool", resultText(output, "\n")));
}

export const granite = dialectOf({
  id: "granite",
  title: "Granite",
  models: ["granite-3", "granite-4", "granite-20b-functioncalling"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: ["<tool_call>", "<|tool_call|>", "<function_call>", "</tool_call>", "<think>", "</think>"],
  createScanner,
  render,
  tools: (tools, variant) => variant.tools(tools),
  calls: (calls, variant) => variant.calls(calls),
  results: (results, variant) => variant.resultPieces(results),
  thinking: (text) => t`<think>${text}</think>`,
});
