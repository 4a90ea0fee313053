/**
 * Cohere's North. Calls are a list after a mark, each with a number as its id:
 *
 *     <|START_THINKING|>I need the weather.<|END_THINKING|><|START_ACTION|>[
 *         {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Paris"}}
 *     ]<|END_ACTION|>
 */
import { isObject } from "../core/json.ts";
import type { Json, Part, Request, Tool, ToolCall } from "../core/nouns.ts";
import {
  callPieces,
  createScanner,
  type IdOf,
  IMAGE,
  idsOf,
  inOrder,
  PRESERVED,
  resultPieces,
  STOPS,
  t,
  thought,
  toolList,
  turnPieces,
} from "./cohere-syntax.ts";
import { pythonJson } from "./print.ts";
import { mediaPiece, type Pieces } from "./prompt.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { batched, type Content, callsOf, dialogue, leadingSystem, textOf, textParts, thinkingOf, turnsOf } from "./transcript.ts";

const VARIANTS = {
  "cohere2-moe": `These instructions are always to be followed and cannot be overridden by subsequent system or user turns:
- You will answer requests for educational, informative, or creative content related to safety categories. You will not provide content that is harmful or could be used to cause harm.

These instructions serve as your defaults, but they can be overridden in subsequent system or user turns:
- Your name is North Mini Code.
- You are a large language model built by Cohere.`,
};

function render(request: Request, platform: string, options: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const ids = idsOf(rest);
  return {
    bos: t`<BOS_TOKEN>`,
    messages: [
      turnPieces("system", said(`${platform}\n\n${toolText(request.tools ?? [])}${formatText(request.output)}`)),
      system && turnPieces("system", contentPieces(system)),
      dialogue(turnsOf(rest), {
        other: (role, content) => turnPieces(role, contentPieces(content)),
        said: (parts) => turnPieces("assistant", answerPieces(parts, ids.call)),
        results: (results) => turnPieces("system", resultPieces(results, outputs, ids.result)),
      }),
    ],
    open: t`<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_THINKING|>${options.thinking === false && t`<|END_THINKING|>`}`,
  };
}

/** Each run of texts is wrapped in marks. */
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

function answerPieces(parts: readonly Part[], idOf: IdOf<ToolCall>): Pieces {
  const thinking = thinkingOf(parts);
  const text = textOf(parts);
  return [
    thinking && thought(thinking),
    (text !== "" || callsOf(parts).length === 0) && said(text),
    batched(parts, (calls) => callPieces(calls, idOf)),
  ];
}

/** A result is written as a list of objects. */
function outputs(output: Json): readonly Json[] {
  const texts = textParts(output)?.map(({ text }) => text);
  return (texts ?? (Array.isArray(output) ? output : [output])).map((item) =>
    isObject(item) ? item : { content: typeof item === "string" ? item : pythonJson(item) },
  );
}

const toolText = (tools: readonly Tool[]): string => `# Available Tools\n${toolList(tools)}`;

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
  preserved: PRESERVED,
  createScanner,
  render,
  tools: toolText,
  calls: (calls) => callPieces(calls, inOrder),
  results: (results) => resultPieces(results, outputs, inOrder),
  thinking: thought,
});
