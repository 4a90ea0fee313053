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
import { withState } from "../opaque.ts";
import {
  defined,
  each,
  eachOf,
  fail,
  fields,
  flag,
  inside,
  list,
  listOf,
  NOT_EMPTY,
  name,
  number,
  object,
  objectOf,
  oneOf,
  readBody,
  someOf,
  text,
  valueAt,
  words,
} from "../read.ts";
import { readSampling, readStop, Source } from "../request-in.ts";
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

const SETTINGS = "model tools stream think options format";
const CHAT = words(`messages ${SETTINGS}`);
const PROMPT = words(`system prompt images ${SETTINGS}`);
const OPTIONS = words("stop", SAMPLING);
const LIMITED = words("stop num_predict", SAMPLING);

export function decodeRequest({ path, body }: WireInput): Request {
  const root = readBody(body);
  const from = new Source(WIRE, QUIET);
  const options = object(root, "options") ?? {};
  const isPrompt = path.endsWith("/generate");
  const think = valueAt(root, "think");
  const limit = number(options, "num_predict", "options") ?? 0;
  const request = {
    model: name(root, "model"),
    messages: isPrompt ? readPrompt(root) : readMessages(root, from, new ArgumentTexts(body, "arguments")),
    tools: someOf(each(root, "tools", "", (tool, at) => readTool(tool, at, from)).flat()),
    stream: flag(root, "stream") === false ? (false as const) : ("ndjson" as const),
    thinking:
      typeof think === "string" ? oneOf(EFFORTS, root, "think") : think === undefined ? think : { enabled: flag(root, "think") === true },
    sampling: readSampling(options, SAMPLING, "options"),
    maxTokens: limit < 1 ? undefined : limit,
    stop: readStop(options, "stop", "options"),
    output: readFormat(root),
  };
  from.keep("options", options, limit < 1 ? OPTIONS : LIMITED); // below 1 it is no limit, but another setting
  return from.request(root, isPrompt ? PROMPT : CHAT, request, isPrompt ? [{ wire: WIRE, kind: GENERATE, data: true, quiet: true }] : []);
}

/** No prompt at all asks only to load the model, or to unload it: there is nothing to say. */
function readPrompt(root: JsonObject): Message[] {
  const [system, prompt] = [text(root, "system"), text(root, "prompt")];
  const content = [...readImages(root, ""), ...textParts(prompt)];
  return [
    ...(system ? [{ role: "system" as const, content: textParts(system) }] : []),
    ...(content.length > 0 ? [{ role: "user" as const, content }] : []),
  ];
}

const GIVEN = words("role content images");
const SAID = words("role content images thinking tool_calls");
const RESULT = words("role content images tool_name name tool_call_id");

function readMessages(root: JsonObject, from: Source, texts: ArgumentTexts): Message[] {
  const messages = list(root, "messages");
  from.calls = new Calls(() => messages.flatMap((message) => listOf(objectOf(message).tool_calls)).map((call) => objectOf(call).id));
  return eachOf(messages, "messages", (message, at) => readMessage(message, at, from, texts));
}

function readMessage(message: JsonObject, at: string, from: Source, texts: ArgumentTexts): Message {
  const role = oneOf(ROLES, { role: text(message, "role", at)?.toLowerCase() ?? null }, "role", at);
  const said = text(message, "content", at);
  const media = readImages(message, at);
  if (role === "tool") {
    const [called, older] = [text(message, "tool_name", at), text(message, "name", at)];
    const call = from.calls.answer({ id: text(message, "tool_call_id", at), name: called || older });
    return withState(defined<ToolResult>({ role, ...call, output: said ?? "", media: someOf(media) }), from.state(message, RESULT));
  }
  const content = [...media, ...textParts(said)];
  if (role !== "assistant") return withState({ role, content }, from.state(message, GIVEN));
  const thinking = text(message, "thinking", at);
  const parts: Part[] = [
    ...(thinking ? [{ type: "thinking" as const, text: thinking }] : []),
    ...content,
    ...each(message, "tool_calls", at, (call, place) => readCall(call, place, from, texts)),
  ];
  return withState({ role, content: parts }, from.state(message, SAID));
}

const textParts = (said: string | undefined) => (said ? [{ type: "text" as const, text: said }] : []);

const readImages = (from: JsonObject, at: string): Media[] =>
  list(from, "images", at).map((data: Json, i) => {
    if (typeof data !== "string" || data === "") fail(`${inside(at, "images")}[${i}]`, NOT_EMPTY, data);
    if (/^(?:data|https?):/.test(data)) return mediaFromUrl(data, "image/*");
    return { type: "media", mediaType: SIGNATURES.find(([bytes]) => bytes.test(data))?.[1] ?? "image/*", data };
  });

const CALL = words("id type function");
const FUNCTION = words("index name arguments");

/** Its API wants an object as the arguments; clients made for OpenAI's send its text. */
function readCall(call: JsonObject, at: string, from: Source, texts: ArgumentTexts): ToolCall | Malformed {
  const [fn, place] = [object(call, "function", at) ?? {}, inside(at, "function")];
  const named = from.calls.add(text(call, "id", at), name(fn, "name", place));
  const state = [...(from.state(call, CALL) ?? []), ...(from.inner("function", fn, FUNCTION) ?? [])];
  return from.call(named, fn, "arguments", place, state, texts.take(fn.arguments ?? {}).json);
}

const OUTER = words("type function");
const INNER = words("", TOOL);
const BARE = words("type", TOOL);

function readTool(tool: JsonObject, at: string, from: Source): Tool[] {
  const type = text(tool, "type", at) ?? "function";
  if (type !== "function") {
    from.unknown(at, tool, "tool", type);
    return [];
  }
  const fn = object(tool, "function", at);
  const place = fn ? inside(at, "function") : at;
  const read: Tool = { name: name(fn ?? tool, "name", place), ...fields<Tool>(fn ?? tool, TOOL, place) };
  return [fn ? withState(read, from.state(tool, OUTER), from.inner("function", fn, INNER)) : withState(read, from.state(tool, BARE))];
}

function readFormat(root: JsonObject): Request["output"] {
  const format = valueAt(root, "format");
  if (typeof format !== "string") return format === undefined ? format : { schema: object(root, "format") ?? {} };
  return format === "" ? undefined : oneOf({ json: {} }, root, "format");
}
