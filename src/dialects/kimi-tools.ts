/**
 * Tools as the tokenizer of Kimi K2.5 and later declares them, in TypeScript:
 *
 *     # Tools
 *
 *     ## functions
 *     namespace functions {
 *     // The time
 *     type clock = (_: {
 *       // Such as CET
 *       zone?: string
 *     }) => any;
 *     }
 *
 * If a schema has what this form cannot express, all tools are JSON.
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Tool } from "../core/nouns.ts";
import { canonicalJson, keysort, pythonLiteral, pythonText, sortedPythonJson } from "./print.ts";
import { functionTool } from "./tools.ts";

/** What is known of one tool's schema while it is written. */
interface Progress {
  readonly definitions: Map<string, Json>;
  /** A part refers to the whole. */
  isRecursive: boolean;
  fails: boolean;
}

export function declareTools(tools: readonly Tool[]): string {
  const texts = tools.map(functionText);
  return texts.includes(undefined)
    ? canonicalJson(tools.map(functionTool))
    : `# Tools\n\n## functions\nnamespace functions {\n${texts.join("\n")}\n}\n`;
}

function functionText({ name, description, parameters = {} }: Tool): string | undefined {
  const progress: Progress = { definitions: new Map(), isRecursive: false, fails: false };
  let type = objectType(parameters, progress, "");
  const interfaces = [];
  if (progress.isRecursive) {
    const lines = members(parameters, progress, INDENT).map(({ line }) => line);
    interfaces.push(`interface parameters {\n${lines.join(",\n")}\n}`);
    type = "parameters";
  }
  for (const [key, schema] of [...progress.definitions])
    interfaces.push(`${comment(descriptionOf(schema), "")}interface ${key} ${typeText(schema, progress, "")}`);
  if (progress.fails) return undefined;
  return [...interfaces, `${comment(description, "")}type ${name} = (_: ${type}) => any;`].join("\n");
}

const INDENT = "  ";

const comment = (text: string | undefined, indent: string): string => (text ? `${text.replace(/^.+/gm, `${indent}// $&`)}\n` : "");

const descriptionOf = (schema: Json): string | undefined =>
  isObject(schema) && typeof schema.description === "string" ? schema.description : undefined;

/** The keywords that are told in a comment. */
const LIMITS: Readonly<Record<string, readonly string[]>> = {
  string: ["maxLength", "minLength", "pattern"],
  number: ["maximum", "minimum"],
  integer: ["maximum", "minimum"],
  array: ["maxItems", "minItems"],
};

function comments(schema: Json, indent: string): string {
  if (!isObject(schema)) return "";
  const { $ref, anyOf, enum: choices, type } = schema;
  const isPlain = $ref === undefined && anyOf === undefined && choices === undefined && typeof type === "string";
  const limits = ((isPlain && LIMITS[type]) || []).filter((key) => key in schema).map((key) => `${key}: ${pythonText(schema[key]!)}`);
  return comment(descriptionOf(schema), indent) + comment(limits.join(", "), indent);
}

function objectType(schema: JsonObject, progress: Progress, indent: string): string {
  const { $defs, additionalProperties: others } = schema;
  if (isObject($defs)) for (const [key, definition] of keysort(Object.entries($defs))) progress.definitions.set(key, definition as Json);
  const inner = indent + INDENT;
  const all = members(schema, progress, inner);
  const lines = [...all.filter(({ needed }) => needed), ...all.filter(({ needed }) => !needed)].map(({ line }) => line);
  if (others === false) lines.push(`${inner}[k: string]: never`);
  else if (others !== undefined && others !== null) lines.push(`${inner}[k: string]: ${typeText(others, progress, inner)}`);
  return lines.length === 0 ? "{}" : `{\n${lines.join(",\n")}\n${indent}}`;
}

function members({ properties, required }: JsonObject, progress: Progress, indent: string): { line: string; needed: boolean }[] {
  return keysort(Object.entries(isObject(properties) ? properties : {})).map(([key, value]) => {
    const schema = value as Json;
    const needed = Array.isArray(required) && required.includes(key);
    const line = `${comments(schema, indent)}${defaultOf(schema, indent)}${indent}${key}${needed ? "" : "?"}: ${typeText(schema, progress, indent)}`;
    return { line, needed };
  });
}

function defaultOf(schema: Json, indent: string): string {
  const value = isObject(schema) ? (schema.default ?? null) : null;
  if (value === null) return "";
  const text = typeof value === "number" || typeof value === "boolean" ? pythonLiteral(value) : sortedPythonJson(value);
  return `${indent}// Default: ${text}\n`;
}

function typeText(schema: Json, progress: Progress, indent: string): string {
  if (typeof schema === "boolean") return schema ? "any" : "null";
  if (!isObject(schema)) return failed(progress);
  const { $ref, anyOf, enum: choices, type, items } = schema;
  if ($ref !== undefined) return reference($ref, progress);
  if (Array.isArray(anyOf)) return anyOf.map((one) => typeText(one, progress, indent)).join(" | ");
  if (Array.isArray(choices)) return choiceText(choices, type, progress);
  if (Array.isArray(type)) return type.map((one) => TYPES.get(one) ?? failed(progress)).join(" | ");
  if (type === "object") return objectType(schema, progress, indent);
  if (type === "array") return arrayType(items || {}, progress, indent);
  if (typeof type === "string") return type === "integer" ? "number" : type;
  return Object.keys(schema).length === 0 ? "any" : failed(progress);
}

function arrayType(items: Json, progress: Progress, indent: string): string {
  const inner = indent + INDENT;
  const above = comments(items, inner);
  return above ? `Array<\n${above}${inner}${typeText(items, progress, inner)}\n${indent}>` : `Array<${typeText(items, progress, indent)}>`;
}

const TYPES = new Map<Json, string>([
  ["string", "string"],
  ["number", "number"],
  ["integer", "number"],
  ["boolean", "boolean"],
  ["null", "null"],
  ["object", "{}"],
  ["array", "Array<any>"],
]);

function reference(ref: Json, progress: Progress): string {
  if (ref === "#") {
    progress.isRecursive = true;
    return "parameters";
  }
  const name = typeof ref === "string" && ref.startsWith("#/$defs/") ? (ref.split("/").at(-1) ?? "") : "";
  return progress.definitions.has(name) ? name : failed(progress);
}

/** The values must be of the type, or null. */
function choiceText(choices: readonly Json[], type: Json | undefined, progress: Progress): string {
  const types = Array.isArray(type) ? type : [type];
  const only = types.find((one) => one !== "null") ?? "null";
  const fits = (choice: Json): boolean =>
    choice === null || !/^(?:string|number|integer|boolean)$/.test(String(only)) || typeof choice === TYPES.get(only);
  if (types.length > 2 || (types.length === 2 && !types.includes("null")) || !choices.every(fits)) return failed(progress);
  return choices.map((choice) => (typeof choice === "string" ? `"${choice}"` : pythonText(choice))).join(" | ");
}

function failed(progress: Progress): string {
  progress.fails = true;
  return "";
}
