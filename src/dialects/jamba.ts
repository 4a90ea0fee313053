/**
 * AI21's Jamba 1.5, 1.6 and 1.7. Calls are a list between tags:
 *
 *     <tool_calls>[
 *         {"name": "get_weather", "arguments": {"city": "Paris"}}
 *     ]</tool_calls>
 */
import type { Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, prettyJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonTags } from "./scan/json-tags.ts";
import { dialectOf, functionObject, type Rendered, type Setting } from "./tools.ts";
import { batched, contentPieces, dialogue, leadingSystem, resultContent, textOf, turnsOf } from "./transcript.ts";

const STOPS = ["<|eom|>", "<|endoftext|>"];
const CALLS = ["<tool_calls>", "</tool_calls>"] as const;
const TURNS = ["<|startoftext|>", "<|bom|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"];

const createScanner = jsonTags([CALLS[0]], { stops: STOPS, control: [...TURNS, CALLS[1]] });

// ---- Rendering

const t = markup([
  ...[...TURNS, ...CALLS, ...STOPS, "<|pad|>", "<|unk|>", "<think>", "</think>", "<tool_definitions>", "</tool_definitions>"],
  ...["<documents>", "</documents>", "<active_output_modes>", "</active_output_modes>", "<citations>", "</citations>"],
]);

/** The system text of a request without one. */
const VARIANTS = { "jamba-mini-1.7": "" };

const ROLES = { system: t`<|system|>`, user: t`<|user|>`, assistant: t`<|assistant|>`, tool: t`<|tool|>` };
const turnPieces = (role: keyof typeof ROLES, text: Pieces): Pieces => t`<|bom|>${ROLES[role]} ${text}<|eom|>`;

function render(request: Request, fallback: string, { declared }: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const rules = system ? textOf(system) : fallback;
  return {
    bos: t`<|startoftext|>`,
    messages: [
      turnPieces("system", [rules, rules && declared && "\n\n", declared]),
      dialogue(turnsOf(rest), {
        other: (role, content) => turnPieces(role, contentPieces(content, {})),
        said: (said) => turnPieces("assistant", [textOf(said), batched(said, callPieces)]),
        results: resultPieces,
      }),
    ],
    open: t`<|bom|><|assistant|>`,
  };
}

const toolPieces = (tools: readonly Tool[]): Pieces =>
  t`<tool_definitions>\n# Tools\n\n## Functions${tools.map((tool) => `\n\n${prettyJson(functionObject(tool), "  ")}`)}\n</tool_definitions>`;

const callPieces = (calls: readonly RenderableCall[]): Pieces =>
  t`<tool_calls>[\n${joined(
    calls.map((call) => `    ${callObject(call)}`),
    ",\n",
  )}\n]</tool_calls>`;

const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  results.map((result) => turnPieces("tool", contentPieces(resultContent(result), {})));

export const jamba = dialectOf({
  id: "jamba",
  title: "Jamba",
  models: ["Jamba 1.5", "Jamba 1.6", "Jamba 1.7"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: [...CALLS, "<think>", "</think>"],
  createScanner,
  render,
  tools: toolPieces,
  calls: callPieces,
  results: resultPieces,
  thinking: (text) => t`<think>${text}</think>`,
});
