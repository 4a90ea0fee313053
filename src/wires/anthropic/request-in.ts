/** Client requests: `{"model": "m", "max_tokens": 9, "system": "…", "messages": [{"role": "user", "content": [{"type": "text", …}]}]}`. */
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
  Sampling,
  Text,
  Thinking,
  ThinkingSettings,
  Tool,
  ToolChoice,
  ToolResult,
} from "../../core/nouns.ts";
import { asSet, NATIVE } from "../bridge.ts";
import { isPhase, isSignature, openCapsule, signText } from "../capsule.ts";
import { Fields } from "../fields.ts";
import { summaryText } from "../media.ts";
import { opaque, putState, withState } from "../opaque.ts";
import { defined, entryOf, isEmpty, isList, isText, listOf, objectOf, restOf, someOf, spelling, words } from "../read.ts";
import { conversation, readStop, readStream, Source } from "../request-in.ts";
import type { Headers, WireInput } from "../wire.ts";
import { BLOCK, type Carried, CONTENT, DEFINED, EFFORTS, HEADERS, SAMPLING, SOURCE, signed, TITLE, TOOL, VERSION, WIRE } from "./common.ts";
import { nativeOf } from "./natives.ts";

/** The SDK's tool runner sends only new messages; after this error it sends the whole conversation. */
const LOST: ErrorInfo = {
  code: "not-found",
  message: "thread.previous_message_id is not kept here: send the whole conversation",
  native: "thread_not_found",
};

/** Fields that other wires drop without a warning: bookkeeping, or expressed in the nouns as well. */
const quiet = words("metadata context_management service_tier eager_input_streaming thread caller");

export function decodeRequest({ headers, body }: WireInput): Request {
  const from = new Source(WIRE, body, { quiet, args: "input" });
  const { root } = from;
  if (objectOf(root.value.thread).type === "continue") throw new BadRequest(LOST);
  const config = root.inner("output_config");
  const thinking = { ...readThinking(root, from), ...readEffort(config), ...readKeep(root) };
  const changes: Json[] = [];
  const messages = conversation(root, "messages", "messages", (message) => readMessage(message, from, changes)).flat();
  const tools = readTools(root, from, changes);
  const choice = root.object("tool_choice");
  const oneCall = choice?.flag("disable_parallel_tool_use");
  const request = {
    model: root.text("model") ?? "",
    messages: [...readSystem(root, from), ...messages],
    tools: someOf(tools),
    toolChoice: choice && readChoice(choice, tools, from),
    parallelCalls: oneCall === undefined ? undefined : !oneCall,
    stream: readStream(root),
    thinking: isEmpty(thinking) ? undefined : thinking,
    sampling: root.some<Sampling>(SAMPLING),
    maxTokens: root.number("max_tokens"),
    stop: readStop(root, "stop_sequences"),
    output: readOutput(config, "format") ?? readOutput(root, "output_format"),
  };
  return from.request(request, transport(headers));
}

/** The client's headers for the API, which only Anthropic's own servers get. */
const CARRIED = /^anthropic-(beta|version|user-profile-id|workspace-id)$/;

function transport(headers: Headers): Opaque[] {
  const data = restOf(headers, (name) => CARRIED.test(name) && headers[name] !== VERSION);
  return data ? [opaque(WIRE, HEADERS, data, true)] : [];
}

// Content

/** A line that Claude Code puts first, for billing. It changes with every version, and would spoil any other server's prompt cache. */
const BILLING = "x-anthropic-billing-header:";

function readSystem(root: Fields, from: Source): Message[] {
  const content = from
    .content(root, "system", readPart)
    .map((part) =>
      part.type === "text" && part.text.startsWith(BILLING)
        ? whole(putState(WIRE, { type: "text", text: part.text }, part.state), "", true)
        : part,
    );
  return content.length > 0 ? [{ role: "system", content }] : [];
}

/** Keeps a block that the nouns have no place for as a text, which holds what others can read of it, often nothing. */
const whole = (data: Json, text: string, quiet?: boolean): Text => ({
  type: "text",
  text,
  state: [opaque(WIRE, BLOCK, data, quiet)],
});

function readPart(block: Fields): Text | Media {
  const type = block.name("type");
  if (type === "text") return withState<Text>({ type, text: block.text("text") ?? "" }, block.state());
  const media = type === "image" || type === "document" ? readMedia(block, type === "document") : undefined;
  const said = media ? "" : textIn(block.value);
  const cites = objectOf(block.value.citations).enabled === true ? [opaque(WIRE, "#citations", true)] : [];
  return media ?? withState(whole(block.value, said || storedFile(block.value), said !== "" || isHeeded(block.value)), cites);
}

/** The label of a file that only Anthropic's own servers have. */
function storedFile({ type, title, source, file_id }: JsonObject): string {
  const mediaType = type === "image" ? "image/*" : type === "document" ? "application/pdf" : "application/octet-stream";
  const id = objectOf(source).file_id ?? file_id;
  return isText(id) ? `[${[mediaType, title].filter(Boolean).join(" ")}]` : "";
}

function readMedia(block: Fields, isDocument: boolean): Media | undefined {
  const source = block.inner("source");
  const type = source.json("type");
  if (type !== "base64" && type !== "url") return undefined;
  const media: Media = { type: "media", mediaType: isDocument ? "application/pdf" : "image/*", ...source.read<Media>(SOURCE) };
  return withState(isDocument ? { ...media, ...block.read<Media>(TITLE) } : media, block.state());
}

/** The readable text of plain-text documents, search results, tool references and summaries. */
function textIn(block: Json | undefined): string {
  if (!isObject(block)) return "";
  const { type, text, title, context, source, content, data, tool_name: tool } = block;
  if (type === "text") return isText(text) ? text : "";
  if (type === "tool_reference") return `The tool ${tool} is now available.`;
  if (type === "compaction") return isText(content) ? summaryText(content) : "";
  if (type !== "document" && type !== "search_result") return "";
  const inner = isObject(source) ? (source.data ?? source.content) : (content ?? data);
  const lines = isList(inner) ? inner.map((item) => (objectOf(item).type === "image" ? "[image/*]" : textIn(item))) : [inner];
  const body = lines.filter(isText).join("\n");
  return body && [title, type === "search_result" ? source : context, body].filter((line) => isText(line) && line !== "").join("\n");
}

// Messages

const ROLES = spelling("user assistant system");

/** A message that only changes tools or a setting is kept in its place for Anthropic's own servers; other wires do not get it. */
function readMessage(message: Fields, from: Source, changes: Json[]): Message[] {
  const role = message.word("role", ROLES);
  const blocks = listOf(message.value.content);
  const changed = blocks.flatMap((block) => (isToolChange(block) ? [block] : listOf(objectOf(block).tool_changes)));
  changes.push(...changed);
  if (blocks.length > 0 ? blocks.every(isToolChange) : role === "system" && message.value.content === undefined) {
    from.take(message.at, message.value, blocks.length > 0 && blocks.every(isHeeded));
    return [];
  }
  if (role === "assistant") return [withState({ role, content: readAssistant(message, from) }, message.state())];
  const results: ToolResult[] = [];
  const content = from.content(message, "content", (block) => {
    if (role !== "user" || block.value.type !== "tool_result") return readPart(block);
    results.push(readResult(block, from));
    return [];
  });
  const state = message.state();
  // Results come first, even if other blocks precede them: the API refuses any other order.
  return results.length > 0 && content.length === 0 && !state ? results : [...results, withState({ role, content }, state)];
}

function readAssistant(message: Fields, from: Source): Part[] {
  const carried: Carried = new Map();
  const parts = from.content(message, "content", (block): Part | Part[] => {
    const { type } = block.value;
    if (type === "tool_use") return readCall(block, from);
    if (type === "thinking") return readThought(block, carried);
    if (type !== "redacted_thinking") return readPart(block);
    block.ask("type");
    return withState<Thinking>({ type: "thinking", text: "" }, block.state()); // its `data`
  });
  const said: Part[] = [];
  let ahead: Opaque[] | undefined;
  for (const part of parts) {
    if (part.type === "tool-call") withState(part, carried.get(part.id));
    if (part.type === "text" && part.text === "" && part.state?.every(isSignature)) signText(said, part.state);
    else if (part.type === "text" && part.text === "" && part.state?.every(isPhase)) ahead = part.state;
    else {
      said.push(part.type === "text" ? withState(part, ahead) : part);
      if (part.type === "text") ahead = undefined;
    }
  }
  return said;
}

function readThought(block: Fields, carried: Carried): (Thinking | Text)[] {
  block.ask("type");
  const thinking = block.text("thinking") ?? "";
  const signature = block.text("signature") ?? "";
  const capsule = openCapsule(signature);
  if (capsule?.call !== undefined) {
    carried.set(capsule.call, capsule.state ?? []);
    // Not thinking, but a carrier for the state of a call or of a text.
    if (thinking === "") return capsule.call === "" ? [withState<Text>({ type: "text", text: "" }, capsule.state)] : [];
  }
  const [thought = {}] = capsule?.thoughts ?? [];
  const state = capsule ? thought.state : [signed(signature)];
  return [withState<Thinking>({ type: "thinking", text: thinking || (thought.thinking ?? "") }, state, block.state())];
}

function readCall(block: Fields, from: Source): Part {
  block.ask("type");
  const call = from.call(block, "input", from.calls.add(block.text("id"), block.name("name")));
  return withState(call, block.state());
}

function readResult(block: Fields, from: Source): ToolResult {
  const named = from.calls.answer({ id: block.text("tool_use_id"), name: undefined });
  const result = from.result(block, CONTENT, named, from.content(block, CONTENT, readPart));
  if (block.flag("is_error")) result.isError = true;
  block.ask("type");
  return withState(result, block.state());
}

// Tools

const CHANGES: ReadonlySet<Json | undefined> = new Set(["tool_addition", "tool_removal"]);
const isToolChange = (block: Json): boolean => CHANGES.has(objectOf(block).type);
/** Whether the change is about a tool that other servers can have, too, so that it is applied to the request's tools. */
function isHeeded(block: Json): boolean {
  const { server_name, definition } = objectOf(objectOf(block).tool);
  return isToolChange(block) && server_name === undefined && describe(objectOf(definition)) !== undefined;
}

/** The tools at the end of the conversation: as declared, with the changes that the conversation makes. */
function readTools(root: Fields, from: Source, changes: readonly Json[]): Tool[] {
  const changed = new Map<Json | undefined, JsonObject | undefined>(); // by name: the new definition; `undefined`: the tool was removed
  for (const change of changes) {
    const { type, name, definition } = objectOf(objectOf(change).tool);
    if (objectOf(change).type === "tool_removal") changed.set(name, undefined);
    else if (type === "tool_definition") changed.set(objectOf(definition).name, objectOf(definition));
    else if (changed.get(name) === undefined) changed.delete(name);
  }
  const declared = readDeclared(root, from, (tool) => changed.has(tool.value.name));
  const added = [...changed.values()].flatMap((definition) => {
    const described = definition && describe(definition);
    return described
      ? [withState(readTool(new Fields(definition, from, "definition"), described), [opaque(WIRE, DEFINED, true, true)])]
      : [];
  });
  return [...declared, ...added];
}

/** Nulls in a schema count as absent: SDKs of typed languages write them. */
function readTool(tool: Fields, described: Partial<Tool>): Tool {
  const isNative = (tool.text("type") ?? "custom") !== "custom";
  const made: Tool = { ...described, ...tool.read<Tool>(TOOL), name: tool.name("name") };
  if (Object.values(made.parameters ?? {}).includes(null)) made.parameters = restOf(made.parameters!) ?? {};
  return withState(made, isNative ? [opaque(WIRE, NATIVE, tool.value, true)] : tool.state());
}

/** What is known of a tool beyond its declaration; `undefined`: only Anthropic's servers have the tool. */
function describe(tool: JsonObject): Partial<Tool> | undefined {
  if ((tool.type ?? "custom") === "custom") return {};
  const native = nativeOf(tool.type);
  return native && asSet(tool, native);
}

/** Tools that only Anthropic's servers have, or that were changed later, are kept as extras with their index in the list. */
function readDeclared(root: Fields, from: Source, isChanged: (tool: Fields) => boolean): Tool[] {
  let revealed: Set<Json> | undefined;
  return root
    .each("tools", (tool): Tool[] => {
      const described = describe(tool.value);
      if (!described || isChanged(tool)) {
        from.take(tool.at, tool.value, described !== undefined);
        return [];
      }
      const made = readTool(tool, described);
      if (made.deferred) revealed ??= references(root.value.messages ?? null);
      // A tool that the conversation refers to is no longer deferred; only Anthropic's servers still get its `defer_loading`.
      const isKnown = made.deferred && revealed?.has(made.name);
      if (isKnown) delete made.deferred;
      return [withState(made, isKnown ? [opaque(WIRE, "defer_loading", true, true)] : [])];
    })
    .flat();
}

/** The names of tools in any `tool_reference`: in a result, in a server's tool search, or in a tool change. */
function references(value: Json, found = new Set<Json>()): Set<Json> {
  if (isList(value)) for (const item of value as readonly Json[]) references(item, found);
  else if (isObject(value) && value.type === "tool_reference") found.add(value.tool_name ?? value.name ?? null);
  else if (isObject(value) && value.type !== "tool_removal") for (const item of Object.values(value)) references(item, found);
  return found;
}

const CHOICES = { auto: "auto", any: "required", none: "none", tool: "tool" } as const;
function readChoice(choice: Fields, tools: readonly Tool[], from: Source): ToolChoice | undefined {
  const mode = choice.word("type", CHOICES);
  if (mode !== "tool") return mode;
  const name = choice.name("name");
  if (tools.some((tool) => tool.name === name)) return { name };
  from.take("tool_choice", choice.value); // one of Anthropic's own tools
  return undefined;
}

// Settings

const KINDS: Readonly<Record<string, boolean>> = { enabled: true, adaptive: true, disabled: false };
const DISPLAY: Readonly<Record<string, boolean>> = { summarized: true, omitted: false };
function readThinking(root: Fields, from: Source): ThinkingSettings {
  const thinking = root.thing("thinking");
  if (!thinking) return {};
  const enabled = entryOf(KINDS, thinking.name("type"));
  const [budget, show] = [thinking.number("budget_tokens"), entryOf(DISPLAY, thinking.value.display)];
  if (show !== undefined) thinking.ask("display"); // an unknown value stays in the rest
  if (enabled === undefined)
    from.take("thinking", thinking.value, true); // `between_tools`, and future kinds
  else from.keep(thinking);
  return defined<ThinkingSettings>({ enabled: enabled ?? true, budget, show });
}

function readEffort(config: Fields): ThinkingSettings {
  if (!EFFORTS.has(config.value.effort ?? "max")) return {}; // a future effort stays in the rest
  return defined<ThinkingSettings>({ effort: config.text("effort") as ThinkingSettings["effort"] });
}

/** Whether the thinking of earlier turns stays in the prompt. The context edit that says so is also kept as an extra. */
function readKeep({ value }: Fields): ThinkingSettings {
  const keeps = listOf(objectOf(value.context_management).edits).some((edit) => {
    const { type, keep } = objectOf(edit);
    return type === "clear_thinking_20251015" && (keep === "all" || objectOf(keep).type === "all");
  });
  return keeps ? { keep: true } : {};
}

function readOutput(given: Fields, key: string): Request["output"] {
  if (isObject(given.value[key]) && given.value[key].type !== "json_schema") return undefined; // a format only for Anthropic's servers
  const format = given.object(key);
  format?.ask("type");
  return format && defined<NonNullable<Request["output"]>>({ schema: format.thing("schema")?.value });
}
