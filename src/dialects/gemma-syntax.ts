/**
 * What Google's dialects share: values (`{city:QParisQ,days:2}`, Q being the quote token), declarations, calls, responses, and model turns
 * that span several rounds of tools. What differs is a `GemmaFormat`.
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Tool } from "../core/nouns.ts";
import type { RenderableCall, RenderableResult } from "./dialect.ts";
import { argumentsTree, dictsort, entriesOf, itemsOf, Numeral, print, type Tree } from "./print.ts";
import { control, joined, mediaPiece, type Pieces, type Placeholders } from "./prompt.ts";
import { type Content, hasCalls, plainOutput, type Round, type Turn } from "./transcript.ts";

/** The tokens that open and close something. */
type Pair = readonly [open: string, close: string];

export interface GemmaFormat {
  readonly quote: string;
  readonly turn: Pair;
  readonly declaration: Pair;
  readonly call: Pair;
  readonly response: Pair;
  readonly media: Placeholders;
  /** How null is spelled. */
  readonly none: string;
  /**
   * What came with Gemma 4. A property declares that it may be null, and omits an empty description. A result that is a list is one
   * response, not one per element. Successive messages of the model are one turn. A developer message is a system turn.
   */
  readonly isGemma4: boolean;
  /** The model's text as history shows it. */
  readonly modelText: (text: string) => string;
  readonly thinking: (text: string) => Pieces;
}

/** A tool may declare what it returns. */
type GemmaTool = Tool & { readonly response?: JsonObject };

export const gemmaSyntax = (format: GemmaFormat) => ({
  ...gemmaTurns(format),
  tools: (tools: readonly Tool[]): Pieces => tools.map(gemmaDeclarations(format)),
});

// ---- Values

/** `<|tool_call>call:get_weather{…}<tool_call|>` */
const block = (format: GemmaFormat, kind: "declaration" | "call" | "response", name: string, body: Pieces): Pieces => [
  control(format[kind][0]),
  [kind, ":", name, body],
  control(format[kind][1]),
];

const quoted = ({ quote }: GemmaFormat, text: string): Pieces => [control(quote), text, control(quote)];

/** In a schema all keys are quoted, elsewhere only those whose end could not be found otherwise. */
const writtenValue = (format: GemmaFormat, tree: Tree, isSchema = false): Pieces =>
  print<Pieces>(tree, {
    string: (text) => quoted(format, text),
    word: (word) => (word === null ? format.none : String(word)),
    pair: (key, value) => [!isSchema && isBare(key) ? key : quoted(format, key), ":", value],
    wrap,
    sort: dictsort,
  });

export const isBare = (key: string): boolean => !/^$|^[\s"']|[:,{}[\]<]|\s$/.test(key);

const wrap = (open: string, items: readonly Pieces[], close: string): Pieces => [open, joined(items, ","), close];

// ---- Declarations

/** Omits fields whose value is false. */
function fields(all: readonly (readonly [name: string, value: Pieces | false])[]): Pieces {
  const written = all.flatMap(([name, value]) => (value ? [[name, ":", value]] : []));
  return wrap("{", written, "}");
}

function gemmaDeclarations(format: GemmaFormat) {
  const { isGemma4 } = format;
  const value = (tree: Tree) => writtenValue(format, tree, true);

  const described = ({ description }: JsonObject, always: boolean): Pieces | false => {
    const text = typeof description === "string" ? description : "";
    return (always || text !== "") && value(text);
  };
  const required = ({ required }: JsonObject): Pieces | false => filled(required) && value(required.map(String));

  const properties = (schemas: Json | undefined): Pieces =>
    fields(dictsort(entriesOf(schemas ?? {})).map(([name, schema]) => [name, property(isObject(schema) ? schema : {})]));

  const property = (schema: JsonObject): Pieces => {
    const type = typeName(schema);
    const { enum: choices, items, properties: inner } = schema;
    return fields(
      Object.entries({
        description: described(schema, !isGemma4),
        enum: type === "STRING" && filled(choices) && value(choices),
        items: type === "ARRAY" && hasKeys(items) && elements(items),
        nullable: isGemma4 && isNullable(schema) && "true",
        properties: type === "OBJECT" && properties(isObject(inner) ? inner : keywords(schema)),
        required: type === "OBJECT" && required(schema),
        type: value(type),
      }),
    );
  };

  /** The schema of an array's elements shows all its keywords, sorted; only the keys nested in them are quoted. */
  const elements = (schema: JsonObject): Pieces => {
    const keywords = new Map(entriesOf(schema));
    if (isGemma4 && isNullable(schema)) keywords.set("nullable", true);
    const entries = dictsort([...keywords]).filter(([, item]) => item !== null);
    return fields(
      entries.map(([name, item]) => [
        name,
        name === "properties" ? properties(schema.properties) : value(name === "type" ? typeName(schema) : item),
      ]),
    );
  };

  const parameters = (schema: JsonObject): Pieces =>
    fields(
      Object.entries({
        properties: hasKeys(schema.properties) && properties(schema.properties),
        required: required(schema),
        type: value(typeName(schema) || "OBJECT"),
      }),
    );

  return ({ name, description = "", parameters: schema, response }: GemmaTool): Pieces => {
    const body = Object.entries({
      description: value(description),
      parameters: hasKeys(schema) && parameters(schema),
      response: response && fields(Object.entries({ description: described(response, false), type: value(typeName(response)) })),
    });
    return block(format, "declaration", name, fields(body));
  };
}

/** The keywords of a schema that have no field of their own: an object without `properties` shows them in their place. */
const keywords = (schema: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(schema).filter(([key]) => !["description", "type", "properties", "required", "nullable"].includes(key)),
  );

const hasKeys = (object: Json | undefined): object is JsonObject => isObject(object) && Object.keys(object).length > 0;
const filled = (list: Json | undefined): list is readonly Json[] => Array.isArray(list) && list.length > 0;

/** The type as declarations spell it; for a union, the first that is not null. */
function typeName({ type }: JsonObject): string {
  const types = [type].flat();
  const name = types.find((name) => name !== "null") ?? types[0];
  return typeof name === "string" ? name.toUpperCase() : "";
}

const isNullable = ({ nullable, type }: JsonObject): boolean => nullable === true || (Array.isArray(type) && type.includes("null"));

// ---- Calls, responses, turns

function gemmaTurns(format: GemmaFormat) {
  const { turn: marks, isGemma4 } = format;
  const open = (role: string): Pieces => [control(marks[0]), role, "\n"];
  const end: Pieces = [control(marks[1]), "\n"];

  const content = (parts: Content): Pieces =>
    parts.map((part) => (part.type === "text" ? part.text.trim() : mediaPiece(part, format.media)));

  const call = (call: RenderableCall): Pieces => block(format, "call", call.name, writtenValue(format, argumentsTree(call)));

  const response = ({ name, output, media = [] }: RenderableResult): Pieces => {
    const outputs = !isGemma4 && filled(output) ? itemsOf(output) : [plainOutput(output)];
    const body = (item: Tree) => writtenValue(format, isObject(item) && !(item instanceof Numeral) ? item : new Map([["value", item]]));
    return [outputs.map((item) => block(format, "response", name, body(item))), content(media)];
  };

  const said = (round: Round, thinking: boolean): Pieces =>
    round.said?.map((part) => {
      if (part.type === "text") return format.modelText(part.text).trim();
      if (part.type === "media") return content([part]);
      if (part.type === "thinking") return thinking ? format.thinking(part.text) : undefined;
      return part.type === "tool-call" ? call(part) : part.raw;
    });

  /**
   * All turns. A model's turn spans rounds until the model answers without a call. `resumes`: the last turn is still open, after a call or
   * a result.
   */
  const dialogue = (turns: readonly Turn[], keepsThinking: boolean): { turns: Pieces; resumes?: "call" | "result" } => {
    const out: Pieces[] = [];
    let last: "text" | "call" | "result" | undefined;
    const close = (): void => {
      if (last) out.push(end);
      last = undefined;
    };
    for (const turn of turns) {
      close();
      if (turn.side !== "assistant") {
        out.push(open(isGemma4 && turn.side === "developer" ? "system" : turn.side), content(turn.content), end);
        continue;
      }
      for (const round of turn.rounds) {
        if (last === "text" && !isGemma4) close();
        if (!last) out.push(open("model"));
        out.push(said(round, turn.current || (keepsThinking && hasCalls(round))), round.results.map(response));
        last = round.results.length > 0 ? "result" : hasCalls(round) ? "call" : "text";
      }
    }
    if (last === "call") out.push(control(format.response[0]));
    if (last === "call" || last === "result") return { turns: out, resumes: last };
    close();
    return { turns: out };
  };

  return {
    content,
    dialogue,
    calls: (calls: readonly RenderableCall[]): Pieces => calls.map(call),
    results: (results: readonly RenderableResult[]): Pieces => results.map(response),
  };
}
