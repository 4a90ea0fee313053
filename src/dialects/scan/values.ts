/**
 * Values that are raw text between tags, as `params.ts` finds them: strings are written while they arrive, other values once they are
 * complete, typed by the schema.
 */
import { escapeJson, isObject, JsonWriter, jsonScalar } from "../../core/json.ts";
import { JSON_SYNTAX } from "../../core/json-syntax.ts";
import type { Pile } from "../../core/pile.ts";
import { NO_MARKS, type Outcome, Reader } from "../../core/reader.ts";
import { propertySchema, type SchemaNode, schemaTypes } from "../../core/schema.ts";
import type { Marks } from "../../core/window.ts";
import type { Scan } from "./scan.ts";

/** The parameter between tags that is being read. */
export interface Param {
  readonly key: string;
  /** A string is written while it arrives; one that may be `null` waits while it still may, and JSON until it is complete. */
  type: "string" | "nullable" | "json";
  /** It may contain all arguments, and waits until it is complete. */
  readonly all: boolean;
  /** What was read but not written yet. */
  readonly text: Pile;
  /** The string has begun. */
  written: boolean;
  /** A newline that belongs to the closer, if that comes next. */
  newline: string;
  /** Its closer, and all marks that matter inside it. */
  readonly closer: string;
  readonly marks: Marks;
  /** The model slipped: see `Tag.slip`, or the tag that opens its value is missing. */
  readonly slip: boolean;
  /** The number of calls and blocks opened inside it: the model is quoting the format, and their closers are content. */
  quoted: number;
  /** A parameter of a quoted call began: its closer is content, too. */
  nested: boolean;
  /** The mark that ends it if something legal follows, and the blanks after that mark. */
  mark: string;
  blanks: string;
}

export const paramSchema = (s: Scan, key: string): SchemaNode | undefined => propertySchema(s.schemaOf(s.call?.name ?? ""), key);

/** The type of a value by the schema. Without one it is a string. */
export function typeBySchema(s: Scan, key: string): Param["type"] {
  const types = schemaTypes(paramSchema(s, key));
  if (types.length > 0 && !types.includes("string")) return "json";
  return types.includes("null") ? "nullable" : "string";
}

/** Writes the key, when its value begins. */
function writeKey({ json }: Scan, { key }: Param): void {
  if (!json.begun) json.open(false);
  json.key(key, `"${escapeJson(key)}":`);
}

function writeString(s: Scan, param: Param, text: string): void {
  if (!param.written) {
    writeKey(s, param);
    s.json.string();
    param.written = true;
  }
  if (text !== "") s.json.run(escapeJson(text));
}

/** The next piece of the value. */
export function sayValue(s: Scan, param: Param, piece: string, strips: boolean): void {
  if (piece === "") return;
  let text = param.newline + piece;
  param.newline = "";
  if (strips && text.endsWith("\n")) {
    param.newline = "\n";
    text = text.slice(0, -1);
  }
  if (param.all || param.type !== "string") {
    param.text.add(text);
    if (param.all || param.type === "json" || "null".startsWith(param.text.toString())) return;
    param.type = "string";
    text = param.text.toString();
  }
  writeString(s, param, text);
}

/** Reads a JSON value of any kind, as leniently as all JSON that models write. */
export function readJson(text: string, out: JsonWriter | undefined, maxDepth: number): Outcome {
  const reader = new Reader(maxDepth).begin(JSON_SYNTAX, out, NO_MARKS).any();
  reader.add(`${text} `);
  reader.finish();
  const outcome = reader.read() ?? "bad";
  return outcome === "done" && reader.ahead.trim() !== "" ? "bad" : outcome;
}

/**
 * Writes the rest of the value. With `wasCut` the input ended right after its closer, which may therefore have been content: a string stays
 * open, and what is no JSON is left out.
 */
export function endParam(s: Scan, param: Param, escaped: boolean, wasCut: boolean): Outcome {
  const { json } = s;
  const { type } = param;
  let text = param.text.toString();
  if (type === "json") {
    const scalar = jsonScalar(text);
    if (scalar !== undefined && scalar !== "null") {
      writeKey(s, param);
      json.scalar(scalar);
      return "done";
    }
    const depth = s.maxDepth - 1;
    let outcome = readJson(text, undefined, depth);
    if (escaped && outcome === "bad") {
      const plain = unescaped(text);
      outcome = readJson(plain, undefined, depth);
      if (outcome === "done") text = plain;
    }
    // The tag says that it is no string, but where the schema allows only strings `null` is the word.
    const types = schemaTypes(paramSchema(s, param.key));
    if (outcome === "done" && !(text.trim() === "null" && types.includes("string") && !types.includes("null"))) {
      writeKey(s, param);
      return readJson(text.trim(), json, depth);
    }
    if (wasCut || outcome === "deep") return outcome;
  }
  if (type === "nullable" && text === "null") {
    writeKey(s, param);
    json.scalar(text);
    return "done";
  }
  writeString(s, param, param.written ? "" : text);
  if (!wasCut) json.done();
  return "done";
}

/** A list or an object whose quotes the model escaped, without the escapes. */
function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return "";
  }
}

/** Whether this text is an object of declared parameters; in a tag without a key, any object. */
export function holdsArguments(s: Scan, text: string): boolean {
  const out = new JsonWriter();
  if (readJson(text, out, s.maxDepth) !== "done") return false;
  const { value } = out;
  return isObject(value) && (s.param?.key === "" || Object.keys(value).every((key) => paramSchema(s, key) !== undefined));
}
