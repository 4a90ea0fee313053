/**
 * Requests of clients: `POST /v1beta/models/m:generateContent` with `{"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}`.
 * Google's servers take every field in camelCase and in snake_case, and a list of one without its brackets; so do we.
 */
import type {
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
import { defined, Field, readBody, some, someOf } from "../read.ts";
import { readSampling, readStop, Source, toolName } from "../request-in.ts";
import { fromGeminiSchema } from "../schema-out.ts";
import type { WireInput } from "../wire.ts";
import { argumentsIn } from "./arguments.ts";
import { CONTENT, LEVELS, MODES, PART, ROLES, SAMPLING, SIGNATURE, SKIP, snake, WIRE, wrapper } from "./tables.ts";

// ---- Request in

export function decodeRequest({ path, query, body }: WireInput): Request {
  const outer = readBody(body);
  const counted = at(outer, "generateContentRequest"); // countTokens may wrap a whole request
  const root = counted.object() ? new Field(counted.value) : outer;
  const from = new Source(WIRE);
  const { model, method } = target(path);
  const named = root.at("model").string();
  const config = at(root, "generationConfig");
  const count = at(config, "candidateCount");
  if ((count.number() ?? 1) !== 1) count.fail("must be 1: ask once more for another answer");
  const tools = items(root.at("tools")).flatMap((tool) => readTool(tool, from));
  const request = {
    model: model ?? named?.replace(/^models\//, "") ?? "",
    messages: new Conversation(from).read(at(root, "systemInstruction"), root.at("contents"), typeof body === "string" ? body : ""),
    tools: someOf(tools),
    toolChoice: readChoice(at(root, "toolConfig"), tools, from),
    stream: method !== "streamGenerateContent" ? undefined : (query.alt ?? query.$alt) === "sse" ? ("sse" as const) : ("array" as const),
    thinking: readThinking(at(config, "thinkingConfig"), from),
    sampling: readSampling(config, SAMPLING),
    maxTokens: at(config, "maxOutputTokens").number(),
    stop: readStop(at(config, "stopSequences")),
    output: readOutput(config, from),
  };
  from.keep(config);
  return from.request(root, request);
}

/** The value of a key, in either spelling, under the path of the first. */
function at(field: Field, key: string): Field {
  const camel = field.at(key);
  return camel.given ? camel : camel.as(field.at(snake(key)).value);
}

const items = (field: Field): Field[] => (field.given && !Array.isArray(field.value) ? [field] : field.list());

/** What a table has for a word, in whichever case: Google's own examples differ. */
const worded = <T>(field: Field, table: Readonly<Record<string, T>>): T =>
  field.as(typeof field.value === "string" ? field.value.toUpperCase() : field.value).oneOf(table);

/** A model's name may hold slashes and colons of its own: the method stands behind the last colon. */
function target(path: string): { model?: string; method?: string } {
  const [, tuned = "", name, method] = /(?:^|\/)(?:models\/|(tunedModels\/))(.+):(\w+)$/.exec(path) ?? [];
  if (name === undefined || method === undefined) return {};
  try {
    return { model: tuned + decodeURIComponent(name), method };
  } catch {
    return { model: tuned + name, method }; // a stray % is part of the name
  }
}

// Contents

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

  read(system: Field, list: Field, text: string): Message[] {
    const contents = items(list);
    if (contents.length === 0) list.fail("must be a list of contents that is not empty");
    const calls = contents.flatMap((content) => items(content.at("parts"))).map((part) => at(part, "functionCall"));
    this.#spelled = argumentsIn(text, calls.filter(({ given }) => given).length);
    this.#from.calls = new Calls(calls.map((call) => call.at("id").value));
    const { value } = system;
    if (value) {
      const instruction = typeof value === "string" ? system.as({ parts: { text: value } }) : system;
      instruction.at("role"); // says nothing here
      this.#turn("system", instruction);
    }
    for (const content of contents) {
      const given = content.at("role");
      const role = given.given ? worded(given, ROLES) : "user";
      if (role === "assistant") this.#model(content);
      else this.#turn(role, content);
    }
    if (this.#capsules.size === 0) return this.#messages;
    return this.#messages.map((message) =>
      message.role === "assistant" ? { ...message, content: recalled(message.content, this.#capsules) } : message,
    );
  }

  /** The turn of a user: results are messages of their own, all in their order. The first message has what else stood on the content. */
  #turn(role: "user" | "system", content: Field): void {
    const messages: Message[] = [];
    for (const part of items(content.at("parts"))) {
      const read = this.#part(part, role);
      const last = messages.at(-1);
      if (!read) continue;
      if ("role" in read) messages.push(read);
      else if (read.type !== "text" && read.type !== "media") part.fail('may only stand in a content whose role is "model"');
      else if (last?.role === role) last.content.push(read);
      else messages.push({ role, content: [read] });
    }
    const [first = { role, content: [] }, ...others] = messages;
    const state = this.#from.state(content);
    const marked = first.role === "tool" ? state.map((opaque) => ({ ...opaque, kind: CONTENT + opaque.kind })) : state;
    this.#messages.push(withState<Message>(first, first.state, marked), ...others);
  }

  /** What the model said. Some clients keep every chunk of a stream as a content of its own: together they are one message. */
  #model(content: Field): void {
    const said = items(content.at("parts")).flatMap((part): Part[] => {
      const read = this.#part(part, "assistant") ?? [];
      return "role" in read ? part.fail('may only stand in a content whose role is "user"') : [read].flat();
    });
    const last = this.#messages.at(-1);
    const state = this.#from.state(content);
    if (last?.role === "assistant" && state.length === 0) last.content = joined(last.content, said);
    else this.#messages.push(withState<Message>({ role: "assistant", content: said }, state));
  }

  /** `undefined`: there is nothing in it. */
  #part(part: Field, role: Message["role"]): Part | ToolResult | undefined {
    if (!part.object()) return undefined;
    const kind = ["text", "inlineData", "fileData", "functionCall", "functionResponse"].find((key) => at(part, key).given);
    if (kind === undefined) return { type: "text", text: "", state: [{ wire: WIRE, kind: PART, data: part.value as JsonObject }] };
    const value = at(part, kind);
    const read = this.#value(kind, value, role === "assistant" && part.at("thought").boolean() === true);
    const signature = at(part, SIGNATURE).string() ?? "";
    const capsule = openCapsule(signature);
    if (capsule && "id" in read && read.id !== undefined) this.#capsules.set(read.id, capsule);
    const signed: Opaque[] = capsule || signature === "" || signature === SKIP ? [] : [{ wire: WIRE, kind: SIGNATURE, data: signature }];
    const state = [...this.#from.inner(kind, value), ...signed, ...this.#from.state(part)];
    // An empty text is a chunk that held only the reason of the end, or a heartbeat.
    return "text" in read && read.text === "" && state.length === 0 ? undefined : withState(read, state);
  }

  #value(kind: string, value: Field, isThought: boolean): Part | ToolResult {
    const { calls } = this.#from;
    if (kind === "text") return { type: isThought ? "thinking" : "text", text: value.string() ?? "" };
    if (kind === "functionCall") {
      const named = calls.add(value.at("id").string(), value.at("name").name());
      const args = value.at("args");
      args.object();
      return this.#from.call(named, args, [], this.#spelled.shift());
    }
    if (kind !== "functionResponse") return readMedia(value);
    const named = calls.answer({ id: value.at("id").string(), name: value.at("name").string() });
    const result: ToolResult = { role: "tool", ...named, ...outputOf(value.at("response").object() ?? {}) };
    const parts = items(value.at("parts")).map((part) => this.#part(part, "user"));
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

// Parts

function readMedia(blob: Field): Media {
  return defined<Media>({
    type: "media",
    mediaType: at(blob, "mimeType").string() ?? "application/octet-stream",
    data: blob.at("data").string(),
    url: at(blob, "fileUri").string(),
    name: at(blob, "displayName").string(),
  });
}

/** `output` and `error` are special only where they stand alone; any other object is itself what the tool returned. */
function outputOf(response: JsonObject): Pick<ToolResult, "output" | "isError"> {
  const key = wrapper(response);
  if (key === undefined) return { output: response };
  const output = response[key] ?? null;
  return key === "error" ? { output, isError: true } : { output };
}

// Tools

function readTool(tool: Field, from: Source): Tool[] {
  const declared = items(at(tool, "functionDeclarations")).map((declaration) => {
    const schema = (key: string): JsonObject | undefined => {
      const given = at(declaration, `${key}JsonSchema`);
      const value = (given.given ? given : declaration.at(key)).object();
      return value && fromGeminiSchema(value);
    };
    const [name, description] = [declaration.at("name").name(), declaration.at("description").string()];
    const decoded = defined<Tool>({ name, description, parameters: schema("parameters"), response: schema("response") });
    return withState(decoded, from.state(declaration));
  });
  from.keep(tool); // Google's own tools: they keep their place in the list
  return declared;
}

function readChoice(config: Field, tools: readonly Tool[], from: Source): ToolChoice | undefined {
  const calling = at(config, "functionCallingConfig");
  const mode = calling.at("mode");
  const meaning = mode.given ? worded(mode, MODES) : "";
  const allowed = items(at(calling, "allowedFunctionNames")).map((name) => toolName(name, tools));
  if (at(calling, "streamFunctionCallArguments").value === true)
    from.warnings.push({ code: "dropped", message: "streamFunctionCallArguments was left out: on this wire a call comes whole" });
  if (meaning === "allowed" && allowed.length === 0) from.take(mode); // as good as `auto`, to anyone else
  from.keep(calling);
  from.keep(config);
  if (meaning === "required" && allowed.length === 1) return { name: allowed[0]! };
  if (allowed.length > 0 && meaning !== "none") return meaning === "required" ? { allowed, required: true } : { allowed };
  return meaning === "allowed" ? undefined : meaning || undefined;
}

// Settings

function readThinking(config: Field, from: Source): ThinkingSettings | undefined {
  if (!config.object()) return undefined;
  const [budget, level] = [at(config, "thinkingBudget").number(), at(config, "thinkingLevel")];
  const thinking = some<ThinkingSettings>({
    enabled: budget === undefined ? undefined : budget !== 0, // -1: as much as the model likes
    effort: (level.given && worded(level, LEVELS)) || undefined,
    budget: budget !== undefined && budget > 0 ? budget : undefined,
    show: at(config, "includeThoughts").boolean(),
  });
  from.keep(config);
  return thinking;
}

function readOutput(config: Field, from: Source): Request["output"] {
  const type = at(config, "responseMimeType");
  if (type.given && type.value !== "application/json") {
    if (type.value !== "text/plain") from.take(type);
    return undefined; // a schema of another type stays with it
  }
  const json = at(config, "responseJsonSchema");
  const schema = (json.given ? json : at(config, "responseSchema")).object();
  if (!schema) return type.given ? {} : undefined;
  return { schema: fromGeminiSchema(schema) };
}
