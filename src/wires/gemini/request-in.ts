/**
 * Requests of clients: `POST /v1beta/models/m:generateContent` with `{"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}`.
 * Google's servers take every field in camelCase and in snake_case, and a list of one without its brackets; so do we.
 */
import { isObject } from "../../core/json.ts";
import type {
  Json,
  JsonObject,
  Media,
  Message,
  Opaque,
  Part,
  Request,
  Thinking,
  ThinkingSettings,
  Tool,
  ToolChoice,
  ToolResult,
} from "../../core/nouns.ts";
import { Calls } from "../calls.ts";
import { type Capsule, openCapsule, withState } from "../opaque.ts";
import {
  eachOf,
  fail,
  fields,
  flag,
  inside,
  name,
  number,
  object,
  objectOf,
  oneOf,
  readBody,
  some,
  someOf,
  text,
  valueAt,
  type Words,
  words,
} from "../read.ts";
import { onlyOne, readSampling, readStop, Source, toolName } from "../request-in.ts";
import { fromGeminiSchema } from "../schema-out.ts";
import type { WireInput } from "../wire.ts";
import { argumentsIn } from "./arguments.ts";
import { CONTENT, LEVELS, MEDIA, MODES, PART, ROLES, SAMPLING, SIGNATURE, SKIP, WIRE, wrapper } from "./tables.ts";

const ROOT = words("model contents systemInstruction tools toolConfig generationConfig generateContentRequest");
const CONFIG = words(
  "candidateCount maxOutputTokens stopSequences thinkingConfig responseMimeType responseJsonSchema responseSchema",
  SAMPLING,
);

export function decodeRequest({ path, query, body }: WireInput): Request {
  const outer = camel(readBody(body), ROOT);
  const wrapped = object(outer, "generateContentRequest"); // countTokens may wrap a whole request
  const root = wrapped ? camel(wrapped, ROOT) : outer;
  const from = new Source(WIRE);
  const { model, method } = target(path);
  const named = text(root, "model");
  const given = object(root, "generationConfig");
  const config = camel(given ?? {}, CONFIG);
  const at = "generationConfig";
  onlyOne(config, "candidateCount", at);
  const tools = items(root, "tools", "", (tool, place) => readTool(tool, place, from)).flat();
  const request = {
    model: model ?? named?.replace(/^models\//, "") ?? "",
    messages: new Conversation(from).read(root, typeof body === "string" ? body : ""),
    tools: someOf(tools),
    toolChoice: readChoice(object(root, "toolConfig"), tools, from),
    stream: method !== "streamGenerateContent" ? undefined : (query.alt ?? query.$alt) === "sse" ? ("sse" as const) : ("array" as const),
    thinking: readThinking(object(config, "thinkingConfig", at), from),
    sampling: readSampling(config, SAMPLING, at),
    maxTokens: number(config, "maxOutputTokens", at),
    stop: readStop(config, "stopSequences", at),
    output: readOutput(config, from),
  };
  from.keep(at, config, request.output || !valueAt(config, "responseMimeType") ? CONFIG : FREE);
  return from.request(root, ROOT, request);
}

/** A schema of another type than JSON stays with it. */
const FREE = words("candidateCount maxOutputTokens stopSequences thinkingConfig responseMimeType", SAMPLING);

/** The object with those of its keys in camelCase that we know. */
function camel(value: JsonObject, known: Words): JsonObject {
  let spelled: { [key: string]: Json } | undefined;
  for (const key in value) {
    if (!key.includes("_")) continue;
    const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (!(name in known) || name === key) continue;
    spelled ??= { ...value };
    spelled[name] ??= value[key]!;
    delete spelled[key];
  }
  return spelled ?? value;
}

/** The objects of a list, which may be one without a list. */
function items<T>(from: JsonObject, key: string, at: string, read: (item: JsonObject, at: string) => T): T[] {
  const value = valueAt(from, key);
  if (isObject(value)) return [read(value, inside(at, key))];
  if (value !== undefined && !Array.isArray(value)) fail(inside(at, key), "must be a list", value);
  return value === undefined ? [] : eachOf(value as readonly Json[], inside(at, key), read);
}

/** What a table has for a word, in whichever case: Google's own examples differ. */
function worded<T>(table: Readonly<Record<string, T>>, from: JsonObject, key: string, at: string): T | undefined {
  const word = valueAt(from, key);
  if (word === undefined) return undefined;
  return oneOf(table, { [key]: typeof word === "string" ? word.toUpperCase() : word }, key, at);
}

/** A model's name may hold slashes and colons of its own: the method stands behind the last colon. */
function target(path: string): { model?: string; method?: string } {
  const [, tuned = "", named, method] = /(?:^|\/)(?:models\/|(tunedModels\/))(.+):(\w+)$/.exec(path) ?? [];
  if (named === undefined || method === undefined) return {};
  try {
    return { model: tuned + decodeURIComponent(named), method };
  } catch {
    return { model: tuned + named, method }; // a stray % is part of the name
  }
}

// Contents

const TURN = words("role parts");
const KINDS = ["text", "inlineData", "fileData", "functionCall", "functionResponse"] as const;
const PART_KEYS = words(`${KINDS.join(" ")} thought ${SIGNATURE}`);
/** What is read of a part of each kind, of the model's and of others. */
const [SAID, GIVEN] = [` thought ${SIGNATURE}`, ` ${SIGNATURE}`].map((others) =>
  Object.fromEntries(KINDS.map((kind) => [kind, words(kind + others)])),
);
const INNER: Readonly<Record<Exclude<(typeof KINDS)[number], "text">, Words>> = {
  inlineData: words("", MEDIA),
  fileData: words("", MEDIA),
  functionCall: words("id name args"),
  functionResponse: words("id name response parts"),
};

class Conversation {
  readonly #from: Source;
  readonly #messages: Message[] = [];
  /** The arguments of the calls that are yet to come, as they are spelled. */
  #spelled: (string | undefined)[] = [];
  /** What came back with a call, by the id of the call. */
  readonly #capsules = new Map<string, Capsule>();

  constructor(from: Source) {
    this.#from = from;
  }

  read(root: JsonObject, body: string): Message[] {
    const calls: JsonObject[] = [];
    const contents = items(root, "contents", "", (content, at) => {
      items(content, "parts", at, (part) => {
        const call = camel(part, PART_KEYS).functionCall;
        if (isObject(call)) calls.push(call);
      });
      return [content, at] as const;
    });
    if (contents.length === 0) fail("contents", "must be a list of contents that is not empty", root.contents);
    this.#spelled = argumentsIn(body, calls.length);
    this.#from.calls = new Calls(() => calls.map(({ id }) => id));
    const { systemInstruction: system } = root;
    if (typeof system === "string") this.#turn("system", { parts: [{ text: system }] }, "systemInstruction");
    else if (system) this.#turn("system", object(root, "systemInstruction")!, "systemInstruction");
    for (const [content, at] of contents) {
      const role = worded(ROLES, content, "role", at) ?? "user";
      if (role === "assistant") this.#model(content, at);
      else this.#turn(role, content, at);
    }
    if (this.#capsules.size === 0) return this.#messages;
    return this.#messages.map((message) =>
      message.role === "assistant" ? { ...message, content: recalled(message.content, this.#capsules) } : message,
    );
  }

  /** The turn of a user: results are messages of their own, all in their order. The first message has what else stood on the content. */
  #turn(role: "user" | "system", content: JsonObject, at: string): void {
    const messages: Message[] = [];
    items(content, "parts", at, (part, place) => {
      const read = this.#part(part, place, role);
      const last = messages.at(-1);
      if (!read) return;
      if ("role" in read) messages.push(read);
      else if (read.type !== "text" && read.type !== "media") fail(place, 'may only stand in a content whose role is "model"', part);
      else if (last?.role === role) last.content.push(read);
      else messages.push({ role, content: [read] });
    });
    const [first = { role, content: [] }, ...others] = messages;
    const state = this.#from.state(content, TURN);
    const marked = first.role === "tool" ? state?.map((opaque) => ({ ...opaque, kind: CONTENT + opaque.kind })) : state;
    this.#messages.push(withState<Message>(first, first.state, marked), ...others);
  }

  /** What the model said. Some clients keep every chunk of a stream as a content of its own: together they are one message. */
  #model(content: JsonObject, at: string): void {
    const said = items(content, "parts", at, (part, place): Part[] => {
      const read = this.#part(part, place, "assistant") ?? [];
      return "role" in read ? fail(place, 'may only stand in a content whose role is "user"', part) : [read].flat();
    }).flat();
    const last = this.#messages.at(-1);
    const state = this.#from.state(content, TURN);
    if (last?.role === "assistant" && !state) last.content = joined(last.content, said);
    else this.#messages.push(withState<Message>({ role: "assistant", content: said }, state));
  }

  /** `undefined`: there is nothing in it. */
  #part(given: JsonObject, at: string, role: Message["role"]): Part | ToolResult | undefined {
    const part = camel(given, PART_KEYS);
    const kind = KINDS.find((key) => valueAt(part, key) !== undefined);
    if (kind === undefined) return { type: "text", text: "", state: [{ wire: WIRE, kind: PART, data: given }] };
    const value = kind === "text" ? part : camel(object(part, kind, at)!, INNER[kind]);
    const read = this.#value(kind, value, inside(at, kind), role === "assistant" && flag(part, "thought", at) === true);
    const signature = text(part, SIGNATURE, at) ?? "";
    const capsule = openCapsule(signature);
    if (capsule && "id" in read && read.id !== undefined) this.#capsules.set(read.id, capsule);
    const signed: Opaque[] = capsule || signature === "" || signature === SKIP ? [] : [{ wire: WIRE, kind: SIGNATURE, data: signature }];
    const inner = kind === "text" ? undefined : this.#from.inner(kind, value, INNER[kind]);
    withState(read, inner, signed, this.#from.state(part, (role === "assistant" ? SAID : GIVEN)![kind]!));
    // An empty text is a chunk that held only the reason of the end, or a heartbeat.
    return "text" in read && read.text === "" && !read.state ? undefined : read;
  }

  #value(kind: (typeof KINDS)[number], value: JsonObject, at: string, isThought: boolean): Part | ToolResult {
    const { calls } = this.#from;
    if (kind === "text") return { type: isThought ? "thinking" : "text", text: text(value, kind) ?? "" };
    if (kind === "functionCall") {
      const named = calls.add(text(value, "id", at), name(value, "name", at));
      object(value, "args", at);
      return this.#from.call(named, value, "args", at, undefined, this.#spelled.shift());
    }
    if (kind !== "functionResponse") return { type: "media", mediaType: "application/octet-stream", ...fields<Media>(value, MEDIA, at) };
    const named = calls.answer({ id: text(value, "id", at), name: text(value, "name", at) });
    const result: ToolResult = { role: "tool", ...named, ...outputOf(object(value, "response", at) ?? {}) };
    const parts = items(value, "parts", at, (part, place) => this.#part(part, place, "user"));
    const media = parts.filter((part) => part && "mediaType" in part) as Media[];
    return media.length > 0 ? { ...result, media } : result;
  }
}

/** A text goes on where the chunk before it ended. */
function joined(before: readonly Part[], after: readonly Part[]): Part[] {
  const [last, next] = [before.at(-1), after[0]];
  if (!last || !next || !("text" in last && "text" in next) || last.type !== next.type || last.state) return [...before, ...after];
  return [...before.slice(0, -1), { ...next, text: last.text + next.text }, ...after.slice(1)];
}

/** The message with the thinking that its calls brought back, each in front of what was said since the call before, in place of the client's own copy. */
function recalled(content: readonly Part[], capsules: ReadonlyMap<string, Capsule>): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const part of content) {
    const capsule = part.type === "tool-call" ? capsules.get(part.id) : undefined;
    if (part.type !== "tool-call" || !capsule) parts.push(part);
    else {
      const { thinking = "", thinkingState: state = [] } = capsule;
      if (thinking !== "" || state.length > 0) {
        const said = parts.splice(from).filter(({ type }) => type !== "thinking");
        parts.push(withState<Thinking>({ type: "thinking", text: thinking }, state), ...said);
      }
      parts.push(withState(part, part.state, capsule.state));
    }
    if (part.type === "tool-call") from = parts.length;
  }
  return parts;
}

/** `output` and `error` are special only where they stand alone; any other object is itself what the tool returned. */
function outputOf(response: JsonObject): Pick<ToolResult, "output" | "isError"> {
  const key = wrapper(response);
  if (key === undefined) return { output: response };
  const output = response[key] ?? null;
  return key === "error" ? { output, isError: true } : { output };
}

// Tools

const TOOL = words("functionDeclarations");
const DECLARATION = words("name description parameters parametersJsonSchema response responseJsonSchema");

function readTool(given: JsonObject, at: string, from: Source): Tool[] {
  const tool = camel(given, TOOL);
  const declared = items(tool, "functionDeclarations", at, (spec, place) => {
    const declaration = camel(spec, DECLARATION);
    const read: Tool = { name: name(declaration, "name", place) };
    const description = text(declaration, "description", place);
    if (description !== undefined) read.description = description;
    for (const key of ["parameters", "response"] as const) {
      const schema = object(declaration, `${key}JsonSchema`, place) ?? object(declaration, key, place);
      if (schema) read[key] = fromGeminiSchema(schema);
    }
    return withState(read, from.state(declaration, DECLARATION));
  });
  from.keep(at, tool, TOOL); // Google's own tools: they keep their place in the list
  return declared;
}

const TOOL_CONFIG = words("functionCallingConfig");
const CALLING = words("mode allowedFunctionNames streamFunctionCallArguments");

function readChoice(given: JsonObject | undefined, tools: readonly Tool[], from: Source): ToolChoice | undefined {
  if (!given) return undefined;
  const config = camel(given, TOOL_CONFIG);
  const at = "toolConfig.functionCallingConfig";
  const calling = camel(objectOf(config.functionCallingConfig), CALLING);
  const mode = worded(MODES, calling, "mode", at) ?? "";
  const names = valueAt(calling, "allowedFunctionNames") ?? [];
  const allowed = [names].flat().map((named) => toolName(named, `${at}.allowedFunctionNames`, tools));
  if (calling.streamFunctionCallArguments === true)
    from.warnings.push({ code: "dropped", message: "streamFunctionCallArguments was left out: on this wire a call comes whole" });
  if (mode === "allowed" && allowed.length === 0) from.take(`${at}.mode`, calling.mode); // as good as `auto`, to anyone else
  from.keep(at, calling, CALLING);
  from.keep("toolConfig", config, TOOL_CONFIG);
  if (mode === "required" && allowed.length === 1) return { name: allowed[0]! };
  if (allowed.length > 0 && mode !== "none") return mode === "required" ? { allowed, required: true } : { allowed };
  return mode === "allowed" ? undefined : mode || undefined;
}

// Settings

const THINKING = words("thinkingBudget thinkingLevel includeThoughts");

function readThinking(given: JsonObject | undefined, from: Source): ThinkingSettings | undefined {
  if (!given) return undefined;
  const at = "generationConfig.thinkingConfig";
  const config = camel(given, THINKING);
  const budget = number(config, "thinkingBudget", at);
  const thinking = some<ThinkingSettings>({
    enabled: budget === undefined ? undefined : budget !== 0, // -1: as much as the model likes
    effort: worded(LEVELS, config, "thinkingLevel", at) || undefined,
    budget: budget !== undefined && budget > 0 ? budget : undefined,
    show: flag(config, "includeThoughts", at),
  });
  from.keep(at, config, THINKING);
  return thinking;
}

function readOutput(config: JsonObject, from: Source): Request["output"] {
  const at = "generationConfig";
  const type = valueAt(config, "responseMimeType");
  if (type !== undefined && type !== "application/json") {
    if (type !== "text/plain") from.take(`${at}.responseMimeType`, type);
    return undefined;
  }
  const schema = object(config, "responseJsonSchema", at) ?? object(config, "responseSchema", at);
  if (!schema) return type === undefined ? undefined : {};
  return { schema: fromGeminiSchema(schema) };
}
