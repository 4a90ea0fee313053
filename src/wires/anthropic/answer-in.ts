/** Answers of servers, whole or as events: `message_start`, blocks (`content_block_start`, deltas, `content_block_stop`), `message_delta`, `message_stop`. */
import { collect } from "../../core/fold.ts";
import { isObject } from "../../core/json.ts";
import type { Event, Json, JsonObject, Opaque, Response, Usage } from "../../core/nouns.ts";
import { Pile } from "../../core/pile.ts";
import { readError } from "../errors.ts";
import { type End, EventWriter } from "../events.ts";
import { listOf, numberOf, objectOf, parsed, textOf } from "../read.ts";
import { SseReader } from "../sse.ts";
import { NO_CONTEXT, type StreamDecoder, type WireContext } from "../wire.ts";
import { BLOCK, type Carried, openSignature, REDACTED, STOP_REASONS, signed, USAGE, WIRE } from "./common.ts";

// ---- Response in

export function decodeResponse(body: unknown, context: WireContext = NO_CONTEXT): Response {
  const answer = new Answer(context);
  const message = typeof body === "string" ? parsed(body) : body;
  if (!isObject(message) || !Array.isArray(message.content)) {
    answer.read(
      isObject(message) && message.error ? { ...message, type: "error" } : { type: "error", error: "the server's answer is no message" },
    );
  } else {
    const { content, stop_reason, stop_sequence, stop_details, ...head } = message;
    answer.read({ type: "message_start", message: head });
    const cut = STOP_REASONS[textOf(stop_reason) ?? ""] === "length";
    for (const [index, content_block] of listOf(content).entries()) {
      answer.read({ type: "content_block_start", index, content_block });
      // The last call of an answer that was cut may be half of one, and nothing shows it.
      if (!(cut && index === content.length - 1)) answer.read({ type: "content_block_stop", index });
    }
    answer.read({
      type: "message_delta",
      delta: { stop_reason: stop_reason ?? null, stop_sequence: stop_sequence ?? null, stop_details: stop_details ?? null },
    });
    answer.read({ type: "message_stop" });
  }
  return collect(answer.take());
}

// ---- Stream in

export function createStreamDecoder(context: WireContext = NO_CONTEXT): StreamDecoder {
  const sse = new SseReader();
  const answer = new Answer(context);
  const read = (frames: ReturnType<SseReader["feed"]>): Event[] => {
    for (const { data } of frames) {
      const value = parsed(data);
      // The name of the event stands in its data, too; some servers add OpenAI's `[DONE]`.
      if (isObject(value)) answer.read(value);
      else if (data.trim() !== "[DONE]")
        answer.read({ type: "error", error: `the server sent an event that is no JSON: ${data.slice(0, 200)}` });
    }
    return answer.take();
  };
  return {
    feed: (text) => read(sse.feed(text)),
    flush() {
      const events = read(sse.flush());
      answer.end();
      return [...events, ...answer.take()];
    },
  };
}

/** A block that is being written. */
interface Block {
  readonly type: string;
  /** How it began; deltas that we do not know are added to it. */
  readonly whole: { [key: string]: Json };
  /** Something of it has been said already. */
  said: boolean;
  readonly json: Pile;
  readonly citations: Json[];
}

class Answer {
  readonly #out: EventWriter;
  readonly #blocks = new Map<number, Block>();
  readonly #carried: Carried = new Map();
  /** A call that ended without arguments: whether it was cut, only what follows tells. */
  #blank: number | undefined;
  #last = -1;
  #lastType = "";
  readonly #usage: { [field: string]: number } = {};
  #end: End = {};

  constructor(context: WireContext) {
    this.#out = new EventWriter(context);
  }

  take(): Event[] {
    return this.#out.take();
  }

  read(event: JsonObject): void {
    if (this.#out.finished) return;
    const index = numberOf(event.index) ?? this.#last + Number(event.type === "content_block_start");
    switch (event.type) {
      case "message_start":
        this.#messageStart(objectOf(event.message));
        break;
      case "content_block_start":
        this.#blockStart(index, objectOf(event.content_block));
        break;
      case "content_block_delta":
        this.#delta(index, objectOf(event.delta));
        break;
      case "content_block_stop":
        this.#blockStop(index);
        break;
      case "message_delta":
        this.#messageDelta(event);
        break;
      case "message_stop":
        this.#end.ended = true;
        this.end();
        break;
      case "error":
        this.#end = { error: readError(0, {}, event) };
        this.end();
        break;
      case "ping":
        break;
      default:
        this.#out.extension(WIRE, event);
    }
  }

  end(): void {
    const cut = this.#end.reason === "length" || !this.#end.ended;
    for (const [index, { type }] of this.#blocks) {
      if (type === "tool_use" && cut) this.#out.call({ index, truncated: true });
      else this.#blockStop(index);
    }
    const counts = Object.entries(USAGE).map(([field, name]) => [name, this.#usage[field]]);
    const prompt = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"].map((field) => this.#usage[field] ?? 0);
    const usage: Usage = { ...Object.fromEntries(counts), inputTokens: prompt.reduce((sum, count) => sum + count, 0) };
    if (Object.values(usage).some(Boolean)) this.#out.usage(usage);
    this.#out.finish(this.#end);
  }

  #messageStart(message: JsonObject): void {
    const { id, type: _, role: __, model, content: ___, usage, ...more } = message;
    this.#out.start(textOf(id), textOf(model));
    this.#extend("message_start", "message", more, usage);
  }

  #messageDelta(event: JsonObject): void {
    const { stop_reason: native, stop_sequence: stop, stop_details: details, ...more } = objectOf(event.delta);
    if (typeof native === "string") {
      this.#end = { reason: STOP_REASONS[native] ?? "stop", native, ended: true };
      if (typeof stop === "string") this.#end.stop = stop;
    }
    const { explanation, ...about } = objectOf(details);
    this.#out.refusal(textOf(explanation) ?? "");
    const { category } = about;
    this.#extend("message_delta", "delta", category ? { ...more, stop_details: about } : more, event.usage);
  }

  /** Counts what is counted; the rest is for the same wire. */
  #extend(type: string, key: string, more: JsonObject, usage: Json | undefined): void {
    const unread: { [key: string]: Json } = {};
    for (const [field, value] of Object.entries(objectOf(usage))) {
      if (typeof value === "number" && (field === "input_tokens" || field in USAGE)) this.#usage[field] = value;
      else if (field === "output_tokens_details" && isObject(value)) this.#usage.thinking_tokens = numberOf(value.thinking_tokens) ?? 0;
      else if (value !== null) unread[field] = value;
    }
    const rest = Object.entries(more).filter(([, value]) => value !== null);
    if (Object.keys(unread).length > 0) rest.push(["usage", unread]);
    if (rest.length > 0) this.#out.extension(WIRE, { type, [key]: Object.fromEntries(rest) }, more.stop_details === undefined);
  }

  #blockStart(index: number, whole: JsonObject): void {
    const type = textOf(whole.type) ?? "";
    if (this.#blank !== undefined) this.#out.call({ index: this.#blank, done: true });
    if (type === "text" && this.#lastType === type) this.#out.extension(WIRE, { type: "content_block_start" }, true); // texts side by side stay apart
    this.#blank = undefined;
    this.#last = index;
    this.#lastType = type;
    const block: Block = { type, whole: { ...whole }, said: false, json: new Pile(), citations: [...listOf(whole.citations)] };
    this.#blocks.set(index, block);
    if (type === "tool_use") this.#callStart(index, whole);
    else if (type === "text") this.#out.text(textOf(whole.text) ?? "");
    else if (type === "thinking") this.#think(block, whole.thinking);
  }

  #callStart(index: number, whole: JsonObject): void {
    const { type: _, id, name, input: __, ...more } = whole;
    const state = Object.entries(more).flatMap(([kind, data]): Opaque[] => {
      if (data === null) return [];
      return [kind === "caller" ? { wire: WIRE, kind, data, quiet: true } : { wire: WIRE, kind, data }];
    });
    this.#out.call({ index, id: textOf(id), name: textOf(name), state: [...state, ...(this.#carried.get(textOf(id) ?? "") ?? [])] });
  }

  #delta(index: number, { type, ...delta }: JsonObject): void {
    const block = this.#blocks.get(index);
    if (type === "text_delta") this.#out.text(textOf(delta.text) ?? "");
    else if (type === "thinking_delta") this.#think(block, delta.thinking);
    else if (type === "citations_delta") block?.citations.push(delta.citation ?? null);
    else if (type === "input_json_delta") this.#json(index, textOf(delta.partial_json) ?? "");
    else if (block) Object.assign(block.whole, delta); // `signature_delta`, and what is yet to come
  }

  #json(index: number, json: string): void {
    const block = this.#blocks.get(index);
    if (block && block.type !== "tool_use") block.json.add(json);
    else this.#out.call({ index, arguments: json });
    if (block) block.said ||= json.trim() !== "";
  }

  #think(block: Block | undefined, text: Json | undefined): void {
    if (block) block.said ||= !!text;
    this.#out.thinking(textOf(text) ?? "");
  }

  #blockStop(index: number): void {
    const block = this.#blocks.get(index);
    if (!block) return;
    this.#blocks.delete(index);
    const { type, whole, citations } = block;
    if (type === "thinking") this.#thinkingStop(block);
    else if (type === "redacted_thinking") this.#out.endThinking([{ wire: WIRE, kind: REDACTED, data: whole.data ?? "" }]);
    else if (type === "tool_use") this.#callStop(index, block);
    else if (type !== "text") this.#out.text("", [{ wire: WIRE, kind: BLOCK, data: this.#whole(block) }]);
    else if (citations.length > 0) this.#out.text("", [{ wire: WIRE, kind: "citations", data: citations }]);
  }

  #thinkingStop({ said, whole }: Block): void {
    const signature = textOf(whole.signature) ?? "";
    const opened = openSignature(signature, this.#carried);
    if (opened?.carrier && !said) return;
    this.#out.startThinking();
    if (!said) this.#out.thinking(opened?.thinking ?? "");
    this.#out.endThinking(opened ? opened.state : [signed(signature)]);
  }

  #callStop(index: number, { said, whole }: Block): void {
    // Some servers send the input whole, with the start of the block.
    const input = said ? {} : objectOf(whole.input);
    const given = Object.keys(input).length > 0;
    if (said || given) this.#out.call({ index, arguments: given ? input : undefined, done: true });
    else this.#blank = index;
  }

  #whole({ whole, json }: Block): JsonObject {
    const input = json.length > 0 ? parsed(json.toString()) : undefined;
    return input === undefined ? whole : { ...whole, input };
  }
}
