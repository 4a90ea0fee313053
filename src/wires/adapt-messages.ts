/** Rewrites messages into what the target can express. Media that it does not accept in their place are moved, or become labels. */
import type { Json, Malformed, Media, Message, Part, Request, Text, ToolResult, WireId } from "../core/nouns.ts";
import type { Abilities } from "./abilities.ts";
import { readMalformed } from "./accumulate.ts";
import { callIds, saidIn } from "./calls.ts";
import { errorText, labelOf, outputText, textsOf } from "./media.ts";
import { hasOwn, withState } from "./opaque.ts";
import { isText, textOf, united } from "./read.ts";
import type { Warnings } from "./warnings.ts";
import type { WireProfile } from "./wire.ts";

export const hasCalls = ({ messages }: Pick<Request, "messages">): boolean => saidIn(messages).some(({ type }) => type === "tool-call");

/** A file in a bucket, or uploaded to Google's Files API: no other server can fetch it. */
const GOOGLE_FILE = /^gs:|^https:\/\/generativelanguage\.googleapis\.com\//;

type Spoken = Exclude<Message, ToolResult>;

/**
 * A template that accepts a system text only at the beginning accepts only one, and most such templates want alternating turns, so
 * neighbouring messages of one role are merged. Codex begins with two system texts, and names the user's folder in a message of its own.
 */
const alternating = (messages: readonly Message[], wire: WireId): Message[] =>
  united(messages, (last, next) => {
    const isNext = last.role === next.role && !hasOwn(wire, last, next);
    return isNext && last.role !== "tool" && !hasCalls({ messages: [last] }) && merged(last, next as Spoken, wire);
  });

/** Where two texts meet, they become paragraphs of one text. */
function merged(first: Spoken, next: Spoken, wire: WireId): Message {
  const [end, begin, ...rest] = [first.content.at(-1), ...next.content] as (Part | undefined)[];
  const areTexts = end?.type === "text" && begin?.type === "text" && !hasOwn(wire, end, begin);
  const content = areTexts
    ? [...first.content.slice(0, -1), withState({ ...end, text: `${end.text}\n\n${begin.text}` }, begin.state), ...rest]
    : [...first.content, ...next.content];
  return withState({ ...first, content } as Message, next.state);
}

/**
 * Merges an assistant message into the one before it if calls of that one are answered, so that calls whose results come together are in
 * one message: Anthropic's API treats assistant messages in a row as one.
 */
export function inRounds(messages: Message[]): Message[] {
  const answered = new Set(messages.map((message) => (message.role === "tool" ? message.id : undefined)));
  const rounds: [Message, ...Message[]][] = [];
  let isBegun = false;
  for (const message of messages) {
    const isMore: boolean = isBegun && message.role === "assistant";
    isBegun = isMore || callIds([message]).some((id) => answered.has(id));
    if (isMore) rounds.at(-1)!.push(message);
    else rounds.push([message]);
  }
  if (rounds.length === messages.length) return messages;
  return rounds.map(([first, ...others]) =>
    others.length === 0
      ? first
      : withState(
          { ...first, content: saidIn([first, ...others]) } as Message,
          others.flatMap(({ state = [] }) => state),
        ),
  );
}

/**
 * Moves the results of each round directly after its calls, and the messages in between after the results: gemini-cli sends an image
 * between the result that it belongs to and the next.
 */
export function withResultsFirst(messages: Message[]): Message[] {
  const isScattered = messages.some(({ role }, i) => role === "tool" && i > 0 && !/^(tool|assistant)$/.test(messages[i - 1]!.role));
  if (!isScattered) return messages;
  const out: Message[] = [];
  let said: Message[] = [];
  let calls: readonly string[] = [];
  let isMoved = false;
  for (const message of messages) {
    if (message.role === "assistant") {
      out.push(...said, message);
      said = [];
      calls = callIds([message]);
    } else if (message.role === "tool" && calls.includes(message.id)) {
      isMoved ||= said.length > 0;
      out.push(message);
    } else said.push(message);
  }
  return isMoved ? [...out, ...said] : messages;
}

/** Inserts a text before the conversation, after the system texts. */
export function withInstruction(messages: readonly Message[], text: string): Message[] {
  const first = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  return messages.toSpliced(first < 0 ? messages.length : first, 0, { role: "developer", content: [{ type: "text", text }] });
}

/** A message to the model: from the system, the developer or the user. */
type Told = Exclude<Spoken, { role: "assistant" }>;

/** Tags a text with its author. */
const labelled = (text: string, role: Told["role"] = "system"): string => {
  const tag = role === "user" ? role : "system";
  return `<${tag}>\n${text}\n</${tag}>`;
};

/** A system text as a labelled user text. */
export const asUser = ({ content, state }: Told): Message => ({
  role: "user",
  content: content.map((part) => (part.type === "text" ? { ...part, text: labelled(part.text) } : part)),
  ...(state ? { state } : {}),
});

/** The result with the message that followed it appended, labelled. */
export function inResult(result: ToolResult, { role, content, state }: Told): ToolResult {
  const said = content.map((part) => labelled(part.type === "text" ? part.text : labelOf(part).text, role));
  const { output } = result;
  const isList = !isText(output) && textsOf(output);
  const told: Json = isList
    ? [...(output as readonly Json[]), ...said.map((text) => ({ type: "text", text }))]
    : [outputText(output), ...said].filter(Boolean).join("\n\n");
  return withState({ ...result, output: told }, state, ...content.map((part) => part.state));
}

/** The messages as the target accepts them. `pairs`: calls without results, and results without calls, are mended. */
export function adaptMessages(
  given: readonly Message[],
  able: Abilities,
  profile: WireProfile,
  warnings: Warnings,
  pairs: boolean,
): Message[] {
  const out = new Messages(given, able, profile, warnings, pairs).out;
  return profile.systemAnywhere === false ? alternating(out, able.wire) : out;
}

class Messages {
  readonly out: Message[] = [];
  readonly #able: Abilities;
  readonly #profile: WireProfile;
  readonly #warnings: Warnings;
  readonly #pairs: boolean;
  readonly #answered = new Set<string>();
  /** The names of the round's calls that have no result yet, by id. */
  readonly #open = new Map<string, string>();
  /** What moves after the results of the round: their media, and results that answer none of its calls. */
  #waiting: (Text | Media)[] = [];

  constructor(given: readonly Message[], able: Abilities, profile: WireProfile, warnings: Warnings, pairs: boolean) {
    this.#able = able;
    this.#profile = profile;
    this.#warnings = warnings;
    this.#pairs = pairs;
    for (const message of given) if (message.role === "tool") this.#answered.add(message.id);
    const first = given.findIndex(({ role }) => role !== "system" && role !== "developer");
    given.forEach((message, i) => {
      const isLate = first < 0 ? !able.systemAnywhere : i > first;
      if (message.role === "tool") this.#answer(message);
      else {
        this.#settle();
        if (message.role === "assistant") this.#say(message);
        else this.#tell(message, isLate);
      }
    });
    this.#settle();
    this.#release();
  }

  /** A result without its call becomes a user text. Clients that trim the history leave such results. */
  #answer({ media = [], ...given }: ToolResult): void {
    if (this.#open.delete(given.id) || !this.#pairs) {
      this.out.push(this.#returned({ ...given, media }));
      return;
    }
    const { id, name, output, isError } = this.#returned(given);
    const text = `[result of ${name || "a tool"}, call ${id}]\n${isError ? errorText(output) : outputText(output)}`;
    this.#waiting.push({ type: "text", text }, ...media.map((part) => this.#labelled(part, "user")));
    this.#warnings.converted("a result without its call", "a labelled user text");
  }

  /** A call without a result gets a failed one. Clients that were interrupted leave such calls. */
  #settle(): void {
    for (const [id, name] of this.#open) {
      this.#warnings.converted("a call without a result", "a failed one");
      this.out.push(this.#returned({ role: "tool", id, name, output: "No result was given.", isError: true }));
    }
    this.#open.clear();
  }

  #release(): void {
    if (this.#waiting.length > 0) this.out.push({ role: "user", content: this.#waiting });
    this.#waiting = [];
  }

  #tell(given: Told, isLate: boolean): void {
    const message = this.#spoken(given);
    if (message.content.length === 0 && message.state && !hasOwn(this.#able.wire, message)) {
      this.#warnings.foreign(message.state, this.#able.carries); // an empty message after results would end their round
      return;
    }
    const isMoved = message.role !== "user" && isLate && (!this.#able.systemAnywhere || this.#profile.systemAnywhere === false);
    const result = isMoved ? this.#toldInResult(message) : undefined;
    if (isMoved)
      this.#warnings.converted(
        "a system text in mid-conversation",
        result ? "a labelled text in the result before it" : "a labelled user text",
      );
    if (result) {
      this.out[this.out.length - 1] = result;
      return;
    }
    this.#release();
    this.out.push(isMoved ? asUser(message) : message);
  }

  /**
   * A system text directly after results goes into the last of them: a user text would end the round, and templates drop the thinking of
   * finished rounds. Claude Code reports with each result how many tokens are left.
   */
  #toldInResult(message: Told): ToolResult | undefined {
    const result = this.out.at(-1);
    if (result?.role !== "tool" || !textsOf(result.output) || hasOwn(this.#able.wire, result, message, ...message.content))
      return undefined;
    return message.content.every(({ type }) => type === "text") ? inResult(result, message) : undefined;
  }

  #spoken(message: Told): Told {
    const able = this.#able;
    let { role, content } = message;
    // Most content is only text, which stays unchanged.
    if (content.some((part) => part.type !== "text" || part.text === ""))
      content = content.filter((part) => !this.#isNothing(part)).map((part) => (part.type === "media" ? this.#labelled(part, role) : part));
    if (role === "developer" && (!able.developer || this.#profile.developerRole === false)) role = "system";
    return role === message.role && content === message.content ? message : { ...message, role, content };
  }

  #say(message: Message & { role: "assistant" }): void {
    this.#release();
    const able = this.#able;
    const warnings = this.#warnings;
    const made: Media[] = [];
    const content = message.content.flatMap((part): Part[] => {
      if (part.type === "malformed") return [this.#unreadable(part)];
      if (part.type === "thinking" && able.thinking?.(part) === false && !this.#profile.unsignedThinking) {
        if (part.text !== "" || part.state) warnings.dropped("thinking that this server did not seal"); // the server would refuse the request
        return [];
      }
      if (part.type === "tool-call" && part.truncated && !able.cutCalls && !this.#answered.has(part.id)) {
        warnings.dropped("a call that was cut");
        return [];
      }
      if (part.type !== "media" || this.#takes(part, "assistant")) return this.#isNothing(part) ? [] : [part];
      made.push(part);
      return [];
    });
    if (made.length > 0) this.#hoist("media that the assistant made", made, "media that the model made");
    if (!able.order && isOutOfOrder(content)) warnings.converted(MIXED, SORTED);
    this.out.push({ ...message, content });
    if (this.#pairs) for (const part of content) if (part.type === "tool-call") this.#open.set(part.id, part.name);
  }

  /** An unreadable call is sent unchanged where arguments are text; otherwise as a call with the text inside if it was answered. */
  #unreadable({ id, raw, state }: Malformed): Part {
    const call = readMalformed(raw);
    const { textArguments } = this.#able;
    const isCall = id !== undefined && call?.name && (textArguments || this.#answered.has(id));
    if (!isCall || !textArguments) this.#warnings.converted("a call that cannot be read", isCall ? "a call with its text inside" : "text");
    if (!isCall) return { type: "text", text: `[unreadable tool call: ${raw}]` };
    const args = call.arguments;
    const said = textArguments ? { arguments: {}, json: textOf(args) ?? JSON.stringify(args) } : { arguments: { unreadable: args } };
    return withState({ type: "tool-call", id, name: call.name, ...said }, state);
  }

  #returned({ media = [], ...result }: ToolResult): ToolResult {
    const able = this.#able;
    const { output, isError, name, id } = result;
    if (!isText(output) && !able.result?.(result)) {
      if (!textsOf(output)) this.#warnings.converted("a tool result that is no text", "its JSON text");
      result.output = outputText(output);
    }
    if (isError && !able.errors?.(result)) {
      this.#warnings.converted("a failed tool's result", 'text that begins with "Error:"');
      result.output = errorText(output);
    }
    if (media.length === 0) return result;
    if (able.resultMedia && media.every((part) => this.#takes(part, "tool"))) return { ...result, media };
    this.#hoist(`media of the result of ${name || "a tool"}, call ${id}`, media, "media in a tool result");
    return result;
  }

  /** An empty text that only holds state of another wire. */
  #isNothing(part: Part): boolean {
    if (part.type !== "text" || part.text !== "" || !part.state || hasOwn(this.#able.wire, part)) return false;
    this.#warnings.foreign(part.state);
    return true;
  }

  #takes(media: Media, role: Message["role"]): boolean {
    const { googleFiles } = this.#able;
    if (!this.#able.media(media, role) || (!googleFiles && GOOGLE_FILE.test(media.url ?? ""))) return false;
    // Outside Google's API only files have names.
    if (media.name && !googleFiles && !/^(application|text)/.test(media.mediaType))
      this.#warnings.dropped(`the name of ${media.mediaType}`);
    return true;
  }
  #labelled(media: Media, role: Message["role"]): Text | Media {
    if (this.#takes(media, role)) return media;
    this.#warnings.converted(`media of the type ${media.mediaType}`, "a label");
    return labelOf(media);
  }
  /** Moves media into a user message after the results of the round. */
  #hoist(label: string, media: readonly Media[], what: string): void {
    this.#waiting.push({ type: "text", text: `[${label}]` }, ...media.map((part) => this.#labelled(part, "user")));
    this.#warnings.converted(what, "a user message behind it");
  }
}

/** The warning where a wire has only one place each for thinking, text and calls. */
export const MIXED = "an answer with thinking or text behind its calls";
export const SORTED = "thinking, text and calls, in this order";

const RANK = { thinking: 0, text: 1, media: 1, "tool-call": 2, malformed: 2 } as const;
export const isOutOfOrder = (parts: readonly Part[]): boolean =>
  parts.some(({ type }, i) => {
    const before = parts[i - 1]?.type ?? "thinking";
    return RANK[type] < RANK[before] || (i > 0 && type === "thinking" && before === type);
  });
