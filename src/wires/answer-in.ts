/** What the decoders of all wires share: they turn the frames of a stream, or one whole body, into events. */
import { checkText, deeperThan, MAX_DEPTH } from "../core/check.ts";
import { Folding } from "../core/folding.ts";
import { isObject } from "../core/json.ts";
import type { ErrorInfo, Event, Json, JsonObject, WireId } from "../core/nouns.ts";
import { readError } from "./errors.ts";
import { EventWriter } from "./events.ts";
import { Fields, type Reading } from "./fields.ts";
import { isList, isText, parsed } from "./read.ts";
import { type SseEvent, SseReader } from "./sse.ts";
import type { StreamDecoder, Wire, WireContext } from "./wire.ts";

/** Cuts text into frames, however it was split into pieces. */
export interface Framing {
  feed(text: string): SseEvent[];
  /** The rest at the end, which may be half a frame. */
  flush(): SseEvent[];
}

/** Ends a stream of OpenAI's servers and of some others. */
const DONE = "[DONE]";
/** Values of `code` that mean success. */
const FINE: ReadonlySet<string> = new Set(["0", "200"]);

/** After so many frames in a row that differ from the frame before, frames are no longer compared. */
const MAX_MISSES = 8;

export abstract class AnswerReader extends EventWriter implements StreamDecoder, Reading {
  abstract readonly wire: WireId;
  /** Keys that other wires leave out without a warning. */
  readonly quiet?: ReadonlySet<string>;
  readonly #frames = this.framing();
  /** The last frame that held nothing but one text, without that text; and how many frames in a row were not like it. */
  #frame: { before: string; after: string; isThought: boolean; say: (text: string) => void } | undefined;
  #misses = 0;

  framing(): Framing {
    return new SseReader();
  }
  /** The beginning of a stream, which no whole answer has. */
  readonly framed: RegExp = /^\s*(data|event|id|retry)?:/;
  /** Whether a frame that differs from the one before only in its text can be read by that text alone. */
  readonly repeats: boolean = false;
  /** Reads a frame that need not be parsed; returns whether it was one. */
  plain(_data: string): boolean {
    return false;
  }
  /** Reads one chunk of a stream; `text`: its JSON text. */
  abstract chunk(chunk: Fields, text: string, event: string): void;
  /** Reads a whole answer. */
  body(body: Fields, text: string): void {
    this.chunk(body, text, "");
  }
  /** The input has ended. `whole`: after a whole body or `[DONE]`, so that the answer is complete; `cut`: half a frame was left. */
  abstract end(whole: boolean, cut?: boolean): void;
  fail(error: ErrorInfo): void {
    this.finish({ error });
  }
  /** Not every error has `error`: Cerebras and Z.ai send a message and a code, TensorRT-LLM `"object": "error"`. A message alone is a note. */
  isError({ type, object, error, message, code, choices }: JsonObject): boolean {
    if (type === "error" || (error ?? undefined) !== undefined) return true;
    if (!isText(message) || choices !== undefined) return false;
    return /error/i.test(`${type} ${object}`) || ((code ?? undefined) !== undefined && !FINE.has(String(code)));
  }
  /** Called for a body or a frame that is not JSON, or not an answer. */
  broken(said: unknown, _isFrame?: boolean): void {
    const shown = isText(said) ? said : JSON.stringify(said as Json);
    const what = shown ? `an invalid answer: ${shown.slice(0, 200)}` : "no answer";
    this.fail({ code: "upstream", message: `the server sent ${what}` });
  }

  feed(text: string): Event[] {
    checkText(text);
    for (const frame of this.#frames.feed(text)) this.#read(frame);
    return this.take();
  }
  flush(): Event[] {
    let cut = false;
    for (const frame of this.#frames.flush()) {
      if (frame.data.trim() === DONE || parsed(frame.data) !== undefined) this.#read(frame);
      else cut = true;
    }
    this.end(false, cut);
    return this.take();
  }
  whole(body: unknown): Event[] {
    const value = isText(body) ? parsed(body) : body;
    if (isText(body) && this.framed.test(body)) return [...this.feed(body), ...this.flush()]; // a stream, though the server calls it JSON
    for (const one of isList(value) && value.length > 0 ? value : [value])
      if (isObject(one)) this.#object(one, isText(body) ? body : JSON.stringify(one));
      else this.broken(body);
    this.end(true);
    return this.take();
  }

  #read({ data, event }: SseEvent): void {
    if (this.finished || data === "" || this.#isAgain(data)) return;
    if (data.trim() === DONE) {
      this.end(true); // checked before parsing: a thrown error, with its stack, would cost as much as all other frames together
      return;
    }
    const said = this.said;
    if (!this.plain(data)) this.#parse(data, event);
    if (this.repeats && this.#misses++ < MAX_MISSES && this.said === said + 1) this.#remember(data);
  }

  #parse(data: string, event: string): void {
    const value = parsed(data);
    if (isObject(value)) this.#object(value, data, event);
    else if (event === "error") this.fail(readError(0, {}, data));
    else this.broken(data, true);
  }

  /**
   * Most frames of a stream differ from the frame before only in one text. Then only that text is read: parsing the frame would cost more
   * than everything else that is done with it.
   */
  #isAgain(data: string): boolean {
    if (!this.#frame) return false;
    const { before, after, isThought, say } = this.#frame;
    if (isThought && !this.isThinking) return false; // the first thought of another block, which brings the block's state
    const end = data.length - after.length;
    // Comparing slices is the fastest way in JavaScript engines.
    if (end <= before.length || data.slice(end) !== after || data.slice(0, before.length) !== before) return false;
    for (let at = before.length; at < end; at++) {
      const code = data.charCodeAt(at);
      if (code < 32 || code === 34 || code === 92) return false;
    }
    say(data.slice(before.length, end));
    this.#misses = 0;
    return true;
  }

  /** `data`: a frame that gave exactly one event. */
  #remember(data: string): void {
    const event = this.last;
    this.#frame = undefined;
    const say = event && this.#sayingLike(event);
    if (!say) return;
    const word = JSON.stringify(event.type === "tool-delta" ? event.json : (event as { text: string }).text);
    const at = data.indexOf(word);
    if (at < 0 || data.indexOf(word, at + 1) >= 0) return; // written with other escapes, or the same text twice
    this.#frame = {
      before: data.slice(0, at + 1),
      after: data.slice(at + word.length - 1),
      isThought: event.type === "thinking-delta",
      say,
    };
  }

  /** How to read the next text; `undefined`: the frame held more than a text. */
  #sayingLike(event: Event): ((text: string) => void) | undefined {
    if (event.type === "text" && !event.state) return (text) => this.text(text);
    if (event.type === "thinking-delta") return (text) => this.thinking(text);
    const { index, id, name, arguments: json, state, done } = this.fragment ?? {};
    if (event.type !== "tool-delta" || event.json !== json || json.trim() === "" || state || done) return undefined;
    return (text) => this.call({ index, id, name, arguments: text });
  }

  /** `event`: the frame's event name; absent: the value is a whole answer. */
  #object(value: JsonObject, text: string, event?: string): void {
    if (event === "error" || this.isError(value)) this.fail(readError(0, {}, value));
    else if (text.length > 2 * MAX_DEPTH && deeperThan(value, MAX_DEPTH)) this.broken(text, event !== undefined);
    else if (event === undefined) this.body(new Fields(value, this), text);
    else this.chunk(new Fields(value, this), text, event);
  }

  /** Emits data that only this wire knows, if any. `quiet`: other wires leave it out without a warning; by default its keys decide. */
  extend(data: JsonObject | undefined, quiet = data && this.quiet && Object.keys(data).every((key) => this.quiet?.has(key))): void {
    if (data) this.extension(this.wire, data, quiet);
  }
}

export const decoders = (
  Reader: new (context?: WireContext) => AnswerReader,
): Pick<Wire, "decodeResponse" | "createStreamDecoder" | "decodeError"> => ({
  decodeResponse(body, context) {
    const fold = new Folding();
    for (const event of new Reader(context).whole(body)) fold.add(event);
    return fold.response();
  },
  createStreamDecoder: (context) => new Reader(context),
  decodeError: readError,
});
