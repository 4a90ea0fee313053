/**
 * Tools for targets that know only functions. A custom tool, which takes plain text, is a function with one string, `{"input": "…"}`; a tool
 * that an API defines and its clients run, such as a shell, is a function that the wire's own table describes.
 */
import { unescapeJson } from "../core/json.ts";
import type { JsonObject, Opaque, Request, Tool, ToolCall, WireId } from "../core/nouns.ts";
import { stringEnd } from "./json-text.ts";
import { ownState } from "./opaque.ts";
import { isText, objectOf, restOf, textOf } from "./read.ts";

const BRIDGE_PARAMETERS: JsonObject = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
  additionalProperties: false,
};

/** The function that stands for a custom tool; any other tool stays what it is. */
export function bridgeTool(tool: Tool): Tool {
  if (tool.kind !== "custom") return tool;
  const { kind: _kind, grammar, state: _state, description, ...rest } = tool;
  const rule = grammar && `The input must match this ${grammar.syntax} grammar:\n${grammar.definition}`;
  const text = [description, rule].filter(Boolean).join("\n\n");
  return { ...rest, ...(text ? { description: text } : {}), parameters: BRIDGE_PARAMETERS };
}

/** Marks a tool that a wire's API defines: the declaration, which the same wire gets back as it came. */
export const NATIVE = "#native";

/** The type of such a tool, where this wire defines it. */
export const nativeType = (wire: WireId, tool: Tool | undefined): string | undefined =>
  textOf(objectOf(ownState(wire, tool?.state, NATIVE)).type);

/** What such a tool is to all others. */
export interface Native {
  readonly description: string;
  readonly parameters: JsonObject;
}

export const TEXT: JsonObject = { type: "string" };
export const WHOLE: JsonObject = { type: "integer" };
export const oneOf = (words: string): JsonObject => ({ type: "string", enum: words.split(" ") });
export const arrayOf = (items: JsonObject, length?: number): JsonObject => ({
  type: "array",
  items,
  ...(length ? { minItems: length, maxItems: length } : {}),
});
/** The schema of an object; a name with `?` may be absent. */
export function parametersOf(given: JsonObject): JsonObject {
  const names = Object.keys(given);
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name.replace("?", ""), given[name]!])),
    required: names.filter((name) => !name.endsWith("?")),
  };
}

/** With what the client has set: the size of its screen, where its shell runs. */
export function asSet(declared: JsonObject, { description, parameters }: Native): Native {
  const settings = restOf(declared, (key) => Boolean(declared[key]) && /^(display|env|max)/.test(key));
  const told = settings ? ` Settings: ${JSON.stringify(settings)}` : "";
  return { description: description + told, parameters };
}

/**
 * The tools that a target without tool search gets: a deferred one only if it is asked for by name, or if nobody but another server could
 * have found it; and none where none may be called.
 */
export function offeredTools({ tools = [], toolChoice, extra }: Request): Tool[] {
  if (toolChoice === "none") return [];
  if (isSearchedBy(extra)) return tools.map(revealed);
  const chosen = typeof toolChoice !== "object" ? [] : "name" in toolChoice ? [toolChoice.name] : toolChoice.allowed;
  return tools.filter((tool) => !tool.deferred || chosen.includes(tool.name));
}

/** `{"type": "tool_search"}`, `{"type": "tool_search_tool_bm25_20251119"}`: a server finds the deferred tools, and no other than it does. */
export const isSearchedBy = (extra: readonly Opaque[] = [], elsewhere?: WireId): boolean =>
  extra.some(({ wire, data }) => {
    const { type, execution } = objectOf(data);
    return wire !== elsewhere && execution !== "client" && /^tool_search(_tool_\w+)?$/.test(textOf(type) ?? "");
  });

export function revealed(tool: Tool): Tool {
  const { deferred: _deferred, ...rest } = tool;
  return rest;
}

/** What kind of tool this name stands for: calls of a custom tool go to the client as plain text. */
export const toolKind = (tools: readonly Tool[] | undefined, name: string): "function" | "custom" =>
  tools?.find((tool) => tool.name === name)?.kind ?? "function";

/** The text of a custom call. */
export const customInput = (call: Pick<ToolCall, "arguments">): string =>
  isText(call.arguments.input) ? call.arguments.input : JSON.stringify(call.arguments);

const INPUT = /^\s*\{\s*"input"\s*:\s*"/;
/** What stands in front of the text cannot be longer: then it is another object, whose text the end of the call tells. */
const MAX_HEAD = 256;

/** The plain text of a custom call, out of the JSON that stands for it, while it is being written. */
export class CustomInput {
  #inText = false;
  #over = false;
  #rest = "";

  /** The next piece of the JSON; the piece of text that it holds. */
  add(json: string): string {
    if (this.#over) return "";
    let text = this.#rest + json;
    if (!this.#inText) {
      const head = INPUT.exec(text)?.[0];
      this.#inText = head !== undefined;
      this.#over = head === undefined && text.length > MAX_HEAD;
      this.#rest = text;
      if (head === undefined) return "";
      text = text.slice(head.length);
    }
    let end = stringEnd(text, 0);
    this.#over = text[end] === '"';
    const said = unescapeJson(text.slice(0, end));
    // Half a character waits for its other half, however it is written.
    const isHalf = !this.#over && (said.charCodeAt(said.length - 1) & 0xfc00) === 0xd800;
    if (isHalf) end -= text.charCodeAt(end - 1) >= 0xd800 ? 1 : 6;
    this.#rest = text.slice(end);
    return isHalf ? said.slice(0, -1) : said;
  }
}
