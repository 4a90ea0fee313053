/** Answers of servers, whole or as events: `message_start`, blocks (`content_block_start`, deltas, `content_block_stop`), `message_delta`, `message_stop`. */
import { isObject } from "../../core/json.ts";
import type { ErrorInfo, Json, JsonObject } from "../../core/nouns.ts";
import { Pile } from "../../core/pile.ts";
import { AnswerReader } from "../answer-in.ts";
import type { End } from "../events.ts";
import { joined, opaques, openCapsule } from "../opaque.ts";
import { listOf, numberOf, objectOf, parsed, restOf, textOf, words } from "../read.ts";
import { ArgumentTexts } from "../spans.ts";
import type { WireContext } from "../wire.ts";
import { BLOCK, type Carried, REDACTED, STOP_REASONS, signed, USAGE, WIRE } from "./common.ts";

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

const CALLER = words("caller");

export class MessageReader extends AnswerReader {
  override readonly repeats = true;
  readonly #blocks = new Map<number, Block>();
  readonly #carried: Carried = new Map();
  /** A call that ended without arguments: whether it was cut, only what follows tells. */
  #blank: number | undefined;
  #last = -1;
  #lastType = "";
  readonly #counts: { [field: string]: number } = {};
  #end: End = {};
  /** The inputs of a whole answer, as they are written. */
  #texts: ArgumentTexts | undefined;

  constructor(context: WireContext) {
    super(WIRE, context);
  }

  override body(message: JsonObject, text: string): void {
    const { content, stop_reason = null, stop_sequence = null, stop_details = null, ...head } = message;
    if (!Array.isArray(content)) {
      this.broken(message);
      return;
    }
    this.#texts = new ArgumentTexts(text, "input");
    this.#messageStart(head);
    const cut = STOP_REASONS[textOf(stop_reason) ?? ""] === "length";
    for (const [index, block] of listOf(content).entries()) {
      this.#blockStart(index, objectOf(block));
      // The last call of an answer that was cut may be half of one, and nothing shows it.
      if (!(cut && index === content.length - 1)) this.#blockStop(index);
    }
    this.#messageDelta({ delta: { stop_reason, stop_sequence, stop_details } });
  }

  chunk(event: JsonObject): void {
    const index = numberOf(event.index) ?? this.#last + Number(event.type === "content_block_start");
    const { type } = event;
    if (type === "message_start") this.#messageStart(objectOf(event.message));
    else if (type === "content_block_start") this.#blockStart(index, objectOf(event.content_block));
    else if (type === "content_block_delta") this.#delta(index, objectOf(event.delta));
    else if (type === "content_block_stop") this.#blockStop(index);
    else if (type === "message_delta") this.#messageDelta(event);
    else if (type === "message_stop") this.end(true);
    else if (type !== "ping") this.extend(event);
  }

  override fail(error: ErrorInfo): void {
    this.#end = { error };
    this.end(false);
  }

  end(ended: boolean): void {
    this.#end.ended ||= ended;
    const cut = this.#end.reason === "length" || !this.#end.ended;
    for (const [index, { type }] of this.#blocks) {
      if (type === "tool_use" && cut) this.call({ index, truncated: true });
      else this.#blockStop(index);
    }
    const counts = Object.entries(USAGE).map(([field, name]) => [name, this.#counts[field]]);
    const prompt = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"].map((field) => this.#counts[field] ?? 0);
    const usage = { ...Object.fromEntries(counts), inputTokens: prompt.reduce((sum, count) => sum + count, 0) };
    if (Object.values(usage).some(Boolean)) this.usage(usage);
    this.finish(this.#end);
  }

  #messageStart({ id, type: _type, role: _role, model, content: _content, usage, ...rest }: JsonObject): void {
    this.start(textOf(id), textOf(model));
    this.#extend("message_start", "message", restOf(rest), usage);
  }

  #messageDelta({ delta: given, usage }: JsonObject): void {
    const { stop_reason, stop_sequence, stop_details, ...rest } = objectOf(given);
    const native = textOf(stop_reason);
    const stop = textOf(stop_sequence);
    if (native !== undefined) this.#end = { reason: STOP_REASONS[native] ?? "stop", native, stop, ended: true };
    const { explanation, ...about } = objectOf(stop_details);
    this.refusal(textOf(explanation) ?? "");
    const more = restOf(rest);
    this.#extend("message_delta", "delta", about.category ? { ...more, stop_details: about } : more, usage);
  }

  /** Counts what is counted; the rest is for the same wire. */
  #extend(type: string, key: string, more: JsonObject = {}, usage: Json | undefined): void {
    const unread: { [key: string]: Json } = {};
    for (const [field, value] of Object.entries(objectOf(usage))) {
      if (typeof value === "number" && (field === "input_tokens" || field in USAGE)) this.#counts[field] = value;
      else if (field === "output_tokens_details" && isObject(value)) this.#counts.thinking_tokens = numberOf(value.thinking_tokens) ?? 0;
      else if (value !== null) unread[field] = value;
    }
    const rest = Object.keys(unread).length > 0 ? { ...more, usage: unread } : more;
    if (Object.keys(rest).length > 0) this.extend({ type, [key]: rest }, more.stop_details === undefined);
  }

  #blockStart(index: number, whole: JsonObject): void {
    const type = textOf(whole.type) ?? "";
    if (this.#blank !== undefined) this.call({ index: this.#blank, done: true });
    if (type === "text" && this.#lastType === type) this.extend({ type: "content_block_start" }, true); // texts side by side stay apart
    this.#blank = undefined;
    this.#last = index;
    this.#lastType = type;
    const block: Block = { type, whole: { ...whole }, said: false, json: new Pile(), citations: [...listOf(whole.citations)] };
    this.#blocks.set(index, block);
    if (type === "tool_use") {
      const { type: _type, id: given, name, input: _input, ...rest } = whole;
      const id = textOf(given);
      const state = joined(opaques(WIRE, rest, CALLER), this.#carried.get(id ?? ""));
      this.call({ index, id, name: textOf(name), state });
    } else if (type === "text") this.text(textOf(whole.text) ?? "");
    else if (type === "thinking") this.#think(block, whole.thinking);
  }

  #delta(index: number, { type, ...delta }: JsonObject): void {
    const block = this.#blocks.get(index);
    if (type === "text_delta") this.text(textOf(delta.text) ?? "");
    else if (type === "thinking_delta") this.#think(block, delta.thinking);
    else if (type === "citations_delta") block?.citations.push(delta.citation ?? null);
    else if (type === "input_json_delta") this.#json(index, block, textOf(delta.partial_json) ?? "");
    else if (block) Object.assign(block.whole, delta); // `signature_delta`, and what is yet to come
  }

  #json(index: number, block: Block | undefined, json: string): void {
    if (block && block.type !== "tool_use") block.json.add(json);
    else this.call({ index, arguments: json });
    if (block) block.said ||= json.trim() !== "";
  }

  #think(block: Block | undefined, text: Json | undefined): void {
    if (block) block.said ||= !!text;
    this.thinking(textOf(text) ?? "");
  }

  #blockStop(index: number): void {
    const block = this.#blocks.get(index);
    if (!block) return;
    this.#blocks.delete(index);
    const { type, whole, citations } = block;
    if (type === "thinking") this.#thinkingStop(block);
    else if (type === "redacted_thinking") this.endThinking([{ wire: WIRE, kind: REDACTED, data: whole.data ?? "" }]);
    else if (type === "tool_use") this.#callStop(index, block);
    else if (type !== "text") this.text("", [{ wire: WIRE, kind: BLOCK, data: this.#whole(block) }]);
    else if (citations.length > 0) this.text("", [{ wire: WIRE, kind: "citations", data: citations }]);
  }

  #thinkingStop({ said, whole }: Block): void {
    const signature = textOf(whole.signature) ?? "";
    const capsule = openCapsule(signature);
    if (capsule?.call !== undefined) this.#carried.set(capsule.call, capsule.state ?? []);
    if (capsule?.call !== undefined && !said) return;
    this.startThinking();
    if (!said) this.thinking(capsule?.thinking ?? "");
    this.endThinking(capsule ? [...(capsule.thinkingState ?? [])] : [signed(signature)]);
  }

  #callStop(index: number, { said, whole }: Block): void {
    // Some servers send the input whole, with the start of the block.
    const input = said ? {} : objectOf(whole.input);
    const json = this.#texts?.take(input) ?? input;
    if (said) this.call({ index, done: true });
    else if (Object.keys(input).length > 0) this.call({ index, arguments: json, done: true });
    else this.#blank = index;
  }

  #whole({ whole, json }: Block): JsonObject {
    const input = json.length > 0 ? parsed(json.toString()) : undefined;
    return input === undefined ? whole : { ...whole, input };
  }
}
