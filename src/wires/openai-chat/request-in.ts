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
} from "../../core/nouns.ts";
import { Calls } from "../calls.ts";
import { mediaFromUrl } from "../media.ts";
import { joined as joinedState, withState } from "../opaque.ts";
import { EFFORTS, readChoice, readGrammar, readOutput } from "../openai.ts";
import { each, fail, fields, flag, inside, list, name, number, object, oneOf, readBody, someOf, text, words } from "../read.ts";
import { conversation, idsOfCalls, onlyOne, readSampling, readStop, readStream, Source } from "../request-in.ts";
import type { WireInput } from "../wire.ts";
import { signatureOf } from "./signature.ts";
import { SAMPLING, TOOL, WIRE } from "./tables.ts";

/** As several servers call it. */
const ALL_SAMPLING = { repeat_penalty: "repeatPenalty", ...SAMPLING };

/** Fields of the API's own bookkeeping, which mean nothing elsewhere. */
const QUIET = words(
  "stream_options store metadata user safety_identifier service_tier prompt_cache_key prompt_cache_retention annotations",
);

export function decodeRequest({ body }: WireInput): Request {
  const { model, messages, tools, functions, tool_choice, function_call, n, stream, stop, ...others } = readBody(body);
  const { parallel_tool_calls, reasoning_effort, max_completion_tokens, max_tokens, response_format, ...unread } = others;
  const from = new Source(WIRE, QUIET);
  onlyOne(n, "", "n");
  const readEach = (tool: JsonObject, at: string) => readTool(tool, at, from);
  const declared = [...each(tools, "", "tools", readEach), ...each(functions, "", "functions", readEach)].flat();
  const [sampling, rest] = readSampling(unread, ALL_SAMPLING);
  from.calls = new Calls(idsOfCalls(messages));
  return from.request(rest, {
    model: text(model, "", "model") ?? "",
    messages: conversation(messages, "messages", "messages", (message, at) => readMessage(message, at, from)),
    tools: someOf(declared),
    toolChoice: readChoice(from, tool_choice, "tool_choice", declared) ?? readChoice(from, function_call, "function_call", declared),
    parallelCalls: flag(parallel_tool_calls, "", "parallel_tool_calls"),
    stream: readStream(stream),
    thinking: reasoning_effort ? oneOf(EFFORTS, reasoning_effort, "", "reasoning_effort") : undefined,
    sampling,
    maxTokens: number(max_completion_tokens, "", "max_completion_tokens") ?? number(max_tokens, "", "max_tokens"),
    stop: readStop(stop, "", "stop"),
    output: readOutput(object(response_format, "", "response_format"), "response_format", from, "json_schema"),
  });
}

// Messages

const ROLES = { system: "system", developer: "developer", user: "user", assistant: "assistant", tool: "tool", function: "tool" } as const;

function readMessage({ role: given, content, ...others }: JsonObject, at: string, from: Source): Message {
  const role = oneOf(ROLES, given, at, "role");
  if (role === "tool") return readResult(content, others, at, from);
  const parts = readContent(content, at, "content", from);
  if (role === "assistant") return readAssistant(parts, others, at, from);
  const said = parts.map((part): Text | Media => (part.type === "thinking" ? { ...part, type: "text" } : part));
  return withState({ role, content: said }, from.state(others));
}

function readAssistant(content: readonly Part[], others: JsonObject, at: string, from: Source): Message {
  const { reasoning_content, reasoning, thinking, refusal, tool_calls, function_call, ...rest } = others;
  const carried = list(tool_calls, at, "tool_calls")
    .map(signatureOf)
    .find(({ thinkingState }) => thinkingState);
  // One thing, in three spellings.
  const spelled = text(reasoning_content, at, "reasoning_content") || text(reasoning, at, "reasoning") || text(thinking, at, "thinking");
  const thought = spelled || (carried?.thinking ?? "");
  const refused = text(refusal, at, "refusal");
  const legacy = object(function_call, at, "function_call");
  const parts: Part[] = [
    ...(thought || carried ? [withState<Thinking>({ type: "thinking", text: thought }, carried?.thinkingState)] : []),
    ...content,
    ...(refused ? [refusalPart(refused)] : []),
    ...each(tool_calls, at, "tool_calls", (call, place) => readCall(call, place, from)),
    ...(legacy ? [readFunction(legacy, inside(at, "function_call"), "", from)] : []),
  ];
  return withState({ role: "assistant", content: parts }, from.state(rest));
}

function readResult(content: Json | undefined, { tool_call_id, name, ...rest }: JsonObject, at: string, from: Source): Message {
  const named = from.calls.answer({ id: text(tool_call_id, at, "tool_call_id"), name: text(name, at, "name") });
  const parts = isPartList(content) ? readContent(content, at, "content", from) : [];
  const media = parts.filter((part) => part.type === "media");
  // Without media the parts stay as they are: templates differ in what they make of them.
  const output = media.length > 0 ? { output: joined(parts), media } : { output: content ?? "" };
  return withState({ role: "tool", ...named, ...output }, from.state(rest));
}

export const isPartList = (value: Json | undefined): boolean =>
  Array.isArray(value) && value.every((part) => isObject(part) && typeof part.type === "string" && Object.hasOwn(PARTS, part.type));

// Content

type ContentPart = Text | Media | Thinking;

const readContent = (content: Json | undefined, at: string, key: string, from: Source): ContentPart[] =>
  from.content(content, at, key, ({ type, ...part }, place) => oneOf(PARTS, type, place, "type")(part, place, from));

type PartReader = (part: JsonObject, at: string, from: Source) => ContentPart;

/** The kinds of parts: OpenAI's own, those of other servers (`video_url`, `thinking`), and those of chat templates (`image`). */
const PARTS: Readonly<Record<string, PartReader>> = {
  text: ({ text: said, ...rest }, at, from) => withState({ type: "text", text: text(said, at, "text") ?? "" }, from.state(rest)),
  refusal({ refusal, ...rest }, at, from) {
    const part = refusalPart(text(refusal, at, "refusal") ?? "");
    return withState(part, part.state, from.state(rest));
  },
  thinking: ({ thinking, ...rest }, at, from) =>
    withState({ type: "thinking", text: joined(readContent(thinking, at, "thinking", from)) }, from.state(rest)),
  input_audio({ input_audio, ...rest }, at, from) {
    const { data, format, ...inner } = object(input_audio, at, "input_audio") ?? {};
    const place = inside(at, "input_audio");
    const media: Media = { type: "media", mediaType: `audio/${text(format, place, "format") ?? "*"}`, data: name(data, place, "data") };
    return withState(media, from.inner("input_audio", inner), from.state(rest));
  },
  file({ file, ...rest }, at, from) {
    const { file_data, filename, ...inner } = object(file, at, "file") ?? {};
    const place = inside(at, "file");
    const media = mediaFromUrl(text(file_data, place, "file_data"), "application/octet-stream");
    const named = text(filename, place, "filename");
    if (named !== undefined) media.name = named;
    return withState(media, from.inner("file", inner), from.state(rest));
  },
  ...Object.fromEntries(["image", "audio", "video"].flatMap((kind) => linkReaders(kind))),
};

/** A link stands behind `image_url`, alone or in an object; in chat templates behind `image` or `url`. */
function linkReaders(kind: string): [string, PartReader][] {
  const key = `${kind}_url`;
  return [
    [
      key,
      ({ [key]: link, ...rest }, at, from) => {
        const { url, ...inner } = typeof link === "string" ? { url: link } : (object(link, at, key) ?? {});
        return withState(mediaFromUrl(name(url, inside(at, key), "url"), `${kind}/*`), from.inner(key, inner), from.state(rest));
      },
    ],
    [
      kind,
      ({ [kind]: link, url, ...rest }, at, from) =>
        withState(mediaFromUrl(text(link, at, kind) ?? text(url, at, "url"), `${kind}/*`), from.state(rest)),
    ],
  ];
}

/** A refusal is text that the model said; the state tells the same wire what it was. */
const refusalPart = (said: string): Text => ({
  type: "text",
  text: said,
  state: [{ wire: WIRE, kind: "refusal", data: said, quiet: true }],
});

const joined = (parts: readonly ContentPart[]): string => parts.map((part) => (part.type === "media" ? "" : part.text)).join("");

// Calls

function readCall(call: JsonObject, at: string, from: Source): ToolCall | Malformed {
  const { id: given, type: _type, index: _index, extra_content: _extra_content, function: fn, custom, ...rest } = call;
  const id = text(given, at, "id");
  const state = joinedState(signatureOf(call).state, from.state(rest));
  const plain = object(custom, at, "custom");
  const called = object(fn, at, "function");
  if (plain) {
    const place = inside(at, "custom");
    const mark: Opaque = { wire: WIRE, kind: "custom", data: true, quiet: true };
    const input = text(plain.input, place, "input") ?? "";
    return {
      type: "tool-call",
      ...from.calls.add(id, name(plain.name, place, "name")),
      arguments: { input },
      state: [mark, ...(state ?? [])],
    };
  }
  const place = inside(at, "function");
  if (!called) fail(place, 'must be an object with the "name" and the "arguments" of the call', fn);
  return readFunction(called, place, id, from, state);
}

function readFunction(fn: JsonObject, at: string, id: string | undefined, from: Source, state?: Opaque[]): ToolCall | Malformed {
  const { name: given, arguments: args, ...rest } = fn;
  const named = from.calls.add(id, name(given, at, "name"));
  return from.call(named, args, at, "arguments", joinedState(state, from.inner("function", rest)));
}

// Tools

function readTool({ type, ...tool }: JsonObject, at: string, from: Source): Tool[] {
  const kind = text(type, at, "type") ?? "function";
  if (kind !== "function" && kind !== "custom") {
    from.unknown(at, { type: kind, ...tool }, "tool", kind);
    return [];
  }
  const { [kind]: inner, ...outer } = tool;
  const wrapped = object(inner, at, kind); // a bare object has no wrapper
  const place = wrapped ? inside(at, kind) : at;
  const { name: given, ...spec } = wrapped ?? tool;
  const [read, left] = fields<Tool>(spec, TOOL, place);
  const { format, ...others } = left;
  const grammar = kind === "custom" ? readGrammar(format, "grammar") : undefined;
  const rest = grammar ? others : left;
  const made: Tool = { name: name(given, place, "name"), ...read };
  if (kind === "custom") made.kind = kind;
  if (grammar) made.grammar = grammar;
  return [wrapped ? withState(made, from.inner(kind, rest), from.state(outer)) : withState(made, from.state(rest))];
}
