/** Requests to servers: what the nouns say, as `contents`, `systemInstruction`, `tools` and `generationConfig`. */
import { isObject } from "../../core/json.ts";
import type { Json, JsonObject, Media, Message, Opaque, Part, Request, Text, ToolResult } from "../../core/nouns.ts";
import { bridgeTool } from "../bridge.ts";
import { offeredTools, systemLabel, unreadableCall, unreadableLabel } from "../labels.ts";
import { hoistMedia } from "../media.ts";
import { type NameRule, Names } from "../names.ts";
import { type Draft, putExtra, putState } from "../opaque.ts";
import { defined, objectOf, someOf } from "../read.ts";
import { geminiSchema, inlineRefs } from "../schema-out.ts";
import { Warnings } from "../warnings.ts";
import { contextOf, type WireContext, type WireOutput, type WireProfile } from "../wire.ts";
import { encodePart, spoken } from "./parts-out.ts";
import { BUDGETS, CONTENT, MAX_STOPS, SAMPLING, SIGNATURE, SKIP, WIRE, wrapper } from "./tables.ts";

// ---- Request out

type Encoded = WireOutput & { path: string; context: WireContext };

export function encodeRequest(request: Request, profile?: WireProfile): Encoded {
  const method = request.stream ? `streamGenerateContent${request.stream === "array" ? "" : "?alt=sse"}` : "generateContent";
  return encode(request, profile, method);
}

/** The tokens of the whole request are counted: tools and system texts are part of the prompt. */
export function encodeTokenCountRequest(request: Request, profile?: WireProfile): Encoded {
  const encoded = encode(request, profile, "countTokens");
  return { ...encoded, body: { generateContentRequest: { model: resource(request), ...(encoded.body as Draft) } } };
}

/** What all parts of the translation need. */
interface Out {
  readonly request: Request;
  readonly profile: WireProfile;
  readonly warnings: Warnings;
  readonly names: Names;
}

const NAMES: NameRule = { forbidden: /[^A-Za-z0-9_.:-]/g, max: 128, first: /^[A-Za-z_]/ };

function encode(request: Request, profile: WireProfile = {}, method: string): Encoded {
  const warnings = new Warnings();
  const names = new Names(
    (request.tools ?? []).map(({ name }) => name),
    NAMES,
  );
  const out: Out = { request, profile, warnings, names };
  const tools = encodeTools(out);
  const toolConfig = tools && encodeToolConfig(out);
  const body = defined<Draft>({ ...encodeMessages(out), tools, toolConfig, generationConfig: encodeConfig(out) });
  if (request.parallelCalls === false) warnings.dropped("the wish for one call at a time", WIRE);
  putExtra(WIRE, body, request, warnings);
  const model = resource(request).split("/").map(encodeURIComponent).join("/").replaceAll("%3A", ":");
  const context = contextOf(request, warnings.list, names.context);
  return { path: `/v1beta/${model}:${method}`, headers: { "content-type": "application/json" }, body, context };
}

const resource = ({ model }: Request): string => (/^(models|tunedModels)\//.test(model) ? model : `models/${model}`);

/** Models that know neither levels of thinking nor media inside a result. */
const isOld = ({ model }: Request): boolean => /gemini-[12]\b/.test(model);

// Contents

interface Content extends Draft {
  role: "user" | "model";
  parts: Draft[];
}

const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer";

function encodeMessages(out: Out): Draft {
  const { request, warnings } = out;
  const messages = isOld(request) ? hoistMedia(request.messages, warnings) : request.messages;
  const first = Math.max(
    messages.findIndex((message) => !isSystem(message)),
    0,
  );
  const answered = new Set(messages.flatMap((message) => (message.role === "tool" ? [message.id] : [])));
  const contents: Content[] = [];
  let before: Message | undefined;
  for (const message of messages.slice(first)) {
    const content = encodeMessage(message, answered, out);
    const last = contents.at(-1);
    // All results of a turn stand in one content, and what the user says beside them does, too: the answers must follow the calls at once.
    const beside = (message.role === "tool" || before?.role === "tool") && !contentState(message).some(({ wire }) => wire === WIRE);
    if (beside && last?.role === "user" && content.role === "user") last.parts.push(...content.parts);
    else contents.push(content);
    before = message;
  }
  return first === 0 ? { contents } : { systemInstruction: encodeSystem(messages.slice(0, first), warnings), contents };
}

/** The state of a message that stood on its content. */
function contentState({ role, state = [] }: Message): Opaque[] {
  if (role !== "tool") return state;
  return state.filter(isOnContent).map((opaque) => ({ ...opaque, kind: opaque.kind.slice(CONTENT.length) }));
}

const isOnContent = ({ wire, kind }: Opaque): boolean => wire === WIRE && kind.startsWith(CONTENT);

function encodeSystem(messages: readonly Message[], warnings: Warnings): Draft {
  const said = messages.flatMap((message) => ("content" in message ? (message.content as (Text | Media)[]) : []));
  const instruction: Draft = { parts: spoken(said.flatMap((part) => encodePart(part, warnings))) };
  for (const message of messages) putState(WIRE, instruction, message.state, warnings);
  return instruction;
}

function encodeMessage(message: Message, answered: ReadonlySet<string>, out: Out): Content {
  const { names, warnings } = out;
  const state = contentState(message);
  if (message.role === "tool") return putState(WIRE, { role: "user", parts: [encodeResult(message, out)] }, state);
  const system = isSystem(message);
  if (system) warnings.converted("a system text in mid-conversation", "the user's");
  const parts = (message.content as readonly Part[]).flatMap((part): Draft[] => {
    if (part.type === "malformed") return encodeMalformed(part, answered, out);
    if (part.type === "text" && system) return encodePart({ ...part, text: systemLabel(part.text) }, warnings);
    if (part.type !== "tool-call") return encodePart(part, warnings);
    if (!part.truncated || answered.has(part.id)) return encodePart(part, warnings, names.out(part.name));
    warnings.dropped("a call that was cut", WIRE);
    return [];
  });
  // Without a signature on the first call Google refuses the whole request, whoever made the call.
  const call = parts.find((part) => part.functionCall);
  if (call) call[SIGNATURE] ??= SKIP;
  return putState(WIRE, { role: message.role === "assistant" ? "model" : "user", parts: [...spoken(parts)] }, state, warnings);
}

function encodeMalformed(part: Extract<Part, { type: "malformed" }>, answered: ReadonlySet<string>, { names, warnings }: Out): Draft[] {
  const call = part.id !== undefined && answered.has(part.id) ? unreadableCall(part) : undefined;
  warnings.converted("a call that cannot be read", call ? "a call with its text inside" : "text");
  return call ? encodePart({ type: "tool-call", ...call }, warnings, names.out(call.name)) : [{ text: unreadableLabel(part) }];
}

function encodeResult({ id, name, output, media = [], isError, state = [] }: ToolResult, { names, warnings }: Out): Draft {
  const parts = someOf(media.flatMap((item) => encodePart(item, warnings)));
  const response = encodeOutput(output, isError === true, warnings);
  const draft = { functionResponse: defined<Draft>({ id, name: names.out(name || "unknown"), response, parts }) };
  const own = state.filter((opaque) => !isOnContent(opaque));
  return putState(WIRE, draft, own, warnings);
}

function encodeOutput(given: Json, isError: boolean, warnings: Warnings): JsonObject {
  let output = given;
  if (hasRef(given)) {
    // Gemini 3 would look for what it refers to, and refuse the request.
    output = JSON.stringify(given);
    warnings.converted("a tool result with a $ref", "its JSON text");
  }
  if (isError) return { error: output };
  return isObject(output) && !wrapper(output) ? output : { output };
}

function hasRef(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  return (isObject(value) && Object.hasOwn(value, "$ref")) || Object.values(value).some(hasRef);
}

// Tools

function encodeTools(out: Out): Draft[] | undefined {
  const { request, names, warnings } = out;
  const offered = offeredTools(request);
  if (offered.length < (request.tools?.length ?? 0)) warnings.dropped("a deferred tool that nobody asked for", WIRE);
  const functionDeclarations = offered.map((given) => {
    const tool = bridgeTool(given);
    if (tool !== given) warnings.converted("a custom tool", "a function with one string");
    if (tool.strict) warnings.dropped("strict", WIRE);
    const draft = defined<Draft>({
      name: names.out(tool.name),
      description: tool.description,
      ...encodeSchema(tool.parameters, "parameters", tool.name, out),
      ...encodeSchema(tool.response, "response", tool.name, out),
    });
    return putState(WIRE, draft, tool.state, warnings);
  });
  return functionDeclarations.length > 0 ? [{ functionDeclarations }] : undefined;
}

/** A schema under its key: `parametersJsonSchema`, or `parameters` in the older dialect, which has no object without properties. */
function encodeSchema(given: JsonObject | undefined, key: string, name: string, { profile, warnings }: Out): Draft {
  if (!given) return {};
  const json = profile.jsonSchema !== false;
  const { schema, lost } = json ? inlineRefs(given) : geminiSchema(given);
  for (const { path, keyword } of lost) warnings.add("schema", `${keyword} at ${path || "the top"} of the ${key} of ${name} was left out`);
  if (!json && key === "parameters" && Object.keys(objectOf(schema.properties)).length === 0) return {};
  return { [json ? key.replace(/(Schema)?$/, "JsonSchema") : key]: schema };
}

function encodeToolConfig({ request: { toolChoice }, names }: Out): Draft | undefined {
  if (toolChoice === undefined) return undefined;
  const modes = { auto: "AUTO", none: "NONE", required: "ANY" } as const;
  if (typeof toolChoice === "string") return { functionCallingConfig: { mode: modes[toolChoice] } };
  const named = "name" in toolChoice;
  const allowed = named ? [toolChoice.name] : toolChoice.allowed;
  const mode = named || toolChoice.required ? "ANY" : "VALIDATED";
  return { functionCallingConfig: defined<Draft>({ mode, allowedFunctionNames: someOf(allowed.map((name) => names.out(name))) }) };
}

// Settings

function encodeConfig(out: Out): Draft | undefined {
  const { request, warnings } = out;
  const { sampling = {}, stop = [], output } = request;
  for (const key of ["minP", "repeatPenalty"] as const) if (sampling[key] !== undefined) warnings.dropped(key, WIRE);
  if (stop.length > MAX_STOPS) warnings.dropped(`every stop string behind the first ${MAX_STOPS}`, WIRE);
  const config = defined<Draft>({
    ...Object.fromEntries(SAMPLING.map((key) => [key, sampling[key]])),
    maxOutputTokens: request.maxTokens,
    stopSequences: someOf(stop.slice(0, MAX_STOPS)),
    responseMimeType: output && "application/json",
    ...encodeSchema(output?.schema, "responseSchema", "the output", out),
    thinkingConfig: encodeThinking(out),
  });
  return Object.keys(config).length > 0 ? config : undefined;
}

/** Either a budget or a level: the API refuses both together, and each model takes one of them. */
function encodeThinking({ request, warnings }: Out): Draft | undefined {
  const { enabled, effort, budget, show: includeThoughts, keep } = request.thinking ?? {};
  if (keep !== undefined) warnings.dropped("thinking.keep", WIRE);
  const level = enabled === false || isOld(request) ? undefined : effort;
  if (level === "max") warnings.converted("the effort max", "HIGH");
  const thinkingBudget = enabled === false ? 0 : level ? undefined : (budget ?? (effort ? BUDGETS[effort] : enabled ? -1 : undefined));
  const thinkingLevel = level && (level === "max" ? "HIGH" : level.toUpperCase());
  if (level && budget !== undefined) warnings.dropped("thinking.budget beside an effort", WIRE);
  const config = defined<Draft>({ includeThoughts, thinkingBudget, thinkingLevel });
  return Object.keys(config).length > 0 ? config : undefined;
}
