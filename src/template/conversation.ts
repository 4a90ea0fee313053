/**
 * A request as chat templates expect it: OpenAI's messages and tools, without what templates cannot handle. They expect text where clients
 * send null, a name in every result, an object as arguments, `system` instead of `developer`, and one type where JSON Schema allows
 * several. Some need further changes, which `Form` lists.
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Message, Part, Request, Tool, ToolCall } from "../core/nouns.ts";
import { schemaTypes } from "../core/schema.ts";
import {
  argumentsText,
  argumentsTree,
  entriesOf,
  itemsOf,
  Numeral,
  nineCharacters,
  pythonJson,
  pythonNumber,
  type Tree,
} from "../dialects/print.ts";
import { functionObject, functionTool } from "../dialects/tools.ts";
import { type Answer, alternating, callsOf, type Round, resultText, textOf, thinkingOf, turnsOf } from "../dialects/transcript.ts";

export interface Conversation {
  messages: JsonObject[];
  tools?: JsonObject[];
}

/** Changes that only some templates need. */
export interface Form {
  /** Arguments as JSON text, which older templates concatenate with strings. */
  readonly argumentsAsText?: true;
  /** Empty lists instead of absent tools and calls, for templates that iterate without a check. */
  readonly emptyTools?: true;
  /** Ids of nine letters and digits. */
  readonly nineCharacters?: true;
  /** User and assistant messages alternate, after at most one system message. */
  readonly alternating?: true;
  /** The same without a system message: its text is put at the beginning of the first user message. */
  readonly noSystem?: true;
  /** All leading system messages as one. */
  readonly oneSystem?: true;
  /** Content as a list of parts, even if it is only text. */
  readonly parts?: true;
  /** Every tool and property has a description, every tool has parameters, every array has `items`. */
  readonly described?: true;
  /** Every property has a type, even if the schema allows anything. */
  readonly typed?: true;
  /** In schemas, `"None"` instead of null. */
  readonly nullsAsWords?: true;
  /** Text beside calls is appended to the thinking. */
  readonly saidInThinking?: true;
  /** One call per message, followed by its result. */
  readonly oneCall?: true;
  /** The nearest thinking effort that the template knows: Qwen3.8 has `xhigh` but no `high`, others the reverse. */
  readonly nearEffort?: true;
}

/** The template, and how the conversation is prepared for it. */
interface Sheet {
  readonly template: string;
  readonly form: Form;
  /** Replaces a number whose spelling JavaScript would change. */
  readonly numeral: (numeral: Numeral) => number;
}

export function conversationOf({ messages, tools = [] }: Request, sheet: Sheet): Conversation {
  const { template, form } = sheet;
  const hasDevelopers = template.includes("developer");
  const said = messagesOf(inOrder(messages, form), sheet).map((message) =>
    message.role === "developer" && !hasDevelopers ? { ...message, role: "system" } : message,
  );
  const known = tools.map((tool) => templateTool(tool, sheet));
  const shape = SHAPES.find(([mark]) => template.includes(mark))?.[1];
  return {
    messages: shape ? shape(said, tools, known) : said,
    ...((tools.length > 0 || form.emptyTools) && { tools: known }),
  };
}

/** Templates of older models that expect other message fields than all others, by a string that only they contain. */
const SHAPES: readonly [mark: string, shape: (said: readonly JsonObject[], tools: readonly Tool[], known: JsonObject[]) => JsonObject[]][] =
  [
    ["+ message['tools']", (said, tools) => (tools.length > 0 ? withTools(said, tools) : [...said])],
    [
      "item['metadata']",
      (said, _, known) => [...(known.length > 0 ? [{ role: "system", content: "", tools: known }] : []), ...said.flatMap(withMetadata)],
    ],
  ];

/** GLM-4 has each call in its own message, with the tool's name as `metadata`, and results with the role `observation`. */
function withMetadata({ role, content = "", tool_calls: calls = [] }: JsonObject): JsonObject[] {
  if (role === "tool") return [{ role: "observation", metadata: "", content }];
  const made = (calls as JsonObject[]).map(({ function: called }) => {
    const { name = "", arguments: args = {} } = called as JsonObject;
    return { role: "assistant", metadata: name, content: typeof args === "string" ? args : pythonJson(args) };
  });
  return [...(content === "" && made.length > 0 ? [] : [{ role: role ?? "", metadata: "", content }]), ...made];
}

/** Phi-4-mini's template expects the tools in the system message, as text. */
function withTools(messages: readonly JsonObject[], tools: readonly Tool[]): JsonObject[] {
  const [first, ...rest] = messages;
  const system = first?.role === "system" ? first : { role: "system", content: "" };
  return [{ ...system, tools: pythonJson(tools.map(functionObject)) }, ...(first && first !== system ? [first] : []), ...rest];
}

const isSystem = (message: Message): boolean => message.role === "system" || message.role === "developer";

function inOrder(messages: readonly Message[], { alternating: ordered, noSystem, oneSystem }: Form): readonly Message[] {
  if (oneSystem) {
    const end = messages.findIndex((message) => !isSystem(message));
    const start = end < 0 ? messages.length : end;
    return [...alternating(messages.slice(0, start)), ...messages.slice(start)];
  }
  if (!ordered && !noSystem) return messages;
  const systems = messages.filter(isSystem).map((message): Message => (noSystem ? ({ ...message, role: "user" } as Message) : message));
  return joined(alternating([...systems, ...messages.filter((message) => !isSystem(message))]));
}

/** Successive answers without calls become one, too: templates drop the text beside a call, so those stay apart. */
function joined(messages: readonly Message[]): Message[] {
  const out: Message[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    if (last?.role !== "assistant" || message.role !== "assistant" || callsOf([...last.content, ...message.content]).length > 0)
      out.push(message);
    else out[out.length - 1] = { ...last, content: [...last.content, { type: "text", text: "\n\n" }, ...message.content] };
  }
  return out;
}

const messagesOf = (messages: readonly Message[], sheet: Sheet): JsonObject[] =>
  turnsOf(messages).flatMap((turn): JsonObject[] => {
    if (turn.side !== "assistant") return [{ role: turn.side, content: contentOf(turn.content, sheet) }];
    const rounds = sheet.form.oneCall ? turn.rounds.flatMap(callByCall) : turn.rounds;
    return rounds.flatMap(({ said, results }) => [
      ...(said ? [saidMessage(said, sheet)] : []),
      ...results.map((result) => ({
        role: "tool",
        tool_call_id: idOf(result.id, sheet),
        name: result.name,
        content: contentOf([{ type: "text", text: resultText(result.output, "\n") }, ...(result.media ?? [])], sheet),
      })),
    ]);
  });

function callByCall({ said = [], results }: Round): Round[] {
  const [first, ...calls] = callsOf(said);
  const answers = (call: ToolCall) => results.filter((result) => result.call === call);
  // The first call takes all that answer no call of this message: late results of an earlier one, or results without any.
  const isLater = ({ call }: Answer) => call !== undefined && calls.includes(call);
  return [
    { said: said.filter((part) => part.type !== "tool-call" || part === first), results: results.filter((result) => !isLater(result)) },
    ...calls.map((call) => ({ said: [call], results: answers(call) })),
  ];
}

const idOf = (id: string, { form }: Sheet): string => (form.nineCharacters ? nineCharacters(id) : id);

/** A plain string, unless there are media that the template knows: half of the templates accept only strings. */
function contentOf(content: readonly Part[], { template, form }: Sheet): Json {
  const parts = content.flatMap((part): JsonObject[] => {
    if (part.type === "text") return [{ type: "text", text: part.text }];
    const kind = part.type === "media" ? (part.mediaType.split("/")[0] ?? "") : "";
    return kind && template.includes(kind) ? [{ type: kind }] : [];
  });
  return form.parts || parts.some(({ type }) => type !== "text") ? parts : textOf(content);
}

function saidMessage(said: readonly Part[], sheet: Sheet): JsonObject {
  const calls = callsOf(said);
  const text = said.flatMap((part) => (part.type === "text" ? part.text : part.type === "malformed" ? part.raw : [])).join("");
  const isThought = sheet.form.saidInThinking && calls.length > 0;
  const thinking = [thinkingOf(said), isThought ? text : ""].filter(Boolean).join("\n\n");
  return {
    role: "assistant",
    ...thoughtAndContent(thinking, isThought ? "" : text, sheet),
    ...((calls.length > 0 || sheet.form.emptyTools) && { tool_calls: calls.map((call) => templateCall(call, sheet)) }),
  };
}

/** Thinking in the field that the template reads; some templates expect it as a part of the content. */
function thoughtAndContent(thinking: string, text: string, sheet: Sheet): JsonObject {
  const { template } = sheet;
  const content = contentOf([{ type: "text", text }], sheet);
  if (thinking === "") return { content };
  if (/== *["']thinking["']/.test(template))
    return {
      content: [
        { type: "thinking", thinking },
        { type: "text", text },
      ],
    };
  const name = ["reasoning_content", "reasoning", "thinking"].find((name) => new RegExp(`[."']${name}\\b`).test(template));
  return { content, [name ?? "reasoning_content"]: thinking };
}

const templateCall = (call: ToolCall, sheet: Sheet): JsonObject => ({
  id: idOf(call.id, sheet),
  type: "function",
  function: { name: call.name, arguments: sheet.form.argumentsAsText ? argumentsText(call) : plainJson(argumentsTree(call), sheet) },
});

/** Numbers are spelled as in Python, as in the model's training. */
function plainJson(value: Tree, sheet: Sheet): Json {
  if (typeof value === "number") return sheet.numeral(new Numeral(pythonNumber(value)));
  if (value instanceof Numeral) return sheet.numeral(value);
  if (Array.isArray(value)) return itemsOf(value).map((item) => plainJson(item, sheet));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(entriesOf(value).map(([key, item]) => [key, plainJson(item, sheet)]));
  return value;
}

/** A template that prints tools as JSON gets them unchanged; one that iterates over their properties gets a single type for each. */
function templateTool(given: Tool, sheet: Sheet): JsonObject {
  const { template, form } = sheet;
  const tool = given.parameters ? { ...given, parameters: plainJson(given.parameters, sheet) as JsonObject } : given;
  const { parameters = form.described && { type: "object" } } = tool;
  if (!parameters || !(template.includes("properties") || form.described)) return functionTool(tool);
  if (!form.described) return functionTool({ ...tool, parameters: singleTypes(parameters, form) });
  return functionTool({ description: "", ...tool, parameters: singleTypes(described(parameters), form) });
}

function described(schema: JsonObject): JsonObject {
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, property]) => [
    name,
    isObject(property)
      ? { ...property, description: property.description ?? "", ...(property.type === "array" && { items: property.items ?? {} }) }
      : property,
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

function singleTypes(schema: JsonObject, form: Form, root = schema): JsonObject {
  const inside = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, insideOf(key, value, form, root)]));
  if (typeof schema.type === "string" || (schema.type === undefined && !form.typed)) return inside;
  const types = schemaTypes({ schema, root });
  const type = types.find((one) => one !== "null") ?? types[0] ?? (schema === root ? "object" : "string");
  return { ...inside, type, ...(types.length > 1 && types.includes("null") && { nullable: true }) };
}

function insideOf(key: string, value: Json, form: Form, root: JsonObject): Json {
  if (value === null && form.nullsAsWords) return "None";
  if (key === "items" && isObject(value)) return singleTypes(value, form, root);
  if (key !== "properties" || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, property]) => [name, isObject(property) ? singleTypes(property, form, root) : property]),
  );
}
