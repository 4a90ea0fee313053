/** Requests to servers: `contents`, `systemInstruction`, `tools`, `toolConfig` and `generationConfig`. */

import { isObject } from "../../core/json.ts";
import type { JsonObject, Message, Opaque, Part, Request, ToolResult } from "../../core/nouns.ts";
import type { Abilities, Out } from "../abilities.ts";
import { adapt, isForced } from "../adapt.ts";
import { namedBy } from "../bridge.ts";
import { BUDGETS, isShown } from "../effort.ts";
import { type Encoded, encoded, told } from "../encoded.ts";
import { textsOf } from "../media.ts";
import { ownState, putState } from "../opaque.ts";
import { defined, isText, objectOf, some, someOf, written } from "../read.ts";
import { geminiSchema, hasRef, inlineRefs, ownWordsOf } from "../schema-out.ts";
import { NO_USER } from "../warnings.ts";
import type { Draft, WireProfile } from "../wire.ts";
import { encodePart, spoken } from "./parts-out.ts";
import { BESIDE, CONTENT, MAX_STOPS, NAMED, SAMPLING, SIGNATURE, SKIP, WIRE, wrapper } from "./tables.ts";

const ABLE: Abilities = {
  wire: WIRE,
  names: { forbidden: /[^A-Za-z0-9_.:-]/g, max: 128, first: /^[A-Za-z_]/ },
  order: true,
  errors: () => true,
  media: ({ data, url }, role) => (data ?? url) !== undefined && role !== "system" && role !== "developer",
  googleFiles: true,
  responses: true,
  toolChoice: "allowed",
  sampling: SAMPLING,
  stops: MAX_STOPS,
  wantsUser: /gemini-(?![12]\b|3(\.1)?-|3\.5-flash(?!-lite)|pro)/, // Gemini 3.5 Flash-Lite and later models
};

/** Models that know neither thinking levels nor media in a result. */
const isOld = ({ model }: Request): boolean => /gemini-[12]\b/.test(model);

export function encodeRequest(request: Request, profile?: WireProfile): Encoded {
  const method = request.stream ? `streamGenerateContent${request.stream === "array" ? "" : "?alt=sse"}` : "generateContent";
  return encode(request, profile, method);
}

/** Counts the tokens of the whole request, since tools and system texts are part of the prompt. */
export function encodeTokenCountRequest(request: Request, profile?: WireProfile): Encoded {
  const { body, ...rest } = encode(request, profile, "countTokens");
  return { ...rest, body: { generateContentRequest: { model: resource(request), ...body } } };
}

function encode(given: Request, profile: WireProfile | undefined, method: string): Encoded {
  const able = {
    ...ABLE,
    media: given.from === WIRE ? () => true : ABLE.media,
    resultMedia: !isOld(given),
    // Gemini 3 would try to resolve a `$ref` and refuse the request. Text parts are sent as data only if they came from this wire.
    result: ({ output }: ToolResult) => !hasRef(output) && (given.from === WIRE || !textsOf(output)),
  };
  const out = adapt(given, able, profile);
  const { tools } = out;
  const body = defined<Draft>({
    ...writeMessages(out),
    tools: tools.length > 0 ? [{ functionDeclarations: tools.map((tool) => writeTool(tool, out)) }] : undefined,
    toolConfig: writeToolConfig(out),
    generationConfig: writeConfig(out),
  });
  const model = resource(given)
    .replace(/\p{Surrogate}/gu, "\ufffd") // a lone one cannot be part of a URL
    .split("/")
    .map(encodeURIComponent)
    .join("/")
    .replaceAll("%3A", ":");
  return encoded(out, `/v1beta/${model}:${method}`, body);
}

const resource = ({ model }: Request): string => (/^(models|tunedModels)\//.test(model) ? model : `models/${model}`);

// Contents

interface Content extends Draft {
  role: "user" | "model";
  parts: Draft[];
}

function writeMessages(out: Out): Draft {
  const { messages } = out.request;
  const first = Math.max(
    messages.findIndex(({ role }) => role !== "system"),
    0,
  );
  const contents: Content[] = [];
  let before: Message | undefined;
  for (const message of messages.slice(first)) {
    const content = writeMessage(message, out);
    const last = contents.at(-1);
    // All results of a turn must be in one content, and nothing else.
    const isNext = (message.role === "tool" && before?.role === "tool") || ownState(WIRE, message.state, BESIDE) !== undefined;
    if (isNext && last?.role === "user" && Object.keys(content).length === 2) last.parts.push(...content.parts);
    else contents.push(content);
    before = message;
  }
  if (contents[0]?.role === "model") {
    contents.unshift({ role: "user", parts: [{ text: "." }] });
    out.warnings.converted(...NO_USER);
  }
  if (first === 0) return { contents };
  const system = messages.slice(0, first);
  const systemInstruction: Draft = { parts: spoken(system.flatMap((message) => writeParts(message, out))) };
  for (const { state } of system) putState(WIRE, systemInstruction, state);
  return { systemInstruction, contents };
}

/** The state of a message that belongs to its content. */
function contentState({ role, state = [] }: Message): Opaque[] {
  if (role !== "tool") return state;
  return state.filter(isOnContent).map((opaque) => ({ ...opaque, kind: opaque.kind.slice(CONTENT.length) }));
}

const isOnContent = ({ wire, kind }: Opaque): boolean => wire === WIRE && kind.startsWith(CONTENT);

function writeMessage(message: Message, out: Out): Content {
  const parts = message.role === "tool" ? [writeResult(message, out)] : writeParts(message, out);
  // Without a signature on the first call of a message Google refuses the request, even if another model made the call.
  const call = parts.find((part) => part.functionCall);
  if (call) call[SIGNATURE] ??= SKIP;
  return putState(WIRE, { role: message.role === "assistant" ? "model" : "user", parts: [...spoken(parts)] }, contentState(message));
}

const writeParts = (message: Message, { names }: Out): Draft[] =>
  message.role === "tool"
    ? []
    : (message.content as Part[]).flatMap((part) =>
        part.type === "malformed" ? [] : encodePart(part, "name" in part ? names.out(part.name ?? "") : undefined),
      );

function writeResult({ id, name, output, media = [], isError, state = [] }: ToolResult, { names }: Out): Draft {
  const sent = names.out(name || "unknown");
  const isNamed = ownState(WIRE, state, NAMED);
  const isWhole = isObject(output) && !wrapper(output, sent);
  const response = isError ? { error: output } : isNamed ? { name: sent, content: output } : isWhole ? output : { output };
  const parts = someOf(media.flatMap((item) => encodePart(item)));
  const draft = { functionResponse: defined<Draft>({ id, name: sent, response, parts }) };
  const mine = state.filter((opaque) => !isOnContent(opaque));
  return putState(WIRE, draft, mine);
}

// Tools

function writeTool({ name, description, parameters, response, state }: NonNullable<Request["tools"]>[number], out: Out): Draft {
  const draft = defined<Draft>({
    name: out.names.out(name),
    description,
    ...writeSchema(parameters, "parameters", name, out),
    ...writeSchema(response, "response", name, out),
  });
  return putState(WIRE, draft, state);
}

/** A schema under its key: `parametersJsonSchema`, or `parameters` in the older dialect, which forbids objects without properties. */
function writeSchema(given: JsonObject | undefined, key: string, name: string, { profile, warnings }: Out): Draft {
  if (!given) return {};
  const own = ownWordsOf(given);
  if (own) return { [key]: own };
  const json = profile.jsonSchema !== false;
  const schema = told(json ? inlineRefs(given) : geminiSchema(given), `the ${key} of ${name}`, warnings);
  if (!json && key === "parameters" && Object.keys(objectOf(schema.properties)).length === 0) return {};
  return { [json ? key.replace(/(Schema)?$/, "JsonSchema") : key]: schema };
}

function writeToolConfig({ request, names }: Out): Draft | undefined {
  const { toolChoice: choice } = request;
  const mode = isForced(request) ? "ANY" : isText(choice) ? choice.toUpperCase() : "VALIDATED";
  const allowedFunctionNames = someOf((namedBy(choice) ?? []).map(names.out));
  return choice && { functionCallingConfig: defined<Draft>({ mode, allowedFunctionNames }) };
}

// Settings

function writeConfig(out: Out): Draft | undefined {
  const { request } = out;
  const { output } = request;
  return some<Draft>({
    ...written(request.sampling ?? {}, SAMPLING),
    maxOutputTokens: request.maxTokens,
    stopSequences: someOf(request.stop ?? []),
    responseMimeType: output && "application/json",
    ...writeSchema(output?.schema, "responseSchema", "the output", out),
    thinkingConfig: writeThinking(out),
  });
}

/** Either a budget or a level: the API refuses both together, and each model accepts one of them. */
function writeThinking({ request, warnings }: Out): Draft | undefined {
  const { enabled, effort, budget, keep } = request.thinking ?? {};
  if (keep !== undefined) warnings.dropped("thinking.keep");
  const level = enabled === false || isOld(request) ? undefined : effort;
  const isMore = level === "max" || (level === "xhigh" && request.from !== WIRE); // few models have `XHIGH`, and Gemini's clients know which
  if (isMore) warnings.converted(`the effort ${level}`, "HIGH");
  if (level && budget !== undefined) warnings.dropped("thinking.budget with an effort");
  return some<Draft>({
    includeThoughts: isShown(request),
    thinkingBudget: enabled === false ? 0 : level ? undefined : (budget ?? (effort ? BUDGETS[effort] : enabled ? -1 : undefined)),
    thinkingLevel: level && (isMore ? "HIGH" : level.toUpperCase()),
  });
}
