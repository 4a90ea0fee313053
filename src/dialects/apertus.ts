/**
 * Apertus, of the Swiss AI Initiative. The name of a call is the key of its arguments, and results follow the calls in the same turn:
 *
 *     <|tools_prefix|>[{"get_weather": {"city": "Paris"}}, {"now": {}}]<|tools_suffix|>["4 °C", "12:00"]
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Request, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsText, compactJson, isoDate, pythonJson, pythonText } from "./print.ts";
import { joined, markup, type Pieces } from "./prompt.ts";
import { jsonCalls } from "./scan/json-calls.ts";
import { KeyedCall } from "./scan/keyed-call.ts";
import { think } from "./scan/steps.ts";
import { scannerOf } from "./scan/table.ts";
import { dialectOf, filled, type Rendered, type Setting } from "./tools.ts";
import { batched, contentPieces, leadingSystem, type Round, resultText, textOf, turnsOf } from "./transcript.ts";

const CALLS = ["<|tools_prefix|>", "<|tools_suffix|>"] as const;
const INNER = ["<|inner_prefix|>", "<|inner_suffix|>"] as const;
/** After calls the model would go on and invent the results. */
const STOPS = ["<|assistant_end|>", CALLS[1]];
const TURNS = [
  ...["<s>", "</s>", "<|system_start|>", "<|system_end|>", "<|developer_start|>", "<|developer_end|>"],
  ...["<|user_start|>", "<|user_end|>", "<|assistant_start|>"],
];

// ---- Scanning

const calls = jsonCalls({ object: KeyedCall, marks: [...CALLS, ...INNER, ...STOPS] });

const createScanner = scannerOf({
  calls: { [CALLS[0]]: calls.marked },
  closers: [CALLS[1]],
  thinking: { open: { [INNER[0]]: think }, close: [INNER[1]], stray: "control" },
  stops: STOPS,
  control: [...TURNS, ...CALLS],
  // Calls are made inside the thinking block; only the answer follows it.
  callsInThinking: "promote",
});

// ---- Rendering

const t = markup([...TURNS, ...CALLS, ...INNER, ...STOPS, "<pad>", "<unk>"]);

const VARIANTS = { "apertus-2509": "You are Apertus, a helpful assistant created by the SwissAI initiative.\nKnowledge cutoff: 2024-04" };

function render(request: Request, fallback: string, { declared, thinking, now = new Date() }: Setting): Rendered {
  const { system, rest } = leadingSystem(request.messages);
  const turns = turnsOf(rest);
  return {
    bos: t`<s>`,
    messages: [
      systemPieces(system ? textOf(system) : `${fallback}\nCurrent date: ${isoDate(now)}`),
      t`<|developer_start|>Deliberation: ${thinking ? "enabled" : "disabled"}\n${declared ?? "Tool Capabilities: disabled"}<|developer_end|>`,
      turns.map((turn, n) => {
        if (turn.side === "assistant")
          return t`<|assistant_start|>${turn.rounds.map(roundPieces)}${n < turns.length - 1 && t`<|assistant_end|>`}`;
        const text = contentPieces(turn.content, {});
        return turn.side === "user" ? t`<|user_start|>${text}<|user_end|>` : systemPieces(text);
      }),
    ],
    open: t`<|assistant_start|>`,
  };
}

const systemPieces = (text: Pieces): Pieces => t`<|system_start|>${text}<|system_end|>`;

const roundPieces = ({ said = [], results }: Round): Pieces => [
  textOf(said),
  batched(said, callPieces),
  results.length > 0 && resultPieces(results),
];

const callPieces = (calls: readonly RenderableCall[]): Pieces =>
  t`<|tools_prefix|>[${joined(
    calls.map((call) => `{${compactJson(call.name)}: ${argumentsText(call)}}`),
    ", ",
  )}]<|tools_suffix|>`;

const resultPieces = (results: readonly RenderableResult[]): Pieces => `[${results.map(({ output }) => resultText(output)).join(", ")}]`;

// ---- Tools, as TypeScript types

const toolPieces = (tools: readonly Tool[]): Pieces => `Tool Capabilities:\n${tools.map(typeOfTool).join("\n")}`;

function typeOfTool({ name, description, parameters = {} }: Tool): string {
  const params = propertiesOf(parameters).map(
    ({ key, schema }) =>
      `${typeof schema.description === "string" && schema.description ? `// ${schema.description}\n` : ""}${key}: ${typeOf(schema)}${defaultOf(schema)}`,
  );
  const about = description === undefined ? "" : `// ${description}\n`;
  return `${about}type ${name} = ${params.length > 0 ? `(_: {\n${params.join(",\n")}\n})` : "()"} => any;`;
}

function propertiesOf({ properties, required }: JsonObject): { key: string; schema: JsonObject }[] {
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([key, schema]) => ({
    key: needed.includes(key) ? key : `${key}?`,
    schema: isObject(schema) ? schema : {},
  }));
}

function defaultOf(schema: JsonObject): string {
  if (schema.default === undefined) return "";
  const isPlain = (schema.enum || schema.oneOf) && typeof schema.default === "string";
  return `${schema.oneOf ? "" : ", "}// default: ${isPlain ? schema.default : pythonJson(schema.default)}`;
}

const SCALARS: Readonly<Record<string, string>> = { string: "string", number: "number", integer: "number", boolean: "boolean" };
/** A list whose element type is longer is written as `any[]`. */
const MAX_ELEMENT = 50;

/** A schema as a TypeScript type, with the template's own line breaks. */
function typeOf(schema: JsonObject): string {
  const { type, oneOf } = schema;
  const orNull = schema.nullable ? " | null" : "";
  if (type === "array") return elementOf(schema.items) + orNull;
  if (Array.isArray(type)) return type.join(" | ");
  if (Array.isArray(oneOf)) return oneOf.filter(isObject).map(alternative).join(" | \n");
  if (type === "string") return filled(schema.enum) ? schema.enum.map((one) => `"${pythonText(one)}"`).join(" | ") : `string${orNull}`;
  if (type === "object") {
    const members = propertiesOf(schema).map(({ key, schema }) => `${key}: \n                ${typeOf(schema)}`);
    return members.length > 0 ? `{\n${members.join(", ")}}` : "object";
  }
  return (typeof type === "string" && SCALARS[type]) || "any";
}

function elementOf(items: Json | undefined): string {
  if (!isObject(items)) return "any[]";
  const element = (typeof items.type === "string" && SCALARS[items.type]) || typeOf(items);
  return element.length > MAX_ELEMENT ? "any[]" : `${element}[]`;
}

const alternative = (schema: JsonObject): string =>
  typeOf(schema) +
  (typeof schema.description === "string" ? `// ${schema.description}` : "") +
  (schema.default === undefined ? "" : `${" ".repeat(20)}// default: ${pythonJson(schema.default)}`);

export const apertus = dialectOf({
  id: "apertus",
  title: "Apertus",
  models: ["Apertus"],
  variants: VARIANTS,
  stops: STOPS,
  preserved: [...CALLS, ...INNER],
  createScanner,
  render,
  tools: toolPieces,
  calls: callPieces,
  results: resultPieces,
  thinking: (text) => t`<|inner_prefix|>${text}<|inner_suffix|>`,
});
