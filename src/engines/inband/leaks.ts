/**
 * The text of one answer, read for what leaked into it. A call in the text may also be an explanation or a quotation, and running one of those
 * does harm. So a call is taken for one only if it is of a declared tool, is complete, stands outside of code and quotations, the words before
 * it lead to it, nothing but further calls follows it, nobody else in the conversation wrote it, and the server itself sent none. In doubt the
 * text stays text. Text leaves at once; only what looks like a call waits for the end of the answer.
 */
import type { Event, Finish, Json, Message, Request, Tool, ToolCall, ToolEnd } from "../../core/nouns.ts";
import type { Dialect, Scanner } from "../../dialects/dialect.ts";
import { bytesOf } from "../../dialects/scan/scan.ts";
import { scanText } from "../../dialects/scan/streams.ts";
import { mintIds } from "../ending.ts";
import { CodeTracker } from "./code.ts";
import { leadsToCall, MAX_LEAD } from "./lead.ts";

/** No call and no thought is longer; what is stays text. */
const MAX_HELD = 1 << 20;

/** All that is needed of a dialect here. */
export type Heard = Pick<Dialect, "id" | "createScanner">;

export class Rescue {
  /** The calls that were read in the text. */
  readonly calls: ToolEnd[] = [];
  readonly dialect: Heard;
  readonly #tools: readonly Tool[];
  readonly #scanner: Scanner;
  readonly #code = new CodeTracker();
  readonly #messages: readonly Message[];
  /** Calls of the conversation: a text may repeat one to tell of it. */
  readonly #made: ReadonlySet<string>;
  /** What the answer is one to, if it is the user's. */
  readonly #asked: string;
  /** What may turn out to be a call or a thought. */
  #held: Event[] = [];
  /** How many characters the scanner has, and no event carries yet. */
  #pending = 0;
  #heldChars = 0;
  /** Something was said; and its end. */
  #spoke = false;
  #before = "";
  /** The server itself told thinking from text. */
  #thinks = false;
  /** The rest of the answer is text; and the scanner has nothing left of it. */
  #off = false;
  #drained = false;
  /** What comes with the end and so behind what is held. */
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

  /** No thought can begin any more, and nothing is held back. */
  get spoke(): boolean {
    return (this.#spoke || this.#off) && !this.#waits;
  }

  /** Something is held back. */
  get #waits(): boolean {
    return this.#held.length > 0 || this.#pending > 0;
  }

  /** A piece in which code neither begins nor ends. */
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

  /** What the scanner makes of the text. */
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
    if (!(holding || this.#mayBegin(event)) || !this.#isGood(event)) this.#giveUp(out);
    else if (event.type === "thinking-end") out.push(...this.#unheld());
  }

  #hold(event: Event): void {
    this.#held.push(event);
    this.#heldChars += bytesOf(event).length;
  }

  /** Whether a call, or a thought, can stand here. */
  #mayBegin(event: Event): boolean {
    if (event.type === "thinking-start") return !this.#spoke && !this.#thinks;
    return (
      event.type === "control" || (!(this.#code.inside("") || this.#code.shown) && leadsToCall(this.#before.slice(-MAX_LEAD), this.#asked))
    );
  }

  #isGood(event: Event): boolean {
    if (event.type === "malformed") return false;
    if (event.type === "thinking-end") return Boolean(event.raw); // or it was never closed
    if (event.type === "tool-start") return this.#tools.some(({ name }) => name === event.name);
    if (event.type !== "tool-end") return true;
    if (/^\s*`/.test(event.raw ?? "")) return false; // a dialect that takes a fence for a part of the call
    // Behind words, a call that was made before is told of, and one that no mark announces is an example.
    return !event.truncated && !this.#isQuoted(event) && !(this.#spoke && (this.#made.has(keyOf(event)) || this.#isBare(event)));
  }

  /** The user, or what a tool brought, wrote the same call: it is repeated, or was smuggled in. */
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

  /** What is held was neither a call nor a thought: a control token, or calls with text behind them. With those, all of the answer is text. */
  #release(out: Event[]): void {
    if (this.#held.some(({ type }) => type === "tool-end")) this.#giveUp(out);
    else this.#speak(this.#unheld().map(bytesOf).join(""), out);
  }

  /** From what is held on, the answer is text. */
  #giveUp(out: Event[]): void {
    this.#off = true;
    say(this.#unheld().map(bytesOf).join(""), out);
  }

  /** So is what the scanner still has, if the answer is text. */
  #drain(out: Event[]): void {
    if (!this.#off || this.#drained) return;
    this.#drained = true;
    say(this.#scanner.flush().map(bytesOf).join(""), out);
    out.push(...this.#late.splice(0));
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
    this.calls.push(...calls);
    // Blanks between calls are the dialect's, not the model's.
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

/** Clients put other things before what the user says, and send them along as texts of their own. */
function askedIn(message: Message | undefined): string {
  const last = message?.role === "user" ? message.content.findLast(({ type }) => type === "text") : undefined;
  return last?.type === "text" ? last.text.slice(-MAX_LEAD) : "";
}

/** Two calls that do the same. */
const keyOf = ({ name, arguments: args }: Pick<ToolCall, "name" | "arguments">): string =>
  JSON.stringify([name, Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
