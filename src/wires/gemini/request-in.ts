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
  ToolCall,
  ToolChoice,
  ToolResult,
} from "../../core/nouns.ts";
import { Calls } from "../calls.ts";
import { type Capsule, openCapsule, stateOf, Unmodelled, withState } from "../opaque.ts";
import { defined, Field, readBody, someOf } from "../read.ts";
import { fromGeminiSchema } from "../schema-out.ts";
import { readSampling, readStop } from "../settings.ts";
import type { WireInput } from "../wire.ts";
import { argumentsIn } from "./arguments.ts";
import { ofCall, ofThinking } from "./capsule.ts";
import { CONTENT, LEVELS, MODES, PART, ROLES, SAMPLING, SIGNATURE, SKIP, WIRE, wrapper } from "./tables.ts";

// ---- Request in

export function decodeRequest({ path, query, body }: WireInput): Request {
  const outer = readBody(body);
  const counted = at(outer, "generateContentRequest"); // countTokens may wrap a whole request
  const root = counted.object() ? new Field(counted.value) : outer;
  const rest = new Unmodelled(WIRE);
  const { model, method } = target(path);
  const named = root
    .at("model")
    .string()
    ?.replace(/^models\//, "");
  const config = at(root, "generationConfig");
  const count = at(config, "candidateCount");
  if ((count.number() ?? 1) !== 1) count.fail("must be 1: ask once more for another answer");
  const tools = items(root.at("tools")).flatMap((tool) => decodeTool(tool, rest));
  const request: Request = {
    model: model ?? named ?? "",
    messages: decodeMessages(at(root, "systemInstruction"), root.at("contents"), typeof body === "string" ? body : ""),
    ...defined<Partial<Request>>({
      tools: someOf(tools),
      toolChoice: decodeToolChoice(at(root, "toolConfig"), tools, rest),
      stream: method !== "streamGenerateContent" ? undefined : (query.alt ?? query.$alt) === "sse" ? "sse" : "array",
      thinking: decodeThinking(at(config, "thinkingConfig"), rest),
      sampling: readSampling(config, SAMPLING_KEYS),
      maxTokens: at(config, "maxOutputTokens").number(),
      stop: readStop(at(config, "stopSequences")),
      output: decodeOutput(config, rest),
    }),
  };
  rest.keep(config); // last: by now all that is modelled was read
  const extra = [...stateOf(WIRE, root), ...rest.extra];
  return { ...request, ...defined<Partial<Request>>({ extra: someOf(extra), warnings: someOf(rest.warnings) }) };
}

/** The value of a key, in either spelling, under the path of the first. */
function at(field: Field, key: string): Field {
  const camel = field.at(key);
  return camel.given ? camel : camel.as(field.at(snake(key)).value);
}

const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

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

/** What is known of the conversation, so far. */
interface Known {
  readonly calls: Calls;
  /** The arguments of the calls that are yet to come, as they are spelled. */
  readonly spelled: (string | undefined)[];
  /** What came back with a call, by the id of the call. */
  readonly capsules: Map<string, Capsule>;
}

function decodeMessages(system: Field, list: Field, text: string): Message[] {
  const contents = items(list);
  if (contents.length === 0) list.fail("must be a list of contents that is not empty");
  const calls = contents.flatMap((content) => items(content.at("parts"))).map((part) => at(part, "functionCall"));
  const spelled = argumentsIn(text, calls.filter(({ given }) => given).length);
  const known: Known = { calls: new Calls(calls.map((call) => call.at("id").value)), spelled, capsules: new Map() };
  const messages: Message[] = [];
  const { value } = system;
  if (value) {
    const instruction = typeof value === "string" ? system.as({ parts: { text: value } }) : system;
    instruction.at("role"); // says nothing here
    messages.push(...decodeTurn("system", instruction, known));
  }
  for (const content of contents) {
    const given = content.at("role");
    const role = given.given ? worded(given, ROLES) : "user";
    if (role === "assistant") decodeModel(messages, content, known);
    else messages.push(...decodeTurn(role, content, known));
  }
  if (known.capsules.size === 0) return messages;
  return messages.map((message) => (message.role === "assistant" ? { ...message, content: recalled(message.content, known) } : message));
}

/** The turn of a user: results are messages of their own, all in their order. The first message has what else stood on the content. */
function decodeTurn(role: "user" | "system", content: Field, known: Known): Message[] {
  const messages: Message[] = [];
  for (const part of items(content.at("parts"))) {
    const decoded = decodePart(part, role, known);
    const last = messages.at(-1);
    if (!decoded) continue;
    if ("role" in decoded) messages.push(decoded);
    else if (decoded.type !== "text" && decoded.type !== "media") part.fail('may only stand in a content whose role is "model"');
    else if (last?.role === role) last.content.push(decoded);
    else messages.push({ role, content: [decoded] });
  }
  const [first = { role, content: [] }, ...others] = messages;
  const state = stateOf(WIRE, content);
  const marked = first.role === "tool" ? state.map((opaque) => ({ ...opaque, kind: CONTENT + opaque.kind })) : state;
  return [withState<Message>(first, first.state, marked), ...others];
}

/** What the model said. Some clients keep every chunk of a stream as a content of its own: together they are one message. */
function decodeModel(messages: Message[], content: Field, known: Known): void {
  const said = items(content.at("parts")).flatMap((part): Part[] => {
    const decoded = decodePart(part, "assistant", known) ?? [];
    return "role" in decoded ? part.fail('may only stand in a content whose role is "user"') : [decoded].flat();
  });
  const last = messages.at(-1);
  const state = stateOf(WIRE, content);
  if (last?.role === "assistant" && state.length === 0) last.content = joined(last.content, said);
  else messages.push(withState<Message>({ role: "assistant", content: said }, state));
}

/** A text goes on where the chunk before it ended. */
function joined(before: readonly Part[], after: readonly Part[]): Part[] {
  const [last, next] = [before.at(-1), after[0]];
  if (!last || !next || !("text" in last && "text" in next) || last.type !== next.type || last.state) return [...before, ...after];
  return [...before.slice(0, -1), { ...next, text: last.text + next.text }, ...after.slice(1)];
}

/** The message with the thinking that its calls brought back, each in front of what was said since the call before, in place of the client's own copy. */
function recalled(content: readonly Part[], { capsules }: Known): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const part of content) {
    const capsule = part.type === "tool-call" ? capsules.get(part.id) : undefined;
    if (part.type !== "tool-call" || !capsule) parts.push(part);
    else {
      const { thinking = "" } = capsule;
      const state = ofThinking(capsule);
      if (thinking !== "" || state.length > 0) {
        const said = parts.splice(from).filter(({ type }) => type !== "thinking");
        parts.push(withState<Thinking>({ type: "thinking", text: thinking }, state), ...said);
      }
      parts.push(withState(part, part.state, ofCall(capsule)));
    }
    if (part.type === "tool-call") from = parts.length;
  }
  return parts;
}

// Parts

/** By the field that says what a part is. */
const MAKERS: Readonly<Record<string, (value: Field, known: Known) => Part | ToolResult>> = {
  text: (value) => ({ type: "text", text: value.string() ?? "" }),
  inlineData: decodeMedia,
  fileData: decodeMedia,
  functionCall: (value, { calls, spelled }) => {
    const named = calls.add(value.at("id").string(), value.at("name").name());
    const args = value.at("args").object() ?? {};
    const json = spelled.shift();
    return defined<ToolCall>({ type: "tool-call", ...named, arguments: args, json: json === JSON.stringify(args) ? undefined : json });
  },
  functionResponse: (value, known) => {
    const named = known.calls.answer({ id: value.at("id").string(), name: value.at("name").string() });
    const result: ToolResult = { role: "tool", ...named, ...outputOf(value.at("response").object() ?? {}) };
    const parts = items(value.at("parts")).map((part) => decodePart(part, "user", known));
    const media = parts.filter((part) => part && "mediaType" in part) as Media[];
    return media.length > 0 ? { ...result, media } : result;
  },
};

/** `undefined`: there is nothing in it. */
function decodePart(part: Field, role: Message["role"], known: Known): Part | ToolResult | undefined {
  if (!part.object()) return undefined;
  const kind = Object.keys(MAKERS).find((key) => at(part, key).given);
  if (kind === undefined) return { type: "text", text: "", state: [{ wire: WIRE, kind: PART, data: part.value as JsonObject }] };
  const value = at(part, kind);
  let decoded = MAKERS[kind]!(value, known);
  if (kind === "text" && role === "assistant" && part.at("thought").boolean()) decoded = { ...decoded, type: "thinking" } as Thinking;
  const signature = at(part, SIGNATURE).string() ?? "";
  const capsule = openCapsule(signature);
  if (capsule && "arguments" in decoded) known.capsules.set(decoded.id, capsule);
  const signed: Opaque[] = capsule || signature === "" || signature === SKIP ? [] : [{ wire: WIRE, kind: SIGNATURE, data: signature }];
  const inner = value.rest();
  const state = [...(inner ? [{ wire: WIRE, kind, data: inner } as const] : []), ...signed, ...stateOf(WIRE, part)];
  // An empty text is a chunk that held only the reason of the end, or a heartbeat.
  return "text" in decoded && decoded.text === "" && state.length === 0 ? undefined : withState(decoded, state);
}

function decodeMedia(blob: Field): Media {
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

function decodeTool(tool: Field, rest: Unmodelled): Tool[] {
  const declared = items(at(tool, "functionDeclarations")).map((declaration) => {
    const schema = (key: string): JsonObject | undefined => {
      const given = at(declaration, `${key}JsonSchema`);
      const value = (given.given ? given : declaration.at(key)).object();
      return value && fromGeminiSchema(value);
    };
    const [name, description] = [declaration.at("name").name(), declaration.at("description").string()];
    const decoded = defined<Tool>({ name, description, parameters: schema("parameters"), response: schema("response") });
    return withState(decoded, stateOf(WIRE, declaration));
  });
  rest.keep(tool); // Google's own tools: they keep their place in the list
  return declared;
}

function decodeToolChoice(config: Field, tools: readonly Tool[], rest: Unmodelled): ToolChoice | undefined {
  const calling = at(config, "functionCallingConfig");
  const mode = calling.at("mode");
  const meaning = mode.given ? worded(mode, MODES) : "";
  const allowed = items(at(calling, "allowedFunctionNames")).map((name) =>
    tools.some((tool) => tool.name === name.value) ? name.name() : name.fail("must be the name of one of the tools"),
  );
  if (at(calling, "streamFunctionCallArguments").value === true)
    rest.warnings.push({ code: "dropped", message: "streamFunctionCallArguments was left out: on this wire a call comes whole" });
  if (meaning === "allowed" && allowed.length === 0) rest.take(mode); // as good as `auto`, to anyone else
  rest.keep(calling);
  rest.keep(config);
  if (meaning === "required" && allowed.length === 1) return { name: allowed[0]! };
  if (allowed.length > 0 && meaning !== "none") return meaning === "required" ? { allowed, required: true } : { allowed };
  return meaning === "allowed" ? undefined : meaning || undefined;
}

// Settings

function decodeThinking(config: Field, rest: Unmodelled): ThinkingSettings | undefined {
  if (!config.object()) return undefined;
  const [budget, level] = [at(config, "thinkingBudget").number(), at(config, "thinkingLevel")];
  const thinking = defined<ThinkingSettings>({
    enabled: budget === undefined ? undefined : budget !== 0, // -1: as much as the model likes
    effort: (level.given && worded(level, LEVELS)) || undefined,
    budget: budget !== undefined && budget > 0 ? budget : undefined,
    show: at(config, "includeThoughts").boolean(),
  });
  rest.keep(config);
  return Object.keys(thinking).length > 0 ? thinking : undefined;
}

const SAMPLING_KEYS = Object.fromEntries(SAMPLING.flatMap((key) => [key, snake(key)].map((spelled) => [spelled, key])));

function decodeOutput(config: Field, rest: Unmodelled): Request["output"] {
  const type = at(config, "responseMimeType");
  if (type.given && type.value !== "application/json") {
    if (type.value !== "text/plain") rest.take(type);
    return undefined; // a schema of another type stays with it
  }
  const json = at(config, "responseJsonSchema");
  const schema = (json.given ? json : at(config, "responseSchema")).object();
  if (!schema) return type.given ? {} : undefined;
  return { schema: fromGeminiSchema(schema) };
}
