/** Requests of clients: `{"model": "m", "max_tokens": 9, "system": "…", "messages": [{"role": "user", "content": [{"type": "text", …}]}]}`. */
import { BadRequest } from "../../core/errors.ts";
import { isObject } from "../../core/json.ts";
import type {
  ErrorInfo,
  Json,
  JsonObject,
  Media,
  Message,
  Opaque,
  Part,
  Request,
  Text,
  Thinking,
  ThinkingSettings,
  Tool,
  ToolChoice,
  ToolResult,
} from "../../core/nouns.ts";
import { Calls } from "../calls.ts";
import { openCapsule, putState, withState } from "../opaque.ts";
import {
  defined,
  each,
  eachOf,
  fields,
  flag,
  inside,
  isEmpty,
  listOf,
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
import { messagesIn, readSampling, readStop, readStream, Source } from "../request-in.ts";
import { ArgumentTexts } from "../spans.ts";
import type { Headers, WireInput } from "../wire.ts";
import { BLOCK, type Carried, CONTENT, EFFORT, EFFORTS, HEADERS, SAMPLING, SOURCE, signed, TOOL, VERSION, WIRE } from "./common.ts";

/** The SDK's tool runner sends only what is new, and all of it once it hears this. */
const LOST: ErrorInfo = {
  code: "not-found",
  message: "thread.previous_message_id is not kept here: send the whole conversation",
  native: "thread_not_found",
};

const ROOT = words(
  "system messages tools output_config output_format thinking tool_choice model stream max_tokens stop_sequences",
  SAMPLING,
);
/** Bookkeeping, or said in the nouns as well. */
const QUIET = words("metadata context_management service_tier eager_input_streaming output_config thread");
const CONFIG = words("effort format");

export function decodeRequest({ headers, body }: WireInput): Request {
  const root = readBody(body);
  if (objectOf(root.thread).type === "continue") throw new BadRequest(LOST);
  const from = new Source(WIRE, QUIET);
  const messages = [...readSystem(root, from), ...new Conversation(from, body).read(root)];
  const tools = readTools(root, from);
  const config = object(root, "output_config");
  const thinking = { ...readThinking(object(root, "thinking"), from), ...readEffort(config, root, from), ...readKeep(root) };
  const choice = object(root, "tool_choice");
  const oneCall = choice && flag(choice, "disable_parallel_tool_use", "tool_choice");
  const request = {
    model: text(root, "model") ?? "",
    messages,
    tools: someOf(tools),
    toolChoice: choice && readChoice(choice, tools, from),
    parallelCalls: oneCall === undefined ? undefined : !oneCall,
    stream: readStream(root),
    thinking: isEmpty(thinking) ? undefined : thinking,
    sampling: readSampling(root, SAMPLING),
    maxTokens: number(root, "max_tokens"),
    stop: readStop(root, "stop_sequences"),
    output: (config && readOutput(config, "format", "output_config", from)) ?? readOutput(root, "output_format", "", from),
  };
  from.keep("output_config", config, CONFIG);
  return from.request(root, ROOT, request, transport(headers));
}

/** What a client asks of the API beside the body: it is for Anthropic's own servers. */
function transport({ "anthropic-beta": beta, "anthropic-version": version }: Headers): Opaque[] {
  const data = { ...(beta ? { "anthropic-beta": beta } : {}), ...(version && version !== VERSION ? { "anthropic-version": version } : {}) };
  return isEmpty(data) ? [] : [{ wire: WIRE, kind: HEADERS, data, quiet: true }];
}

// Content

/** A line that Claude Code puts in front for Anthropic's books. It changes with every version: for any other model it would only spoil the cached prefix. */
const BILLING = "x-anthropic-billing-header:";

function readSystem(root: JsonObject, from: Source): Message[] {
  const content = from
    .content(root, "system", "", (part, at) => readPart(part, at, from))
    .map((part) =>
      part.type === "text" && part.text.startsWith(BILLING)
        ? whole(putState(WIRE, { type: "text", text: part.text }, part.state), "", true)
        : part,
    );
  return content.length > 0 ? [{ role: "system", content }] : [];
}

/** A block that no noun stands for keeps its place as a text: what others can read of it, often nothing. */
const whole = (data: Json, text: string, quiet?: boolean): Text => ({
  type: "text",
  text,
  state: [quiet ? { wire: WIRE, kind: BLOCK, data, quiet } : { wire: WIRE, kind: BLOCK, data }],
});

const TEXT = words("type text");
const IMAGE = words("type source");
const DOCUMENT = words("type source title");
const KNOWN_SOURCE = words("type", SOURCE);

function readPart(block: JsonObject, at: string, from: Source): Text | Media {
  const type = name(block, "type", at);
  if (type === "text") return withState<Text>({ type, text: text(block, "text", at) ?? "" }, from.state(block, TEXT));
  const media = type === "image" || type === "document" ? readMedia(block, at, type === "document", from) : undefined;
  const said = media ? "" : textIn(block);
  return media ?? whole(block, said, said !== "");
}

function readMedia(block: JsonObject, at: string, isDocument: boolean, from: Source): Media | undefined {
  const source = object(block, "source", at);
  if (source?.type !== "base64" && source?.type !== "url") return undefined;
  const mediaType = isDocument ? "application/pdf" : "image/*";
  const media: Media = { type: "media", mediaType, ...fields<Media>(source, SOURCE, inside(at, "source")) };
  const title = isDocument ? text(block, "title", at) : undefined;
  if (title !== undefined) media.name = title;
  return withState(media, from.inner("source", source, KNOWN_SOURCE), from.state(block, isDocument ? DOCUMENT : IMAGE));
}

/** What can be read in documents of plain text, search results and tool references. */
function textIn(block: Json | undefined): string {
  if (!isObject(block)) return "";
  const { type, text, title, source, content, data, tool_name: tool } = block;
  if (type === "text") return typeof text === "string" ? text : "";
  if (type === "tool_reference") return `The tool ${tool} is now available.`;
  if (type !== "document" && type !== "search_result") return "";
  const inner = isObject(source) ? (source.data ?? source.content) : (content ?? data);
  const body = Array.isArray(inner) ? inner.map(textIn).join("\n") : typeof inner === "string" ? inner : "";
  return body && [title, type === "search_result" ? source : "", body].filter((line) => typeof line === "string" && line !== "").join("\n");
}

// Messages

const ROLES = { user: "user", assistant: "assistant", system: "system" } as const;

const MESSAGE = words("role content");
const CALL = words("type id name input");
const RESULT = words("type tool_use_id content is_error");
const THOUGHT = words("type thinking signature");
const REDACTED = words("type");

const isResult = ({ type }: JsonObject) => type === "tool_result";

class Conversation {
  readonly #from: Source;
  readonly #texts: ArgumentTexts;

  constructor(from: Source, body: unknown) {
    this.#from = from;
    this.#texts = new ArgumentTexts(body, "input");
  }

  read(root: JsonObject): Message[] {
    const messages = messagesIn(root);
    this.#from.calls = new Calls(() => messages.flatMap((message) => listOf(objectOf(message).content)).map((block) => objectOf(block).id));
    return eachOf(messages, "messages", (message, at) => this.#message(message, at)).flat();
  }

  #message(message: JsonObject, at: string): Message[] {
    const from = this.#from;
    const role = oneOf(ROLES, message, "role", at);
    const state = from.state(message, MESSAGE);
    if (role === "assistant") return [withState({ role, content: this.#assistant(message, at) }, state)];
    const results: ToolResult[] = [];
    const content = from.content(message, "content", at, (block, place) => {
      if (role !== "user" || !isResult(block)) return readPart(block, place, from);
      results.push(this.#result(block, place));
      return [];
    });
    // Results come first, whatever stands before them: the API refuses any other order.
    return results.length > 0 && content.length === 0 && !state ? results : [...results, withState({ role, content }, state)];
  }

  #assistant(message: JsonObject, at: string): Part[] {
    const carried: Carried = new Map();
    const parts = this.#from.content(message, "content", at, (block, place): Part[] => {
      const type = name(block, "type", place);
      if (type === "tool_use") return [this.#call(block, place)];
      if (type === "thinking") return this.#thinking(block, place, carried);
      if (type !== "redacted_thinking") return [readPart(block, place, this.#from)];
      return [withState<Thinking>({ type: "thinking", text: "" }, this.#from.state(block, REDACTED))]; // its `data`
    });
    for (const part of parts) if (part.type === "tool-call") withState(part, part.state, carried.get(part.id));
    return parts;
  }

  #thinking(block: JsonObject, at: string, carried: Carried): Thinking[] {
    const thinking = text(block, "thinking", at) ?? "";
    const signature = text(block, "signature", at) ?? "";
    const capsule = openCapsule(signature);
    if (capsule?.call !== undefined) {
      carried.set(capsule.call, capsule.state ?? []);
      if (thinking === "") return []; // no thinking, but the carrier of a call's state
    }
    const state = capsule ? capsule.thinkingState : [signed(signature)];
    return [
      withState<Thinking>({ type: "thinking", text: thinking || (capsule?.thinking ?? "") }, state, this.#from.state(block, THOUGHT)),
    ];
  }

  #call(block: JsonObject, at: string): Part {
    const named = this.#from.calls.add(text(block, "id", at), name(block, "name", at));
    const spelled = this.#texts.take(block.input ?? {}).json;
    return this.#from.call(named, block, "input", at, this.#from.state(block, CALL), spelled);
  }

  #result(block: JsonObject, at: string): ToolResult {
    const parts = this.#from.content(block, "content", at, (part, place) => readPart(part, place, this.#from));
    const media = parts.filter((part) => part.type === "media");
    const texts = parts.filter((part) => part.type === "text");
    // Text, then media: more than that the nouns do not say, so the blocks go along.
    const plain = texts.length <= 1 && parts.every((part, i) => !part.state && (part.type === "media" || i === 0));
    const blocks: Opaque[] = plain ? [] : [{ wire: WIRE, kind: CONTENT, data: block.content ?? null, quiet: true }];
    const result = defined<ToolResult>({
      role: "tool",
      ...this.#from.calls.answer({ id: text(block, "tool_use_id", at), name: undefined }),
      output: texts.map((part) => part.text).join("\n"),
      media: someOf(media),
      isError: flag(block, "is_error", at) || undefined,
    });
    return withState(result, blocks, this.#from.state(block, RESULT));
  }
}

// Tools

const KNOWN_TOOL = words("type", TOOL);

function readTools(root: JsonObject, from: Source): Tool[] {
  let revealed: Set<Json> | undefined;
  return each(root, "tools", "", (tool, at): Tool[] => {
    if ((text(tool, "type", at) ?? "custom") !== "custom") {
      from.take(at, tool); // a tool of Anthropic's own: it keeps its place in the list
      return [];
    }
    const read: Tool = { name: name(tool, "name", at), ...fields<Tool>(tool, TOOL, at) };
    if (read.deferred) revealed ??= references(root.messages ?? null);
    // A tool that the conversation has referred to is there for everybody; only Anthropic's servers are still told that it was deferred.
    const isKnown = read.deferred && revealed?.has(read.name);
    if (isKnown) delete read.deferred;
    const state: Opaque[] = isKnown ? [{ wire: WIRE, kind: "defer_loading", data: true, quiet: true }] : [];
    return [withState(read, state, from.state(tool, KNOWN_TOOL))];
  }).flat();
}

/** The names of the tools that a `tool_reference` reveals, in a result, in a search of the server's, or in a change of tools. */
function references(value: Json, found = new Set<Json>()): Set<Json> {
  if (Array.isArray(value)) for (const item of value as readonly Json[]) references(item, found);
  else if (isObject(value) && value.type === "tool_reference") found.add(value.tool_name ?? value.name ?? null);
  else if (isObject(value) && value.type !== "tool_removal") for (const item of Object.values(value)) references(item, found);
  return found;
}

const CHOICES = { auto: "auto", any: "required", none: "none", tool: "tool" } as const;
const CHOICE = words("type disable_parallel_tool_use");

function readChoice(choice: JsonObject, tools: readonly Tool[], from: Source): ToolChoice | undefined {
  const mode = oneOf(CHOICES, choice, "type", "tool_choice");
  if (mode !== "tool") {
    from.keep("tool_choice", choice, CHOICE);
    return mode;
  }
  const wanted = name(choice, "name", "tool_choice");
  if (tools.some((tool) => tool.name === wanted)) return { name: wanted };
  from.take("tool_choice", choice); // one of Anthropic's own tools
  return undefined;
}

// Settings

const KINDS: Readonly<Record<string, boolean>> = { enabled: true, adaptive: true, disabled: false };
const DISPLAY: Readonly<Record<string, boolean>> = { summarized: true, omitted: false };
const THINKING = words("type display budget_tokens");

function readThinking(thinking: JsonObject | undefined, from: Source): ThinkingSettings {
  if (!thinking) return {};
  const type = name(thinking, "type", "thinking");
  if (KINDS[type] === undefined)
    from.take("thinking", thinking, true); // `between_tools`, and what is yet to come
  else from.keep("thinking", thinking, THINKING);
  return defined<ThinkingSettings>({
    enabled: KINDS[type] ?? true,
    budget: number(thinking, "budget_tokens", "thinking"),
    show: DISPLAY[text(thinking, "display", "thinking") ?? ""],
  });
}

function readEffort(config: JsonObject | undefined, root: JsonObject, from: Source): ThinkingSettings {
  const given = config && text(config, "effort", "output_config");
  if (given === undefined) return {};
  const effort = EFFORTS[given];
  // Between `high` and `max` the nouns have nothing; and for Anthropic's models an effort alone is no wish to think.
  if (given !== effort || !valueAt(root, "thinking")) from.take(EFFORT, given, true);
  return effort ? { effort } : {};
}

/** Whether thinking of earlier turns stays in the prompt: said in an edit of the context, which goes along as it is. */
function readKeep({ context_management: edits }: JsonObject): ThinkingSettings {
  const keeps = edits && /"clear_thinking_20251015","keep":("all"|\{"type":"all")/.test(JSON.stringify(edits));
  return keeps ? { keep: true } : {};
}

const FORMAT = words("type schema");

function readOutput(from: JsonObject, key: string, at: string, source: Source): Request["output"] {
  const format = object(from, key, at);
  if (!format) return undefined;
  const place = inside(at, key);
  if (format.type !== "json_schema") {
    source.take(place, format);
    return undefined;
  }
  const schema = object(format, "schema", place);
  source.keep(place, format, FORMAT);
  return schema ? { schema } : {};
}
