/**
 * The scanner's state, and the only place where events are made. Every character that is read either leaves as text or thinking, or
 * waits in `raw` for the next event that carries it: nothing can be lost. A dialect adds a table of marks and a few steps.
 */
import { checkText } from "../../core/check.ts";
import { JsonWriter } from "../../core/json.ts";
import type { Event, JsonObject, MalformedCode, Tool, ToolEnd } from "../../core/nouns.ts";
import { NO_LIMIT } from "../../core/reader.ts";
import { type SchemaNode, schemaNode } from "../../core/schema.ts";
import { hasNone } from "../../core/window.ts";
import type { Scanner, ScannerOptions } from "../dialect.ts";
import type { CallObject } from "./call-object.ts";
import type { Element } from "./elements.ts";
import { Ids } from "./ids.ts";
import { RawReader } from "./raw.ts";
import type { Table } from "./table.ts";
import type { Param } from "./values.ts";

/** One production. It answers with the next one, or `undefined` while it needs more input. */
export type Step = (s: Scan) => Step | undefined;

/** A call that is being read. It has an id and an index once its `tool-start` has left. */
export interface Call {
  id: string | undefined;
  index: number;
  name: string;
  nativeId: string | undefined;
}

interface Hold {
  readonly events: Event[];
  readonly index: number;
  /** The first call decides that they leave. */
  readonly promotes: boolean;
}

export class Scan extends RawReader implements Scanner {
  table: Table;
  readonly tools: readonly Tool[];
  readonly #maxCallChars: number;

  step: Step;
  /** The thinking block is open. */
  thinking = false;
  /** A call ended the thinking block; its closer may still come. */
  owed = false;
  /** A call is complete, but not its block; the closer may still come. */
  unclosed = false;
  /** For the forms without a mark: only blanks stand on this line yet; and something was said since the beginning or the last call. */
  lineStart = true;
  prose = false;
  /** A mark announced calls: the forms without one are off. */
  marked = false;
  call: Call | undefined;
  /** Writes the arguments of the call. */
  readonly json = new JsonWriter();
  /** The parameter that is being read, or was read last. */
  param: Param | undefined;
  /** The elements that are open, from the call on. */
  elements: Element[] = [];
  /** For calls written as JSON objects: the object, what stands around it, as flags, and what closes that. */
  object: CallObject | undefined;
  block = 0;
  closer = "";
  /** The same mark opens and closes what stands here: it closes next. */
  fence = "";
  /** The step behind the arguments. */
  behind: Step | undefined;
  /** In a block of several calls: where to go on at a mark behind one that cannot be read. */
  resume: ((mark: string) => Step) | undefined;
  /** Why the block that is being passed over cannot be read. `mention`: unless something closes it, somebody only speaks of its mark. */
  fault: { code: MalformedCode; reason: string; mention: boolean } | undefined;

  /** Most pieces make one event: a list of one is cheaper than an empty one that grows. */
  #out: Event[] | undefined;
  #held: Hold | undefined;
  /** The tool that was asked for last. */
  #tool: Tool | undefined;
  #schema: SchemaNode | undefined;
  #index = 0;
  readonly #ids: Ids;
  /** So many characters of the raw are marks, whatever becomes of the rest. */
  #marks = 0;
  /** So many characters may still come before a limit is reached; and what decides then. */
  #room = NO_LIMIT;
  #onLimit: Step | undefined;
  /** The last character before the raw, if that was text: is it a newline? */
  #newline = true;

  constructor(table: Table, options: ScannerOptions, mintId?: (n: number) => string) {
    super(options.maxDepth ?? 256);
    this.table = table;
    this.tools = options.tools ?? [];
    this.#maxCallChars = Math.min(Math.max(1, options.maxCallChars ?? 8_388_608), NO_LIMIT);
    this.#ids = new Ids(options.mintId ?? mintId);
    this.step = table.start;
    this.stops = table.stops;
  }

  feed(text: string): Event[] {
    checkText(text);
    if (text === "" || this.ended) return [];
    const { quiet, call } = this;
    this.#room -= text.length;
    // Most pieces are nothing but text, or a part of a string, a word or a mark.
    const calm = this.#room > 0 && this.#held === undefined;
    if (calm && quiet !== undefined && hasNone(text, quiet)) {
      if (this.wordMax > 0) {
        if (this.word.length + text.length <= this.wordMax) {
          this.keepPiece();
          this.skip(text);
          this.word += text;
          return [];
        }
      } else if (call === undefined) {
        this.#room = NO_LIMIT;
        return [this.#saying(text)];
      } else if (call.id !== undefined) {
        this.keepPiece();
        this.skip(text);
        this.json.pass(text);
        return [{ type: "tool-delta", id: call.id, json: text }];
      }
    }
    this.keepPiece();
    if (calm && this.half !== undefined && this.addHalf(text)) return [];
    this.quiet = undefined;
    this.add(text);
    if (this.#room < 0) this.#limit();
    return this.#drain();
  }

  flush(): Event[] {
    if (this.ended) return [];
    this.finish();
    if (this.#room < 0) this.#limit();
    const out = this.#drain();
    if (this.thinking) out.push({ type: "thinking-end" });
    return out;
  }

  #drain(): Event[] {
    for (;;) {
      for (let next = this.step(this); next; next = this.step(this)) this.step = next;
      if (this.stop === this.end || !this.#onLimit) break;
      // The limit was reached at this very character, wherever the pieces were cut; but half a mark that ends the block stays whole.
      const { codes, pos, stop } = this;
      if (this.waitingRead === 0 || this.table.ends.at(codes, pos, stop, false) !== undefined) this.pos = stop;
      this.step = this.#onLimit;
      this.quiet = this.half = undefined;
    }
    this.#sayDelta();
    const out = this.#out ?? [];
    this.#out = undefined;
    return out;
  }

  // ---- limits

  /** From the first character of the raw on, at most `maxCallChars` are read, or so many if that is more; then `onLimit` decides. */
  bound(onLimit: Step, least = 0): void {
    if (this.#held) return;
    this.#onLimit = onLimit;
    this.#room = Math.max(this.#maxCallChars, least) - this.waiting;
    this.#limit();
  }
  unbound(): void {
    if (this.#held) return;
    this.#onLimit = undefined;
    this.#room = NO_LIMIT;
    this.stopAt(this.end);
  }
  #limit(): void {
    if (this.#onLimit === undefined) this.#room = NO_LIMIT;
    this.stopAt(this.#room < 0 ? Math.max(this.pos, this.end + this.#room) : this.end);
  }

  // ---- what waits

  /** Takes all that was read and has not left yet. */
  takeRaw(): string {
    const raw = this.cutRaw();
    this.#marks = 0;
    this.#newline = false;
    if (this.#onLimit !== undefined && !this.#held) this.#room += raw.length;
    return raw;
  }

  /** What was read so far is never text, even if no call follows. */
  keepMarks(): void {
    this.#marks = this.waitingRead;
  }

  /** Whether the raw begins where a line does, or all input. */
  get beginsLine(): boolean {
    return this.#newline;
  }

  // ---- what is said

  #emit(event: Event): void {
    if (this.#held !== undefined) this.#held.events.push(event);
    else if (this.#out === undefined) this.#out = [event];
    else if (this.#out.length === 1)
      this.#out = [this.#out[0] as Event, event]; // a list that grows makes room for many
    else this.#out.push(event);
  }

  /** Says what the last question passed over. Only where nothing else waits. */
  sayRun(): void {
    if (this.from === this.pos) return;
    this.#say(this.cutRaw());
  }
  /** Says all that waits but for its marks, or only the last `length` characters: what stands before them is control. */
  sayRaw(length?: number): string {
    const marks = this.#marks;
    const raw = this.takeRaw();
    const from = length === undefined ? marks : raw.length - length;
    const text = raw.slice(from);
    if (from > 0) this.#emit({ type: "control", raw: raw.slice(0, from) });
    if (text !== "") this.#say(text);
    return text;
  }
  #say(text: string): void {
    this.#emit(this.#saying(text));
  }
  #saying(text: string): Event {
    this.#newline = text.charCodeAt(text.length - 1) === 10;
    return this.thinking ? { type: "thinking-delta", text } : { type: "text", text };
  }

  /** Whether there was anything to say. */
  control(): boolean {
    const raw = this.takeRaw();
    if (raw !== "") this.#emit({ type: "control", raw });
    return raw !== "";
  }

  openThinking(): void {
    this.thinking = true;
    this.lineStart = true;
    const raw = this.takeRaw();
    this.#emit(raw === "" ? { type: "thinking-start" } : { type: "thinking-start", raw });
  }
  closeThinking(carriesRaw = true): void {
    this.thinking = false;
    this.lineStart = true;
    this.#emit(carriesRaw ? { type: "thinking-end", raw: this.takeRaw() } : { type: "thinking-end" });
  }

  // ---- calls

  /** A call may be beginning. */
  openCall(): Call {
    this.param = undefined;
    this.json.clear();
    this.call = { id: undefined, index: -1, name: "", nativeId: undefined };
    return this.call;
  }

  /** The name is known: `tool-start` leaves. An id that the model wrote before it is the call's id. */
  startCall(name: string, id?: string): Call {
    const call = this.call ?? this.openCall();
    call.name = name;
    call.index = this.#index;
    const own = id?.trim() ? id : undefined;
    call.id = this.#ids.of(call.index, own);
    call.nativeId = own;
    this.#index++;
    this.#emit({ type: "tool-start", id: call.id, index: call.index, name });
    if (this.#held?.promotes) {
      this.commit();
      this.owed = true;
    }
    return call;
  }

  #sayDelta(): void {
    const call = this.call;
    if (call?.id === undefined) return;
    const json = this.json.take();
    if (json !== "") this.#emit({ type: "tool-delta", id: call.id, json });
  }

  /** The call ends, or is cut here. An id that the model wrote behind the name cannot change the call's. */
  endCall(truncated = false, lateId?: string): void {
    const call = this.call;
    if (call?.id === undefined) return;
    const { json } = this;
    const { id, index, name, nativeId = lateId?.trim() ? lateId : undefined } = call;
    if (!truncated && !json.complete) {
      json.open(false);
      json.shut();
    }
    this.#sayDelta();
    const end: ToolEnd = { type: "tool-end", id, index, name, arguments: (json.value ?? {}) as JsonObject, raw: this.takeRaw() };
    if (truncated) end.truncated = true;
    else end.json = json.text;
    if (nativeId !== undefined) end.nativeId = nativeId;
    this.#emit(end);
    this.call = undefined;
    this.unclosed = true;
    this.unbound();
  }

  malformed(code: MalformedCode, reason: string): void {
    this.#sayDelta();
    const id = this.call?.id;
    const event = { type: "malformed", raw: this.takeRaw(), code, reason } as const;
    this.#emit(id === undefined ? event : { ...event, id });
    this.call = undefined;
    this.fault = undefined;
    this.lineStart = true;
    this.unbound();
  }

  // ---- calls inside thinking that may turn out to be thinking

  get holding(): boolean {
    return this.#held !== undefined;
  }
  /** Events wait, and no call is among them. */
  get holdsNoCall(): boolean {
    return this.#held?.index === this.#index;
  }
  /**
   * From here on events wait for `commit` or `undo`; for as many characters as a call may have, then `onLimit` decides. `promotes`: or for
   * the first call, which commits them.
   */
  hold(onLimit: Step, promotes = false): void {
    this.bound(onLimit);
    this.#held = { events: [], index: this.#index, promotes };
  }
  commit(): void {
    const held = this.#held;
    if (!held) return;
    this.#held = undefined;
    this.unbound();
    for (const event of held.events) this.#emit(event);
  }
  /** All that waits is thinking after all; the text of it. */
  undo(): string {
    const held = this.#held;
    if (!held) return "";
    this.#held = undefined;
    this.#index = held.index;
    for (const event of held.events) if (event.type === "tool-start") this.#ids.forget(event.id);
    this.call = undefined;
    this.fault = undefined;
    this.unbound();
    this.thinking = true;
    this.lineStart = false;
    const text = held.events.map(bytesOf).join("") + this.takeRaw();
    if (text !== "") this.#emit({ type: "thinking-delta", text });
    return text;
  }

  // ---- tools

  toolNamed(name: string): Tool | undefined {
    if (this.#tool?.name !== name) {
      this.#tool = this.tools.find((tool) => tool.name === name);
      this.#schema = schemaNode(this.#tool?.parameters);
    }
    return this.#tool;
  }
  schemaOf(name: string): SchemaNode | undefined {
    return this.toolNamed(name) && this.#schema;
  }
  declares(name: string): boolean {
    return this.toolNamed(name) !== undefined;
  }
}

/** The input that an event carries. */
export function bytesOf(event: Event): string {
  switch (event.type) {
    case "text":
    case "thinking-delta":
      return event.text;
    case "thinking-start":
    case "thinking-end":
    case "tool-end":
    case "malformed":
    case "control":
      return event.raw ?? "";
    default:
      return "";
  }
}
