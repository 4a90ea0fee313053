/**
 * GigaChat 3 and 3.1. A mark follows each role. A call is a JSON object, in 3.1 after a mark of its own, in 3 in a message of its own:
 *
 *     I look.<|function_call|>{"name": "get_weather", "arguments": {"city": "Paris"}}<|message_sep|>
 *
 *     I look.<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "get_weather", "arguments": {"city": "Paris"}}
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, pythonText } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { each, scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, filled, type Rendered, type Setting } from "./tools.ts";
import { dialogue, leadingSystem, resultText, textOf, turnsOf, writtenCalls } from "./transcript.ts";

const STOPS = ["</s>"];
/** The newlines are part of the tokens. */
const SEPARATORS = ["<|message_sep|>\n\n", "<|role_sep|>\n"];
const CALL = "<|function_call|>";

// ---- Scanning

const ENDS = ["<|message_sep|>\n\n", "<|message_sep|>"];
const OPENERS = [CALL, "function call<|role_sep|>"];
const calls = jsonCalls({ marks: [...OPENERS, ...ENDS, ...STOPS, ...THINK_TAGS.close] });

const createScanner = scannerOf({
  calls: each(OPENERS, calls.marked),
  closers: ENDS,
  thinking: THINK_TAGS,
  stops: STOPS,
  control: ["<s>", ...ENDS, ...SEPARATORS],
  callsInThinking: "promote",
});

// ---- Rendering

const t = markup(["<s>", ...SEPARATORS, CALL, ...STOPS]);

/** How a call is written after the text of its message. */
const VARIANTS: Readonly<Record<string, (call: string) => Pieces>> = {
  "gigachat3.1-10b-a1.8b": (call) => t`<|function_call|>${call}`,
  "gigachat3-10b-a1.8b": (call) => t`<|message_sep|>\n\nfunction call<|role_sep|>\n${call}`,
};
type Variant = (typeof VARIANTS)[string];

const message = (role: string, text: Pieces): Pieces => t`${role}<|role_sep|>\n${text}<|message_sep|>\n\n`;

function render(request: Request, write: Variant, { declared }: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  return {
    bos: t`<s>`,
    messages: [
      message("developer system", RULES),
      system && message("system", textOf(system)),
      declared,
      dialogue(turnsOf(rest), {
        other: (role, content) => message(role, textOf(content)),
        said: (said) => message("assistant", [textOf(said), writtenCalls(said, (call) => write(callObject(call)))]),
        results: resultPieces,
      }),
    ],
    open: t`assistant<|role_sep|>\n`,
  };
}

const callPieces = (calls: readonly RenderableCall[], write: Variant): Pieces => calls.map((call) => write(callObject(call)));

const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  results.map(({ output }) => message("function result", resultText(output)));

const toolPieces = (tools: readonly Tool[]): Pieces =>
  message(
    "function descriptions",
    `namespace functions {\n${tools.map((tool) => `${comment(tool.description, "")}${signature(tool)};\n\n`).join("")}} // namespace functions\n\n`,
  );

function signature({ name, parameters = {} }: Tool): string {
  const { properties } = parameters;
  const hasSome = isObject(properties) && Object.keys(properties).length > 0;
  return `type ${name} = (${hasSome ? `_: ${typeName(parameters, "  ")}` : ""}) => any`;
}

function comment(text: Json | undefined, indent: string): string {
  const lines = typeof text === "string" ? text.split("\n") : [];
  return lines.map((line) => (line.trim() === "" ? "" : `${indent}// ${line}\n`)).join("");
}

/** A schema as a TypeScript type. `indent`: that of an object's members. */
function typeName(schema: Json | undefined, indent: string): string {
  if (!isObject(schema)) return "any";
  const { type, enum: choices, format, items } = schema;
  switch (type) {
    case "object":
      return objectType(schema, indent);
    case "array":
      return items === undefined ? "Array<any>" : `${typeName(items, indent)}[]`;
    case "string":
      if (filled(choices)) return choices.map((choice) => `"${pythonText(choice)}"`).join(" | ");
      return format === "date-time" || format === "date" ? "Date" : type;
    case "number":
    case "integer":
      return filled(choices) ? choices.map(pythonText).join(" | ") : "number";
    default:
      return type === "boolean" ? type : "any";
  }
}

function objectType({ properties = {}, required, additionalProperties: others }: JsonObject, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(isObject(properties) ? properties : {}).map(([key, value]) => {
    const schema = isObject(value) ? value : {};
    const optional = Array.isArray(required) && required.includes(key) ? "" : "?";
    const byDefault = schema.default === undefined ? "" : ` // default: ${quotedText(schema.default)}`;
    return `${comment(schema.description, indent)}${limits(schema, indent)}${indent}${key}${optional}: ${typeName(schema, inner)},${byDefault}\n`;
  });
  const other = others === true || isObject(others) ? `${indent}[key: string]: ${typeName(others, inner)}\n` : "";
  return `{\n${lines.join("")}${other}${indent.slice(2)}}`;
}

const LIMITS: ReadonlySet<string> = new Set(["format", "maxItems", "maximum", "minItems", "minimum", "pattern"]);

const limits = (schema: JsonObject, indent: string): string =>
  Object.entries(schema)
    .map(([key, value]) => (LIMITS.has(key) ? `${indent}// ${key}: ${quotedText(value)}\n` : ""))
    .join("");

const quotedText = (value: Json): string => (typeof value === "string" ? `"${value}"` : pythonText(value));

/** The vendor's system text, which precedes all others. */
const RULES = `<role_description>
Description of the roles available in the dialog.

\`developer system\`
A message added by Sber before the main dialog. It has the highest priority and sets global, non-overridable conditions (for example, conversation rules, the safety policy, the assistant's overall response style, etc.).

\`system\`
A system instruction added by developers or by the user, but with a lower priority than \`developer system\`. It usually describes the assistant's instructions, a specific response style, and other conditions for this particular dialog.

\`user\`
A message or request from the user. The assistant follows it if it does not conflict with higher-priority instructions (see <instruction_priority>).

\`user memory\`
A sequence of the most up-to-date long-term facts about the user at the time of their request, presented as a JSON list of strings. Facts are listed in chronological order, meaning newer facts are appended to the end of the sequence. When facts are changed or deleted, records of previous facts remain in the sequence. The assistant saves facts using a function and uses them in accordance with the <memory_guidelines> block below.

\`added files\`
Metadata about files available for use in the dialog, presented in JSON format. It contains the following keys: id (a unique file identifier), name (file name), type (file type).

\`assistant\`
The assistant's reply to the user's request. If the system instruction or the user does not set additional rules for \`assistant\`, this reply must comply with the instructions in the <assistant_guidelines> block below. The list of functions available to call is contained in \`function descriptions\`. The name of the required function and its arguments will be generated next by the \`function call\` role. In its replies, the assistant follows the instructions in accordance with <instruction_priority>.

\`function descriptions\`
Function descriptions in TypeScript format. A function is a special tool (or a set of instructions) that the assistant can call to perform specific actions, computations, or obtain data needed to solve the user's task. Each function description contains blocks with the name, description, and arguments. Sometimes the description contains separate blocks with return parameters and usage examples that illustrate the correct call and arguments.

\`function call\`
The function that \`assistant\` calls based on the dialog context, and its arguments. The function is invoked in strict accordance with the instructions in the <function_usage> block.

\`function result\`
The result of the last function call.
</role_description>

<available_modalities>
The assistant can work with the following modalities: text, available functions.
</available_modalities>

<instruction_priority>
If instructions from different roles conflict within the dialog context, observe the following priorities:  
\`developer system\` > \`system\` > \`user\` > \`function descriptions\` > \`function result\` > \`user memory\`
</instruction_priority>

<function_usage>
Basic instructions for working with functions.

Only call those functions that are described in \`function descriptions\`.

Call available functions when, according to their description, such a call will help provide a more complete and/or accurate answer to the user's request. Fill in function arguments using information from the dialog context. If a function could help answer the request but a required argument is missing from the context, ask the user for the missing data before calling the function. If a necessary function is unavailable or an error occurs, briefly inform the user and, if possible, suggest an alternative.
</function_usage>

<memory_guidelines>
Rules for using facts in long-term memory:

If there is no message under the \`user memory\` role in the dialog, this is equivalent to the absence of long-term facts about the user in memory. In that case, information about the user is limited to the current dialog, and no new facts should be saved.
</memory_guidelines>

<assistant_guidelines>
You are a helpful assistant.

# Instructions
- Strictly follow the instruction priority.
- Maintain a logical chain of reasoning when answering the user's question.
- For complex questions (for example, STEM), try to answer in detail unless the system message or dialog context limits the response length.
- Be helpful, truthful, and avoid unsafe or prohibited content in your responses.
- Try to reply in the language in which the user asked their question.
</assistant_guidelines>

A dialog will follow below.
The dialog may include various roles described in the <role_description> block.
Each turn begins with the role name and a special token that marks the end of the role's full name, and ends with a special end-of-turn token.
Your task is to continue the dialog from the last specified role in accordance with the dialog context.`;

export const gigachat = dialectOf({
  id: "gigachat",
  title: "GigaChat",
  models: ["GigaChat3", "GigaChat3.1"],
  variants: VARIANTS,
  stops: STOPS,
  // In version 3 a call may follow it.
  variantStops: { "gigachat3.1-10b-a1.8b": ["<|message_sep|>"] },
  preserved: [...SEPARATORS, CALL],
  createScanner,
  render,
  tools: toolPieces,
  calls: callPieces,
  results: resultPieces,
  thinking: (text) => `<think>${text}</think>`,
});
