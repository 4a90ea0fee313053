/**
 * Answers to clients: `event: content_block_delta` and `data: {"type": "content_block_delta", "index": 0, "delta": {…}}`. All
 * clients accept this: one block at a time, input only in deltas, and always a `message_delta` and a `message_stop`.
 */
import { isObject } from "../../core/json.ts";
import type { ErrorInfo, Event, Finish, Json, JsonObject, Opaque, ToolEnd } from "../../core/nouns.ts";
import { Answer, type ToolStart } from "../answer-out.ts";
import { EMPTY_CAPSULE, isPhase, isSignature, sealCapsule } from "../capsule.ts";
import { ERRORS, errorMessage } from "../errors.ts";
import { Balance } from "../json-text.ts";
import { foreign, putState } from "../opaque.ts";
import { argumentsValue } from "../raw.ts";
import { defined, grow, isEmpty, isText, listOf, objectOf, parsed, some, written } from "../read.ts";
import { sseEvent } from "../sse.ts";
import type { Draft } from "../wire.ts";
import { BLOCK, citationsOf, own, REDACTED, STOP_REASONS, STREAM, USAGE, WIRE } from "./common.ts";

export const errorBody = (error: ErrorInfo): JsonObject => ({
  type: "error",
  error: {
    type: ERRORS[error.code][2],
    message: errorMessage(error, "anthropic"),
    ...(error.native === undefined ? {} : { details: { error_code: error.native } }),
  },
});

/** A block's fields that the nouns have no place for, except those that are sent in another way. */
const fieldsOf = (state: readonly Opaque[] = []): Draft =>
  putState(
    WIRE,
    {},
    state.filter(({ kind }) => kind !== BLOCK && kind !== "citations" && kind !== "signature"),
  );

/** The events that begin a block. */
const BLOCKS: ReadonlySet<Event["type"]> = new Set(["text", "thinking-start", "tool-start"]);

export class MessageAnswer extends Answer {
  override readonly saysStop = true;
  override readonly keepsThoughts = this.hidden;
  readonly errorBody = errorBody;
  /** What extensions add to `message_start` and to `message_delta`. */
  #head: JsonObject = {};
  #tail: JsonObject = {};
  #refusal = "";
  #thinking: Draft = {};
  #started = false;
  #index = -1;
  #open = "";
  /** Counts the brackets of the open call's arguments. */
  #balance = new Balance();
  #blank = true;
  #carried = false;
  /** The last call was cut. */
  #cut = false;
  /** Nothing in the cut call's input shows that it was cut: its block is never closed. */
  #isHidden = false;

  /** A block after a cut call would make the call look complete. */
  override encode(event: Event): string {
    if (!this.over && this.#cut && BLOCKS.has(event.type))
      this.fail({ code: "malformed-call", message: "more came after a tool call that was cut" });
    return super.encode(event);
  }

  print(event: Draft): string {
    return sseEvent(JSON.stringify(event), String(event.type));
  }
  beat(): void {
    this.#start();
    this.send({ type: "ping" });
  }

  /** Sent with the first event that needs it, not at `start`, since an extension may add to it. */
  #start(): void {
    if (this.#started) return;
    this.#started = true;
    const { usage, ...more } = this.#head;
    const counted = this.#usage(usage);
    const message = {
      id: this.named("msg_"), // Claude Code treats messages with the same id as one
      type: "message",
      role: "assistant",
      model: this.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      ...more,
      // Roo and LangChain read the prompt's size only here; all others use the exact count in `message_delta`.
      usage: counted.input_tokens === undefined ? { input_tokens: this.options.estimate?.() ?? 0, ...counted } : counted,
    };
    this.send({ type: "message_start", message });
  }

  /** In this API, `input_tokens` excludes cache reads and writes. */
  #usage(more: unknown): Draft {
    const { thinkingTokens, ...counts } = this.usage ?? {};
    const { inputTokens, cachedTokens = 0, cacheWriteTokens = 0 } = counts;
    const fresh = inputTokens && Math.max(0, inputTokens - cachedTokens - cacheWriteTokens);
    const { output_tokens_details: details, ...rest } = objectOf(more);
    return defined<Draft>({
      ...written({ outputTokens: 0, ...counts, inputTokens: fresh }, USAGE),
      output_tokens_details: some<Draft>({ ...objectOf(details), thinking_tokens: thinkingTokens }),
      ...rest,
    });
  }

  // Blocks

  #begin(content_block: Draft): void {
    this.#start();
    this.#close();
    this.#open = String(content_block.type);
    this.send({ type: "content_block_start", index: ++this.#index, content_block });
  }
  #delta(delta: Draft): void {
    this.send({ type: "content_block_delta", index: this.#index, delta });
  }
  #word(type: string, key: string, text: string): void {
    const index = this.#index;
    this.word(`${type} ${index}`, text, (text) => ({ type: "content_block_delta", index, delta: { type, [key]: text } }));
  }
  #close(): void {
    if (this.#open === "") return;
    this.#open = "";
    this.send({ type: "content_block_stop", index: this.#index });
  }

  text(text: string, state?: readonly Opaque[]): void {
    const block = own(state, BLOCK);
    if (block) {
      this.#whole(objectOf(block), objectOf(own(state, STREAM)));
      return;
    }
    const citations = citationsOf(state);
    const fields = state ? fieldsOf(state) : {};
    const isMarked = !isEmpty(fields);
    if (text === "" && citations.length === 0 && !isMarked) {
      this.#carry("", state?.filter(isSignature));
      return;
    }
    this.#carry("", state?.filter(isPhase)); // before the text, which is only beginning
    const isNext = isMarked || (this.chunks !== undefined && text !== ""); // an answer that is not streamed has one event for each part
    if (this.#open !== "text" || isNext) this.#begin({ type: "text", text: "", ...fields });
    if (text !== "") this.#word("text_delta", "text", text);
    for (const citation of citations) this.#delta({ type: "citations_delta", citation });
    this.#carry("", state?.filter(isSignature));
  }
  override carries(opaque: Opaque): boolean {
    return isSignature(opaque);
  }

  /** A block that the nouns have no place for. */
  #whole(block: JsonObject, { start, deltas }: JsonObject): void {
    const { input } = start ? {} : block;
    this.#begin({ ...objectOf(start ?? block), ...(isObject(input) ? { input: {} } : {}) });
    for (const delta of listOf(deltas)) this.#delta({ ...objectOf(delta) });
    if (isObject(input)) this.#delta({ type: "input_json_delta", partial_json: JSON.stringify(input) });
    this.#close();
  }

  override thinkingStart(state?: readonly Opaque[]): void {
    this.#close();
    this.#thinking = fieldsOf(state);
  }
  thinking(thinking: string): void {
    if (this.#open !== "thinking") this.#begin({ type: "thinking", thinking: "", signature: "", ...this.#thinking });
    if (!this.hidden && thinking !== "") this.#word("thinking_delta", "thinking", thinking);
  }
  override thinkingEnd(state: readonly Opaque[]): void {
    const data = own(state, REDACTED);
    if (data === undefined) {
      this.thinking("");
      this.#sign(this.#signature(state));
    } else this.#begin({ type: "redacted_thinking", data });
    this.#close();
  }

  /** Anthropic's own signature, or a capsule that holds thinking the client does not want to see and another wire's state. */
  #signature(state: readonly Opaque[]): Json {
    const signature = own(state, "signature");
    const thinking = this.hidden ? (this.takeThoughts().at(-1)?.thinking ?? "") : "";
    // A server that shows thinking it was asked to omit has not put it into the signature. The ai SDK drops thinking without a signature.
    if (signature && thinking === "") return signature;
    const sealed = state.filter(({ wire, kind }) => wire !== WIRE || kind === "signature");
    return sealCapsule({ thoughts: [{ thinking, state: sealed }] }) ?? (signature || EMPTY_CAPSULE);
  }
  #sign(signature: unknown): void {
    if (signature !== "") this.#delta({ type: "signature_delta", signature });
  }

  // Calls

  override callStart({ id, name, state }: ToolStart): void {
    this.#carried = this.#carry(id, state);
    this.#balance = new Balance();
    this.#blank = true;
    this.#begin(putState(WIRE, { type: "tool_use", id, name, input: {} }, state));
  }

  /** Sends an empty thinking block whose signature carries another wire's state of a call, or of a text, so that it comes back to us. */
  #carry(call: string, state: readonly Opaque[] | undefined): boolean {
    const others = foreign(WIRE, state);
    const signature = others.some((opaque) => !opaque.quiet || isPhase(opaque)) ? sealCapsule({ call, state: others }) : undefined;
    if (signature === undefined) return false;
    this.#begin({ type: "thinking", thinking: "", signature: "" });
    this.#sign(signature);
    this.#close();
    return true;
  }

  override callDelta(partial_json: string): void {
    this.#blank &&= partial_json.trim() === "";
    this.#balance.read(partial_json);
    this.#word("input_json_delta", "partial_json", partial_json);
  }

  callEnd(call: ToolEnd): void {
    // Clients run a call once its block stops: a cut call stays open, unless its input is visibly incomplete.
    this.#cut = call.truncated === true;
    this.#isHidden = this.#cut && (this.#blank || this.#balance.complete);
    if (this.#isHidden) return;
    if (this.#blank && !this.#cut) this.callDelta(call.json ?? JSON.stringify(call.arguments));
    this.#close();
    if (!this.#carried && !this.#cut) this.#carry(call.id, call.state); // a block after a cut call would make it look complete
  }

  // Everything else

  override refusal(text: string): void {
    this.#refusal += text;
  }

  override own(data: JsonObject): void {
    if (data.type === "content_block_start")
      this.#close(); // the next text is another block
    else if (data.type === "message_start") this.#head = { ...this.#head, ...objectOf(data.message) };
    else if (data.type === "message_delta") {
      const { delta, ...beside } = data;
      this.#tail = { ...this.#tail, ...beside, delta: { ...objectOf(this.#tail.delta), ...objectOf(delta) } };
    } else if (data.type === "content_block_delta") {
      if (objectOf(data.delta).type === "thinking_delta") this.thinking(""); // it may be the first delta of its block
      if (this.#open !== "") this.#delta({ ...objectOf(data.delta) });
    } else {
      this.#start();
      this.send({ ...data });
    }
  }

  finish({ reason, native = "", stop }: Finish): void {
    this.#start();
    if (!this.#isHidden) this.#close();
    const { type = "message_delta", delta: unknown, usage, ...beside } = this.#tail;
    const { stop_details: details, ...more } = objectOf(unknown);
    const word = Object.keys(STOP_REASONS).find((word) => STOP_REASONS[word] === reason);
    const known = stop !== undefined && reason === "stop" ? "stop_sequence" : word;
    const explanation = this.#refusal;
    const isRefused = (explanation && reason === "stop") || (native === "refusal" && reason === "tool-calls"); // in the middle of calls
    const delta = {
      stop_reason: isRefused ? "refusal" : STOP_REASONS[native] === reason ? native : known,
      stop_sequence: stop ?? null,
      ...more,
      ...(explanation || details
        ? { stop_details: { type: "refusal", category: null, ...objectOf(details), explanation: explanation || null } }
        : {}),
    };
    this.send({ type, delta, ...beside, usage: this.#usage(usage) });
    this.send({ type: "message_stop" });
  }

  body(events: readonly Draft[]): unknown {
    let message: Draft = {};
    const blocks: Draft[] = [];
    for (const event of events) {
      const at = Number(event.index);
      const { type, citation, ...piece } = (event.delta ?? {}) as Draft;
      if (event.type === "message_start") message = { ...(event.message as Draft) };
      else if (event.type === "content_block_start") blocks[at] = { ...(event.content_block as Draft) };
      else if (event.type === "content_block_delta") grow(blocks[at]!, citation ? { citations: [citation] } : piece);
      else if (event.type === "message_delta") {
        const [first, last] = [message.usage, event.usage].map(objectOf) as [Draft, Draft];
        const details = { ...objectOf(first.output_tokens_details), ...objectOf(last.output_tokens_details) };
        const usage = { ...first, ...last, ...(isEmpty(details) ? {} : { output_tokens_details: details }) };
        const { type: _type, delta: _delta, ...beside } = event;
        Object.assign(message, event.delta, beside, { usage });
      }
    }
    message.content = blocks.map(({ partial_json: json, ...block }) => {
      const input = isText(json) ? parsed(json) : undefined; // a server's own call may have been cut
      return isText(json) && isObject(input) ? { ...block, input: argumentsValue({ arguments: input, json }) } : block;
    });
    return message;
  }
}
