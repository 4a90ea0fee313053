/** An answer for a client: `data: {"id": …, "choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": null}]}`, over and over. */
import type { Event, Finish, Json, JsonObject, Opaque, ToolEnd } from "../../core/nouns.ts";
import { Answer, CUT_CALL, type ToolStart } from "../answer-out.ts";
import { CustomInput, customInput, toolKind } from "../bridge.ts";
import { isPhase, isSignature, sealCapsule } from "../capsule.ts";
import { openaiError } from "../errors.ts";
import { ownState, putState } from "../opaque.ts";
import { CHAT_USAGE, writeUsage } from "../openai.ts";
import { grow, isEmpty, listOf, objectOf } from "../read.ts";
import { HEARTBEAT, sseEvent } from "../sse.ts";
import type { Draft } from "../wire.ts";
import { sealDetail, textDetail } from "./details.ts";
import { carriedBy, signatureContent } from "./signature.ts";
import { AS_PART, FUNCTION_CALL, FUNCTIONS, LOGPROBS, REASONS, spellingOf, THINKING, WIRE } from "./tables.ts";

/** A call that is being written. */
interface Call {
  readonly index: number;
  readonly id: string;
  /** Its first chunk, which waits for its arguments: clients run a call without any. */
  start: (Draft & { index: number }) | undefined;
  state: Opaque[] | undefined;
  /** What closes the arguments waits until the call has ended. */
  held: string;
  readonly input: CustomInput | undefined;
}

/** What may come between the details of thinking and its text: of a whole answer all that is only its server's comes first. */
const PATIENT = /^(thinking-(start|delta)|extension|usage)$/;

export class ChatAnswer extends Answer {
  override readonly saysStop = true;
  override readonly sorts = true;
  readonly #created = Math.floor(this.now().getTime() / 1000);
  /** The client knows one call at most, which has no id. */
  readonly #isOld = this.#said(FUNCTIONS) !== undefined;
  /** In a stream there is no reason then, and no `[DONE]`: nobody shall take what was sent for the whole. */
  readonly errorBody = openaiError;
  #only: number | undefined;
  #head: string | undefined;
  #opened = false;
  /** OpenRouter's clients ask for thinking by its name there. They bring nothing back but its details, and hear of the usage unasked. */
  readonly #isRouters = Boolean(this.#said("reasoning") ?? this.#said("include_reasoning"));
  /** What thinking is called by the server that it comes from. */
  #field: string = THINKING[0];
  /** How many details there are; `undefined`: nobody wants ours, or the server has its own. */
  #details: number | undefined = this.#isRouters ? 0 : undefined;
  #usageRest: Draft = {};
  #call: Call | undefined;
  /** How many calls the client knows of: one that was cut before it began is none. */
  #begun = 0;
  /** The server's own, which wait for the text that they say again: clients read one of the two in each chunk. */
  #waiting: Json | undefined;
  /** Gemini's, of the last text that has one. */
  #kept: Opaque | undefined;

  override encode(event: Event): string {
    if (this.#waiting && !PATIENT.test(event.type)) this.#detailed({});
    return super.encode(event);
  }

  override end(): string {
    if (this.#waiting) this.#detailed({});
    return super.end();
  }

  /** In a field of the request that no noun stands for. */
  #said(field: string): Json | undefined {
    return ownState(WIRE, this.request.extra, field);
  }

  begin(): void {
    this.#delta({});
  }
  text(text: string, state?: readonly Opaque[]): void {
    const logprobs = state && ownState(WIRE, state, LOGPROBS);
    if (logprobs) this.#delta({ content: text }, undefined, { logprobs });
    else if (text !== "") this.#word("content", text);
    this.#kept = state?.findLast((opaque) => isSignature(opaque) || isPhase(opaque)) ?? this.#kept;
  }
  override carries(opaque: Opaque): boolean {
    return isSignature(opaque);
  }
  override thinkingStart(state?: readonly Opaque[]): void {
    const field = spellingOf(state);
    if (field !== undefined && field !== AS_PART) this.#field = field; // in an answer few would understand that
    if (this.#details !== undefined) this.#details++;
  }
  thinking(text: string): void {
    const field = this.#isRouters ? THINKING[1] : this.#field;
    if (this.#waiting) this.#detailed({ [field]: text });
    else if (this.#details === undefined) this.#word(field, text);
    else this.#delta({ [field]: text, ...textDetail(text, this.#field, this.#details) });
  }
  #detailed(fields: Draft): void {
    const reasoning_details = this.#waiting;
    this.#waiting = undefined;
    this.#delta({ ...fields, reasoning_details });
  }
  override refusal(text: string): void {
    this.#delta({ refusal: text });
  }
  beat(): void {
    this.say(HEARTBEAT);
  }

  #word(key: string, text: string): void {
    if (this.#opened) this.word(key, text, (text) => chunkOf({ [key]: text }));
    else this.#delta({ [key]: text });
  }

  /** The first one says whose words these are. */
  #delta(fields: Draft, finish_reason?: string, more?: Draft): void {
    const delta = this.#opened ? fields : { role: "assistant", content: "", ...fields };
    this.#opened = true;
    this.send(chunkOf(delta, finish_reason, more));
  }

  /** What all chunks share is printed once. */
  print(chunk: Draft): string {
    const json = JSON.stringify(chunk);
    return sseEvent(chunk.error ? json : this.#headed + json.slice(1));
  }
  get #headed(): string {
    this.#head ??= `${JSON.stringify(this.#heading("chat.completion.chunk")).slice(0, -1)},`;
    return this.#head;
  }

  #heading(object: string): Draft {
    return { id: this.named("chatcmpl-"), object, created: this.#created, model: this.model };
  }

  // Calls

  override callStart({ id, name, state }: ToolStart): void {
    const index = this.#begun;
    const custom = toolKind(this.request.tools, name) === "custom";
    const start = custom
      ? { index, id, type: "custom", custom: { name, input: "" } }
      : { index, id, type: "function", function: { name, arguments: "" } };
    this.#call = { index, id, start, held: "", state, input: custom ? new CustomInput() : undefined };
  }

  override callDelta(json: string): void {
    const call = this.#call;
    if (call?.input) this.#piece(call, call.input.add(json));
    if (!call || call.input) return;
    const end = json.trimEnd().length;
    const text = call.held + json;
    const close = call.held.length + end - 1;
    const ready = end === 0 ? 0 : text[close] === "}" ? close : text.length;
    call.held = text.slice(ready);
    this.#piece(call, text.slice(0, ready));
  }

  #piece(call: Call, text: string): void {
    if (text === "") return;
    if (call.start) this.#calls(this.#signed(call.start, call.id, call.state));
    call.start = undefined;
    const { index } = call;
    if (this.#isOld) this.#calls({ index, ...pieceOf(call, text) });
    else this.word(`call ${index}`, text, (text) => chunkOf({ tool_calls: [{ index, ...pieceOf(call, text) }] }));
  }

  #calls(call: Draft & { index: number }): void {
    if (!this.#isOld) {
      this.#delta({ tool_calls: [call] });
      return;
    }
    this.#only ??= call.index;
    if (call.index === this.#only) this.#delta({ [FUNCTION_CALL]: call.function });
    else this.warnings.dropped(`every call behind the first, for a client of ${FUNCTION_CALL},`);
  }

  /** A call's own state and what it carries for others, onto the call. */
  #signed<T extends Draft>(call: T, id: string, state: Opaque[] = []): T {
    const carried = carriedBy({ state, thoughts: this.takeThoughts() }, this.warnings);
    if (carried !== undefined && this.#details !== undefined) this.#delta(sealDetail(carried, id, ++this.#details));
    return putState(WIRE, carried === undefined ? call : { ...call, extra_content: signatureContent(carried) }, state);
  }

  /** Clients run what parses, whatever the reason says, and take nothing for `{}`: so a call that was cut is not even begun without arguments, and never closed. */
  callEnd(event: ToolEnd): void {
    const call = this.#call;
    this.#call = undefined;
    if (!call) return;
    if (call.start) call.state = event.state; // the ai SDK takes a signature only from the first chunk of a call
    if (!event.truncated) {
      const unsaid =
        call.start && call.held === "" ? (call.input ? customInput(event) : (event.json ?? JSON.stringify(event.arguments))) : "";
      if (call.start && unsaid + call.held === "") this.#calls(this.#signed(call.start, call.id, call.state));
      else this.#piece(call, call.held + unsaid);
    }
    if (call.start && event.truncated) this.warnings.dropped(CUT_CALL);
    else this.#begun++;
    if (call.state || call.start) return;
    const late = this.#signed({ index: call.index, ...pieceOf(call, "") }, call.id, event.state); // without a piece, the ai SDK fails
    if (Object.keys(late).length > 2) this.#calls(late);
  }

  // The rest

  /** It has the shape of a chunk. */
  override own({ usage, choices, ...more }: JsonObject): void {
    grow(this.#usageRest, objectOf(usage));
    if (choices === undefined && isEmpty(more)) return;
    const { reasoning_details, ...delta } = objectOf(objectOf(listOf(choices)[0]).delta);
    if (reasoning_details && isEmpty(delta)) {
      if (this.#waiting) this.#detailed({});
      this.#waiting = reasoning_details;
      this.#details = undefined;
      return;
    }
    const choice = grow({ index: 0, delta: {}, finish_reason: null }, objectOf(listOf(choices)[0]));
    this.send({ choices: [choice], ...more });
  }

  finish({ reason, stop }: Finish): void {
    const more = stop === undefined ? undefined : { stop_reason: stop }; // as vLLM has it
    const kept = this.#kept && (isSignature(this.#kept) ? this.#kept.data : sealCapsule({ state: [this.#kept] }));
    const signed = kept ? { extra_content: signatureContent(kept) } : undefined;
    const word = this.#isOld && reason === "tool-calls" ? FUNCTION_CALL : REASONS[reason];
    this.#delta(signed ?? {}, word, more);
    const said = objectOf(this.#said("stream_options")).include_usage ?? objectOf(this.#said("usage")).include ?? this.#isRouters;
    if (this.usage && (said === true || this.chunks))
      this.send({ choices: [], usage: grow(writeUsage(this.usage, CHAT_USAGE), this.#usageRest) });
    this.say(sseEvent("[DONE]"));
  }

  body(chunks: readonly Draft[]): unknown {
    const message: Draft = { role: "assistant", content: null, refusal: null };
    const choice: Draft = { index: 0, message, logprobs: null, finish_reason: null };
    const body: Draft = { ...this.#heading("chat.completion"), choices: [choice] };
    const calls: Draft[] = [];
    for (const { choices, ...more } of chunks) {
      const { delta, ...rest } = (choices as Draft[])[0] ?? {};
      const { role: _role, tool_calls, ...said } = (delta ?? {}) as Draft;
      for (const { index, ...piece } of (tool_calls ?? []) as (Draft & { index: number })[]) calls[index] = grow(calls[index] ?? {}, piece);
      grow(message, said);
      grow(choice, rest);
      grow(body, more);
    }
    message.content ||= null;
    const made = calls.filter(Boolean);
    if (made.length > 0) message.tool_calls = made;
    return body;
  }
}

const chunkOf = (delta: Draft, finish_reason: string | null = null, more?: Draft): Draft => ({
  choices: [{ index: 0, delta, finish_reason, ...more }],
});

const pieceOf = (call: Call, text: string): Draft => (call.input ? { custom: { input: text } } : { function: { arguments: text } });
