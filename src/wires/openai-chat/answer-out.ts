/** Writes an answer for a client, as chunks: `data: {"id": …, "choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": null}]}`. */
import { isObject } from "../../core/json.ts";
import type { Event, Finish, Json, JsonObject, Opaque, ToolEnd } from "../../core/nouns.ts";
import { Answer, CUT_CALL, type ToolStart } from "../answer-out.ts";
import { CustomInput, customInput, toolKind } from "../bridge.ts";
import { isPhase, isSignature, sealCapsule } from "../capsule.ts";
import { openaiError } from "../errors.ts";
import { ownState, ownStates, putState } from "../opaque.ts";
import { CHAT_USAGE, writeUsage } from "../openai.ts";
import { grow, isEmpty, isList, isText, listOf, objectOf, restOf } from "../read.ts";
import { HEARTBEAT, sseEvent } from "../sse.ts";
import type { Draft } from "../wire.ts";
import { sealDetail, textDetail } from "./details.ts";
import { carriedBy, signatureContent } from "./signature.ts";
import { AS_PART, FUNCTION_CALL, FUNCTIONS, LOGPROBS, PART, REASONS, spellingOf, THINKING, WIRE } from "./tables.ts";

/** A call that is being written. */
interface Call {
  readonly index: number;
  readonly id: string;
  /** The call's first chunk. It waits for the arguments, because clients run a call that has none. */
  start: (Draft & { index: number }) | undefined;
  state: Opaque[] | undefined;
  /** The closing brace of the arguments and what follows it, held back until the call has ended. */
  held: string;
  readonly input: CustomInput | undefined;
}

/** Events that may come between `reasoning_details` and the text that they repeat: in a whole answer all extensions come first. */
const PATIENT = /^(thinking-(start|delta)|extension|usage)$/;

export class ChatAnswer extends Answer {
  override readonly saysStop = true;
  override readonly sorts = true;
  override readonly keepsThoughts = true;
  readonly #created = Math.floor(this.now().getTime() / 1000);
  /** The client knows only `function_call`: one call, without an id. */
  readonly #isOld = this.#said(FUNCTIONS) !== undefined;
  /** After an error a stream has neither a finish reason nor `[DONE]`, so that no client takes it for complete. */
  readonly errorBody = openaiError;
  #head: string | undefined;
  #opened = false;
  /** OpenRouter's clients ask for thinking with these fields. They send back only its details, and get the usage without asking for it. */
  readonly #isRouters = Boolean(this.#said("reasoning") ?? this.#said("include_reasoning"));
  /** The field in which the server sends thinking. */
  #field: string = THINKING[0];
  /** The index of our last detail; `undefined`: the client wants none, or the server sends its own. */
  #details: number | undefined = this.#isRouters ? 0 : undefined;
  #usageRest: Draft = {};
  #call: Call | undefined;
  /** How many calls the client has seen; a call that was cut before its first chunk does not count. */
  #begun = 0;
  /** The server's own details. They wait for the text that they repeat: of the two, clients read only one in each chunk. */
  #waiting: Json | undefined;
  /** Gemini's signature, or OpenAI's phase, of the last text that has one. */
  #kept: Opaque | undefined;

  override encode(event: Event): string {
    if (this.#waiting && !PATIENT.test(event.type)) this.#detailed({});
    return super.encode(event);
  }

  override end(): string {
    if (this.#waiting) this.#detailed({});
    return super.end();
  }

  /** A field of the request that the nouns do not have. */
  #said(field: string): Json | undefined {
    return ownState(WIRE, this.request.extra, field);
  }

  begin(): void {
    this.#delta({});
  }
  text(text: string, state?: readonly Opaque[]): void {
    const part = state && ownState(WIRE, state, PART);
    const logprobs = state && ownStates(WIRE, state, LOGPROBS);
    if (part) this.#delta({ content: [part] });
    else if (logprobs?.length)
      this.#delta({ content: text }, undefined, { logprobs: logprobs.reduce<Draft>((all, piece) => grow(all, objectOf(piece)), {}) });
    else if (text !== "") this.#word("content", text);
    this.#kept = state?.findLast((opaque) => isSignature(opaque) || isPhase(opaque)) ?? this.#kept;
  }
  override carries(opaque: Opaque): boolean {
    return isSignature(opaque);
  }
  override thinkingStart(state?: readonly Opaque[]): void {
    const field = spellingOf(state);
    if (field !== undefined && field !== AS_PART) this.#field = field; // few clients understand thinking in `content`
    if (this.#details !== undefined) this.#details++;
  }
  thinking(text: string): void {
    if (this.hidden) return;
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

  /** The first delta has the role. */
  #delta(fields: Draft, finish_reason?: string, more?: Draft): void {
    const delta = this.#opened ? fields : { role: "assistant", content: "", ...fields };
    this.#opened = true;
    this.send(chunkOf(delta, finish_reason, more));
  }

  /** The fields that all chunks share are printed once. */
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
    if (call.index === 0) this.#delta({ [FUNCTION_CALL]: call.function });
    else this.warnings.dropped(`every call after the first, for a client of ${FUNCTION_CALL},`);
  }

  /** Puts the call's own state, and what it carries for other wires, onto the call. */
  #signed<T extends Draft>(call: T, id: string, state: Opaque[] = []): T {
    const carried = carriedBy({ state, thoughts: this.takeThoughts() }, this.warnings, this.hidden);
    if (carried !== undefined && this.#details !== undefined) this.#delta(sealDetail(carried, id, ++this.#details));
    return putState(WIRE, carried === undefined ? call : { ...call, extra_content: signatureContent(carried) }, state);
  }

  /**
   * Clients run every call whose arguments parse, whatever the finish reason, and take no arguments for `{}`. So a call that was cut is
   * never closed, and not even begun if it has no arguments.
   */
  callEnd(event: ToolEnd): void {
    const call = this.#call;
    this.#call = undefined;
    if (!call) return;
    if (call.start) call.state = event.state; // the ai SDK takes a signature only from the first chunk of a call
    if (!event.truncated) {
      const unsent =
        call.start && call.held === "" ? (call.input ? customInput(event) : (event.json ?? JSON.stringify(event.arguments))) : "";
      if (call.start && unsent + call.held === "") this.#calls(this.#signed(call.start, call.id, call.state));
      else this.#piece(call, call.held + unsent);
    }
    if (call.start && event.truncated) this.warnings.dropped(CUT_CALL);
    else this.#begun++;
    if (call.start) return;
    const state = event.state?.flatMap((opaque) => unsentOf(opaque, ownState(opaque.wire, call.state, opaque.kind)));
    const late: Draft & { index: number } = this.#signed({ index: call.index, ...pieceOf(call, "") }, call.id, state); // the ai SDK fails on a chunk without `function`
    const isMore = [late, objectOf(late.function ?? late.custom)].some((part, i) => Object.keys(part).length > 2 - i);
    if (isMore) this.#calls(late);
  }

  // The rest

  /** The extension has the shape of a chunk. */
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
    const more = stop === undefined ? undefined : { stop_reason: stop }; // vLLM's field
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
      if (isList(said.content) || isList(message.content)) {
        message.content = [message.content, said.content].flatMap(partsOf);
        delete said.content;
      }
      for (const { index, ...piece } of (tool_calls ?? []) as (Draft & { index: number })[]) calls[index] = grow(calls[index] ?? {}, piece);
      grow(message, said);
      grow(choice, rest, true);
      grow(body, more, true);
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

/** Content as a list of parts. */
const partsOf = (content: unknown): readonly Json[] =>
  isText(content) && content !== "" ? [{ type: "text", text: content }] : listOf(content);

/** What a call's state has beyond what was sent of it: all of it, new fields of an object, or nothing. */
function unsentOf(opaque: Opaque, sent: Json | undefined): Opaque[] {
  if (sent === undefined) return [opaque];
  const data = isObject(sent) && isObject(opaque.data) ? restOf(opaque.data, (key) => !Object.hasOwn(sent, key)) : undefined;
  return data ? [{ ...opaque, data }] : [];
}

const pieceOf = (call: Call, text: string): Draft => (call.input ? { custom: { input: text } } : { function: { arguments: text } });
