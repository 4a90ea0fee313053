/**
 * A conversation as templates see it: the system text first, then turns. An assistant's turn is a run of rounds; a round is what the
 * assistant said and the results that answer its calls.
 */
import { isObject } from "../core/json.ts";
import type { Json, JsonObject, Media, Message, Part, Request, Text, ToolCall, ToolResult } from "../core/nouns.ts";
import type { RenderableResult } from "./dialect.ts";
import { pythonJson, pythonLiteral } from "./print.ts";
import { joined, mediaPiece, type Pieces, type Placeholders } from "./prompt.ts";

export type Content = readonly (Text | Media)[];

export type Turn =
  | { side: "system" | "developer" | "user"; content: Content }
  /** `current`: no user message follows. */
  | { side: "assistant"; rounds: Round[]; current: boolean };

export interface Round {
  /** The parts in their order. Absent if results come without an assistant message before them. */
  said?: readonly Part[];
  results: Answer[];
}

/** A result with its name filled in, and the call that it answers. */
export interface Answer extends ToolResult {
  call: ToolCall | undefined;
}

/** The system text of a conversation that begins with one, and the messages after it. A developer message counts as a system message. */
export function leadingSystem(messages: readonly Message[]): { system?: Content; rest: readonly Message[] } {
  const [first, ...rest] = messages;
  return first?.role === "system" || first?.role === "developer" ? { system: first.content, rest } : { rest: messages };
}

/** Moves all system texts to the front, wherever they come. */
export function hoisted({ messages }: Pick<Request, "messages">, separator = "\n\n"): { system: string; rest: Message[] } {
  const isSystem = ({ role }: Message) => role === "system" || role === "developer";
  const system = messages.flatMap((message) => (isSystem(message) && "content" in message ? textOf(message.content) : []));
  return { system: system.join(separator), rest: messages.filter((message) => !isSystem(message)) };
}

/** For templates whose roles must alternate: successive messages of one role become one. A developer message counts as a system message. */
export function alternating(messages: readonly Message[]): Message[] {
  const out: Message[] = [];
  for (const message of messages) {
    if (message.role === "assistant" || message.role === "tool") {
      out.push(message);
      continue;
    }
    const role = message.role === "user" ? "user" : "system";
    const last = out.at(-1);
    if (last?.role === role) out.splice(-1, 1, { role, content: [...last.content, { type: "text", text: "\n\n" }, ...message.content] });
    else out.push({ role, content: message.content });
  }
  return out;
}

export function turnsOf(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  const lastUser = messages.findLastIndex((message) => message.role === "user");
  const calls = new Map<string, ToolCall>();
  let waiting: readonly ToolCall[] = [];
  /** Finds a result's call by its id, else by its name, else takes the first call that waits for a result. */
  const answer = (result: ToolResult): Answer => {
    const byId = waiting.find((call) => call.id === result.id) ?? calls.get(result.id);
    const call = byId ?? waiting.find((call) => call.name === result.name) ?? waiting[0];
    waiting = waiting.filter((one) => one !== call);
    return { ...result, name: byId?.name || result.name || call?.name || "unknown", call };
  };
  for (const [i, message] of messages.entries()) {
    if (message.role !== "assistant" && message.role !== "tool") {
      turns.push({ side: message.role, content: message.content });
      continue;
    }
    let turn = turns.at(-1);
    if (turn?.side !== "assistant") {
      turn = { side: "assistant", rounds: [], current: i > lastUser };
      turns.push(turn);
    }
    const { rounds } = turn;
    if (message.role === "assistant") {
      rounds.push({ said: message.content, results: [] });
      waiting = callsOf(message.content);
      for (const call of waiting) calls.set(call.id, call);
    } else {
      if (rounds.length === 0) rounds.push({ results: [] });
      rounds.at(-1)?.results.push(answer(message));
    }
  }
  return turns;
}

/** How a format writes the turns of each side. */
interface Voices {
  /** A developer message counts as a system message. */
  other(role: "system" | "user", content: Content, n: number): Pieces;
  /** `isLast`: no message follows. */
  said(said: readonly Part[], current: boolean, isLast: boolean): Pieces;
  results(results: readonly Answer[], isLast: boolean): Pieces;
}

/** All turns; a round without a message or without results writes nothing for it. */
export const dialogue = (turns: readonly Turn[], { other, said, results }: Voices): Pieces =>
  turns.map((turn, n) => {
    if (turn.side !== "assistant") return other(turn.side === "user" ? "user" : "system", turn.content, n);
    return turn.rounds.map((round, i) => {
      const isLast = n === turns.length - 1 && i === turn.rounds.length - 1;
      const answered = round.results.length > 0;
      return [round.said && said(round.said, turn.current, isLast && !answered), answered && results(round.results, isLast)];
    });
  });

/** Joins successive parts of text and of thinking: some clients keep them apart, and templates would trim each. */
export const inWhole = (messages: readonly Message[]): Message[] =>
  messages.map((message) => (message.role === "assistant" ? { ...message, content: whole(message.content) } : message));

function whole(parts: readonly Part[]): Part[] {
  const out: Part[] = [];
  for (const part of parts) {
    const last = out.at(-1);
    if ("text" in part && last?.type === part.type) out[out.length - 1] = { ...last, text: last.text + part.text };
    else out.push(part);
  }
  return out;
}

export const callsOf = (parts: readonly Part[]): ToolCall[] => parts.filter((part) => part.type === "tool-call");

/** Malformed calls, as the model wrote them. */
export const unreadable = (parts: readonly Part[]): string[] => parts.flatMap((part) => (part.type === "malformed" ? part.raw : []));

/** Calls and malformed calls in their order. */
export const writtenCalls = (parts: readonly Part[], write: (call: ToolCall) => Pieces): Pieces[] =>
  parts.flatMap((part) => (part.type === "tool-call" ? [write(part)] : part.type === "malformed" ? [part.raw] : []));

/** All calls of a message as one block, followed by the malformed ones. */
export function batched(parts: readonly Part[], write: (calls: readonly ToolCall[]) => Pieces): Pieces[] {
  const calls = callsOf(parts);
  return [...(calls.length > 0 ? [write(calls)] : []), ...unreadable(parts)];
}

export const allCalls = (messages: readonly Message[]): ToolCall[] =>
  messages.flatMap((message) => (message.role === "assistant" ? callsOf(message.content) : []));

/** A round's results in the order of its calls, if each of them answers one. */
export function inCallOrder({ said = [], results }: Round): readonly Answer[] {
  const calls = callsOf(said);
  const isAnswer = ({ id, call }: Answer): boolean => call?.id === id && calls.includes(call);
  return results.every(isAnswer) ? calls.flatMap((call) => results.filter((result) => result.call === call)) : results;
}

export const hasCalls = ({ said = [] }: Round): boolean => said.some((part) => part.type === "tool-call");

const texts = (parts: readonly Part[], type: "text" | "thinking", separator: string): string =>
  parts.flatMap((part) => (part.type === type ? part.text : [])).join(separator);

export const textOf = (parts: readonly Part[], separator = ""): string => texts(parts, "text", separator);
export const thinkingOf = (parts: readonly Part[]): string => texts(parts, "thinking", "");

/** A message's thinking and text. Thinking that a server left in the text counts as thinking, unless the message has a thinking part. */
export function thoughtAndText(said: readonly Part[], open = "<think>", close = "</think>"): { thinking: string; text: string } {
  const thinking = thinkingOf(said);
  const text = textOf(said);
  const [head = "", ...tail] = text.split(close);
  if (thinking !== "" || tail.length === 0) return { thinking: withoutOuterLines(thinking), text };
  return { thinking: withoutOuterLines(head.split(open).at(-1) ?? ""), text: (tail.at(-1) ?? "").replace(/^\n+/, "") };
}

const withoutOuterLines = (text: string): string => text.replace(/^\n+|\n+$/g, "");

/** A message as most templates write it: the text, a newline, and the calls, one below the other. */
export function textThenCalls(said: readonly Part[], call: (call: ToolCall) => Pieces, text = textOf(said)): Pieces {
  const calls = writtenCalls(said, call);
  return [text, text && calls.length > 0 && "\n", joined(calls, "\n")];
}

/** The same where all calls of a message are one block. */
export const textThenBatch = (said: readonly Part[], batch: (calls: readonly ToolCall[]) => Pieces, text = textOf(said)): Pieces =>
  joined([...(text ? [text] : []), ...batched(said, batch)], "\n");

/** Text as printed by templates that do not know parts: a list of several becomes a Python literal. */
export const printedText = (parts: Content): string =>
  parts.length > 1 && parts.every(isText) ? pythonLiteral(parts.map(({ type, text }) => ({ type, text }))) : textOf(parts);

/** For such templates: joins the texts of each message. */
export function withJoinedTexts(request: Request): Request {
  const joinTexts = (message: Message): Message => {
    if (message.role === "assistant" || message.role === "tool" || message.content.filter(isText).length < 2) return message;
    const others = message.content.filter((part) => !isText(part));
    return { ...message, content: [{ type: "text", text: textOf(message.content, "\n") }, ...others] };
  };
  return { ...request, messages: request.messages.map(joinTexts) };
}

const isText = (part: Part): part is Text => part.type === "text";

/** Text and media in their order. `around`: wraps a placeholder. */
export const contentPieces = (content: Content, tokens: Placeholders, around?: (placeholder: Pieces) => Pieces): Pieces =>
  content.map((part) => {
    if (part.type === "text") return part.text;
    const piece = mediaPiece(part, tokens);
    return around && piece.control ? around(piece) : piece;
  });

/** A result as text: a string as it is, a list of text parts joined, anything else as JSON. */
export function resultText(output: Json, separator?: string): string {
  const plain = plainOutput(output, separator);
  return typeof plain === "string" ? plain : pythonJson(plain);
}

/** The same with the result's media, as a message's content. */
export const resultContent = ({ output, media = [] }: RenderableResult): Content => [{ type: "text", text: resultText(output) }, ...media];

/** The same, but a list of text parts as a Python literal: the template prints it like that, and the model was trained on it. */
export const printedResult = (output: Json): string => (textParts(output) ? pythonLiteral(output) : resultText(output));

/** Joins a list of text parts; other results stay as they are. */
export const plainOutput = (output: Json, separator = ""): Json =>
  textParts(output)
    ?.map((part) => part.text)
    .join(separator) ?? output;

/** The result if it is a list of nothing but text parts. */
export const textParts = (output: Json): readonly (JsonObject & { text: string })[] | undefined =>
  Array.isArray(output) && output.length > 0 && output.every(isTextPart) ? output : undefined;

const isTextPart = (part: Json): part is JsonObject & { text: string } =>
  isObject(part) && part.type === "text" && typeof part.text === "string";
