/**
 * Mistral: 7B v0.3, Nemo, Small, Medium, Large, Codestral, Magistral, Devstral, Ministral. Up to tokenizer version 7 a list of calls
 * follows the mark, later a name and its arguments; version 11 has an id between them:
 *
 *     [TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris"}, "id": "abcdef123"}]
 *     [TOOL_CALLS]get_weather[CALL_ID]abcdef123[ARGS]{"city": "Paris"}
 *     [TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}
 */
import type { Json, Part, Request, Tool } from "../core/nouns.ts";
import { Marks } from "../core/window.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { keepThinking } from "./options.ts";
import { argumentsText, compactJson, isoDate, nineCharacters, pythonJson, readLossless } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { namedOf } from "./scan/json-places.ts";
import type { Step } from "./scan/scan.ts";
import { broken, cut, nameTooLong, think, tooLong } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import {
  alternating,
  batched,
  type Content,
  contentPieces,
  dialogue,
  leadingSystem,
  printedResult,
  resultContent,
  resultText,
  turnsOf,
} from "./transcript.ts";

const STOPS = ["</s>"];
const CALLS = "[TOOL_CALLS]";
const CALL_ID = "[CALL_ID]";
const ARGS = "[ARGS]";
const TOKENS = [
  ...["<s>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"],
  ...["[MODEL_SETTINGS]", "[/MODEL_SETTINGS]"],
  ...["[TOOL_RESULTS]", "[TOOL_CONTENT]", "[/TOOL_RESULTS]", CALL_ID, ARGS, "[THINK]", "[/THINK]"],
];

// ---- Scanning

const UNTHINK = ["[/THINK]", "</think>"];
const MARKS = [CALLS, ...UNTHINK, ...STOPS];
const calls = jsonCalls({ marks: MARKS });
/** A call object without a list. An object that holds only arguments is not a call. */
const alone = jsonCalls({ marks: MARKS, needsArguments: true });
const named = namedOf(calls);
const LIST = new Marks(["[", "{", CALL_ID, ARGS, CALLS, ...UNTHINK]);
const NAME_END = new Marks([CALL_ID, ARGS, "{", "[{", CALLS, ...UNTHINK, ...STOPS]);
const ID_END = new Marks([ARGS, "{", CALLS, ...UNTHINK, ...STOPS]);

const call: Step = (s) => {
  s.word = "";
  s.bound(tooLong);
  return listOrName;
};

const listOrName: Step = (s) => {
  if (s.blanks() === undefined) return undefined;
  const mark = s.match(LIST);
  if (mark === undefined) return undefined;
  if (mark === "{") return alone.marked;
  return mark === "[" ? calls.marked : readName;
};

const readName: Step = (s) => {
  const mark = s.readWord(NAME_END);
  if (mark === undefined) return undefined;
  if (mark === null) return nameTooLong;
  if (mark === "") return cut;
  if (mark === "[{") return calls.marked; // that was no name
  const name = s.word.trim();
  if (name === "" || (mark === "{" && /[\s(]/.test(name) && !s.declares(name))) return broken(s, "no-name", "a name was expected");
  if (mark === ARGS) s.pos += mark.length;
  if (mark === ARGS || mark === "{") return named(s, name);
  if (mark !== CALL_ID) return broken(s, "no-name", "nothing follows the name");
  s.pos += mark.length;
  s.openCall().name = name;
  s.word = "";
  return readId;
};

const readId: Step = (s) => {
  const mark = s.readWord(ID_END);
  if (mark === undefined) return undefined;
  if (mark === null) return nameTooLong;
  if (mark === ARGS) s.pos += mark.length;
  return named(s, s.call?.name ?? "", mark === "" ? undefined : s.word.trim() || undefined);
};

const createScanner = scannerOf({
  calls: { [CALLS]: call },
  closers: [],
  thinking: { open: { "[THINK]": think, "<think>": think }, close: UNTHINK, stray: "text" },
  stops: STOPS,
  control: TOKENS,
  inCalls: [ARGS, CALL_ID],
  callsInThinking: "promote",
  mintId: (n) => `call${n.toString(36).padStart(5, "0")}`,
});

// ---- Rendering

const IMAGES = { image: "[IMG]" };
/** Tokens that `render` never writes, but data may forge. */
const OTHERS = ["[IMG_BREAK]", "[IMG_END]", "[AUDIO]", "[BEGIN_AUDIO]", "[PREFIX]", "[SUFFIX]", "[MIDDLE]"];
const t = markup([...TOKENS, ...STOPS, CALLS, IMAGES.image, ...OTHERS]);

const REASONING = t`# HOW YOU SHOULD THINK AND ANSWER

First draft your thinking process (inner monologue) until you arrive at a response. Format your response using Markdown, and use LaTeX for any mathematical equations. Write both your thoughts and the response in the same language as the input.

Your thinking process must follow the template below:[THINK]Your thoughts or/and draft, like working through an exercise on scratch paper. Be as casual and as long as you want until you are confident to generate the response to the user.[/THINK]Here, provide a self-contained response.`;

const knowing = (
  today: string,
): string => `You are Mistral Small 3, a Large Language Model (LLM) created by Mistral AI, a French startup headquartered in Paris.
Your knowledge base was last updated on 2023-10-01. The current date is ${today}.

When you're not sure about some information or when the user's request requires up-to-date or specific data, you must use the available tools to fetch the information. Do not hesitate to use tools whenever they can provide a more accurate or complete response. If no relevant tools are available, then clearly state that you don't have the information and avoid making up anything.

If the user's question is not clear, ambiguous, or does not provide enough context for you to accurately answer the question, you do not try to answer it right away and you rather ask the user to clarify their request (e.g. "What are some good restaurants around me?" => "Where are you?" or "When is the next flight to Tokyo" => "Where do you travel from?").
You are always very attentive to dates, and when asked about information at specific dates, you discard information that is at another date.
You follow these instructions in all languages, and always respond to the user in the language they use or request.
Next sections describe the capabilities that you have.

# WEB BROWSING INSTRUCTIONS

You cannot perform any web search or access internet to open URLs, links etc. If it seems like the user is expecting you to do so, you clarify the situation and ask the user to copy paste the text directly in the chat.

# MULTI-MODAL INSTRUCTIONS

You have the ability to read images, but you cannot generate images. You also cannot transcribe audio files or videos.
You cannot read nor transcribe audio files or videos.

# TOOL CALLING INSTRUCTIONS

You may have access to tools that you can use to fetch information or perform actions. You must use these tools in the following situations:

1. When the request requires up-to-date information.
2. When the request requires specific data that you do not have in your knowledge base.
3. When the request involves actions that you cannot perform without tools.

Always prioritize using tools to provide the most accurate and helpful response. If tools are not available, inform the user that you cannot perform the requested action at the moment.`;

interface Variant {
  /** The system text of a request without one. */
  readonly system?: (today: string) => Pieces;
  /** Tools come before the last user message instead of before all messages. */
  readonly toolsLast: boolean;
  /** There is no mark for the system text: it begins the last user message. */
  readonly systemLast: boolean;
  readonly thinks: boolean;
  /** The prompt says whether to think. */
  readonly told?: true;
  readonly calls: (calls: readonly RenderableCall[]) => Pieces;
  readonly result: (id: string, result: RenderableResult) => Pieces;
  /** An image precedes the text if a message has just these two. */
  readonly imageFirst?: true;
}

const listed = (call: RenderableCall): string =>
  `{"name": ${compactJson(call.name)}, "arguments": ${argumentsText(call)}, "id": "${nineCharacters(call.id)}"}`;
const listedCalls = (calls: readonly RenderableCall[]): Pieces => t`[TOOL_CALLS][${joined(calls.map(listed), ", ")}]`;
const namedResult: Variant["result"] = (id, { output }) => t`[TOOL_RESULTS]${id}[TOOL_CONTENT]${printedResult(output)}[/TOOL_RESULTS]`;

/** Tokenizer version 13; the default system text differs from model to model. */
const V13: Variant = {
  toolsLast: false,
  systemLast: false,
  thinks: false,
  calls: (calls) => calls.map((call) => t`[TOOL_CALLS]${call.name}[ARGS]${argumentsText(call)}`),
  result: (_, { output }) => t`[TOOL_RESULTS]${printedResult(output)}[/TOOL_RESULTS]`,
  imageFirst: true,
};

const VARIANTS: Readonly<Record<string, Variant>> = {
  "ministral-3-14b-reasoning-2512": { ...V13, system: () => REASONING, thinks: true },
  "mistral-small-3.2-2506": {
    system: knowing,
    toolsLast: true,
    systemLast: false,
    thinks: false,
    calls: (calls) => calls.map((call) => t`[TOOL_CALLS]${call.name}[CALL_ID]${nineCharacters(call.id)}[ARGS]${argumentsText(call)}`),
    result: namedResult,
  },
  "mistral-nemo-2407": {
    toolsLast: true,
    systemLast: true,
    thinks: false,
    calls: listedCalls,
    result: (id, { output }) => t`[TOOL_RESULTS]{"content": ${jsonResult(output)}, "call_id": "${id}"}[/TOOL_RESULTS]`,
  },
  "mistral-v7": { toolsLast: true, systemLast: false, thinks: false, calls: listedCalls, result: namedResult, imageFirst: true },
  "mistral-v13": V13,
  "mistral-v15": {
    ...V13,
    thinks: true,
    told: true,
    result: (_, result) => t`[TOOL_RESULTS]${contentPieces(resultContent(result), IMAGES)}[/TOOL_RESULTS]`,
  },
};

/** A text that is JSON is written as it is. */
function jsonResult(output: Json): string {
  const text = resultText(output);
  return readLossless(text) === undefined ? compactJson(text) : text;
}

function render(request: Request, variant: Variant, options: Setting): Rendered {
  const { toolsLast, systemLast } = variant;
  const keeps = variant.thinks && request.thinking?.keep === true;
  const { system, rest } = leadingSystem(alternating(request.messages));
  const turns = turnsOf(rest);
  const last = turns.findLastIndex((turn) => turn.side === "user");
  const tools = options.declared;
  const rules = system ? contentPieces(system, IMAGES) : variant.system?.(isoDate(options.now ?? new Date()));
  const systemPieces = (text: Pieces): Pieces => (systemLast ? userPieces(text) : t`[SYSTEM_PROMPT]${text}[/SYSTEM_PROMPT]`);
  return {
    bos: t`<s>`,
    messages: [
      rules === undefined || (systemLast && last >= 0) ? [] : systemPieces(rules),
      toolsLast && last >= 0 ? [] : tools,
      variant.told && t`[MODEL_SETTINGS]{"reasoning_effort": "${options.thinking ? "high" : "none"}"}[/MODEL_SETTINGS]`,
      dialogue(turns, {
        other: (role, content, n) => {
          if (role === "system") return systemPieces(contentPieces(content, IMAGES));
          const before = systemLast && n === last && rules !== undefined && [rules, "\n\n"];
          const shown = variant.imageFirst ? imageFirst(content) : content;
          return [toolsLast && n === last && tools, userPieces([before, contentPieces(shown, IMAGES)])];
        },
        said: (said) => saidPieces(said, variant, keeps),
        results: (results) => results.map((result) => variant.result(nineCharacters(result.call?.id ?? result.id), result)),
      }),
    ],
    open: [],
  };
}

function imageFirst(content: Content): Content {
  const [text, image, ...more] = content;
  const isPair = text?.type === "text" && image?.type === "media" && image.mediaType.startsWith("image/") && more.length === 0;
  return isPair ? [image, text] : content;
}

const userPieces = (text: Pieces): Pieces => t`[INST]${text}[/INST]`;

function saidPieces(said: readonly Part[], variant: Variant, keepsThinking: boolean): Pieces {
  return [
    said.map((part) => (part.type === "text" ? part.text : keepsThinking && part.type === "thinking" && part.text && thought(part.text))),
    batched(said, variant.calls),
    t`</s>`,
  ];
}

const toolPieces = (tools: readonly Tool[]): Pieces => t`[AVAILABLE_TOOLS]${pythonJson(tools.map(functionTool))}[/AVAILABLE_TOOLS]`;
const thought = (text: string): Pieces => t`[THINK]${text}[/THINK]`;

export const mistral = dialectOf({
  id: "mistral",
  title: "Mistral",
  models: [
    "Ministral 3",
    "Magistral",
    "Devstral",
    "Mistral Small",
    "Mistral Medium",
    "Mistral Large",
    "Codestral",
    "Mistral Nemo",
    "Mistral 7B v0.3",
  ],
  variants: VARIANTS,
  stops: STOPS,
  preserved: [CALLS, ARGS, CALL_ID, "[THINK]", "[/THINK]"],
  createScanner,
  adapt: keepThinking,
  render,
  tools: toolPieces,
  calls: (calls, variant) => variant.calls(calls),
  results: (results, variant) => results.map((result) => variant.result(result.id ?? "", result)),
  thinking: thought,
});
