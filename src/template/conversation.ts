/**
 * A request as chat templates expect it: OpenAI's messages and tools, less what templates stumble over. They expect texts where clients
 * send null, a name on every result, an object for the arguments, `system` where clients say `developer`, one type where JSON Schema
 * allows several.
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Message, Part, Request, Tool, ToolCall } from "../core/nouns.ts";
import { argumentsText } from "../dialects/print.ts";
import { functionTool } from "../dialects/tools.ts";
import { callsOf, plainOutput, resultText, textOf, thinkingOf, turnsOf } from "../dialects/transcript.ts";

export interface Conversation {
  messages: JsonObject[];
  tools?: JsonObject[];
}

export interface Form {
  /** Arguments as a JSON text: what older templates paste between two strings. */
  argumentsAsText: boolean;
}

export function conversationOf({ messages, tools = [] }: Request, template: string, form: Form): Conversation {
  const hasDevelopers = template.includes("developer");
  return {
    messages: messagesOf(messages, form).map((message) =>
      message.role === "developer" && !hasDevelopers ? { ...message, role: "system" } : message,
    ),
    ...(tools.length > 0 && { tools: tools.map((tool) => templateTool(tool, template)) }),
  };
}

const messagesOf = (messages: readonly Message[], form: Form): JsonObject[] =>
  turnsOf(messages).flatMap((turn): JsonObject[] => {
    if (turn.side !== "assistant") return [{ role: turn.side, content: contentOf(turn.content) }];
    return turn.rounds.flatMap(({ said, results }) => [
      ...(said ? [saidMessage(said, form)] : []),
      ...results.map(({ id, name, output }) => ({ role: "tool", tool_call_id: id, name, content: resultText(plainOutput(output)) })),
    ]);
  });

/** A plain text where there is no more to it: half of the templates know nothing else. */
function contentOf(parts: readonly Part[]): Json {
  if (!parts.some(({ type }) => type === "media")) return textOf(parts);
  return parts.flatMap((part): Json[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    return part.type === "media" ? [{ type: part.mediaType.split("/")[0] ?? "image" }] : [];
  });
}

function saidMessage(said: readonly Part[], form: Form): JsonObject {
  const calls = callsOf(said);
  const thinking = thinkingOf(said);
  return {
    role: "assistant",
    content: said.flatMap((part) => (part.type === "text" ? part.text : part.type === "malformed" ? part.raw : [])).join(""),
    ...(thinking !== "" && { reasoning_content: thinking }),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => templateCall(call, form)) }),
  };
}

const templateCall = (call: ToolCall, { argumentsAsText }: Form): JsonObject => ({
  id: call.id,
  type: "function",
  function: { name: call.name, arguments: argumentsAsText ? argumentsText(call) : call.arguments },
});

/** A template that prints tools as JSON gets them as they are; one that walks through their properties gets one type for each. */
function templateTool(tool: Tool, template: string): JsonObject {
  if (!template.includes("properties")) return functionTool(tool);
  const parameters = tool.parameters ?? { type: "object", properties: {} };
  return functionTool({ ...tool, description: tool.description ?? "", parameters: singleTypes(parameters) });
}

function singleTypes(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]): [string, Json][] => {
      if (key !== "type" || !Array.isArray(value)) return [[key, inside(value)]];
      const types = value.filter((type) => type !== "null");
      return [["type", types[0] ?? "null"], ...(types.length < value.length ? [["nullable", true] satisfies [string, Json]] : [])];
    }),
  );
}

const inside = (value: Json): Json => (Array.isArray(value) ? value.map(inside) : isObject(value) ? singleTypes(value) : value);
