/** A client's request, read. */
import { isObject } from "../../core/json.ts";
import type {
  Json,
  Malformed,
  Media,
  Message,
  Opaque,
  Part,
  Request,
  Text,
  Thinking,
  Tool,
  ToolCall,
  ToolChoice,
  ToolResult,
} from "../../core/nouns.ts";
import { malformedRaw, parseArguments } from "../accumulate.ts";
import { Calls } from "../calls.ts";
import { mediaFromUrl } from "../media.ts";
import { type Capsule, openCapsule, stateOf, Unmodelled, withState } from "../opaque.ts";
import { EFFORTS, readOutput } from "../openai.ts";
import { defined, type Field, objectOf, readBody, someOf, textOf } from "../read.ts";
import { readSampling, readStop } from "../settings.ts";
import type { WireInput } from "../wire.ts";
import { MODES, QUIET, ROLES, SAMPLING, WIRE } from "./tables.ts";

export function decodeRequest({ body }: WireInput): Request {
  const root = readBody(body);
  const rest = new Unmodelled(WIRE);
  const n = root.at("n");
  if ((n.number() ?? 1) !== 1) n.fail("must be 1: ask once more for another answer");
  const tools = [...root.at("tools").list(), ...root.at("functions").list()].flatMap((tool) => decodeTool(tool, rest));
  const limits = [root.at("max_completion_tokens").number(), root.at("max_tokens").number()];
  const effort = root.at("reasoning_effort");
  const stream = root.at("stream").boolean();
  return defined<Request>({
    model: root.at("model").string() ?? "",
    messages: decodeMessages(root.at("messages")),
    tools: someOf(tools),
    toolChoice: decodeToolChoice(root.at("tool_choice"), root.at("function_call"), tools),
    parallelCalls: root.at("parallel_tool_calls").boolean(),
    stream: stream ? "sse" : stream,
    thinking: effort.given ? effort.oneOf(EFFORTS) : undefined,
    sampling: readSampling(root, SAMPLING),
    maxTokens: limits.find((limit) => limit !== undefined),
    stop: readStop(root.at("stop")),
    output: readOutput(root.at("response_format"), rest, "json_schema"),
    extra: someOf([...unread(root), ...rest.extra]), // last: by now all that is modelled was read
    warnings: someOf(rest.warnings),
  });
}

const unread = (field: Field): Opaque[] => stateOf(WIRE, field, QUIET);

/** What nobody has read of a field's object, as one state of the thing around it. */
function inner(field: Field, kind: string): Opaque[] {
  const data = field.rest();
  return data ? [{ wire: WIRE, kind, data }] : [];
}

// Messages

function decodeMessages(list: Field): Message[] {
  const messages = list.list();
  if (messages.length === 0) list.fail("must be a list of messages that is not empty");
  const calls = new Calls(messages.flatMap((message) => message.at("tool_calls").list()).map((call) => call.at("id").value));
  return messages.map((message) => {
    const decoded = decodeMessage(message, calls);
    return withState(decoded, unread(message));
  });
}

function decodeMessage(message: Field, calls: Calls): Message {
  const role = message.at("role").oneOf(ROLES);
  if (role === "tool") return decodeResult(message, calls);
  if (role === "assistant") return { role, content: decodeAssistant(message, calls) };
  const content = decodeContent(message.at("content"));
  return { role, content: content.map((part) => (part.type === "thinking" ? { ...part, type: "text" } : part)) };
}

function decodeAssistant(message: Field, calls: Calls): Part[] {
  const reasoning = ["reasoning_content", "reasoning", "thinking"].map((key) => message.at(key).string()); // one thing, in three spellings
  const thinking = reasoning.find(Boolean);
  const content = decodeContent(message.at("content"));
  const refusal = message.at("refusal").string();
  const toolCalls = message.at("tool_calls").list();
  const legacy = message.at("function_call");
  const carried = toolCalls.map((call) => signatureOf(call.value)).find(({ thinkingState }) => thinkingState);
  const thought = thinking || (carried?.thinking ?? "");
  return [
    ...(thought || carried ? [withState({ type: "thinking" as const, text: thought }, carried?.thinkingState)] : []),
    ...content,
    ...(refusal ? [refused(refusal)] : []),
    ...toolCalls.map((call) => decodeCall(call, calls)),
    ...(legacy.object() ? [decodeFunction(legacy, calls.add("", legacy.at("name").name()), [])] : []),
  ];
}

function decodeResult(message: Field, calls: Calls): ToolResult {
  const given = { id: message.at("tool_call_id").string(), name: message.at("name").string() };
  const content = message.at("content");
  const parts = isPartList(content.value) ? decodeContent(content) : [];
  const media = parts.filter((part) => part.type === "media");
  // Without media the parts stay as they are: templates differ in what they make of them.
  const output = media.length > 0 ? joined(parts) : (content.value ?? "");
  return defined<ToolResult>({ role: "tool", ...calls.answer(given), output, media: someOf(media) });
}

export const isPartList = (value: Json | undefined): boolean =>
  Array.isArray(value) && value.every((part) => isObject(part) && typeof part.type === "string" && Object.hasOwn(PARTS, part.type));

// Content

type ContentPart = Text | Media | Thinking;

function decodeContent(content: Field): ContentPart[] {
  if (typeof content.value === "string") return content.value === "" ? [] : [{ type: "text", text: content.value }];
  if (content.value !== undefined && !Array.isArray(content.value)) content.fail("must be a string or a list of parts");
  return content.list().map((part) => {
    const decoded = part.at("type").oneOf(PARTS)(part);
    return withState(decoded, decoded.state, unread(part));
  });
}

/** The kinds of parts: OpenAI's own, those of other servers (`video_url`, `thinking`), and those of chat templates (`image`). */
const PARTS: Readonly<Record<string, (part: Field) => ContentPart>> = {
  text: (part) => ({ type: "text", text: part.at("text").string() ?? "" }),
  refusal: (part) => refused(part.at("refusal").string() ?? ""),
  thinking: (part) => ({ type: "thinking", text: thinkingText(part.at("thinking")) }),
  image_url: (part) => linked(part, "image"),
  video_url: (part) => linked(part, "video"),
  audio_url: (part) => linked(part, "audio"),
  input_audio: (part) => {
    const audio = part.at("input_audio");
    const format = audio.at("format").string() ?? "*";
    return withState({ type: "media", mediaType: `audio/${format}`, data: audio.at("data").name() }, inner(audio, "input_audio"));
  },
  file: (part) => {
    const file = part.at("file");
    const [data, name] = [file.at("file_data").string(), file.at("filename").string()];
    return withState(defined<Media>({ ...mediaFromUrl(data, "application/octet-stream"), name }), inner(file, "file"));
  },
  image: (part) => mediaFromUrl(part.at("image").string() ?? part.at("url").string(), "image/*"),
  audio: (part) => mediaFromUrl(part.at("audio").string() ?? part.at("url").string(), "audio/*"),
  video: (part) => mediaFromUrl(part.at("video").string() ?? part.at("url").string(), "video/*"),
};

/** A refusal is text that the model said; the state tells the same wire what it was. */
const refused = (text: string): Text => ({ type: "text", text, state: [{ wire: WIRE, kind: "refusal", data: text, quiet: true }] });

const thinkingText = (field: Field): string => (typeof field.value === "string" ? field.value : joined(decodeContent(field)));

const joined = (parts: readonly ContentPart[]): string => parts.map((part) => (part.type === "media" ? "" : part.text)).join("");

function linked(part: Field, kind: "image" | "video" | "audio"): Media {
  const field = part.at(`${kind}_url`);
  if (typeof field.value === "string") return mediaFromUrl(field.value, `${kind}/*`);
  return withState(mediaFromUrl(field.at("url").name(), `${kind}/*`), inner(field, `${kind}_url`));
}

// Calls

function decodeCall(call: Field, calls: Calls): ToolCall | Malformed {
  const given = call.at("id").string();
  const custom = call.at("custom");
  const signature = signatureOf(call.value).state ?? [];
  call.at("extra_content");
  call.at("type");
  call.at("index");
  if (custom.object()) {
    const input = custom.at("input").string() ?? "";
    const state: Opaque[] = [{ wire: WIRE, kind: "custom", data: true, quiet: true }, ...signature, ...unread(call)];
    return { type: "tool-call", ...calls.add(given, custom.at("name").name()), arguments: { input }, state };
  }
  const fn = call.at("function");
  if (!fn.object()) fn.fail('must be an object with the "name" and the "arguments" of the call');
  return decodeFunction(fn, calls.add(given, fn.at("name").name()), [...signature, ...unread(call)]);
}

/** Gemini's signature of a call, or what we had put in its place. */
export function signatureOf(call: Json | undefined): Capsule {
  const value = objectOf(call).extra_content ?? undefined;
  const { google, ...others } = objectOf(value);
  const { thought_signature, ...rest } = objectOf(google);
  const signature = textOf(thought_signature);
  if (signature !== undefined && Object.keys({ ...others, ...rest }).length === 0) {
    return openCapsule(signature) ?? { state: [{ wire: "gemini", kind: "thoughtSignature", data: signature }] };
  }
  return value === undefined ? {} : { state: [{ wire: WIRE, kind: "extra_content", data: value }] };
}

function decodeFunction(fn: Field, { id, name }: { id: string; name: string }, state: Opaque[]): ToolCall | Malformed {
  const given = fn.at("arguments");
  const text = typeof given.value === "string" ? given.value : undefined;
  const read = parseArguments(text ?? JSON.stringify(given.object() ?? {}));
  if ("arguments" in read) {
    const json = text?.trim() ? text : undefined;
    return withState(defined<ToolCall>({ type: "tool-call", id, name, arguments: read.arguments, json }), state, inner(fn, "function"));
  }
  // An old call that nobody can read is no reason to refuse what comes after it.
  return { type: "malformed", raw: malformedRaw(name, given.value ?? ""), ...read, id };
}

// Tools

function decodeTool(tool: Field, rest: Unmodelled): Tool[] {
  const type = tool.at("type").string() ?? "function";
  if (type !== "function" && type !== "custom") {
    rest.warn(tool, "tool-kind", `is a tool of the kind "${type}", which only its own server knows`);
    return [];
  }
  const wrapped = tool.at(type);
  const fn = wrapped.given ? wrapped : tool; // a bare object has no wrapper
  const decoded = defined<Tool>({
    name: fn.at("name").name(),
    description: fn.at("description").string(),
    parameters: fn.at("parameters").object(),
    strict: fn.at("strict").boolean(),
    response: fn.at("response").object(),
    kind: type === "custom" ? type : undefined,
    grammar: type === "custom" ? decodeGrammar(fn) : undefined,
  });
  return [withState(decoded, fn === tool ? [] : inner(fn, type), unread(tool))];
}

function decodeGrammar(fn: Field): Tool["grammar"] {
  const { type, grammar } = objectOf(new Map(Object.entries(objectOf(fn.value))).get("format"));
  const { syntax, definition } = objectOf(grammar);
  if (type !== "grammar" || typeof syntax !== "string" || typeof definition !== "string") return undefined;
  fn.at("format");
  return { syntax, definition };
}

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
