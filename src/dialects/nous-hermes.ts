/**
 * The prompt of Nous Research's Hermes 2 Pro and Hermes 3, whose calls Qwen adopted. A system message before all others declares the tools,
 * each with its signature in Python, and results have a turn of their own:
 *
 *     <|im_start|>tool
 *     <tool_response>
 *     4 °C
 *     </tool_response><|im_end|>
 */
import { isObject } from "../core/json.ts";
import type { Json, Request, Tool } from "../core/nouns.ts";
import type { RenderableResult } from "./dialect.ts";
import { pythonJson } from "./print.ts";
import { markup, type Pieces } from "./prompt.ts";
import { callPieces, t, turnPieces } from "./qwen.ts";
import type { Rendered } from "./tools.ts";
import { dialogue, textOf, textThenCalls, turnsOf } from "./transcript.ts";

const llama = markup(["<|begin_of_text|>"]);

export const render = (request: Request, declared: Pieces, results: (results: readonly RenderableResult[]) => Pieces): Rendered => ({
  bos: llama`<|begin_of_text|>`,
  messages: [
    declared && turnPieces("system", declared),
    dialogue(turnsOf(request.messages), {
      other: (role, content) => turnPieces(role, textOf(content)),
      said: (said) => turnPieces("assistant", textThenCalls(said, callPieces)),
      // As in the template: the newline is inside the turn, and missing in the last one.
      results: (given, isLast) => t`<|im_start|>tool\n${results(given)}${isLast ? "" : "\n"}<|im_end|>`,
    }),
  ],
  open: t`<|im_start|>assistant\n`,
});

const TYPES = new Map([
  ["string", "str"],
  ["number", "float"],
  ["integer", "int"],
  ["boolean", "bool"],
  ["array", "list[Union[]]"], // the template fails to find the type of the items
]);

/** A schema as a Python type. */
function typeName(schema: Json | undefined): string {
  const { type, additionalProperties } = isObject(schema) ? schema : {};
  if (type === undefined) return "Union[]"; // the template's output for a schema without a type
  if (Array.isArray(type)) return `Union[${type.map((one) => typeName({ type: one })).join(",")}]`;
  if (type === "object") return additionalProperties === undefined ? "dict" : `dict[str, ${typeName(additionalProperties)}]`;
  return TYPES.get(String(type)) ?? "Any";
}

/** As in the template, nothing in the description is escaped. */
function toolText({ name, description = "", parameters = {} }: Tool): string {
  const params = Object.entries(isObject(parameters.properties) ? parameters.properties : {}).map(([key, schema]) => ({
    key,
    type: typeName(schema),
    about: isObject(schema) && typeof schema.description === "string" ? schema.description.trim() : "",
  }));
  const signature = params.map(({ key, type }) => `${key}: ${type}`).join(", ");
  const args = params.map(({ key, type, about }) => `        ${key}(${type}): ${about}`).join("");
  const about = `${name}(${signature}) - ${description}\n\n${args && `    Args:\n${args}`}`;
  return `{"type": "function", "function": {"name": "${name}", "description": "${about}", "parameters": ${args ? pythonJson(parameters) : "{}"}}`;
}

export const toolPieces = (
  tools: readonly Tool[],
): Pieces => t`You are a function calling AI model. You are provided with function signatures within <tools></tools> XML tags. You may call one or more functions to assist with the user query. Don't make assumptions about what values to plug into functions. Here are the available tools: <tools> ${tools.map(toolText).join("\n")} </tools>Use the following pydantic model json schema for each tool call you will make: {"properties": {"name": {"title": "Name", "type": "string"}, "arguments": {"title": "Arguments", "type": "object"}}, "required": ["name", "arguments"], "title": "FunctionCall", "type": "object"}}
For each function call return a json object with function name and arguments within <tool_call></tool_call> XML tags as follows:
<tool_call>
{"name": <function-name>, "arguments": <args-dict>}
</tool_call>`;
