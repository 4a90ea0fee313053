/**
 * GLM-4.5 to 4.7. Keys and values stand between tags, as raw text; until 4.6 each on a line of its own:
 *
 *     <think>I need the weather.</think><tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value></tool_call>
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentTexts, pythonJson, pythonLiteral } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { element } from "./scan/heads.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { tagCalls } from "./scan/tag-calls.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { dialogue, resultText, textOf, textParts, thoughtAndText, turnsOf, writtenCalls } from "./transcript.ts";

const STOPS = ["<|user|>", "<|observation|>", "<|endoftext|>"];
const PRESERVED = ["<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "<think>", "</think>"];
const TURNS = ["[gMASK]", "<sop>", "<|system|>", "<|assistant|>"];

// ---- Scanning

const KEY = element("</arg_key>", "<arg_value>");

const calls = tagCalls({
  open: ["<tool_call>"],
  close: ["</tool_call>"],
  calls: [],
  callClose: "</tool_call>",
  params: ["<arg_key>", "<arg_key><arg_key>"].map((open) => ({ open, head: KEY, value: "<arg_value>", close: "</arg_value>" })),
  stops: STOPS,
  opaque: true,
  bareNames: "always",
  escaped: true,
  json: jsonCalls({ marks: ["<tool_call>", "</tool_call>", "</think>", ...STOPS] }).marked,
});

const createScanner = scannerOf({
  calls: { "<tool_call>": calls.block },
  closers: ["</tool_call>"],
  thinking: THINK_TAGS,
  stops: STOPS,
  control: TURNS,
  callsInThinking: "promote-if-unclosed",
});

// ---- Rendering

const t = markup([...TURNS, ...STOPS, ...PRESERVED, "/nothink", "<tool_response>", "</tool_response>", "<eop>", "[MASK]", "[sMASK]"]);

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

function render(request: Request, variant: Variant, options: Setting): Rendered {
  const { gap, emptyThought } = variant;
  const silent = options.thinking === false;
  const none = emptyThought ? t`<think></think>` : t`</think>`;
  const said = (parts: readonly Part[], thinks: boolean): Pieces => {
    const { thinking, text } = thoughtAndText(parts);
    const words = text.trim();
    return [
      t`<|assistant|>${gap}${thinks && thinking ? thought(thinking.trim()) : none}`,
      words ? [gap, words] : [],
      writtenCalls(parts, (call) => callPieces(call, variant)).map((call) => [gap, call]),
    ];
  };
  const start = emptyThought ? (silent ? t`\n<think></think>` : []) : silent ? none : t`<think>`;
  return {
    messages: [
      t`[gMASK]<sop>`,
      options.declared,
      dialogue(turnsOf(request.messages), {
        other: (side, content) => {
          const text = textOf(content);
          if (side !== "user") return t`<|system|>${gap}${text}`;
          return t`<|user|>${gap}${text}${silent && emptyThought && !text.endsWith("/nothink") ? t`/nothink` : []}`;
        },
        said: (parts, current) => said(parts, current || (!emptyThought && (request.thinking?.keep ?? false))),
        results: (results) => t`<|observation|>${resultPieces(results, variant)}`,
      }),
    ],
    open: t`<|assistant|>${start}`,
  };
}

const callPieces = (call: RenderableCall, { gap }: Variant): Pieces =>
  t`<tool_call>${call.name}${gap}${argumentTexts(call, /<\/?(?:arg_|tool_call)/).map(
    ({ key, text }) => t`<arg_key>${key}</arg_key>${gap}<arg_value>${text}</arg_value>${gap}`,
  )}</tool_call>`;

/** A result that is a list of parts is as many results, each as Python prints it: so the model was trained. */
const resultPieces = (results: readonly RenderableResult[], { gap }: Variant): Pieces =>
  results
    .flatMap(({ output }) => textParts(output)?.map(pythonLiteral) ?? resultText(output))
    .map((text) => t`${gap}<tool_response>${gap}${text}${gap}</tool_response>`);

const toolPieces = (tools: readonly Tool[], { gap }: Variant): Pieces => t`<|system|>
# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
${tools.map((tool) => `${pythonJson(functionTool(tool))}\n`)}</tools>

For each function call, output the function name and arguments within the following XML format:
<tool_call>{function-name}${gap}${[1, 2].map(
  (n) => t`<arg_key>{arg-key-${`${n}`}}</arg_key>${gap}<arg_value>{arg-value-${`${n}`}}</arg_value>${gap}`,
)}...${gap}</tool_call>`;

const thought = (text: string): Pieces => t`<think>${text}</think>`;

export const glm = dialectOf({
  id: "glm",
  title: "GLM",
  models: ["GLM-4.5", "GLM-4.6", "GLM-4.7"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls, variant) => calls.map((call) => callPieces(call, variant)),
  results: resultPieces,
  thinking: thought,
});
