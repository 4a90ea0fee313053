/**
 * Reads a server's answer, whole or streamed. The `done` event of a text repeats its deltas, and the done item repeats its texts: what a
 * server leaves out is taken from the next of these. The last event repeats all items; if any was streamed, only calls that were not are read, and
 * messages if none had any text.
 */
import { isObject } from "../../core/json.ts";
import type { ErrorInfo, Json, JsonObject, Opaque } from "../../core/nouns.ts";
import { Pile } from "../../core/pile.ts";
import { AnswerReader } from "../answer-in.ts";
import { readError } from "../errors.ts";
import type { End } from "../events.ts";
import { Fields } from "../fields.ts";
import { opaque } from "../opaque.ts";
import { RESPONSES_USAGE, readUsage } from "../openai.ts";
import { isEmpty, isList, listOf, numberOf, objectOf, textOf, words } from "../read.ts";
import {
  BREAK,
  flatName,
  isMinted,
  itemState,
  NEXT_SUMMARY,
  NEXT_TEXT,
  own,
  QUIET,
  quietState,
  RAW,
  readReasoning,
  WIRE,
} from "./items.ts";

const isSaidOtherwise = ({ data }: Opaque): boolean => !(isList(data) && data.length === 0);

/** The only state that is still sent if other output came between the thinking and its `done`. */
const isSeal = ({ kind }: Opaque): boolean => kind === "encrypted_content";

type Kind = "text" | "refusal" | "content" | "summary" | "arguments" | "input";

/** Kinds of text by the stem of their events: `response.output_text.delta`, `response.output_text.done`. */
const PIECES: ReadonlyMap<unknown, Kind> = new Map([
  ["output_text", "text"],
  ["refusal", "refusal"],
  ["reasoning_text", "content"],
  ["reasoning_summary_text", "summary"],
  ["function_call_arguments", "arguments"],
  ["custom_tool_call_input", "input"],
]);

const ITEMS = words("message reasoning function_call custom_tool_call");
/** Events without any content of their own. */
const IDLE = /^(keepalive|ping|response\.(created|queued|in_progress|(content|reasoning|reasoning_summary)_part\.\w+))$/;
/** Fields of a response that are read elsewhere, or that the encoder fills from the request. */
const KNOWN = words("object created_at error instructions parallel_tool_calls temperature tool_choice tools top_p max_output_tokens store");
/** Fields that repeat the request: other wires leave them out without a warning. */
const REPEATED = words("text background previous_response_id conversation prompt truncation top_logprobs max_tool_calls");
/** `annotations` and `logprobs` are part of the answer: leaving them out needs a warning. */
const ANSWER_QUIET = new Set([...QUIET, ...REPEATED].filter((key) => key !== "annotations" && key !== "logprobs"));

/** An item that is being received. */
interface Item {
  readonly index: number;
  type: string;
  done: boolean;
  /** State for its first text, or for its thinking. */
  state: Opaque[];
  /** What has been sent of each of its texts. */
  readonly said: Map<string, Pile>;
  /** The parts of a message whose own fields have been sent. */
  readonly parts: Set<number>;
  /** Whether its `content` or its `summary` is the thinking: whichever comes first. */
  thinking?: Kind;
}

/** By how much the indexes of an item's pieces are too high: Bedrock does not restart them for each item. */
function aheadOf(said: ReadonlyMap<string, unknown>, length: number, kinds: RegExp): number {
  const numbers = [...said.keys()].flatMap((key) => (kinds.test(key) ? Number(key.replace(/\D+/, "")) : []));
  const ahead = Math.max(length - 1, ...numbers) - (length - 1);
  return numbers.every((number) => number >= ahead) ? ahead : 0;
}

export class ResponseReader extends AnswerReader {
  readonly wire = WIRE;
  override readonly quiet = ANSWER_QUIET;
  readonly #items = new Map<Json, Item>();
  #last: Item | undefined;
  #count = 0;
  #calls = 0;
  #spoke = false;
  /** A frame could not be read. */
  #isDamaged = false;

  override body(body: Fields): void {
    const { output, status } = body.value;
    if (output === undefined && status === undefined) this.broken(body.value);
    else this.#end(body);
  }
  end(): void {
    this.#finish({});
  }
  override fail(error: ErrorInfo): void {
    this.#finish({ error });
  }
  /** A failed response has a `status`, and is read as an answer. */
  override isError(value: JsonObject): boolean {
    return super.isError(value) && value.status === undefined;
  }
  /** A broken frame is ignored at first: later events repeat what it should have contained. */
  override broken(said: unknown, isFrame?: boolean): void {
    if (isFrame) this.#isDamaged = true;
    else super.broken(said);
  }

  #finish(end: End, rest?: JsonObject): void {
    // A call that is not done was cut, even if its JSON looks complete.
    if (end.native !== "completed") {
      for (const { index, type, done } of this.#items.values()) if (type.endsWith("_call") && !done) this.call({ index, truncated: true });
    }
    this.extend(rest);
    this.finish(end);
  }

  chunk(event: Fields, _text: string, name: string): void {
    const type = event.text("type") ?? name;
    const response = event.thing("response");
    if (response) this.#start(response);
    const item = event.thing("item");
    const [, stem, step] = /^response\.(\w+)\.(delta|done)$/.exec(type) ?? [];
    const kind = PIECES.get(stem);
    const [, status] = /^response\.(completed|incomplete|failed|cancelled)$/.exec(type) ?? [];
    if (kind) this.#piece(event, kind, step === "delta");
    else if (status) this.#end(new Fields({ status, ...response?.value }, this));
    else if (type === "response.content_part.done") {
      const open = this.#itemOf(event.value);
      const part = event.thing("part");
      if (part && open.type === "message") this.#part(open, part, numberOf(event.value.content_index) ?? 0);
    } else if (item && ITEMS.has(String(item.value.type))) {
      const open = this.#itemOf(event.value, item, step !== "done");
      if (step === "done") this.#done(open, item);
    } else if (type && !IDLE.test(type)) {
      const { response: _response, sequence_number: _sequence_number, ...rest } = event.value;
      if (item) this.#count++;
      this.extend({ ...rest, type }, false);
    }
  }

  #start(response: Fields): void {
    const id = response.text("id");
    this.start(isMinted(id) ? undefined : id, response.text("model"));
  }

  /** The item of an event. `item`: the item as the server sent it; `added`: it is a new one, even if its index is already in use. */
  #itemOf({ output_index, item_id }: JsonObject, item?: Fields, added = false): Item {
    const key = output_index ?? item_id ?? item?.value.id;
    let found = key === undefined ? this.#last : this.#items.get(key);
    const id = item?.value.id || item?.value.call_id;
    // Servers made for Codex send nothing but done items, some of them without indexes, or all with the same one.
    const isOther = item !== undefined && found?.done === true && !(id && this.#items.get(id) === found);
    if (!found || isOther || (added && found.type !== "")) {
      found = { index: this.#count++, type: "", done: false, state: [], said: new Map(), parts: new Set() };
      this.#items.set(key ?? found.index, found);
      if (id) this.#items.set(id, found); // later events may have its id instead of its index
    }
    this.#last = found;
    if (item && found.type === "") {
      found.type = String(item.value.type);
      item.ask("status");
      found.state = itemState(item);
      if (found.type.endsWith("_call")) {
        this.#calls++;
        const [name = "", namespace] = [item.text("name"), item.text("namespace")];
        if (namespace === name) found.state.push(quietState("#namespace", namespace));
        this.call({ index: found.index, id: item.text("call_id"), name: flatName(namespace, name), state: found.state });
      }
    }
    return found;
  }

  #piece({ value: event }: Fields, kind: Kind, isDelta: boolean): void {
    const at = numberOf(event.content_index) ?? numberOf(event.summary_index) ?? 0;
    const { logprobs } = event;
    const state = isDelta && listOf(logprobs).length > 0 ? [opaque(WIRE, "logprobs", logprobs ?? null)] : [];
    this.#say(this.#itemOf(event), kind, at, textOf(isDelta ? event.delta : (event[kind] ?? event.text)), isDelta, state);
  }

  /** Sends a delta, or the part of a whole text that has not been sent yet. */
  #say(item: Item, kind: Kind, at: number, text = "", isDelta = false, state: Opaque[] = []): void {
    const key = `${kind} ${at}`;
    const said = item.said.get(key) ?? new Pile();
    const delta = isDelta ? text : this.#missing(said, kind, text);
    if (delta === "") return;
    const { index } = item;
    const isNext = said.length === 0 && item.said.has(`${kind} ${at - 1}`); // follows a part of the same kind
    said.add(delta);
    item.said.set(key, said);
    if (kind === "text") {
      // A message's own fields become state of its first text.
      const fields = Object.fromEntries(item.state.map(({ kind, data }) => [kind, data]));
      if (isNext || (this.#spoke && item.state.length > 0)) this.text("", [quietState(NEXT_TEXT, true)]);
      this.text(delta, item.state.length > 0 ? [quietState("#message", fields), ...state] : state);
      this.#spoke = true;
      item.state = [];
    } else if (kind === "refusal") this.refusal(delta);
    else if (kind === "arguments" || kind === "input") this.call({ index, [kind]: delta });
    else {
      if (!item.thinking && kind === "content") item.state.push(quietState(RAW, true));
      item.thinking ??= kind;
      if (item.thinking !== kind) return;
      this.startThinking(item.state);
      if (kind === "summary" && isNext) {
        this.extend({ type: NEXT_SUMMARY }, true);
        this.thinking(BREAK);
      }
      this.thinking(delta);
    }
  }

  /** What a whole text adds to what was sent of it. If a piece in its middle was lost, it is too late to send it. */
  #missing(said: Pile, kind: Kind, text: string): string {
    const isMore = said.length === 0 || text.startsWith(said.toString());
    if (!isMore && this.#isDamaged)
      this.fail({ code: "upstream", message: "the server sent a damaged event, and a part of the answer is missing" });
    // Some servers tidy up the whole text. Arguments that differ must not look complete.
    return isMore || kind === "arguments" || kind === "input" ? text.slice(said.length) : "";
  }

  /** Reads a whole part of a message. If it was streamed, only the fields that its deltas did not have are news. */
  #part(open: Item, part: Fields, i: number): void {
    const kind = part.json("type") === "refusal" ? "refusal" : "text";
    const isSaid = open.said.has(`${kind} ${i}`);
    if (isSaid) part.ask("logprobs");
    const text = part.text(kind, "text");
    const state = kind === "text" ? part.state()?.filter(isSaidOtherwise) : [];
    this.#say(open, kind, i, text, false, state);
    if (!state?.length) return;
    if (isSaid && !open.parts.has(i)) this.text("", state);
    open.parts.add(i);
  }

  #done(open: Item, item: Fields): void {
    const { type, index, said } = open;
    const { value } = item;
    open.done = true;
    for (const list of type === "message" ? (["content"] as const) : (["content", "summary"] as const)) {
      const ahead = aheadOf(said, listOf(value[list]).length, type === "message" ? /^(text|refusal) / : new RegExp(`^${list} `));
      item.each(list, (part, place) => {
        const i = place + ahead;
        if (type === "message") this.#part(open, part, i);
        else this.#say(open, list, i, part.text("text"));
      });
    }
    if (type === "reasoning") {
      const { state, call } = readReasoning(item);
      if (open.thinking === "content" && !own(state, RAW)) state.push(quietState(RAW, true));
      if (call === undefined) this.endThinking(said.size > 0 && !this.isThinking ? state.filter(isSeal) : state);
      else if (call === "") this.text("", state);
    } else if (type !== "message") {
      const kind = type === "function_call" ? "arguments" : "input";
      this.#say(open, kind, 0, item.text(kind));
      item.ask("status");
      const truncated = value.status === "incomplete";
      this.call({ index, done: true, truncated, state: itemState(item), ...(kind === "input" ? { input: "" } : {}) });
    }
  }

  #end(response: Fields): void {
    this.#start(response);
    const isStreamed = this.#count > 0;
    let known = this.#calls;
    const isSilent = ![...this.#items.values()].some(({ said }) => [...said.keys()].some((key) => /^(text|refusal) /.test(key)));
    const isNews = (type: string) => (type === "message" ? isSilent : ITEMS.has(type) && type.endsWith("_call") && known-- <= 0);
    response.each("output", (item, output_index) => {
      const type = String(item.value.type);
      // Of an answer that was streamed, only what was not is news. Calls are counted, since some servers change their ids.
      if (isStreamed && !isNews(type)) return;
      if (ITEMS.has(type)) this.#done(this.#itemOf({ output_index }, item, isStreamed), item);
      else this.extend({ type: "response.output_item.done", output_index, item: item.value }, false);
    });
    const usage = response.object("usage");
    // This API sends every count: a zero in the details means nothing.
    const counts = usage ? Object.entries(readUsage(usage, RESPONSES_USAGE)) : [];
    this.usage(Object.fromEntries(counts.filter(([key, count]) => count > 0 || /^(in|out)put/.test(key))));
    const { error } = response.value;
    const status = response.text("status") ?? "completed";
    const native = response.inner("incomplete_details").text("reason") ?? status;
    response.inner("reasoning").ask("effort", "summary");
    response.inner("text").ask("format");
    response.ask(...KNOWN);
    if (isEmpty(objectOf(response.value.metadata))) response.ask("metadata");
    const end: End = { native };
    if (status === "failed" || error)
      end.error = readError(0, {}, { error: isObject(error) ? { type: null, ...error } : (error ?? "the answer failed") });
    else if (status === "cancelled") end.error = { code: "aborted", message: "the answer was cancelled" };
    else {
      end.reason = native === "content_filter" ? "content-filter" : status === "incomplete" ? "length" : "stop";
      end.ended = true;
    }
    this.#finish(end, response.rest());
  }
}
