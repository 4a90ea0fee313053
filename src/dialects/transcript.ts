/**
 * A conversation as templates see it: the system text in front, then turns. An assistant's turn is a run of rounds, each of them what it
 * said and the results that answer its calls.
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
  /** In the order it was said. Results may stand without a message before them. */
  said?: readonly Part[];
  results: Answer[];
}

/** A result with the call that it answers, and its name. */
export interface Answer extends ToolResult {
  call: ToolCall | undefined;
}

/** The system text of a conversation that begins with one, and the messages behind it. A developer's message is a system message. */
export function leadingSystem(messages: readonly Message[]): { system?: Content; rest: readonly Message[] } {
  const [first, ...rest] = messages;
  return first?.role === "system" || first?.role === "developer" ? { system: first.content, rest } : { rest: messages };
}

/** System texts stand in front, wherever they come. */
export function hoisted({ messages }: Pick<Request, "messages">, separator = "\n\n"): { system: string; rest: Message[] } {
  const isSystem = ({ role }: Message) => role === "system" || role === "developer";
  const system = messages.flatMap((message) => (isSystem(message) && "content" in message ? textOf(message.content) : []));
  return { system: system.join(separator), rest: messages.filter((message) => !isSystem(message)) };
}

/** For templates whose roles must alternate: what one side says in a row is one message. A developer's message is a system message. */
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
  /** The call of a result by its id, else by its name, else the first that waits; it waits no longer. */
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
  /** A developer's message is a system message. */
  other(role: "system" | "user", content: Content, n: number): Pieces;
  /** `isLast`: no message follows. */
  said(said: readonly Part[], current: boolean, isLast: boolean): Pieces;
  results(results: readonly Answer[], isLast: boolean): Pieces;
}

/** All turns; where there is no message or no result, nothing is written. */
export const dialogue = (turns: readonly Turn[], { other, said, results }: Voices): Pieces =>
  turns.map((turn, n) => {
    if (turn.side !== "assistant") return other(turn.side === "user" ? "user" : "system", turn.content, n);
    return turn.rounds.map((round, i) => {
      const isLast = n === turns.length - 1 && i === turn.rounds.length - 1;
      const answered = round.results.length > 0;
      return [round.said && said(round.said, turn.current, isLast && !answered), answered && results(round.results, isLast)];
    });
  });

/** With the pieces that a text or a thought came in as one: some clients keep them apart, and templates trim each. */
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

/** Calls that could not be read, as they were written. */
export const unreadable = (parts: readonly Part[]): string[] => parts.flatMap((part) => (part.type === "malformed" ? part.raw : []));

/** Both in the order in which they were said. */
export const writtenCalls = (parts: readonly Part[], write: (call: ToolCall) => Pieces): Pieces[] =>
  parts.flatMap((part) => (part.type === "tool-call" ? [write(part)] : part.type === "malformed" ? [part.raw] : []));

/** All calls of a message written as one, and behind it those that could not be read. */
export function batched(parts: readonly Part[], write: (calls: readonly ToolCall[]) => Pieces): Pieces[] {
  const calls = callsOf(parts);
  return [...(calls.length > 0 ? [write(calls)] : []), ...unreadable(parts)];
}

/** All calls of a conversation. */
export const allCalls = (messages: readonly Message[]): ToolCall[] =>
  messages.flatMap((message) => (message.role === "assistant" ? callsOf(message.content) : []));

export const hasCalls = ({ said = [] }: Round): boolean => said.some((part) => part.type === "tool-call");

const texts = (parts: readonly Part[], type: "text" | "thinking", separator: string): string =>
  parts.flatMap((part) => (part.type === type ? part.text : [])).join(separator);

export const textOf = (parts: readonly Part[], separator = ""): string => texts(parts, "text", separator);
export const thinkingOf = (parts: readonly Part[]): string => texts(parts, "thinking", "");

/** What was thought and what was said. Thinking that a server left in the text is thinking, unless the message has its own. */
export function thoughtAndText(said: readonly Part[]): { thinking: string; text: string } {
  const thinking = thinkingOf(said);
  const text = textOf(said);
  const [head = "", ...tail] = text.split("</think>");
  if (thinking !== "" || tail.length === 0) return { thinking: withoutOuterLines(thinking), text };
  return { thinking: withoutOuterLines(head.split("<think>").at(-1) ?? ""), text: (tail.at(-1) ?? "").replace(/^\n+/, "") };
}

const withoutOuterLines = (text: string): string => text.replace(/^\n+|\n+$/g, "");

/** A message as most templates write it: the text, a newline, and the calls, one below the other. */
export function textThenCalls(said: readonly Part[], call: (call: ToolCall) => Pieces, text = textOf(said)): Pieces {
  const calls = writtenCalls(said, call);
  return [text, text && calls.length > 0 && "\n", joined(calls, "\n")];
}

/** The same where all calls of a message are written as one. */
export const textThenBatch = (said: readonly Part[], batch: (calls: readonly ToolCall[]) => Pieces, text = textOf(said)): Pieces =>
  joined([...(text ? [text] : []), ...batched(said, batch)], "\n");

/** Text as those templates print it that do not know parts: several of them are a Python literal. */
export const printedText = (parts: Content): string =>
  parts.length > 1 && parts.every(isText) ? pythonLiteral(parts.map(({ type, text }) => ({ type, text }))) : textOf(parts);

/** For such templates: the texts of a message as one. */
export function withJoinedTexts(request: Request): Request {
  const joinTexts = (message: Message): Message => {
    if (message.role === "assistant" || message.role === "tool" || message.content.filter(isText).length < 2) return message;
    const others = message.content.filter((part) => !isText(part));
    return { ...message, content: [{ type: "text", text: textOf(message.content, "\n") }, ...others] };
  };
  return { ...request, messages: request.messages.map(joinTexts) };
}

const isText = (part: Part): part is Text => part.type === "text";

/** Text, and what is no text where it was shown. `around`: what stands around a placeholder. */
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

/** The same with what else it shows, as a message's content. */
export const resultContent = ({ output, media = [] }: RenderableResult): Content => [{ type: "text", text: resultText(output) }, ...media];

/** The same where a template prints a list of parts as Python does, and so the model was trained. */
export const printedResult = (output: Json): string => (textParts(output) ? pythonLiteral(output) : resultText(output));

/** A list of text parts is the text that they make; other results stay what they are. */
export const plainOutput = (output: Json, separator = ""): Json =>
  textParts(output)
    ?.map((part) => part.text)
    .join(separator) ?? output;

/** A result that is nothing but text parts. */
export const textParts = (output: Json): readonly (JsonObject & { text: string })[] | undefined =>
  Array.isArray(output) && output.length > 0 && output.every(isTextPart) ? output : undefined;

const isTextPart = (part: Json): part is JsonObject & { text: string } =>
  isObject(part) && part.type === "text" && typeof part.text === "string";
