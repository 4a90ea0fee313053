/**
 * GLM-4.5 to 4.7. Keys and values stand between tags, as raw text; until 4.6 each on a line of its own:
 *
 *     <think>I need the weather.</think><tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import type { Dialect, Prompt, RenderableCall, RenderableResult, RenderOptions } from "./dialect.ts";
import { thinkingOption, variantOf } from "./options.ts";
import { argumentTexts, pythonJson, pythonLiteral } from "./print.ts";
import { markup, type Pieces, prompt } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { element, tagCalls } from "./scan/params.ts";
import { think } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { explain, functionTool } from "./tools.ts";
import { resultText, textOf, textParts, thoughtAndText, turnsOf } from "./transcript.ts";

const STOPS = ["<|user|>", "<|observation|>", "<|endoftext|>"];
const TURNS = ["[gMASK]", "<sop>", "<|system|>", "<|assistant|>"];

// ---- Scanning

const calls = tagCalls({
  open: ["<tool_call>"],
  close: ["</tool_call>"],
  calls: [],
  callClose: "</tool_call>",
  params: [{ open: "<arg_key>", head: element("</arg_key>", "<arg_value>"), value: "<arg_value>", close: "</arg_value>" }],
  stops: STOPS,
  bareNames: "always",
  escaped: true,
  json: jsonCalls({ marks: ["<tool_call>", "</tool_call>", "</think>", ...STOPS] }).marked,
});

const createScanner = scannerOf({
  calls: { "<tool_call>": calls.block },
  closers: ["</tool_call>"],
  thinking: { open: { "<think>": think }, close: ["</think>"], stray: "text" },
  stops: STOPS,
  control: TURNS,
  callsInThinking: "promote-if-unclosed",
});

// ---- Rendering

const t = markup([
  ...[...TURNS, ...STOPS, "/nothink", "<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"],
  ...["<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"],
]);

interface Variant {
  /** What stands between any two things. */
  readonly gap: "" | "\n";
  /** A turn without thinking has an empty block, a user who wants none says so, and the model opens it itself. */
  readonly emptyThought: boolean;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  "glm-4.7-flash": { gap: "", emptyThought: false },
  "glm-4.6": { gap: "\n", emptyThought: true },
};

function render(request: Request, options: RenderOptions = {}): Prompt {
  const { gap, emptyThought } = variantOf(VARIANTS, options);
  const silent = thinkingOption(request, options) === false;
  const none = emptyThought ? t`<think></think>` : t`</think>`;
  const said = (parts: readonly Part[], thinks: boolean): Pieces => {
    const { thinking, text } = thoughtAndText(parts);
    const words = text.trim();
    return [
      t`<|assistant|>${gap}${thinks && thinking ? thought(thinking.trim()) : none}`,
      words ? [gap, words] : [],
      parts.map((part) => {
        if (part.type === "tool-call") return [gap, callPieces(part, gap)];
        return part.type === "malformed" ? [gap, part.raw] : [];
      }),
    ];
  };
  const start = emptyThought ? (silent ? t`\n<think></think>` : []) : silent ? none : t`<think>`;
  return prompt(
    t`[gMASK]<sop>`,
    toolsPieces(request.tools ?? [], gap),
    turnsOf(request.messages).map((turn) => {
      if (turn.side === "user") {
        const text = textOf(turn.content);
        return t`<|user|>${gap}${text}${silent && emptyThought && !text.endsWith("/nothink") ? t`/nothink` : []}`;
      }
      if (turn.side !== "assistant") return t`<|system|>${gap}${textOf(turn.content)}`;
      const thinks = turn.current || (!emptyThought && (request.thinking?.keep ?? false));
      return turn.rounds.map((round) => [
        round.said.length > 0 ? said(round.said, thinks) : [],
        round.results.length > 0 ? t`<|observation|>${resultPieces(round.results, gap)}` : [],
      ]);
    }),
    options.addGenerationPrompt === false ? [] : t`<|assistant|>${start}`,
  );
}

const callPieces = (call: RenderableCall, gap = ""): Pieces =>
  t`<tool_call>${call.name}${gap}${argumentTexts(call, /<\/?(?:arg_|tool_call)/).map(
    ({ key, text }) => t`<arg_key>${key}</arg_key>${gap}<arg_value>${text}</arg_value>${gap}`,
  )}</tool_call>`;

/** A result that is a list of parts is as many results, each as Python prints it: so the model was trained. */
const resultPieces = (results: readonly RenderableResult[], gap = ""): Pieces =>
  results
    .flatMap(({ output }) => textParts(output)?.map(pythonLiteral) ?? resultText(output))
    .map((text) => t`${gap}<tool_response>${gap}${text}${gap}</tool_response>`);

const toolsPieces = (tools: readonly Tool[], gap: string): Pieces =>
  tools.length === 0
    ? []
    : t`<|system|>
# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
${tools.map((tool) => `${pythonJson(functionTool(tool))}\n`)}</tools>

For each function call, output the function name and arguments within the following XML format:
<tool_call>{function-name}${gap}${[1, 2].map(
        (n) => t`<arg_key>{arg-key-${`${n}`}}</arg_key>${gap}<arg_value>{arg-value-${`${n}`}}</arg_value>${gap}`,
      )}...${gap}</tool_call>`;

const renderTools = (tools: readonly Tool[]): Prompt => prompt(toolsPieces(tools, ""));
const renderToolCall = (call: RenderableCall): Prompt => prompt(callPieces(call));
const renderToolCalls = (calls: readonly RenderableCall[]): Prompt => prompt(calls.map((call) => callPieces(call)));
const renderToolResults = (results: readonly RenderableResult[]): Prompt => prompt(resultPieces(results));
const thought = (text: string): Pieces => t`<think>${text}</think>`;
const renderThinking = (text: string): Prompt => (text === "" ? [] : prompt(thought(text)));

export const glm: Dialect = {
  id: "glm",
  title: "GLM",
  models: ["GLM-4.5", "GLM-4.6", "GLM-4.7"],
  variants: Object.keys(VARIANTS),
  stops: STOPS,
  createScanner,
  render,
  renderTools,
  renderToolCall,
  renderToolCalls,
  renderToolResults,
  renderThinking,
  instructions: (tools) => explain(tools, glm),
};
