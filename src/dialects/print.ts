/**
 * Values as models' templates spell them: JSON as Python prints it (`{"a": 1, "b": [1e-07]}`), compact or indented, and Python's own
 * literals. A call that carries its arguments' JSON text is printed from that text, so that `1.0` and integers over 2^53 stay as they are.
 */
import { escapeJson, isObject } from "../core/json.ts";
import type { Json } from "../core/nouns.ts";
import { numberText } from "../core/numbers.ts";
import type { RenderableCall } from "./dialect.ts";

/** JSON read without loss: numbers keep their spelling, pairs their order. */
export type Tree = Json | Numeral | readonly Tree[] | ReadonlyMap<string, Tree>;

/** A number as it was written. */
export class Numeral {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[^\s,\]}]*/g;

/** The tree of a JSON text; `undefined` if it is not JSON. `JSON.parse` gets strings with a tag before them, and numbers as strings. */
export function readLossless(text: string): Tree | undefined {
  try {
    JSON.parse(text);
    const tagged = text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? `"$${token.slice(1)}` : `"#${token}"`));
    return JSON.parse(tagged, (_, value) => {
      if (isObject(value)) return new Map(Object.entries(value).map(([key, item]) => [key.slice(1), item]));
      if (typeof value !== "string") return value;
      return value.startsWith("#") ? new Numeral(value.slice(1)) : value.slice(1);
    }) as Tree;
  } catch {
    return undefined;
  }
}

/** The arguments of a call, as the model wrote them if that is known. */
export function argumentsTree(call: RenderableCall): Tree {
  const tree = call.json === undefined ? undefined : readLossless(call.json);
  return tree instanceof Map ? tree : call.arguments;
}

/** The arguments of a call as JSON text: the model's own, sent on as it is, or else printed as Python does. */
export function argumentsText({ json, arguments: value }: RenderableCall): string {
  return json !== undefined && readLossless(json) instanceof Map ? json : pythonJson(value);
}

/** A call as one JSON object. */
export const callObject = (call: RenderableCall, key: "arguments" | "parameters" = "arguments"): string =>
  `{"name": ${compactJson(call.name)}, "${key}": ${argumentsText(call)}}`;

/**
 * The arguments of a call for formats that wrap each in tags: strings as they are, anything else printed. If printed text contains one of
 * the `tags`, its `<` is escaped; a string has no escapes.
 */
export const argumentTexts = (call: RenderableCall, tags: RegExp, print: (value: Tree) => string = pythonJson) =>
  entriesOf(argumentsTree(call)).map(([key, value]) => {
    if (typeof value === "string") return { key, value, text: value, string: true };
    const text = print(value);
    return { key, value, text: tags.test(text) ? text.replaceAll("<", "\\u003c") : text, string: false };
  });

/** A date as `%Y-%m-%d`. */
export const isoDate = (date = new Date()): string =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((number) => String(number).padStart(2, "0")).join("-");

/** An id as Mistral's templates require it; an id of another form is replaced by its hash. */
export function nineCharacters(id = ""): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id;
  const digits = (length: number, seed: number): string => {
    let hash = seed;
    for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
    return (hash >>> 0).toString(36).padStart(length, "0").slice(-length);
  };
  return digits(5, 0x811c9dc5) + digits(4, 0x5bd1e995);
}

/** An attribute's value. The formats have no escapes, so a text with both kinds of quotes cannot be written. */
export const quoted = (text: string): string => (text.includes('"') ? `'${text}'` : `"${text}"`);

/** The same where quotes can be escaped. */
export const attribute = (text: string): string => `"${text.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"`;

/** A name in a tag, `<function=NAME>`: quoted if its end could not be found otherwise. */
export const tagName = (name: string): string => (/^$|^[\s"']|[<>]|[\s/]$/.test(name) ? quoted(name) : name);

/** Python's spelling, but lists and objects as JSON. */
export const valueText = (value: Tree): string => (typeof value === "object" && value !== null ? pythonJson(value) : pythonLiteral(value));

export function entriesOf(value: Tree): [string, Tree][] {
  if (value instanceof Map) return [...(value as ReadonlyMap<string, Tree>)];
  return isObject(value) ? Object.entries(value).map(([key, item]) => [key, spelled(value, key, item)]) : [];
}

export const itemsOf = (list: readonly Tree[]): Tree[] => list.map((item, i) => spelled(list, String(i), item));

/** A number as the client wrote it, if it would be printed differently. */
function spelled(holder: object, key: string, item: Tree): Tree {
  const text = numberText(holder, key, item);
  return text ? new Numeral(text) : item;
}

type Entries = readonly [string, Tree][];

/** By the code points of the keys, so that characters of two code units come last. */
function sortedBy(entries: Entries, keyOf: (key: string) => string): [string, Tree][] {
  const rank = ([key]: [string, Tree]): string => keyOf(key).replace(/[^\0-\uffff]/gu, "\uffff$&");
  return entries.toSorted((a, b) => (rank(a) < rank(b) ? -1 : Number(rank(a) > rank(b))));
}

/** In the order of Jinja's `dictsort`, which lower-cases the keys. */
export const dictsort = (entries: Entries): [string, Tree][] => sortedBy(entries, (key) => key.toLowerCase());

/** In the order of Python's `sorted`: upper case before lower. */
export const keysort: typeof dictsort = (entries) => sortedBy(entries, (key) => key);

/** A number as Python prints it. The digits are JavaScript's too; small fractions get an exponent earlier, of two digits. */
export function pythonNumber(value: number | Numeral): string {
  if (value instanceof Numeral) return value.text;
  if (Number.isInteger(value) || Math.abs(value) >= 1e-4) return String(value);
  return value.toExponential().replace(/e-(\d)$/, "e-0$1");
}

/** How a format spells values, as text or as pieces of a prompt. */
interface Style<T> {
  readonly string: (text: string) => T;
  readonly word: (value: boolean | null) => T;
  readonly pair: (key: string, value: T) => T;
  readonly wrap: (open: string, items: T[], close: string) => T;
  /** The order of an object's pairs, if they are sorted. */
  readonly sort?: typeof dictsort;
}

export function print<T>(value: Tree, style: Style<T | string>): T | string {
  const inner = (item: Tree) => print(item, style);
  if (typeof value === "string") return style.string(value);
  if (typeof value === "number" || value instanceof Numeral) return pythonNumber(value);
  if (value === null || typeof value === "boolean") return style.word(value);
  if (Array.isArray(value)) return style.wrap("[", itemsOf(value).map(inner), "]");
  const entries = entriesOf(value);
  const pairs = (style.sort?.(entries) ?? entries).map(([key, item]) => style.pair(key, inner(item)));
  return style.wrap("{", pairs, "}");
}

const inLine =
  (comma: string): Style<string>["wrap"] =>
  (open, items, close) =>
    open + items.join(comma) + close;

const indented =
  (indent: string): Style<string>["wrap"] =>
  (open, items, close) =>
    items.length === 0 ? open + close : `${open}${`\n${items.join(",\n")}`.replaceAll("\n", `\n${indent}`)}\n${close}`;

const jsonString = (text: string): string => `"${escapeJson(text)}"`;

const inText = (
  wrap = inLine(", "),
  colon = ": ",
  string = jsonString,
  word: (value: boolean | null) => string = String,
): Style<string> => ({ string, word, pair: (key, value) => string(key) + colon + value, wrap });

const compact = (): Style<string> => inText(inLine(","), ":");

const PYTHON_JSON = inText();

/** `json.dumps(value, ensure_ascii=False)` */
export const pythonJson = (value: Tree): string => print(value, PYTHON_JSON);
/** The same with sorted keys. */
export const sortedPythonJson = (value: Tree): string => print(value, { ...PYTHON_JSON, sort: keysort });
/** JSON as `json.dumps(value)` prints it, which escapes DEL, too. */
export const ascii = (json: string): string =>
  json.replace(/[^\0-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
/** `json.dumps(value, ensure_ascii=False, indent=4)`, or with another indent */
export const prettyJson = (value: Tree, indent = "    "): string => print(value, inText(indented(indent)));
export const compactJson = (value: Tree): string => print(value, compact());
export const sortedJson = (value: Tree): string => print(value, { ...compact(), sort: dictsort });
export const canonicalJson = (value: Tree): string => print(value, { ...compact(), sort: keysort });

/** `repr(value)` */
export const pythonLiteral = (value: Tree): string =>
  print(
    value,
    inText(undefined, undefined, pythonString, (word) => (word === null ? "None" : word ? "True" : "False")),
  );

/** `str(value)` */
export const pythonText = (value: Tree): string => (typeof value === "string" ? value : pythonLiteral(value));

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function pythonString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  // What Python calls printable: no control, format, surrogate, private or unassigned character, no separator but the blank.
  const escaped = text.replace(/['\\]|(?! )[\p{C}\p{Z}]/gu, (char) => {
    if (char === "'") return quote === "'" ? "\\'" : char;
    const code = char.codePointAt(0) ?? 0;
    const hex = (width: number) => code.toString(16).padStart(width, "0");
    return ESCAPES[char] ?? (code < 0x100 ? `\\x${hex(2)}` : code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`);
  });
  return quote + escaped + quote;
}
