/**
 * Arguments as elements that nest, each tag after a mark that is a token of its own:
 *
 *     ]<]minimax[>[<tags>]<]minimax[>[<item>a]<]minimax[>[</item>]<]minimax[>[</tags>
 *
 * Objects and lists are passed on while they arrive. A value that the schema allows to be a string is one, whatever it contains, except the
 * word `null` where null is allowed too. Without a schema, a value that begins with a tag is an object or a list, and any other a string.
 */
import { escapeJson, jsonScalar } from "../../core/json.ts";
import { branches, innerSchema, type SchemaNode, schemaTypes } from "../../core/schema.ts";
import { Marks } from "../../core/window.ts";
import type { Scan, Step } from "./scan.ts";
import { broken, cut, nameTooLong, tooDeep } from "./steps.ts";
import { readJson } from "./values.ts";

/** An element that is open. */
export interface Element {
  readonly key: string;
  readonly schema: SchemaNode | undefined;
  /** `unknown`: nothing of the value has come yet; `nullable`: a string, unless it is `null`; `other`: no string, written once it is complete. */
  kind: "unknown" | "object" | "list" | "string" | "nullable" | "other";
  /** What has been read but not yet written; for a list, the tag of its items. */
  text: string;
  /** The number of calls opened inside it: the model is quoting the format, and their closers are content. */
  quoted: number;
}

export interface ElementForm {
  /** The mark before every tag. */
  readonly mark: string;
  /** The names of the tags for a block of calls, for a call and for an element of a list. */
  readonly block: string;
  readonly call: string;
  readonly item: string;
  readonly stops: readonly string[];
}

/** Reads the arguments of a call that has started, and what closes it. */
export function elementArguments({ mark, block, call, item, stops }: ElementForm): Step {
  const [open, close] = [`${mark}<`, `${mark}</`];
  const quote = `${open}${call} `;
  const blockEnd = `${close}${block}>`;
  const tags = new Marks([open, close, quote, blockEnd]);
  const valueEnds = new Marks([close, quote, ...stops]);
  const tagEnd = new Marks([">", mark]);

  const begin: Step = (s) => {
    s.json.open(false);
    s.elements = [{ key: call, schema: s.schemaOf(s.call?.name ?? ""), kind: "object", text: "", quoted: 0 }];
    return inside;
  };

  /** Before a tag, in an object or a list. */
  const inside: Step = (s) => {
    if (s.blanks() === undefined) return undefined;
    const tag = s.match(tags, true);
    if (tag === undefined && s.last) s.pos = s.stop;
    if (tag === undefined || s.pos === s.stop) return s.last ? cut : undefined;
    if (tag === "") return broken(s, "bad-arguments", "an element was expected");
    return into(s, tag);
  };

  const into = (s: Scan, tag: string): Step | undefined => {
    if (tag === quote || (tag === blockEnd && !s.elements.some(({ key }) => key === block))) return endCall(s);
    s.pos += tag === open ? open.length : close.length;
    s.word = "";
    return tag === open ? opening : closing;
  };

  const opening: Step = (s) => {
    const end = s.readWord(tagEnd);
    if (end === undefined) return undefined;
    if (end === null) return nameTooLong;
    if (end === "") return cut;
    if (end !== ">") return broken(s, "bad-arguments", "a tag does not end");
    s.pos++;
    const top = s.elements.at(-1);
    if (!top) return broken(s, "bad-arguments", "an element was expected");
    if (top.kind === "unknown") {
      if (s.elements.length > s.maxDepth) return tooDeep;
      top.kind = isList(top, s.word) ? "list" : "object";
      s.json.open(top.kind === "list");
      top.text = s.word;
    }
    const key = s.word;
    const inList = top.kind === "list";
    const schema = innerSchema(top.schema, inList ? s.json.count : key);
    if (inList && (key !== top.text || (key !== item && innerSchema(schema, key))))
      return broken(s, "bad-arguments", "an element of a list was expected");
    if (!inList) s.json.key(key, `"${escapeJson(key)}":`);
    s.elements.push({ key, schema, kind: "unknown", text: "", quoted: 0 });
    const types = schemaTypes(schema);
    if (!types.includes("string")) return valueStart;
    const nullable = types.includes("null");
    s.elements.at(-1)!.kind = nullable ? "nullable" : "string";
    if (!nullable) s.json.string();
    return value;
  };

  const isList = ({ schema }: Element, key: string): boolean => {
    const [list, object] = (["array", "object"] as const).map((type) => schemaTypes(schema).includes(type));
    return list === object ? key === item : list === true;
  };

  /** At the beginning of a value that need not be a string. */
  const valueStart: Step = (s) => {
    const top = s.elements.at(-1);
    if (!top) return inside;
    if (s.blanks() === undefined) {
      top.text += s.run;
      return undefined;
    }
    top.text += s.run;
    const tag = s.match(tags, true);
    if (tag === undefined && s.last) s.pos = s.stop;
    if (tag === undefined || s.pos === s.stop) return s.last ? cut : undefined;
    if (tag !== "") return into(s, tag);
    top.kind = schemaTypes(top.schema).length === 0 ? "string" : "other";
    if (top.kind === "string") {
      s.json.string();
      s.json.run(escapeJson(top.text));
    }
    return value;
  };

  /** In text, up to the tag that closes it. */
  const value: Step = (s) => {
    const top = s.elements.at(-1);
    if (!top) return inside;
    const tag = s.until(valueEnds, true);
    say(s, top, s.run);
    if (tag === undefined) return undefined;
    if (tag === close) return into(s, tag);
    if (tag === "") {
      s.pos = s.stop;
      return cut;
    }
    const isCut = tag === quote ? false : s.isCut();
    if (isCut !== false) return isCut && cut;
    if (tag === quote) top.quoted++;
    say(s, top, tag);
    s.pos += tag.length;
    return value;
  };

  const say = (s: Scan, top: Element, text: string): void => {
    if (text === "") return;
    if (top.kind === "string") {
      s.json.run(escapeJson(text));
      return;
    }
    top.text += text;
    if (top.kind !== "nullable" || "null".startsWith(top.text)) return;
    top.kind = "string";
    s.json.string();
    s.json.run(escapeJson(top.text));
  };

  const closing: Step = (s) => {
    const end = s.readWord(tagEnd);
    if (end === undefined) return undefined;
    if (end === "") return cut;
    const top = s.elements.at(-1);
    const isCall = end === ">" && s.word === call;
    const isOpen = s.elements.length > 1 && s.word === top?.key;
    const fits = end === ">" && isOpen && !(isCall && top.quoted);
    if (isCall && !fits && !top?.quoted) {
      s.pos++;
      return endCall(s);
    }
    if (!top || (!fits && !["string", "nullable", "other"].includes(top.kind)))
      return broken(s, "bad-arguments", "a closing tag does not match");
    if (!fits) {
      if (isCall) top.quoted--;
      say(s, top, close + s.word);
      return value;
    }
    s.pos++;
    s.elements.pop();
    return endElement(s, top) ?? inside;
  };

  /** Ends the call, and elements whose closers are missing. The call's own closer may be missing, too. */
  const endCall = (s: Scan): Step | undefined => {
    for (let top = s.elements.pop(); top; top = s.elements.pop()) {
      const failed = endElement(s, top);
      if (failed) return failed;
    }
    s.endCall();
    return s.behind;
  };

  return begin;
}

/** Writes what is left of the element, which is no longer among the open ones. Answers with a step if it cannot be read. */
function endElement(s: Scan, { kind, schema, text }: Element): Step | undefined {
  const { json } = s;
  if (kind === "object" || kind === "list") json.shut();
  else if (kind === "string") json.done();
  else if (kind === "unknown") endEmpty(s, schema, text);
  else if (kind === "nullable" && text !== "null") writeString(s, text);
  else {
    const scalar = jsonScalar(text.trim());
    const depth = s.maxDepth - s.elements.length;
    const outcome = scalar === undefined ? readJson(text, undefined, depth) : "done";
    if (outcome === "deep") return tooDeep;
    if (scalar !== undefined) json.scalar(scalar);
    else if (outcome === "done") readJson(text.trim(), json, depth);
    else writeString(s, text);
  }
  return undefined;
}

/** An element without content, except blanks: those are the value of a string. Null, if an empty object or list would lack something. */
function endEmpty(s: Scan, node: SchemaNode | undefined, blanks: string): void {
  const types = schemaTypes(node);
  const list = types.includes("array");
  const isNull = types.includes("null") && node && !branches(node).some((schema) => mayBeEmpty({ schema, root: node.root }));
  if (!isNull && (list || types.includes("object"))) {
    s.json.open(list);
    s.json.shut();
  } else if (types.includes("null")) s.json.scalar("null");
  else writeString(s, blanks);
}

/** Whether the schema may allow an object or a list, and an empty one. */
function mayBeEmpty(node: SchemaNode): boolean {
  const { required, minItems } = node.schema;
  const needs = (Array.isArray(required) && required.length > 0) || Number(minItems) > 0;
  return !needs && schemaTypes(node).some((type) => type === "object" || type === "array");
}

function writeString({ json }: Scan, text: string): void {
  json.string();
  json.run(escapeJson(text));
  json.done();
}
