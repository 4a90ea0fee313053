/**
 * Tools for targets that know only functions. A custom tool, which takes plain text, becomes a function with one string, `{"input": "…"}`. A
 * native tool, which an API defines and its clients run (a shell), becomes a function that the wire's own table describes.
 */
import type { JsonObject, Opaque, Request, Tool, ToolCall, WireId } from "../core/nouns.ts";
import { stringEnd } from "./json-text.ts";
import { ownState } from "./opaque.ts";
import { isText, objectOf, parsed, restOf, textOf } from "./read.ts";

const BRIDGE_PARAMETERS: JsonObject = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
  additionalProperties: false,
};

/** Turns a custom tool into a function; any other tool is returned unchanged. */
export function bridgeTool(tool: Tool): Tool {
  if (tool.kind !== "custom") return tool;
  const { kind: _kind, grammar, state: _state, description, ...rest } = tool;
  const rule = grammar && `The input must match this ${grammar.syntax} grammar:\n${grammar.definition}`;
  const text = [description, rule].filter(Boolean).join("\n\n");
  return { ...rest, ...(text ? { description: text } : {}), parameters: BRIDGE_PARAMETERS };
}

/** Marks a native tool, with its declaration, which the same wire gets back unchanged. */
export const NATIVE = "#native";

/** The type of a native tool, if this wire's API defines it. */
export const nativeType = (wire: WireId, tool: Tool | undefined): string | undefined =>
  textOf(objectOf(ownState(wire, tool?.state, NATIVE)).type);

/** How a native tool is described to other servers. */
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
/** The schema of an object; properties whose name ends in `?` are optional. */
export function parametersOf(given: JsonObject): JsonObject {
  const names = Object.keys(given);
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name.replace("?", ""), given[name]!])),
    required: names.filter((name) => !name.endsWith("?")),
  };
}

/** Adds the client's settings, such as the size of its screen, to the description. */
export function asSet(declared: JsonObject, { description, parameters }: Native): Native {
  const settings = restOf(declared, (key) => Boolean(declared[key]) && /^(display|env|max)/.test(key));
  const told = settings ? ` Settings: ${JSON.stringify(settings)}` : "";
  return { description: description + told, parameters };
}

/**
 * The tools for a target without tool search. A deferred tool is sent only if the tool choice names it, or if only another API's server could
 * have found it. If no tool may be called, none is sent.
 */
export function offeredTools({ tools = [], toolChoice, extra }: Request): Tool[] {
  if (toolChoice === "none") return [];
  if (isSearchedBy(extra)) return tools.map(revealed);
  const chosen = namedBy(toolChoice);
  return tools.filter((tool) => !tool.deferred || chosen?.includes(tool.name));
}

/** The tools that the choice names: the one to call, or those that are allowed. */
export const namedBy = (choice: Request["toolChoice"]): readonly string[] | undefined =>
  typeof choice !== "object" ? undefined : "name" in choice ? [choice.name] : choice.allowed;

/**
 * Whether a server was to search the deferred tools: `{"type": "tool_search"}`, `{"type": "tool_search_tool_bm25_20251119"}`. `elsewhere`: a
 * wire whose servers do not count.
 */
export const isSearchedBy = (extra: readonly Opaque[] = [], elsewhere?: WireId): boolean =>
  extra.some(({ wire, data }) => {
    const { type, execution } = objectOf(data);
    return wire !== elsewhere && execution !== "client" && /^tool_search(_tool_\w+)?$/.test(textOf(type) ?? "");
  });

export function revealed(tool: Tool): Tool {
  const { deferred: _deferred, ...rest } = tool;
  return rest;
}

/** The kind of the tool with this name: the client gets the calls of a custom tool as plain text. */
export const toolKind = (tools: readonly Tool[] | undefined, name: string): "function" | "custom" =>
  tools?.find((tool) => tool.name === name)?.kind ?? "function";

/** The plain text of a custom call. */
export const customInput = (call: Pick<ToolCall, "arguments">): string =>
  isText(call.arguments.input) ? call.arguments.input : JSON.stringify(call.arguments);

const INPUT = /^\s*\{\s*"input"\s*:\s*"/;
/** The text begins within so many characters. Otherwise the arguments are another object, and the text is taken from the complete call. */
const MAX_HEAD = 256;

/** Extracts the plain text of a custom call from its JSON arguments while they stream. */
export class CustomInput {
  #inText = false;
  #over = false;
  #rest = "";

  /** Takes the next piece of the JSON and returns the text that it adds. */
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
    const said = textOf(parsed(`"${text.slice(0, end)}"`));
    this.#over ||= said === undefined; // an escape that is not JSON: the end of the call will say so
    if (said === undefined) return "";
    // Half a surrogate pair waits for its other half, whether it is escaped or not.
    const isHalf = !this.#over && (said.charCodeAt(said.length - 1) & 0xfc00) === 0xd800;
    if (isHalf) end -= text.charCodeAt(end - 1) >= 0xd800 ? 1 : 6;
    this.#rest = text.slice(end);
    return isHalf ? said.slice(0, -1) : said;
  }
}
