/** Writes a request for a server. */
import type { Json, Media, Message, Opaque, Part, Request, Text, Thinking, Tool, ToolCall, ToolResult } from "../../core/nouns.ts";
import type { Abilities, Out } from "../abilities.ts";
import { adapt } from "../adapt.ts";
import { customInput, toolKind } from "../bridge.ts";
import { isSignature } from "../capsule.ts";
import { type Encoded, encoded } from "../encoded.ts";
import { mediaKind, outputText, textsOf, urlOfMedia } from "../media.ts";
import { ownState, putState } from "../opaque.ts";
import { askForJson, effortWord, NAME_RULE, sayable, writeChoice, writeOutput } from "../openai.ts";
import { defined, isEmpty, isList, listOf, objectOf, someOf, written } from "../read.ts";
import type { Draft, WireProfile } from "../wire.ts";
import { isPartList } from "./request-in.ts";
import { signatureContent } from "./signature.ts";
import {
  AS_PART,
  AUDIO,
  DETAILS,
  NEWER,
  OFFICIAL_SAMPLING,
  PART,
  SAMPLING,
  spellingOf,
  THINKING,
  THINKS,
  TOOL,
  UNCOUNTED,
  WIRE,
} from "./tables.ts";

const ABLE: Abilities = {
  wire: WIRE,
  names: NAME_RULE,
  developer: true,
  systemAnywhere: true,
  textArguments: true,
  result: ({ output }) => isPartList(output),
  media: (media, role) => role !== "assistant" && writeMedia(media) !== undefined,
  customTools: true,
  strictTools: true,
  describedOutput: true,
  responses: true,
  toolChoice: "allowed",
  parallelCalls: "tools",
  sampling: SAMPLING,
  carries: isSignature,
};

/** What the official API accepts; many other servers accept more. */
const OFFICIAL: Abilities = {
  ...ABLE,
  media: (media, role) => role === "user" && isOfficial(writeMedia(media)) && !ownState(WIRE, media.state, PART),
  responses: false,
  sampling: OFFICIAL_SAMPLING,
  stops: 4,
  ids: 40,
  thinking: () => false,
  carries: () => false,
};

/** Links to audio and video are an extension of other servers. */
const isOfficial = (part: Draft | undefined): boolean => part !== undefined && !/^(audio|video)_url$/.test(String(part.type));

/** Text parts that every server knows. Any other list may be a tool's own JSON, unless it comes from a client of this wire. */
const isPlain = (output: Json): boolean =>
  isList(output) && textsOf(output) !== undefined && output.every((part) => Object.keys(objectOf(part)).length === 2);

/** Tool results of other wires' clients are limited to plain text parts; those of this wire's clients may hold images. */
const toOthers = (able: Abilities): Abilities => ({ ...able, result: ({ output }) => isPlain(output) });
const ABLE_TO_OTHERS = toOthers(ABLE);
const OFFICIAL_TO_OTHERS = toOthers(OFFICIAL);
const ABLE_TO_OWN: Abilities = { ...ABLE, resultMedia: true };

export function encodeRequest(given: Request, profile: WireProfile = {}): Encoded {
  const { official, maxTokensField = "max_completion_tokens" } = profile;
  const isOlder = maxTokensField === "max_tokens" && !ownState(WIRE, given.extra, NEWER);
  const isOwn = given.from === WIRE;
  const able = official ? (isOwn ? OFFICIAL : OFFICIAL_TO_OTHERS) : isOwn ? ABLE_TO_OWN : ABLE_TO_OTHERS;
  const out = adapt(given, able, profile);
  askForJson(out);
  const { request, warnings, names } = out;
  const { model, messages, stream, thinking } = request;
  const body = defined<Draft>({
    model,
    messages: messages.map((message) => writeMessage(message, out)),
    tools: someOf(out.tools.map((tool) => writeTool(tool, out))),
    tool_choice: request.toolChoice && writeChoice(request.toolChoice, request, names.out, true),
    parallel_tool_calls: request.parallelCalls,
    stream: stream && true,
    stream_options: stream && !ownState(WIRE, given.extra, UNCOUNTED) ? { include_usage: true } : undefined,
    reasoning_effort: ownState(WIRE, given.extra, THINKS) ? undefined : thinking && effortWord(thinking, warnings),
    max_tokens: isOlder ? request.maxTokens : undefined,
    max_completion_tokens: isOlder ? undefined : request.maxTokens,
    stop: request.stop,
    response_format: writeOutput(out, "json_schema"),
    ...written(request.sampling ?? {}, able.sampling),
  });
  return encoded(out, "/v1/chat/completions", body, { accept: stream ? "text/event-stream" : "application/json" });
}

// Messages

function writeMessage(message: Message, out: Out): Draft {
  const { role, state } = message;
  if (role === "tool") return putState(WIRE, { role, tool_call_id: out.ids.out(message.id), content: writeResult(message) }, state);
  if (role !== "assistant") return putState(WIRE, { role, content: writeContent(message.content) }, state);
  const { official, thinkingField } = out.profile;
  const details: Json[] = [];
  let [thinking, field] = ["", thinkingField] as [string, string | undefined];
  for (const part of message.content) {
    if (part.type === "thinking") {
      thinking += part.text;
      field ??= spellingOf(part.state);
    }
    if (!official) details.push(...listOf(ownState(WIRE, part.state, DETAILS)));
  }
  const tool_calls = someOf(message.content.flatMap((part: Part) => (part.type === "tool-call" ? [writeCall(part, out)] : [])));
  const isPart = field === AS_PART;
  const said = message.content.filter(({ type }) => type === "text" || type === "media" || (isPart && type === "thinking")) as Said[];
  const content = said.length === 0 && tool_calls ? null : writeContent(said);
  const extra_content = signed(said.findLast(({ state }) => state?.some(isSignature))?.state, out);
  const thought = { [field ?? THINKING[0]]: thinking || undefined, reasoning_details: someOf(details) };
  const kept = official ? state?.filter(({ kind }) => !THINKING.some((field) => field === kind)) : state;
  return putState(WIRE, defined<Draft>({ role, ...thought, content, tool_calls, extra_content }), kept);
}

/** Clients of llama-server and OpenRouter put media of a tool into its result. */
function writeResult({ output, media, state }: ToolResult): unknown {
  if (!media) return output;
  const text: Text[] = output === "" ? [] : [{ type: "text", text: outputText(output) }];
  return ownState(WIRE, state, "content") ?? writeContent([...text, ...media]);
}

/** Gemini's signature, which the official API does not know. */
function signed(state: readonly Opaque[] | undefined, { profile }: Out): Draft | undefined {
  const signature = profile.official ? undefined : state?.findLast(isSignature);
  return signature && signatureContent(signature.data);
}

type Said = Text | Media | Thinking;

/** A single text without state is written as a string. */
function writeContent(parts: readonly Said[]): unknown {
  const [first] = parts;
  if (!first) return "";
  if (parts.length === 1 && first.type === "text" && isEmpty(putState(WIRE, {}, first.state))) return first.text;
  return parts.map((part) => putState(WIRE, writePart(part), part.state));
}

function writePart(part: Said): Draft {
  if (part.type === "media") return writeMedia(part) ?? {};
  const given = ownState(WIRE, part.state, PART);
  if (given) return { ...objectOf(given) };
  const text = { type: "text", text: part.text };
  if (part.type === "thinking") return { type: "thinking", thinking: [text] };
  return ownState(WIRE, part.state, "refusal") === undefined ? text : { type: "refusal" };
}

/** `undefined`: the wire cannot express these media. */
function writeMedia(media: Media): Draft | undefined {
  const { mediaType, data, name } = media;
  const given = ownState(WIRE, media.state, PART);
  if (given) return { ...objectOf(given) };
  const kind = mediaKind(media);
  const url = urlOfMedia(media);
  if (ownState(WIRE, media.state, "file") || (data !== undefined && (kind === "application" || kind === "text")))
    return { type: "file", file: defined<Draft>({ filename: name, file_data: url }) };
  if (url === undefined || !["image", "audio", "video"].includes(kind)) return undefined;
  if (kind === "audio" && data !== undefined)
    return { type: "input_audio", input_audio: { data, format: AUDIO[mediaType] ?? mediaType.slice("audio/".length) } };
  return { type: `${kind}_url`, [`${kind}_url`]: { url } };
}

function writeCall(call: ToolCall, out: Out): Draft {
  const { request, profile, names } = out;
  const id = out.ids.out(call.id);
  const name = names.out(call.name);
  const was = ownState(WIRE, call.state, "#custom");
  const isCustom = profile.customTools !== false && (was !== undefined || toolKind(request.tools, call.name) === "custom");
  const draft: Draft = isCustom
    ? { id, type: "custom", custom: { name, input: customInput(call) } }
    : { id, type: "function", function: { name, arguments: call.json ?? JSON.stringify(call.arguments) } };
  const extra_content = signed(call.state, out);
  if (extra_content) draft.extra_content = extra_content;
  return putState(
    WIRE,
    draft,
    call.state?.filter(({ kind }) => isCustom || kind !== "custom"),
  );
}

// Tools

function writeTool(tool: Tool, out: Out): Draft {
  const { kind = "function", grammar, state } = tool;
  const sent = written(sayable(tool, out), TOOL);
  sent.name = out.names.out(tool.name);
  if (grammar) sent.format = { type: "grammar", grammar: { ...grammar } };
  return putState(WIRE, { type: kind, [kind]: sent }, state);
}
