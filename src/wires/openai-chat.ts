/**
 * OpenAI's chat completions (`POST /v1/chat/completions`), as its own API and the many servers that speak it have it:
 *
 *     {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [{"type": "function", "function": {"name": "f"}}]}
 */
import { isObject } from "../core/json.ts";
import type {
  Json,
  JsonObject,
  Malformed,
  Media,
  Message,
  Opaque,
  Part,
  Request,
  Sampling,
  Text,
  Thinking,
  ThinkingSettings,
  Tool,
  ToolCall,
  ToolChoice,
  ToolResult,
  Warning,
} from "../core/nouns.ts";
import { deeperThan, defined, type Field, readBody } from "./read.ts";
import type { Wire, WireInput } from "./wire.ts";

const WIRE = "openai-chat";

// ---- Requests of clients

function decodeRequest({ body }: WireInput): Request {
  const root = readBody(body);
  const rest = new Unmodelled();
  const n = root.at("n");
  if ((n.number() ?? 1) !== 1) n.fail("must be 1: ask once more for another answer");
  const tools = [...root.at("tools").list(), ...root.at("functions").list()].flatMap((tool) => decodeTool(tool, rest));
  const limits = [root.at("max_completion_tokens").number(), root.at("max_tokens").number()];
  const effort = root.at("reasoning_effort");
  const stream = root.at("stream").boolean();
  return defined<Request>({
    model: root.at("model").string() ?? "",
    messages: decodeMessages(root.at("messages"), rest),
    tools: someOf(tools),
    toolChoice: decodeToolChoice(root.at("tool_choice"), root.at("function_call"), tools),
    parallelCalls: root.at("parallel_tool_calls").boolean(),
    stream: stream ? "sse" : stream,
    thinking: effort.given ? effort.oneOf(EFFORTS) : undefined,
    sampling: decodeSampling(root),
    maxTokens: limits.find((limit) => limit !== undefined),
    stop: decodeStop(root.at("stop")),
    output: decodeOutput(root.at("response_format"), rest),
    extra: someOf([...stateOf(root), ...rest.extra]), // last: by now all that is modelled was read
    warnings: someOf(rest.warnings),
  });
}

/** What the nouns have no place for: it goes along with the request, by the path where it stood. */
class Unmodelled {
  readonly extra: Opaque[] = [];
  readonly warnings: Warning[] = [];

  keep(field: Field): void {
    const data = field.rest();
    if (data) this.extra.push({ wire: WIRE, kind: field.path, data });
  }

  warn(field: Field, code: string, what: string): void {
    this.extra.push({ wire: WIRE, kind: field.path, data: field.value ?? null });
    this.warnings.push({ code, message: `${field.path} ${what}` });
  }
}

/** The keys that nobody has read, each on its own. */
const stateOf = (field: Field): Opaque[] => Object.entries(field.rest() ?? {}).map(([kind, data]) => ({ wire: WIRE, kind, data }));

const someOf = <T>(list: T[]): T[] | undefined => (list.length > 0 ? list : undefined);

// Messages

const ROLES = { system: "system", developer: "developer", user: "user", assistant: "assistant", tool: "tool", function: "tool" } as const;

function decodeMessages(list: Field, rest: Unmodelled): Message[] {
  const messages = list.list();
  if (messages.length === 0) list.fail("must be a list of messages that is not empty");
  const calls = new Calls(messages);
  return messages.map((message) => {
    const decoded = decodeMessage(message, calls, rest);
    rest.keep(message);
    return decoded;
  });
}

function decodeMessage(message: Field, calls: Calls, rest: Unmodelled): Message {
  const role = message.at("role").oneOf(ROLES);
  if (role === "tool") return decodeResult(message, calls, rest);
  if (role === "assistant") return { role, content: decodeAssistant(message, calls, rest) };
  const content = decodeContent(message.at("content"), rest);
  return { role, content: content.map((part) => (part.type === "thinking" ? { ...part, type: "text" } : part)) };
}

function decodeAssistant(message: Field, calls: Calls, rest: Unmodelled): Part[] {
  const reasoning = ["reasoning_content", "reasoning", "thinking"].map((key) => message.at(key).string()); // one thing, in three spellings
  const thinking = reasoning.find(Boolean);
  const content = decodeContent(message.at("content"), rest);
  const refusal = message.at("refusal").string();
  const toolCalls = message.at("tool_calls").list();
  const legacy = message.at("function_call");
  return [
    ...(thinking ? [{ type: "thinking" as const, text: thinking }] : []),
    ...content,
    ...(refusal ? [refused(refusal)] : []),
    ...toolCalls.map((call) => decodeCall(call, calls)),
    ...(legacy.object() ? [decodeFunction(legacy, calls.add("", legacy.at("name").name()), [])] : []),
  ];
}

function decodeResult(message: Field, calls: Calls, rest: Unmodelled): ToolResult {
  const given = { id: message.at("tool_call_id").string(), name: message.at("name").string() };
  const content = message.at("content");
  const parts = isPartList(content.value) ? decodeContent(content, rest) : [];
  const media = parts.filter((part) => part.type === "media");
  // Without media the parts stay as they are: templates differ in what they make of them.
  const output = media.length > 0 ? textOf(parts) : (content.value ?? "");
  return defined<ToolResult>({ role: "tool", ...calls.answer(given), output, media: someOf(media) });
}

const isPartList = (value: Json | undefined): boolean =>
  Array.isArray(value) && value.every((part) => isObject(part) && typeof part.type === "string" && Object.hasOwn(PARTS, part.type));

/** The calls of a conversation, so far: a call without an id gets one, a result without one answers a call that still waits. */
class Calls {
  readonly #taken: Set<unknown>;
  readonly #names = new Map<string, string>();
  readonly #waiting = new Map<string, string>();

  constructor(messages: readonly Field[]) {
    this.#taken = new Set(messages.flatMap((message) => message.at("tool_calls").list()).map((call) => call.at("id").value));
  }

  add(given: string | undefined, name: string): { id: string; name: string } {
    const id = given || this.#mint();
    this.#names.set(id, name);
    this.#waiting.set(id, name);
    return { id, name };
  }

  answer(given: { id: string | undefined; name: string | undefined }): { id: string; name: string } {
    const waiting = [...this.#waiting];
    const match = waiting.find(([, name]) => name === given.name) ?? waiting[0];
    const id = given.id || match?.[0] || this.#mint();
    this.#waiting.delete(id);
    return { id, name: given.name || this.#names.get(id) || "" };
  }

  #mint(): string {
    let n = 0;
    while (this.#taken.has(`call_${n}`)) n++;
    this.#taken.add(`call_${n}`);
    return `call_${n}`;
  }
}

// Content

type ContentPart = Text | Media | Thinking;

function decodeContent(content: Field, rest: Unmodelled): ContentPart[] {
  if (typeof content.value === "string") return content.value === "" ? [] : [{ type: "text", text: content.value }];
  if (content.value !== undefined && !Array.isArray(content.value)) content.fail("must be a string or a list of parts");
  return content.list().map((part) => {
    const decoded = part.at("type").oneOf(PARTS)(part, rest);
    if (decoded.type === "media") rest.keep(part);
    else if (part.rest()) decoded.state = [...(decoded.state ?? []), ...stateOf(part)];
    return decoded;
  });
}

/** The kinds of parts: OpenAI's own, those of other servers (`video_url`, `thinking`), and those of chat templates (`image`). */
const PARTS: Readonly<Record<string, (part: Field, rest: Unmodelled) => ContentPart>> = {
  text: (part) => ({ type: "text", text: part.at("text").string() ?? "" }),
  refusal: (part) => refused(part.at("refusal").string() ?? ""),
  thinking: (part, rest) => ({ type: "thinking", text: thinkingText(part.at("thinking"), rest) }),
  image_url: (part, rest) => linked(part.at("image_url"), "image", rest),
  video_url: (part, rest) => linked(part.at("video_url"), "video", rest),
  audio_url: (part, rest) => linked(part.at("audio_url"), "audio", rest),
  input_audio: (part, rest) => {
    const audio = part.at("input_audio");
    const format = audio.at("format").string() ?? "*";
    const data = audio.at("data").name();
    rest.keep(audio);
    return { type: "media", mediaType: `audio/${format}`, data };
  },
  file: (part, rest) => {
    const file = part.at("file");
    const [data, name] = [file.at("file_data").string(), file.at("filename").string()];
    rest.keep(file);
    return defined<Media>({ ...source(data, "application/octet-stream"), name });
  },
  image: (part) => source(part.at("image").string() ?? part.at("url").string(), "image/*"),
  audio: (part) => source(part.at("audio").string() ?? part.at("url").string(), "audio/*"),
  video: (part) => source(part.at("video").string() ?? part.at("url").string(), "video/*"),
};

/** A refusal is text that the model said; the state tells the same wire what it was. */
const refused = (text: string): Text => ({ type: "text", text, state: [{ wire: WIRE, kind: "refusal", data: text }] });

const thinkingText = (field: Field, rest: Unmodelled): string =>
  typeof field.value === "string" ? field.value : textOf(decodeContent(field, rest));

const textOf = (parts: readonly ContentPart[]): string => parts.map((part) => (part.type === "media" ? "" : part.text)).join("");

function linked(field: Field, kind: string, rest: Unmodelled): Media {
  if (typeof field.value === "string") return source(field.value, `${kind}/*`);
  const url = field.at("url").name();
  rest.keep(field);
  return source(url, `${kind}/*`);
}

/** Media from a URL; the bytes of a `data:` URL are taken out. */
function source(url: string | undefined, mediaType: string): Media {
  if (url === undefined) return { type: "media", mediaType };
  const comma = url.indexOf(",");
  const [type, ...parameters] = url.slice("data:".length, Math.max(comma, 0)).split(";");
  if (!url.startsWith("data:") || !parameters.includes("base64")) return { type: "media", mediaType, url };
  return { type: "media", mediaType: type || mediaType, data: url.slice(comma + 1) };
}

// Calls

/** A call deeper than any scanner reads cannot have been one. */
const MAX_CALL_DEPTH = 256;

function decodeCall(call: Field, calls: Calls): ToolCall | Malformed {
  const given = call.at("id").string();
  const custom = call.at("custom");
  call.at("type");
  call.at("index");
  if (custom.object()) {
    const input = custom.at("input").string() ?? "";
    const state: Opaque[] = [{ wire: WIRE, kind: "custom", data: true }, ...stateOf(call)];
    return { type: "tool-call", ...calls.add(given, custom.at("name").name()), arguments: { input }, state };
  }
  const fn = call.at("function");
  if (!fn.object()) fn.fail('must be an object with the "name" and the "arguments" of the call');
  return decodeFunction(fn, calls.add(given, fn.at("name").name()), stateOf(call));
}

function decodeFunction(fn: Field, { id, name }: { id: string; name: string }, state: Opaque[]): ToolCall | Malformed {
  const given = fn.at("arguments");
  const text = typeof given.value === "string" ? given.value : undefined;
  const value = text === undefined ? (given.object() ?? {}) : text.trim() === "" ? {} : parsed(text);
  if (isObject(value) && !deeperThan(value, MAX_CALL_DEPTH)) {
    const json = text?.trim() ? text : undefined;
    return defined<ToolCall>({ type: "tool-call", id, name, arguments: value, json, state: someOf(state) });
  }
  // An old call that nobody can read is no reason to refuse what comes after it.
  const code = isObject(value) ? "too-deep" : "bad-arguments";
  const raw = JSON.stringify({ name, arguments: given.value ?? "" });
  return { type: "malformed", raw, code, reason: `${given.path} is not the JSON text of an object`, id };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

// Tools

/** Gemma 4 is told what a tool returns. */
type DeclaredTool = Tool & { response?: JsonObject };

function decodeTool(tool: Field, rest: Unmodelled): DeclaredTool[] {
  const type = tool.at("type").string() ?? "function";
  if (type !== "function" && type !== "custom") {
    rest.warn(tool, "tool-kind", `is a tool of the kind "${type}", which only its own server knows`);
    return [];
  }
  const wrapped = tool.at(type);
  const fn = wrapped.given ? wrapped : tool; // a bare object has no wrapper
  const decoded = defined<DeclaredTool>({
    name: fn.at("name").name(),
    description: fn.at("description").string(),
    parameters: fn.at("parameters").object(),
    strict: fn.at("strict").boolean(),
    response: fn.at("response").object(),
    kind: type === "custom" ? type : undefined,
  });
  const state = fn === tool ? stateOf(tool) : [...stateOf(fn), ...stateOf(tool)];
  return [state.length > 0 ? { ...decoded, state } : decoded];
}

const MODES = { auto: "auto", none: "none", required: "required", any: "required" } as const;

function decodeToolChoice(choice: Field, legacy: Field, tools: readonly Tool[]): ToolChoice | undefined {
  const named = (tool: Field): string => {
    const wrapped = tool.at(tool.at("type").string() ?? "function");
    const name = (wrapped.given ? wrapped : tool).at("name");
    return tools.some((tool) => tool.name === name.value) ? name.name() : name.fail("must be the name of one of the tools");
  };
  const given = choice.given ? choice : legacy;
  if (!given.given) return undefined;
  if (typeof given.value === "string") return given.oneOf(MODES);
  if (given.object() && given.at("type").value !== "allowed_tools") return { name: named(given) };
  const wrapped = given.at("allowed_tools");
  const spec = wrapped.given ? wrapped : given;
  const allowed = spec.at("tools").list().map(named);
  return spec.at("mode").value === "required" ? { allowed, required: true } : { allowed };
}

// Settings

const EFFORTS: Readonly<Record<string, ThinkingSettings>> = {
  none: { enabled: false },
  minimal: { effort: "minimal" },
  low: { effort: "low" },
  medium: { effort: "medium" },
  high: { effort: "high" },
  xhigh: { effort: "max" },
  max: { effort: "max" },
};

const SAMPLING: Readonly<Record<string, keyof Sampling>> = {
  temperature: "temperature",
  top_p: "topP",
  top_k: "topK",
  min_p: "minP",
  seed: "seed",
  presence_penalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty",
  repeat_penalty: "repeatPenalty",
  repetition_penalty: "repeatPenalty",
};

function decodeSampling(root: Field): Sampling | undefined {
  const sampling: Sampling = {};
  for (const [key, name] of Object.entries(SAMPLING)) {
    const value = root.at(key).number();
    if (value !== undefined) sampling[name] = value;
  }
  return Object.keys(sampling).length > 0 ? sampling : undefined;
}

function decodeStop(stop: Field): string[] | undefined {
  if (typeof stop.value === "string") return someOf([stop.value].filter(Boolean));
  return someOf(stop.list().map((item) => item.name()));
}

function decodeOutput(format: Field, rest: Unmodelled): Request["output"] {
  const type = format.object() && format.at("type").name();
  if (type === undefined || type === "text") return undefined;
  if (type === "json_object") return {};
  if (type !== "json_schema") {
    rest.warn(format, "output-kind", `asks for "${type}", which only its own server knows`);
    return undefined;
  }
  const spec = format.at("json_schema");
  const output = { schema: spec.at("schema").object(), name: spec.at("name").string(), strict: spec.at("strict").boolean() };
  rest.keep(spec);
  return defined<NonNullable<Request["output"]>>(output);
}

export const openaiChat = {
  id: WIRE,
  decodeRequest,
} satisfies Pick<Wire, "id" | "decodeRequest">;
