/**
 * Nous Research's Hermes 2 Pro and Hermes 3: the calls that Qwen took over, in a prompt of their own. Tools stand in a system message before
 * all others, each with its signature in Python, and results have a turn of their own:
 *
 *     <tool_call>
 *     {"name": "get_weather", "arguments": {"city": "Paris"}}
 *     </tool_call><|im_end|>
 *     <|im_start|>tool
 *     <tool_response>
 *     4 °C
 *     </tool_response><|im_end|>
 */
import { isObject } from "../core/json.ts";
import type { Json, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { callObject, pythonJson } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonTags } from "./scan/json-tags.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { dialogue, printedResult, textOf, textThenCalls, turnsOf } from "./transcript.ts";

const STOPS = ["<|im_end|>", "<|end_of_text|>"];

const createScanner = jsonTags(["<tool_call>"], { stops: STOPS, control: ["<|begin_of_text|>", "<|im_start|>"] });

// ---- Rendering

const t = markup(["<|begin_of_text|>", "<|im_start|>", ...STOPS, "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]);

const turn = (role: string, text: Pieces): Pieces => t`<|im_start|>${role}\n${text}<|im_end|>\n`;

const render = (request: Request, _: unknown, { declared }: Setting): Rendered => ({
  bos: t`<|begin_of_text|>`,
  messages: [
    declared && turn("system", declared),
    dialogue(turnsOf(request.messages), {
      other: (role, content) => turn(role, textOf(content)),
      said: (said) => turn("assistant", textThenCalls(said, callPieces)),
      // The template's line breaks are so.
      results: (results, isLast) => t`<|im_start|>tool\n${resultPieces(results)}${isLast ? "" : "\n"}<|im_end|>`,
    }),
  ],
  open: t`<|im_start|>assistant\n`,
});

const callPieces = (call: RenderableCall): Pieces => t`<tool_call>\n${callObject(call)}\n</tool_call>`;
const resultPieces = (results: readonly RenderableResult[]): Pieces =>
  joined(
    results.map(({ output }) => t`<tool_response>\n${printedResult(output)}\n</tool_response>`),
    "\n",
  );

const TYPES = new Map([
  ["string", "str"],
  ["number", "float"],
  ["integer", "int"],
  ["boolean", "bool"],
  ["array", "list[Union[]]"], // the template does not find what is in it
]);

/** A schema as a type of Python. */
function typeName(schema: Json | undefined): string {
  const { type, additionalProperties } = isObject(schema) ? schema : {};
  if (type === undefined) return "Union[]"; // nor any type
  if (Array.isArray(type)) return `Union[${type.map((one) => typeName({ type: one })).join(",")}]`;
  if (type === "object") return additionalProperties === undefined ? "dict" : `dict[str, ${typeName(additionalProperties)}]`;
  return TYPES.get(String(type)) ?? "Any";
}

/** Nothing in the description is escaped. */
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

const toolPieces = (
  tools: readonly Tool[],
): Pieces => t`You are a function calling AI model. You are provided with function signatures within <tools></tools> XML tags. You may call one or more functions to assist with the user query. Don't make assumptions about what values to plug into functions. Here are the available tools: <tools> ${tools.map(toolText).join("\n")} </tools>Use the following pydantic model json schema for each tool call you will make: {"properties": {"name": {"title": "Name", "type": "string"}, "arguments": {"title": "Arguments", "type": "object"}}, "required": ["name", "arguments"], "title": "FunctionCall", "type": "object"}}
For each function call return a json object with function name and arguments within <tool_call></tool_call> XML tags as follows:
<tool_call>
{"name": <function-name>, "arguments": <args-dict>}
</tool_call>`;

export const nousHermes = dialectOf({
  id: "nous-hermes",
  title: "Nous Hermes",
  models: ["Hermes 2 Pro", "Hermes 3"],
  variants: { "hermes-3-llama-3.1-8b": {} },
  stops: STOPS,
  preserved: ["<tool_call>", "</tool_call>"],
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => joined(calls.map(callPieces), "\n"),
  results: resultPieces,
  thinking: (text) => `<think>\n${text}\n</think>\n`,
});
