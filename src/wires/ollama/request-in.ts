/** Requests of clients: of `/api/chat`, and of `/api/generate` with its prompt as a user message. */
import type { Malformed, Media, Message, Opaque, Part, Request, ThinkingSettings, Tool, ToolCall, ToolResult } from "../../core/nouns.ts";
import { Calls } from "../calls.ts";
import { mediaFromUrl } from "../media.ts";
import { withState } from "../opaque.ts";
import { defined, type Field, readBody, someOf, words } from "../read.ts";
import { readSampling, readStop, Source } from "../request-in.ts";
import { ArgumentTexts } from "../spans.ts";
import type { WireInput } from "../wire.ts";
import { GENERATE, SAMPLING, WIRE } from "./common.ts";

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
  const root = readBody(body);
  const from = new Source(WIRE, QUIET);
  const options = root.at("options");
  const isPrompt = path.endsWith("/generate");
  const think = root.at("think");
  const request = {
    model: root.at("model").name(),
    messages: isPrompt ? readPrompt(root) : readMessages(root.at("messages").list(), from, new ArgumentTexts(body, "arguments")),
    tools: someOf(
      root
        .at("tools")
        .list()
        .flatMap((tool) => readTool(tool, from)),
    ),
    stream: root.at("stream").boolean() === false ? (false as const) : ("ndjson" as const),
    thinking: typeof think.value === "string" ? think.oneOf(EFFORTS) : think.given ? { enabled: think.boolean() === true } : undefined,
    sampling: readSampling(options, SAMPLING),
    maxTokens: readLimit(options),
    stop: readStop(options.at("stop")),
    output: readFormat(root.at("format")),
  };
  from.keep(options);
  return from.request(root, request, isPrompt ? [{ wire: WIRE, kind: GENERATE, data: true, quiet: true }] : []);
}

/** No prompt at all asks only to load the model, or to unload it: there is nothing to say. */
function readPrompt(root: Field): Message[] {
  const [system, prompt] = [root.at("system").string(), root.at("prompt").string()];
  const content = [...root.at("images").list().map(readImage), ...textParts(prompt)];
  return [
    ...(system ? [{ role: "system" as const, content: textParts(system) }] : []),
    ...(content.length > 0 ? [{ role: "user" as const, content }] : []),
  ];
}

function readMessages(list: readonly Field[], from: Source, texts: ArgumentTexts): Message[] {
  from.calls = new Calls(list.flatMap((message) => message.at("tool_calls").list()).map((call) => call.at("id").value));
  return list.map((message) => {
    const read = readMessage(message, from, texts);
    return withState(read, from.state(message));
  });
}

function readMessage(message: Field, from: Source, texts: ArgumentTexts): Message {
  const given = message.at("role");
  const role = given.as(given.string()?.toLowerCase()).oneOf(ROLES);
  const text = message.at("content").string();
  const media = message.at("images").list().map(readImage);
  if (role === "tool") {
    const [name, older] = [message.at("tool_name").string(), message.at("name").string()];
    const call = from.calls.answer({ id: message.at("tool_call_id").string(), name: name || older });
    return defined<ToolResult>({ role, ...call, output: text ?? "", media: someOf(media) });
  }
  const content = [...media, ...textParts(text)];
  if (role !== "assistant") return { role, content };
  const thinking = message.at("thinking").string();
  const calls = message.at("tool_calls").list();
  const parts: Part[] = [
    ...(thinking ? [{ type: "thinking" as const, text: thinking }] : []),
    ...content,
    ...calls.map((call) => readCall(call, from, texts)),
  ];
  return { role, content: parts };
}

const textParts = (text: string | undefined) => (text ? [{ type: "text" as const, text }] : []);

function readImage(image: Field): Media {
  const data = image.name();
  if (/^(?:data|https?):/.test(data)) return mediaFromUrl(data, "image/*");
  return { type: "media", mediaType: SIGNATURES.find(([bytes]) => bytes.test(data))?.[1] ?? "image/*", data };
}

/** What of a call or a tool nobody has read, the keys inside `function` apart. */
const wrappedState = (field: Field, fn: Field, from: Source): Opaque[] => [
  ...from.state(field),
  ...(fn === field ? [] : from.inner("function", fn)),
];

/** Its API wants an object as the arguments; clients made for OpenAI's send its text. */
function readCall(call: Field, from: Source, texts: ArgumentTexts): ToolCall | Malformed {
  const fn = call.at("function");
  const named = from.calls.add(call.at("id").string(), fn.at("name").name());
  const args = fn.at("arguments");
  fn.at("index");
  call.at("type");
  return from.call(named, args, wrappedState(call, fn, from), texts.take(args.value ?? {}).json);
}

function readTool(tool: Field, from: Source): Tool[] {
  const type = tool.at("type").string() ?? "function";
  if (type !== "function") {
    from.unknown(tool, "tool", type);
    return [];
  }
  const wrapped = tool.at("function");
  const fn = wrapped.given ? wrapped : tool;
  const [description, parameters] = [fn.at("description").string(), fn.at("parameters").object()];
  return [withState(defined<Tool>({ name: fn.at("name").name(), description, parameters }), wrappedState(tool, fn, from))];
}

/** Below 1 it is no limit, but another setting: it stays where it is. */
function readLimit(options: Field): number | undefined {
  const limit = options.object()?.num_predict;
  return typeof limit === "number" && limit < 1 ? undefined : options.at("num_predict").number();
}

function readFormat(format: Field): Request["output"] {
  if (typeof format.value !== "string") return format.given ? { schema: format.object() ?? {} } : undefined;
  if (format.value === "") return undefined;
  return format.oneOf({ json: {} });
}
