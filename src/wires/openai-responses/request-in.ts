/** Requests of clients: `instructions`, a list of items, tools and settings. */
import type {
  Malformed,
  Media,
  Message,
  Opaque,
  Part,
  Request,
  Text,
  ThinkingSettings,
  Tool,
  ToolCall,
  ToolChoice,
  ToolResult,
} from "../../core/nouns.ts";
import { malformedRaw, parseArguments } from "../accumulate.ts";
import { Calls } from "../calls.ts";
import { mediaFromUrl } from "../media.ts";
import { stateOf, Unmodelled, withState } from "../opaque.ts";
import { EFFORTS, readOutput } from "../openai.ts";
import { defined, type Field, objectOf, readBody, someOf } from "../read.ts";
import { readSampling } from "../settings.ts";
import type { WireInput } from "../wire.ts";
import {
  defaultsOf,
  fileName,
  flatName,
  itemState,
  namespaceOf,
  OF_CALL,
  ownState,
  QUIET,
  quietState,
  readReasoning,
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
  const rest = new Unmodelled(WIRE);
  const tools = decodeTools(root.at("tools"), rest);
  const stream = root.at("stream").boolean();
  const text = root.at("text");
  const request = defined<Request>({
    model: root.at("model").string() ?? "",
    messages: decodeMessages(root, tools, rest),
    tools: someOf(tools),
    toolChoice: decodeToolChoice(root.at("tool_choice"), tools, rest),
    parallelCalls: root.at("parallel_tool_calls").boolean(),
    stream: stream ? "sse" : stream,
    thinking: decodeThinking(root.at("reasoning"), rest),
    sampling: readSampling(root, { temperature: "temperature", top_p: "topP" }),
    maxTokens: root.at("max_output_tokens").number(),
    output: readOutput(text.at("format"), rest),
  });
  rest.keep(text);
  for (const [key, value] of Object.entries(defaultsOf(request))) {
    const field = root.at(key);
    if (JSON.stringify(field.value ?? null) !== JSON.stringify(value)) rest.take(field, { quiet: true });
  }
  const extra = someOf([...stateOf(WIRE, root, QUIET), ...rest.extra]);
  return defined<Request>({ ...request, extra, warnings: someOf(rest.warnings) });
}

// Items

const ROLES = { system: "system", developer: "developer", user: "user", assistant: "assistant" } as const;

function decodeMessages(root: Field, tools: readonly Tool[], rest: Unmodelled): Message[] {
  const instructions = root.at("instructions").string();
  const input = root.at("input");
  const list = typeof input.value === "string" ? [] : input.list();
  const items = new Items(tools, rest, new Calls(list.map((item) => item.at("call_id").value)));
  if (instructions) items.messages.push({ role: "system", content: [{ type: "text", text: instructions }] });
  if (typeof input.value === "string") items.messages.push({ role: "user", content: decodeContent(input, rest) });
  for (const item of list) items.add(item);
  if (items.messages.length + rest.extra.length === 0) input.fail("must be a string, or a list of items that is not empty");
  return items.messages;
}

/** Items become messages: what the model said in a row is one message, though a text right behind a text begins the next. */
class Items {
  readonly messages: Message[] = [];
  readonly #book: ToolBook;
  readonly #rest: Unmodelled;
  readonly #calls: Calls;
  #afterText = false;

  constructor(tools: readonly Tool[], rest: Unmodelled, calls: Calls) {
    this.#book = new ToolBook({ tools: [...tools] });
    this.#rest = rest;
    this.#calls = calls;
  }

  add(item: Field): void {
    const type = item.at("type").string() ?? "message";
    const state = itemState(objectOf(item.value));
    if (type === "message") this.#message(item, state);
    else if (type === "reasoning") this.#reasoning(item);
    else if (type === "function_call" || type === "custom_tool_call") this.#call(item, type === "custom_tool_call", state);
    else if (type === "function_call_output" || type === "custom_tool_call_output") this.#result(item, state);
    else if (type === "item_reference") this.#rest.warn(item, type, "is stored elsewhere: send the item itself, with store: false");
    else this.#rest.warn(item, "item-kind", `is an item of the kind "${type}", which only its own server knows`);
  }

  #message(item: Field, state: Opaque[]): void {
    const role = item.at("role").oneOf(ROLES);
    const content = decodeContent(item.at("content"), this.#rest);
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
    const { text, state } = readReasoning(objectOf(item.value));
    const id = ownState(state, OF_CALL);
    if (id === undefined) this.#say(withState({ type: "thinking", text }, state));
    else {
      const parts = this.messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
      const call = parts.findLast((part) => part.type === "tool-call" && part.id === id);
      if (call?.type === "tool-call") call.state = [...(call.state ?? []), ...state.filter(({ wire }) => wire !== WIRE)];
    }
  }

  #call(item: Field, custom: boolean, state: Opaque[]): void {
    const namespace = item.at("namespace").string();
    const name = flatName(namespace, item.at("name").name());
    const call = this.#calls.add(item.at("call_id").string(), name);
    const marks: Opaque[] = [];
    // What the tools tell need not be kept.
    if (namespace !== this.#book.namespaceOf(name) && namespace !== undefined) marks.push(quietState("namespace", namespace));
    if (custom && !this.#book.isCustom(name)) marks.push(quietState("custom", true));
    const decoded = custom ? customCall(item, call) : functionCall(item, call);
    if (decoded.type === "tool-call" && objectOf(item.value).status === "incomplete") decoded.truncated = true;
    this.#say(decoded.type === "malformed" ? decoded : withState(decoded, marks, state));
  }

  #result(item: Field, state: Opaque[]): void {
    const given = { id: item.at("call_id").string(), name: item.at("name").string() };
    const { value = "" } = item.at("output");
    const parts = Array.isArray(value) ? decodeContent(item.at("output"), this.#rest) : [];
    const output = Array.isArray(value) ? parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n") : value;
    const media = someOf(parts.filter((part) => part.type === "media"));
    this.#push(withState(defined<ToolResult>({ role: "tool", ...this.#calls.answer(given), output, media }), state));
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

interface CallName {
  id: string;
  name: string;
}

function functionCall(item: Field, call: CallName): ToolCall | Malformed {
  const json = item.at("arguments").string() ?? "";
  const read = parseArguments(json);
  // An old call that nobody can read is no reason to refuse what comes after it.
  if (!("arguments" in read)) return { type: "malformed", raw: malformedRaw(call.name, json), ...read, id: call.id };
  return { type: "tool-call", ...call, ...read, ...(json.trim() ? { json } : {}) };
}

const customCall = (item: Field, call: CallName): ToolCall => ({
  type: "tool-call",
  ...call,
  arguments: { input: item.at("input").string() ?? "" },
});

// Content

/** What is always said, and so need not be kept. */
const DEFAULTS: ReadonlySet<string> = new Set(["annotations []", "logprobs []", 'detail "auto"']);

function decodeContent(content: Field, rest: Unmodelled): (Text | Media)[] {
  if (typeof content.value === "string") return content.value === "" ? [] : [{ type: "text", text: content.value }];
  if (content.given && !Array.isArray(content.value)) content.fail("must be a string or a list of parts");
  return content.list().flatMap((part) => {
    const type = part.at("type").name();
    const decoded = Object.hasOwn(PARTS, type) ? PARTS[type]?.(part) : undefined;
    if (!decoded) {
      rest.warn(part, "part-kind", `is a part of the kind "${type}", which only its own server knows`);
      return [];
    }
    const state = stateOf(WIRE, part, QUIET).filter(({ kind, data }) => !DEFAULTS.has(`${kind} ${JSON.stringify(data)}`));
    return withState(decoded, decoded.state, state);
  });
}

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

function decodeTools(list: Field, rest: Unmodelled): Tool[] {
  return list.list().flatMap((tool): Tool[] => {
    const type = tool.at("type").string() ?? "function";
    if (type === "namespace") {
      const name = tool.at("name").name();
      const inner = decodeTools(tool.at("tools"), rest);
      const mark = quietState("namespace", { name, ...tool.rest() });
      return inner.map((item) => withState({ ...item, name: flatName(name, item.name) }, [mark], item.state));
    }
    if (type === "function" || type === "custom") return [decodeTool(tool, type)];
    rest.warn(tool, "tool-kind", `is a tool of the kind "${type}", which only its own server knows`);
    return [];
  });
}

function decodeTool(tool: Field, type: "function" | "custom"): Tool {
  const isFunction = type === "function";
  const [strict, format] = isFunction ? [tool.at("strict")] : [undefined, tool.at("format")];
  const isGrammar = format?.at("type").value === "grammar";
  const decoded = defined<Tool>({
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
  return withState(decoded, strict?.given === false ? [quietState("strict", null)] : [], stateOf(WIRE, tool, QUIET));
}

const MODES = { auto: "auto", none: "none", required: "required" } as const;

function decodeToolChoice(choice: Field, tools: readonly Tool[], rest: Unmodelled): ToolChoice | undefined {
  if (!choice.given) return undefined;
  if (typeof choice.value === "string") return choice.oneOf(MODES);
  const some = choice.at("type").name() === "allowed_tools";
  const wanted = some ? choice.at("tools").list() : [choice];
  if (wanted.some((tool) => !/^(function|custom)$/.test(String(tool.at("type").value)))) {
    rest.warn(choice, "tool-choice", "names a tool that only its own server knows");
    return undefined;
  }
  const names = wanted.map((tool) => {
    const name = tool.at("name");
    const isMeant = (tool: Tool, namespace?: string) => tool.name === flatName(namespace, String(name.value));
    const found = tools.find((tool) => isMeant(tool)) ?? tools.find((tool) => isMeant(tool, namespaceOf(tool)));
    return found?.name ?? name.fail("must be the name of one of the tools");
  });
  if (!some) return { name: names[0] ?? "" };
  return choice.at("mode").value === "required" ? { allowed: names, required: true } : { allowed: names };
}

// Settings

function decodeThinking(reasoning: Field, rest: Unmodelled): ThinkingSettings | undefined {
  if (!reasoning.object()) return undefined;
  const [effort, summary] = [reasoning.at("effort"), reasoning.at("summary")];
  // Where there are several words for one thing, we say another.
  if (effort.value === "max") rest.take(effort, { quiet: true });
  if (summary.given && summary.value !== "auto") rest.take(summary, { quiet: true });
  rest.keep(reasoning);
  return { ...(effort.given ? effort.oneOf(EFFORTS) : {}), ...(summary.given ? { show: true } : {}) };
}
