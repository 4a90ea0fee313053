/**
 * What a target cannot say, said otherwise. Each wire has a table of what it is able to say; here a request becomes one that holds nothing
 * else, and every change of it is told. What is left for the wire is to write it down.
 */
import type {
  JsonObject,
  Malformed,
  Media,
  Message,
  Opaque,
  Part,
  Request,
  Sampling,
  Text,
  Thinking,
  Tool,
  ToolResult,
  WireId,
} from "../core/nouns.ts";
import { readMalformed } from "./accumulate.ts";
import { bridgeTool, isSearchedBy, offeredTools, revealed } from "./bridge.ts";
import { errorText, outputText, textsOf } from "./media.ts";
import { type NameRule, Names } from "./names.ts";
import { hasOwn, putExtra, withState } from "./opaque.ts";
import { isEmpty, textOf } from "./read.ts";
import type { SchemaOut } from "./schema-out.ts";
import { Warnings } from "./warnings.ts";
import { callIds, type Draft, type Headers, type WireContext, type WireOutput, type WireProfile } from "./wire.ts";

/** What is absent cannot be said. */
export interface Abilities {
  readonly wire: WireId;
  /** The names that tools may have; absent: any. */
  readonly names?: NameRule;
  readonly developer?: boolean;
  /** A system text in mid-conversation. */
  readonly systemAnywhere?: boolean;
  /** Text behind the calls of a message, thinking behind its text. */
  readonly order?: boolean;
  /** The arguments of a call are text, which may be broken. */
  readonly textArguments?: boolean;
  /** A call of the history that was cut. */
  readonly cutCalls?: boolean;
  /** Results that are no text; that are errors; that have media. */
  readonly result?: (result: ToolResult) => boolean;
  readonly errors?: boolean;
  readonly resultMedia?: boolean;
  readonly media: (media: Media, role: Message["role"]) => boolean;
  /** Files that only Google's servers can read. */
  readonly googleFiles?: boolean;
  readonly thinking?: (thinking: Thinking) => boolean;
  readonly customTools?: boolean;
  readonly strictTools?: boolean;
  readonly deferredTools?: boolean;
  /** Whether the API wants tools declared of which none may be called; absent: they are not sent. */
  readonly idleTools?: (request: Request) => boolean;
  /** The schema of what a tool returns. */
  readonly responses?: boolean;
  /** `"mode"`: which tools may be called can only be said by sending no others; absent: nor can it be said that one must be. */
  readonly toolChoice?: "mode" | "allowed";
  /** `"tools"`: only beside tools. */
  readonly parallelCalls?: true | "tools";
  /** The API's keys, and ours. */
  readonly sampling: Readonly<Record<string, keyof Sampling>>;
  /** How many stop strings there may be; absent: any number. */
  readonly stops?: number;
  /** How long the ids of calls may be; absent: as long as they are. */
  readonly ids?: number;
  /** Another wire's state that has a place here. */
  readonly carries?: (opaque: Opaque) => boolean;
}

/** What all parts of a wire's translation need. */
export interface Out {
  /** Its tools are those that the calls of the conversation are calls of. */
  readonly request: Request;
  /** The tools that are sent. */
  readonly tools: readonly Tool[];
  readonly profile: WireProfile;
  readonly warnings: Warnings;
  readonly names: Names;
  /** The ids of calls, as they are sent. */
  readonly ids: Pick<Names, "out">;
  /** Schemas that were changed so that null stands for what is absent, by the names of their tools. */
  readonly nulls: Record<string, JsonObject>;
  /** The schema of the output was put in an object. */
  wrapped?: true;
}

const ANY_NAME: NameRule = { max: Number.POSITIVE_INFINITY };
const AS_THEY_ARE: Out["ids"] = { out: (id) => id };

export function adapt(given: Request, able: Abilities, profile: WireProfile = {}): Out {
  const out = adaptSettings(given, able, profile);
  const { request, tools, warnings } = out;
  request.messages = adaptMessages(given.messages, able, profile, warnings);
  warnings.foreignIn(request, tools, able.carries);
  return out;
}

/** All but the messages. */
export function adaptSettings(given: Request, all: Abilities, profile: WireProfile = {}): Out {
  const able: Abilities = profile.allowedTools === false && all.toolChoice ? { ...all, toolChoice: "mode" } : all;
  const warnings = new Warnings(able.wire);
  const { sampling, stop, parallelCalls, toolChoice: choice, extra } = given;
  const request: Request = { ...given };
  for (const key in sampling) if (!isSaid(key, able.sampling)) warnings.dropped(key);
  if (stop && stop.length > (able.stops ?? stop.length)) {
    warnings.dropped(able.stops ? `every stop string behind the first ${able.stops}` : "stop");
    request.stop = stop.slice(0, able.stops);
  }
  if (parallelCalls === false && !able.parallelCalls) warnings.dropped("the wish for one call at a time");
  const hasOwnTools = hasServerTools(extra, able.wire);
  // A model that may call nothing is not tempted: no tool choice is believed as much as having no tools.
  const isIdle = choice === "none" && !(hasOwnTools && able.toolChoice) && !able.idleTools?.(given);
  const known = adaptTools(given, able, profile, isIdle ? new Warnings(able.wire) : warnings);
  const tools = isIdle ? [] : known;
  request.tools = known;
  const forced = isForced(given);
  if (typeof choice === "object" && "allowed" in choice && able.toolChoice === "mode") request.toolChoice = forced ? "required" : "auto";
  if (!able.toolChoice) {
    delete request.toolChoice;
    if (forced) warnings.add("tool-choice", `${able.wire} cannot be made to call a tool: it may answer in words`);
  } else if (tools.length === 0 && !hasOwnTools) {
    delete request.toolChoice;
    if (able.parallelCalls === "tools") delete request.parallelCalls;
    if (forced) warnings.dropped("a tool choice without tools");
  }
  const declared = known.map(({ name }) => name);
  const ids = able.ids === undefined ? AS_THEY_ARE : new Names([], { max: able.ids });
  return { request, tools, profile, warnings, names: new Names(declared, able.names ?? ANY_NAME), ids, nulls: {} };
}

function isSaid(setting: string, keys: Abilities["sampling"]): boolean {
  for (const key in keys) if (keys[key] === setting) return true;
  return false;
}

/** Tools that only this wire's server knows go along. */
export const hasServerTools = (extra: readonly Opaque[] | undefined, target: WireId): boolean =>
  extra?.some(({ wire, kind }) => wire === target && kind.startsWith("tools[")) ?? false;

export const hasCalls = ({ messages }: Pick<Request, "messages">): boolean =>
  messages.some((message) => message.role === "assistant" && message.content.some(({ type }) => type === "tool-call"));

/** A tool must be called. */
export const isForced = ({ toolChoice: choice }: Request): boolean =>
  typeof choice === "object" ? "name" in choice || choice.required === true : choice === "required";

function adaptTools(request: Request, able: Abilities, profile: WireProfile, warnings: Warnings): Tool[] {
  const { tools = [], toolChoice: choice, extra } = request;
  // Without the schemas of what another server would have found for it, the model could do nothing.
  const isFound = isSearchedBy(extra, able.wire) && tools.some(({ deferred }) => deferred);
  const offered = isFound ? tools.map(revealed) : able.deferredTools || choice === "none" ? tools : offeredTools(request);
  if (isFound) warnings.converted("deferred tools that only another server can search", "tools like any other");
  if (offered.length < tools.length) warnings.dropped("a deferred tool that nobody asked for");
  const only = able.toolChoice === "allowed" ? undefined : onlyOf(choice, able.toolChoice === "mode");
  const sent = only ? offered.filter(({ name }) => only.includes(name)) : offered;
  if (able.toolChoice && sent.length < offered.length) warnings.converted("the allowed tools", "the only ones");
  return sent.map((given) => {
    const bridged = able.customTools && profile.customTools !== false ? given : bridgeTool(given);
    if (bridged.kind !== given.kind) warnings.converted("a custom tool", "a function with one string");
    if (bridged.strict === undefined && bridged.response === undefined && bridged.deferred === undefined) return bridged;
    const { strict, response, deferred, ...rest } = bridged;
    const tool: Tool = rest;
    if (strict !== undefined && able.strictTools) tool.strict = strict;
    else if (strict) warnings.dropped("strict");
    if (response !== undefined && able.responses) tool.response = response;
    else if (response) warnings.dropped("the schema of a tool's result");
    if (deferred !== undefined && able.deferredTools) tool.deferred = deferred;
    return tool;
  });
}

/** The only tools that may be sent, if that is the only way to say which may be called. `mode`: one can be named. */
function onlyOf(choice: Request["toolChoice"], mode: boolean): readonly string[] | undefined {
  if (typeof choice !== "object") return undefined;
  if ("allowed" in choice) return choice.allowed;
  return mode ? undefined : [choice.name];
}

/** In a bucket, or uploaded to the Files API: no other server can fetch it. */
const GOOGLE_FILE = /^gs:|^https:\/\/generativelanguage\.googleapis\.com\//;

type Spoken = Exclude<Message, ToolResult>;

/**
 * A template that takes a system text only at the beginning takes only one, and most of those want turns that alternate: neighbours of one
 * role become one message. Codex begins with two system texts, and tells the user's folder in a message of its own.
 */
function alternating(messages: readonly Message[], wire: WireId): Message[] {
  const out: Message[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    const isNext = last?.role === message.role && !hasOwn(wire, last, message);
    if (isNext && last.role !== "tool" && !hasCalls({ messages: [last] })) out[out.length - 1] = merged(last, message as Spoken, wire);
    else out.push(message);
  }
  return out;
}

/** Texts that meet are paragraphs. */
function merged(first: Spoken, next: Spoken, wire: WireId): Message {
  const [end, begin, ...rest] = [first.content.at(-1), ...next.content] as (Part | undefined)[];
  const areTexts = end?.type === "text" && begin?.type === "text" && !hasOwn(wire, end, begin);
  const content = areTexts
    ? [...first.content.slice(0, -1), withState({ ...end, text: `${end.text}\n\n${begin.text}` }, begin.state), ...rest]
    : [...first.content, ...next.content];
  return withState({ ...first, content } as Message, next.state);
}

/** A system text as the user's, with a label. */
export const asUser = ({ content, state }: Exclude<Message, ToolResult | { role: "assistant" }>): Message => ({
  role: "user",
  content: content.map((part) => (part.type === "text" ? { ...part, text: `<system>\n${part.text}\n</system>` } : part)),
  ...(state ? { state } : {}),
});

function adaptMessages(given: readonly Message[], able: Abilities, profile: WireProfile, warnings: Warnings): Message[] {
  const out: Message[] = [];
  const answered = new Set<string>();
  for (const message of given) if (message.role === "tool") answered.add(message.id);
  /** Media that moves behind the results of the round. */
  let waiting: (Text | Media)[] = [];

  const release = (): void => {
    if (waiting.length > 0) out.push({ role: "user", content: waiting });
    waiting = [];
  };
  const takes = (media: Media, role: Message["role"]): boolean =>
    able.media(media, role) && (able.googleFiles === true || !GOOGLE_FILE.test(media.url ?? ""));

  const labelled = (media: Media, role: Message["role"]): Text | Media => {
    if (takes(media, role)) return media;
    const { mediaType, name, url } = media;
    warnings.converted(`media of the type ${mediaType}`, "a label");
    return { type: "text", text: `[${[mediaType, name, url].filter(Boolean).join(" ")}]` };
  };
  /** Shown by the user, behind the results of the round. */
  const hoist = (label: string, media: readonly Media[], what: string): void => {
    waiting.push({ type: "text", text: `[${label}]` }, ...media.map((part) => labelled(part, "user")));
    warnings.converted(what, "a user message behind it");
  };
  /** A text without words that holds the place of what only another wire knows. */
  const isNothing = (part: Part): boolean => {
    if (part.type !== "text" || part.text !== "" || !part.state || hasOwn(able.wire, part)) return false;
    warnings.foreign(part.state);
    return true;
  };

  const spoken = (message: Exclude<Spoken, { role: "assistant" }>, isLate: boolean): Message => {
    let { role, content } = message;
    // Most content is text, which stays what it is.
    if (content.some((part) => part.type !== "text" || part.text === ""))
      content = content.filter((part) => !isNothing(part)).map((part) => (part.type === "media" ? labelled(part, role) : part));
    if (role !== "user" && isLate && (!able.systemAnywhere || profile.systemAnywhere === false)) {
      warnings.converted("a system text in mid-conversation", "a labelled user text");
      return asUser({ ...message, content });
    }
    if (role === "developer" && (!able.developer || profile.developerRole === false)) role = "system";
    return role === message.role && content === message.content ? message : { ...message, role, content };
  };

  const returned = ({ media = [], ...result }: ToolResult): ToolResult => {
    const { output, isError, name, id } = result;
    if (typeof output !== "string" && !able.result?.(result)) {
      if (!textsOf(output)) warnings.converted("a tool result that is no text", "its JSON text");
      result.output = outputText(output);
    }
    if (isError && !able.errors) {
      warnings.converted("a failed tool's result", 'text that begins with "Error:"');
      result.output = errorText(output);
    }
    if (media.length === 0) return result;
    if (able.resultMedia && media.every((part) => takes(part, "tool"))) return { ...result, media };
    hoist(`media of the result of ${name || "a tool"}, call ${id}`, media, "media in a tool result");
    return result;
  };

  /** A call that nobody can read goes as it was, where arguments are text; else, if it was answered, as a call with the text inside. */
  const unreadable = ({ id, raw, state }: Malformed): Part => {
    const call = readMalformed(raw);
    const { textArguments } = able;
    const isCall = id !== undefined && call?.name && (textArguments || answered.has(id));
    if (!isCall || !textArguments) warnings.converted("a call that cannot be read", isCall ? "a call with its text inside" : "text");
    if (!isCall) return { type: "text", text: `[unreadable tool call: ${raw}]` };
    const args = call.arguments;
    const said = textArguments ? { arguments: {}, json: textOf(args) ?? JSON.stringify(args) } : { arguments: { unreadable: args } };
    return withState({ type: "tool-call", id, name: call.name, ...said }, state);
  };

  const said = (message: Message & { role: "assistant" }): Message => {
    const made: Media[] = [];
    const content = message.content.flatMap((part): Part[] => {
      if (part.type === "malformed") return [unreadable(part)];
      if (part.type === "thinking" && able.thinking?.(part) === false && !profile.unsignedThinking) {
        if (part.text !== "" || part.state) warnings.dropped("thinking that this server did not seal"); // it would refuse all of the request
        return [];
      }
      if (part.type === "tool-call" && part.truncated && !able.cutCalls && !answered.has(part.id)) {
        warnings.dropped("a call that was cut");
        return [];
      }
      if (part.type !== "media" || takes(part, "assistant")) return isNothing(part) ? [] : [part];
      made.push(part);
      return [];
    });
    if (made.length > 0) hoist("media that the assistant made", made, "media that the model made");
    if (!able.order && isOutOfOrder(content)) warnings.converted(MIXED, SORTED);
    return { ...message, content };
  };

  const first = given.findIndex(({ role }) => role !== "system" && role !== "developer");
  given.forEach((message, i) => {
    if (message.role !== "tool") release();
    const isLate = first < 0 ? !able.systemAnywhere : i > first;
    out.push(message.role === "tool" ? returned(message) : message.role === "assistant" ? said(message) : spoken(message, isLate));
  });
  release();
  return profile.systemAnywhere === false ? alternating(out, able.wire) : out;
}

/** What is told where a wire has one place for each. */
export const MIXED = "an answer with thinking or text behind its calls";
export const SORTED = "thinking, text and calls, in this order";

const RANK = { thinking: 0, text: 1, media: 1, "tool-call": 2, malformed: 2 } as const;
export const isOutOfOrder = (parts: readonly Part[]): boolean =>
  parts.some(({ type }, i) => {
    const before = parts[i - 1]?.type ?? "thinking";
    return RANK[type] < RANK[before] || (i > 0 && type === "thinking" && before === type);
  });

// ---- What all requests end with

export type Encoded = WireOutput & { path: string; body: Draft; context: WireContext };

export function encoded(
  { request, warnings, names, nulls, wrapped }: Out,
  { wire }: Abilities,
  path: string,
  body: Draft,
  headers?: Headers,
): Encoded {
  putExtra(wire, body, request, warnings);
  const context: { -readonly [K in keyof WireContext]: WireContext[K] } = {
    names: names.context,
    warnings: warnings.list,
    ids: callIds(request),
  };
  if (!isEmpty(nulls)) context.nulls = nulls;
  if (wrapped) context.wrapped = wrapped;
  return {
    path,
    headers: { "content-type": "application/json", ...headers },
    body,
    context,
  };
}

/** The request as the API counts its tokens: only these keys of it. */
export function counted({ body, ...rest }: Encoded, path: string, keys: ReadonlySet<string>): Encoded {
  return { ...rest, path, body: Object.fromEntries(Object.entries(body).filter(([key]) => keys.has(key))) };
}

/** A schema that was changed, with a word on all that it lost. */
export function told({ schema, lost }: SchemaOut, what: string, warnings: Warnings): SchemaOut["schema"] {
  for (const { path, keyword } of lost) warnings.add("schema", `${keyword} at ${path || "the top"} of ${what} was left out`);
  return schema;
}
