/** Reads a client's request: `instructions`, a list of items, tools and settings. */
import type {
  Json,
  JsonObject,
  Media,
  Message,
  Opaque,
  Part,
  Request,
  Sampling,
  Text,
  ThinkingSettings,
  Tool,
  ToolCall,
  ToolResult,
} from "../../core/nouns.ts";
import { NATIVE, revealed, toolKind } from "../bridge.ts";
import { saidIn } from "../calls.ts";
import { openCapsule } from "../capsule.ts";
import { Fields } from "../fields.ts";
import { fileFromUrl, mediaFromUrl, summaryText } from "../media.ts";
import { opaque, withState } from "../opaque.ts";
import { EFFORTS, readChoice, readFormat, readOutput } from "../openai.ts";
import { defined, entryOf, isList, isText, objectOf, someOf, spelling, textOf } from "../read.ts";
import { readLimit, readStream, Source } from "../request-in.ts";
import type { WireInput } from "../wire.ts";
import {
  ASKED,
  COMPACT,
  COMPACTION,
  calledBy,
  defaultsOf,
  FOUND,
  fileName,
  flatName,
  ITEM,
  itemState,
  namespaceIn,
  QUIET,
  quietState,
  REFERENCE,
  readReasoning,
  SAMPLING,
  TOOL,
  TRIGGER,
  WIRE,
  wholeItem,
} from "./items.ts";
import { calledIn, nativeName, nativeOf, readArguments, SEARCH } from "./natives.ts";
import { itemsOf, PREVIOUS, TURN, turnOf, wholeBody } from "./turns.ts";

/** Fields that refer to what a server of this API stores. */
const NOT_KEPT = "is not stored here: send the whole conversation as input";
const STORED: Readonly<Record<string, string>> = {
  [PREVIOUS]: NOT_KEPT,
  conversation: NOT_KEPT,
  prompt: "is not stored here: send its text as instructions or input",
  background: "is not supported here: stream the answer, or wait for it",
};

export function decodeRequest({ path, body, recall }: WireInput): Request {
  const from = new Source(WIRE, body, { quiet: QUIET });
  const given = from.root.value;
  if (recall && given[PREVIOUS]) goOn(from, recall);
  if (path.endsWith("/compact")) compact(from);
  const { root } = from;
  for (const key in STORED) if (root.json(key)) root.fail(key, STORED[key]!);
  const tools = readTools(root, from);
  const settings: Settings = { thinking: readThinking(root, from), output: readOutput(root.inner("text"), "format", from) };
  const request = {
    model: root.text("model") ?? "",
    messages: readMessages(root, new Items(tools, settings, from, recall), from),
    tools: someOf(tools),
    toolChoice: readChoice(root, "tool_choice", tools, from, (tool) => calledBy(tools, tool.name).name),
    parallelCalls: root.flag("parallel_tool_calls"),
    stream: readStream(root),
    ...settings, // after the items, which may change them
    sampling: root.some<Sampling>(SAMPLING),
    maxTokens: readLimit(root, from, "max_output_tokens"),
  };
  for (const [key, value] of Object.entries(defaultsOf(settings.thinking))) {
    const said = root.json(key) ?? null;
    if (JSON.stringify(said) !== JSON.stringify(value))
      from.take(key in root.value ? key : `#${key}`, said, !JSON.stringify(said).includes("logprobs"));
  }
  if (recall) from.take(TURN, turnOf(given), true);
  return from.request(request);
}

/** Puts the earlier turns into the input if they are stored here. Otherwise the id is sent on: the server that made the answer has them. */
function goOn(from: Source, recall: NonNullable<WireInput["recall"]>): void {
  const { [PREVIOUS]: id, ...body } = from.root.value;
  const whole = wholeBody(from.root.value, recall);
  if (!whole) from.take(PREVIOUS, id);
  from.root = new Fields(whole ?? body, from);
}

/** Turns a request to `/compact` into one whose last item asks for compaction. */
function compact(from: Source): void {
  const input = itemsOf(from.root.value.input);
  from.take(
    COMPACT,
    input.map(objectOf).flatMap((item) => (item.role === "user" ? [{ type: "message", ...item }] : [])),
    true,
  );
  from.root = new Fields({ ...from.root.value, input: [...input, { type: TRIGGER }] }, from);
}

// Items

const ROLES = spelling("system developer user assistant");

/** What items may change. */
type Settings = { -readonly [K in "thinking" | "output"]: Request[K] | undefined };

function readMessages(root: Fields, items: Items, from: Source): Message[] {
  const instructions = root.text("instructions");
  if (instructions) items.messages.push({ role: "system", content: [{ type: "text", text: instructions }] });
  if (isText(root.json("input"))) items.messages.push({ role: "user", content: readContent(root, "input", from) });
  else root.each("input", (item) => items.add(item));
  if (items.messages.length + from.extra.length === 0) root.fail("input", "must be a string, or a list of items that is not empty");
  return items.messages;
}

/** Asks any other model for what a server of this API does by itself. */
const SUMMARIZE = `Summarize the conversation so far. Whoever goes on with the work has nothing but your summary: say what the user wants, what was
done and found out (with the names of files, commands and their results), what was decided and why, and what is left to do. Answer with the
summary only, and call no tool.`;

/** A message may lack its type, and so may a reference. */
const typeOf = ({ type, role, id }: JsonObject): Json => type ?? (role || !id ? "message" : REFERENCE);

/** Whether the item may be stored here in a fuller form. */
const isShort = (item: JsonObject): boolean => typeOf(item) === REFERENCE || (item.type === "reasoning" && !item.encrypted_content);

/** Turns items into messages. Neighbouring items of the model become one message, but a message item right after another begins a new one. */
class Items {
  readonly messages: Message[] = [];
  /** The declared tools, and those that a search has found. */
  readonly #tools: Tool[];
  /** The settings that apply after the last item. */
  readonly #settings: Settings;
  readonly #from: Source;
  readonly #recall: WireInput["recall"];
  #afterText = false;
  /** State of calls that are still to come, by their ids: TanStack AI sends all reasoning items before all calls. */
  readonly #early = new Map<string, readonly Opaque[]>();

  constructor(tools: Tool[], settings: Settings, from: Source, recall: WireInput["recall"]) {
    this.#tools = tools;
    this.#settings = settings;
    this.#from = from;
    this.#recall = recall;
  }

  /** Replaces a reference, or a reasoning item without its `encrypted_content`, by the item that is stored here. */
  add(item: Fields): void {
    const kept = isShort(item.value) ? this.#recall?.(textOf(item.value.id) ?? "") : undefined;
    this.#add(kept ? new Fields(kept, this.#from, item.at) : item);
  }

  #add(item: Fields): void {
    const type = item.text("type") ?? typeOf(item.value);
    if (type === "message") this.#message(item);
    else if (type === "reasoning") this.#reasoning(item);
    else if (type === "function_call" || type === "custom_tool_call") this.#call(item, type === "custom_tool_call");
    else if (type === "function_call_output" || type === "custom_tool_call_output") this.#result(item);
    else if (type === "tool_search_output" || type === "additional_tools") this.#found(item);
    else if (type === "configuration_update") this.#update(item);
    else if (type === COMPACTION) this.#summary(item);
    else if (type === TRIGGER)
      this.#push({ role: "user", content: [{ type: "text", text: SUMMARIZE }], state: [quietState(ITEM, item.value)] });
    else if (type === REFERENCE) this.#from.take(item.at, { ...item.value, type });
    else this.#native(item);
  }

  /** A compaction item of ours becomes text; a server's own is kept for that server. */
  #summary(item: Fields): void {
    const [summary] = openCapsule(textOf(item.value.encrypted_content) ?? "")?.thoughts ?? [];
    if (summary?.thinking) this.#push({ role: "user", content: [{ type: "text", text: summaryText(summary.thinking) }] });
    else this.#from.take(item.at, item.value);
  }

  /** Tools that a search, or the client itself, has loaded are declared to other wires' servers; this wire's servers read them in the item. */
  #found(item: Fields): void {
    const { extra } = this.#from;
    const before = extra.length;
    const found = readTools(item, this.#from);
    for (const inner of extra.slice(before)) inner.kind = `#${inner.kind}`; // the item goes back whole
    for (const tool of found) {
      if (this.#tools.some(({ name }) => name === tool.name)) continue;
      this.#tools.push(withState(revealed(tool), [quietState(FOUND, true)]));
    }
    if (item.value.execution !== "client") {
      this.#from.take(item.at, item.value, true);
      return;
    }
    const output = found.map(({ name }) => `The tool ${name} is now available.`).join("\n") || "No tool was found.";
    const named = this.#from.calls.answer({ id: item.text("call_id"), name: SEARCH });
    this.#push({ role: "tool", ...named, output, state: [wholeItem(item.value)] });
  }

  /** Settings that replace earlier ones. Other wires' servers get the last; this wire's servers read them in the item. */
  #update(item: Fields): void {
    const [settings, from] = [this.#settings, this.#from];
    const { reasoning = null, text = null } = from.root.value;
    from.take(ASKED, { reasoning, text }, true);
    from.take(item.at, item.value, true);
    const { show } = settings.thinking ?? {};
    if (objectOf(item.value.reasoning).effort) settings.thinking = defined<ThinkingSettings>({ show, ...readThinking(item, from) });
    if (objectOf(item.value.text).format) settings.output = readOutput(item.inner("text"), "format", from);
  }

  /** The call of a native tool, or its result. */
  #native(item: Fields): void {
    const [calls, from] = [this.#from.calls, this.#from];
    const id = item.text("call_id", "id"); // the result of a local shell has only `id`
    const called = calledIn(item.value, "_call");
    const name = called ?? calledIn(item.value, "_call_output");
    if (name === undefined) from.unknown(item, "item");
    else if (called) {
      const given = new Fields({ [name]: readArguments(name, item.value) }, from, item.at);
      this.#say(withState(from.call(given, name, calls.add(id, name)), [wholeItem(item.value)]));
    } else {
      const { output, status } = item.value;
      const image = objectOf(output).image_url;
      const result: ToolResult = { role: "tool", ...calls.answer({ id, name }), output: (image ? "" : output) || status || "" };
      if (image) result.media = [mediaFromUrl(textOf(image), "image/*")];
      if (status === "failed") result.isError = true;
      this.#push(withState(result, [wholeItem(item.value)]));
    }
  }

  #message(item: Fields): void {
    const role = item.word("role", ROLES);
    const content = readContent(item, "content", this.#from);
    const state = itemState(item);
    if (role === "assistant") {
      if (this.#afterText) this.#push({ role, content: [] });
      const [first = { type: "text" as const, text: "" }, ...others] = content;
      // Several items may become one message, so the fields of each item become state of its first text.
      const mark = state.length > 0 ? [quietState("#message", Object.fromEntries(state.map(({ kind, data }) => [kind, data])))] : [];
      if (content.length + mark.length > 0) this.#say(withState(first, mark), ...others);
      this.#afterText = true;
    } else {
      // Marked, because `instructions` become a system message in first place, too.
      if (role === "system" && this.messages.length === 0) state.push(quietState("type", "message"));
      this.#push(withState({ role, content }, state));
    }
  }

  #reasoning(item: Fields): void {
    const { text, state, call: id } = readReasoning(item);
    if (id === undefined) {
      this.#say(withState({ type: "thinking", text }, state));
      return;
    }
    const isIts = (part: Part): part is Text | ToolCall => (part.type === "tool-call" ? part.id === id : part.type === "text" && id === "");
    const answer = this.messages.slice(this.messages.findLastIndex(({ role }) => role !== "assistant") + 1);
    const part = saidIn(answer).findLast(isIts);
    if (part) withState(part, state);
    else if (id !== "") this.#early.set(id, state);
  }

  #call(item: Fields, isCustom: boolean): void {
    const namespace = item.text("namespace");
    const called = flatName(namespace, item.name("name"));
    const given = item.text("call_id") ?? "";
    const named = this.#from.calls.add(given, called);
    const state: Opaque[] = [...(this.#early.get(given) ?? [])];
    this.#early.delete(given);
    // State that can be told from the tools need not be kept.
    if (namespace !== undefined && namespace !== namespaceIn(this.#tools, called)) state.push(quietState("#namespace", namespace));
    if (isCustom && toolKind(this.#tools, called) !== "custom") state.push(quietState("#custom", true));
    const args = isCustom ? item.text("input") : item.text("arguments");
    const call: Part = isCustom
      ? { type: "tool-call", ...named, arguments: { input: args ?? "" } }
      : this.#from.call(item, "arguments", named);
    if (call.type === "tool-call" && item.value.status === "incomplete") call.truncated = true;
    this.#say(withState(call, state, itemState(item)));
  }

  #result(item: Fields): void {
    const [name, namespace] = [item.text("name"), item.text("namespace")];
    const named = this.#from.calls.answer({ id: item.text("call_id"), name: name && flatName(namespace, name) });
    const output = item.json("output") ?? "";
    const result: ToolResult = isList(output)
      ? this.#from.result(item, "output", named, readContent(item, "output", this.#from))
      : { role: "tool", ...named, output };
    const whose = Object.entries(defined<{ name?: string; namespace?: string }>({ name, namespace })).map(([key, text]) =>
      quietState(key, text),
    );
    // The call is not in the request, but stored on the server.
    if (item.value.type === "custom_tool_call_output" && !named.name) whose.push(quietState("#custom", true));
    this.#push(withState(result, itemState(item), whose));
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

/** Fields that are always written with these values, and need not be kept. */
const DEFAULTS = new Set(["annotations []", "logprobs []", 'detail "auto"']);

const readContent = (given: Fields, key: string, from: Source): (Text | Media)[] =>
  from.content(given, key, (part): (Text | Media)[] => {
    const type = part.name("type");
    const reader = entryOf(PARTS, type);
    if (!reader) return [{ type: "text", text: "", state: [opaque(WIRE, ITEM, part.value)] }];
    const read = reader(part);
    const state = part.state()?.filter(({ kind, data }) => !DEFAULTS.has(`${kind} ${JSON.stringify(data)}`));
    return [withState(read, state)];
  });

type PartReader = (part: Fields) => Text | Media;

const readText: PartReader = (part) => ({ type: "text", text: part.text("text") ?? "" });

const PARTS: Readonly<Record<string, PartReader>> = {
  input_text: readText,
  output_text: readText,
  text: readText,
  /** A refusal becomes text; its state tells this wire to write a refusal again. */
  refusal: (part) => ({ type: "text", text: part.text("refusal") ?? "", state: [quietState("#refusal", true)] }),
  /** Other servers of this API may know it; the official one refuses audio. */
  input_audio(part) {
    const audio = part.inner("input_audio");
    const mediaType = `audio/${audio.text("format") ?? "*"}`;
    return { type: "media", mediaType, data: audio.name("data"), state: [quietState(ITEM, part.value)] };
  },
  input_image: (part) => mediaFromUrl(part.text("image_url"), "image/*"),
  input_file(part) {
    const [data, url, named] = [part.text("file_data"), part.text("file_url"), part.text("filename")];
    const media = fileFromUrl(data ?? url, named);
    if (data !== undefined && media.data === undefined) {
      media.data = data;
      delete media.url;
    }
    if (named !== undefined && named !== fileName(media)) media.name = named;
    return media;
  },
};

// Tools

const readTools = (given: Fields, from: Source): Tool[] =>
  given
    .each("tools", (tool): Tool[] => {
      const type = tool.text("type") ?? "function";
      if (type === "namespace") {
        const name = tool.name("name");
        const inner = readTools(tool, from);
        const mark = quietState("#namespace", { name, ...tool.rest() });
        return inner.map((item) => withState({ ...item, name: flatName(name, item.name) }, [mark]));
      }
      const native = nativeOf(tool.value);
      if (native) return [withState({ ...tool.read<Tool>(TOOL), ...native, name: nativeName(type) }, [quietState(NATIVE, tool.value)])];
      return type === "function" || type === "custom" ? [readTool(tool, type)] : from.unknown(tool, "tool");
    })
    .flat();

function readTool(tool: Fields, kind: "function" | "custom"): Tool {
  const name = tool.name("name");
  const { strict, ...read } = tool.read<Tool>(TOOL);
  if (kind === "custom") return withState({ ...read, name, kind, ...readFormat(tool) }, tool.state());
  // Only in this API functions are strict by default. The mark remembers that `strict` was absent.
  const made: Tool = { ...read, name, ...(strict ? { strict } : {}) };
  return withState(made, strict === undefined ? [quietState("strict", null)] : [], tool.state());
}

// Settings

function readThinking(root: Fields, from: Source): ThinkingSettings | undefined {
  const reasoning = root.object("reasoning");
  if (!reasoning) return undefined;
  const [effort, summary] = [reasoning.json("effort"), reasoning.json("summary")];
  // The nouns know only `auto`: any other value is kept.
  if (summary !== undefined && summary !== "auto") from.take("reasoning.summary", summary, true);
  return { ...(effort === undefined ? {} : reasoning.word("effort", EFFORTS)), ...(summary === undefined ? {} : { show: true }) };
}
