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
import type { RenderableCall, RenderableResult, RenderOptions } from "./dialect.ts";
import { thinkingOption } from "./options.ts";
import { callObject, pythonJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { think } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { dialectOf, functionTool, type Rendered } from "./tools.ts";
import { dialogue, leadingSystem, printedResult, textOf, textThenCalls, thoughtAndText, turnsOf } from "./transcript.ts";

const STOPS = ["<|im_end|>", "<|endoftext|>"];

// ---- Scanning

const createScanner = scannerOf({
  calls: { "<tool_call>": jsonCalls({ marks: ["<tool_call>", "</tool_call>", "</think>", ...STOPS] }).marked },
  closers: ["</tool_call>"],
  thinking: { open: { "<think>": think }, close: ["</think>"], stray: "text" },
  stops: STOPS,
  control: ["<|im_start|>"],
  callsInThinking: "promote-if-unclosed",
});

// ---- Rendering

const t = markup([
  ...["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "</think>"],
  ...["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"],
]);

interface Variant {
  /** What the system says when nobody else does. */
  readonly system?: string;
  readonly thinks: boolean;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  "qwen3-0.6b": { thinks: true },
  "qwen2.5-7b-instruct": { system: "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.", thinks: false },
};

function render(request: Request, variant: Variant, options: RenderOptions): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const silent = variant.thinks && thinkingOption(request, options) === false;
  const last = rest.at(-1);
  const final = last?.role === "assistant" ? last.content : undefined;
  return {
    messages: [
      head(system ? textOf(system) : variant.system, request.tools ?? []),
      dialogue(turnsOf(rest), {
        other: (side, content) => turnPieces(side === "user" ? "user" : "system", textOf(content)),
        said: (said, current) =>
          turnPieces("assistant", variant.thinks ? thought(said, current, said === final) : textThenCalls(said, callPieces)),
        results: (results) => turnPieces("user", resultPieces(results)),
      }),
    ],
    open: t`<|im_start|>assistant\n${silent ? t`<think>\n\n</think>\n\n` : []}`,
  };
}

const turnPieces = (role: string, text: Pieces): Pieces => t`<|im_start|>${role}\n${text}<|im_end|>\n`;

function head(system: string | undefined, tools: readonly Tool[]): Pieces {
  if (tools.length === 0) return system === undefined ? [] : turnPieces("system", system);
  return turnPieces("system", [system === undefined ? [] : `${system}\n\n`, toolPieces(tools)]);
}

/** Thinking stands in the current turn alone; the last message has a block even if it is empty. */
function thought(said: readonly Part[], current: boolean, isLast: boolean): Pieces {
  const { thinking, text } = thoughtAndText(said);
  if (!current || !(isLast || thinking)) return textThenCalls(said, callPieces, text);
  return [thinkPieces(thinking), textThenCalls(said, callPieces, text.replace(/^\n+/, ""))];
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

const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  joined(
    results.map(({ output }) => t`<tool_response>\n${printedResult(output)}\n</tool_response>`),
    "\n",
  );
const thinkPieces = (text: string): Pieces => t`<think>\n${text}\n</think>\n\n`;

export const hermes = dialectOf({
  id: "hermes",
  title: "Hermes",
  models: ["Qwen2.5", "Qwen3", "QwQ", "Hermes 2 Pro", "Hermes 3"],
  variants: VARIANTS,
  stops: STOPS,
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => joined(calls.map(callPieces), "\n"),
  results: resultPieces,
  thinking: thinkPieces,
});
