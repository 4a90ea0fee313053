/** Requests of clients: of `/api/chat`, and of `/api/generate` with its prompt as a user message. */
import type {
  Json,
  JsonObject,
  Malformed,
  Media,
  Message,
  Part,
  Request,
  ThinkingSettings,
  Tool,
  ToolCall,
  ToolResult,
} from "../../core/nouns.ts";
import { Calls } from "../calls.ts";
import { mediaFromUrl } from "../media.ts";
import { joined, withState } from "../opaque.ts";
import { defined, each, fields, flag, inside, list, name, number, object, oneOf, readBody, someOf, text, words } from "../read.ts";
import { idsOfCalls, readSampling, readStop, Source } from "../request-in.ts";
import { ArgumentTexts } from "../spans.ts";
import type { WireInput } from "../wire.ts";
import { GENERATE, SAMPLING, TOOL, WIRE } from "./common.ts";

const ROLES = { system: "system", developer: "developer", user: "user", assistant: "assistant", tool: "tool" } as const;

const EFFORTS: Readonly<Record<string, ThinkingSettings>> = {
  low: { effort: "low" },
  medium: { effort: "medium" },
  high: { effort: "high" },
  max: { effort: "max" },
};

/** How long a server keeps a model, and what it does with a long prompt, is no other server's business. */
const QUIET = words("keep_alive truncate shift");

/** Media come without their type; their first bytes tell it, in base64. */
const SIGNATURES: readonly (readonly [RegExp, string])[] = [
  [/^iVBORw0KGgo/, "image/png"],
  [/^\/9j\//, "image/jpeg"],
  [/^R0lGOD/, "image/gif"],
  [/^UklGR.{7}RUJQ/, "image/webp"],
  [/^UklGR.{7}QVZF/, "audio/wav"],
  [/^(?:SUQz|\/\/[uvs])/, "audio/mpeg"],
];

export function decodeRequest({ path, body }: WireInput): Request {
  const { model, tools, stream, think, options, format, ...others } = readBody(body);
  const from = new Source(WIRE, QUIET);
  const { stop, num_predict, ...settings } = object(options, "", "options") ?? {};
  const isPrompt = path.endsWith("/generate");
  const [messages, rest] = isPrompt ? readPrompt(others) : readMessages(others, from, new ArgumentTexts(body, "arguments"));
  const [sampling, optionsRest] = readSampling(settings, SAMPLING, "options");
  const limit = number(num_predict, "options", "num_predict") ?? 0;
  from.keep("options", limit < 1 ? { num_predict: num_predict ?? null, ...optionsRest } : optionsRest); // below 1 it is no limit, but another setting
  const request = {
    model: name(model, "", "model"),
    messages,
    tools: someOf(each(tools, "", "tools", (tool, at) => readTool(tool, at, from)).flat()),
    stream: flag(stream, "", "stream") === false ? (false as const) : ("ndjson" as const),
    thinking: readThinking(think),
    sampling,
    maxTokens: limit < 1 ? undefined : limit,
    stop: readStop(stop, "options", "stop"),
    output: readFormat(format),
  };
  return from.request(rest, request, isPrompt ? [{ wire: WIRE, kind: GENERATE, data: true, quiet: true }] : []);
}

function readThinking(think: Json | undefined): ThinkingSettings | undefined {
  if (typeof think === "string") return oneOf(EFFORTS, think, "", "think");
  const enabled = flag(think, "", "think");
  return enabled === undefined ? undefined : { enabled };
}

/** No prompt at all asks only to load the model, or to unload it: there is nothing to say. */
function readPrompt({ system, prompt, images, ...rest }: JsonObject): [Message[], rest: JsonObject] {
  const rules = textParts(text(system, "", "system"));
  const content = [...readImages(images, ""), ...textParts(text(prompt, "", "prompt"))];
  const messages: Message[] = [];
  if (rules.length > 0) messages.push({ role: "system", content: rules });
  if (content.length > 0) messages.push({ role: "user", content });
  return [messages, rest];
}

function readMessages({ messages, ...rest }: JsonObject, from: Source, texts: ArgumentTexts): [Message[], rest: JsonObject] {
  from.calls = new Calls(idsOfCalls(messages));
  return [each(messages, "", "messages", (message, at) => readMessage(message, at, from, texts)), rest];
}

function readMessage({ role: given, content, images, ...others }: JsonObject, at: string, from: Source, texts: ArgumentTexts): Message {
  const role = oneOf(ROLES, text(given, at, "role")?.toLowerCase(), at, "role");
  const said = text(content, at, "content");
  const media = readImages(images, at);
  if (role === "tool") {
    const { tool_name, name: older, tool_call_id, ...rest } = others;
    const named = text(tool_name, at, "tool_name") || text(older, at, "name");
    const call = from.calls.answer({ id: text(tool_call_id, at, "tool_call_id"), name: named });
    return withState(defined<ToolResult>({ role, ...call, output: said ?? "", media: someOf(media) }), from.state(rest));
  }
  const parts: Part[] = [...media, ...textParts(said)];
  if (role !== "assistant") return withState({ role, content: [...media, ...textParts(said)] }, from.state(others));
  const { thinking, tool_calls, ...rest } = others;
  const thought = text(thinking, at, "thinking");
  if (thought) parts.unshift({ type: "thinking", text: thought });
  parts.push(...each(tool_calls, at, "tool_calls", (call, place) => readCall(call, place, from, texts)));
  return withState({ role, content: parts }, from.state(rest));
}

const textParts = (said: string | undefined) => (said ? [{ type: "text" as const, text: said }] : []);

const readImages = (images: Json | undefined, at: string): Media[] =>
  list(images, at, "images").map((image, i) => {
    const data = name(image, at, `images[${i}]`);
    if (/^(?:data|https?):/.test(data)) return mediaFromUrl(data, "image/*");
    return { type: "media", mediaType: SIGNATURES.find(([bytes]) => bytes.test(data))?.[1] ?? "image/*", data };
  });

/** Its API wants an object as the arguments; clients made for OpenAI's send its text. */
function readCall(
  { id, type: _type, function: given, ...rest }: JsonObject,
  at: string,
  from: Source,
  texts: ArgumentTexts,
): ToolCall | Malformed {
  const { index: _index, name: called, arguments: args, ...inner } = object(given, at, "function") ?? {};
  const place = inside(at, "function");
  const named = from.calls.add(text(id, at, "id"), name(called, place, "name"));
  const state = joined(from.state(rest), from.inner("function", inner));
  return from.call(named, args, place, "arguments", state, texts.take(args ?? {}));
}

function readTool({ type: given, ...tool }: JsonObject, at: string, from: Source): Tool[] {
  const type = text(given, at, "type") ?? "function";
  if (type !== "function") {
    from.unknown(at, { type, ...tool }, "tool", type);
    return [];
  }
  const { function: wrapped, ...outer } = tool;
  const fn = object(wrapped, at, "function");
  const place = fn ? inside(at, "function") : at;
  const [read, rest] = fields<Tool>(fn ?? tool, TOOL, place);
  const made: Tool = { ...read, name: name((fn ?? tool).name, place, "name") };
  return [fn ? withState(made, from.state(outer), from.inner("function", rest)) : withState(made, from.state(rest))];
}

function readFormat(format: Json | undefined): Request["output"] {
  if (typeof format === "string") return format === "" ? undefined : oneOf({ json: {} }, format, "", "format");
  const schema = object(format, "", "format");
  return schema && { schema };
}
