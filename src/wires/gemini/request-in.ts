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
  defined,
  each,
  fail,
  fields,
  flag,
  inside,
  list,
  name,
  number,
  object,
  objectOf,
  oneOf,
  readBody,
  some,
  someOf,
  text,
  words,
} from "../read.ts";
import { onlyOne, readSampling, readStop, Source, toolName } from "../request-in.ts";
import { fromGeminiSchema } from "../schema-out.ts";
import { ArgumentTexts } from "../spans.ts";
import type { WireInput } from "../wire.ts";
import { CONTENT, LEVELS, MEDIA, MODES, PART, ROLES, SAMPLING, SIGNATURE, SKIP, WIRE, wrapper } from "./tables.ts";

export function decodeRequest({ path, query, body }: WireInput): Request {
  const { generateContentRequest: wrapped, ...outer } = camel(readBody(body)); // countTokens may wrap a whole request
  const inner = object(wrapped, "", "generateContentRequest");
  const root = inner ? camel(inner) : outer;
  const { model: named, contents, systemInstruction, tools, toolConfig, generationConfig, ...rest } = root;
  const from = new Source(WIRE);
  const { model, method } = target(path);
  const at = "generationConfig";
  const config = camel(object(generationConfig, "", at) ?? {});
  const { candidateCount, maxOutputTokens, stopSequences, thinkingConfig, ...others } = config;
  onlyOne(candidateCount, at, "candidateCount");
  const declared = items(tools, "", "tools", (tool, place) => readTool(tool, place, from)).flat();
  const [sampling, unread] = readSampling(others, SAMPLING, at);
  const [output, configRest] = readOutput(unread, at, from);
  const request = {
    model: model ?? text(named, "", "model")?.replace(/^models\//, "") ?? "",
    messages: new Conversation(from, body).read(systemInstruction, contents),
    tools: someOf(declared),
    toolChoice: readChoice(object(toolConfig, "", "toolConfig"), declared, from),
    stream: method !== "streamGenerateContent" ? undefined : (query.alt ?? query.$alt) === "sse" ? ("sse" as const) : ("array" as const),
    thinking: readThinking(object(thinkingConfig, at, "thinkingConfig"), from),
    sampling,
    maxTokens: number(maxOutputTokens, at, "maxOutputTokens"),
    stop: readStop(stopSequences, at, "stopSequences"),
    output,
  };
  from.keep(at, configRest);
  return from.request(rest, request);
}

/** The keys that we read, of whatever object. */
const KNOWN = words(
  `generateContentRequest systemInstruction toolConfig generationConfig candidateCount maxOutputTokens stopSequences thinkingConfig responseMimeType
  responseJsonSchema responseSchema thinkingBudget thinkingLevel includeThoughts functionDeclarations parametersJsonSchema functionCallingConfig
  allowedFunctionNames streamFunctionCallArguments inlineData fileData functionCall functionResponse thoughtSignature mimeType fileUri displayName
  topP topK presencePenalty frequencyPenalty`,
);

/** The object with those of its keys in camelCase that we read. */
function camel(value: JsonObject): JsonObject {
  let spelled: { [key: string]: Json } | undefined;
  for (const key in value) {
    if (!key.includes("_")) continue;
    const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (!KNOWN.has(name)) continue;
    spelled ??= { ...value };
    spelled[name] ??= value[key]!;
    delete spelled[key];
  }
  return spelled ?? value;
}

/** The objects of a list, which may be one without a list; each in our spelling. */
const items = <T>(value: Json | undefined, at: string, key: string, read: (item: JsonObject, at: string) => T): T[] =>
  isObject(value) ? [read(camel(value), inside(at, key))] : each(value, at, key, (item, place) => read(camel(item), place));

/** What a table has for a word, in whichever case: Google's own examples differ. */
const worded = <T>(table: Readonly<Record<string, T>>, word: Json | undefined, at: string, key: string): T | undefined =>
  word ? oneOf(table, typeof word === "string" ? word.toUpperCase() : word, at, key) : undefined;

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

const KINDS = ["text", "inlineData", "fileData", "functionCall", "functionResponse"] as const;

class Conversation {
  readonly #from: Source;
  readonly #messages: Message[] = [];
  readonly #texts: ArgumentTexts;
  /** What came back with a call, by the id of the call. */
  readonly #capsules = new Map<string, Capsule>();

  constructor(from: Source, body: unknown) {
    this.#from = from;
    this.#texts = new ArgumentTexts(body, "args");
  }

  read(system: Json | undefined, list: Json | undefined): Message[] {
    const contents = items(list, "", "contents", (content, at) => ({ content, at }));
    if (contents.length === 0) fail("contents", "must be a list of contents that is not empty", list);
    this.#from.calls = new Calls(() => contents.flatMap(({ content, at }) => items(content.parts, at, "parts", callId)));
    if (typeof system === "string") this.#turn("system", { parts: [{ text: system }] }, "systemInstruction");
    else if (system) this.#turn("system", object(system, "", "systemInstruction") ?? {}, "systemInstruction");
    for (const { content, at } of contents) {
      const role = worded(ROLES, content.role, at, "role") ?? "user";
      if (role === "assistant") this.#model(content, at);
      else this.#turn(role, content, at);
    }
    if (this.#capsules.size === 0) return this.#messages;
    return this.#messages.map((message) =>
      message.role === "assistant" ? { ...message, content: recalled(message.content, this.#capsules) } : message,
    );
  }

  /** The turn of a user: results are messages of their own, all in their order. The first message has what else stood on the content. */
  #turn(role: "user" | "system", { role: _role, parts, ...rest }: JsonObject, at: string): void {
    const messages: Message[] = [];
    items(parts, at, "parts", (part, place) => {
      const read = this.#part(part, place, role);
      const last = messages.at(-1);
      if (!read) return;
      if ("role" in read) messages.push(read);
      else if (read.type !== "text" && read.type !== "media") fail(place, 'may only stand in a content whose role is "model"', part);
      else if (last?.role === role) last.content.push(read);
      else messages.push({ role, content: [read] });
    });
    const [first = { role, content: [] }, ...others] = messages;
    const state = this.#from.state(rest);
    const marked = first.role === "tool" ? state?.map((opaque) => ({ ...opaque, kind: CONTENT + opaque.kind })) : state;
    this.#messages.push(withState<Message>(first, first.state, marked), ...others);
  }

  /** What the model said. Some clients keep every chunk of a stream as a content of its own: together they are one message. */
  #model({ role: _role, parts, ...rest }: JsonObject, at: string): void {
    const said = items(parts, at, "parts", (part, place): Part[] => {
      const read = this.#part(part, place, "assistant") ?? [];
      return "role" in read ? fail(place, 'may only stand in a content whose role is "user"', part) : [read].flat();
    }).flat();
    const last = this.#messages.at(-1);
    const state = this.#from.state(rest);
    if (last?.role === "assistant" && !state) last.content = joined(last.content, said);
    else this.#messages.push(withState<Message>({ role: "assistant", content: said }, state));
  }

  /** `undefined`: there is nothing in it. */
  #part(part: JsonObject, at: string, role: Message["role"]): Part | ToolResult | undefined {
    const kind = KINDS.find((key) => (part[key] ?? undefined) !== undefined);
    if (kind === undefined) return { type: "text", text: "", state: [{ wire: WIRE, kind: PART, data: part }] };
    const { [kind]: value, [SIGNATURE]: sign, ...others } = part;
    const { thought, ...said } = others;
    const isSaid = role === "assistant";
    const read = this.#value(kind, value, at, isSaid && flag(thought, at, "thought") === true);
    const signature = text(sign, at, SIGNATURE) ?? "";
    const capsule = openCapsule(signature);
    if (capsule && "id" in read && read.id !== undefined) this.#capsules.set(read.id, capsule);
    const signed: Opaque[] = capsule || signature === "" || signature === SKIP ? [] : [{ wire: WIRE, kind: SIGNATURE, data: signature }];
    withState(read, "state" in read ? read.state : undefined, signed, this.#from.state(isSaid ? said : others));
    // An empty text is a chunk that held only the reason of the end, or a heartbeat.
    return "text" in read && read.text === "" && !read.state ? undefined : read;
  }

  #value(kind: (typeof KINDS)[number], given: Json | undefined, at: string, isThought: boolean): Part | ToolResult {
    const { calls } = this.#from;
    if (kind === "text") return { type: isThought ? "thinking" : "text", text: text(given, at, kind) ?? "" };
    const value = camel(object(given, at, kind) ?? {});
    const place = inside(at, kind);
    if (kind === "functionCall") {
      const { id, name: called, args, ...rest } = value;
      const named = calls.add(text(id, place, "id"), name(called, place, "name"));
      return this.#from.call(named, object(args, place, "args"), place, "args", this.#from.inner(kind, rest), this.#texts.take(args ?? {}));
    }
    if (kind !== "functionResponse") {
      const [read, rest] = fields<Media>(value, MEDIA, place);
      return withState<Media>({ type: "media", mediaType: "application/octet-stream", ...read }, this.#from.inner(kind, rest));
    }
    const { id, name: called, response, parts, ...rest } = value;
    const named = calls.answer({ id: text(id, place, "id"), name: text(called, place, "name") });
    const result: ToolResult = { role: "tool", ...named, ...outputOf(object(response, place, "response") ?? {}) };
    const media = items(parts, place, "parts", (part, inner) => this.#part(part, inner, "user")).flatMap((part) =>
      part && "mediaType" in part ? part : [],
    );
    if (media.length > 0) result.media = media;
    return withState(result, this.#from.inner(kind, rest));
  }
}

const callId = ({ functionCall: call }: JsonObject): Json | undefined => objectOf(call).id;

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

function readTool({ functionDeclarations, ...rest }: JsonObject, at: string, from: Source): Tool[] {
  const declared = items(functionDeclarations, at, "functionDeclarations", (declaration, place) => {
    const { name: given, description, parameters, parametersJsonSchema, response, responseJsonSchema, ...unread } = declaration;
    const schema = (key: string, json: Json | undefined, older: Json | undefined): JsonObject | undefined => {
      const found = object(json, place, `${key}JsonSchema`) ?? object(older, place, key);
      return found && fromGeminiSchema(found);
    };
    const tool = defined<Tool>({
      name: name(given, place, "name"),
      description: text(description, place, "description"),
      parameters: schema("parameters", parametersJsonSchema, parameters),
      response: schema("response", responseJsonSchema, response),
    });
    return withState(tool, from.state(unread));
  });
  from.keep(at, rest); // Google's own tools: they keep their place in the list
  return declared;
}

function readChoice(given: JsonObject | undefined, tools: readonly Tool[], from: Source): ToolChoice | undefined {
  if (!given) return undefined;
  const { functionCallingConfig, ...outer } = camel(given);
  const at = "toolConfig.functionCallingConfig";
  const { mode: word, allowedFunctionNames, streamFunctionCallArguments, ...rest } = camel(objectOf(functionCallingConfig));
  const mode = worded(MODES, word, at, "mode") ?? "";
  const names = typeof allowedFunctionNames === "string" ? [allowedFunctionNames] : list(allowedFunctionNames, at, "allowedFunctionNames");
  const allowed = names.map((named, i) => toolName(named, `${at}.allowedFunctionNames[${i}]`, tools));
  if (streamFunctionCallArguments === true)
    from.warnings.push({ code: "dropped", message: "streamFunctionCallArguments was left out: on this wire a call comes whole" });
  if (mode === "allowed" && allowed.length === 0) from.take(`${at}.mode`, word); // as good as `auto`, to anyone else
  from.keep(at, rest);
  from.keep("toolConfig", outer);
  if (mode === "required" && allowed.length === 1) return { name: allowed[0]! };
  if (allowed.length > 0 && mode !== "none") return mode === "required" ? { allowed, required: true } : { allowed };
  return mode === "allowed" ? undefined : mode || undefined;
}

// Settings

function readThinking(config: JsonObject | undefined, from: Source): ThinkingSettings | undefined {
  if (!config) return undefined;
  const at = "generationConfig.thinkingConfig";
  const { thinkingBudget, thinkingLevel, includeThoughts, ...rest } = camel(config);
  const budget = number(thinkingBudget, at, "thinkingBudget");
  from.keep(at, rest);
  return some<ThinkingSettings>({
    enabled: budget === undefined ? undefined : budget !== 0, // -1: as much as the model likes
    effort: worded(LEVELS, thinkingLevel, at, "thinkingLevel") || undefined,
    budget: budget !== undefined && budget > 0 ? budget : undefined,
    show: flag(includeThoughts, at, "includeThoughts"),
  });
}

function readOutput({ responseMimeType: type, ...config }: JsonObject, at: string, from: Source): [Request["output"], rest: JsonObject] {
  if (type && type !== "application/json") {
    if (type !== "text/plain") from.take(`${at}.responseMimeType`, type);
    return [undefined, config]; // a schema of another type stays with it
  }
  const { responseJsonSchema, responseSchema, ...rest } = config;
  const schema = object(responseJsonSchema, at, "responseJsonSchema") ?? object(responseSchema, at, "responseSchema");
  return [schema ? { schema: fromGeminiSchema(schema) } : type ? {} : undefined, rest];
}
