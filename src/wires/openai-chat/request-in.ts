/** Reads a client's request. */
import type {
  Json,
  Malformed,
  Media,
  Message,
  Part,
  Request,
  Sampling,
  Text,
  Thinking,
  ThinkingSettings,
  Tool,
  ToolCall,
} from "../../core/nouns.ts";
import { recalled, signText, type Thought } from "../capsule.ts";
import type { Fields } from "../fields.ts";
import { fileFromUrl, mediaFromUrl } from "../media.ts";
import { opaque, withState } from "../opaque.ts";
import { BOOKKEEPING, EFFORTS, readChoice, readFormat, readOutput } from "../openai.ts";
import { defined, entryOf, isList, isText, numberOf, objectOf, some, someOf, spelling, textOf, words } from "../read.ts";
import { conversation, onlyOne, readLimit, readStop, readStream, Source } from "../request-in.ts";
import type { WireInput } from "../wire.ts";
import { type Details, readDetails } from "./details.ts";
import { readSignature } from "./signature.ts";
import { AS_PART, FUNCTIONS, PART, SAMPLING, spelled, THINKING, THINKS, TOOL, WIRE } from "./tables.ts";

/** Several servers spell it `repeat_penalty`. */
const ALL_SAMPLING = { repeat_penalty: "repeatPenalty", ...SAMPLING };

/** Fields that other wires leave out without a warning; `readThinking` reads the thinking settings among them. */
const quiet = words(
  `${BOOKKEEPING} store usage reasoning reasoning_content reasoning_effort include_reasoning thinking enable_thinking thinking_budget`,
);

export function decodeRequest({ body }: WireInput): Request {
  const from = new Source(WIRE, body, { quiet });
  const { root } = from;
  onlyOne(root, "n");
  const declared: Tool[] = [];
  for (const key of ["tools", "functions"]) root.each(key, (tool) => declared.push(...readTool(tool, from)));
  const isOld = root.list("functions").length > 0 && root.list("tools").length === 0;
  if (isOld) from.take(FUNCTIONS, true, true);
  const request = {
    model: root.text("model") ?? "",
    messages: conversation(root, "messages", "messages", (message) => readMessage(message, from)),
    tools: someOf(declared),
    toolChoice: readChoice(root, "tool_choice", declared, from) ?? readChoice(root, "function_call", declared, from),
    parallelCalls: root.flag("parallel_tool_calls") ?? (isOld ? false : undefined), // `function_call` holds only one call
    stream: readStream(root),
    thinking: readThinking(root, from),
    sampling: root.some<Sampling>(ALL_SAMPLING),
    maxTokens: readLimit(root, from, "max_completion_tokens", "max_tokens"),
    stop: readStop(root, "stop"),
    output: readOutput(root, "response_format", from, "json_schema"),
  };
  return from.request(request);
}

/** The chat template's variables that are about thinking. */
const TEMPLATE = words("enable_thinking thinking reasoning_effort preserve_thinking clear_thinking");

/** Thinking settings in the fields of OpenAI, OpenRouter, Groq, Anthropic-like servers, Qwen and chat templates (vLLM, SGLang, llama.cpp). */
function readThinking(root: Fields, from: Source): ThinkingSettings | undefined {
  const { reasoning_effort, reasoning, include_reasoning, thinking, enable_thinking, thinking_budget, chat_template_kwargs } = root.value;
  const [open, typed, template] = [objectOf(reasoning), objectOf(thinking), objectOf(chat_template_kwargs)];
  const show = open.exclude === true || include_reasoning === false ? { show: false } : {};
  const isUsual = reasoning_effort === "default";
  if (reasoning_effort && !isUsual) return { ...root.word("reasoning_effort", EFFORTS), ...show };
  const switched = [open.enabled, enable_thinking, template.enable_thinking, template.thinking, isUsual || undefined];
  const keeps = template.preserve_thinking === true || template.clear_thinking === false || typed.clear_thinking === false;
  const said = some<ThinkingSettings>({
    enabled: textOf(typed.type) ? typed.type !== "disabled" : switched.find((flag) => typeof flag === "boolean"),
    budget: numberOf(open.max_tokens ?? typed.budget_tokens ?? thinking_budget),
    keep: keeps || undefined,
    ...show,
    ...entryOf(EFFORTS, open.effort ?? template.reasoning_effort),
  });
  if (!said) return undefined;
  from.take(THINKS, true, true);
  if (template === chat_template_kwargs && Object.keys(template).every((key) => TEMPLATE.has(key)))
    from.take("chat_template_kwargs", root.json("chat_template_kwargs"), true);
  return said;
}

// Messages

const ROLES = { ...spelling("system developer user assistant tool"), function: "tool" } as const;

function readMessage(message: Fields, from: Source): Message {
  const role = message.word("role", ROLES);
  if (role === "tool") return readResult(message, from);
  const parts = readContent(message, "content", from);
  if (role === "assistant") return readAssistant(message, parts, from);
  const content = parts.map(spoken);
  return withState({ role, content }, message.state());
}

function readAssistant(message: Fields, content: readonly Part[], from: Source): Message {
  const thoughts = new Map<string | undefined, readonly Thought[]>();
  const own = THINKING.find((key) => message.value[key]);
  const said = own && message.text(own); // other spellings, and empty ones, stay in the message's state: some servers demand the field (DeepSeek)
  const details = readDetails(message);
  const { thinking = "", field } = own && !details.field ? { thinking: said, field: own } : details;
  const refusal = message.text("refusal");
  const calls = message.each("tool_calls", (call) => readCall(call, from, details, thoughts));
  const legacy = message.thing("function_call");
  const parts: Part[] = [
    ...(thinking && thoughts.size === 0 ? [withState<Thinking>({ type: "thinking", text: thinking }, spelled(field))] : []),
    ...content,
    ...(refusal ? [refusalPart(refusal)] : []),
    ...calls,
    ...(legacy ? [readFunction(legacy, "", from)] : []),
  ];
  signText(parts, readSignature(message)?.state);
  return withState({ role: "assistant", content: recalled(parts, (id) => thoughts.get(id)) }, details.state, message.state());
}

function readResult(message: Fields, from: Source): Message {
  const [id, name] = [message.text("tool_call_id"), message.text("name")];
  const named = from.calls.answer({ id, name });
  const content = message.json("content");
  const parts = isPartList(content) ? readContent(message, "content", from) : [];
  const result = from.result(message, "content", named, parts.map(spoken));
  // Without media the parts are kept unchanged: templates differ in how they print them.
  if (!result.media) Object.assign(result, { output: content ?? "" });
  return withState(result, id && name ? [opaque(WIRE, "name", name, true)] : [], message.state()); // some templates need both
}

export const isPartList = (value: Json | undefined): boolean => isList(value) && value.every((part) => entryOf(PARTS, objectOf(part).type));

// Content

type ContentPart = Text | Media | Thinking;

const readContent = (given: Fields, key: string, from: Source): ContentPart[] => {
  const { role, type } = given.value;
  const isModels = role === "assistant" || type === "thinking";
  return from.content(given, key, (part) => {
    const reader = (isModels && !entryOf(PARTS, part.json("type")) && other) || part.word("type", PARTS);
    return withState(reader(part, from), part.state());
  });
};

type PartReader = (part: Fields, from: Source) => ContentPart;

/** Readers by part type: OpenAI's own, those of other servers (`video_url`, `thinking`), and those of chat templates (`image`). */
const PARTS: Readonly<Record<string, PartReader>> = {
  text: (part) => ({ type: "text", text: part.text("text") ?? "" }),
  refusal: (part) => refusalPart(part.text("refusal") ?? ""),
  thinking(part, from) {
    const inner = readContent(part, "thinking", from);
    const read: Thinking = { type: "thinking", text: joined(inner), state: spelled(AS_PART) };
    return inner.some(({ state }) => state) ? asItCame(part, read, false) : read;
  },
  input_audio(part) {
    if (typeof part.value.input_audio === "string") return asItCame(part, linkOrBytes(part.name("input_audio"), "audio/*")); // Mistral
    const audio = part.inner("input_audio");
    return { type: "media", mediaType: `audio/${audio.text("format") ?? "*"}`, data: audio.name("data") };
  },
  file(part) {
    const file = part.inner("file");
    const read = readFile(file.text("file_data"), file.text("filename"));
    return read.url === undefined ? read : asItCame(part, read);
  },
  document_url: (part) => asItCame(part, readFile(part.text("document_url"), part.text("document_name"), "application/pdf")),
  file_url(part) {
    const [url, name] = [linkIn(part, "file_url"), part.text("file_name")];
    return asItCame(part, defined<Media>({ ...linkOrBytes(url, readFile(url, name).mediaType), name })); // Perplexity
  },
  ...Object.fromEntries(["image", "audio", "video"].flatMap((kind) => linkReaders(kind))),
};

const readFile = (url: string | undefined, name: string | undefined, mediaType?: string): Media =>
  defined<Media>({ ...fileFromUrl(url, name, mediaType), name });

/** A URL, or base64 without the `data:` in front. */
const linkOrBytes = (url: string, mediaType: string): Media =>
  /^\w+:/.test(url) ? mediaFromUrl(url, mediaType) : { type: "media", mediaType, data: url };

/** Keeps the original part, for servers that know it. */
const asItCame = <T extends ContentPart>({ value }: Fields, read: T, quiet = true): T =>
  withState(read, [opaque(WIRE, PART, value, quiet)]);

/** What only the model's own server can have written: `{"type": "reference", "reference_ids": [0]}` (Mistral). */
const other: PartReader = (part) => asItCame(part, { type: "text", text: part.text("text") ?? "" });

/** The URL under a key like `image_url`, either as a string or in an object. */
const linkIn = (part: Fields, key: string): string => (isText(part.value[key]) ? part.name(key) : part.inner(key).name("url"));

function linkReaders(kind: string): [string, PartReader][] {
  const key = `${kind}_url`;
  const linked = (url: string | undefined) => mediaFromUrl(url, `${kind}/*`);
  return [
    [key, (part) => linked(linkIn(part, key))],
    [kind, (part) => linked(part.text(kind, "url"))], // chat templates
  ];
}

/** A refusal becomes text; its state tells this wire to write a refusal again. */
const refusalPart = (said: string): Text => ({
  type: "text",
  text: said,
  state: [opaque(WIRE, "refusal", said, true)],
});

/** Thinking in a message that is not the model's becomes text. */
const spoken = (part: ContentPart): Text | Media => (part.type === "thinking" ? { ...part, type: "text" } : part);

const joined = (parts: readonly ContentPart[]): string => parts.map((part) => (part.type === "media" ? "" : part.text)).join("");

// Calls

function readCall(
  call: Fields,
  from: Source,
  { capsules }: Details,
  recall: Map<string | undefined, readonly Thought[]>,
): ToolCall | Malformed {
  call.ask("type", "index");
  const id = call.text("id");
  const { state = [], thoughts } = readSignature(call) ?? capsules.get(id) ?? {};
  const custom = call.object("custom");
  const read = custom
    ? readCustom(custom, id, from)
    : readFunction(call.object("function") ?? call.fail("function", "must be an object"), id, from);
  if (thoughts) recall.set(read.id, thoughts);
  return withState(read, state, call.state());
}

const readFunction = (fn: Fields, id: string | undefined, from: Source): ToolCall | Malformed =>
  from.call(fn, "arguments", from.calls.add(id, fn.name("name")));

function readCustom(custom: Fields, id: string | undefined, from: Source): ToolCall {
  const named = from.calls.add(id, custom.name("name"));
  return { type: "tool-call", ...named, arguments: { input: custom.text("input") ?? "" }, state: [opaque(WIRE, "#custom", true, true)] };
}

// Tools

function readTool(tool: Fields, from: Source): Tool[] {
  const kind = tool.text("type") ?? "function";
  if (kind !== "function" && kind !== "custom") return from.unknown(tool, "tool");
  const spec = tool.object(kind) ?? tool; // a bare object has no wrapper
  const name = spec.name("name");
  const made: Tool = { name, ...spec.read<Tool>(TOOL) };
  if (kind === "custom") Object.assign(made, { kind }, readFormat(spec, "grammar"));
  return [withState(made, tool.state())];
}
