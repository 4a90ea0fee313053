/**
 * Rewrites what a target cannot express. Each wire has a table of its abilities; `adapt` turns a request into one that needs no others,
 * with a warning for every change, so that the wire only has to write it down.
 */
import { checkDepth, checkRequest } from "../core/check.ts";
import type { Message, Opaque, Part, Request, Sampling, ThinkingSettings, Tool, WireId } from "../core/nouns.ts";
import type { Abilities, Out } from "./abilities.ts";
import { adaptMessages, hasCalls, inRounds, withResultsFirst } from "./adapt-messages.ts";
import { bridgeTool, isSearchedBy, NATIVE, namedBy, offeredTools, revealed } from "./bridge.ts";
import { Names } from "./names.ts";
import { withNumbersOf } from "./raw.ts";
import { defined, objectOf, some } from "./read.ts";
import { Warnings } from "./warnings.ts";
import type { WireProfile } from "./wire.ts";

export function adapt(asked: Request, able: Abilities, profile: WireProfile = {}): Out {
  const given = (able.cacheMarks || profile.cacheMarks) && asked.from !== able.wire ? withMarks(asked, able.wire) : asked;
  const out = adaptSettings(given, able, profile);
  const { request, tools, warnings } = out;
  const isOwn = given.from === able.wire;
  const rounds = isOwn ? given.messages : inRounds(given.messages);
  const pairs = !isOwn || able.pairs === true;
  const messages = pairs ? withResultsFirst(rounds) : rounds;
  if (messages !== rounds) warnings.converted("what was said between the results of a round", "messages after them");
  request.messages = adaptMessages(messages, able, profile, warnings, pairs);
  const last = request.messages.at(-1);
  if (!isOwn && last?.role === "assistant" && able.wantsUser?.test(given.model) && !hasCalls({ messages: [last] })) {
    request.messages.push({ role: "user", content: [{ type: "text", text: "Continue." }] });
    warnings.converted("a conversation that ends with the model's own words", 'one that ends with the user\'s "Continue."');
  }
  warnings.foreignIn(request, tools, able.carries);
  return out;
}

/** Anthropic's API refuses more cache marks. */
const MOST_MARKS = 4;

/** Turns other wires' prompt-cache marks into this wire's: the last ones, which cover most. A mark on a whole message moves to its end. */
function withMarks(request: Request, wire: WireId): Request {
  checkRequest(request);
  let left = MOST_MARKS;
  const isMark = (opaque: Opaque): boolean => opaque.kind === "cache_control" && opaque.wire !== wire;
  const marked = <T extends { state?: Opaque[] | undefined }>(thing: T, more: readonly Opaque[] = []): T => {
    const state = [...(thing.state ?? []), ...more];
    return state.some(isMark) ? { ...thing, state: state.map((mark) => (isMark(mark) && left-- > 0 ? { ...mark, wire } : mark)) } : thing;
  };
  const { state: extra } = marked({ state: request.extra });
  const messages = backwards(request.messages, (message): Message => {
    if (message.role === "tool") return marked(message);
    const content: readonly Part[] = message.content;
    const last = content.findLast(({ type }) => type !== "thinking" && type !== "malformed");
    const parts = backwards(content, (part) => marked(part, part === last ? message.state?.filter(isMark) : []));
    return { ...message, content: parts } as Message;
  });
  const tools = request.tools && backwards(request.tools, (tool) => marked(tool));
  return defined<Request>({ ...request, messages, tools, extra });
}

const backwards = <T, R>(list: readonly T[], change: (item: T) => R): R[] => list.toReversed().map(change).reverse();

/** Adapts everything but the messages. */
export function adaptSettings(given: Request, all: Abilities, profile: WireProfile = {}): Out {
  checkRequest(given);
  checkDepth(given);
  const able: Abilities = profile.allowedTools === false && all.toolChoice ? { ...all, toolChoice: "mode" } : all;
  const warnings = new Warnings(able.wire);
  const { stop, parallelCalls, toolChoice: choice, extra, output } = given;
  const sampling = some<Sampling>({ ...given.sampling }); // callers leave options open as `undefined`
  const request = defined<Request>({ ...given, sampling, thinking: given.thinking && some<ThinkingSettings>(given.thinking) });
  if (output?.description !== undefined && !able.describedOutput) request.output = asDescribed(output, warnings);
  const settings: readonly string[] = Object.values(able.sampling);
  for (const key in sampling) if (!settings.includes(key)) warnings.dropped(key);
  if (stop && stop.length > (able.stops ?? stop.length)) {
    warnings.dropped(able.stops ? `every stop string after the first ${able.stops}` : "stop");
    request.stop = stop.slice(0, able.stops);
  }
  if (parallelCalls === false && !able.parallelCalls) warnings.dropped("the wish for one call at a time");
  const hasOwnTools = hasServerTools(extra, able.wire);
  // If no tool may be called, none is sent: models obey the absence of tools better than any tool choice.
  const isIdle = choice === "none" && !(hasOwnTools && able.toolChoice) && !able.idleTools?.(given);
  const known = adaptTools(given, able, profile, isIdle ? new Warnings(able.wire) : warnings);
  const tools = isIdle ? [] : known;
  request.tools = known;
  const forced = isForced(given);
  const isBySending = typeof choice === "object" && ("allowed" in choice || profile.namedTool === false);
  if (isBySending && able.toolChoice === "mode") request.toolChoice = forced ? "required" : "auto";
  if (!able.toolChoice) {
    delete request.toolChoice;
    if (forced) warnings.add("tool-choice", `${able.wire} cannot be made to call a tool: it may answer in words`);
  } else if (tools.length === 0 && !hasOwnTools) {
    delete request.toolChoice;
    if (able.parallelCalls === "tools") delete request.parallelCalls;
    if (forced) warnings.dropped("a tool choice without tools");
  }
  const declared = known.map(({ name }) => name);
  const names = new Names(declared, able.names);
  return { able, request, tools, profile, warnings, names, ids: new Names([], { max: able.ids }), nulls: {} };
}

/** Moves the description of the output into its schema. */
function asDescribed({ description = "", ...output }: NonNullable<Request["output"]>, warnings: Warnings): typeof output {
  const { schema } = output;
  if (schema) return { ...output, schema: withNumbersOf(schema, { description, ...schema }) };
  warnings.dropped("the description of the output");
  return output;
}

/** Whether the request has tools that only the target's own server knows. */
export const hasServerTools = (extra: readonly Opaque[] | undefined, target: WireId): boolean =>
  extra?.some(({ wire, kind }) => wire === target && kind.startsWith("tools[")) ?? false;

/** Whether a tool must be called. */
export const isForced = ({ toolChoice: choice }: Request): boolean =>
  typeof choice === "object" ? "name" in choice || choice.required === true : choice === "required";

function adaptTools(request: Request, able: Abilities, profile: WireProfile, warnings: Warnings): Tool[] {
  const { tools = [], toolChoice: choice, extra } = request;
  // Deferred tools that another server would have found for the model are useless to it without their schemas.
  const isFound = isSearchedBy(extra, able.wire) && tools.some(({ deferred }) => deferred);
  const offered = isFound ? tools.map(revealed) : able.deferredTools || choice === "none" ? tools : offeredTools(request);
  if (isFound) warnings.converted("deferred tools that only another server can search", "tools like any other");
  if (offered.length < tools.length) warnings.dropped("a deferred tool that nobody asked for");
  const isNamed = typeof choice === "object" && "name" in choice;
  const canSay = able.toolChoice === "allowed" || (able.toolChoice && isNamed && profile.namedTool !== false);
  const only = canSay ? undefined : namedBy(choice); // leaving out the others is the only way to restrict calls
  const sent = only ? offered.filter(({ name }) => only.includes(name)) : offered;
  if (able.toolChoice && !isNamed && sent.length < offered.length) warnings.converted("the allowed tools", "the only ones");
  return sent.map((given) => {
    const bridged = able.customTools && profile.customTools !== false ? given : bridgeTool(given);
    if (bridged.kind !== given.kind) warnings.converted("a custom tool", "a function with one string");
    for (const { wire, kind, data } of given.state ?? []) {
      const { type, parameters } = objectOf(data);
      if (kind === NATIVE && wire !== able.wire && !parameters) warnings.converted(`${type} of ${wire}`, "a function");
    }
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
