/** A client's request, read. */
import { isObject } from "../../core/json.ts";
import type {
  Json,
  JsonObject,
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
  ToolResult,
} from "../../core/nouns.ts";
import { Calls } from "../calls.ts";
import { mediaFromUrl } from "../media.ts";
import { withState } from "../opaque.ts";
import { EFFORTS, readChoice, readGrammar, readOutput } from "../openai.ts";
import {
  each,
  eachOf,
  fail,
  fields,
  flag,
  inside,
  list,
  listOf,
  name,
  number,
  object,
  objectOf,
  oneOf,
  readBody,
  someOf,
  text,
  words,
} from "../read.ts";
import { messagesIn, onlyOne, readSampling, readStop, readStream, Source } from "../request-in.ts";
import type { WireInput } from "../wire.ts";
import { signatureOf } from "./signature.ts";
import { SAMPLING, TOOL, WIRE } from "./tables.ts";

/** As several servers call it. */
const ALL_SAMPLING = { repeat_penalty: "repeatPenalty", ...SAMPLING };

const ROOT = words(
  `n messages tools functions tool_choice function_call model parallel_tool_calls stream reasoning_effort max_completion_tokens max_tokens stop
  response_format`,
  ALL_SAMPLING,
);
/** Fields of the API's own bookkeeping, which mean nothing elsewhere. */
const QUIET = words(
  "stream_options store metadata user safety_identifier service_tier prompt_cache_key prompt_cache_retention annotations",
);

export function decodeRequest({ body }: WireInput): Request {
  const root = readBody(body);
  const from = new Source(WIRE, QUIET);
  onlyOne(root, "n");
  const tools = ["tools", "functions"].flatMap((key) => each(root, key, "", (tool, at) => readTool(tool, at, from)).flat());
  return from.request(root, ROOT, {
    model: text(root, "model") ?? "",
    messages: readMessages(root, from),
    tools: someOf(tools),
    toolChoice: readChoice(from, root, "tool_choice", tools) ?? readChoice(from, root, "function_call", tools),
    parallelCalls: flag(root, "parallel_tool_calls"),
    stream: readStream(root),
    thinking: text(root, "reasoning_effort") === undefined ? undefined : oneOf(EFFORTS, root, "reasoning_effort"),
    sampling: readSampling(root, ALL_SAMPLING),
    maxTokens: number(root, "max_completion_tokens") ?? number(root, "max_tokens"),
    stop: readStop(root, "stop"),
    output: readOutput(object(root, "response_format"), "response_format", from, "json_schema"),
  });
}

// Messages

const ROLES = { system: "system", developer: "developer", user: "user", assistant: "assistant", tool: "tool", function: "tool" } as const;
/** Thinking is one thing, in three spellings. */
const THINKING = ["reasoning_content", "reasoning", "thinking"] as const;
const GIVEN = words("role content");
const SAID = words(`role content refusal tool_calls function_call ${THINKING.join(" ")}`);
const RESULT = words("role content tool_call_id name");

function readMessages(root: JsonObject, from: Source): Message[] {
  const messages = messagesIn(root);
  from.calls = new Calls(() => messages.flatMap((message) => listOf(objectOf(message).tool_calls)).map((call) => objectOf(call).id));
  return eachOf(messages, "messages", (message, at) => readMessage(message, at, from));
}

function readMessage(message: JsonObject, at: string, from: Source): Message {
  const role = oneOf(ROLES, message, "role", at);
  if (role === "tool") return withState(readResult(message, at, from), from.state(message, RESULT));
  if (role === "assistant") return withState({ role, content: readAssistant(message, at, from) }, from.state(message, SAID));
  const content = readContent(message, "content", at, from);
  const told = content.map((part): Text | Media => (part.type === "thinking" ? { ...part, type: "text" } : part));
  return withState({ role, content: told }, from.state(message, GIVEN));
}

function readAssistant(message: JsonObject, at: string, from: Source): Part[] {
  const reasoning = THINKING.map((key) => text(message, key, at)).find(Boolean);
  const refusal = text(message, "refusal", at);
  const carried = list(message, "tool_calls", at)
    .map(signatureOf)
    .find(({ thinkingState }) => thinkingState);
  const thinking = reasoning || (carried?.thinking ?? "");
  const parts: Part[] = thinking || carried ? [withState<Thinking>({ type: "thinking", text: thinking }, carried?.thinkingState)] : [];
  parts.push(...readContent(message, "content", at, from));
  if (refusal) parts.push(refused(refusal));
  parts.push(...each(message, "tool_calls", at, (call, place) => readCall(call, place, from)));
  const legacy = object(message, "function_call", at);
  if (legacy) parts.push(readFunction(legacy, inside(at, "function_call"), "", from));
  return parts;
}

function readResult(message: JsonObject, at: string, from: Source): ToolResult {
  const named = from.calls.answer({ id: text(message, "tool_call_id", at), name: text(message, "name", at) });
  const parts = isPartList(message.content) ? readContent(message, "content", at, from) : [];
  const media = parts.filter((part) => part.type === "media");
  // Without media the parts stay as they are: templates differ in what they make of them.
  if (media.length === 0) return { role: "tool", ...named, output: message.content ?? "" };
  return { role: "tool", ...named, output: joined(parts), media };
}

export const isPartList = (value: Json | undefined): boolean =>
  Array.isArray(value) && value.every((part) => isObject(part) && typeof part.type === "string" && Object.hasOwn(PARTS, part.type));

// Content

type ContentPart = Text | Media | Thinking;
type PartReader = (part: JsonObject, at: string, from: Source) => ContentPart;

const readContent = (message: JsonObject, key: string, at: string, from: Source): ContentPart[] =>
  from.content(message, key, at, (part, place) => {
    const read = oneOf(PARTS, part, "type", place)(part, place, from);
    return withState(read, read.state, from.state(part, KEYS[String(part.type)]!));
  });

const AUDIO = words("data format");
const FILE = words("file_data filename");
const LINK = words("url");

/** The kinds of parts: OpenAI's own, those of other servers (`video_url`, `thinking`), and those of chat templates (`image`). */
const PARTS: Readonly<Record<string, PartReader>> = {
  text: (part, at) => ({ type: "text", text: text(part, "text", at) ?? "" }),
  refusal: (part, at) => refused(text(part, "refusal", at) ?? ""),
  thinking: (part, at, from) => ({ type: "thinking", text: joined(readContent(part, "thinking", at, from)) }),
  input_audio(part, at, from) {
    const [audio, place] = [object(part, "input_audio", at) ?? {}, inside(at, "input_audio")];
    const mediaType = `audio/${text(audio, "format", place) ?? "*"}`;
    return withState({ type: "media", mediaType, data: name(audio, "data", place) }, from.inner("input_audio", audio, AUDIO));
  },
  file(part, at, from) {
    const [file, place] = [object(part, "file", at) ?? {}, inside(at, "file")];
    const media = mediaFromUrl(text(file, "file_data", place), "application/octet-stream");
    const filename = text(file, "filename", place);
    if (filename !== undefined) media.name = filename;
    return withState(media, from.inner("file", file, FILE));
  },
  ...Object.fromEntries(
    ["image", "audio", "video"].flatMap((kind): [string, PartReader][] => [
      [`${kind}_url`, (part, at, from) => readLink(part, at, kind, from)],
      [kind, (part, at) => mediaFromUrl(text(part, kind, at) ?? text(part, "url", at), `${kind}/*`)],
    ]),
  ),
};

/** Of a part of each kind: a part's kind is also the key of what it holds. */
const KEYS = Object.fromEntries(
  Object.keys(PARTS).map((kind) => [kind, words(`type ${kind}${Object.hasOwn(PARTS, `${kind}_url`) ? " url" : ""}`)]),
);

/** A refusal is text that the model said; the state tells the same wire what it was. */
const refused = (said: string): Text => ({ type: "text", text: said, state: [{ wire: WIRE, kind: "refusal", data: said, quiet: true }] });

const joined = (parts: readonly ContentPart[]): string => parts.map((part) => (part.type === "media" ? "" : part.text)).join("");

function readLink(part: JsonObject, at: string, kind: string, from: Source): Media {
  const key = `${kind}_url`;
  const given = part[key];
  if (typeof given === "string") return mediaFromUrl(given, `${kind}/*`);
  const link = object(part, key, at) ?? {};
  return withState(mediaFromUrl(name(link, "url", inside(at, key)), `${kind}/*`), from.inner(key, link, LINK));
}

// Calls

const CALL = words("id type index function custom extra_content");
const FUNCTION = words("name arguments");

function readCall(call: JsonObject, at: string, from: Source): ToolCall | Malformed {
  const id = text(call, "id", at);
  const custom = object(call, "custom", at);
  const state = [...(signatureOf(call).state ?? []), ...(from.state(call, CALL) ?? [])];
  if (custom) {
    const mark: Opaque = { wire: WIRE, kind: "custom", data: true, quiet: true };
    const place = inside(at, "custom");
    const input = text(custom, "input", place) ?? "";
    return { type: "tool-call", ...from.calls.add(id, name(custom, "name", place)), arguments: { input }, state: [mark, ...state] };
  }
  const [fn, place] = [object(call, "function", at), inside(at, "function")];
  if (!fn) fail(place, 'must be an object with the "name" and the "arguments" of the call');
  return readFunction(fn, place, id, from, state);
}

function readFunction(fn: JsonObject, at: string, id: string | undefined, from: Source, state: Opaque[] = []): ToolCall | Malformed {
  const named = from.calls.add(id, name(fn, "name", at));
  return from.call(named, fn, "arguments", at, [...state, ...(from.inner("function", fn, FUNCTION) ?? [])]);
}

// Tools

const OUTER = words("type function custom");
const INNER = words("", TOOL);
const BARE = words("type", TOOL);
/** The same, with a grammar that was read. */
const GRAMMAR = words("type format", TOOL);

function readTool(tool: JsonObject, at: string, from: Source): Tool[] {
  const kind = text(tool, "type", at) ?? "function";
  if (kind !== "function" && kind !== "custom") {
    from.unknown(at, tool, "tool", kind);
    return [];
  }
  const wrapped = object(tool, kind, at);
  const [fn, place] = wrapped ? [wrapped, inside(at, kind)] : [tool, at]; // a bare object has no wrapper
  const read: Tool = { name: name(fn, "name", place), ...fields<Tool>(fn, TOOL, place) };
  const grammar = kind === "custom" ? readGrammar(fn, "grammar") : undefined;
  if (kind === "custom") read.kind = kind;
  if (grammar) read.grammar = grammar;
  if (!wrapped) return [withState(read, from.state(tool, grammar ? GRAMMAR : BARE))];
  return [withState(read, from.inner(kind, fn, grammar ? GRAMMAR : INNER), from.state(tool, OUTER))];
}
