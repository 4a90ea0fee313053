/** Clients' requests to `/api/chat`, and to `/api/generate`, whose prompt becomes a user message. */
import type { Malformed, Media, Message, Part, Request, Sampling, ThinkingSettings, Tool, ToolCall, ToolResult } from "../../core/nouns.ts";
import type { Fields } from "../fields.ts";
import { mediaFromUrl } from "../media.ts";
import { opaque, withState } from "../opaque.ts";
import { defined, entryOf, isText, type Meanings, meaningIn, someOf, spelling, words } from "../read.ts";
import { readLimit, readStop, Source } from "../request-in.ts";
import type { WireInput } from "../wire.ts";
import { GENERATE, SAMPLING, TOOL, WIRE } from "./common.ts";

const ROLES = spelling("system developer user assistant tool");

const EFFORTS = spelling("low medium high max");

/** How long a server keeps a model, and what it does with a long prompt, does not concern other servers. */
const quiet = words("keep_alive truncate shift");

/** Media come without their type: it is told by their first bytes, here in base64. */
const SIGNATURES: Meanings<string> = [
  [/^iVBORw0KGgo/, "image/png"],
  [/^\/9j\//, "image/jpeg"],
  [/^R0lGOD/, "image/gif"],
  [/^UklGR.{7}RUJQ/, "image/webp"],
  [/^UklGR.{7}QVZF/, "audio/wav"],
  [/^(?:SUQz|\/\/[uvs])/, "audio/mpeg"],
];

export function decodeRequest({ path, body }: WireInput): Request {
  const from = new Source(WIRE, body, { quiet, args: "arguments" });
  const { root } = from;
  const isPrompt = path.endsWith("/generate");
  const options = root.inner("options");
  const request = {
    model: root.name("model"),
    messages: isPrompt ? readPrompt(root) : readMessages(root, from),
    tools: someOf(root.each("tools", (tool) => readTool(tool, from)).flat()),
    stream: root.flag("stream") === false ? (false as const) : ("ndjson" as const),
    thinking: readThinking(root),
    sampling: options.some<Sampling>(SAMPLING),
    maxTokens: readLimit(options, from, "num_predict"),
    stop: readStop(options, "stop"),
    output: readFormat(root),
  };
  return from.request(request, isPrompt ? [opaque(WIRE, GENERATE, true, true)] : []);
}

function readThinking(root: Fields): ThinkingSettings | undefined {
  if (isText(root.value.think)) return { effort: root.word("think", EFFORTS) };
  return root.some<ThinkingSettings>({ think: "enabled" });
}

/** A request without a prompt only loads or unloads the model: it has no messages. */
function readPrompt(root: Fields): Message[] {
  const rules = textParts(root.text("system"));
  const content = [...readImages(root), ...textParts(root.text("prompt"))];
  const messages: Message[] = [];
  if (rules.length > 0) messages.push({ role: "system", content: rules });
  if (content.length > 0) messages.push({ role: "user", content });
  return messages;
}

function readMessages(root: Fields, from: Source): Message[] {
  const out: Message[] = [];
  root.each("messages", (message) => {
    const last = out.at(-1);
    if (last?.role === "tool" && isMore(message, from)) out[out.length - 1] = withMore(last, message);
    else out.push(readMessage(message, from));
  });
  return out;
}

/** Whether a message continues the result before it: strands sends each text and image of a result as a message without id or name. */
const isMore = (message: Fields, from: Source): boolean =>
  message.text("role") === "tool" &&
  message.text("tool_call_id") === undefined &&
  message.text("tool_name", "name") === undefined &&
  (message.text("content") === undefined || !from.calls.areWaiting);

function withMore(result: ToolResult, message: Fields): Message {
  const output = [result.output, message.text("content")].filter(Boolean).join("\n");
  const media = someOf([...(result.media ?? []), ...readImages(message)]);
  return withState(defined<ToolResult>({ ...result, output, media }), message.state());
}

function readMessage(message: Fields, from: Source): Message {
  const role = entryOf(ROLES, message.text("role")?.toLowerCase()) ?? message.word("role", ROLES);
  const said = message.text("content");
  const media = readImages(message);
  if (role === "tool") {
    const named = from.calls.answer({ id: message.text("tool_call_id"), name: message.text("tool_name", "name") });
    return withState(defined<ToolResult>({ role, ...named, output: said ?? "", media: someOf(media) }), message.state());
  }
  const parts = [...media, ...textParts(said)];
  if (role !== "assistant") return withState({ role, content: parts }, message.state());
  const thinking = message.text("thinking");
  const content: Part[] = [...(thinking ? [{ type: "thinking" as const, text: thinking }] : []), ...parts];
  content.push(...message.each("tool_calls", (call) => readCall(call, from)));
  return withState({ role, content }, message.state());
}

const textParts = (said: string | undefined) => (said ? [{ type: "text" as const, text: said }] : []);

const readImages = (given: Fields): Media[] =>
  given.names("images").map((data) => {
    if (/^(?:data|https?):/.test(data)) return mediaFromUrl(data, "image/*");
    return { type: "media", mediaType: meaningIn(SIGNATURES, data) ?? "image/*", data };
  });

/** Ollama's API wants an object as arguments; clients made for OpenAI's API send JSON text. */
function readCall(call: Fields, from: Source): ToolCall | Malformed {
  const fn = call.inner("function");
  call.ask("type");
  fn.ask("index");
  const read = from.call(fn, "arguments", from.calls.add(call.text("id"), fn.name("name")));
  return withState(read, call.state());
}

function readTool(tool: Fields, from: Source): Tool[] {
  if ((tool.text("type") ?? "function") !== "function") return from.unknown(tool, "tool");
  const spec = tool.object("function") ?? tool;
  const name = spec.name("name");
  return [withState({ ...spec.read<Tool>(TOOL), name }, tool.state())];
}

function readFormat(root: Fields): Request["output"] {
  const format = root.json("format");
  if (isText(format)) return format === "" ? undefined : root.word("format", { json: {} });
  const schema = root.thing("format")?.value;
  return schema && { schema };
}
