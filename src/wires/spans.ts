/** Finds values in JSON text without parsing it, for arguments whose bytes must survive: `JSON.parse` keeps neither `1.0` nor 2^53 + 1. */
import type { Json } from "../core/nouns.ts";
import { branches, innerSchema, type SchemaNode, schemaTypes } from "../core/schema.ts";
import { pastBlanks, valueEnd } from "./json-text.ts";
import { oneLine } from "./raw.ts";
import { isText, listOf, parsed } from "./read.ts";

/** The JSON text of each value of this key, in order. The same key inside such a value is not found. The text must be valid. */
export function valuesOf(text: string, key: string): string[] {
  const found: string[] = [];
  const wanted = JSON.stringify(key);
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const end = valueEnd(text, at);
    const colon = pastBlanks(text, end);
    if (text[colon] === ":" && end - at === wanted.length && text.startsWith(wanted, at)) {
      const from = pastBlanks(text, colon + 1);
      at = valueEnd(text, from);
      found.push(text.slice(from, at));
    } else at = end;
  }
  return found;
}

/** The original text of calls' arguments. They must be asked for in the order of the text. */
export class ArgumentTexts {
  readonly #body: unknown;
  readonly #key: string;
  #texts: string[] | undefined;
  #next = 0;

  /** `body`: a request or an answer. If it is not text but already parsed, the original text is unknown. */
  constructor(body: unknown, key: string) {
    this.#body = body;
    this.#key = key;
  }

  /**
   * The text of this value, without line ends. Texts of other values before it are skipped, so arguments that are absent must not be looked
   * for as `{}`: that would skip those of all later calls.
   */
  take(value: Json | undefined): string | undefined {
    if (value === undefined) return undefined;
    const wanted = JSON.stringify(value);
    this.#texts ??= isText(this.#body) ? valuesOf(this.#body, this.#key) : [];
    while (this.#next < this.#texts.length) {
      const json = this.#texts[this.#next++]!;
      if (JSON.stringify(parsed(json)) === wanted) return oneLine(json);
    }
    return undefined;
  }
}

/** Removes the nulls that the schema does not allow, which mean "absent" in strict mode. Everything else keeps its bytes. */
export function withoutNulls(json: string, schema: SchemaNode | undefined): string {
  const open = pastBlanks(json, 0);
  const isObject = json[open] === "{";
  if (!isObject && json[open] !== "[") return json;
  const required = new Set(schema && branches(schema).flatMap((branch) => listOf(branch.required)));
  const kept: string[] = [];
  let end = open; // the comma or closing bracket after the last entry
  do {
    const from = end + 1;
    let at = pastBlanks(json, from);
    const key = isObject && json[at] === '"' ? json.slice(at, valueEnd(json, at)) : undefined;
    if (key !== undefined) at = pastBlanks(json, pastBlanks(json, at + key.length) + 1);
    const value = json.slice(at, valueEnd(json, at));
    end = pastBlanks(json, at + value.length);
    const name = key === undefined ? key : (parsed(key) as string);
    const inner = innerSchema(schema, name ?? kept.length);
    const isAbsent = value === "null" && name !== undefined && !isNullable(inner) && !required.has(name);
    if (!isAbsent) kept.push(json.slice(from, at) + withoutNulls(value, inner) + json.slice(at + value.length, end));
  } while (json[end] === ",");
  return json.slice(0, open + 1) + kept.join(",") + json.slice(end);
}

/** Without a type, the schema allows null. */
function isNullable(schema: SchemaNode | undefined): boolean {
  const types = schemaTypes(schema);
  return types.length === 0 || types.includes("null");
}
