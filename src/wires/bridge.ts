/** Tools for targets that know only functions. A custom tool, which takes plain text, is a function with one string, `{"input": "…"}`. */
import type { JsonObject, Request, Tool, ToolCall } from "../core/nouns.ts";

export const BRIDGE_PARAMETERS: JsonObject = {
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

/** The tools that a target without tool search gets: a deferred one only if it is asked for by name. */
export function offeredTools({ tools = [], toolChoice }: Request): Tool[] {
  const chosen = typeof toolChoice !== "object" ? [] : "name" in toolChoice ? [toolChoice.name] : toolChoice.allowed;
  return tools.filter((tool) => !tool.deferred || chosen.includes(tool.name));
}

/** What kind of tool this name stands for: calls of a custom tool go to the client as plain text. */
export const toolKind = (tools: readonly Tool[] | undefined, name: string): "function" | "custom" =>
  tools?.find((tool) => tool.name === name)?.kind ?? "function";

/** The text of a custom call. */
export const customInput = (call: Pick<ToolCall, "arguments">): string =>
  typeof call.arguments.input === "string" ? call.arguments.input : JSON.stringify(call.arguments);
