/** Requests of clients: `instructions`, a list of items, tools and settings. */
import type { Media, Message, Opaque, Part, Request, Text, ThinkingSettings, Tool, ToolChoice, ToolResult } from "../../core/nouns.ts";
import { Calls } from "../calls.ts";
import { mediaFromUrl } from "../media.ts";
import { withState } from "../opaque.ts";
import { EFFORTS, readOutput } from "../openai.ts";
import { defined, type Field, objectOf, readBody, someOf } from "../read.ts";
import { readSampling, readStream, Source, toolName } from "../request-in.ts";
import type { WireInput } from "../wire.ts";
import {
  defaultsOf,
  fileName,
  flatName,
  itemState,
  namespaceOf,
  QUIET,
  quietState,
  readReasoning,
  SAMPLING,
  ToolBook,
  WIRE,
} from "./items.ts";

/** What lives on the server that made it. */
const STORED = {
  previous_response_id: "is not kept here: send the whole conversation as input",
  conversation: "is not kept here: send the whole conversation as input",
  background: "is not possible here: stream the answer, or wait for it",
} as const;

export function decodeRequest({ body }: WireInput): Request {
  const root = readBody(body);
  for (const [key, why] of Object.entries(STORED)) {
    const field = root.at(key);
    if (field.value) field.fail(why);
  }
  const from = new Source(WIRE, QUIET);
  const tools = readTools(root.at("tools"), from);
  const text = root.at("text");
  const thinking = readThinking(root.at("reasoning"), from);
  const request = {
    model: root.at("model").string() ?? "",
    messages: readMessages(root, tools, from),
    tools: someOf(tools),
    toolChoice: readChoice(root.at("tool_choice"), tools, from),
    parallelCalls: root.at("parallel_tool_calls").boolean(),
    stream: readStream(root.at("stream")),
    thinking,
    sampling: readSampling(root, SAMPLING),
    maxTokens: root.at("max_output_tokens").number(),
    output: readOutput(text.at("format"), from),
  };
  from.keep(text);
  for (const [key, value] of Object.entries(defaultsOf(thinking))) {
    const field = root.at(key);
    if (JSON.stringify(field.value ?? null) !== JSON.stringify(value)) from.take(field, true);
  }
  return from.request(root, request);
}

// Items

const ROLES = { system: "system", developer: "developer", user: "user", assistant: "assistant" } as const;

function readMessages(root: Field, tools: readonly Tool[], from: Source): Message[] {
  const instructions = root.at("instructions").string();
  const input = root.at("input");
  const list = typeof input.value === "string" ? [] : input.list();
  from.calls = new Calls(list.map((item) => item.at("call_id").value));
  const items = new Items(tools, from);
  if (instructions) items.messages.push({ role: "system", content: [{ type: "text", text: instructions }] });
  if (typeof input.value === "string") items.messages.push({ role: "user", content: readContent(input, from) });
  for (const item of list) items.add(item);
  if (items.messages.length + from.extra.length === 0) input.fail("must be a string, or a list of items that is not empty");
  return items.messages;
}

/** Items become messages: what the model said in a row is one message, though a text right behind a text begins the next. */
class Items {
  readonly messages: Message[] = [];
  readonly #book: ToolBook;
  readonly #from: Source;
  #afterText = false;

  constructor(tools: readonly Tool[], from: Source) {
    this.#book = new ToolBook({ tools: [...tools] });
    this.#from = from;
  }

  add(item: Field): void {
    const type = item.at("type").string() ?? "message";
    const state = itemState(objectOf(item.value));
    if (type === "message") this.#message(item, state);
    else if (type === "reasoning") this.#reasoning(item);
    else if (type === "function_call" || type === "custom_tool_call") this.#call(item, type === "custom_tool_call", state);
    else if (type === "function_call_output" || type === "custom_tool_call_output") this.#result(item, state);
    else if (type === "item_reference") this.#from.warn(item, type, "is stored elsewhere: send the item itself, with store: false");
    else this.#from.unknown(item, "item", type);
  }

  #message(item: Field, state: Opaque[]): void {
    const role = item.at("role").oneOf(ROLES);
    const content = readContent(item.at("content"), this.#from);
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

  #reasoning(item: Field): void {
    const { text, state, call: id } = readReasoning(objectOf(item.value));
    if (id === undefined) this.#say(withState({ type: "thinking", text }, state));
    const parts = this.messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
    const call = parts.findLast((part) => part.type === "tool-call" && part.id === id);
    if (call?.type === "tool-call") call.state = [...(call.state ?? []), ...state];
  }

  #call(item: Field, custom: boolean, state: Opaque[]): void {
    const namespace = item.at("namespace").string();
    const name = flatName(namespace, item.at("name").name());
    const named = this.#from.calls.add(item.at("call_id").string(), name);
    const marks: Opaque[] = [];
    // What the tools tell need not be kept.
    if (namespace !== this.#book.namespaceOf(name) && namespace !== undefined) marks.push(quietState("namespace", namespace));
    if (custom && !this.#book.isCustom(name)) marks.push(quietState("custom", true));
    const all = [...marks, ...state];
    const [args, input] = [item.at("arguments"), item.at("input").string() ?? ""];
    args.string();
    const call: Part = custom ? withState({ type: "tool-call", ...named, arguments: { input } }, all) : this.#from.call(named, args, all);
    if (!custom && call.type === "tool-call" && objectOf(item.value).status === "incomplete") call.truncated = true;
    this.#say(call);
  }

  #result(item: Field, state: Opaque[]): void {
    const given = { id: item.at("call_id").string(), name: item.at("name").string() };
    const { value = "" } = item.at("output");
    const parts = Array.isArray(value) ? readContent(item.at("output"), this.#from) : [];
    const output = Array.isArray(value) ? parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n") : value;
    const media = someOf(parts.filter((part) => part.type === "media"));
    this.#push(withState(defined<ToolResult>({ role: "tool", ...this.#from.calls.answer(given), output, media }), state));
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
const DEFAULTS: ReadonlySet<string> = new Set(["annotations []", "logprobs []", 'detail "auto"']);

const readContent = (content: Field, from: Source): (Text | Media)[] =>
  from.content(content, (part): (Text | Media)[] => {
    const type = part.at("type").name();
    const read = Object.hasOwn(PARTS, type) ? PARTS[type]?.(part) : undefined;
    if (!read) {
      from.unknown(part, "part", type);
      return [];
    }
    const state = from.state(part).filter(({ kind, data }) => !DEFAULTS.has(`${kind} ${JSON.stringify(data)}`));
    return [withState(read, read.state, state)];
  });

const textPart = (part: Field): Text => ({ type: "text", text: part.at("text").string() ?? "" });

const PARTS: Readonly<Record<string, (part: Field) => Text | Media>> = {
  input_text: textPart,
  output_text: textPart,
  text: textPart,
  /** A refusal is text that the model said; the state tells the same wire what it was. */
  refusal: (part) => ({ type: "text", text: part.at("refusal").string() ?? "", state: [quietState("refusal", true)] }),
  input_image: (part) => mediaFromUrl(part.at("image_url").string(), "image/*"),
  input_file: (part) => {
    const [data, url, name] = ["file_data", "file_url", "filename"].map((key) => part.at(key).string());
    const media = mediaFromUrl(data ?? url, "application/octet-stream");
    if (data !== undefined && media.data === undefined) Object.assign(media, { data, url: undefined });
    return defined<Media>({ ...media, name: name === fileName(media) ? undefined : name });
  },
};

// Tools

function readTools(list: Field, from: Source): Tool[] {
  return list.list().flatMap((tool): Tool[] => {
    const type = tool.at("type").string() ?? "function";
    if (type === "namespace") {
      const name = tool.at("name").name();
      const inner = readTools(tool.at("tools"), from);
      const mark = quietState("namespace", { name, ...tool.rest() });
      return inner.map((item) => withState({ ...item, name: flatName(name, item.name) }, [mark], item.state));
    }
    if (type === "function" || type === "custom") return [readTool(tool, type, from)];
    from.unknown(tool, "tool", type);
    return [];
  });
}

function readTool(tool: Field, type: "function" | "custom", from: Source): Tool {
  const isFunction = type === "function";
  const [strict, format] = isFunction ? [tool.at("strict")] : [undefined, tool.at("format")];
  const isGrammar = format?.at("type").value === "grammar";
  const read = defined<Tool>({
    name: tool.at("name").name(),
    description: tool.at("description").string(),
    parameters: isFunction ? tool.at("parameters").object() : undefined,
    // Only here a function is strict unless it says that it is not.
    strict: strict?.boolean() || undefined,
    kind: isFunction ? undefined : type,
    grammar: isGrammar ? { syntax: format.at("syntax").name(), definition: format.at("definition").name() } : undefined,
    response: isFunction ? tool.at("output_schema").object() : undefined,
    deferred: tool.at("defer_loading").boolean() || undefined,
  });
  return withState(read, strict?.given === false ? [quietState("strict", null)] : [], from.state(tool));
}

const MODES = { auto: "auto", none: "none", required: "required" } as const;

function readChoice(choice: Field, tools: readonly Tool[], from: Source): ToolChoice | undefined {
  if (!choice.given) return undefined;
  if (typeof choice.value === "string") return choice.oneOf(MODES);
  const some = choice.at("type").name() === "allowed_tools";
  const wanted = some ? choice.at("tools").list() : [choice];
  if (wanted.some((tool) => !/^(function|custom)$/.test(String(tool.at("type").value)))) {
    from.warn(choice, "tool-choice", "names a tool that only its own server knows");
    return undefined;
  }
  const names = wanted.map((tool) => {
    const name = tool.at("name");
    const found = tools.find((tool) => tool.name === name.value);
    return found?.name ?? toolName(name, tools, (tool) => tool.name.slice(flatName(namespaceOf(tool), "").length));
  });
  if (!some) return { name: names[0] ?? "" };
  return choice.at("mode").value === "required" ? { allowed: names, required: true } : { allowed: names };
}

// Settings

function readThinking(reasoning: Field, from: Source): ThinkingSettings | undefined {
  if (!reasoning.object()) return undefined;
  const [effort, summary] = [reasoning.at("effort"), reasoning.at("summary")];
  // Where there are several words for one thing, we say another.
  if (effort.value === "max") from.take(effort, true);
  if (summary.given && summary.value !== "auto") from.take(summary, true);
  from.keep(reasoning);
  return { ...(effort.given ? effort.oneOf(EFFORTS) : {}), ...(summary.given ? { show: true } : {}) };
}
