/**
 * Finds calls and thinking that leaked into the text of one answer. A call in the text may also be an explanation or a quotation, and
 * running one of those does harm. So a call counts only if its tool is declared, it is complete, it is outside of code and quotations, the
 * words before it announce it, only further calls follow it, no user or tool result of the conversation wrote it, and the server itself
 * sent no call. In doubt the text stays text. Text is passed on at once; only what looks like a call waits for the end of the answer.
 */
import type { Event, Finish, Json, Message, Request, Tool, ToolCall, ToolEnd } from "../../core/nouns.ts";
import type { Dialect, Scanner } from "../../dialects/dialect.ts";
import { bytesOf } from "../../dialects/scan/scan.ts";
import { scanText } from "../../dialects/scan/streams.ts";
import { append } from "../append.ts";
import { mintIds } from "../ending.ts";
import { CodeTracker } from "./code.ts";
import { leadsToCall, MAX_LEAD } from "./lead.ts";

/** Longest call or thinking block, in characters; anything longer stays text. */
const MAX_HELD = 1 << 20;

/** The part of a dialect that is needed here. */
export type Heard = Pick<Dialect, "id" | "createScanner">;

export class Rescue {
  /** The calls that were found in the text. */
  readonly calls: ToolEnd[] = [];
  readonly dialect: Heard;
  readonly #tools: readonly Tool[];
  readonly #scanner: Scanner;
  readonly #code = new CodeTracker();
  readonly #messages: readonly Message[];
  /** Calls made earlier in the conversation: text may repeat one to talk about it. */
  readonly #made: ReadonlySet<string>;
  /** The user's message that is being answered, if the last message is the user's. */
  readonly #asked: string;
  /** Events that may turn out to be a call or thinking. */
  #held: Event[] = [];
  /** How many characters the scanner has taken without an event for them yet. */
  #pending = 0;
  #heldChars = 0;
  /** A call is held. */
  #called = false;
  /** Whether anything but blanks was said, and the end of what was said. */
  #spoke = false;
  #before = "";
  /** The server itself separated thinking from text. */
  #thinks = false;
  /** The rest of the answer is text; and the scanner was emptied. */
  #off = false;
  #drained = false;
  /** Events that must follow the held ones. */
  readonly #late: Event[] = [];

  constructor(dialect: Heard, request: Request, tools: readonly Tool[]) {
    this.dialect = dialect;
    this.#tools = tools;
    this.#messages = request.messages;
    this.#scanner = dialect.createScanner({ tools, callsInThinking: "ignore", maxCallChars: MAX_HELD, mintId: mintIds(request) });
    this.#asked = askedIn(request.messages.at(-1));
    const made = request.messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
    this.#made = new Set(made.flatMap((part) => (part.type === "tool-call" ? keyOf(part) : [])));
  }

  feed(event: Event): Event[] {
    if (event.type === "finish") return this.#finish(event);
    if (this.#drained) return [event];
    const out: Event[] = [];
    if (event.type === "text" && !event.state) {
      for (const piece of event.text.split(/(`+|~+|\n)/)) if (piece !== "") this.#read(piece, out);
      return out;
    }
    if (event.type === "usage" && this.#waits) {
      this.#late.push(event);
      return out;
    }
    this.#thinks ||= event.type === "thinking-start";
    if (event.type === "tool-start" || (this.#waits && event.type !== "start")) this.#giveUp(out);
    this.#drain(out);
    out.push(event);
    return out;
  }

  /** No thinking can begin any more, and nothing is held back. */
  get spoke(): boolean {
    return (this.#spoke || this.#off) && !this.#waits;
  }

  get #waits(): boolean {
    return this.#held.length > 0 || this.#pending > 0;
  }

  /** Reads a piece within which code neither begins nor ends. */
  #read(piece: string, out: Event[]): void {
    if (this.#off) say(piece, out);
    else if (!this.#waits && this.#code.inside(piece.charAt(0))) this.#speak(piece, out);
    else {
      this.#pending += piece.length;
      for (const event of this.#scanner.feed(piece)) this.#take(event, out);
      if (this.#heldChars + this.#pending > MAX_HELD) this.#giveUp(out);
      this.#drain(out);
    }
  }

  /** Takes an event of the scanner. */
  #take(event: Event, out: Event[]): void {
    if (this.#off) {
      say(bytesOf(event), out);
      return;
    }
    this.#pending -= bytesOf(event).length;
    const holding = this.#held.length > 0;
    if (event.type === "text" && !(holding && event.text.trim() === "")) {
      if (holding) this.#release(out);
      this.#speak(event.text, out);
      return;
    }
    this.#hold(event);
    if (!this.#isGood(event)) this.#giveUp(out);
    else if (event.type === "thinking-end") append(out, this.#unheld());
  }

  #hold(event: Event): void {
    this.#held.push(event);
    this.#heldChars += bytesOf(event).length;
  }

  /** Whether a call may begin here. */
  #mayCall(): boolean {
    return !(this.#code.inside("") || this.#code.shown) && leadsToCall(this.#before.slice(-MAX_LEAD), this.#asked);
  }

  #isGood(event: Event): boolean {
    if (event.type === "malformed") return false;
    if (event.type === "thinking-start") return !this.#spoke && !this.#thinks && !this.#called;
    if (event.type === "thinking-end") return Boolean(event.raw); // otherwise it was never closed
    if (event.type === "tool-start") {
      const may = this.#called || this.#mayCall();
      this.#called = true;
      return may && this.#tools.some(({ name }) => name === event.name);
    }
    if (event.type !== "tool-end") return true;
    if (/^\s*`/.test(event.raw ?? "")) return false; // the dialect took a code fence as part of the call
    // After other text, a call that was made before is being talked about, and a call without a mark is an example.
    return !event.truncated && !this.#isQuoted(event) && !(this.#spoke && (this.#made.has(keyOf(event)) || this.#isBare(event)));
  }

  /** The user or a tool result wrote the same call: the model repeats it, or it was smuggled in. */
  #isQuoted(call: ToolEnd): boolean {
    const key = keyOf(call);
    const wanted = (call.raw ?? "").trim();
    const isIn = (text: string): boolean =>
      text.includes(call.name) &&
      (text.includes(wanted) ||
        scanText(this.dialect, text, { tools: [...this.#tools] }).some((one) => one.type === "tool-end" && keyOf(one) === key));
    return this.#messages.some((message) => {
      if (message.role === "tool") return someText(message.output, isIn);
      return message.role === "user" && message.content.some((part) => part.type === "text" && isIn(part.text));
    });
  }

  #isBare({ raw = "" }: ToolEnd): boolean {
    return /^\s*(?:\{|\[(?!TOOL))/.test(raw) && !this.#held.some(({ type }) => type === "control");
  }

  #speak(text: string, out: Event[]): void {
    this.#code.see(text);
    this.#spoke ||= text.trim() !== "";
    this.#before += text;
    if (this.#before.length > 8 * MAX_LEAD) this.#before = this.#before.slice(-MAX_LEAD);
    say(text, out);
  }

  #unheld(): Event[] {
    this.#heldChars = 0;
    return this.#held.splice(0);
  }

  /** The held events are no leak: either control tokens, or calls that text follows; in that case all of the answer is text. */
  #release(out: Event[]): void {
    if (this.#called) this.#giveUp(out);
    else this.#speak(this.#unheld().map(bytesOf).join(""), out);
  }

  /** From the held events on, the answer is text. */
  #giveUp(out: Event[]): void {
    this.#off = true;
    say(this.#unheld().map(bytesOf).join(""), out);
  }

  /** If the rest of the answer is text, so is what the scanner still has. Once nothing waits, what had to follow it is passed on. */
  #drain(out: Event[]): void {
    if (this.#off && !this.#drained) {
      this.#drained = true;
      this.#pending = 0;
      say(this.#scanner.flush().map(bytesOf).join(""), out);
    }
    if (!this.#waits) out.push(...this.#late.splice(0));
  }

  #finish(finish: Finish): Event[] {
    const out: Event[] = [];
    if (!this.#off) {
      for (const event of this.#scanner.flush()) this.#take(event, out);
      this.#drained = true;
    }
    const ended = finish.reason === "stop" || finish.reason === "tool-calls";
    const calls = this.#held.flatMap((event) => (event.type === "tool-end" ? [event] : []));
    if (this.#off || !ended || calls.length === 0) {
      this.#giveUp(out);
      return [...out, ...this.#late, finish];
    }
    append(this.calls, calls);
    // Blanks between calls belong to the dialect's notation; they are not text of the answer.
    const held = this.#held.map((event): Event => (event.type === "text" ? { type: "control", raw: event.text } : event));
    return [...out, ...held, ...this.#late, { ...finish, reason: "tool-calls" }];
  }
}

const say = (text: string, out: Event[]): void => {
  if (text !== "") out.push({ type: "text", text });
};

const someText = (value: Json, fits: (text: string) => boolean): boolean =>
  typeof value === "string"
    ? fits(value)
    : typeof value === "object" && value !== null && Object.values(value).some((item) => someText(item, fits));

/** The user's own words: the last text, since clients send other things along as separate texts before it. */
function askedIn(message: Message | undefined): string {
  const last = message?.role === "user" ? message.content.findLast(({ type }) => type === "text") : undefined;
  return last?.type === "text" ? last.text.slice(-MAX_LEAD) : "";
}

/** Equal for two calls that do the same. */
const keyOf = ({ name, arguments: args }: Pick<ToolCall, "name" | "arguments">): string =>
  JSON.stringify([name, Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
