/**
 * Turns tool calls as servers really send them (in fragments, numbered wrongly, without ids, interleaved) into well-formed events, one call
 * after the other. A fragment's `index` decides which call it belongs to; its id, its name and whether the call is complete break ties.
 */
import { deeperThan } from "../core/check.ts";
import { escapeJson, isObject } from "../core/json.ts";
import type { Event, Json, JsonObject, MalformedCode, Opaque } from "../core/nouns.ts";
import { Pile } from "../core/pile.ts";
import { schemaNode } from "../core/schema.ts";
import { Balance, partialObject } from "./json-text.ts";
import { ownName } from "./names.ts";
import { entryOf, isText, parsed } from "./read.ts";
import { withoutNulls } from "./spans.ts";
import type { WireContext } from "./wire.ts";

/** The context of a request that was sent unchanged. */
export const NO_CONTEXT: WireContext = { names: {}, warnings: [] };

/** No scanner reads calls that nest deeper, so deeper arguments cannot have been a call. */
const MAX_CALL_DEPTH = 256;

interface Unreadable {
  code: MalformedCode;
  reason: string;
}

const NAMELESS: Unreadable = { code: "no-name", reason: "the call has no name" };

/** Parses a call's arguments. Blank text and `null` mean `{}`. Some servers encode the JSON twice, as a string that holds JSON text. */
export function parseArguments(text: string): { arguments: JsonObject } | Unreadable {
  const given = /^\s*(null\s*)?$/.test(text) ? {} : parsed(text);
  const value = isText(given) ? parsed(given) : given;
  if (!isObject(value)) return { code: "bad-arguments", reason: "the arguments are not the JSON text of an object" };
  if (!deeperThan(value, MAX_CALL_DEPTH)) return { arguments: value };
  return { code: "too-deep", reason: `the arguments nest deeper than ${MAX_CALL_DEPTH} levels` };
}

/** The `raw` of an unreadable call: the same form for every wire, so that any wire can send the call on. */
export const malformedRaw = (name: string, args: Json): string => JSON.stringify({ name, arguments: args });

/** Reads what `malformedRaw` wrote. */
export function readMalformed(raw: string): { name: string; arguments: Json } | undefined {
  const value = parsed(raw);
  return isObject(value) && isText(value.name) ? { name: value.name, arguments: value.arguments ?? "" } : undefined;
}

export interface CallFragment {
  index?: number | undefined;
  id?: string | undefined;
  name?: string | undefined;
  /** The next piece of JSON text, or all the arguments as an object. */
  arguments?: string | JsonObject | null | undefined;
  /** The next piece of a custom call's plain text, which becomes `{"input": …}`. */
  input?: string | undefined;
  state?: Opaque[] | undefined;
  /** The server says that this call has ended. */
  done?: boolean | undefined;
  /** The server says that this call was cut, even if its JSON looks complete. */
  truncated?: boolean | undefined;
}

/** A call that is being received. */
interface Slot {
  nativeId: string;
  name: string;
  /** The argument text so far, and the end of it that has not been sent yet. */
  readonly text: Pile;
  waiting: string;
  readonly balance: Balance;
  /** The call's index, where the server gave one. */
  readonly index: number | undefined;
  begun: boolean;
  /** The arguments began with `{}`: either there are none, or the server sends them later. */
  empty: boolean;
  custom: boolean;
  /** The arguments are encoded twice, as a string that holds JSON text: they are sent only when the string is complete. */
  quoted: boolean;
  /** Each piece repeats all the text before it. */
  repeats: boolean;
  /** A name or an id without arguments, after the complete call: the head of another call if arguments follow, otherwise a repetition. */
  again: CallFragment | undefined;
  done: boolean;
  truncated: boolean;
  readonly state: Opaque[];
  /** Set once `tool-start` has been sent. */
  started: { id: string; index: number } | undefined;
  ended: boolean;
}

export class CallAccumulator {
  /** How many calls ended in which way. */
  complete = 0;
  malformed = 0;
  truncated = 0;
  #last: Slot | undefined;
  readonly #byIndex = new Map<number, Slot>();
  readonly #byId = new Map<string, Slot>();
  /** The call that is being sent and everything after it: calls and other events, in the order in which they will be sent. */
  #queue: (Slot | Event)[] = [];
  /** How far the queue has been searched for what the model said after the first call in it. */
  #searched = 1;
  /** The ids of this answer's calls and of earlier ones: Claude Code considers a call done if it has seen its id before (N11). */
  readonly #ids: Set<string>;
  #count = 0;
  readonly #context: WireContext;
  /** How many calls the request holds: minted ids count on from there. */
  readonly #before: number;

  constructor(context = NO_CONTEXT) {
    const { ids = [] } = context;
    this.#context = context;
    this.#ids = new Set(ids);
    this.#before = ids.length;
  }

  add(fragment: CallFragment): Event[] {
    const slot = this.#slotOf(fragment);
    if (slot.ended) return leftOver(fragment);
    const isFirst = !slot.begun;
    slot.begun = true;
    if (slot.again !== fragment) this.#name(slot, fragment);
    for (const state of fragment.state ?? []) {
      const at = slot.state.findIndex(({ wire, kind }) => wire === state.wire && kind === state.kind);
      const there = slot.state[at]?.data;
      if (there === undefined) slot.state.push(state);
      // Some repeat state. In an object, such as the unknown fields of `function`, other fields may be new.
      else if (isObject(there) && isObject(state.data)) slot.state[at] = { ...state, data: { ...state.data, ...there } };
    }
    write(slot, fragment, isFirst);
    slot.done ||= fragment.done === true;
    slot.truncated ||= fragment.truncated === true;
    return this.#advance();
  }

  /** No call is open: other events can be sent at once. */
  get idle(): boolean {
    return this.#queue.length === 0;
  }

  /** Sends any other event once the calls before it have ended. */
  pass(event: Event): Event[] {
    this.#queue.push(event);
    return this.#advance();
  }

  /** Ends the answer. `truncated`: the answer was cut, and with it the call that was being written. */
  end(options: { truncated?: boolean | undefined } = {}): Event[] {
    const events: Event[] = [];
    for (const item of this.#queue) {
      if (isSlot(item)) this.#end(item, options.truncated === true, events);
      else events.push(item);
    }
    this.#queue = [];
    return events;
  }

  #slotOf(fragment: CallFragment): Slot {
    const { index, id, name } = fragment;
    const byId = this.#byId.get(id ?? "");
    const slot = index === undefined ? (byId ?? this.#last) : this.#byIndex.get(index);
    if (!slot) {
      // A new index, but a known id and no other name: the server miscounts the fragments of one call.
      const isMore = byId && (!name || byId.name === "") && (byId.empty || !isComplete(byId) || argumentsIn(fragment) === "");
      return isMore ? byId : this.#open(index);
    }
    const isOther = this.#isOther(slot, fragment, !!id && slot.nativeId !== "" && id !== slot.nativeId && byId !== slot);
    if (!isOther) return slot;
    const head = slot.again;
    slot.again = undefined;
    slot.done ||= slot.text.length === 0; // a call without arguments
    const next = this.#open(index);
    if (head && !name) this.#name(next, head);
    return next;
  }

  /** Whether a fragment with the index of this call begins another: a server that gives all calls one index still names each of them. */
  #isOther(slot: Slot, fragment: CallFragment, otherId: boolean): boolean {
    if (slot.text.length > 0 && !isComplete(slot)) return false;
    const { index, id, name } = fragment;
    const [isNamed, otherName] = [!!name && slot.name !== "", !!name && slot.name !== "" && name !== slot.name];
    const given = argumentsIn(fragment);
    if (slot.empty && !slot.done) {
      if (!isNamed || otherName) return otherName;
      // The same name again, after `{}`. If the server uses several indexes, they can be trusted.
      if (index !== undefined && this.#byIndex.size > 1) return false;
      return otherId || (given !== "" && !id && isWhole(given));
    }
    if (isComplete(slot)) {
      if (!otherId && !otherName && !slot.again && (id || !name) && isSaid(slot, given)) return false; // the server repeats the call
      // An object after a complete one belongs to the next call, whose name may come later.
      if (given !== "") return isNamed || otherId || slot.again !== undefined || given.trimStart().startsWith("{");
      if (otherName || (isNamed && otherId)) return true;
      if (isNamed || (otherId && !name)) slot.again = fragment;
      return false;
    }
    // The call has no arguments yet. Where ids change from piece to piece, the first arguments belong to it, unless they are complete.
    return otherName || (isNamed && otherId && (given === "" || (index === undefined && given !== "{}" && isWhole(given))));
  }

  #open(index: number | undefined): Slot {
    const slot: Slot = {
      nativeId: "",
      name: "",
      text: new Pile(),
      waiting: "",
      balance: new Balance(),
      index,
      begun: false,
      empty: false,
      custom: false,
      quoted: false,
      repeats: false,
      again: undefined,
      done: false,
      truncated: false,
      state: [],
      started: undefined,
      ended: false,
    };
    this.#queue.push(slot);
    this.#last = slot;
    if (index !== undefined) this.#byIndex.set(index, slot);
    return slot;
  }

  #name(slot: Slot, { id, name }: CallFragment): void {
    slot.name ||= name ?? "";
    if (!id) return;
    slot.nativeId ||= id;
    this.#byId.set(id, slot);
  }

  /** No further fragment can belong to this call, which seems complete. `after`: what follows it. */
  #isOver(slot: Slot, after: Slot | Event): boolean {
    const next = slot.index === undefined ? this.#last : this.#byIndex.get(slot.index);
    return !slot.empty || slot.done || next !== slot || !isSlot(after);
  }

  /** Sends what can be sent: the pieces of the first call, and what follows it once it has ended. */
  #advance(): Event[] {
    const events: Event[] = [];
    let sent = 0; // removed together: one by one would take quadratic time
    for (const item of this.#queue) {
      if (isSlot(item)) {
        this.#send(item, events);
        if (!isComplete(item)) break;
        // Whether a call that is done but unreadable was cut, only what the model says next or the end of the answer tells.
        let next = sent === 0 ? this.#searched : sent + 1;
        while (next < this.#queue.length && isAside(this.#queue[next]!)) next++;
        if (sent === 0) this.#searched = next;
        const after = this.#queue[next];
        const over = after
          ? this.#isOver(item, after) && item.name !== ""
          : item.done && (item.truncated || "arguments" in parseArguments(wholeText(item)));
        if (!over) break;
        this.#end(item, false, events);
      } else events.push(item);
      sent++;
    }
    if (sent > 0) {
      this.#queue.splice(0, sent);
      this.#searched = 1;
    }
    return events;
  }

  #send(slot: Slot, events: Event[]): void {
    if (slot.name === "") return;
    if (!slot.started) {
      slot.started = { id: this.#idOf(slot), index: this.#count++ };
      const state = slot.state.length > 0 ? { state: [...slot.state] } : {};
      events.push({ type: "tool-start", ...slot.started, name: ownName(this.#context, slot.name), ...state });
    }
    if (slot.waiting === "" || (!slot.ended && this.#schemaOf(slot))) return;
    events.push({ type: "tool-delta", id: slot.started.id, json: slot.waiting });
    slot.waiting = "";
  }

  /** The schema of a tool in whose calls `null` means absent: such calls are held until they end, then those nulls are removed. */
  #schemaOf(slot: Slot): JsonObject | undefined {
    const { nulls } = this.#context;
    return nulls && entryOf(nulls, ownName(this.#context, slot.name));
  }

  #end(slot: Slot, isCut: boolean, events: Event[]): void {
    slot.ended = true;
    let text = wholeText(slot);
    const read = parseArguments(text);
    const whole = "arguments" in read;
    // In a cut answer, missing arguments do not mean `{}`, and a custom call is complete only if the server ended it.
    const open = slot === this.#last && !slot.empty && !slot.balance.complete && !(slot.done && slot.custom);
    const truncated = slot.truncated || (isCut && (open || !whole));
    if (whole && !truncated) slot.waiting = slot.quoted ? text : slot.waiting + text.slice(slot.text.length);
    const schema = this.#schemaOf(slot);
    if (schema && whole && !truncated) {
      text = slot.waiting = withoutNulls(text, schemaNode(schema));
      read.arguments = parsed(text) as JsonObject;
    }
    this.#send(slot, events);
    const name = ownName(this.#context, slot.name);
    const { started, state } = slot;
    const said = slot.text.toString();
    const cut = truncated && { arguments: partialObject(said, MAX_CALL_DEPTH), truncated };
    const args = cut || (whole && { arguments: read.arguments, json: text });
    if (started && args) {
      this[truncated ? "truncated" : "complete"]++;
      events.push({ type: "tool-end", ...started, name, ...args, ...(state.length > 0 ? { state } : {}) });
    } else {
      const why = started && "code" in read ? { ...read, id: started.id } : NAMELESS;
      this.malformed++;
      events.push({ type: "malformed", raw: malformedRaw(name, said), ...why });
    }
  }

  #idOf(slot: Slot): string {
    let id = slot.nativeId.trim() === "" ? "" : slot.nativeId;
    for (let n = this.#count; id === "" || this.#ids.has(id); n++) id = `call_${this.#before + n}`;
    this.#ids.add(id);
    return id;
  }
}

/** The argument text that a fragment brings; blank text counts as none. */
function argumentsIn({ arguments: args, input }: CallFragment): string {
  const json = jsonOf(args);
  return input || (json.trim() === "" ? "" : json);
}

const jsonOf = (args: CallFragment["arguments"]): string => (isText(args) ? args : args ? JSON.stringify(args) : "");

function isWhole(json: string): boolean {
  const balance = new Balance();
  balance.read(json);
  return balance.complete;
}

function write(slot: Slot, { arguments: args, input }: CallFragment, isFirst: boolean): void {
  let piece = jsonOf(args);
  if (input !== undefined) piece = (slot.custom ? "" : '{"input":"') + escapeJson(input);
  if (piece === "") return;
  slot.custom ||= input !== undefined;
  if (slot.text.length > 0) piece = newIn(slot, piece);
  else slot.quoted = !slot.custom && /^\s*"/.test(piece);
  // Some servers open with `{}` or `null` and then send the arguments: `{}` is sent only if nothing else follows.
  slot.empty = isFirst && /^(\{\}|null)$/.test(piece.trim());
  if (slot.empty) return;
  slot.text.add(piece);
  if (!slot.quoted) slot.waiting += piece;
  if (!slot.custom) slot.balance.read(piece);
  slot.done ||= slot.quoted && !slot.balance.inString;
}

/** Whether the piece repeats the complete arguments. */
const isSaid = ({ text, balance }: Slot, piece: string): boolean => balance.complete && piece === text.toString();

/**
 * The new part of a piece. Qianfan and others repeat all the arguments so far in each piece. A piece that begins with the whole text so far
 * must be such a repetition, since no JSON continues like that, except for an object in an object: `{"a":` and `{"a":1}}`.
 */
function newIn(slot: Slot, piece: string): string {
  const { text, balance, repeats } = slot;
  if (slot.custom || piece.length < text.length || (piece.length === text.length && !repeats && !balance.complete)) return piece;
  const said = text.toString();
  if (!piece.startsWith(said) || !/^\s*\{/.test(said) || (!repeats && !balance.inString && /[:,[]\s*$/.test(said))) return piece;
  slot.repeats = true;
  return piece.slice(said.length);
}

const isSlot = (item: Slot | Event): item is Slot => "balance" in item;
/** What the model did not say: such events may come between a call's pieces, and at the end of an answer that was cut. */
const ASIDES: ReadonlySet<Event["type"]> = new Set(["refusal", "usage", "extension"]);
const isAside = (item: Slot | Event): boolean => !isSlot(item) && ASIDES.has(item.type);
const isComplete = (slot: Slot): boolean => slot.done || slot.empty || slot.balance.complete;
/** The text of all arguments: decoded if it was encoded twice, closed if it is a custom call's, `{}` if it is blank. */
function wholeText({ text, custom, quoted }: Slot): string {
  const given = text.toString();
  const inner = quoted ? parsed(given) : undefined;
  if (isText(inner) && isObject(parsed(inner))) return inner;
  return custom ? `${given}"}` : given.trim() === "" ? `${given}{}` : given;
}

/** Text for a call that has already ended: kept as a `control` event, but part of no call. */
function leftOver({ arguments: args }: CallFragment): Event[] {
  return isText(args) && args.trim() !== "" ? [{ type: "control", raw: args }] : [];
}
