/**
 * What Cohere's models since Command R7B have in common: turns, the list of tools, calls with numbers for ids, and results.
 *
 *     <|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|><|START_TOOL_RESULT|>[
 *         {
 *             "tool_call_id": "0",
 *             "results": {
 *                 "0": {"content": "4 °C"}
 *             },
 *             "is_error": null
 *         }
 *     ]<|END_TOOL_RESULT|><|END_OF_TURN_TOKEN|>
 */
import type { Json, Message, Tool, ToolCall } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsText, compactJson, pythonJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { think } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { type Answer, allCalls } from "./transcript.ts";

export const STOPS = ["<|END_OF_TURN_TOKEN|>"];
export const TURNS = ["<BOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|SYSTEM_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>"];
const ACTION = ["<|START_ACTION|>", "<|END_ACTION|>"] as const;
/** The marks around text for the user: North's pair, and that of the Command models. */
const TEXT = ["<|START_TEXT|>", "<|END_TEXT|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"] as const;
const THINKING = ["<|START_THINKING|>", "<|END_THINKING|>"] as const;
const RESULT = ["<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>"];
export const IMAGE = "<|IMG_PATCH|>";
export const PRESERVED = [...ACTION, ...TEXT, ...THINKING];

// ---- Scanning

const calls = jsonCalls({ marks: [...PRESERVED, ...STOPS] });

export const createScanner = scannerOf({
  calls: { [ACTION[0]]: calls.marked },
  closers: [ACTION[1]],
  thinking: { open: { [THINKING[0]]: think }, close: [THINKING[1], TEXT[0], TEXT[2]], stray: "control" },
  stops: STOPS,
  control: [...TURNS, ...TEXT, ...RESULT, ACTION[1], IMAGE],
  callsInThinking: "promote",
});

// ---- Rendering

export const t = markup([...TURNS, ...STOPS, ...PRESERVED, ...RESULT, IMAGE, "<EOS_TOKEN>", "<PAD_TOKEN>"]);

const ROLES = { system: t`<|SYSTEM_TOKEN|>`, user: t`<|USER_TOKEN|>`, assistant: t`<|CHATBOT_TOKEN|>` };
export const turnPieces = (role: keyof typeof ROLES, body: Pieces): Pieces =>
  t`<|START_OF_TURN_TOKEN|>${ROLES[role]}${body}<|END_OF_TURN_TOKEN|>`;

export const thought = (text: string): Pieces => t`<|START_THINKING|>${text}<|END_THINKING|>`;

/** The id of a call or of the call that a result answers: its number. */
export type IdOf<T> = (item: T, n: number) => number;
export const inOrder: IdOf<unknown> = (_, n) => n;

/** Numbers all calls of a conversation. */
export function idsOf(messages: readonly Message[]): { call: IdOf<ToolCall>; result: IdOf<Answer> } {
  const numbers = new Map(allCalls(messages).map((call, n) => [call, n]));
  return { call: (call) => numbers.get(call) ?? 0, result: ({ call }) => (call && numbers.get(call)) ?? 0 };
}

export const callPieces = <T extends RenderableCall>(calls: readonly T[], idOf: IdOf<T>): Pieces =>
  t`<|START_ACTION|>[
${joined(
  calls.map(
    (call, n) => `    {"tool_call_id": "${idOf(call, n)}", "tool_name": ${compactJson(call.name)}, "parameters": ${argumentsText(call)}}`,
  ),
  ",\n",
)}
]<|END_ACTION|>`;

/** `outputs`: the list as which a result is written. */
export const resultPieces = <T extends RenderableResult>(
  results: readonly T[],
  outputs: (output: Json) => readonly Json[],
  idOf: IdOf<T>,
): Pieces =>
  t`<|START_TOOL_RESULT|>[
${joined(
  results.map(
    (result, n) => `    {
        "tool_call_id": "${idOf(result, n)}",
        "results": {
${outputs(result.output)
  .map((output, i) => `            "${i}": ${pythonJson(output)}`)
  .join(",\n")}
        },
        "is_error": null
    }`,
  ),
  ",\n",
)}
]<|END_TOOL_RESULT|>`;

export const toolList = (tools: readonly Tool[]): string => `\`\`\`json
[
${tools
  .map(
    ({ name, description = "", parameters = {} }) =>
      `    {"name": "${name}", "description": "${description}", "parameters": ${pythonJson(parameters)}, "responses": null}`,
  )
  .join(",\n")}
]
\`\`\``;
