/** Requests of clients: `{"model": "m", "max_tokens": 9, "system": "…", "messages": [{"role": "user", "content": [{"type": "text", …}]}]}`. */
import { BadRequest } from "../../core/errors.ts";
import { isObject } from "../../core/json.ts";
import type {
  ErrorInfo,
  Json,
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
import { defined, type Field, objectOf, readBody, someOf, words } from "../read.ts";
import { readSampling, readStop, readStream, Source } from "../request-in.ts";
import { ArgumentTexts } from "../spans.ts";
import type { Headers, WireInput } from "../wire.ts";
import { BLOCK, type Carried, CONTENT, HEADERS, signed, VERSION, WIRE } from "./common.ts";
import { EFFORTS, SAMPLING } from "./tables.ts";

/** The SDK's tool runner sends only what is new, and all of it once it hears this. */
const LOST: ErrorInfo = {
  code: "not-found",
  message: "thread.previous_message_id is not kept here: send the whole conversation",
  native: "thread_not_found",
};

/** Bookkeeping, or said in the nouns as well. */
const QUIET = words("metadata context_management service_tier eager_input_streaming output_config thread");

export function decodeRequest({ headers, body }: WireInput): Request {
  const root = readBody(body);
  if (objectOf(objectOf(root.value).thread).type === "continue") throw new BadRequest(LOST);
  const from = new Source(WIRE, QUIET);
  const messages = [...readSystem(root.at("system"), from), ...new Conversation(from, body).read(root.at("messages"))];
  const tools = readTools(root, from);
  const config = root.at("output_config");
  const thinking = { ...readThinking(root.at("thinking"), from), ...readEffort(config, root, from), ...readKeep(root) };
  const choice = root.at("tool_choice");
  const oneCall = choice.at("disable_parallel_tool_use").boolean();
  const request = {
    model: root.at("model").string() ?? "",
    messages,
    tools: someOf(tools),
    toolChoice: readChoice(choice, tools, from),
    parallelCalls: oneCall === undefined ? undefined : !oneCall,
    stream: readStream(root.at("stream")),
    thinking: Object.keys(thinking).length > 0 ? thinking : undefined,
    sampling: readSampling(root, SAMPLING),
    maxTokens: root.at("max_tokens").number(),
    stop: readStop(root.at("stop_sequences")),
    output: readOutput(config.at("format"), from) ?? readOutput(root.at("output_format"), from),
  };
  from.keep(config);
  return from.request(root, request, transport(headers));
}

/** What a client asks of the API beside the body: it is for Anthropic's own servers. */
function transport({ "anthropic-beta": beta, "anthropic-version": version }: Headers): Opaque[] {
  const data = { ...(beta ? { "anthropic-beta": beta } : {}), ...(version && version !== VERSION ? { "anthropic-version": version } : {}) };
  return Object.keys(data).length > 0 ? [{ wire: WIRE, kind: HEADERS, data, quiet: true }] : [];
}

// Content

/** A line that Claude Code puts in front for Anthropic's books. It changes with every version: for any other model it would only spoil the cached prefix. */
const BILLING = "x-anthropic-billing-header:";

function readSystem(system: Field, from: Source): Message[] {
  const content = from
    .content(system, (part) => readPart(part, from))
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

function readPart(block: Field, from: Source): Text | Media {
  const type = block.at("type").name();
  if (type === "text") return withState<Text>({ type, text: block.at("text").string() ?? "" }, from.state(block));
  const media = type === "image" || type === "document" ? readMedia(block, type, from) : undefined;
  const text = textIn(block.value);
  return media ?? whole(block.value ?? null, text, text !== "");
}

function readMedia(block: Field, type: "image" | "document", from: Source): Media | undefined {
  const source = block.at("source");
  const kind = source.at("type").string();
  if (kind !== "base64" && kind !== "url") return undefined;
  const media = defined<Media>({
    type: "media",
    mediaType: source.at("media_type").string() ?? (type === "image" ? "image/*" : "application/pdf"),
    data: source.at("data").string(),
    url: source.at("url").string(),
    name: type === "document" ? block.at("title").string() : undefined,
  });
  return withState(media, from.inner("source", source), from.state(block));
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

// Messages

const ROLES = { user: "user", assistant: "assistant", system: "system" } as const;

const isResult = (block: Field) => objectOf(block.value).type === "tool_result";

class Conversation {
  readonly #from: Source;
  readonly #texts: ArgumentTexts;

  constructor(from: Source, body: unknown) {
    this.#from = from;
    this.#texts = new ArgumentTexts(body, "input");
  }

  read(list: Field): Message[] {
    const messages = list.list();
    if (messages.length === 0) list.fail("must be a list of messages that is not empty");
    this.#from.calls = new Calls(messages.flatMap((message) => blocksOf(message.at("content")).map((block) => block.at("id").value)));
    return messages.flatMap((message) => this.#message(message));
  }

  #message(message: Field): Message[] {
    const from = this.#from;
    const role = message.at("role").oneOf(ROLES);
    const content = message.at("content");
    const state = from.state(message);
    if (role === "assistant") return [withState({ role, content: this.#assistant(content) }, state)];
    const blocks = blocksOf(content);
    const results = role === "user" ? blocks.filter(isResult).map((block) => this.#result(block)) : [];
    // Results come first, whatever stands before them: the API refuses any other order.
    const said =
      results.length > 0 ? blocks.filter((block) => !isResult(block)).map((block) => readPart(block, from)) : this.#content(content);
    return results.length > 0 && said.length + state.length === 0 ? results : [...results, withState({ role, content: said }, state)];
  }

  #content(content: Field): (Text | Media)[] {
    return this.#from.content(content, (part) => readPart(part, this.#from));
  }

  #assistant(content: Field): Part[] {
    const carried: Carried = new Map();
    const parts = this.#from.content(content, (block): Part[] => {
      const type = block.at("type").name();
      if (type === "tool_use") return [this.#call(block)];
      if (type === "thinking") return this.#thinking(block, carried);
      if (type !== "redacted_thinking") return [readPart(block, this.#from)];
      return [withState<Thinking>({ type: "thinking", text: "" }, this.#from.state(block))]; // its `data`
    });
    return parts.map((part) => (part.type === "tool-call" ? withState(part, part.state, carried.get(part.id)) : part));
  }

  #thinking(block: Field, carried: Carried): Thinking[] {
    const text = block.at("thinking").string() ?? "";
    const signature = block.at("signature").string() ?? "";
    const capsule = openCapsule(signature);
    if (capsule?.call !== undefined) {
      carried.set(capsule.call, capsule.state ?? []);
      if (text === "") return []; // no thinking, but the carrier of a call's state
    }
    const state = capsule ? capsule.thinkingState : [signed(signature)];
    return [withState<Thinking>({ type: "thinking", text: text || (capsule?.thinking ?? "") }, state, this.#from.state(block))];
  }

  #call(block: Field): Part {
    const named = this.#from.calls.add(block.at("id").string(), block.at("name").name());
    const input = block.at("input");
    return this.#from.call(named, input, this.#from.state(block), this.#texts.take(input.value ?? {}).json);
  }

  #result(block: Field): ToolResult {
    block.at("type");
    const given = { id: block.at("tool_use_id").string(), name: undefined };
    const content = block.at("content");
    const parts = this.#content(content);
    const media = parts.filter((part) => part.type === "media");
    const texts = parts.filter((part) => part.type === "text");
    // Text, then media: more than that the nouns do not say, so the blocks go along.
    const plain = texts.length <= 1 && parts.every((part, i) => !part.state && (part.type === "media" || i === 0));
    const blocks: Opaque[] = plain ? [] : [{ wire: WIRE, kind: CONTENT, data: content.value ?? null, quiet: true }];
    const result = defined<ToolResult>({
      role: "tool",
      ...this.#from.calls.answer(given),
      output: texts.map((part) => part.text).join("\n"),
      media: someOf(media),
      isError: block.at("is_error").boolean() || undefined,
    });
    return withState(result, blocks, this.#from.state(block));
  }
}

const blocksOf = (content: Field): Field[] => (Array.isArray(content.value) ? content.list() : []);

// Tools

function readTools(root: Field, from: Source): Tool[] {
  const list = root.at("tools").list();
  const revealed = list.some((tool) => tool.at("defer_loading").value) ? references(root.at("messages").value ?? null) : new Set<Json>();
  return list.flatMap((tool) => {
    if ((tool.at("type").string() ?? "custom") !== "custom") {
      from.take(tool); // a tool of Anthropic's own: it keeps its place in the list
      return [];
    }
    const name = tool.at("name").name();
    const deferred = tool.at("defer_loading").boolean();
    // A tool that the conversation has referred to is there for everybody; only Anthropic's servers are still told that it was deferred.
    const known = deferred && revealed.has(name);
    const read = defined<Tool>({
      name,
      description: tool.at("description").string(),
      parameters: tool.at("input_schema").object(),
      strict: tool.at("strict").boolean(),
      deferred: (deferred && !known) || undefined,
    });
    const state: Opaque[] = known ? [{ wire: WIRE, kind: "defer_loading", data: true, quiet: true }] : [];
    return [withState(read, state, from.state(tool))];
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

function readChoice(choice: Field, tools: readonly Tool[], from: Source): ToolChoice | undefined {
  if (!choice.object()) return undefined;
  const mode = choice.at("type").oneOf(CHOICES);
  if (mode !== "tool") {
    from.keep(choice);
    return mode;
  }
  const name = choice.at("name").name();
  if (tools.some((tool) => tool.name === name)) return { name };
  from.take(choice); // one of Anthropic's own tools
  return undefined;
}

// Settings

const THINKING: Readonly<Record<string, ThinkingSettings>> = {
  enabled: { enabled: true },
  adaptive: { enabled: true },
  between_tools: { enabled: true },
  disabled: { enabled: false },
};
const DISPLAY: Readonly<Record<string, boolean>> = { summarized: true, omitted: false };

function readThinking(thinking: Field, from: Source): ThinkingSettings {
  if (!thinking.object()) return {};
  const type = thinking.at("type").name();
  const display = thinking.at("display").string();
  const settings = defined<ThinkingSettings>({
    ...(THINKING[type] ?? { enabled: true }),
    budget: thinking.at("budget_tokens").number(),
    show: display === undefined ? undefined : DISPLAY[display],
  });
  if (!THINKING[type] || type === "between_tools") from.take(thinking, true);
  else from.keep(thinking);
  return settings;
}

function readEffort(config: Field, root: Field, from: Source): ThinkingSettings {
  const given = config.at("effort");
  const effort = EFFORTS[given.string() ?? ""];
  // Between `high` and `max` the nouns have nothing; and for Anthropic's models an effort alone is no wish to think.
  if (given.given && (given.value !== effort || !root.at("thinking").given)) from.take(given, true);
  return effort ? { effort } : {};
}

/** Whether thinking of earlier turns stays in the prompt: said in an edit of the context, which goes along as it is. */
function readKeep(root: Field): ThinkingSettings {
  const edits = JSON.stringify(objectOf(root.value).context_management ?? null);
  return /"clear_thinking_20251015","keep":("all"|\{"type":"all")/.test(edits) ? { keep: true } : {};
}

function readOutput(format: Field, from: Source): Request["output"] {
  if (!format.object()) return undefined;
  if (format.at("type").value !== "json_schema") {
    from.take(format);
    return undefined;
  }
  const schema = format.at("schema").object();
  from.keep(format);
  return schema ? { schema } : {};
}
