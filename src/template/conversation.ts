/**
 * A request as chat templates expect it: OpenAI's messages and tools, less what templates stumble over. They expect texts where clients
 * send null, a name on every result, an object for the arguments, `system` where clients say `developer`, one type where JSON Schema
 * allows several.
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Message, Part, Request, Tool, ToolCall } from "../core/nouns.ts";
import { schemaTypes } from "../core/schema.ts";
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
  /** No tools as an empty list: what templates want that walk through them without looking. */
  emptyTools?: boolean;
}

export function conversationOf({ messages, tools = [] }: Request, template: string, form: Form): Conversation {
  const hasDevelopers = template.includes("developer");
  return {
    messages: messagesOf(messages, template, form).map((message) =>
      message.role === "developer" && !hasDevelopers ? { ...message, role: "system" } : message,
    ),
    ...((tools.length > 0 || form.emptyTools) && { tools: tools.map((tool) => templateTool(tool, template)) }),
  };
}

const messagesOf = (messages: readonly Message[], template: string, form: Form): JsonObject[] =>
  turnsOf(messages).flatMap((turn): JsonObject[] => {
    if (turn.side !== "assistant") return [{ role: turn.side, content: contentOf(turn.content, template) }];
    return turn.rounds.flatMap(({ said, results }) => [
      ...(said ? [saidMessage(said, form)] : []),
      ...results.map(({ id, name, output }) => ({ role: "tool", tool_call_id: id, name, content: resultText(plainOutput(output)) })),
    ]);
  });

/** A plain text where there is no more to it that the template knows of: half of the templates know nothing else. */
function contentOf(parts: readonly Part[], template: string): Json {
  if (!parts.some((part) => part.type === "media" && template.includes(part.mediaType.split("/")[0] ?? ""))) return textOf(parts);
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

function singleTypes(schema: JsonObject, root = schema): JsonObject {
  const types = schemaTypes({ schema, root });
  const type = types.find((one) => one !== "null") ?? types[0] ?? "string"; // a template would fail without any
  return {
    ...Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, insideOf(key, value, root)])),
    type: typeof schema.type === "string" ? schema.type : type,
    ...(types.length > 1 && types.includes("null") && { nullable: true }),
  };
}

function insideOf(key: string, value: Json, root: JsonObject): Json {
  if (key === "items" && isObject(value)) return singleTypes(value, root);
  if (key !== "properties" || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, property]) => [name, isObject(property) ? singleTypes(property, root) : property]),
  );
}
