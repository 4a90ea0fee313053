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
  words,
} from "../read.ts";
import { conversation, readSampling, readStop, readStream, Source } from "../request-in.ts";
import { ArgumentTexts } from "../spans.ts";
import type { Headers, WireInput } from "../wire.ts";
import { BLOCK, type Carried, CONTENT, EFFORT, EFFORTS, HEADERS, SAMPLING, SOURCE, signed, TITLE, TOOL, VERSION, WIRE } from "./common.ts";

/** The SDK's tool runner sends only what is new, and all of it once it hears this. */
const LOST: ErrorInfo = {
  code: "not-found",
  message: "thread.previous_message_id is not kept here: send the whole conversation",
  native: "thread_not_found",
};

/** Bookkeeping, or said in the nouns as well. */
const QUIET = words("metadata context_management service_tier eager_input_streaming output_config thread");

export function decodeRequest({ headers, body }: WireInput): Request {
  const { model, system, messages, tools, tool_choice, thinking, stream, max_tokens, stop_sequences, ...others } = readBody(body);
  const { output_config, output_format, ...unread } = others;
  if (objectOf(unread.thread).type === "continue") throw new BadRequest(LOST);
  const from = new Source(WIRE, QUIET);
  const said = [...readSystem(system, from), ...new Conversation(from, body).read(messages)];
  const declared = readTools(tools, messages, from);
  const { effort, format, ...configRest } = object(output_config, "", "output_config") ?? {};
  const settings = object(thinking, "", "thinking");
  const thinks = { ...readThinking(settings, from), ...readEffort(effort, !settings, from), ...readKeep(unread) };
  const choice = object(tool_choice, "", "tool_choice");
  const oneCall = flag(choice?.disable_parallel_tool_use, "tool_choice", "disable_parallel_tool_use");
  const [sampling, rest] = readSampling(unread, SAMPLING);
  const request = {
    model: text(model, "", "model") ?? "",
    messages: said,
    tools: someOf(declared),
    toolChoice: choice && readChoice(choice, declared, from),
    parallelCalls: oneCall === undefined ? undefined : !oneCall,
    stream: readStream(stream),
    thinking: isEmpty(thinks) ? undefined : thinks,
    sampling,
    maxTokens: number(max_tokens, "", "max_tokens"),
    stop: readStop(stop_sequences, "", "stop_sequences"),
    output: readOutput(format, "output_config", "format", from) ?? readOutput(output_format, "", "output_format", from),
  };
  from.keep("output_config", configRest);
  return from.request(rest, request, transport(headers));
}

/** What a client asks of the API beside the body: it is for Anthropic's own servers. */
function transport({ "anthropic-beta": beta, "anthropic-version": version }: Headers): Opaque[] {
  const data = { ...(beta ? { "anthropic-beta": beta } : {}), ...(version && version !== VERSION ? { "anthropic-version": version } : {}) };
  return isEmpty(data) ? [] : [{ wire: WIRE, kind: HEADERS, data, quiet: true }];
}

// Content

/** A line that Claude Code puts in front for Anthropic's books. It changes with every version: for any other model it would only spoil the cached prefix. */
const BILLING = "x-anthropic-billing-header:";

function readSystem(system: Json | undefined, from: Source): Message[] {
  const content = from
    .content(system, "", "system", (part, at) => readPart(part, at, from))
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

function readPart(block: JsonObject, at: string, from: Source): Text | Media {
  const { type: given, ...fields } = block;
  const type = name(given, at, "type");
  if (type === "text") {
    const { text: said, ...rest } = fields;
    return withState<Text>({ type, text: text(said, at, "text") ?? "" }, from.state(rest));
  }
  const media = type === "image" || type === "document" ? readMedia(fields, at, type === "document", from) : undefined;
  const said = media ? "" : textIn(block);
  return media ?? whole(block, said, said !== "");
}

function readMedia({ source: given, ...outer }: JsonObject, at: string, isDocument: boolean, from: Source): Media | undefined {
  const { type, ...source } = object(given, at, "source") ?? {};
  if (type !== "base64" && type !== "url") return undefined;
  const [read, inner] = fields<Media>(source, SOURCE, inside(at, "source"));
  const [named, rest] = isDocument ? fields<Media>(outer, TITLE, at) : [{}, outer];
  const media: Media = { type: "media", mediaType: isDocument ? "application/pdf" : "image/*", ...read, ...named };
  return withState(media, from.inner("source", inner), from.state(rest));
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

class Conversation {
  readonly #from: Source;
  readonly #texts: ArgumentTexts;

  constructor(from: Source, body: unknown) {
    this.#from = from;
    this.#texts = new ArgumentTexts(body, "input");
  }

  read(messages: Json | undefined): Message[] {
    const ids = () => listOf(messages).flatMap((message) => listOf(objectOf(message).content).map((block) => objectOf(block).id));
    this.#from.calls = new Calls(ids);
    return conversation(messages, "messages", "messages", (message, at) => this.#message(message, at)).flat();
  }

  #message({ role: given, content, ...rest }: JsonObject, at: string): Message[] {
    const from = this.#from;
    const role = oneOf(ROLES, given, at, "role");
    const state = from.state(rest);
    if (role === "assistant") return [withState({ role, content: this.#assistant(content, at) }, state)];
    const results: ToolResult[] = [];
    const said = from.content(content, at, "content", (block, place) => {
      if (role !== "user" || block.type !== "tool_result") return readPart(block, place, from);
      results.push(this.#result(block, place));
      return [];
    });
    // Results come first, whatever stands before them: the API refuses any other order.
    return results.length > 0 && said.length === 0 && !state ? results : [...results, withState({ role, content: said }, state)];
  }

  #assistant(content: Json | undefined, at: string): Part[] {
    const carried: Carried = new Map();
    const parts = this.#from.content(content, at, "content", (block, place): Part[] => {
      const { type, ...fields } = block;
      if (type === "tool_use") return [this.#call(fields, place)];
      if (type === "thinking") return this.#thinking(fields, place, carried);
      if (type !== "redacted_thinking") return [readPart(block, place, this.#from)];
      return [withState<Thinking>({ type: "thinking", text: "" }, this.#from.state(fields))]; // its `data`
    });
    for (const part of parts) if (part.type === "tool-call") withState(part, part.state, carried.get(part.id));
    return parts;
  }

  #thinking({ thinking: given, signature: sign, ...rest }: JsonObject, at: string, carried: Carried): Thinking[] {
    const thinking = text(given, at, "thinking") ?? "";
    const signature = text(sign, at, "signature") ?? "";
    const capsule = openCapsule(signature);
    if (capsule?.call !== undefined) {
      carried.set(capsule.call, capsule.state ?? []);
      if (thinking === "") return []; // no thinking, but the carrier of a call's state
    }
    const state = capsule ? capsule.thinkingState : [signed(signature)];
    return [withState<Thinking>({ type: "thinking", text: thinking || (capsule?.thinking ?? "") }, state, this.#from.state(rest))];
  }

  #call({ id, name: called, input, ...rest }: JsonObject, at: string): Part {
    const named = this.#from.calls.add(text(id, at, "id"), name(called, at, "name"));
    return this.#from.call(named, input, at, "input", this.#from.state(rest), this.#texts.take(input ?? {}));
  }

  #result({ type: _type, tool_use_id, content, is_error, ...rest }: JsonObject, at: string): ToolResult {
    const parts = this.#from.content(content, at, "content", (part, place) => readPart(part, place, this.#from));
    const media = parts.filter((part) => part.type === "media");
    const texts = parts.filter((part) => part.type === "text");
    // Text, then media: more than that the nouns do not say, so the blocks go along.
    const plain = texts.length <= 1 && parts.every((part, i) => !part.state && (part.type === "media" || i === 0));
    const blocks: Opaque[] = plain ? [] : [{ wire: WIRE, kind: CONTENT, data: content ?? null, quiet: true }];
    const result = defined<ToolResult>({
      role: "tool",
      ...this.#from.calls.answer({ id: text(tool_use_id, at, "tool_use_id"), name: undefined }),
      output: texts.map((part) => part.text).join("\n"),
      media: someOf(media),
      isError: flag(is_error, at, "is_error") || undefined,
    });
    return withState(result, blocks, this.#from.state(rest));
  }
}

// Tools

function readTools(tools: Json | undefined, messages: Json | undefined, from: Source): Tool[] {
  let revealed: Set<Json> | undefined;
  return each(tools, "", "tools", (tool, at): Tool[] => {
    const { type, ...spec } = tool;
    if ((text(type, at, "type") ?? "custom") !== "custom") {
      from.take(at, tool); // a tool of Anthropic's own: it keeps its place in the list
      return [];
    }
    const [read, rest] = fields<Tool>(spec, TOOL, at);
    const made: Tool = { ...read, name: name(spec.name, at, "name") };
    if (made.deferred) revealed ??= references(messages ?? null);
    // A tool that the conversation has referred to is there for everybody; only Anthropic's servers are still told that it was deferred.
    const isKnown = made.deferred && revealed?.has(made.name);
    if (isKnown) delete made.deferred;
    const state: Opaque[] = isKnown ? [{ wire: WIRE, kind: "defer_loading", data: true, quiet: true }] : [];
    return [withState(made, state, from.state(rest))];
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
function readChoice(choice: JsonObject, tools: readonly Tool[], from: Source): ToolChoice | undefined {
  const { type, disable_parallel_tool_use: _disable_parallel_tool_use, ...rest } = choice;
  const mode = oneOf(CHOICES, type, "tool_choice", "type");
  if (mode !== "tool") {
    from.keep("tool_choice", rest);
    return mode;
  }
  const wanted = name(rest.name, "tool_choice", "name");
  if (tools.some((tool) => tool.name === wanted)) return { name: wanted };
  from.take("tool_choice", choice); // one of Anthropic's own tools
  return undefined;
}

// Settings

const KINDS: Readonly<Record<string, boolean>> = { enabled: true, adaptive: true, disabled: false };
const DISPLAY: Readonly<Record<string, boolean>> = { summarized: true, omitted: false };
function readThinking(thinking: JsonObject | undefined, from: Source): ThinkingSettings {
  if (!thinking) return {};
  const { type, display, budget_tokens, ...rest } = thinking;
  const kind = name(type, "thinking", "type");
  if (KINDS[kind] === undefined)
    from.take("thinking", thinking, true); // `between_tools`, and what is yet to come
  else from.keep("thinking", rest);
  return defined<ThinkingSettings>({
    enabled: KINDS[kind] ?? true,
    budget: number(budget_tokens, "thinking", "budget_tokens"),
    show: DISPLAY[text(display, "thinking", "display") ?? ""],
  });
}

/** `alone`: nothing else is said of thinking. */
function readEffort(given: Json | undefined, alone: boolean, from: Source): ThinkingSettings {
  const word = text(given, "output_config", "effort");
  if (word === undefined) return {};
  const effort = EFFORTS[word];
  // Between `high` and `max` the nouns have nothing; and for Anthropic's models an effort alone is no wish to think.
  if (word !== effort || alone) from.take(EFFORT, word, true);
  return effort ? { effort } : {};
}

/** Whether thinking of earlier turns stays in the prompt: said in an edit of the context, which goes along as it is. */
function readKeep({ context_management: edits }: JsonObject): ThinkingSettings {
  const keeps = edits && /"clear_thinking_20251015","keep":("all"|\{"type":"all")/.test(JSON.stringify(edits));
  return keeps ? { keep: true } : {};
}

function readOutput(given: Json | undefined, at: string, key: string, from: Source): Request["output"] {
  const format = object(given, at, key);
  if (!format) return undefined;
  const { type, schema, ...rest } = format;
  const place = inside(at, key);
  if (type !== "json_schema") {
    from.take(place, format);
    return undefined;
  }
  from.keep(place, rest);
  return defined<NonNullable<Request["output"]>>({ schema: object(schema, place, "schema") });
}
