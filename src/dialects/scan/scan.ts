/**
 * The scanner's state, and the only place where events are made. A character that was read leaves as text or thinking, or waits for the next
 * event that has a `raw`: nothing can be lost. What a dialect adds is a table of marks and a few steps.
 */
import { checkText, checkTools } from "../../core/check.ts";
import { JsonWriter } from "../../core/json.ts";
import type { Event, JsonObject, MalformedCode, Tool, ToolEnd } from "../../core/nouns.ts";
import { NO_LIMIT } from "../../core/reader.ts";
import { type SchemaNode, schemaNode } from "../../core/schema.ts";
import { hasNone, type Marks } from "../../core/window.ts";
import type { Scanner, ScannerOptions } from "../dialect.ts";
import type { CallObject } from "./call-object.ts";
import type { Element } from "./elements.ts";
import { Ids } from "./ids.ts";
import { RawReader } from "./raw.ts";
import type { Table } from "./table.ts";
import type { Param } from "./values.ts";

/** One production of a grammar. It answers with the next one, or `undefined` while it needs more input. */
export type Step = (s: Scan) => Step | undefined;

/** The call that is being read. It gets its id and index with its `tool-start`. */
export interface Call {
  id: string | undefined;
  index: number;
  name: string;
  nativeId: string | undefined;
}

interface Hold {
  readonly events: Event[];
  readonly index: number;
  /** What the held calls may change, as it was before them. */
  readonly before: Pick<Scan, "unclosed" | "prose" | "marked" | "fence">;
  /** The first call commits the held events. */
  readonly promotes: boolean;
  /** The step at the limit of what is being read, once the events are committed. */
  onLimit: Step | undefined;
}

export class Scan extends RawReader implements Scanner {
  table: Table;
  readonly tools: readonly Tool[];
  readonly #maxCallChars: number;

  step: Step;
  /** A thinking block is open. */
  thinking = false;
  /** A call has ended the thinking block, whose closer may still come. */
  owed = false;
  /** A call is complete, but the closer of its block may still come. */
  unclosed = false;
  /** For calls that no mark announces: this line has only blanks so far; and there was text since the beginning or the last call. */
  lineStart = true;
  prose = false;
  /** What waits begins a line, or the answer. */
  newline = true;
  /** All was said: a piece without any of these characters is text, or thinking. */
  quiet: Uint8Array | undefined;
  /** A mark announced calls: from now on those without one do not count. */
  marked = false;
  call: Call | undefined;
  /** The arguments of the call. */
  readonly json = new JsonWriter();
  /** The current or last parameter of a call whose parameters are wrapped in tags. */
  param: Param | undefined;
  /** The open elements of a call whose arguments are nested elements. */
  elements: Element[] = [];
  /** For calls written as JSON objects: the object, flags for what surrounds it, and the mark that closes its wrapper. */
  object: CallObject | undefined;
  block = 0;
  closer = "";
  /** A mark that opens as well as closes a block: the next one closes. */
  fence = "";
  /** The step after the arguments. */
  behind: Step | undefined;
  /** In a block of several calls: the step to go on with at the mark that ends an unreadable one. */
  resume: ((mark: string) => Step) | undefined;
  /** Why the current block is unreadable. `mention`: unless a closer follows, its mark was only mentioned, and all of it is text. */
  fault: { code: MalformedCode; reason: string; mention: boolean } | undefined;

  /** Most pieces give one event, and a list made with one element is cheaper than an empty one that grows. */
  #out: Event[] | undefined;
  #held: Hold | undefined;
  /** The last tool that was looked up, and its schema. */
  #tool: Tool | undefined;
  #schema: SchemaNode | undefined;
  #index = 0;
  readonly #ids: Ids;
  /** How many of the waiting characters, from the first on, are marks and never text. */
  #marks = 0;
  /** How many characters may still come before a limit is reached; and the step that is taken then. */
  #room = NO_LIMIT;
  #onLimit: Step | undefined;

  constructor(table: Table, options: ScannerOptions, mintId?: (n: number) => string) {
    super(options.maxDepth ?? 256);
    this.table = table;
    this.tools = options.tools ?? [];
    checkTools(this.tools);
    this.#maxCallChars = Math.min(Math.max(1, options.maxCallChars ?? 8_388_608), NO_LIMIT);
    this.#ids = new Ids(options.mintId ?? mintId);
    this.step = table.start;
    this.stops = table.stops;
  }

  feed(text: string): Event[] {
    checkText(text);
    if (text === "" || this.ended) return [];
    // Most pieces merely continue text or an incomplete mark, and need no step.
    const { quiet } = this;
    if (quiet !== undefined && hasNone(text, quiet)) return [this.#saying(text)];
    this.quiet = undefined;
    this.#room -= text.length;
    if (this.half !== undefined && this.#room > 0 && this.addHalf(text)) return [];
    this.half = undefined;
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
      // The limit acts at this very character, wherever the pieces were cut; but an incomplete mark that may end the block is left for later.
      const { text, pos, stop } = this;
      if (this.waitingRead === 0 || this.ends.at(text, pos, stop, false) !== undefined) this.pos = stop;
      this.step = this.#onLimit;
      this.half = undefined;
    }
    this.#sayDelta();
    const out = this.#out ?? [];
    this.#out = undefined;
    return out;
  }

  // ---- limits

  /** Lets at most `maxCallChars` characters wait, or `least` if that is more; beyond them `onLimit` is the next step. */
  bound(onLimit: Step, least = 0): void {
    if (this.#held) {
      this.#held.onLimit = onLimit;
      return;
    }
    this.#onLimit = onLimit;
    this.#room = Math.max(this.#maxCallChars, least) - this.waiting;
    this.#limit();
  }
  unbound(): void {
    if (this.#held) {
      this.#held.onLimit = undefined;
      return;
    }
    this.#onLimit = undefined;
    this.#room = NO_LIMIT;
    this.stopAt(this.end);
  }
  #limit(): void {
    if (this.#onLimit === undefined) this.#room = NO_LIMIT;
    this.stopAt(this.#room < 0 ? Math.max(this.pos, this.end + this.#room) : this.end);
  }

  /** The marks that end an unreadable block: inside thinking that a call has ended or may end, also the closer of the thinking. */
  get ends(): Marks {
    return this.#held || this.owed ? this.table.endsHeld : this.table.ends;
  }

  // ---- what waits

  /** Takes all that was read and that no event has taken. */
  takeRaw(): string {
    const raw = this.cutRaw();
    this.#marks = 0;
    this.newline = false;
    if (this.#onLimit !== undefined && !this.#held) this.#room += raw.length;
    return raw;
  }

  /** All waiting characters that were read so far are marks, and never text, even if no call follows. */
  keepMarks(): void {
    this.#marks = this.waitingRead;
  }

  // ---- text and thinking

  #emit(event: Event): void {
    if (this.#held !== undefined) this.#held.events.push(event);
    else if (this.#out === undefined) this.#out = [event];
    else if (this.#out.length === 1)
      this.#out = [this.#out[0] as Event, event]; // a list that grows would make room for many more
    else this.#out.push(event);
  }

  /** Emits what the last question passed over, as text or thinking. Only where nothing else waits. */
  sayRun(): void {
    if (this.from === this.pos) return;
    this.#say(this.cutRaw());
  }
  /** Emits what waits as text or thinking, except its marks; with `length`, only that many characters at its end. The rest is `control`. */
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
    this.newline = text.charCodeAt(text.length - 1) === 10;
    return this.thinking ? { type: "thinking-delta", text } : { type: "text", text };
  }

  /** Makes a `control` event of what waits, if anything does. */
  control(): void {
    const raw = this.takeRaw();
    if (raw !== "") this.#emit({ type: "control", raw });
  }

  openThinking(): void {
    this.thinking = true;
    this.owed = false;
    this.lineStart = true;
    const raw = this.takeRaw();
    this.#emit({ type: "thinking-start", ...(raw !== "" && { raw }) });
  }
  closeThinking(carriesRaw = true): void {
    this.thinking = false;
    this.#emit({ type: "thinking-end", ...(carriesRaw && { raw: this.takeRaw() }) });
    this.lineStart = this.newline = true;
  }

  // ---- calls

  /** Something begins that may be a call. */
  openCall(): Call {
    this.param = undefined;
    this.json.clear();
    this.call = { id: undefined, index: -1, name: "", nativeId: undefined };
    return this.call;
  }

  /** The name is known: `tool-start` leaves. An id that the model wrote before the arguments is the call's id. */
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

  #sayDelta(whole = false): void {
    const call = this.call;
    if (call?.id === undefined) return;
    const json = this.json.take(whole);
    if (json !== "") this.#emit({ type: "tool-delta", id: call.id, json });
  }

  /** The call ends, or is cut here. An id that the model wrote after `tool-start` can only be its `nativeId`. */
  endCall(truncated = false, lateId?: string): void {
    const call = this.call;
    if (call?.id === undefined) return;
    const { json } = this;
    const { id, index, name, nativeId = lateId?.trim() ? lateId : undefined } = call;
    if (!truncated && !json.complete) {
      json.open(false);
      json.shut();
    }
    this.#sayDelta(!truncated);
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
    this.#emit({ type: "malformed", raw: this.takeRaw(), code, reason, ...(id !== undefined && { id }) });
    this.call = undefined;
    this.fault = undefined;
    this.lineStart = true;
    this.unbound();
  }

  // ---- calls inside thinking that may turn out to be thinking

  get holding(): boolean {
    return this.#held !== undefined;
  }
  /** Events are held, and no call is among them. */
  get holdsNoCall(): boolean {
    return this.#held?.index === this.#index;
  }
  /**
   * Holds all further events until `commit` or `undo`, or until they have as many characters as a call may have: then `onLimit` is the next
   * step. With `promotes` the first call commits them.
   */
  hold(onLimit: Step, promotes = false): void {
    this.bound(onLimit);
    const { unclosed, prose, marked, fence } = this;
    this.#held = { events: [], index: this.#index, before: { unclosed, prose, marked, fence }, promotes, onLimit: undefined };
  }
  commit(): void {
    const held = this.#held;
    if (!held) return;
    this.#held = undefined;
    this.unbound();
    if (held.onLimit) this.bound(held.onLimit);
    for (const event of held.events) this.#emit(event);
  }
  /** Drops the held events, whose text turned out to be thinking. Answers with that text. */
  undo(): string {
    const held = this.#held;
    if (!held) return "";
    this.#held = undefined;
    this.#index = held.index;
    for (const event of held.events) if (event.type === "tool-start") this.#ids.forget(event.id);
    Object.assign(this, held.before);
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

/** The part of the input that an event of a scanner carries. */
export const bytesOf = (event: Event): string => ("text" in event ? event.text : ("raw" in event && event.raw) || "");
