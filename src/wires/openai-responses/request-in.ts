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
  eachOf,
  fail,
  fields,
  flag,
  list,
  name,
  number,
  object,
  objectOf,
  oneOf,
  readBody,
  restOf,
  someOf,
  text,
  valueAt,
  type Words,
  words,
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
const STORED = {
  previous_response_id: "is not kept here: send the whole conversation as input",
  conversation: "is not kept here: send the whole conversation as input",
  background: "is not possible here: stream the answer, or wait for it",
} as const;

const ROOT = words("model instructions input tools tool_choice parallel_tool_calls stream reasoning max_output_tokens text store include", {
  ...STORED,
  ...SAMPLING,
});
const TEXT = words("format");

export function decodeRequest({ body }: WireInput): Request {
  const root = readBody(body);
  for (const [key, why] of Object.entries(STORED)) if (root[key]) fail(key, why, root[key]);
  const from = new Source(WIRE, QUIET);
  const tools = readTools(list(root, "tools"), "tools", from);
  const form = object(root, "text");
  const thinking = readThinking(object(root, "reasoning"), from);
  const request = {
    model: text(root, "model") ?? "",
    messages: readMessages(root, tools, from),
    tools: someOf(tools),
    toolChoice: readChoice(from, root, "tool_choice", tools, (tool) => calledBy(tools, tool.name).name),
    parallelCalls: flag(root, "parallel_tool_calls"),
    stream: readStream(root),
    thinking,
    sampling: readSampling(root, SAMPLING),
    maxTokens: number(root, "max_output_tokens"),
    output: readOutput(form && object(form, "format", "text"), "text.format", from),
  };
  from.keep("text", form, TEXT);
  for (const [key, value] of Object.entries(defaultsOf(thinking)))
    if (JSON.stringify(root[key] ?? null) !== JSON.stringify(value)) from.take(key, root[key], true);
  return from.request(root, ROOT, request);
}

// Items

const ROLES = { system: "system", developer: "developer", user: "user", assistant: "assistant" } as const;

function readMessages(root: JsonObject, tools: readonly Tool[], from: Source): Message[] {
  const instructions = text(root, "instructions");
  const isText = typeof root.input === "string";
  const input = isText ? [] : list(root, "input");
  from.calls = new Calls(() => input.map((item) => objectOf(item).call_id));
  const items = new Items(tools, from);
  if (instructions) items.messages.push({ role: "system", content: [{ type: "text", text: instructions }] });
  if (isText) items.messages.push({ role: "user", content: readContent(root, "input", "", from) });
  eachOf(input, "input", (item, at) => items.add(item, at));
  if (items.messages.length + from.extra.length === 0)
    fail("input", "must be a string, or a list of items that is not empty", valueAt(root, "input"));
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
    const type = text(item, "type", at) ?? "message";
    if (type === "message") this.#message(item, at);
    else if (type === "reasoning") this.#reasoning(item);
    else if (type === "function_call" || type === "custom_tool_call") this.#call(item, at, type === "custom_tool_call");
    else if (type === "function_call_output" || type === "custom_tool_call_output") this.#result(item, at);
    else if (type === "item_reference") this.#from.warn(at, item, type, "is stored elsewhere: send the item itself, with store: false");
    else this.#from.unknown(at, item, "item", type);
  }

  #message(item: JsonObject, at: string): void {
    const role = oneOf(ROLES, item, "role", at);
    const content = readContent(item, "content", at, this.#from);
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
    const namespace = text(item, "namespace", at);
    const called = flatName(namespace, name(item, "name", at));
    const named = this.#from.calls.add(text(item, "call_id", at), called);
    const state: Opaque[] = [];
    // What the tools tell need not be kept.
    if (namespace !== undefined && namespace !== namespaceIn(this.#tools, called)) state.push(quietState("namespace", namespace));
    if (isCustom && toolKind(this.#tools, called) !== "custom") state.push(quietState("custom", true));
    state.push(...itemState(item));
    if (isCustom) {
      const input = text(item, "input", at) ?? "";
      this.#say(withState<Part>({ type: "tool-call", ...named, arguments: { input } }, state));
      return;
    }
    text(item, "arguments", at);
    const call = this.#from.call(named, item, "arguments", at, state);
    if (call.type === "tool-call" && item.status === "incomplete") call.truncated = true;
    this.#say(call);
  }

  #result(item: JsonObject, at: string): void {
    const named = this.#from.calls.answer({ id: text(item, "call_id", at), name: text(item, "name", at) });
    const given = item.output ?? "";
    const parts = Array.isArray(given) ? readContent(item, "output", at, this.#from) : [];
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

const readContent = (item: JsonObject, key: string, at: string, from: Source): (Text | Media)[] =>
  from.content(item, key, at, (part, place): (Text | Media)[] => {
    const type = name(part, "type", place);
    const kind = Object.hasOwn(PARTS, type) ? PARTS[type] : undefined;
    if (!kind) {
      from.unknown(place, part, "part", type);
      return [];
    }
    const [known, readPart] = kind;
    const read = readPart(part, place);
    const state = from.state(part, known)?.filter(({ kind, data }) => !DEFAULTS.has(`${kind} ${JSON.stringify(data)}`));
    return [withState(read, read.state, state)];
  });

type PartKind = readonly [known: Words, read: (part: JsonObject, at: string) => Text | Media];

const TEXT_PART: PartKind = [words("type text"), (part, at) => ({ type: "text", text: text(part, "text", at) ?? "" })];

const PARTS: Readonly<Record<string, PartKind>> = {
  input_text: TEXT_PART,
  output_text: TEXT_PART,
  text: TEXT_PART,
  /** A refusal is text that the model said; the state tells the same wire what it was. */
  refusal: [
    words("type refusal"),
    (part, at) => ({ type: "text", text: text(part, "refusal", at) ?? "", state: [quietState("refusal", true)] }),
  ],
  input_image: [words("type image_url"), (part, at) => mediaFromUrl(text(part, "image_url", at), "image/*")],
  input_file: [words("type file_data file_url filename"), readFile],
};

function readFile(part: JsonObject, at: string): Media {
  const [data, url, filename] = ["file_data", "file_url", "filename"].map((key) => text(part, key, at));
  const media = mediaFromUrl(data ?? url, "application/octet-stream");
  if (data !== undefined && media.data === undefined) {
    media.data = data;
    delete media.url;
  }
  if (filename !== undefined && filename !== fileName(media)) media.name = filename;
  return media;
}

// Tools

const NAMESPACE = words("type name tools");
const KNOWN = words("type", TOOL);
/** The same, with a format that was read. */
const CUSTOM = words("type format", TOOL);

const readTools = (tools: readonly Json[], at: string, from: Source): Tool[] =>
  eachOf(tools, at, (tool, place): Tool[] => {
    const type = text(tool, "type", place) ?? "function";
    if (type === "namespace") {
      const space = name(tool, "name", place);
      const mark = quietState("namespace", { name: space, ...restOf(tool, NAMESPACE) });
      const inner = readTools(list(tool, "tools", place), `${place}.tools`, from);
      return inner.map((item) => withState({ ...item, name: flatName(space, item.name) }, [mark], item.state));
    }
    if (type === "function" || type === "custom") return [readTool(tool, place, type, from)];
    from.unknown(place, tool, "tool", type);
    return [];
  }).flat();

function readTool(tool: JsonObject, at: string, kind: "function" | "custom", from: Source): Tool {
  const read: Tool = { name: name(tool, "name", at), ...fields<Tool>(tool, TOOL, at) };
  if (kind === "function") {
    // Only here a function is strict unless it says that it is not.
    if (!read.strict) delete read.strict;
    return withState(read, (tool.strict ?? undefined) === undefined ? [quietState("strict", null)] : [], from.state(tool, KNOWN));
  }
  const grammar = readGrammar(tool);
  read.kind = kind;
  if (grammar) read.grammar = grammar;
  return withState(read, from.state(tool, grammar || objectOf(tool.format).type === "text" ? CUSTOM : KNOWN));
}

// Settings

const REASONING = words("effort summary");

function readThinking(reasoning: JsonObject | undefined, from: Source): ThinkingSettings | undefined {
  if (!reasoning) return undefined;
  const { effort = null, summary = null } = reasoning;
  // Where there are several words for one thing, we say another.
  if (effort === "max") from.take("reasoning.effort", effort, true);
  if (summary !== null && summary !== "auto") from.take("reasoning.summary", summary, true);
  from.keep("reasoning", reasoning, REASONING);
  return { ...(effort === null ? {} : oneOf(EFFORTS, reasoning, "effort", "reasoning")), ...(summary === null ? {} : { show: true }) };
}
