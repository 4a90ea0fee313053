/** Requests of Ollama's `/api/chat`, and of `/api/generate` with its prompt as a user message, both ways. */
import type {
  Json,
  Malformed,
  Media,
  Message,
  Opaque,
  Part,
  Request,
  Sampling,
  ThinkingSettings,
  Tool,
  ToolCall,
  ToolChoice,
  ToolResult,
} from "../../core/nouns.ts";
import { malformedRaw, parseArguments } from "../accumulate.ts";
import { bridgeTool } from "../bridge.ts";
import { Calls } from "../calls.ts";
import { errorLabel, offeredTools, systemLabel, unreadableCall, unreadableLabel } from "../labels.ts";
import { mediaFromUrl, mediaKind, outputText } from "../media.ts";
import { type Draft, putExtra, putState, stateOf, Unmodelled, withState } from "../opaque.ts";
import { argumentsValue } from "../raw.ts";
import { defined, type Field, readBody, someOf } from "../read.ts";
import { ollamaSchema } from "../schema-out.ts";
import { readSampling, readStop } from "../settings.ts";
import { ArgumentTexts } from "../spans.ts";
import { Warnings } from "../warnings.ts";
import { contextOf, type Wire, type WireInput, type WireProfile } from "../wire.ts";

export const WIRE = "ollama";

// ---- Tables

const ROLES = { system: "system", developer: "developer", user: "user", assistant: "assistant", tool: "tool" } as const;

const SAMPLING: Readonly<Record<string, keyof Sampling>> = {
  temperature: "temperature",
  top_p: "topP",
  top_k: "topK",
  min_p: "minP",
  seed: "seed",
  presence_penalty: "presencePenalty",
  frequency_penalty: "frequencyPenalty",
  repeat_penalty: "repeatPenalty",
};

const EFFORTS: Readonly<Record<string, ThinkingSettings>> = {
  low: { effort: "low" },
  medium: { effort: "medium" },
  high: { effort: "high" },
  max: { effort: "max" },
};

/** How long a server keeps a model, and what it does with a long prompt, is no other server's business. */
const QUIET = new Set(["keep_alive", "truncate", "shift"]);

/** Media come without their type; their first bytes tell it, in base64. */
const SIGNATURES: readonly (readonly [RegExp, string])[] = [
  [/^iVBORw0KGgo/, "image/png"],
  [/^\/9j\//, "image/jpeg"],
  [/^R0lGOD/, "image/gif"],
  [/^UklGR.{7}RUJQ/, "image/webp"],
  [/^UklGR.{7}QVZF/, "audio/wav"],
  [/^(?:SUQz|\/\/[uvs])/, "audio/mpeg"],
];

// ---- Request in

/** Marks a request that asked for a completion: the answer has another shape. */
const GENERATE: Opaque = { wire: WIRE, kind: "/api/generate", data: true, quiet: true };
const isMark = ({ wire, kind }: Opaque): boolean => wire === WIRE && kind === GENERATE.kind;
export const isGenerate = (request: Request | undefined): boolean => request?.extra?.some(isMark) ?? false;

export function decodeRequest({ path, body }: WireInput): Request {
  const root = readBody(body);
  const rest = new Unmodelled(WIRE);
  const options = root.at("options");
  const generate = path.endsWith("/generate");
  const messages = generate ? decodePrompt(root) : decodeMessages(root.at("messages").list(), new ArgumentTexts(body, "arguments"));
  const think = root.at("think");
  const request = {
    model: root.at("model").name(),
    messages,
    tools: someOf(
      root
        .at("tools")
        .list()
        .flatMap((tool) => decodeTool(tool, rest)),
    ),
    stream: root.at("stream").boolean() === false ? (false as const) : ("ndjson" as const),
    thinking: typeof think.value === "string" ? think.oneOf(EFFORTS) : think.given ? { enabled: think.boolean() === true } : undefined,
    sampling: readSampling(options, SAMPLING),
    maxTokens: decodeLimit(options),
    stop: readStop(options.at("stop")),
    output: decodeFormat(root.at("format")),
  };
  rest.keep(options);
  const extra = [...(generate ? [GENERATE] : []), ...stateOf(WIRE, root, QUIET), ...rest.extra];
  return defined<Request>({ ...request, extra: someOf(extra), warnings: someOf(rest.warnings) });
}

/** No prompt at all asks only to load the model, or to unload it: there is nothing to say. */
function decodePrompt(root: Field): Message[] {
  const [system, prompt] = [root.at("system").string(), root.at("prompt").string()];
  const content = [...root.at("images").list().map(decodeImage), ...textParts(prompt)];
  return [
    ...(system ? [{ role: "system" as const, content: textParts(system) }] : []),
    ...(content.length > 0 ? [{ role: "user" as const, content }] : []),
  ];
}

function decodeMessages(list: readonly Field[], texts: ArgumentTexts): Message[] {
  const calls = new Calls(list.flatMap((message) => message.at("tool_calls").list()).map((call) => call.at("id").value));
  return list.map((message) => decodeMessage(message, calls, texts));
}

function decodeMessage(message: Field, calls: Calls, texts: ArgumentTexts): Message {
  const given = message.at("role");
  const role = given.as(given.string()?.toLowerCase()).oneOf(ROLES);
  const text = message.at("content").string();
  const media = message.at("images").list().map(decodeImage);
  if (role === "tool") {
    const [name, older] = [message.at("tool_name").string(), message.at("name").string()];
    const call = calls.answer({ id: message.at("tool_call_id").string(), name: name || older });
    return withState(defined<ToolResult>({ role, ...call, output: text ?? "", media: someOf(media) }), stateOf(WIRE, message));
  }
  const content = [...media, ...textParts(text)];
  if (role !== "assistant") return withState({ role, content }, stateOf(WIRE, message));
  const thinking = message.at("thinking").string();
  const parts: Part[] = [
    ...(thinking ? [{ type: "thinking" as const, text: thinking }] : []),
    ...content,
    ...message
      .at("tool_calls")
      .list()
      .map((call) => decodeCall(call, calls, texts)),
  ];
  return withState({ role, content: parts }, stateOf(WIRE, message));
}

const textParts = (text: string | undefined) => (text ? [{ type: "text" as const, text }] : []);

function decodeImage(image: Field): Media {
  const data = image.name();
  if (/^(?:data|https?):/.test(data)) return mediaFromUrl(data, "image/*");
  return { type: "media", mediaType: SIGNATURES.find(([bytes]) => bytes.test(data))?.[1] ?? "image/*", data };
}

/** What of a call or a tool nobody has read, the keys inside `function` apart. */
function wrappedState(field: Field, fn: Field): Opaque[] {
  const inner = fn === field ? undefined : fn.rest();
  return [...stateOf(WIRE, field), ...(inner ? [{ wire: WIRE, kind: "function", data: inner } as const] : [])];
}

function decodeCall(call: Field, calls: Calls, texts: ArgumentTexts): ToolCall | Malformed {
  const fn = call.at("function");
  const { id, name } = calls.add(call.at("id").string(), fn.at("name").name());
  const given = fn.at("arguments");
  fn.at("index");
  call.at("type");
  // Its API wants an object; clients made for OpenAI's send its text.
  const text = typeof given.value === "string" ? given.value : JSON.stringify(given.object() ?? {});
  const read = parseArguments(text);
  if ("code" in read) return { type: "malformed", raw: malformedRaw(name, given.value ?? ""), ...read, id };
  const json = typeof given.value !== "string" ? texts.take(read.arguments) : text.trim() ? { json: text } : {};
  return withState({ type: "tool-call", id, name, ...read, ...json }, wrappedState(call, fn));
}

function decodeTool(tool: Field, rest: Unmodelled): Tool[] {
  const type = tool.at("type").string() ?? "function";
  if (type !== "function") {
    rest.warn(tool, "tool-kind", `is a tool of the kind "${type}", which only its own server knows`);
    return [];
  }
  const wrapped = tool.at("function");
  const fn = wrapped.given ? wrapped : tool;
  const [description, parameters] = [fn.at("description").string(), fn.at("parameters").object()];
  return [withState(defined<Tool>({ name: fn.at("name").name(), description, parameters }), wrappedState(tool, fn))];
}

/** Below 1 it is no limit, but another setting: it stays where it is. */
function decodeLimit(options: Field): number | undefined {
  const limit = options.object()?.num_predict;
  return typeof limit === "number" && limit < 1 ? undefined : options.at("num_predict").number();
}

function decodeFormat(format: Field): Request["output"] {
  if (typeof format.value !== "string") return format.given ? { schema: format.object() ?? {} } : undefined;
  if (format.value === "") return undefined;
  return format.oneOf({ json: {} });
}

// ---- Request out

export function encodeRequest(request: Request, profile: WireProfile = {}): ReturnType<Wire["encodeRequest"]> {
  const warnings = new Warnings();
  const options = defined<Draft>({
    ...Object.fromEntries(Object.entries(SAMPLING).map(([key, name]) => [key, request.sampling?.[name]])),
    num_predict: request.maxTokens,
    stop: request.stop,
  });
  const prompt = isGenerate(request) ? encodePrompt(request, warnings) : undefined;
  const messages = profile.systemAnywhere === false ? systemFirst(request.messages, warnings) : request.messages;
  const body = defined<Draft>({
    model: request.model,
    ...(prompt ?? { messages: messages.map((message) => encodeMessage(message, warnings)), tools: encodeTools(request, warnings) }),
    stream: !!request.stream, // it would stream by default
    format: request.output && (request.output.schema ?? "json"),
    think: encodeThinking(request.thinking, warnings),
    options: Object.keys(options).length > 0 ? options : undefined,
  });
  putExtra(WIRE, body, { ...request, extra: (request.extra ?? []).filter((extra) => !isMark(extra)) }, warnings);
  const path = prompt ? "/api/generate" : "/api/chat";
  return { path, headers: { "content-type": "application/json" }, body, context: contextOf(request, warnings.list) };
}

/** A request that came as a prompt goes on as one, if it still is one. */
function encodePrompt({ messages, tools }: Request, warnings: Warnings): Draft | undefined {
  const last = messages.at(-1);
  const user = last?.role === "user" ? last : undefined;
  const [system, ...others] = user ? messages.slice(0, -1) : messages;
  if (tools || others.length > 0 || (system && system.role !== "system")) return undefined;
  const { content, images } = encodeMessage(user ?? { role: "user", content: [] }, warnings);
  return { prompt: content, images, system: system && encodeMessage(system, warnings).content };
}

const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer";

/** For templates that refuse a system text in mid-conversation. */
function systemFirst(messages: readonly Message[], warnings: Warnings): Message[] {
  const start = messages.findIndex((message) => !isSystem(message));
  return messages.map((message, i) => {
    if (i < start || start < 0 || !isSystem(message)) return message;
    warnings.converted("a system text in mid-conversation", "a labelled user text");
    return { role: "user", content: [{ type: "text", text: systemLabel(String(encodeMessage(message, warnings).content)) }] };
  });
}

function encodeMessage(message: Message, warnings: Warnings): Draft {
  if (message.role === "tool") return encodeResult(message, warnings);
  const { role, state } = message;
  const parts: readonly Part[] = message.content;
  const texts = (type: "text" | "thinking") => parts.flatMap((part) => (part.type === type ? [part.text] : []));
  for (const part of parts) if ("state" in part && part.type !== "tool-call") putState(WIRE, {}, part.state, warnings);
  const draft = defined<Draft>({
    role: role === "developer" ? "system" : role,
    // What the model said in pieces is one text; several texts that it was given are paragraphs, as its server joins messages.
    content: [...texts("text"), ...parts.flatMap((part) => unreadable(part, warnings))].join(role === "assistant" ? "" : "\n\n"),
    thinking: texts("thinking").join("\n\n") || undefined,
    images: encodeMedia(parts, warnings),
    tool_calls: someOf(parts.flatMap((part) => pastCall(part, warnings)).map(encodeCall)),
  });
  return putState(WIRE, draft, state, warnings);
}

function encodeResult({ role, id, name, output, media = [], isError, state }: ToolResult, warnings: Warnings): Draft {
  if (typeof output !== "string") warnings.converted("a tool's output that is no text", "JSON text");
  if (isError) warnings.converted("a failed tool's result", 'text that begins with "Error:"');
  const content = isError ? errorLabel(outputText(output)) : outputText(output);
  const draft = { role, content, tool_name: name || undefined, tool_call_id: id, images: encodeMedia(media, warnings) };
  return putState(WIRE, defined<Draft>(draft), state, warnings);
}

/** Only bytes can be sent, and only of what models look at or listen to. */
function encodeMedia(parts: readonly Part[], warnings: Warnings): string[] | undefined {
  const sent = parts.flatMap((part) => {
    if (part.type !== "media") return [];
    const kind = mediaKind(part);
    if (part.data !== undefined && (kind === "image" || kind === "audio")) return [part.data];
    warnings.dropped(part.data === undefined ? `${kind} by its URL` : part.mediaType, WIRE);
    return [];
  });
  return someOf(sent);
}

export type SentCall = Pick<ToolCall, "id" | "name" | "arguments" | "json"> & { rest?: Draft };

function pastCall(part: Part, warnings: Warnings): SentCall[] {
  if (part.type === "malformed") return [unreadableCall(part) ?? []].flat();
  if (part.type !== "tool-call") return [];
  if (!part.truncated) return [{ ...part, rest: putState<Draft>(WIRE, {}, part.state, warnings) }];
  warnings.dropped("a call that was cut", WIRE);
  return [];
}

/** A call that is none goes as what it is: text. */
function unreadable(part: Part, warnings: Warnings): string[] {
  if (part.type !== "malformed") return [];
  const answered = unreadableCall(part);
  warnings.converted("a call that cannot be read", answered ? 'a call with its text as "unreadable"' : "text");
  return answered ? [] : [unreadableLabel(part)];
}

export function encodeCall(call: SentCall, index: number): Draft {
  const { function: inner, ...outer } = call.rest ?? {};
  const fn = { ...(inner as Draft | undefined), index, name: call.name, arguments: argumentsValue(call) };
  return { ...(call.id ? { id: call.id } : {}), ...outer, function: fn };
}

function encodeTools(request: Request, warnings: Warnings): Draft[] | undefined {
  const { tools = [], toolChoice, parallelCalls } = request;
  const offered = offeredTools(request);
  if (offered.length < tools.length) warnings.dropped("a deferred tool that nobody asked for", WIRE);
  if (parallelCalls === false) warnings.dropped("the wish for one call at a time", WIRE);
  if (typeof toolChoice === "object" ? "name" in toolChoice || toolChoice.required : toolChoice === "required")
    warnings.add("tool-choice", "ollama cannot be made to call a tool: it may answer in words");
  return someOf(offered.filter(({ name }) => isAllowed(name, toolChoice)).map((tool) => encodeTool(tool, warnings)));
}

/** A tool that may not be called is not shown. */
function isAllowed(name: string, choice: ToolChoice | undefined): boolean {
  if (typeof choice !== "object") return choice !== "none";
  return "name" in choice ? choice.name === name : choice.allowed.includes(name);
}

function encodeTool(tool: Tool, warnings: Warnings): Draft {
  const { name, description, parameters = { type: "object", properties: {} }, strict } = bridgeTool(tool);
  const { schema, lost } = ollamaSchema(parameters);
  if (tool.kind === "custom") warnings.converted("a custom tool", "a function with one string");
  if (tool.response) warnings.dropped("the schema of a tool's result", WIRE);
  if (strict) warnings.dropped("strict", WIRE);
  for (const { path, keyword } of lost)
    warnings.add("schema", `${keyword} at ${path || "the top"} of the parameters of ${name} was left out`);
  return putState(WIRE, { type: "function", function: defined<Draft>({ name, description, parameters: schema }) }, tool.state, warnings);
}

function encodeThinking(thinking: ThinkingSettings | undefined, warnings: Warnings): Json | undefined {
  const { enabled, effort, ...rest } = thinking ?? {};
  // That it is shown, and kept in old messages, is the rule here.
  for (const [key, value] of Object.entries(rest)) if (value !== true) warnings.dropped(`thinking.${key}`, WIRE);
  if (enabled === false) return false;
  if (effort !== "minimal") return effort ?? enabled;
  warnings.converted("the effort minimal", "low");
  return "low";
}
