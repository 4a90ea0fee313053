/**
 * Hermes: Qwen2.5, Qwen3, QwQ, Nous Hermes and their many fine-tunes. A call is a JSON object between tags:
 *
 *     <think>
 *     I need the weather.
 *     </think>
 *
 *     <tool_call>
 *     {"name": "get_weather", "arguments": {"city": "Paris"}}
 *     </tool_call>
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, pythonJson } from "./print.ts";
import { joined, type Pieces } from "./prompt.ts";
import { json, PRESERVED, resultPieces, STOPS, scannerOfCalls, shownContent, t, thought, turnPieces } from "./qwen.ts";
import { listedOf } from "./scan/json-calls.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import {
  type Content,
  dialogue,
  leadingSystem,
  printedResult,
  resultContent,
  textOf,
  textThenCalls,
  thoughtAndText,
  turnsOf,
} from "./transcript.ts";

// ---- Scanning

// Apriel, Jamba and Hunyuan-A13B write a list of calls behind the second tag, NVIDIA's older Nemotrons behind the third.
const listed = listedOf(json);
const createScanner = scannerOfCalls({ "<tool_call>": json.marked, "<tool_calls>": listed, "<TOOLCALL>": listed });

// ---- Rendering

interface Variant {
  /** What the system says when nobody else does. */
  readonly system?: string;
  /** Thinking of the current turn stands in the prompt. */
  readonly thinks: boolean;
  /** The prompt opens the model's thinking. */
  readonly opens?: true;
  /** How messages and results in parts are written; unsaid: messages as one text, and results as Python prints them. */
  readonly content?: (content: Content) => Pieces;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  "qwen3-0.6b": { thinks: true },
  "qwen2.5-7b-instruct": { system: "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.", thinks: false },
  "qwen3-thinking-2507": { thinks: true, opens: true },
  "qwq-32b": { system: "", thinks: false, opens: true },
  "qwen3-instruct-2507": { thinks: false, content: (content) => textOf(content) },
  "qwen3-vl-instruct": { thinks: false, content: shownContent },
};

function render(request: Request, variant: Variant, options: Setting): Rendered {
  const { declared } = options;
  const { content: write = textOf } = variant;
  const { system: given, rest } = leadingSystem(request.messages);
  const system = given ? textOf(given) : variant.system;
  const head = declared ? [system === undefined ? [] : `${system}\n\n`, declared] : given || system ? system : undefined;
  const silent = variant.thinks && options.thinking === false;
  const last = rest.at(-1);
  const final = last?.role === "assistant" ? last.content : undefined;
  return {
    messages: [
      head === undefined ? [] : turnPieces("system", head),
      dialogue(turnsOf(rest), {
        other: (role, content) => turnPieces(role, write(content)),
        said: (said, current) => turnPieces("assistant", saidPieces(said, variant, current, said === final)),
        results: (results) => turnPieces("user", printedResults(results, variant)),
      }),
    ],
    open: t`<|im_start|>assistant\n${variant.opens ? t`<think>\n` : silent && t`<think>\n\n</think>\n\n`}`,
  };
}

const printedResults = (results: readonly RenderableResult[], { content }: Variant): Pieces =>
  resultPieces(results, (result) => (content ? content(resultContent(result)) : printedResult(result.output)));

/** Thinking stands in the current turn alone; the last message has a block even if it is empty. */
function saidPieces(said: readonly Part[], { thinks, opens }: Variant, current: boolean, isLast: boolean): Pieces {
  if (!thinks && !opens) return textThenCalls(said, callPieces);
  const { thinking, text } = thoughtAndText(said);
  const isShown = thinks && current && (isLast || thinking);
  const words = isShown || !thinks ? text.replace(/^\n+/, "") : text;
  return [isShown && thought(thinking), textThenCalls(said, callPieces, words)];
}

const callPieces = (call: RenderableCall): Pieces => t`<tool_call>\n${callObject(call)}\n</tool_call>`;

const toolPieces = (tools: readonly Tool[]): Pieces => t`# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
${tools.map((tool) => `${pythonJson(functionTool(tool))}\n`)}</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>`;

export const hermes = dialectOf({
  id: "hermes",
  title: "Hermes",
  models: ["Qwen2.5", "Qwen3", "QwQ", "Hermes 2 Pro", "Hermes 3"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => joined(calls.map(callPieces), "\n"),
  results: printedResults,
  thinking: thought,
});
