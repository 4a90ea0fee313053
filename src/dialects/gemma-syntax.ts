/**
 * What Google's dialects write alike: values (`{city:QParisQ,days:2}`, Q being the quote token), declarations, calls, responses, and model
 * turns that go on over several rounds of tools. What differs is a `GemmaFormat`.
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Media, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsTree, dictsort, entriesOf, Numeral, pythonNumber, type Tree } from "./print.ts";
import { joined, mediaPiece, type Pieces } from "./prompt.ts";
import { type Content, hasCalls, plainOutput, type Round, type Turn } from "./transcript.ts";

export interface GemmaFormat {
  readonly string: (text: Pieces) => Pieces;
  /** How null is spelled. */
  readonly none: string;
  readonly declaration: (body: Pieces) => Pieces;
  readonly call: (name: string, pairs: Pieces) => Pieces;
  readonly response: (name: string, pairs: Pieces) => Pieces;
  /** A property without a description prints an empty one. */
  readonly describesAll: boolean;
  /** A property that may be null says so. */
  readonly saysNullable: boolean;
  /** An object whose properties are not said shows its other keywords in their place. */
  readonly showsKeywords: boolean;
  /** A result that is a list prints one response per element, and content parts are a list. */
  readonly spreadsLists: boolean;
  /** Messages of the model that follow each other are one turn. */
  readonly joinsMessages: boolean;
  readonly turnOpen: (role: string) => Pieces;
  readonly turnClose: Pieces;
  /** What the model writes when it waits for results. */
  readonly waiting: Pieces;
  /** The roles of system messages that come later. */
  readonly roles: { readonly system: string; readonly developer: string };
  /** The model's text as it stands in history. */
  readonly modelText: (text: string) => string;
  readonly thinking: (text: string) => Pieces;
  readonly placeholder: (media: Media) => string;
}

/** A tool may say what it returns. */
type GemmaTool = Tool & { readonly response?: JsonObject };

export function gemmaSyntax(format: GemmaFormat) {
  const values = gemmaValues(format);
  const declaration = gemmaDeclarations(format, values);
  const { content, call, response, dialogue } = gemmaTurns(format, values);
  return {
    content,
    dialogue,
    tools: (tools: readonly Tool[]): Pieces => tools.map(declaration),
    calls: (calls: readonly RenderableCall[]): Pieces => calls.map(call),
    results: (results: readonly RenderableResult[]): Pieces => results.map(response),
  };
}

// ---- Values

type Values = ReturnType<typeof gemmaValues>;
type Key = (name: string) => Pieces;

export const isBare = (key: string): boolean => !/^$|^[\s"']|[:,{}[\]<]|\s$/.test(key);
type Field = readonly [name: string, value: Pieces];

function gemmaValues({ string, none }: GemmaFormat) {
  const list = (items: readonly Pieces[]): Pieces => ["[", joined(items, ","), "]"];

  const value = (tree: Tree, key: Key): Pieces => {
    if (typeof tree === "string") return string(tree);
    if (typeof tree === "number" || tree instanceof Numeral) return pythonNumber(tree);
    if (tree === null) return none;
    if (typeof tree === "boolean") return String(tree);
    if (Array.isArray(tree)) return list(tree.map((item) => value(item, key)));
    return ["{", pairs(tree, key), "}"];
  };

  const pairs = (tree: Tree, key: Key): Pieces => {
    const written = dictsort(entriesOf(tree)).map(([name, item]) => [key(name), ":", value(item, key)]);
    return joined(written, ",");
  };

  /** Quoted only where the syntax would not find the end of it. */
  const bareKey: Key = (name) => (isBare(name) ? name : string(name));

  const fields = (all: readonly (Field | false | undefined)[]): Pieces => {
    const written = all.flatMap((field) => (field ? [[field[0], ":", field[1]]] : []));
    return ["{", joined(written, ","), "}"];
  };

  return { list, value, pairs, bareKey, fields };
}

// ---- Declarations

function gemmaDeclarations(
  { string, declaration, describesAll, saysNullable, showsKeywords }: GemmaFormat,
  { list, value, fields }: Values,
) {
  const described = ({ description }: JsonObject, always: boolean): Field | false => {
    const text = typeof description === "string" ? description : "";
    return (always || text !== "") && ["description", string(text)];
  };
  const required = ({ required }: JsonObject): Field | false =>
    Array.isArray(required) && required.length > 0 && ["required", list(required.map((name) => string(String(name))))];

  const properties = (schemas: Json | undefined): Pieces =>
    fields(dictsort(entriesOf(schemas ?? {})).map(([name, schema]) => [name, property(isObject(schema) ? schema : {})]));

  const property = (schema: JsonObject): Pieces => {
    const type = typeName(schema);
    const { enum: choices, items } = schema;
    return fields([
      described(schema, describesAll),
      type === "STRING" && Array.isArray(choices) && choices.length > 0 && ["enum", value(choices, string)],
      type === "ARRAY" && isObject(items) && hasKeys(items) && ["items", elements(items)],
      saysNullable && isNullable(schema) && ["nullable", "true"],
      type === "OBJECT" && ["properties", properties(isObject(schema.properties) || !showsKeywords ? schema.properties : keywords(schema))],
      type === "OBJECT" && required(schema),
      ["type", string(type)],
    ]);
  };

  /** The schema of an array's elements prints all that it has, in the order of its keys, which are quoted below its own. */
  const elements = (schema: JsonObject): Pieces => {
    const nullable = saysNullable && isNullable(schema) && { nullable: true };
    const entries = dictsort(Object.entries({ ...schema, ...nullable })).filter(([, item]) => item !== null);
    return fields(
      entries.map(([name, item]) => {
        if (name === "properties") return [name, properties(schema.properties)];
        return name === "type" ? [name, string(typeName(schema))] : [name, value(item, string)];
      }),
    );
  };

  const parameters = (schema: JsonObject): Pieces =>
    fields([
      isObject(schema.properties) && hasKeys(schema.properties) && ["properties", properties(schema.properties)],
      required(schema),
      ["type", string(typeName(schema) || "OBJECT")],
    ]);

  return (tool: GemmaTool): Pieces => {
    const { name, description = "", parameters: schema = {}, response } = tool;
    const body = fields([
      ["description", string(description)],
      hasKeys(schema) && ["parameters", parameters(schema)],
      response && ["response", fields([described(response, false), ["type", string(typeName(response))]])],
    ]);
    return declaration([name, body]);
  };
}

/** What else a schema says. */
const keywords = (schema: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(schema).filter(([key]) => !["description", "type", "properties", "required", "nullable"].includes(key)),
  );

const hasKeys = (object: JsonObject): boolean => Object.keys(object).length > 0;

/** The type as declarations spell it; of a union the first that is not null. */
function typeName({ type }: JsonObject): string {
  const types = [type].flat();
  const name = types.find((name) => name !== "null") ?? types[0];
  return typeof name === "string" ? name.toUpperCase() : "";
}

const isNullable = ({ nullable, type }: JsonObject): boolean => nullable === true || (Array.isArray(type) && type.includes("null"));

// ---- Calls, responses, turns

function gemmaTurns(format: GemmaFormat, { value, pairs, bareKey }: Values) {
  const content = (parts: Content): Pieces =>
    parts.map((part) => (part.type === "text" ? part.text.trim() : mediaPiece(format.placeholder(part), part)));

  const call = (call: RenderableCall): Pieces => format.call(call.name, pairs(argumentsTree(call), bareKey));

  const response = ({ name, output, media = [] }: RenderableResult): Pieces => {
    const spread = format.spreadsLists && Array.isArray(output) && output.length > 0;
    const outputs = spread ? output : [plainOutput(output)];
    const body = (item: Json): Pieces => (isObject(item) ? pairs(item, bareKey) : ["value:", value(item, bareKey)]);
    return [outputs.map((item) => format.response(name, body(item))), content(media)];
  };

  const said = (round: Round, thinking: boolean): Pieces =>
    round.said?.map((part) => {
      if (part.type === "text") return format.modelText(part.text).trim();
      if (part.type === "media") return content([part]);
      if (part.type === "thinking") return thinking ? format.thinking(part.text) : undefined;
      return part.type === "tool-call" ? call(part) : part.raw;
    });

  /**
   * All turns. A model's turn goes on over its rounds until it answers without a call. `resumes` tells that the last one is still open,
   * and behind what.
   */
  const dialogue = (turns: readonly Turn[], keepsThinking: boolean): { turns: Pieces; resumes?: "call" | "result" } => {
    const out: Pieces[] = [];
    let open: "text" | "call" | "result" | undefined;
    const close = (): void => {
      if (open) out.push(format.turnClose);
      open = undefined;
    };
    for (const turn of turns) {
      close();
      if (turn.side !== "assistant") {
        const role = turn.side === "user" ? "user" : format.roles[turn.side];
        out.push(format.turnOpen(role), content(turn.content), format.turnClose);
        continue;
      }
      for (const round of turn.rounds) {
        if (open === "text" && !format.joinsMessages) close();
        if (!open) out.push(format.turnOpen("model"));
        out.push(said(round, turn.current || (keepsThinking && hasCalls(round))), round.results.map(response));
        open = round.results.length > 0 ? "result" : hasCalls(round) ? "call" : "text";
      }
    }
    if (open === "call") out.push(format.waiting);
    if (open === "call" || open === "result") return { turns: out, resumes: open };
    close();
    return { turns: out };
  };

  return { content, call, response, dialogue };
}
