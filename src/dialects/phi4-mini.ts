/**
 * Phi-4-mini, Phi-4-multimodal and firefunction-v2. Calls are a list after a word:
 *
 *     functools[{"name": "get_weather", "arguments": {"city": "Paris"}}, {"name": "get_time", "arguments": {"timezone": "UTC"}}]
 */
import type { Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, prettyJson, pythonJson } from "./print.ts";
import { joined, type Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { listedOf, perhaps } from "./scan/json-places.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, functionObject, functionTool, type Rendered, type Setting } from "./tools.ts";
import { dialogue, leadingSystem, printedText, resultText, textThenBatch, turnsOf, withJoinedTexts } from "./transcript.ts";
import { PHI, t } from "./turns/phi.ts";

const STOPS = ["<|end|>", "<|endoftext|>", "<|eot_id|>"];

// ---- Scanning

const calls = jsonCalls({ marks: ["<|tool_call|>", "<|/tool_call|>", "</think>", ...STOPS] });

const createScanner = scannerOf({
  // `<|tool_call|>` and its closer are those of Microsoft's own template; told to write the word, the model may write both.
  calls: { functools: listedOf(calls), "<|tool_call|>": perhaps(["functools"], calls.marked) },
  closers: ["<|/tool_call|>"],
  thinking: THINK_TAGS,
  stops: STOPS,
  control: ["<|/tool_call|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|/tool|>", "<|tool_response|>"],
  callsInThinking: "promote-if-unclosed",
});

// ---- Rendering

interface Variant {
  readonly system: (text: string) => Pieces;
  /** Without a system message. */
  readonly fallback?: string;
  readonly tools: (tools: readonly Tool[]) => Pieces;
  readonly calls: (calls: Pieces) => Pieces;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  "vllm-phi4-mini-string-args": {
    system: (text) => ["\n", text.trim()],
    fallback: "You are a helpful assistant.",
    tools: (tools) => [FORMAT, tools.map((tool) => `${prettyJson(functionTool(tool))}\n\n`)],
    calls: (calls) => ["functools[", calls, "]"],
  },
  // Microsoft's own. It shows no calls; they are written as the model writes them.
  "phi-4-mini-instruct": {
    system: (text) => text,
    tools: (tools) => t`<|tool|>${pythonJson(tools.map(functionObject))}<|/tool|>`,
    calls: (calls) => t`<|tool_call|>[${calls}]<|/tool_call|>`,
  },
};

const FORMAT = `In addition to plain text responses, you can choose to call one or more of the provided functions.

Use the following rule to decide when to call a function:
  * if the response can be generated from your internal knowledge (e.g., as in the case of queries like "What is the capital of Poland?"), do so
  * if you need external information that can be obtained by calling one or more of the provided functions, generate a function calls

If you decide to call functions:
  * prefix function calls with functools marker (no closing marker required)
  * all function calls should be generated in a single JSON list formatted as functools[{"name": [function name], "arguments": [function arguments as JSON]}, ...]
  * follow the provided JSON schema. Do not hallucinate arguments or values. Do to blindly copy values from the provided samples
  * respect the argument type formatting. E.g., if the type is number and format is float, write value 7 as 7.0
  * make sure you pick the right functions that match the user intent`;

function render(request: Request, variant: Variant, { declared }: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const first = system ? printedText(system) : variant.fallback;
  const systemPieces = (text: string, declared?: Pieces): Pieces => PHI.turn("system", [variant.system(text), declared]);
  return {
    ...PHI,
    messages: [
      (first !== undefined || declared) && systemPieces(first ?? "", declared),
      dialogue(turnsOf(rest), {
        other: (role, content) => (role === "user" ? PHI.turn(role, printedText(content)) : systemPieces(printedText(content))),
        said: (said) =>
          PHI.turn(
            "assistant",
            textThenBatch(said, (calls) => callPieces(calls, variant)),
          ),
        results: resultPieces,
      }),
    ],
  };
}

const callPieces = (calls: readonly RenderableCall[], variant: Variant): Pieces =>
  variant.calls(
    joined(
      calls.map((call) => callObject(call)),
      ", ",
    ),
  );
const resultPieces = (results: readonly RenderableResult[]): Pieces => results.map(({ output }) => PHI.turn("tool", resultText(output)));

export const phi4Mini = dialectOf({
  id: "phi4-mini",
  title: "Phi-4-mini",
  models: ["Phi-4-mini", "Phi-4-multimodal", "firefunction-v2"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: ["<|tool_call|>", "<|/tool_call|>"],
  createScanner,
  adapt: withJoinedTexts,
  render,
  tools: (tools, variant) => variant.tools(tools),
  calls: callPieces,
  results: resultPieces,
  thinking: (text) => `<think>${text}</think>`,
});
