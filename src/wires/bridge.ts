/** Tools for targets that know only functions. A custom tool, which takes plain text, is a function with one string, `{"input": "…"}`. */
import { unescapeJson } from "../core/json.ts";
import type { JsonObject, Opaque, Request, Tool, ToolCall, WireId } from "../core/nouns.ts";
import { stringEnd } from "./json-text.ts";
import { objectOf, textOf } from "./read.ts";

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
  typeof call.arguments.input === "string" ? call.arguments.input : JSON.stringify(call.arguments);

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
