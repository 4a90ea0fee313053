/**
 * MiniMax-M2. Parameters are wrapped in tags, each value as raw text:
 *
 *     <minimax:tool_call>
 *     <invoke name="get_weather">
 *     <parameter name="city">Paris</parameter>
 *     </invoke>
 *     </minimax:tool_call>
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentTexts, pythonJson, quoted } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { ATTRIBUTES } from "./scan/heads.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { tagCalls } from "./scan/tag-calls.ts";
import { dialectOf, functionObject, type Rendered, type Setting } from "./tools.ts";
import { batched, dialogue, leadingSystem, resultText, textOf, textParts, thoughtAndText, turnsOf } from "./transcript.ts";

const STOPS = ["[e~["];
const PRESERVED = ["<minimax:tool_call>", "</minimax:tool_call>", "<think>", "</think>"];
const TURNS = ["]~!b[", "]~b]"];

// ---- Scanning

const calls = tagCalls({
  open: ["<minimax:tool_call>"],
  close: ["</minimax:tool_call>"],
  calls: [{ open: "<invoke ", head: ATTRIBUTES }],
  callClose: "</invoke>",
  params: [{ open: "<parameter ", head: ATTRIBUTES, close: "</parameter>" }],
  stops: STOPS,
  opaque: true,
  bareNames: "never",
  shy: true,
});

const createScanner = scannerOf({
  calls: { "<minimax:tool_call>": calls.block },
  closers: ["</minimax:tool_call>"],
  thinking: THINK_TAGS,
  stops: STOPS,
  control: TURNS,
  callsInThinking: "promote-if-unclosed",
  inLine: { "<invoke ": calls.bare },
});

// ---- Rendering

const t = markup([...TURNS, ...STOPS, ...PRESERVED]);

/** The system text of a request without one. */
const VARIANTS: Readonly<Record<string, string>> = {
  "minimax-m2": "You are a helpful assistant.",
  ...Object.fromEntries(
    ["2.1", "2.5", "2.7"].map((version) => [
      `minimax-m${version}`,
      `You are a helpful assistant. Your name is MiniMax-M${version} and is built by MiniMax.`,
    ]),
  ),
};

function render(request: Request, fallback: string, options: Setting): Rendered {
  const { messages, thinking } = request;
  const { system, rest } = leadingSystem(messages);
  // The template cannot switch thinking off: this goes beyond it, and only if the request itself disables thinking.
  const silent = options.thinking === false && thinking?.enabled === false;
  return {
    bos: t`]~!b[`,
    messages: [
      turnPieces("system", [textOf(system ?? []) || fallback, options.declared && ["\n\n", options.declared]]),
      dialogue(turnsOf(rest), {
        other: (_, content) => turnPieces("user", textOf(content)),
        said: (said, current) => turnPieces("ai", saidPieces(said, current || (thinking?.keep ?? false))),
        results: (results) => turnPieces("tool", resultPieces(results)),
      }),
    ],
    open: t`]~b]ai\n<think>\n${silent && t`\n</think>\n\n`}`,
  };
}

const turnPieces = (role: string, text: Pieces): Pieces => t`]~b]${role}\n${text}[e~[\n`;

/** The model must see its thinking of the current turn. */
function saidPieces(said: readonly Part[], thinks: boolean): Pieces {
  const { thinking, text } = thoughtAndText(said);
  return [thinks && thinking && thought(thinking), text, batched(said, callPieces).map((block) => ["\n", block])];
}

const invoke = (call: RenderableCall): string[] => [
  `<invoke name=${quoted(call.name)}>\n`,
  ...argumentTexts(call, /<\/?(?:parameter|invoke)/).map(({ key, text }) => `<parameter name=${quoted(key)}>${text}</parameter>\n`),
  "</invoke>\n",
];

const toolPieces = (tools: readonly Tool[]): Pieces => t`# Tools
You may call one or more tools to assist with the user query.
Here are the tools available in JSONSchema format:

<tools>
${tools.map((tool) => `<tool>${pythonJson(functionObject(tool))}</tool>\n`)}</tools>

When making tool calls, use XML format to invoke tools and pass parameters:

<minimax:tool_call>
<invoke name="tool-name-1">
<parameter name="param-key-1">param-value-1</parameter>
<parameter name="param-key-2">param-value-2</parameter>
...
</invoke>
</minimax:tool_call>`;

const callPieces = (calls: readonly RenderableCall[]): Pieces => t`<minimax:tool_call>\n${calls.map(invoke)}</minimax:tool_call>`;
/** A list of text parts becomes one result per part, each with a newline: the model was trained on that. */
const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  joined(
    results
      .flatMap(({ output }) => textParts(output)?.map(({ text }) => `${text}\n`) ?? resultText(output))
      .map((text) => `<response>${text}</response>`),
    "\n",
  );
const thought = (text: string): Pieces => t`<think>\n${text}\n</think>\n\n`;

export const minimaxM2 = dialectOf({
  id: "minimax-m2",
  title: "MiniMax-M2",
  models: ["MiniMax-M2"],
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
