/**
 * Clients' requests: `POST /v1beta/models/m:generateContent` with `{"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}`.
 * Like Google's servers, we accept every field in camelCase and in snake_case, and a list of one element without its brackets.
 */
import type {
  JsonObject,
  Media,
  Message,
  Part,
  Request,
  Sampling,
  ThinkingSettings,
  Tool,
  ToolChoice,
  ToolResult,
} from "../../core/nouns.ts";
import { openCapsule, recalled, standardBase64, type Thought } from "../capsule.ts";
import { Fields, fail } from "../fields.ts";
import { opaque, withState } from "../opaque.ts";
import { defined, entryOf, isText, some, someOf, textOf, UNTOLD } from "../read.ts";
import { conversation, onlyOne, readLimit, readStop, Source, toolName } from "../request-in.ts";
import { fromGeminiSchema, fromOwnWords } from "../schema-out.ts";
import type { WireInput } from "../wire.ts";
import { BESIDE, CONTENT, LEVELS, MEDIA, MODES, NAMED, PART, ROLES, SAMPLING, SIGNATURE, SKIPS, WIRE, wrapper } from "./tables.ts";

export function decodeRequest({ path, query, body }: WireInput): Request {
  const from = new Source(WIRE, body, { args: "args", lax: true });
  const wrapped = from.root.thing("generateContentRequest"); // countTokens may wrap a whole request
  if (wrapped) from.root = new Fields(wrapped.value, from);
  const { root } = from;
  const config = root.inner("generationConfig");
  onlyOne(config, "candidateCount");
  const { model, method } = target(path);
  const named = root.text("model")?.replace(/^models\//, "");
  const tools = readTools(root, from);
  const request = {
    model: model ?? named ?? "",
    messages: new Conversation(from).read(root),
    tools: someOf(tools),
    toolChoice: readChoice(root.inner("toolConfig"), tools, from),
    stream: method !== "streamGenerateContent" ? undefined : (query.alt ?? query.$alt) === "sse" ? ("sse" as const) : ("array" as const),
    thinking: readThinking(config.inner("thinkingConfig")),
    sampling: config.some<Sampling>(SAMPLING),
    maxTokens: readLimit(config, from, "maxOutputTokens"),
    stop: readStop(config, "stopSequences"),
    output: readOutput(config),
  };
  return from.request(request);
}

/** Looks up a word in a table, in upper or lower case: Google's own examples differ. */
function worded<T>(given: Fields, key: string, table: Readonly<Record<string, T>>): T | undefined {
  const word = given.json(key);
  return word ? (entryOf(table, textOf(word)?.toUpperCase()) ?? given.word(key, table)) : undefined;
}

/** The model and the method in a path. A model's name may contain slashes and colons: the method is after the last colon. */
function target(path: string): { model?: string; method?: string } {
  const [, tuned = "", named, method] = /(?:^|\/)(?:models\/|(tunedModels\/))(.+):(\w+)$/.exec(path) ?? [];
  if (named === undefined || method === undefined) return {};
  let model = named;
  try {
    model = decodeURIComponent(named);
  } catch {
    // a stray % is part of the name
  }
  return { model: tuned + model, method };
}

// Contents

const KINDS = ["text", "inlineData", "fileData", "functionCall", "functionResponse"] as const;

class Conversation {
  readonly #from: Source;
  readonly #messages: Message[] = [];
  /** The thinking that came back with a call, by call id. */
  readonly #thoughts = new Map<string, readonly Thought[] | undefined>();

  constructor(from: Source) {
    this.#from = from;
  }

  read(root: Fields): Message[] {
    const system = root.json("systemInstruction");
    if (isText(system)) this.#messages.push({ role: "system", content: [{ type: "text", text: system }] });
    else if (system) this.#turn("system", root.thing("systemInstruction")!);
    conversation(root, "contents", "contents", (content) => {
      const role = worded(content, "role", ROLES) ?? "user";
      if (role === "assistant") this.#model(content);
      else this.#turn(role, content);
    });
    if (this.#thoughts.size === 0) return this.#messages;
    return this.#messages.map((message) =>
      message.role === "assistant" ? { ...message, content: recalled(message.content, (id) => this.#thoughts.get(id)) } : message,
    );
  }

  /** Reads a user's turn. Each result becomes a message of its own, in order. The content's other fields go onto the first message. */
  #turn(role: "user" | "system", content: Fields): void {
    const messages: Message[] = [];
    content.ask("role");
    content.each("parts", (part) => {
      const read = this.#part(part, role);
      const last = messages.at(-1);
      if (!read) return;
      if ("role" in read) messages.push(read);
      else if (read.type !== "text" && read.type !== "media")
        fail(part.at, 'is only allowed in a content whose role is "model"', part.value);
      else if (last?.role === role) last.content.push(read);
      else messages.push({ role, content: [read] });
    });
    for (const [i, message] of messages.entries())
      if (i > 0 && (message.role !== "tool" || messages[i - 1]?.role !== "tool")) withState(message, [opaque(WIRE, BESIDE, true, true)]);
    const [first = { role, content: [] }, ...others] = messages;
    const state = content.state();
    const marked = first.role === "tool" ? state?.map((opaque) => ({ ...opaque, kind: CONTENT + opaque.kind })) : state;
    this.#messages.push(withState<Message>(first, marked), ...others);
  }

  /** Reads a model's turn. Some clients keep every chunk of a stream as a content of its own: these become one message. */
  #model(content: Fields): void {
    const said = content
      .each("parts", (part): Part | Part[] => {
        const read = this.#part(part, "assistant") ?? [];
        return "role" in read ? fail(part.at, 'is only allowed in a content whose role is "user"', part.value) : read;
      })
      .flat();
    const last = this.#messages.at(-1);
    const state = content.state();
    if (last?.role === "assistant" && !state) last.content = joined(last.content, said);
    else this.#messages.push(withState<Message>({ role: "assistant", content: said }, state));
  }

  /** `undefined`: the part is empty. */
  #part(part: Fields, role: Message["role"]): Part | ToolResult | undefined {
    const kind = KINDS.find((key) => part.peek(key) !== undefined);
    if (kind === undefined) return { type: "text", text: "", state: [{ wire: WIRE, kind: PART, data: part.value, part: true }] };
    // Thinking is text: of any other part, such as a picture of a thought, the flag stays in the rest.
    const hasFlag = (kind === "text" && role === "assistant") || part.peek("thought") === false;
    const isThought = hasFlag && part.flag("thought") === true;
    const read: Part | ToolResult =
      kind === "text" ? { type: isThought ? "thinking" : "text", text: part.text("text") ?? "" } : this.#value(kind, part.inner(kind));
    const signature = part.text(SIGNATURE) ?? "";
    const capsule = openCapsule(signature);
    if (capsule && "id" in read && read.id !== undefined) this.#thoughts.set(read.id, capsule.thoughts);
    const signed = SKIPS.includes(signature) ? [] : [opaque(WIRE, SIGNATURE, signature)];
    withState(read, capsule ? capsule.state : signed, part.state());
    // An empty text comes from a chunk that held only the finish reason, or from a heartbeat.
    return "text" in read && read.text === "" && !read.state ? undefined : read;
  }

  #value(kind: (typeof KINDS)[number], value: Fields): Part | ToolResult {
    const { calls } = this.#from;
    if (kind === "functionCall") {
      const args = value.peek("args");
      if (isText(args)) value.fail("args", "must be an object");
      return this.#from.call(value, "args", calls.add(value.text("id"), value.name("name")));
    }
    if (kind !== "functionResponse") return mediaIn(value);
    const named = calls.answer({ id: value.text("id"), name: value.text("name") });
    const response = value.thing("response")?.value ?? {};
    const key = wrapper(response, named.name); // any object that is no wrapper is itself the tool's output
    return defined<ToolResult>({
      role: "tool",
      ...named,
      output: key ? (response[key] ?? null) : response,
      isError: key === "error" || undefined,
      media: someOf(value.each("parts", (part) => this.#attached(part)).flat()),
      state: key === "content" ? [opaque(WIRE, NAMED, true, true)] : undefined,
    });
  }

  /** A part of a result: the API knows only media there. */
  #attached(part: Fields): Media[] {
    const read = part.peek("inlineData") || part.peek("fileData") ? this.#part(part, "user") : undefined;
    if (read && "mediaType" in read) return [read];
    this.#from.warnings.push({ code: "dropped", message: `${part.at} was left out: a result has no parts but media` });
    return [];
  }
}

function mediaIn(value: Fields): Media {
  const media: Media = { type: "media", mediaType: UNTOLD, ...value.read<Media>(MEDIA) };
  return media.data === undefined ? media : { ...media, data: standardBase64(media.data) };
}

/** Joins two chunks: a text continues the text that the chunk before it ended with. */
function joined(before: readonly Part[], after: readonly Part[]): Part[] {
  const [last, next] = [before.at(-1), after[0]];
  if (!last || !next || !("text" in last && "text" in next) || last.type !== next.type || last.state) return [...before, ...after];
  return [...before.slice(0, -1), { ...next, text: last.text + next.text }, ...after.slice(1)];
}

// Tools

/** All declarations belong into one tool. Everything else is Google's own tools, which are kept as extras in their places. */
function readTools(root: Fields, from: Source): Tool[] {
  const tools: Tool[] = [];
  root.each("tools", (tool) => {
    const declared = readDeclarations(tool);
    const rest = tool.rest();
    if (declared.length > 0 && tools.length === 0) from.keep(tool);
    else if (rest) from.take(tool.at, rest);
    tools.push(...declared);
  });
  return tools;
}

const readDeclarations = (tool: Fields): Tool[] =>
  tool.each("functionDeclarations", (declaration) => {
    const read = {
      name: declaration.name("name"),
      description: declaration.text("description"),
      parameters: readSchema(declaration, "parametersJsonSchema", "parameters"),
      response: readSchema(declaration, "responseJsonSchema", "response"),
    };
    return withState(defined<Tool>(read), declaration.state());
  });

/** JSON Schema, or the older dialect under its own key. Both keys accept both, since gemini-cli writes the dialect under the new key. */
function readSchema(given: Fields, key: string, older: string): JsonObject | undefined {
  const schema = given.thing(key);
  const old = schema ? undefined : given.thing(older);
  return schema ? fromGeminiSchema(schema.value) : old && fromOwnWords(old.value);
}

function readChoice(config: Fields, tools: readonly Tool[], from: Source): ToolChoice | undefined {
  const given = config.inner("functionCallingConfig");
  const number = given.json("mode");
  const mode = (typeof number === "number" ? Object.values(MODES)[number] : undefined) ?? worded(given, "mode", MODES) ?? "";
  const key = "allowedFunctionNames";
  const allowed = given.list(key).map((name, i) => toolName(name, given.place(key, i), tools));
  if (given.json("streamFunctionCallArguments") === true)
    from.warnings.push({ code: "dropped", message: "streamFunctionCallArguments was left out: calls are sent whole" });
  if (mode === "allowed" && allowed.length === 0) from.take(given.place("mode"), given.json("mode")); // the same as `auto` to other wires
  if (mode === "required" && allowed.length === 1) return { name: allowed[0]! };
  if (allowed.length > 0 && mode !== "none") return mode === "required" ? { allowed, required: true } : { allowed };
  return mode === "allowed" ? undefined : mode || undefined;
}

// Settings

function readThinking(config: Fields): ThinkingSettings | undefined {
  const budget = config.number("thinkingBudget");
  return some<ThinkingSettings>({
    enabled: budget === undefined ? undefined : budget !== 0, // -1: as much as the model likes
    effort: worded(config, "thinkingLevel", LEVELS) || undefined,
    budget: budget !== undefined && budget > 0 ? budget : undefined,
    show: config.flag("includeThoughts"),
  });
}

function readOutput(config: Fields): Request["output"] {
  const type = config.peek("responseMimeType");
  if (type && type !== "application/json" && type !== "text/plain") return undefined; // the schema of another type stays in the rest, too
  config.ask("responseMimeType", "response_mime_type");
  if (type === "text/plain") return undefined;
  const schema = readSchema(config, "responseJsonSchema", "responseSchema");
  return schema ? { schema } : type ? {} : undefined;
}
