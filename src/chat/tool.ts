/**
 * A tool that a chat can run:
 *
 *     defineTool({
 *       name: "get_weather",
 *       description: "The weather of a city.",
 *       parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
 *       run: ({ city }) => ({ city, degrees: 12 }),
 *     })
 *
 * `parameters` is a JSON Schema, or a schema of any library that implements Standard Schema (Zod, Valibot, ArkType); `run` gets only
 * arguments that fit it, and is typed by it.
 */

import type { Json, JsonObject, Media, Message, Tool, ToolCall } from "../core/nouns.ts";
import { schemaFault } from "../engines/schema/fault.ts";
import { type Check, checkOfJsonSchema, checkOfStandardSchema } from "./check.ts";
import { checkPart } from "./data.ts";
import type { Arguments, StandardSchema } from "./infer.ts";

export interface ToolContext {
  /** The call that is being answered. */
  readonly call: ToolCall;
  /** Aborts with the turn. */
  readonly signal: AbortSignal;
  /** The conversation up to and including the call. */
  readonly history: readonly Message[];
}

export interface ToolDefinition<S> {
  name: string;
  description?: string;
  /** Absent: the tool takes no arguments. */
  parameters?: S;
  /** The JSON Schema for the model, if `parameters` is a Standard Schema that does not provide one (Valibot without its converter). */
  jsonSchema?: JsonObject;
  /** The tool changes nothing; `approve` may let it pass. */
  readOnly?: boolean;
  /**
   * Its return value goes to the model: text, anything that JSON can hold, or a `ToolAnswer`; `undefined` becomes "done". What it throws
   * goes to the model as an error, and so does an `Error` that it returns. Without `run`, a turn ends at a call of the tool, and
   * `chat.answer` takes the result.
   */
  run?(args: Arguments<S>, context: ToolContext): unknown;
}

export interface ChatTool {
  /** The declaration that the model gets. */
  readonly tool: Tool;
  readonly readOnly: boolean;
  readonly check: Check;
  readonly run?: (args: unknown, context: ToolContext) => unknown;
}

/** Tools that come and go, like those of an MCP server. */
export interface ToolSet {
  readonly tools: readonly ChatTool[];
  /** Updates `tools`; a chat awaits it before each step. Never throws. */
  refresh?(): Promise<void>;
}

/** Not `instanceof`: a tool may come with its own copy of this package. */
const ANSWER = Symbol.for("dragoman.ToolAnswer");

export const isAnswer = (value: unknown): value is ToolAnswer => typeof value === "object" && value !== null && ANSWER in value;

/** A result that is more than JSON: with images, or an error that the tool reports rather than throws. */
export class ToolAnswer {
  readonly [ANSWER] = true;
  readonly output: Json;
  readonly media: readonly Media[];
  readonly isError: boolean;

  /** Throws if JSON cannot hold the output. */
  constructor(output: unknown, { media = [], isError = false }: { media?: readonly Media[]; isError?: boolean } = {}) {
    if (!Array.isArray(media)) throw new Error("the media of a ToolAnswer must be a list");
    for (const [i, one] of media.entries()) checkPart(one, `the media of a ToolAnswer, [${i}]`, ["media"]);
    this.output = jsonOf(output);
    this.media = media;
    this.isError = isError;
  }
}

const DONE = "done";

/** Converts to JSON, since the history is plain data. */
function jsonOf(value: unknown): Json {
  if (value === undefined) return DONE;
  if (value instanceof Error) throw value;
  if (ArrayBuffer.isView(value))
    throw new Error("the tool returned bytes, which JSON cannot hold: return them as base64 in the media of a ToolAnswer");
  const text = JSON.stringify(value, (key, inner: unknown) => (key === "" ? inner : held(inner)));
  if (text === undefined) throw new Error(`the tool returned a ${typeof value}, which JSON cannot hold`);
  if (text === "{}" && !isPlain(value as object)) throw new Error(`the tool returned an object (${tagOf(value)}) that JSON cannot hold`);
  return JSON.parse(text) as Json;
}

/** JSON turns these into `{}` too, and a model that reads `{ "error": {} }` believes that all went well. */
function held(value: unknown): unknown {
  if (value instanceof Error) return Object.assign({ message: value.message || value.name }, value);
  if (value instanceof Promise) throw new Error("the tool returned a value with a promise inside: await it first");
  if (value instanceof Map || value instanceof Set)
    throw new Error(`the tool returned a value with a ${tagOf(value)} inside, which JSON cannot hold`);
  return value;
}

/** `Map`, `Response`, `AsyncGenerator`. */
const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** JSON turns maps, streams and responses into an empty object. */
const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value)) || "toJSON" in value;

/** Names of the AI SDK and MCP, and ours. If the wrong names were ignored, the tool would take no arguments and never run. */
const FOREIGN = [
  ["inputSchema", "parameters"],
  ["execute", "run"],
] as const;

const NOTHING = { type: "object", properties: {} } as const;

/** A tool with a function that runs it; the types of its arguments follow from the schema. */
export function defineTool<const S extends JsonObject | StandardSchema = typeof NOTHING>(definition: ToolDefinition<S>): ChatTool {
  const { name, description, readOnly = false, run } = definition;
  if (typeof name !== "string" || name === "") throw new Error("a tool needs a name");
  if (run !== undefined && typeof run !== "function") throw new Error(`the tool ${name}: run must be a function`);
  for (const [foreign, ours] of FOREIGN)
    if (foreign in definition && !(ours in definition)) throw new Error(`the tool ${name}: ${foreign} is called ${ours} here`);
  const schema: JsonObject | StandardSchema = definition.parameters ?? NOTHING;
  const parameters = definition.jsonSchema ?? jsonSchemaOf(schema, name);
  const check = isStandard(schema) ? checkOfStandardSchema(schema) : checked(schema, name);
  if (!describesObject(parameters))
    throw new Error(`the tool ${name}: its parameters must be the JSON Schema of an object, like { type: "object", properties: { … } }`);
  return {
    tool: { name, ...(description === undefined ? {} : { description }), parameters },
    readOnly,
    check,
    ...(run ? { run: (args, context) => run.call(definition, args as Arguments<S>, context) } : {}),
  };
}

const isStandard = (schema: JsonObject | StandardSchema): schema is StandardSchema => "~standard" in schema;

function jsonSchemaOf(schema: JsonObject | StandardSchema, name: string): JsonObject {
  if (!isStandard(schema)) return schema;
  const { vendor, jsonSchema } = schema["~standard"];
  if (!jsonSchema) throw new Error(`the tool ${name}: its ${vendor} schema does not provide a JSON Schema; give one as jsonSchema`);
  const { $schema: _, ...rest } = jsonSchema.input({ target: "draft-2020-12" });
  return rest as JsonObject;
}

function checked(schema: JsonObject, name: string): Check {
  const fault = schemaFault(schema);
  if (fault !== undefined) throw new Error(`the tool ${name}: its parameters are not a valid JSON Schema: ${fault}`);
  return checkOfJsonSchema(schema);
}

/** Keywords that can describe an object. A schema with none of these is often the bare `properties`. */
const OF_OBJECTS = ["properties", "patternProperties", "additionalProperties", "required", "$ref", "allOf", "anyOf", "oneOf"];

function describesObject(schema: JsonObject): boolean {
  const { type } = schema;
  if (typeof type === "string" || Array.isArray(type)) return type.includes("object");
  return Object.keys(schema).length === 0 || OF_OBJECTS.some((key) => key in schema);
}
