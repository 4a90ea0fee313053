/**
 * MiniMax-M1. Calls are on lines of their own between tags, and each result has a turn:
 *
 *     <tool_calls>
 *     {"name": "get_weather", "arguments": {"city": "Paris"}}
 *     {"name": "get_time", "arguments": {"timezone": "Europe/Paris"}}
 *     </tool_calls>
 */
import type { Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, pythonJson } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { jsonTags } from "./scan/json-tags.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { dialogue, hoisted, resultText, textThenBatch, thoughtAndText, turnsOf } from "./transcript.ts";

const STOPS = ["<end_of_sentence>"];
const PRESERVED = ["<tool_calls>", "</tool_calls>"];

const createScanner = jsonTags(["<tool_calls>"], { stops: STOPS, control: ["<begin_of_document>", "<beginning_of_sentence>"] });

// ---- Rendering

const t = markup(["<begin_of_document>", "<beginning_of_sentence>", ...STOPS, ...PRESERVED]);

const turn = (side: string, text: Pieces): Pieces => t`<beginning_of_sentence>${side}\n${text}<end_of_sentence>\n`;

function render(request: Request, fallback: string, { declared }: Setting): Rendered {
  const { system, rest } = hoisted(request);
  const isTold = rest.length < request.messages.length;
  const rules = isTold ? system.trim() : fallback;
  return {
    bos: t`<begin_of_document>`,
    messages: [
      rules && turn("system ai_setting=assistant", rules),
      declared && turn("system tool_setting=tools", declared),
      dialogue(turnsOf(rest), {
        other: (_, content) =>
          turn(
            "user name=user",
            content.map((part) => part.type === "text" && part.text.trim()),
          ),
        said: (said) => turn("ai name=assistant", textThenBatch(said, callPieces, thoughtAndText(said).text.trim())),
        results: resultPieces,
      }),
    ],
    open: t`<beginning_of_sentence>ai name=assistant\n`,
  };
}

const callPieces = (calls: readonly RenderableCall[]): Pieces =>
  t`<tool_calls>\n${calls.map((call) => `${callObject(call)}\n`)}</tool_calls>`;
const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  results.map(({ output }) => turn("tool name=tools", `tool result: ${resultText(output)}\n\n`));

const toolPieces = (tools: readonly Tool[]): Pieces => t`You are provided with these tools:
<tools>
${tools.map((tool) => `${pythonJson(functionTool(tool))}\n`)}</tools>

If you need to call tools, please respond with <tool_calls></tool_calls> XML tags, and provide tool-name and json-object of arguments, following the format below:
<tool_calls>
{"name": <tool-name>, "arguments": <args-json-object>}
...
</tool_calls>`;

export const minimaxM1 = dialectOf({
  id: "minimax-m1",
  title: "MiniMax-M1",
  models: ["MiniMax-M1"],
  variants: { "minimax-m1": "You are a helpful assistant created by Minimax based on MiniMax-M1 model." },
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: callPieces,
  results: resultPieces,
  thinking: (text) => `<think>\n${text}\n</think>\n`,
});
