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
import { Calls } from "../calls.ts";
import { mediaFromUrl } from "../media.ts";
import { withState } from "../opaque.ts";
import { EFFORTS, readOutput } from "../openai.ts";
import { defined, type Field, objectOf, readBody, someOf } from "../read.ts";
import { readSampling, readStop, readStream, Source, toolName } from "../request-in.ts";
import type { WireInput } from "../wire.ts";
import { signatureOf } from "./signature.ts";
import { MODES, QUIET, ROLES, SAMPLING, WIRE } from "./tables.ts";

export function decodeRequest({ body }: WireInput): Request {
  const root = readBody(body);
  const from = new Source(WIRE, QUIET);
  const n = root.at("n");
  if ((n.number() ?? 1) !== 1) n.fail("must be 1: ask once more for another answer");
  const tools = [...root.at("tools").list(), ...root.at("functions").list()].flatMap((tool) => readTool(tool, from));
  const [limit, older] = [root.at("max_completion_tokens").number(), root.at("max_tokens").number()];
  const effort = root.at("reasoning_effort");
  return from.request(root, {
    model: root.at("model").string() ?? "",
    messages: readMessages(root.at("messages"), from),
    tools: someOf(tools),
    toolChoice: readChoice(root.at("tool_choice"), root.at("function_call"), tools),
    parallelCalls: root.at("parallel_tool_calls").boolean(),
    stream: readStream(root.at("stream")),
    thinking: effort.given ? effort.oneOf(EFFORTS) : undefined,
    sampling: readSampling(root, SAMPLING),
    maxTokens: limit ?? older,
    stop: readStop(root.at("stop")),
    output: readOutput(root.at("response_format"), from, "json_schema"),
  });
}

// Messages

function readMessages(list: Field, from: Source): Message[] {
  const messages = list.list();
  if (messages.length === 0) list.fail("must be a list of messages that is not empty");
  from.calls = new Calls(messages.flatMap((message) => message.at("tool_calls").list()).map((call) => call.at("id").value));
  return messages.map((message) => {
    const read = readMessage(message, from);
    return withState(read, from.state(message));
  });
}

function readMessage(message: Field, from: Source): Message {
  const role = message.at("role").oneOf(ROLES);
  if (role === "tool") return readResult(message, from);
  if (role === "assistant") return { role, content: readAssistant(message, from) };
  const content = readContent(message.at("content"), from);
  return { role, content: content.map((part) => (part.type === "thinking" ? { ...part, type: "text" } : part)) };
}

function readAssistant(message: Field, from: Source): Part[] {
  const reasoning = ["reasoning_content", "reasoning", "thinking"].map((key) => message.at(key).string()); // one thing, in three spellings
  const content = readContent(message.at("content"), from);
  const refusal = message.at("refusal").string();
  const toolCalls = message.at("tool_calls").list();
  const legacy = message.at("function_call");
  const carried = toolCalls.map((call) => signatureOf(call.value)).find(({ thinkingState }) => thinkingState);
  const text = reasoning.find(Boolean) || (carried?.thinking ?? "");
  return [
    ...(text || carried ? [withState<Thinking>({ type: "thinking", text }, carried?.thinkingState)] : []),
    ...content,
    ...(refusal ? [refused(refusal)] : []),
    ...toolCalls.map((call) => readCall(call, from)),
    ...(legacy.object() ? [readFunction(legacy, "", [], from)] : []),
  ];
}

function readResult(message: Field, from: Source): ToolResult {
  const given = { id: message.at("tool_call_id").string(), name: message.at("name").string() };
  const content = message.at("content");
  const parts = isPartList(content.value) ? readContent(content, from) : [];
  const media = parts.filter((part) => part.type === "media");
  // Without media the parts stay as they are: templates differ in what they make of them.
  const output = media.length > 0 ? joined(parts) : (content.value ?? "");
  return defined<ToolResult>({ role: "tool", ...from.calls.answer(given), output, media: someOf(media) });
}

export const isPartList = (value: Json | undefined): boolean =>
  Array.isArray(value) && value.every((part) => isObject(part) && typeof part.type === "string" && Object.hasOwn(PARTS, part.type));

// Content

type ContentPart = Text | Media | Thinking;

const readContent = (content: Field, from: Source): ContentPart[] =>
  from.content(content, (part) => {
    const read = part.at("type").oneOf(PARTS)(part, from);
    return withState(read, read.state, from.state(part));
  });

/** The kinds of parts: OpenAI's own, those of other servers (`video_url`, `thinking`), and those of chat templates (`image`). */
const PARTS: Readonly<Record<string, (part: Field, from: Source) => ContentPart>> = {
  text: (part) => ({ type: "text", text: part.at("text").string() ?? "" }),
  refusal: (part) => refused(part.at("refusal").string() ?? ""),
  thinking: (part, from) => {
    const inner = part.at("thinking");
    return { type: "thinking", text: joined(readContent(inner, from)) };
  },
  input_audio: (part, from) => {
    const audio = part.at("input_audio");
    const format = audio.at("format").string() ?? "*";
    return withState({ type: "media", mediaType: `audio/${format}`, data: audio.at("data").name() }, from.inner("input_audio", audio));
  },
  file: (part, from) => {
    const file = part.at("file");
    const [data, name] = [file.at("file_data").string(), file.at("filename").string()];
    return withState(defined<Media>({ ...mediaFromUrl(data, "application/octet-stream"), name }), from.inner("file", file));
  },
  ...Object.fromEntries(
    ["image", "audio", "video"].flatMap((kind) => [
      [`${kind}_url`, (part: Field, from: Source) => readLink(part, kind, from)],
      [kind, (part: Field) => mediaFromUrl(part.at(kind).string() ?? part.at("url").string(), `${kind}/*`)],
    ]),
  ),
};

/** A refusal is text that the model said; the state tells the same wire what it was. */
const refused = (text: string): Text => ({ type: "text", text, state: [{ wire: WIRE, kind: "refusal", data: text, quiet: true }] });

const joined = (parts: readonly ContentPart[]): string => parts.map((part) => (part.type === "media" ? "" : part.text)).join("");

function readLink(part: Field, kind: string, from: Source): Media {
  const field = part.at(`${kind}_url`);
  if (typeof field.value === "string") return mediaFromUrl(field.value, `${kind}/*`);
  return withState(mediaFromUrl(field.at("url").name(), `${kind}/*`), from.inner(`${kind}_url`, field));
}

// Calls

function readCall(call: Field, from: Source): ToolCall | Malformed {
  const id = call.at("id").string();
  const custom = call.at("custom");
  const signature = signatureOf(call.value).state ?? [];
  for (const key of ["extra_content", "type", "index"]) call.at(key);
  if (custom.object()) {
    const input = custom.at("input").string() ?? "";
    const state: Opaque[] = [{ wire: WIRE, kind: "custom", data: true, quiet: true }, ...signature, ...from.state(call)];
    return { type: "tool-call", ...from.calls.add(id, custom.at("name").name()), arguments: { input }, state };
  }
  const fn = call.at("function");
  if (!fn.object()) fn.fail('must be an object with the "name" and the "arguments" of the call');
  return readFunction(fn, id, [...signature, ...from.state(call)], from);
}

function readFunction(fn: Field, id: string | undefined, state: Opaque[], from: Source): ToolCall | Malformed {
  const named = from.calls.add(id, fn.at("name").name());
  const args = fn.at("arguments");
  return from.call(named, args, [...state, ...from.inner("function", fn)]);
}

// Tools

function readTool(tool: Field, from: Source): Tool[] {
  const type = tool.at("type").string() ?? "function";
  if (type !== "function" && type !== "custom") {
    from.unknown(tool, "tool", type);
    return [];
  }
  const wrapped = tool.at(type);
  const fn = wrapped.given ? wrapped : tool; // a bare object has no wrapper
  const read = defined<Tool>({
    name: fn.at("name").name(),
    description: fn.at("description").string(),
    parameters: fn.at("parameters").object(),
    strict: fn.at("strict").boolean(),
    response: fn.at("response").object(),
    kind: type === "custom" ? type : undefined,
    grammar: type === "custom" ? readGrammar(fn) : undefined,
  });
  return [withState(read, fn === tool ? [] : from.inner(type, fn), from.state(tool))];
}

function readGrammar(fn: Field): Tool["grammar"] {
  const { type, grammar } = objectOf(objectOf(fn.value).format);
  const { syntax, definition } = objectOf(grammar);
  if (type !== "grammar" || typeof syntax !== "string" || typeof definition !== "string") return undefined;
  fn.at("format");
  return { syntax, definition };
}

function readChoice(choice: Field, legacy: Field, tools: readonly Tool[]): ToolChoice | undefined {
  const named = (tool: Field): string => {
    const wrapped = tool.at(tool.at("type").string() ?? "function");
    return toolName((wrapped.given ? wrapped : tool).at("name"), tools);
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
