/** Servers' answers, whole or as events: `message_start`, `content_block_start`, `_delta` and `_stop`, `message_delta`, `message_stop`. */
import type { ErrorInfo, Json, JsonObject, Opaque, Usage } from "../../core/nouns.ts";
import { Pile } from "../../core/pile.ts";
import { AnswerReader } from "../answer-in.ts";
import { openCapsule } from "../capsule.ts";
import { type End, mayCut } from "../events.ts";
import { Fields } from "../fields.ts";
import { joined, opaque } from "../opaque.ts";
import { entryOf, grow, isList, objectOf, parsed, textOf, words } from "../read.ts";
import { ArgumentTexts } from "../spans.ts";
import { BLOCK, type Carried, REDACTED, STOP_REASONS, STREAM, signed, USAGE, WIRE } from "./common.ts";

/** A block that is being received. */
interface Block {
  readonly type: string;
  /** The block as it began; deltas of unknown blocks are added to it. */
  whole: { [key: string]: Json };
  /** The start and the deltas of an unknown block. */
  stream?: { readonly start: JsonObject; readonly deltas: Json[] };
  /** Fields that the nouns have no place for; a text carries them with its first piece. */
  state: Opaque[] | undefined;
  /** Some of its content has been received. */
  said: boolean;
  readonly json: Pile;
  readonly citations: Json[];
}

const QUIET = words("caller");
/** The blocks that the nouns have a place for. */
const KNOWN = words("text thinking redacted_thinking tool_use");

export class MessageReader extends AnswerReader {
  readonly wire = WIRE;
  override readonly quiet = QUIET;
  override readonly repeats = true;
  readonly #blocks = new Map<number, Block>();
  readonly #carried: Carried = new Map();
  /** A call that ended without arguments: only what follows tells whether it was cut. */
  #blank: number | undefined;
  #last = -1;
  #lastType = "";
  readonly #counts: Usage = {};
  #end: End = {};
  /** The original text of the inputs, in a whole answer. */
  #texts: ArgumentTexts | undefined;

  override body(message: Fields, text: string): void {
    const { content, stop_reason = null, stop_sequence = null, stop_details = null } = message.value;
    if (!isList(content)) {
      this.broken(message.value);
      return;
    }
    this.#texts = new ArgumentTexts(text, "input");
    message.ask("stop_details");
    this.#messageStart(message);
    const cut = entryOf(STOP_REASONS, stop_reason) === "length";
    message.each("content", (block, index) => {
      this.#blockStart(index, block);
      // In a truncated answer, the last call may be incomplete, and nothing shows it.
      if (!(cut && index === content.length - 1)) this.#blockStop(index);
    });
    this.#messageDelta(new Fields({ delta: { stop_reason, stop_sequence, stop_details } }, this));
  }

  chunk(event: Fields, _text: string, name: string): void {
    const type = event.json("type") ?? name;
    const index = event.number("index") ?? this.#last + Number(type === "content_block_start");
    if (type === "message_start") this.#messageStart(event.inner("message"), true);
    else if (type === "content_block_start") this.#blockStart(index, event.inner("content_block"));
    else if (type === "content_block_delta") this.#delta(index, objectOf(event.value.delta));
    else if (type === "content_block_stop") this.#blockStop(index);
    else if (type === "message_delta") this.#messageDelta(event);
    else if (type === "message_stop") this.end(true);
    else if (type !== "ping") this.extend(event.value);
  }

  override fail(error: ErrorInfo): void {
    this.#end = { error };
    this.end(false);
  }

  end(ended: boolean): void {
    this.#end.ended ||= ended;
    const cut = mayCut(this.#end.reason) || !this.#end.ended;
    const last = [...this.#blocks.keys()].at(-1);
    for (const [index, { type }] of this.#blocks) {
      if (type === "tool_use" && cut && index === last) this.call({ index, truncated: true });
      else this.#blockStop(index);
    }
    this.finish(this.#end);
  }

  #messageStart(message: Fields, isStreamed = false): void {
    if (this.#last >= 0) this.fail({ code: "upstream", message: "the server began another answer before the end of this one" });
    this.start(message.text("id"), message.text("model"));
    message.ask("type", "role", "content", "stop_reason", "stop_sequence");
    this.#count(message);
    if (isStreamed) this.counted(); // some clients read the prompt's tokens only here
    const rest = message.rest();
    if (rest) this.extend({ type: "message_start", message: rest }, true);
  }

  #messageDelta(event: Fields): void {
    const delta = event.inner("delta");
    const native = delta.text("stop_reason");
    const stop = delta.text("stop_sequence");
    if (native !== undefined) this.#end = { reason: entryOf(STOP_REASONS, native) ?? "stop", native, stop, ended: true };
    const details = delta.inner("stop_details");
    details.ask("type");
    this.refusal(details.text("explanation") ?? "");
    this.#count(event);
    const rest = event.rest();
    if (rest) this.extend({ type: "message_delta", ...rest }, objectOf(rest.delta).stop_details === undefined);
  }

  /** Reads the usage. Fields that the nouns do not count are left for the same wire. */
  #count(given: Fields): void {
    const usage = given.inner("usage");
    const counts = Object.assign(this.#counts, usage.read(USAGE), usage.inner("output_tokens_details").read(USAGE));
    const { inputTokens = 0, cachedTokens = 0, cacheWriteTokens = 0 } = counts;
    const all: Usage = { ...counts, inputTokens: inputTokens + cachedTokens + cacheWriteTokens };
    if (Object.values(all).some(Boolean)) this.usage(all);
  }

  #blockStart(index: number, given: Fields): void {
    const type = given.text("type") ?? "";
    if (this.#blank !== undefined) this.call({ index: this.#blank, done: true });
    if (type === "text" && this.#lastType === type) this.extend({ type: "content_block_start" }, true); // keeps neighbouring texts apart
    this.#blank = undefined;
    this.#last = index;
    this.#lastType = type;
    const citations = [...given.list("citations")];
    const block: Block = { type, whole: { ...given.value }, state: undefined, said: false, json: new Pile(), citations };
    this.#blocks.set(index, block);
    if (type === "tool_use") {
      const [id, name] = [given.text("id"), given.text("name")];
      given.ask("input");
      this.call({ index, id, name, state: joined(given.state(), this.#carried.get(id ?? "")) });
    } else if (type === "text" || type === "thinking") {
      const said = given.text(type) ?? "";
      given.ask("signature");
      block.state = given.state();
      this.#say(block, said);
    }
  }

  #delta(index: number, { type, ...delta }: JsonObject): void {
    const block = this.#blocks.get(index);
    if (type === "thinking_delta" && delta.thinking === "") this.#thinks(block, delta);
    else if (type === "text_delta" || type === "thinking_delta")
      this.#say(block, textOf(delta.text ?? delta.thinking) ?? "", type === "text_delta");
    else if (type === "citations_delta") block?.citations.push(delta.citation ?? null);
    else if (type === "input_json_delta") this.#json(index, block, textOf(delta.partial_json) ?? "");
    else if (type === "signature_delta") Object.assign(block?.whole ?? {}, delta);
    else if (!block || KNOWN.has(block.type)) this.extend({ type: "content_block_delta", delta: { type: type ?? null, ...delta } });
    else {
      block.stream ??= { start: block.whole, deltas: [] };
      block.stream.deltas.push({ type: type ?? null, ...delta });
      block.whole = grow({ ...block.whole }, delta) as JsonObject;
    }
  }

  #json(index: number, block: Block | undefined, json: string): void {
    if (block && block.type !== "tool_use") block.json.add(json);
    else this.call({ index, arguments: json });
    if (block) block.said ||= json.trim() !== "";
  }

  #say(block: Block | undefined, text: string, isText = block?.type === "text"): void {
    if (text === "") return;
    const state = block?.said ? undefined : block?.state;
    if (block) block.said = true;
    if (isText) this.text(text, state);
    else {
      this.startThinking(state);
      this.thinking(text);
    }
  }

  /** Hidden thinking is only counted, to show progress: `{"type":"thinking_delta","thinking":"","estimated_tokens":50}`. */
  #thinks(block: Block | undefined, delta: JsonObject): void {
    if (!Object.values(delta).some((value) => value !== null && value !== "")) return;
    this.startThinking(block?.state);
    this.extend({ type: "content_block_delta", delta: { type: "thinking_delta", ...delta } }, true);
  }

  #blockStop(index: number): void {
    const block = this.#blocks.get(index);
    if (!block) return;
    this.#blocks.delete(index);
    const { type, whole, citations, said, state } = block;
    if (type === "thinking") this.#thinkingStop(block);
    else if (type === "redacted_thinking") this.endThinking([{ wire: WIRE, kind: REDACTED, data: whole.data ?? "" }]);
    else if (type === "tool_use") this.#callStop(index, block);
    else if (type !== "text") this.text("", this.#unknown(block));
    else {
      if (!said && state) this.text("", state);
      if (citations.length > 0) this.text("", [{ wire: WIRE, kind: "citations", data: citations }]);
    }
  }

  #thinkingStop({ said, whole, state = [] }: Block): void {
    const signature = textOf(whole.signature) ?? "";
    const capsule = openCapsule(signature);
    if (capsule?.call !== undefined) this.#carried.set(capsule.call, capsule.state ?? []);
    if (capsule?.call === "") this.text("", [...(capsule.state ?? [])]);
    if (capsule?.call !== undefined && !said) return;
    this.startThinking(state);
    const [thought = {}] = capsule?.thoughts ?? [];
    if (!said) this.thinking(thought.thinking ?? "");
    this.endThinking([...(capsule ? (thought.state ?? []) : [signed(signature)]), ...state]);
  }

  #callStop(index: number, { said, whole }: Block): void {
    // Some servers send the whole input with the start of the block.
    const input = said ? {} : objectOf(whole.input);
    if (said) this.call({ index, done: true });
    else if (Object.keys(input).length > 0) this.call({ index, arguments: this.#texts?.take(input) ?? input, done: true });
    else this.#blank = index;
  }

  /** The input is also kept as it was streamed, for it may have been cut. */
  #unknown({ whole, json, stream: { start, deltas } = { start: whole, deltas: [] } }: Block): Opaque[] {
    const partial_json = json.toString();
    const input = parsed(partial_json);
    if (partial_json !== "") deltas.push({ type: "input_json_delta", partial_json });
    const block = opaque(WIRE, BLOCK, input === undefined ? whole : { ...whole, input });
    return deltas.length > 0 ? [block, opaque(WIRE, STREAM, { start, deltas }, true)] : [block];
  }
}
