/**
 * Functionary v3.2 on Llama 3.1. Each message begins with a line that names its recipient, a function or `all`; the prompt ends in `>>>`:
 *
 *     all
 *     I look.>>>get_weather
 *     {"city": "Paris"}
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsText, pythonText } from "./print.ts";
import type { Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { nameThenObject } from "./scan/json-places.ts";
import { scannerOf, THINK_TAGS } from "./scan/table.ts";
import { dialectOf, type Rendered, type Setting } from "./tools.ts";
import { dialogue, resultText, textOf, turnsOf, writtenCalls } from "./transcript.ts";
import { LLAMA3 } from "./turns/llama3.ts";

const STOPS = ["<|eot_id|>", "<|end_of_text|>"];
const MARK = ">>>";
const ALL = "all";

// ---- Scanning

const calls = jsonCalls({ marks: [MARK, ...THINK_TAGS.close, ...STOPS] });
const recipient = nameThenObject(calls, "\n", ALL);

const createScanner = scannerOf({
  calls: { [MARK]: recipient },
  closers: [],
  thinking: THINK_TAGS,
  stops: STOPS,
  control: ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|python_tag|>"],
  callsInThinking: "promote-if-unclosed",
  start: recipient,
});

// ---- Rendering

const VARIANTS = { "functionary-medium-v3.2": LLAMA3 };

function render({ messages }: Request, { bos, turn, open }: typeof LLAMA3, { declared }: Setting): Rendered {
  return {
    bos,
    messages: [
      turn("system", [RULES, declared ?? toolPieces([])]),
      dialogue(turnsOf(messages), {
        other: (role, content) => turn(role, textOf(content)),
        said: (said) => turn("assistant", [textOf(said) && `${MARK}${ALL}\n${textOf(said)}`, writtenCalls(said, callPieces)]),
        results: resultPieces,
      }),
    ],
    open: [open, MARK],
  };
}

const RULES = `You are capable of executing available function(s) if required.
Only execute function(s) when absolutely necessary.
Ask for the required input to:recipient==all
Use JSON for function arguments.
Respond in this format:
>>>\${recipient}
\${content}
Available functions:
`;

const callPieces = (call: RenderableCall): Pieces => `${MARK}${call.name}\n${argumentsText(call)}`;

const resultPieces = (results: readonly RenderableResult[]): Pieces => results.map(({ output }) => LLAMA3.turn("tool", resultText(output)));

const toolPieces = (tools: readonly Tool[]): Pieces =>
  `// Supported function definitions that should be called when necessary.\nnamespace functions {\n\n${tools
    .map(({ name, description = "", parameters }) => `// ${description}\ntype ${name} = ${signature(parameters)} => any;\n\n`)
    .join("")}} // namespace functions`;

function signature({ properties, required }: JsonObject = {}): string {
  return isObject(properties) && Object.keys(properties).length > 0 ? `(_: {${members(properties, required, "")}\n})` : "()";
}

/** The properties of an object, each on lines of its own. As in the template, all are required if `required` is missing. */
const members = (properties: Json = {}, required: Json = [], offset: string): string =>
  Object.entries(isObject(properties) ? properties : {})
    .map(([key, schema]) => (isObject(schema) ? member(key, Array.isArray(required) && !required.includes(key), schema, offset) : ""))
    .join("");

function member(key: string, isOptional: boolean, schema: JsonObject, offset: string): string {
  const about = comment(schema);
  const examples = Array.isArray(schema.examples) ? [`Example ${key}:`, ...schema.examples] : [];
  const name = `\n${offset}${key}${isOptional ? "?" : ""}: `;
  const type = typeName(schema);
  const isNested = type === "object" || (type === "array" && isObject(schema.items) && "type" in schema.items);
  return [
    about && `\n${offset}${about}`,
    // A plain type has examples only if it has a comment, too.
    ...(about || isNested ? examples.map((example) => `\n${offset}// ${pythonText(example).replaceAll("'", '"')}`) : []),
    type === "array" ? `${listType(name, schema.items, offset)},`.replace(/,+$/, ",") : `${name}${valueType(schema, type, offset)},`,
  ].join("");
}

function valueType(schema: JsonObject, type: string, offset: string): string {
  if (type === "object") return objectType(schema, offset);
  return `${Array.isArray(schema.enum) ? choice(schema.enum) : type}${schema.nullable === true ? " | null" : ""}`;
}

const objectType = ({ properties, required }: JsonObject, offset: string): string =>
  `{${members(properties, required, `${offset}    `)}\n${offset}}`;

/** The type of a list after its name, which is empty for a list inside another. */
function listType(name: string, items: Json | undefined, offset: string): string {
  if (!isObject(items) || !("type" in items)) return `${name}[]`;
  const type = typeName(items);
  if (type === "object") return `${name}${objectType(items, offset)}[]`;
  if (type === "array") return `${name}${listType("", items.items, `${offset}    `).trim()}[]`;
  return `${name}${Array.isArray(items.enum) ? `(${choice(items.enum)})` : type}[]`;
}

const choice = (values: readonly Json[]): string =>
  values.map((value) => (typeof value === "string" ? `"${value}"` : pythonText(value))).join(" | ");

function typeName({ type, oneOf }: JsonObject): string {
  const types =
    oneOf === undefined ? type : Array.isArray(oneOf) ? [...new Set(oneOf.map((one) => (isObject(one) ? one.type : undefined)))] : [];
  const name = Array.isArray(types) ? types.filter((one) => one !== undefined).join(" | ") : String(types ?? "");
  return name === "integer" || name === "float" ? "number" : name;
}

/** The description, default, format and limits of a value. */
function comment(schema: JsonObject): string {
  const { description, default: value, type } = schema;
  const format = formatOf(schema);
  const limits = LIMITS.filter(([key]) => schema[key] !== undefined);
  const isSaid = [description, value, format].some((one) => one !== undefined) || limits.some(([key]) => schema[key] !== 0);
  if (!isSaid) return "";
  return [
    "//",
    typeof description === "string" && ` ${description}${description.endsWith(".") ? "" : "."}`,
    value !== undefined && ` Default=${type === "string" ? `"${pythonText(value)}"` : pythonText(value)}.`,
    format !== undefined && ` Format=${format}`,
    ...limits.map(([key, name]) => ` ${name}=${pythonText(schema[key] ?? null)}`),
  ]
    .filter(Boolean)
    .join("");
}

const LIMITS = [
  ["maximum", "Maximum"],
  ["minimum", "Minimum"],
  ["maxLength", "Maximum length"],
  ["minLength", "Minimum length"],
] as const;

function formatOf({ format, oneOf }: JsonObject): string | undefined {
  if (format !== undefined) return pythonText(format);
  if (!Array.isArray(oneOf)) return undefined;
  const formats = oneOf.map((one) => (isObject(one) ? one.format : undefined));
  return formats.map((one) => (one === undefined ? "" : `${pythonText(one)}${one === formats.at(-1) ? "" : " or "}`)).join("");
}

export const functionaryV32 = dialectOf({
  id: "functionary-v3.2",
  title: "Functionary v3.2",
  models: ["functionary-small-v3.2", "functionary-medium-v3.2"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: [],
  createScanner,
  render,
  tools: toolPieces,
  calls: (calls) => calls.map(callPieces),
  results: resultPieces,
  thinking: (text) => `<think>${text}</think>`,
});
