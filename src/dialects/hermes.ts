/**
 * Hermes: Nous Hermes, Qwen2.5, Qwen3, QwQ, MiMo-VL and their many fine-tunes. A call is a JSON object between tags:
 *
 *     <think>
 *     I need the weather.
 *     </think>
 *
 *     <tool_call>
 *     {"name": "get_weather", "arguments": {"city": "Paris"}}
 *     </tool_call>
 */
import type { Part, Request } from "../core/nouns.ts";
import type { RenderableResult } from "./dialect.ts";
import * as nous from "./nous-hermes.ts";
import { joined, type Pieces } from "./prompt.ts";
import {
  callPieces,
  json,
  MARKS,
  PRESERVED,
  resultPieces,
  STOPS,
  scannerOfCalls,
  shownContent,
  t,
  thought,
  toolPieces,
  turnPieces,
} from "./qwen.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { firstOf, listedOf } from "./scan/json-places.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import {
  type Content,
  dialogue,
  leadingSystem,
  printedResult,
  resultContent,
  textOf,
  textThenCalls,
  thinkingOf,
  thoughtAndText,
  turnsOf,
} from "./transcript.ts";

// ---- Scanning

// Other models' tags: LongCat has its own; Jamba and others write a list of calls after `<tool_calls>`, older Nemotrons after `<TOOLCALL>`.
const listed = listedOf(json);
/** Qwen2.5-Coder omits the tags, or only those that open, or writes others. */
const untagged = jsonCalls({
  wrappers: {
    ...{ "```json": "```", "```": "```", "<tools>": "</tools>", "<function>": "</function>" },
    ...{ "<function_call>": "</function_call>", "<function-call>": "</function-call>" },
  },
  firstKeys: new Set(["name", "arguments", "type", "function"]),
  tags: ["</tool_call>"],
  marks: MARKS,
});
const createScanner = scannerOfCalls(
  {
    "<tool_call>": json.marked,
    "<longcat_tool_call>": json.marked,
    "<tool_calls>": listed,
    "<TOOLCALL>": listed,
  },
  firstOf(untagged),
);

// ---- Rendering

interface Variant {
  /** The system text of a request without one. */
  readonly system?: string;
  /** The prompt shows the thinking of the current turn. */
  readonly thinks: boolean;
  /** The prompt opens the model's thinking. */
  readonly opens?: true;
  /** How messages and results in parts are written. Default: messages as one text, results as Python prints them. */
  readonly content?: (content: Content) => Pieces;
  /** The prompt is Nous Research's. */
  readonly nous?: true;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  "qwen3-0.6b": { thinks: true },
  "qwen2.5-7b-instruct": { system: "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.", thinks: false },
  "mimo-vl": { system: "You are MiMo, an AI assistant developed by Xiaomi.", thinks: false },
  "qwen3-thinking-2507": { thinks: true, opens: true },
  "qwq-32b": { system: "", thinks: false, opens: true },
  "qwen3-instruct-2507": { thinks: false, content: (content) => textOf(content) },
  "qwen3-vl-instruct": { thinks: false, content: shownContent },
  "hermes-3-llama-3.1-8b": { thinks: false, nous: true },
};

function render(request: Request, variant: Variant, options: Setting): Rendered {
  const { declared } = options;
  if (variant.nous) return nous.render(request, declared, (results) => printedResults(results, variant));
  const { content: write = textOf } = variant;
  const { system: given, rest } = leadingSystem(request.messages);
  const system = given ? textOf(given) : variant.system;
  const head = declared ? [system === undefined ? [] : `${system}\n\n`, declared] : given || system ? system : undefined;
  const silent = variant.thinks && options.thinking === false;
  return {
    messages: [
      head === undefined ? [] : turnPieces("system", head),
      dialogue(turnsOf(rest), {
        other: (role, content) => turnPieces(role, write(content)),
        said: (said, current, isLast) => turnPieces("assistant", saidPieces(said, variant, current, isLast)),
        results: (results) => turnPieces("user", printedResults(results, variant)),
      }),
    ],
    open: t`<|im_start|>assistant\n${variant.opens ? t`<think>\n` : silent && t`<think>\n\n</think>\n\n`}`,
  };
}

const printedResults = (results: readonly RenderableResult[], { content }: Variant): Pieces =>
  resultPieces(results, (result) => (content ? content(resultContent(result)) : printedResult(result.output)));

/** Only the current turn shows thinking, even if it is blank; the last message always has a thinking block, except QwQ's, which stays as it is. */
function saidPieces(said: readonly Part[], { thinks, opens }: Variant, current: boolean, isLast: boolean): Pieces {
  if (!thinks && (!opens || isLast)) return textThenCalls(said, callPieces);
  const { thinking, text } = thoughtAndText(said);
  const isShown = thinks && current && (isLast || thinking || thinkingOf(said));
  const words = isShown || !thinks ? text.replace(/^\n+/, "") : text;
  return [isShown && thought(thinking), textThenCalls(said, callPieces, words)];
}

export const hermes = dialectOf({
  id: "hermes",
  title: "Hermes",
  models: ["Qwen2.5", "Qwen3", "QwQ", "Hermes 2 Pro", "Hermes 3", "MiMo-VL"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: (tools, variant) => (variant.nous ? nous.toolPieces(tools) : toolPieces(tools)),
  calls: (calls) => joined(calls.map(callPieces), "\n"),
  results: printedResults,
  thinking: thought,
});
