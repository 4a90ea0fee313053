/**
 * Calls in Python syntax: LFM2 and LFM2.5, Llama 4, Olmo 3, Gemma 3. The marks around them differ:
 *
 *     <|tool_call_start|>[get_weather(city='Paris', days=2), get_time(timezone='Europe/Paris')]<|tool_call_end|>
 */
import { isObject } from "../core/json.ts";
import type { Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { keepThinking } from "./options.ts";
import { argumentsTree, entriesOf, Numeral, prettyJson, pythonJson, pythonLiteral, type Tree } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { pythonCalls } from "./scan/python.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, functionTool, type Rendered, type TurnMarks } from "./tools.ts";
import { batched, contentPieces, dialogue, leadingSystem, resultText, textOf, thinkingOf, turnsOf } from "./transcript.ts";
import { LLAMA4, TOKENS as LLAMA4_TOKENS } from "./turns/llama4.ts";

const STOPS = ["<|im_end|>", "<|endoftext|>", "<|eot|>", "<|eom|>", "<end_of_turn>"];
const LFM = [
  ...["<|startoftext|>", "<|im_start|>", "<|im_end|>", "<|tool_list_start|>", "<|tool_list_end|>"],
  ...["<|tool_call_start|>", "<|tool_call_end|>", "<|tool_response_start|>", "<|tool_response_end|>"],
];
const OLMO = ["<functions>", "</functions>", "<function_calls>", "</function_calls>"];

// ---- Scanning

const calls = pythonCalls([...LFM, ...LLAMA4_TOKENS, "<function_calls>", "</function_calls>", "```tool_code", "```", ...STOPS, "</think>"]);

const createScanner = scannerOf({
  calls: {
    "<|tool_call_start|>": calls.announced,
    "<|python_start|>": calls.announced,
    "<function_calls>": calls.tagged,
    "```tool_code": calls.printed,
  },
  closers: ["<|tool_call_end|>", "<|python_end|>", "</function_calls>", "```"],
  thinking: { ...THINK_TAGS, behind: calls.start },
  stops: STOPS,
  control: [...LFM, ...LLAMA4_TOKENS],
  callsInThinking: "promote-if-unclosed",
  start: calls.start,
  bare: calls.bare,
});

// ---- Rendering

const t = markup([...LFM, "<image>"]);
const olmo = markup(OLMO);

interface Variant extends TurnMarks {
  /** The declared tools. `alone`: the request has no system message. */
  readonly tools: (tools: readonly Tool[], alone: boolean) => Pieces;
  /** The system text of a request with neither tools nor a system message, in formats that always have a system turn. */
  readonly none?: Pieces;
  /** The separators between the request's system text and the tools, and between two calls. */
  readonly gap: string;
  readonly separator: string;
  readonly system: (text: string) => string;
  /** How the calls are wrapped, and how their values are written. */
  readonly list: (calls: Pieces) => Pieces;
  readonly value: (value: Tree) => string;
  readonly resultRole: string;
  readonly result: (text: string) => Pieces;
  readonly image: string;
  readonly thinks?: boolean;
  /** Where thinking that a server left in the text is kept: in the current turn, or only in the last assistant message. */
  readonly leaked?: "turn" | "message";
}

const LFM25: Variant = {
  bos: t`<|startoftext|>`,
  turn: (role, text) => t`<|im_start|>${role}\n${text}<|im_end|>\n`,
  open: t`<|im_start|>assistant\n`,
  tools: (tools) => `List of tools: ${pythonJson(tools.map(functionTool))}`,
  gap: "\n",
  separator: ", ",
  system: (text) => text,
  list: (calls) => t`<|tool_call_start|>[${calls}]<|tool_call_end|>`,
  value: (value) => literal(value),
  resultRole: "tool",
  result: (text) => text,
  image: "<image>",
};

/** The templates of LFM2.5 Instruct and of LFM2 write no calls, only their results. */
const VARIANTS: Readonly<Record<string, Variant>> = {
  "lfm2.5-8b-a1b": { ...LFM25, thinks: true, leaked: "turn" },
  "lfm2.5-instruct": { ...LFM25, leaked: "message" },
  "lfm2-8b-a1b": {
    ...LFM25,
    tools: (tools) => t`List of tools: <|tool_list_start|>${pythonJson(tools.map(functionTool))}<|tool_list_end|>`,
    result: (text) => t`<|tool_response_start|>${text}<|tool_response_end|>`,
  },
  "vllm-llama4-pythonic": {
    ...LFM25,
    ...LLAMA4,
    tools: (tools, alone) => [alone ? LLAMA_SYSTEM : LLAMA_TOOLS, "\n", prettyJson(tools.map(functionTool))],
    system: (text) => text.trim(),
    list: (calls) => ["[", calls, "]"],
    value: (value) => (typeof value === "string" ? pythonJson(value) : literal(value)),
    resultRole: "ipython",
    result: pythonJson,
    image: "<|image|>",
  },
  "olmo-3-7b-instruct": {
    ...LFM25,
    bos: [],
    tools: (tools, alone) => olmo`${alone ? OLMO_SYSTEM : []}<functions>${pythonJson(tools.map(functionTool))}</functions>`,
    none: olmo`You are a helpful function-calling AI assistant. You do not currently have access to any functions. <functions></functions>`,
    gap: "",
    separator: "\n",
    list: (calls) => olmo`<function_calls>${calls}</function_calls>`,
    value: pythonJson,
    resultRole: "environment",
    image: "",
  },
};

const OLMO_SYSTEM = olmo`You are a helpful function-calling AI assistant. You are provided with function signatures within <functions></functions> XML tags. You may call one or more functions to assist with the user query. Output any function calls within <function_calls></function_calls> XML tags. Do not make assumptions about what values to plug into functions.`;
const LLAMA_TOOLS =
  "Here is a list of functions in JSON format that you can invoke. Use exact format: [func_name1(param1=value1, param2=value2), func_name2(...)]";
const LLAMA_SYSTEM = `You are a helpful assistant and an expert in function composition. You can answer general questions using your internal knowledge OR invoke functions when necessary. Follow these strict guidelines:

1. FUNCTION CALLS:
- ONLY use functions that are EXPLICITLY listed in the function list below
- If NO functions are listed (empty function list []), respond ONLY with internal knowledge or "I don't have access to [Unavailable service] information"
- If a function is not in the list, respond ONLY with internal knowledge or "I don't have access to [Unavailable service] information"
- If ALL required parameters are present AND the query EXACTLY matches a listed function's purpose: output ONLY the function call(s)
- Use exact format: [func_name1(param1=value1, param2=value2), func_name2(...)]
Examples:
CORRECT: [get_weather(location="Vancouver"), calculate_route(start="Boston", end="New York")] <- Only if get_weather and calculate_route are in function list
INCORRECT: get_weather(location="New York")
INCORRECT: Let me check the weather: [get_weather(location="New York")]
INCORRECT: [get_events(location="Singapore")] <- If function not in list

2. RESPONSE RULES:
- For pure function requests matching a listed function: ONLY output the function call(s)
- For knowledge questions: ONLY output text
- For missing parameters: ONLY request the specific missing parameters
- For unavailable services (not in function list): output ONLY with internal knowledge or "I don't have access to [Unavailable service] information". Do NOT execute a function call.
- If the query asks for information beyond what a listed function provides: output ONLY with internal knowledge about your limitations
- NEVER combine text and function calls in the same response
- NEVER suggest alternative functions when the requested service is unavailable
- NEVER create or invent new functions not listed below

3. STRICT BOUNDARIES:
- ONLY use functions from the list below - no exceptions
- NEVER use a function as an alternative to unavailable information
- NEVER call functions not present in the function list
- NEVER add explanatory text to function calls
- NEVER respond with empty brackets
- Use proper Python/JSON syntax for function calls
- Check the function list carefully before responding

4. TOOL RESPONSE HANDLING:
- When receiving tool responses: provide concise, natural language responses
- Don't repeat tool response verbatim
- Don't add supplementary information

Here is a list of functions in JSON format that you can invoke:`;

function render(request: Request, variant: Variant): Rendered {
  const { tools = [] } = request;
  const { system, rest } = leadingSystem(request.messages);
  const alone = system === undefined;
  const head = [
    variant.system(textOf(system ?? [])),
    tools.length > 0 ? variant.tools(tools, alone) : (alone && variant.none) || "",
  ].filter((text) => text !== "");
  const last = rest.findLast((message) => message.role === "assistant")?.content;
  const said = (parts: readonly Part[], current: boolean): Pieces => [
    variant.thinks && current && request.thinking?.keep && thought(thinkingOf(parts)),
    variant.leaked === undefined || (variant.leaked === "turn" ? current : parts === last) ? textOf(parts) : withoutThinking(textOf(parts)),
    batched(parts, (calls) => callPieces(calls, variant)),
  ];
  return {
    ...variant,
    messages: [
      (head.length > 0 || variant.none) && variant.turn("system", joined(head, variant.gap)),
      dialogue(turnsOf(rest), {
        other: (role, content) => variant.turn(role, contentPieces(content, { image: variant.image })),
        said: (parts, current) => variant.turn("assistant", said(parts, current)),
        results: (results) => resultPieces(results, variant),
      }),
    ],
  };
}

const withoutThinking = (text: string): string => {
  const [, ...tail] = text.split("</think>");
  return tail.at(-1)?.trim() ?? text;
};

const callPieces = (calls: readonly RenderableCall[], variant: Variant): Pieces =>
  variant.list(
    joined(
      calls.map((call) => callText(call, variant)),
      variant.separator,
    ),
  );

const callText = (call: RenderableCall, variant: Variant): string =>
  `${call.name}(${entriesOf(argumentsTree(call))
    .map(([key, value]) => `${keyword(key)}=${variant.value(value)}`)
    .join(", ")})`;

/** A key that is no Python identifier is quoted. */
const keyword = (key: string): string => (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(key) ? key : pythonLiteral(key));

/** An object is written as JSON, except inside a list. */
const literal = (value: Tree): string => (isObject(value) && !(value instanceof Numeral) ? pythonJson(value) : pythonLiteral(value));

const resultPieces = (results: readonly RenderableResult[], { turn, resultRole, result, image }: Variant): Pieces =>
  results.map(({ output, media = [] }) => turn(resultRole, [result(resultText(output)), contentPieces(media, { image })]));

const thought = (text: string): Pieces => (text === "" ? [] : `<think>${text}</think>`);

export const pythonic = dialectOf({
  id: "pythonic",
  title: "Python calls",
  models: ["LFM2", "LFM2.5", "Llama-4", "Olmo-3", "gemma-3"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: ["<|tool_call_start|>", "<|tool_call_end|>", "<|python_start|>", "<|python_end|>", ...OLMO, "<think>", "</think>"],
  createScanner,
  adapt: keepThinking,
  render,
  tools: (tools, variant) => variant.tools(tools, true),
  calls: callPieces,
  results: resultPieces,
  thinking: thought,
});
