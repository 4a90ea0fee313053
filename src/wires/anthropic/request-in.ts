/** Requests of clients: `{"model": "m", "max_tokens": 9, "system": "…", "messages": [{"role": "user", "content": [{"type": "text", …}]}]}`. */
import { BadRequest } from "../../core/errors.ts";
import { isObject } from "../../core/json.ts";
import type {
  ErrorInfo,
  Json,
  Malformed,
  Media,
  Message,
  Opaque,
  Part,
  Request,
  Text,
  Thinking,
  ThinkingSettings,
  Tool,
  ToolCall,
  ToolChoice,
  ToolResult,
} from "../../core/nouns.ts";
import { malformedRaw, parseArguments } from "../accumulate.ts";
import { Calls } from "../calls.ts";
import { putState, stateOf, Unmodelled, withState } from "../opaque.ts";
import { defined, type Field, objectOf, readBody, someOf } from "../read.ts";
import { readSampling, readStop } from "../settings.ts";
import type { Headers, WireInput } from "../wire.ts";
import { BLOCK, type Carried, CONTENT, EFFORTS, HEADERS, openSignature, SAMPLING, signed, VERSION, WIRE } from "./common.ts";

// ---- Request in

/** The SDK's tool runner sends only what is new, and all of it once it hears this. */
const LOST: ErrorInfo = {
  code: "not-found",
  message: "thread.previous_message_id is not kept here: send the whole conversation",
  native: "thread_not_found",
};

export function decodeRequest({ headers, body }: WireInput): Request {
  const root = readBody(body);
  if (objectOf(objectOf(root.value).thread).type === "continue") throw new BadRequest(LOST);
  const rest = new Unmodelled(WIRE);
  const messages = [...decodeSystem(root.at("system")), ...decodeMessages(root.at("messages"))];
  const tools = decodeTools(root, rest);
  const config = root.at("output_config");
  const thinking = { ...decodeThinking(root.at("thinking"), rest), ...decodeEffort(config, root, rest), ...decodeKeep(root) };
  const choice = root.at("tool_choice");
  const parallelCalls = decodeParallel(choice);
  const stream = root.at("stream").boolean();
  const request = defined<Request>({
    model: root.at("model").string() ?? "",
    messages,
    tools: someOf(tools),
    toolChoice: decodeToolChoice(choice, tools, rest),
    parallelCalls,
    stream: stream ? "sse" : stream,
    thinking: Object.keys(thinking).length > 0 ? thinking : undefined,
    sampling: readSampling(root, SAMPLING),
    maxTokens: root.at("max_tokens").number(),
    stop: readStop(root.at("stop_sequences")),
    output: decodeOutput(config.at("format"), rest) ?? decodeOutput(root.at("output_format"), rest),
  });
  rest.keep(config);
  const extra = [...transport(headers), ...stateOf(WIRE, root, QUIET), ...rest.extra]; // last: by now all that is modelled was read
  return extra.length > 0 ? { ...request, extra } : request;
}

/** Bookkeeping, or said in the nouns as well. */
const QUIET: ReadonlySet<string> = new Set([
  "metadata",
  "context_management",
  "service_tier",
  "eager_input_streaming",
  "output_config",
  "thread",
]);

/** What a client asks of the API beside the body: it is for Anthropic's own servers. */
function transport({ "anthropic-beta": beta, "anthropic-version": version }: Headers): Opaque[] {
  const data = { ...(beta ? { "anthropic-beta": beta } : {}), ...(version && version !== VERSION ? { "anthropic-version": version } : {}) };
  return Object.keys(data).length > 0 ? [{ wire: WIRE, kind: HEADERS, data, quiet: true }] : [];
}

// Messages

const ROLES = { user: "user", assistant: "assistant", system: "system" } as const;

/** A line that Claude Code puts in front for Anthropic's books. It changes with every version: for any other model it would only spoil the cached prefix. */
const BILLING = "x-anthropic-billing-header:";

function decodeSystem(system: Field): Message[] {
  const content = decodeContent(system).map((part): Text | Media =>
    part.type === "text" && part.text.startsWith(BILLING)
      ? whole(putState(WIRE, { type: "text", text: part.text }, part.state), "", true)
      : part,
  );
  return content.length > 0 ? [{ role: "system", content }] : [];
}

function decodeMessages(list: Field): Message[] {
  const messages = list.list();
  if (messages.length === 0) list.fail("must be a list of messages that is not empty");
  const calls = new Calls(messages.flatMap((message) => listOf(message.at("content")).map((block) => block.at("id").value)));
  return messages.flatMap((message) => decodeMessage(message, calls));
}

const listOf = (content: Field): Field[] => (Array.isArray(content.value) ? content.list() : []);

function decodeMessage(message: Field, calls: Calls): Message[] {
  const role = message.at("role").oneOf(ROLES);
  const content = message.at("content");
  const state = stateOf(WIRE, message, QUIET);
  if (role === "assistant") return [withState({ role, content: decodeAssistant(content, calls) }, state)];
  if (role === "system") return [withState({ role, content: decodeContent(content) }, state)];
  // Results come first, whatever stands before them: the API refuses any other order.
  const isResult = (block: Field) => isObject(block.value) && block.value.type === "tool_result";
  const results = listOf(content)
    .filter(isResult)
    .map((block) => decodeResult(block, calls));
  const said =
    results.length > 0
      ? listOf(content)
          .filter((block) => !isResult(block))
          .map(decodePart)
      : decodeContent(content);
  return results.length > 0 && said.length + state.length === 0 ? results : [...results, withState({ role, content: said }, state)];
}

// Content

function decodeContent(content: Field): (Text | Media)[] {
  if (typeof content.value === "string") return content.value === "" ? [] : [{ type: "text", text: content.value }];
  if (content.given && !Array.isArray(content.value)) content.fail("must be a string or a list of blocks");
  return content.list().map(decodePart);
}

/** A block that no noun stands for keeps its place as a text: what others can read of it, often nothing. */
const whole = (data: Json, text: string, quiet?: boolean): Text => ({
  type: "text",
  text,
  state: [quiet ? { wire: WIRE, kind: BLOCK, data, quiet } : { wire: WIRE, kind: BLOCK, data }],
});

function decodePart(block: Field): Text | Media {
  const type = block.at("type").name();
  if (type === "text") return withState<Text>({ type, text: block.at("text").string() ?? "" }, stateOf(WIRE, block));
  const media = type === "image" || type === "document" ? decodeMedia(block, type) : undefined;
  const text = textIn(block.value);
  return media ?? whole(block.value ?? null, text, text !== "");
}

function decodeMedia(block: Field, type: "image" | "document"): Media | undefined {
  const source = block.at("source");
  const kind = source.at("type").string();
  if (kind !== "base64" && kind !== "url") return undefined;
  const given = source.at("media_type").string();
  const media = defined<Media>({
    type: "media",
    mediaType: given ?? (type === "image" ? "image/*" : "application/pdf"),
    data: source.at("data").string(),
    url: source.at("url").string(),
    name: type === "document" ? block.at("title").string() : undefined,
  });
  const inner = source.rest();
  return withState(media, inner && [{ wire: WIRE, kind: "source", data: inner }], stateOf(WIRE, block));
}

/** What can be read in documents of plain text, search results and tool references. */
function textIn(block: Json | undefined): string {
  if (!isObject(block)) return "";
  const { type, text, title, source, content, data, tool_name: name } = block;
  if (type === "text") return typeof text === "string" ? text : "";
  if (type === "tool_reference") return `The tool ${name} is now available.`;
  if (type !== "document" && type !== "search_result") return "";
  const inner = isObject(source) ? (source.data ?? source.content) : (content ?? data);
  const body = Array.isArray(inner) ? inner.map(textIn).join("\n") : typeof inner === "string" ? inner : "";
  return body && [title, type === "search_result" ? source : "", body].filter((line) => typeof line === "string" && line !== "").join("\n");
}

function decodeAssistant(content: Field, calls: Calls): Part[] {
  if (!Array.isArray(content.value)) return decodeContent(content);
  const carried: Carried = new Map();
  const parts = content.list().flatMap((block): Part[] => {
    const type = block.at("type").name();
    if (type === "tool_use") return [decodeCall(block, calls)];
    if (type === "thinking") return decodeThought(block, carried);
    if (type !== "redacted_thinking") return [decodePart(block)];
    return [withState<Thinking>({ type: "thinking", text: "" }, stateOf(WIRE, block))]; // its `data`
  });
  return parts.map((part) => (part.type === "tool-call" ? withState(part, part.state, carried.get(part.id)) : part));
}

function decodeThought(block: Field, carried: Carried): Thinking[] {
  const text = block.at("thinking").string() ?? "";
  const signature = block.at("signature").string() ?? "";
  const opened = openSignature(signature, carried);
  if (opened?.carrier && text === "") return [];
  const state = opened ? opened.state : [signed(signature)];
  return [withState<Thinking>({ type: "thinking", text: text || (opened?.thinking ?? "") }, state, stateOf(WIRE, block))];
}

// Calls and results

function decodeCall(block: Field, calls: Calls): ToolCall | Malformed {
  const { id, name } = calls.add(block.at("id").string(), block.at("name").name());
  const input = block.at("input");
  const read = input.given && !isObject(input.value) ? undefined : parseArguments(JSON.stringify(input.value ?? {}));
  if (read && "arguments" in read) return withState<ToolCall>({ type: "tool-call", id, name, ...read }, stateOf(WIRE, block));
  // An old call that nobody can read is no reason to refuse what comes after it.
  const code = read?.code ?? "bad-arguments";
  return { type: "malformed", raw: malformedRaw(name, input.value ?? ""), code, reason: `${input.path} is no object, or too deep`, id };
}

function decodeResult(block: Field, calls: Calls): ToolResult {
  block.at("type");
  const given = { id: block.at("tool_use_id").string(), name: undefined };
  const content = block.at("content");
  const parts = decodeContent(content);
  const media = parts.filter((part) => part.type === "media");
  const texts = parts.filter((part) => part.type === "text");
  // Text, then media: more than that the nouns do not say, so the blocks go along.
  const plain = texts.length <= 1 && parts.every((part, i) => !part.state && (part.type === "media" || i === 0));
  const blocks: Opaque[] = plain ? [] : [{ wire: WIRE, kind: CONTENT, data: content.value ?? null, quiet: true }];
  return withState<ToolResult>(
    defined<ToolResult>({
      role: "tool",
      ...calls.answer(given),
      output: texts.map((part) => part.text).join("\n"),
      media: someOf(media),
      isError: block.at("is_error").boolean() || undefined,
    }),
    blocks,
    stateOf(WIRE, block),
  );
}

// Tools

function decodeTools(root: Field, rest: Unmodelled): Tool[] {
  const list = root.at("tools").list();
  const revealed = list.some((tool) => tool.at("defer_loading").value) ? references(root.at("messages").value ?? null) : new Set<Json>();
  return list.flatMap((tool) => {
    const type = tool.at("type").string() ?? "custom";
    if (type !== "custom") {
      rest.take(tool); // a tool of Anthropic's own: it keeps its place in the list
      return [];
    }
    const name = tool.at("name").name();
    const deferred = tool.at("defer_loading").boolean();
    // A tool that the conversation has referred to is there for everybody; only Anthropic's servers are still told that it was deferred.
    const known = deferred && revealed.has(name);
    const decoded = defined<Tool>({
      name,
      description: tool.at("description").string(),
      parameters: tool.at("input_schema").object(),
      strict: tool.at("strict").boolean(),
      deferred: (deferred && !known) || undefined,
    });
    const state: Opaque[] = known ? [{ wire: WIRE, kind: "defer_loading", data: true, quiet: true }] : [];
    return [withState(decoded, state, stateOf(WIRE, tool, QUIET))];
  });
}

/** The names of the tools that a `tool_reference` reveals, in a result, in a search of the server's, or in a change of tools. */
function references(value: Json, found = new Set<Json>()): Set<Json> {
  if (Array.isArray(value)) for (const item of value as readonly Json[]) references(item, found);
  else if (isObject(value) && value.type === "tool_reference") found.add(value.tool_name ?? value.name ?? null);
  else if (isObject(value) && value.type !== "tool_removal") for (const item of Object.values(value)) references(item, found);
  return found;
}

const CHOICES = { auto: "auto", any: "required", none: "none", tool: "tool" } as const;

function decodeToolChoice(choice: Field, tools: readonly Tool[], rest: Unmodelled): ToolChoice | undefined {
  if (!choice.object()) return undefined;
  const mode = choice.at("type").oneOf(CHOICES);
  if (mode !== "tool") {
    rest.keep(choice);
    return mode;
  }
  const name = choice.at("name").name();
  if (tools.some((tool) => tool.name === name)) return { name };
  rest.take(choice); // one of Anthropic's own tools
  return undefined;
}

function decodeParallel(choice: Field): boolean | undefined {
  const disabled = choice.at("disable_parallel_tool_use").boolean();
  return disabled === undefined ? undefined : !disabled;
}

// Settings

const THINKING: Readonly<Record<string, ThinkingSettings>> = {
  enabled: { enabled: true },
  adaptive: { enabled: true },
  between_tools: { enabled: true },
  disabled: { enabled: false },
};
const DISPLAY: Readonly<Record<string, boolean>> = { summarized: true, omitted: false };

function decodeThinking(thinking: Field, rest: Unmodelled): ThinkingSettings {
  if (!thinking.object()) return {};
  const type = thinking.at("type").name();
  const display = thinking.at("display").string();
  const settings: ThinkingSettings = defined<ThinkingSettings>({
    ...(THINKING[type] ?? { enabled: true }),
    budget: thinking.at("budget_tokens").number(),
    show: display === undefined ? undefined : DISPLAY[display],
  });
  if (!THINKING[type] || type === "between_tools") rest.take(thinking, { quiet: true });
  else rest.keep(thinking);
  return settings;
}

function decodeEffort(config: Field, root: Field, rest: Unmodelled): ThinkingSettings {
  const given = config.at("effort");
  const effort = given.string() && EFFORTS[given.string() ?? ""];
  // Between `high` and `max` the nouns have nothing; and for Anthropic's models an effort alone is no wish to think.
  if (given.given && (given.value !== effort || !root.at("thinking").given)) rest.take(given, { quiet: true });
  return effort ? { effort } : {};
}

/** Whether thinking of earlier turns stays in the prompt: said in an edit of the context, which goes along as it is. */
function decodeKeep(root: Field): ThinkingSettings {
  const edits = JSON.stringify(objectOf(root.value).context_management ?? null);
  return /"clear_thinking_20251015","keep":("all"|\{"type":"all")/.test(edits) ? { keep: true } : {};
}

function decodeOutput(format: Field, rest: Unmodelled): Request["output"] {
  if (!format.object()) return undefined;
  if (format.at("type").value !== "json_schema") {
    rest.take(format);
    return undefined;
  }
  const schema = format.at("schema").object();
  rest.keep(format);
  return schema ? { schema } : {};
}
