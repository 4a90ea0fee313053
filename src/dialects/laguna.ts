/**
 * Poolside Laguna. GLM's calls, in turns that look like XML:
 *
 *     <assistant><think>I need the weather.</think><tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call></assistant>
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableResult } from "./dialect.ts";
import { callPieces, type Gap, glmScanner, PRESERVED, thought } from "./glm-syntax.ts";
import { pythonJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { dialogue, leadingSystem, resultText, textOf, thinkingOf, thoughtAndText, turnsOf, writtenCalls } from "./transcript.ts";

const STOPS = ["</assistant>"];
const TURNS = ["<system>", "</system>", "<user>", "</user>", "<assistant>"];

/** The turns are not control tokens: a model that writes about XML means them as text. */
const createScanner = glmScanner({ stops: STOPS, turns: TURNS });

// ---- Rendering

const t = markup(["〈|EOS|〉", ...TURNS, ...STOPS, ...PRESERVED, "<tool_response>", "</tool_response>"]);

interface Variant {
  readonly gap: Gap;
  /** The system text of a request without one. */
  readonly system: string;
  /** Whether the model thinks by default. */
  readonly thinks: boolean;
}

const POOLSIDE =
  "You are a helpful, conversationally-fluent assistant made by Poolside. You are here to be helpful to users through natural language conversations.";

const VARIANTS: Readonly<Record<string, Variant>> = {
  "laguna-s-2.1": { gap: "", system: POOLSIDE, thinks: true },
  "laguna-xs.2": { gap: "\n", system: POOLSIDE, thinks: false },
  "laguna-xs-2.1": { gap: "\n", system: "", thinks: false },
  "laguna-v8": { gap: "", system: POOLSIDE, thinks: false },
};

function render(request: Request, variant: Variant, options: Setting): Rendered {
  const { gap } = variant;
  const { system, rest } = leadingSystem(request.messages);
  const { tools = [], thinking = {} } = request;
  const thinks = options.thinking ?? variant.thinks;
  const text = (system ? textOf(system) : variant.system).trimEnd();
  const declared = tools.length > 0 && toolPieces(tools, variant, thinks);
  const turn = (role: "system" | "user", text: string): Pieces =>
    role === "system" ? t`<system>${gap}${text}${gap}</system>\n` : t`<user>${gap}${text}${gap}</user>\n`;
  return {
    bos: t`〈|EOS|〉`,
    messages: [
      (text || declared || (thinks && !gap)) &&
        t`<system>${gap}${text && [gap, text]}${declared && [(text || gap) && "\n\n", declared]}${gap}</system>\n`,
      dialogue(turnsOf(rest), {
        other: (role, content) => turn(role, textOf(content)),
        said: (said) => t`<assistant>${gap}${gap ? lines(said) : inOneLine(said, thinks || thinking.keep === true)}</assistant>\n`,
        results: (results) => resultPieces(results, variant),
      }),
    ],
    open: t`<assistant>${gap}${thinks ? t`<think>` : t`</think>`}`,
  };
}

const inOneLine = (said: readonly Part[], thinks: boolean): Pieces => [
  thinks ? thought(thinkingOf(said)) : t`</think>`,
  textOf(said),
  writtenCalls(said, (call) => callPieces(call, "")),
];

/** History keeps all thinking, whatever the request says. */
function lines(said: readonly Part[]): Pieces {
  const { thinking, text } = thoughtAndText(said);
  return [
    thinking ? thought(`\n${thinking.trim()}\n`) : t`</think>`,
    "\n",
    text.trim() && `${text.trim()}\n`,
    writtenCalls(said, (call) => callPieces(call, "\n")).map((call) => [call, "\n"]),
  ];
}

const resultPieces = (results: readonly RenderableResult[], { gap }: Variant): Pieces =>
  results.map(({ output }) => t`<tool_response>${gap}${resultText(output)}${gap}</tool_response>\n`);

const toolPieces = (tools: readonly Tool[], { gap }: Variant, thinks = false): Pieces => t`### Tools

You may call functions to assist with the user query.
All available function signatures are listed below:
<available_tools>
${tools.map((tool) => `${pythonJson(functionTool(tool))}\n`)}</available_tools>${gap && ["\n\n", explained(thinks)]}`;

const explained = (thinks: boolean): Pieces => [
  thinks && t`Wrap your thinking in '<think>', '</think>' tags, followed by a function call. `,
  t`For each function call, return an unescaped XML-like object with function name and arguments within '<tool_call>' and '</tool_call>' tags, like here:\n`,
  thinks && t`<think> your thoughts here </think>\n`,
  t`<tool_call>function-name\n<arg_key>argument-key</arg_key>\n<arg_value>value-of-argument-key</arg_value>\n</tool_call>`,
];

export const laguna = dialectOf({
  id: "laguna",
  title: "Poolside Laguna",
  models: ["Laguna S", "Laguna XS"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls, { gap }) =>
    joined(
      calls.map((call) => callPieces(call, gap)),
      gap,
    ),
  results: resultPieces,
  thinking: thought,
});
