/**
 * Salesforce xLAM, on Llama and on Qwen. The whole answer is a list of calls; it may also be in a code fence or follow a mark:
 *
 *     [{"name": "get_weather", "arguments": {"city": "Paris"}}, {"name": "get_time", "arguments": {"timezone": "Europe/Paris"}}]
 */
import type { Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, prettyJson, pythonJson } from "./print.ts";
import type { Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { lineOf } from "./scan/json-places.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, functionTool, type Rendered, type Setting, type TurnMarks } from "./tools.ts";
import { dialogue, leadingSystem, printedText, textOf, textThenBatch, turnsOf, withJoinedTexts } from "./transcript.ts";
import { CHATML } from "./turns/chatml.ts";
import { LLAMA3 } from "./turns/llama3.ts";

const STOPS = ["<|eot_id|>", "<|im_end|>"];
const FENCE = "```";

// ---- Scanning

const calls = jsonCalls({
  wrappers: { "```json": FENCE, "```": FENCE },
  firstKeys: new Set(["name", "arguments", "parameters", "id", "type"]),
  needsArguments: true,
  marks: ["[TOOL_CALLS]", "<tool_call>", "</tool_call>", "<think>", "</think>", ...STOPS],
});

const createScanner = scannerOf({
  calls: { "[TOOL_CALLS]": calls.marked, "<tool_call>": calls.marked },
  closers: [FENCE, "</tool_call>"],
  thinking: THINK_TAGS,
  stops: STOPS,
  control: ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|im_start|>"],
  callsInThinking: "promote-if-unclosed",
  line: lineOf(calls),
});

// ---- Rendering

interface Variant extends TurnMarks {
  readonly resultRole: string;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  "vllm-xlam-llama": { ...LLAMA3, resultRole: "ipython" },
  "vllm-xlam-qwen": { ...CHATML, resultRole: "tool" },
};

const SYSTEM = "You are a helpful assistant. You are developed by Salesforce xLAM team.";
const FORMAT = `You have access to a set of tools. When using tools, make calls in a single JSON array: 

[{"name": "tool_call_name", "arguments": {"arg1": "value1", "arg2": "value2"}}, ... (additional parallel tool calls as needed)]

If no tool is suitable, state that explicitly. If the user's input lacks required parameters, ask for clarification. Do not interpret or respond until tool results are returned. Once they are available, process them or make additional calls if needed. For tasks that don't require tools, such as casual conversation or general advice, respond directly in plain text. The available tools are:`;

/** Adds the format to a caller's system text, which replaces it in the template. */
function adapt(original: Request): Request {
  const request = withJoinedTexts(original);
  const { system, rest } = leadingSystem(request.messages);
  if (!system || !request.tools?.length || textOf(system).includes(FORMAT)) return request;
  const text = `${textOf(system).trim()}\n${FORMAT}`.trim();
  return {
    ...request,
    messages: [{ role: "system", content: [{ type: "text", text }, ...system.filter((part) => part.type !== "text")] }, ...rest],
  };
}

function render(request: Request, variant: Variant, { declared }: Setting): Rendered {
  const { turn } = variant;
  const { system, rest } = leadingSystem(request.messages);
  const format = !system && request.tools ? `${FORMAT}\n\n` : "";
  return {
    ...variant,
    messages: [
      turn("system", [system ? printedText(system).trim() : SYSTEM, "\n", format, declared]),
      dialogue(turnsOf(rest), {
        other: (role, content) => turn(role, printedText(content).trim()),
        said: (said) => turn("assistant", textThenBatch(said, callPieces, textOf(said).trim())),
        results: (results) => resultPieces(results, variant),
      }),
    ],
  };
}

const toolPieces = (tools: readonly Tool[]): Pieces => tools.map((tool) => `${prettyJson(functionTool(tool))}\n\n`);
const callPieces = (calls: readonly RenderableCall[]): Pieces => `[${calls.map((call) => callObject(call)).join(", ")}]`;
const resultPieces = (results: readonly RenderableResult[], { turn, resultRole }: Variant): Pieces =>
  results.map(({ output }) => turn(resultRole, typeof output === "string" ? output : pythonJson(output)));

export const xlam = dialectOf({
  id: "xlam",
  title: "xLAM",
  models: ["xLAM-2", "xLAM-1"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: [],
  createScanner,
  adapt,
  render,
  tools: toolPieces,
  calls: callPieces,
  results: resultPieces,
  thinking: (text) => `<think>${text}</think>`,
});
