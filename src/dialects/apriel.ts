/**
 * ServiceNow's Apriel 1.5 and 1.6. The model reasons first, up to a mark made of words; its calls are a list between tags:
 *
 *     Here are my reasoning steps:
 *     I need the weather.
 *     [BEGIN FINAL RESPONSE]
 *     <tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris"}}]</tool_calls>
 */
import type { Part, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, compactJson, pythonLiteral } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { jsonTags } from "./scan/json-tags.ts";
import { releaseBlanks } from "./scan/steps.ts";
import { dialectOf, functionTool, type Rendered, type Setting } from "./tools.ts";
import { batched, type Content, contentPieces, dialogue, leadingSystem, resultText, textOf, thinkingOf, turnsOf } from "./transcript.ts";

const STOPS = ["<|end|>"];
const REASONS = "Here are my reasoning steps:\n";
const FINAL = "[BEGIN FINAL RESPONSE]";
const TURNS = ["<|begin_system|>", "<|begin_user|>", "<|begin_assistant|>", "<|begin_tool_result|>", "<|begin_content|>"];
const TURNS_1_5 = ["<|system|>", "<|user|>", "<|assistant|>", "<|tool_result|>", "<|content|>"];

// ---- Scanning

const FINALS = [`${FINAL}\n`, FINAL];
const createScanner = jsonTags(["<tool_calls>"], {
  stops: STOPS,
  // In an answer the words that open thinking are text; a prompt may end in them.
  thinking: { open: { [REASONS]: releaseBlanks }, close: FINALS, stray: "control" },
  phrases: { open: [REASONS], close: FINALS },
  control: ["[END FINAL RESPONSE]", "<s>", ...TURNS, ...TURNS_1_5],
});

// ---- Rendering

const t = markup([...TURNS, ...TURNS_1_5, ...STOPS, "<tool_calls>", "</tool_calls>", "[IMG]", "<s>"]);

/** How a version writes a conversation. `isOpen`: the model is to continue this message. */
interface Variant {
  /** An open message shows its thinking. */
  readonly reasons: boolean;
  readonly tools: (tools: readonly Tool[]) => Pieces;
  readonly system: (given: string | undefined, declared: Pieces) => Pieces;
  readonly user: (text: Pieces) => Pieces;
  readonly said: (text: Pieces, isOpen: boolean) => Pieces;
  readonly result: (text: string) => Pieces;
  readonly open: Pieces;
}

const RULES = `You are a thoughtful, systematic AI assistant from ServiceNow Language Models (SLAM) lab.
    Analyze each question carefully, present your reasoning step-by-step, then provide the final
    response after the marker [BEGIN FINAL RESPONSE].`;
const RULES_1_5 =
  "You are a thoughtful and systematic AI assistant built by ServiceNow Language Models (SLAM) lab. Before providing an answer, analyze the problem carefully and present your reasoning step by step. After explaining your thought process, provide the final solution in the following format: [BEGIN FINAL RESPONSE] ... [END FINAL RESPONSE].";

const VARIANTS: Readonly<Record<string, Variant>> = {
  "apriel-1.6-15b-thinker": {
    reasons: true,
    tools: (tools) => t`You are provided with function signatures within <available_tools></available_tools> XML tags.
        You may call one or more functions to assist with the user query.
        Don't make assumptions about the arguments. You should infer the argument values from previous
        user responses and the system message.
        Here are the available tools: 
        <available_tools>
${tools.map((tool) => pythonLiteral(functionTool(tool)))}        
        </available_tools>.

        Return all function calls as a list of JSON objects within <tool_calls></tool_calls> XML tags.
        Each JSON object should contain a function name and arguments as follows:
        <tool_calls>[
            {"name": <function-name-1>, "arguments": <args-dict-1>},
            {"name": <function-name-2>, "arguments": <args-dict-2>},
            ...
        ]</tool_calls>`,
    system: (given, declared) => t`<|begin_system|>\n${RULES}\n${given !== undefined && `${given}\n`}${declared && [declared, "\n"]}`,
    user: (text) => t`<|begin_user|>\n${text}`,
    said: (text, isOpen) => t`\n<|begin_assistant|>\n${text}${!isOpen && t`\n<|end|>\n`}`,
    result: (text) => t`<|begin_tool_result|>\n${text}\n\n\n`,
    open: t`\n<|begin_assistant|>\n${REASONS}`,
  },
  "unsloth-apriel-1.5": {
    reasons: false,
    tools: (
      tools,
    ) => t`You are provided with function signatures within <available_tools></available_tools> XML tags. You may call one or more functions to assist with the user query. Don't make assumptions about the arguments. You should infer the argument values from previous user responses and the system message. Here are the available tools:
<available_tools>
${tools.map((tool) => `${pythonLiteral(functionTool(tool))}\n`)}</available_tools>`,
    // The template's own slips: without a system text the rules appear twice, and with one the form of calls is missing.
    system: (given, declared) => [
      declared && given === undefined && t`<|system|>\n${RULES_1_5}${declared}\n${FORM_1_5}\n<|end|>\n`,
      t`<|system|>\n${RULES_1_5}${given}${declared && given !== undefined && ["\n", declared]}\n<|end|>\n`,
    ],
    user: (text) => t`<|user|>\n${text}\n<|end|>\n`,
    said: (text) => t`<|assistant|>\n${text}\n<|end|>\n`,
    result: (text) => t`<|tool_result|>\n${text}\n<|end|>\n`,
    open: t`<|assistant|>\n`,
  },
};

const FORM_1_5 = t`Return all function calls as a list of json objects within <tool_call></tool_call> XML tags. Each json object should contain a function name and arguments as follows:
<tool_calls>[{"name": <function-name-1>, "arguments": <args-dict-1>}, {"name": <function-name-2>, "arguments": <args-dict-2>},...]</tool_calls>`;

function render(request: Request, variant: Variant, { declared, addGenerationPrompt }: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  return {
    bos: t`<s>`,
    messages: [
      variant.system(system && textOf(system), declared),
      dialogue(turnsOf(rest), {
        other: (role, content) => (role === "user" ? variant.user(shown(content)) : variant.system(textOf(content), [])),
        said: (said, _, isLast) => {
          const isOpen = isLast && addGenerationPrompt === false;
          return variant.said(saidPieces(said, isLast, isOpen && variant.reasons), isOpen);
        },
        results: (results) => resultPieces(results, variant),
      }),
    ],
    open: variant.open,
  };
}

const shown = (content: Content): Pieces => contentPieces(content, { image: "[IMG]" });

/** The calls of the last message have no ids. */
function saidPieces(said: readonly Part[], isLast: boolean, isReasoned: boolean): Pieces {
  const reasons = isReasoned && thinkingOf(said);
  const [first = "", ...rest] = textOf(said).split(FINAL);
  const calls = batched(said, (calls) => listed(calls.map((call) => (isLast ? callObject(call) : callWithId(call)))));
  return [reasons && `${reasons}\n${FINAL}\n`, rest.at(-1)?.trim() ?? first, calls.map((call) => ["\n", call])];
}

const callWithId = (call: RenderableCall): string => `${callObject(call).slice(0, -1)}, "id": ${compactJson(call.id ?? "")}}`;
const listed = (calls: readonly string[]): Pieces => t`<tool_calls>[${calls.join(", ")}]</tool_calls>`;
const resultPieces = (results: readonly RenderableResult[], { result }: Variant): Pieces =>
  results.map(({ output }) => result(resultText(output)));

export const apriel = dialectOf({
  id: "apriel",
  title: "Apriel",
  models: ["Apriel 1.5", "Apriel 1.6"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: ["<tool_calls>", "</tool_calls>"],
  createScanner,
  render,
  tools: (tools, variant) => variant.tools(tools),
  calls: (calls) => listed(calls.map((call) => callObject(call))),
  results: resultPieces,
  thinking: (text) => `${REASONS}${text}\n${FINAL}\n`,
});
