/**
 * Cohere's North; Command R7B and Command A write their calls alike, but their prompts are others. Calls are a list behind a mark, each with a number for an id:
 *
 *     <|START_THINKING|>I need the weather.<|END_THINKING|><|START_ACTION|>[
 *         {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}}
 *     ]<|END_ACTION|>
 */
import { isObject } from "../core/json.ts";
import type { Json, Part, Request, Tool, ToolCall } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsText, compactJson, pythonJson } from "./print.ts";
import { joined, markup, mediaPiece, type Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { think } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { allCalls, batched, type Content, callsOf, dialogue, leadingSystem, textOf, textParts, thinkingOf, turnsOf } from "./transcript.ts";

const STOPS = ["<|END_OF_TURN_TOKEN|>"];
const TURNS = ["<BOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|SYSTEM_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>"];
const ACTION = ["<|START_ACTION|>", "<|END_ACTION|>"] as const;
/** What the model says to the user: the second pair is that of the older models. */
const TEXT = ["<|START_TEXT|>", "<|END_TEXT|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"] as const;
const THINKING = ["<|START_THINKING|>", "<|END_THINKING|>"] as const;
const RESULT = ["<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>"];
const IMAGE = "<|IMG_PATCH|>";

// ---- Scanning

const calls = jsonCalls({ marks: [...ACTION, ...TEXT, ...THINKING, ...STOPS] });

const createScanner = scannerOf({
  calls: { [ACTION[0]]: calls.marked },
  closers: [ACTION[1]],
  thinking: { open: { [THINKING[0]]: think }, close: [THINKING[1], TEXT[0], TEXT[2]], stray: "control" },
  stops: STOPS,
  control: [...TURNS, ...TEXT, ...RESULT, ACTION[1], IMAGE],
  callsInThinking: "promote",
});

// ---- Rendering

const t = markup([...TURNS, ...STOPS, ...ACTION, ...TEXT, ...THINKING, ...RESULT, IMAGE, "<EOS_TOKEN>", "<PAD_TOKEN>"]);

const VARIANTS = {
  "cohere2-moe": `These instructions are always to be followed and cannot be overridden by subsequent system or user turns:
- You will answer requests for educational, informative, or creative content related to safety categories. You will not provide content that is harmful or could be used to cause harm.

These instructions serve as your defaults, but they can be overridden in subsequent system or user turns:
- Your name is North Mini Code.
- You are a large language model built by Cohere.`,
};

function render(request: Request, platform: string, options: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const ids = new Map(allCalls(rest).map((call, n) => [call, n]));
  const turn = { system: t`<|SYSTEM_TOKEN|>`, user: t`<|USER_TOKEN|>`, assistant: t`<|CHATBOT_TOKEN|>` };
  const write = (role: keyof typeof turn, body: Pieces): Pieces => t`<|START_OF_TURN_TOKEN|>${turn[role]}${body}<|END_OF_TURN_TOKEN|>`;
  return {
    bos: t`<BOS_TOKEN>`,
    messages: [
      write("system", t`<|START_TEXT|>${platform}\n\n${options.declared ?? toolPieces([])}${formatText(request.output)}<|END_TEXT|>`),
      system && write("system", contentPieces(system)),
      dialogue(turnsOf(rest), {
        other: (role, content) => write(role, contentPieces(content)),
        said: (said) =>
          write(
            "assistant",
            answerPieces(said, (call) => ids.get(call) ?? 0),
          ),
        results: (results) =>
          write(
            "system",
            resultPieces(results, ({ call }) => (call && ids.get(call)) ?? 0),
          ),
      }),
    ],
    open: t`<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_THINKING|>${options.thinking === false && t`<|END_THINKING|>`}`,
  };
}

/** Each run of texts stands between marks. */
function contentPieces(content: Content): Pieces {
  if (content.length === 0) return said("");
  return content.map((part, i) => {
    if (part.type === "media") return mediaPiece(part, { image: IMAGE });
    const isFirst = content[i - 1]?.type !== "text";
    const isLast = content[i + 1]?.type !== "text";
    return [isFirst && t`<|START_TEXT|>`, part.text, isLast && t`<|END_TEXT|>`];
  });
}

const said = (text: Pieces): Pieces => t`<|START_TEXT|>${text}<|END_TEXT|>`;
const thought = (text: string): Pieces => t`<|START_THINKING|>${text}<|END_THINKING|>`;

function answerPieces(parts: readonly Part[], idOf: (call: ToolCall) => number): Pieces {
  const thinking = thinkingOf(parts);
  const text = textOf(parts);
  return [
    thinking && thought(thinking),
    (text !== "" || callsOf(parts).length === 0) && said(text),
    batched(parts, (calls) => callPieces(calls, idOf)),
  ];
}

const inOrder = (_: unknown, n: number): number => n;

const callPieces = <T extends RenderableCall>(calls: readonly T[], idOf: (call: T, n: number) => number): Pieces =>
  t`<|START_ACTION|>[
${joined(
  calls.map(
    (call, n) => `    {"tool_call_id": "${idOf(call, n)}", "tool_name": ${compactJson(call.name)}, "parameters": ${argumentsText(call)}}`,
  ),
  ",\n",
)}
]<|END_ACTION|>`;

const resultPieces = <T extends RenderableResult>(results: readonly T[], idOf: (result: T, n: number) => number): Pieces =>
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

/** A result is a list of objects. */
function outputs(output: Json): readonly Json[] {
  const texts = textParts(output)?.map(({ text }) => text);
  return (texts ?? (Array.isArray(output) ? output : [output])).map((item) =>
    isObject(item) ? item : { content: typeof item === "string" ? item : pythonJson(item) },
  );
}

const toolPieces = (tools: readonly Tool[]): Pieces => `# Available Tools
\`\`\`json
[
${tools
  .map(
    ({ name, description = "", parameters = {} }) =>
      `    {"name": "${name}", "description": "${description}", "parameters": ${pythonJson(parameters)}, "responses": null}`,
  )
  .join(",\n")}
]
\`\`\``;

function formatText(output: Request["output"]): string {
  if (!output) return "";
  const { schema } = output;
  return `

When generating JSON objects, do not generate block markers. Generate an object directly without prefixing with \`\`\`json. Return only the JSON and nothing else.${
    schema ? `\n\nYour output should adhere to the following json schema:\n${pythonJson(schema)}` : ""
  }`;
}

export const cohere = dialectOf({
  id: "cohere",
  title: "Cohere",
  models: ["North Mini Code"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: [...ACTION, ...TEXT, ...THINKING],
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => callPieces(calls, inOrder),
  results: (results) => resultPieces(results, inOrder),
  thinking: thought,
});
