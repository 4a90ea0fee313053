/**
 * Reka Edge. Qwen3's declaration of tools and its calls, in turns that no mark opens:
 *
 *     human: Weather in Paris?<sep>assistant: <tool_call>
 *     {"name": "get_weather", "arguments": {"city": "Paris"}}
 *     </tool_call>
 *
 *     <sep>human: <tool_response>
 *     4 °C
 *     </tool_response><sep>
 */
import type { Part, Request } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { ascii, callObject, pythonJson } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { PRESERVED, tagged, thought, toolPieces } from "./qwen.ts";
import { jsonTags } from "./scan/json-tags.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { dialogue, hoisted, resultText, textOf, thoughtAndText, turnsOf, writtenCalls } from "./transcript.ts";

const STOPS = ["<sep>", "<|endoftext|>"];

const createScanner = jsonTags(["<tool_call>"], { stops: STOPS });

// ---- Rendering

const t = markup([...STOPS, ...PRESERVED, "<tool_response>", "</tool_response>"]);

function render(request: Request, _: unknown, { declared, thinking }: Setting): Rendered {
  const { system, rest } = hoisted(request);
  return {
    messages: [
      (system || declared) && t`system: ${system}${system && declared && "\n\n"}${declared}\n\n<sep>`,
      dialogue(turnsOf(rest), {
        other: (_, content) => t`human: ${textOf(content, " ")}<sep>`,
        said: (said, current, isLast) => t`assistant: ${saidPieces(said, Boolean(thinking && current), isLast)}\n\n<sep>`,
        results: (results) => t`human: ${resultPieces(results)}<sep>`,
      }),
    ],
    open: thinking ? t`assistant: <think>\n` : "assistant:",
  };
}

function saidPieces(said: readonly Part[], thinks: boolean, isLast: boolean): Pieces {
  const { thinking, text } = thoughtAndText(said);
  const calls = writtenCalls(said, written);
  return [
    thinks && (isLast || thinking) && thought(thinking.trim()),
    text,
    calls.length > 0 && text && !text.endsWith("\n") && "\n",
    calls,
  ];
}

const written = (call: RenderableCall): Pieces => tagged(ascii(callObject(call)));
const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  results.map(({ output }) => t`<tool_response>\n${resultText(output, " ")}\n</tool_response>`);

export const rekaEdge = dialectOf({
  id: "reka-edge",
  title: "Reka Edge",
  models: ["Reka Edge"],
  variants: { "reka-edge": {} },
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: (tools) => toolPieces(tools, (value) => ascii(pythonJson(value))),
  calls: (calls) => calls.map(written),
  results: resultPieces,
  thinking: thought,
});
