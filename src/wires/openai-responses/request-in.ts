/** Requests of clients: `instructions`, a list of items, tools and settings. */
import type {
  Json,
  JsonObject,
  Media,
  Message,
  Opaque,
  Part,
  Request,
  Text,
  ThinkingSettings,
  Tool,
  ToolResult,
} from "../../core/nouns.ts";
import { toolKind } from "../bridge.ts";
import { Calls } from "../calls.ts";
import { mediaFromUrl } from "../media.ts";
import { withState } from "../opaque.ts";
import { EFFORTS, readChoice, readGrammar, readOutput } from "../openai.ts";
import {
  defined,
  each,
  fail,
  fields,
  flag,
  listOf,
  name,
  number,
  object,
  objectOf,
  oneOf,
  readBody,
  restOf,
  someOf,
  text,
} from "../read.ts";
import { readSampling, readStream, Source } from "../request-in.ts";
import type { WireInput } from "../wire.ts";
import {
  calledBy,
  defaultsOf,
  fileName,
  flatName,
  itemState,
  namespaceIn,
  QUIET,
  quietState,
  readReasoning,
  SAMPLING,
  TOOL,
  WIRE,
} from "./items.ts";

/** What lives on the server that made it. */
const NOT_KEPT = "is not kept here: send the whole conversation as input";
const STORED: Readonly<Record<string, string>> = { background: "is not possible here: stream the answer, or wait for it" };

export function decodeRequest({ body }: WireInput): Request {
  const { model, instructions, input, tools, tool_choice, parallel_tool_calls, stream, reasoning, ...others } = readBody(body);
  const { max_output_tokens, text: form, store, include, previous_response_id, conversation, background, ...unread } = others;
  for (const [key, value] of Object.entries({ previous_response_id, conversation, background }))
    if (value) fail(key, STORED[key] ?? NOT_KEPT, value);
  const from = new Source(WIRE, QUIET);
  const declared = readTools(tools, "", from);
  const { format, ...formRest } = object(form, "", "text") ?? {};
  const thinking = readThinking(object(reasoning, "", "reasoning"), from);
  const [sampling, rest] = readSampling(unread, SAMPLING);
  const request = {
    model: text(model, "", "model") ?? "",
    messages: readMessages(text(instructions, "", "instructions"), input, declared, from),
    tools: someOf(declared),
    toolChoice: readChoice(from, tool_choice, "tool_choice", declared, (tool) => calledBy(declared, tool.name).name),
    parallelCalls: flag(parallel_tool_calls, "", "parallel_tool_calls"),
    stream: readStream(stream),
    thinking,
    sampling,
    maxTokens: number(max_output_tokens, "", "max_output_tokens"),
    output: readOutput(object(format, "text", "format"), "text.format", from),
  };
  from.keep("text", formRest);
  const defaults = defaultsOf(thinking);
  for (const [key, value] of Object.entries({ store, include }))
    if (JSON.stringify(value ?? null) !== JSON.stringify(defaults[key])) from.take(key, value, true);
  return from.request(rest, request);
}

// Items

const ROLES = { system: "system", developer: "developer", user: "user", assistant: "assistant" } as const;

function readMessages(instructions: string | undefined, input: Json | undefined, tools: readonly Tool[], from: Source): Message[] {
  const isText = typeof input === "string";
  const items = new Items(tools, from);
  from.calls = new Calls(() => listOf(input).map((item) => objectOf(item).call_id));
  if (instructions) items.messages.push({ role: "system", content: [{ type: "text", text: instructions }] });
  if (isText) items.messages.push({ role: "user", content: readContent(input, "", "input", from) });
  else each(input, "", "input", (item, at) => items.add(item, at));
  if (items.messages.length + from.extra.length === 0) fail("input", "must be a string, or a list of items that is not empty", input);
  return items.messages;
}

/** Items become messages: what the model said in a row is one message, though a text right behind a text begins the next. */
class Items {
  readonly messages: Message[] = [];
  readonly #tools: readonly Tool[];
  readonly #from: Source;
  #afterText = false;

  constructor(tools: readonly Tool[], from: Source) {
    this.#tools = tools;
    this.#from = from;
  }

  add(item: JsonObject, at: string): void {
    const type = text(item.type, at, "type") ?? "message";
    if (type === "message") this.#message(item, at);
    else if (type === "reasoning") this.#reasoning(item);
    else if (type === "function_call" || type === "custom_tool_call") this.#call(item, at, type === "custom_tool_call");
    else if (type === "function_call_output" || type === "custom_tool_call_output") this.#result(item, at);
    else if (type === "item_reference") this.#from.warn(at, item, type, "is stored elsewhere: send the item itself, with store: false");
    else this.#from.unknown(at, item, "item", type);
  }

  #message(item: JsonObject, at: string): void {
    const role = oneOf(ROLES, item.role, at, "role");
    const content = readContent(item.content, at, "content", this.#from);
    const state = itemState(item);
    if (role === "assistant") {
      if (this.#afterText) this.#push({ role, content: [] });
      const [first = { type: "text" as const, text: "" }, ...others] = content;
      // The item that texts stand in is not the message that it becomes a part of: what it has rides on its first text.
      const mark = state.length > 0 ? [quietState("message", Object.fromEntries(state.map(({ kind, data }) => [kind, data])))] : [];
      if (content.length + mark.length > 0) this.#say(withState(first, mark, first.state), ...others);
      this.#afterText = true;
    } else {
      // `instructions` look just like a system message in front.
      if (role === "system" && this.messages.length === 0) state.push(quietState("type", "message"));
      this.#push(withState({ role, content }, state));
    }
  }

  #reasoning(item: JsonObject): void {
    const { text, state, call: id } = readReasoning(item);
    if (id === undefined) this.#say(withState({ type: "thinking", text }, state));
    const parts = this.messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
    const call = parts.findLast((part) => part.type === "tool-call" && part.id === id);
    if (call?.type === "tool-call") withState(call, call.state, state);
  }

  #call(item: JsonObject, at: string, isCustom: boolean): void {
    const namespace = text(item.namespace, at, "namespace");
    const called = flatName(namespace, name(item.name, at, "name"));
    const named = this.#from.calls.add(text(item.call_id, at, "call_id"), called);
    const state: Opaque[] = [];
    // What the tools tell need not be kept.
    if (namespace !== undefined && namespace !== namespaceIn(this.#tools, called)) state.push(quietState("namespace", namespace));
    if (isCustom && toolKind(this.#tools, called) !== "custom") state.push(quietState("custom", true));
    state.push(...itemState(item));
    if (isCustom) {
      const input = text(item.input, at, "input") ?? "";
      this.#say(withState<Part>({ type: "tool-call", ...named, arguments: { input } }, state));
      return;
    }
    const call = this.#from.call(named, text(item.arguments, at, "arguments"), at, "arguments", state);
    if (call.type === "tool-call" && item.status === "incomplete") call.truncated = true;
    this.#say(call);
  }

  #result(item: JsonObject, at: string): void {
    const named = this.#from.calls.answer({ id: text(item.call_id, at, "call_id"), name: text(item.name, at, "name") });
    const given = item.output ?? "";
    const parts = Array.isArray(given) ? readContent(given, at, "output", this.#from) : [];
    const output = Array.isArray(given) ? parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n") : given;
    const media = someOf(parts.filter((part) => part.type === "media"));
    this.#push(withState(defined<ToolResult>({ role: "tool", ...named, output, media }), itemState(item)));
  }

  #push(message: Message): void {
    this.messages.push(message);
    this.#afterText = false;
  }

  #say(...parts: Part[]): void {
    const last = this.messages.at(-1);
    if (last?.role === "assistant") last.content.push(...parts);
    else this.messages.push({ role: "assistant", content: parts });
    this.#afterText = false;
  }
}

// Content

/** What is always said, and so need not be kept. */
const DEFAULTS = new Set(["annotations []", "logprobs []", 'detail "auto"']);

const readContent = (content: Json | undefined, at: string, key: string, from: Source): (Text | Media)[] =>
  from.content(content, at, key, ({ type: kind, ...part }, place): (Text | Media)[] => {
    const type = name(kind, place, "type");
    const reader = Object.hasOwn(PARTS, type) ? PARTS[type] : undefined;
    if (!reader) {
      from.unknown(place, { type, ...part }, "part", type);
      return [];
    }
    const [read, rest] = reader(part, place);
    const state = from.state(rest)?.filter(({ kind, data }) => !DEFAULTS.has(`${kind} ${JSON.stringify(data)}`));
    return [withState(read, read.state, state)];
  });

/** A part, and what is left of it. */
type PartReader = (part: JsonObject, at: string) => [Text | Media, rest: JsonObject];

const readText: PartReader = ({ text: said, ...rest }, at) => [{ type: "text", text: text(said, at, "text") ?? "" }, rest];

const PARTS: Readonly<Record<string, PartReader>> = {
  input_text: readText,
  output_text: readText,
  text: readText,
  /** A refusal is text that the model said; the state tells the same wire what it was. */
  refusal: ({ refusal, ...rest }, at) => [
    { type: "text", text: text(refusal, at, "refusal") ?? "", state: [quietState("refusal", true)] },
    rest,
  ],
  input_image: ({ image_url, ...rest }, at) => [mediaFromUrl(text(image_url, at, "image_url"), "image/*"), rest],
  input_file({ file_data, file_url, filename, ...rest }, at) {
    const [data, named] = [text(file_data, at, "file_data"), text(filename, at, "filename")];
    const media = mediaFromUrl(data ?? text(file_url, at, "file_url"), "application/octet-stream");
    if (data !== undefined && media.data === undefined) {
      media.data = data;
      delete media.url;
    }
    if (named !== undefined && named !== fileName(media)) media.name = named;
    return [media, rest];
  },
};

// Tools

const readTools = (tools: Json | undefined, at: string, from: Source): Tool[] =>
  each(tools, at, "tools", ({ type: given, ...tool }, place): Tool[] => {
    const type = text(given, place, "type") ?? "function";
    if (type === "namespace") {
      const { tools: inner, name: space, ...rest } = tool;
      const named = name(space, place, "name");
      const mark = quietState("namespace", { name: named, ...restOf(rest) });
      return readTools(inner, place, from).map((item) => withState({ ...item, name: flatName(named, item.name) }, [mark], item.state));
    }
    if (type === "function" || type === "custom") return [readTool(tool, place, type, from)];
    from.unknown(place, { type, ...tool }, "tool", type);
    return [];
  }).flat();

function readTool(tool: JsonObject, at: string, kind: "function" | "custom", from: Source): Tool {
  const [{ strict, ...read }, rest] = fields<Tool>(tool, TOOL, at);
  const made: Tool = { ...read, name: name(tool.name, at, "name") };
  if (kind === "function") {
    // Only here a function is strict unless it says that it is not.
    if (strict) made.strict = strict;
    return withState(made, strict === undefined ? [quietState("strict", null)] : [], from.state(rest));
  }
  const { format, ...others } = rest;
  const grammar = readGrammar(format);
  made.kind = kind;
  if (grammar) made.grammar = grammar;
  return withState(made, from.state(grammar || objectOf(format).type === "text" ? others : rest));
}

// Settings

function readThinking(reasoning: JsonObject | undefined, from: Source): ThinkingSettings | undefined {
  if (!reasoning) return undefined;
  const { effort = null, summary = null, ...rest } = reasoning;
  // Where there are several words for one thing, we say another.
  if (effort === "max") from.take("reasoning.effort", effort, true);
  if (summary !== null && summary !== "auto") from.take("reasoning.summary", summary, true);
  from.keep("reasoning", rest);
  return { ...(effort === null ? {} : oneOf(EFFORTS, effort, "reasoning", "effort")), ...(summary === null ? {} : { show: true }) };
}
