/**
 * What the encoders of all wires share. An answer is written chunk by chunk; an answer that is not streamed is assembled from the same
 * chunks, as a client would do it, so that both have the same content.
 */
import { CUT_OFF } from "../core/errors.ts";
import { isObject } from "../core/json.ts";
import type { ErrorInfo, Event, Finish, JsonObject, Opaque, Request, Response, ToolEnd, Usage, WireId } from "../core/nouns.ts";
import { Pile } from "../core/pile.ts";
import { eventsOf } from "../core/unfold.ts";
import { isForced } from "./adapt.ts";
import { isOutOfOrder, MIXED, SORTED } from "./adapt-messages.ts";
import type { Thought } from "./capsule.ts";
import { theMark } from "./raw.ts";
import { Warnings } from "./warnings.ts";
import type { Draft, EncoderOptions, StreamEncoder, Wire } from "./wire.ts";

export type ToolStart = Extract<Event, { type: "tool-start" }>;

export const CUT_CALL = "a call that was cut";

export abstract class Answer implements StreamEncoder {
  readonly request: Request;
  readonly options: EncoderOptions;
  /** The client does not want to see thinking. */
  readonly hidden: boolean;
  readonly warnings: Warnings;
  id: string | undefined;
  model: string;
  usage: Usage | undefined;
  /** The end has been sent: nothing may follow it. */
  over = false;
  /** The thinking since the last call. */
  #thoughts: { text: Pile; state: readonly Opaque[]; behind: number }[] = [];
  /** How many calls began. */
  #calls = 0;
  /** How many characters of text there were since the last call. */
  #said = 0;
  /** The chunks of an answer that is not streamed. */
  chunks: Draft[] | undefined;
  #failure: Draft | undefined;
  #text = "";
  /** The text before and after the word in chunks of the kind that was printed last. */
  #before = "";
  #after = "";
  #kind: string | undefined;
  readonly #wire: WireId;

  constructor(wire: WireId, request: Request, options: EncoderOptions = {}) {
    this.#wire = wire;
    this.request = request;
    this.options = options;
    this.model = request.model;
    this.hidden = request.thinking?.show === false;
    this.warnings = new Warnings(wire, options.warn);
  }

  // What each wire defines

  /** The wire can name the stop string that ended the answer. */
  readonly saysStop: boolean = false;
  /** Thinking, text and calls have one place each: their order is lost. */
  readonly sorts: boolean = false;
  /** Calls are sent whole: one that was cut or cannot be read is left out. */
  readonly wholeCalls: boolean = false;
  /** The text of thinking is kept, for clients that send it back only if a call or a signature carries it. */
  readonly keepsThoughts: boolean = false;
  abstract text(text: string, state?: readonly Opaque[]): void;
  abstract thinking(text: string): void;
  abstract callEnd(call: ToolEnd): void;
  abstract finish(finish: Finish): void;
  abstract readonly errorBody: (error: ErrorInfo) => object;
  abstract beat(): void;
  abstract print(chunk: Draft): string;
  abstract body(chunks: readonly Draft[]): unknown;

  begin(): void {}
  thinkingStart(_state?: readonly Opaque[]): void {}
  thinkingEnd(state: readonly Opaque[]): void {
    const thought = this.#thoughts.at(-1);
    if (thought) thought.state = state;
  }
  callStart(_call: ToolStart): void {}
  callDelta(_json: string): void {}
  refusal(text: string): void {
    this.warnings.converted("a refusal", "text");
    this.text(text);
  }
  /** Whether this wire has a place for another wire's state of a text. */
  carries(_opaque: Opaque): boolean {
    return false;
  }
  /** An extension of this wire's own. */
  own(_data: JsonObject): void {}
  malformed({ id, reason }: Extract<Event, { type: "malformed" }>): void {
    if (id === undefined || this.wholeCalls) this.warnings.dropped("a call that cannot be read");
    else this.fail({ code: "malformed-call", message: `a tool call that cannot be read: ${reason}` }); // its beginning has already been sent
  }
  fail(error: ErrorInfo, _finish?: Finish): void {
    this.over = true;
    this.#failure = { ...this.errorBody(error) };
    this.send(this.#failure);
  }

  // Sending

  send(chunk: Draft): void {
    if (this.chunks) this.chunks.push(chunk);
    else this.say(this.print(chunk));
  }
  /** Sends a chunk that holds one text. As long as chunks of the same kind follow, only their texts are printed anew. */
  word(kind: string, word: string, chunkOf: (word: string) => Draft): void {
    if (this.chunks) {
      this.chunks.push(chunkOf(word));
      return;
    }
    if (this.#kind !== kind) {
      this.#kind = kind;
      [this.#before = "", this.#after = ""] = this.print(chunkOf(theMark())).split(JSON.stringify(theMark()));
    }
    this.say(this.#before + this.quoted(word) + this.#after);
  }
  quoted(word: string): string {
    return JSON.stringify(word);
  }
  /** Sends text as it is; an answer that is not streamed has no place for it. */
  say(text: string): void {
    if (!this.chunks) this.#text += text;
  }

  encode(event: Event): string {
    if (!this.over) this.#add(event);
    return this.#take();
  }
  end(): string {
    if (!this.over) this.fail(CUT_OFF);
    return this.#take();
  }
  heartbeat(): string {
    if (!this.over) this.beat();
    return this.#take();
  }
  whole(response: Response): unknown {
    this.chunks = [];
    const content = response.content.filter((part) => {
      const left = part.type === "media" ? "media that the model made" : part.type === "tool-call" && part.truncated ? CUT_CALL : undefined;
      if (left) this.warnings.dropped(left);
      return !left;
    });
    if (this.sorts && isOutOfOrder(content)) this.warnings.converted(MIXED, SORTED);
    for (const event of eventsOf({ finish: { reason: "stop" }, ...response, content })) this.encode(event);
    return this.#failure ?? this.body(this.chunks);
  }

  #take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  #add(event: Event): void {
    switch (event.type) {
      case "start":
        this.id = event.id;
        this.model = event.model ?? this.model;
        this.begin();
        break;
      case "text":
        if (event.state) this.warnings.foreign(event.state.filter((opaque) => !this.carries(opaque)));
        this.#said += event.text.length;
        this.text(event.text, event.state);
        break;
      case "thinking-start":
        this.thinkingStart(event.state);
        this.#thoughts.push({ text: new Pile(), state: [], behind: this.#said });
        break;
      case "thinking-delta":
        if (this.keepsThoughts) this.#thoughts.at(-1)?.text.add(event.text);
        this.thinking(event.text);
        break;
      case "thinking-end":
        this.thinkingEnd(event.state ?? []);
        break;
      case "tool-start":
        if (this.request.toolChoice === "none") this.warnings.add("tool-choice", `${event.name} was called although no calls are allowed`);
        this.#calls++;
        this.callStart(event);
        break;
      case "tool-delta":
        this.callDelta(event.json);
        break;
      case "tool-end":
        if (event.truncated && this.wholeCalls) this.warnings.dropped(CUT_CALL);
        else this.callEnd(event);
        break;
      case "malformed":
        this.malformed(event);
        break;
      case "refusal":
        this.refusal(event.text);
        break;
      case "extension":
        if (event.wire === this.#wire && isObject(event.data)) this.own(event.data);
        else if (!event.quiet) this.warnings.dropped(`data that only ${event.wire} knows`);
        break;
      case "usage":
        this.usage = this.usage ? { ...this.usage, ...event } : event;
        break;
      case "finish":
        for (const { state } of this.#thoughts) this.warnings.foreign(state); // no call followed that could carry it
        if (event.stop !== undefined && !this.saysStop) this.warnings.dropped("the answer's stop string");
        this.#checkCalls(event);
        this.over = true;
        if (event.reason === "error") this.fail(event.error ?? CUT_OFF, event);
        else this.finish(event);
    }
  }

  /** Warns if the calls are not what the request demands. */
  #checkCalls({ reason }: Finish): void {
    const { parallelCalls } = this.request;
    if (isForced(this.request) && this.#calls === 0 && reason === "stop")
      this.warnings.add("tool-choice", "no tool was called although one is required");
    if (parallelCalls === false && this.#calls > 1)
      this.warnings.add("tool-choice", "several calls were made although only one is allowed");
  }

  /** The thinking since the last call, to be carried by the next. */
  takeThoughts(): Thought[] {
    const thoughts = this.#thoughts.map(({ text, ...thought }) => ({ ...thought, thinking: text.toString() }));
    this.#thoughts = [];
    this.#said = 0;
    return thoughts;
  }

  /** The answer's id; one without an id gets a unique one. */
  named(prefix: string): string {
    this.id ??= this.options.mintId?.(0) ?? `${prefix}${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`;
    return this.id;
  }
  now(): Date {
    return this.options.now?.() ?? new Date();
  }
}

export const encoders = (
  wire: WireId,
  Writer: new (wire: WireId, request: Request, options?: EncoderOptions) => Answer,
): Pick<Wire, "encodeResponse" | "createStreamEncoder"> => ({
  encodeResponse: (response, request, options) => new Writer(wire, request, options).whole(response),
  createStreamEncoder: (request, options) => new Writer(wire, request, options),
});
