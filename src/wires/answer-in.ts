/** What the decoders of all wires share: the frames of a stream, or one whole body, are read into events. */
import { checkText } from "../core/check.ts";
import { Folding } from "../core/folding.ts";
import { isObject } from "../core/json.ts";
import type { ErrorInfo, Event, Json, JsonObject, WireId } from "../core/nouns.ts";
import { readError } from "./errors.ts";
import { EventWriter } from "./events.ts";
import { deeperThan, Fields, MAX_DEPTH, type Reading } from "./fields.ts";
import { isList, isText, parsed } from "./read.ts";
import { type SseEvent, SseReader } from "./sse.ts";
import type { StreamDecoder, Wire, WireContext } from "./wire.ts";

/** Cuts text into frames, wherever its pieces end. */
export interface Framing {
  feed(text: string): SseEvent[];
  /** What is left at the end. */
  flush(): SseEvent[];
}

/** How OpenAI's servers say that a stream is over, and some others. */
const DONE = "[DONE]";
/** How server-sent events begin, and no JSON does. */
const FRAMED = /^\s*(data|event|id|retry)?:/;

/** Codes that say that nothing is wrong. */
const FINE: ReadonlySet<string> = new Set(["0", "200"]);

/** How often a frame may differ from the one before it until nobody looks any more. */
const MAX_MISSES = 8;

export abstract class AnswerReader extends EventWriter implements StreamDecoder, Reading {
  abstract readonly wire: WireId;
  /** Keys that no other wire need speak of. */
  readonly quiet?: ReadonlySet<string>;
  readonly #frames = this.framing();
  /** A frame that said nothing but one text, without that text; and how many frames in a row were not like it. */
  #frame: { before: string; after: string; say: (text: string) => void } | undefined;
  #misses = 0;

  framing(): Framing {
    return new SseReader();
  }
  /** What a frame that says one text means depends on nothing but that text, if all else in it is as in the frame before. */
  readonly repeats: boolean = false;
  /** Whether a frame is one of those that need not be parsed; then it has been read. */
  plain(_data: string): boolean {
    return false;
  }
  /** One chunk; `text` is how it was written. */
  abstract chunk(chunk: Fields, text: string, event: string): void;
  /** A whole answer. */
  body(body: Fields, text: string): void {
    this.chunk(body, text, "");
  }
  /** Nothing more comes. `whole`: it needs no word to be over; `cut`: half a frame was left. */
  abstract end(whole: boolean, cut?: boolean): void;
  fail(error: ErrorInfo): void {
    this.finish({ error });
  }
  /** Some do not call it one: Cerebras and Z.ai have a message and a code, TensorRT-LLM has `"object": "error"`. A message alone is a note. */
  isError({ type, object, error, message, code, choices }: JsonObject): boolean {
    if (type === "error" || (error ?? undefined) !== undefined) return true;
    if (!isText(message) || choices !== undefined) return false;
    return /error/i.test(`${type} ${object}`) || ((code ?? undefined) !== undefined && !FINE.has(String(code)));
  }
  /** A frame that is no JSON. */
  broken(said: unknown): void {
    const shown = isText(said) ? said : JSON.stringify(said as Json);
    this.fail({ code: "upstream", message: `the server sent what is no answer: ${shown?.slice(0, 200)}` });
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
    if (isText(body) && FRAMED.test(body)) return [...this.feed(body), ...this.flush()]; // a stream that goes by the name of JSON
    const one: unknown = isList(value) ? value[0] : value; // Gemini's may come in a list
    if (isObject(one)) this.#object(one, isText(body) ? body : JSON.stringify(body));
    else this.broken(body);
    this.end(true);
    return this.take();
  }

  #read({ data, event }: SseEvent): void {
    if (this.finished || data === "" || this.#isAgain(data)) return;
    if (data === DONE) {
      this.end(true); // before it is parsed: an error, with its stack, would cost as much as all other frames together
      return;
    }
    const said = this.said;
    if (!this.plain(data)) this.#parse(data, event);
    if (this.repeats && this.#misses++ < MAX_MISSES && this.said === said + 1) this.#remember(data);
  }

  #parse(data: string, event: string): void {
    const value = parsed(data);
    if (isObject(value)) this.#object(value, data, event);
    else if (data.trim() === DONE) this.end(true);
    else if (event === "error") this.fail(readError(0, {}, data));
    else this.broken(data);
  }

  /**
   * Most frames of a stream are the frame before with another word in it. Then the word is all there is to read: parsing the frame would
   * cost more than everything else that is done with it.
   */
  #isAgain(data: string): boolean {
    if (!this.#frame) return false;
    const { before, after, say } = this.#frame;
    const end = data.length - after.length;
    // Comparing slices is what engines do fastest.
    if (end <= before.length || data.slice(end) !== after || data.slice(0, before.length) !== before) return false;
    for (let at = before.length; at < end; at++) {
      const code = data.charCodeAt(at);
      if (code < 32 || code === 34 || code === 92) return false;
    }
    say(data.slice(before.length, end));
    this.#misses = 0;
    return true;
  }

  /** `data`: a frame that said one thing. */
  #remember(data: string): void {
    const event = this.last;
    this.#frame = undefined;
    const say = event && this.#sayingLike(event);
    if (!say) return;
    const word = JSON.stringify(event.type === "tool-delta" ? event.json : (event as { text: string }).text);
    const at = data.indexOf(word);
    if (at < 0 || data.indexOf(word, at + 1) >= 0) return; // spelled otherwise, or something else is called like it
    this.#frame = { before: data.slice(0, at + 1), after: data.slice(at + word.length - 1), say };
  }

  /** How to say the next word; `undefined`: more was said than a word. */
  #sayingLike(event: Event): ((text: string) => void) | undefined {
    if (event.type === "text" && !event.state) return (text) => this.text(text);
    if (event.type === "thinking-delta") return (text) => this.thinking(text);
    const { index, id, name, arguments: json, state, done } = this.fragment ?? {};
    if (event.type !== "tool-delta" || event.json !== json || json.trim() === "" || state || done) return undefined;
    return (text) => this.call({ index, id, name, arguments: text });
  }

  /** `event`: it is a chunk of a stream. */
  #object(value: JsonObject, text: string, event?: string): void {
    if (event === "error" || this.isError(value)) this.fail(readError(0, {}, value));
    else if (text.length > 2 * MAX_DEPTH && deeperThan(value, MAX_DEPTH)) this.broken(text);
    else if (event === undefined) this.body(new Fields(value, this), text);
    else this.chunk(new Fields(value, this), text, event);
  }

  /** What only this wire knows, if there is anything. `quiet`: no other wire need say that it left it out; otherwise its keys tell. */
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
