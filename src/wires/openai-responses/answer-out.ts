/**
 * Writes answers for clients: events become items, and every step of an item is an event (added, its pieces, done). The openai SDK needs each
 * item added before its pieces, codex and the ai SDK act on `output_item.done`, and all need a last event with the whole output.
 */
import { isObject } from "../../core/json.ts";
import type { ErrorInfo, Event, Finish, FinishReason, JsonObject, Opaque, ToolEnd } from "../../core/nouns.ts";
import { Pile } from "../../core/pile.ts";
import { CUT_CALL, type ToolStart } from "../answer-out.ts";
import { CustomInput, customInput, toolKind } from "../bridge.ts";
import { EMPTY_CAPSULE, isSignature, sealCapsule } from "../capsule.ts";
import { openaiError } from "../errors.ts";
import { foreign, opaques, ownStates, putState } from "../opaque.ts";
import { RESPONSES_USAGE, writeUsage } from "../openai.ts";
import { defined, grow, isText, listOf, objectOf, parsed, textOf } from "../read.ts";
import type { Draft } from "../wire.ts";
import {
  BREAK,
  COMPACT,
  COMPACTION,
  calledBy,
  instructionsOf,
  isCompacting,
  isMinted,
  mintedId,
  NEXT_SUMMARY,
  NEXT_TEXT,
  own,
  RAW,
  WIRE,
} from "./items.ts";
import { ItemAnswer, type Open, placeOf } from "./items-out.ts";
import { isNative, writeCall } from "./natives.ts";
import { settingsOf } from "./request-out.ts";
import { TURN } from "./turns.ts";

/** Events without content, which are handled even while an answer is compacted. */
const SETTLING: ReadonlySet<Event["type"]> = new Set(["start", "extension", "usage", "finish"]);

/** The `incomplete_details` of an answer that is not complete. */
const CUT: Readonly<Partial<Record<FinishReason, string>>> = { length: "max_output_tokens", "content-filter": "content_filter" };

/** An answer that a server of this API reports as failed or cancelled is still sent as an answer, with its content and usage. */
export const hasReason = ({ native }: Finish): boolean => native === "failed" || native === "cancelled";

export class ResponseAnswer extends ItemAnswer {
  /** The response object, which the first and the last events contain. */
  readonly #response: Draft = {};
  /** What extensions add to the response's `usage` and `incomplete_details`. */
  readonly #rest: Draft = {};
  /** The open item; at most one of these. */
  #message: Open | undefined;
  #reasoning: Open | undefined;
  /** Where thinking is sent: in the summary, which every client shows, or in `content` if a server of this API sent it there. */
  #thinkingIn: "summary" | "content" = "summary";
  /** The next `BREAK` begins another part of the summary. */
  #isNext = false;
  #call: Open | undefined;
  /** The indexes of items that only this wire knows, by their ids. */
  readonly #foreign = new Map<unknown, number>();
  /** Set if the whole answer must be one compaction item: the text so far. */
  readonly #compacted = isCompacting(this.request) ? new Pile() : undefined;

  override encode(event: Event): string {
    if (event.type !== "start" && !this.over) this.begin();
    if (!this.#compacted || SETTLING.has(event.type)) return super.encode(event);
    if (event.type === "text") this.#compacted.add(event.text);
    return "";
  }

  // The response

  override begin(): void {
    if (this.#response.id !== undefined) return;
    const { id, options, request } = this;
    this.seed = id?.replace(/\W/g, "") || options.mintId?.(0) || Math.random().toString(36).slice(2);
    const { include: _include, ...settings } = settingsOf(request);
    Object.assign(this.#response, {
      id: id ?? mintedId("resp", this.seed),
      object: "response",
      created_at: Math.floor(this.now().getTime() / 1000),
      status: "in_progress",
      error: null,
      incomplete_details: null,
      instructions: instructionsOf(request.messages[0]) ?? null,
      metadata: own(request.extra, "metadata") ?? {},
      model: this.model,
      output: [],
      parallel_tool_calls: true,
      temperature: null,
      tool_choice: "auto",
      tools: [],
      top_p: null,
      ...settings,
    });
    for (const step of ["created", "in_progress"]) this.event(`response.${step}`, { response: this.#response });
  }

  /** Writes the compaction item; returns whether there is one. A server of this API sends its own. */
  #compact(summary: string): boolean {
    const sealed = sealCapsule({ thoughts: [{ thinking: summary }] });
    if (sealed !== undefined) this.done(this.open("cmp", { type: COMPACTION, encrypted_content: sealed }), {});
    return this.output.length > 0;
  }

  finish({ reason }: Finish): void {
    if (this.#compacted && !this.#compact(this.#compacted.toString())) {
      this.fail({ code: "upstream", message: "the model wrote no summary, or one that is too long" });
      return;
    }
    const cut = CUT[reason];
    const status = cut ? "incomplete" : "completed";
    this.#closeReasoning();
    this.#closeMessage(status);
    this.#end(status, { incomplete_details: cut ? { reason: cut, ...objectOf(this.#rest.incomplete_details) } : null });
    this.#keep();
  }

  /** Stores the turn for a client that continues from this answer's id. A server of this API stores its own answers. */
  #keep(): void {
    const id = String(this.#response.id);
    const turn = own(this.request.extra, TURN);
    if (turn && this.keeps && isMinted(id)) this.options.keep?.(id, { ...objectOf(turn), output: this.#response.output });
  }

  /** The failed response has the items that are done. In a stream the open message is not closed: codex keeps every done item and asks again. */
  override fail(info: ErrorInfo): void {
    this.begin();
    if (this.chunks) this.#closeMessage("incomplete");
    const { code, message, param = null, ...error } = objectOf(openaiError(info).error);
    // Codex gives up on `server_is_overloaded`, and waits as long as the message of a rate limit says.
    const word = info.code === "overloaded" ? info.code : (code ?? "invalid_prompt");
    const wait = info.code === "rate-limit" && info.retryAfterMs ? ` Please try again in ${info.retryAfterMs / 1000}s.` : "";
    this.over = true;
    const told = { code: word, message: `${message}${wait}`, param };
    // Like the API: the SDKs throw on an event that has `error`, and LangChain recognizes no other event as an error.
    this.event("error", { ...told, error: { ...told, ...error } });
    this.#end("failed", { error: { ...told, ...error } });
  }

  #end(status: string, fields: Draft): void {
    const output = Object.values(this.output); // an item that was not done left a gap
    const usage = this.usage && writeUsage({ thinkingTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, ...this.usage }, RESPONSES_USAGE);
    Object.assign(this.#response, { status, output, ...fields }, usage && { usage: grow(usage, objectOf(this.#rest.usage)) });
    this.event(`response.${status}`, { response: this.#response });
  }

  body(): unknown {
    const users = own(this.request.extra, COMPACT);
    if (!users) return this.#response;
    const { id, created_at, output, usage } = this.#response;
    return defined<Draft>({ id, object: "response.compaction", created_at, output: [...listOf(users), ...listOf(output)], usage });
  }
  // Messages

  text(text: string, state: readonly Opaque[] = []): void {
    this.#say("text", text, state);
    this.#carry("", state.filter(isSignature));
  }
  override carries(opaque: Opaque): boolean {
    return isSignature(opaque);
  }

  /** The item of a call or a message has no field for another wire's state: a reasoning item after it carries the state. */
  #carry(call: string, state: readonly Opaque[]): void {
    const sealed = state.length > 0 && this.canSeal(state) ? sealCapsule({ state, call }) : undefined;
    if (sealed === undefined) return;
    this.#closeMessage();
    this.done(this.open("rs", { type: "reasoning", summary: [], ...(this.seals ? { encrypted_content: sealed } : {}) }), {}, [], sealed);
  }
  override refusal(text: string): void {
    this.#say("refusal", text, []);
  }

  #say(field: "text" | "refusal", text: string, state: readonly Opaque[]): void {
    const item = own(state, "#message");
    if (item)
      this.#closeMessage(); // another message begins
    else if (this.#message && own(state, NEXT_TEXT)) this.closePart(this.#message);
    const rest = putState<Draft>(WIRE, {}, state);
    if (rest.logprobs) rest.logprobs = ownStates(WIRE, state, "logprobs").flatMap(listOf);
    if (!item && text === "") {
      delete rest.logprobs;
      Object.assign(this.#message?.part ?? {}, rest); // late fields of the last text
      return;
    }
    const fields = { type: "message", role: "assistant", status: "in_progress", content: [], ...objectOf(item) };
    this.#message ??= this.open("msg", fields, objectOf(item).id);
    if (text !== "") this.speak(this.#message, field, text, rest);
  }

  #closeMessage(status = "completed"): void {
    const message = this.#message;
    if (!message) return;
    this.closePart(message);
    this.#message = undefined;
    this.done(message, { status });
  }

  // Reasoning

  override thinkingStart(state?: readonly Opaque[]): void {
    this.#closeMessage();
    if (this.#reasoning) return;
    this.#thinkingIn = own(state, RAW) ? "content" : "summary";
    this.#reasoning = this.open("rs", { type: "reasoning", summary: [] }, own(state, "id"));
  }

  thinking(delta: string): void {
    this.thinkingStart();
    const reasoning = this.#reasoning;
    if (!reasoning || delta === "") return;
    if (this.#isNext && delta === BREAK) {
      this.#isNext = false;
      this.closePart(reasoning);
    } else this.speak(reasoning, this.#thinkingIn, delta);
  }

  override thinkingEnd(state: readonly Opaque[]): void {
    this.#closeReasoning(state);
  }

  #closeReasoning(state: readonly Opaque[] = []): void {
    const reasoning = this.#reasoning;
    if (!reasoning) return;
    this.#reasoning = undefined;
    this.#isNext = false;
    this.closePart(reasoning);
    const exact = listOf(own(state, this.#thinkingIn));
    const said = listOf(reasoning.item[this.#thinkingIn]);
    const thinking = said.map((part) => textOf(objectOf(part).text)).join(BREAK);
    const isSealed = own(state, "encrypted_content") === undefined && this.canSeal(state);
    const sealed = isSealed ? (sealCapsule({ thoughts: [{ thinking, state }] }) ?? EMPTY_CAPSULE) : undefined;
    this.done(reasoning, { summary: listOf(own(state, "summary")), [this.#thinkingIn]: exact.length > 0 ? exact : said }, state, sealed);
  }

  // Calls

  override callStart({ id, name, state }: Pick<ToolStart, "id" | "name" | "state">): void {
    this.#closeReasoning();
    this.#closeMessage();
    const { tools } = this.request;
    if (isNative(tools, name)) return; // sent whole: the ai SDK refuses an item that lacks any of its arguments
    const custom = toolKind(tools, name) === "custom";
    const [prefix, type, field] = custom ? ["ctc", "custom_tool_call", "input"] : ["fc", "function_call", "arguments"];
    const fields = {
      type,
      status: "in_progress",
      call_id: id,
      ...calledBy(tools, name, undefined, textOf(own(state, "#namespace"))),
      [field]: "",
    };
    this.#call = this.open(prefix, fields, own(state, "id"));
    if (custom) this.#call.input = new CustomInput();
  }

  override callDelta(json: string): void {
    const call = this.#call;
    if (call) this.#write(call, call.input ? call.input.add(json) : json);
  }

  #write(call: Open, delta: string): void {
    if (delta === "") return;
    call.text.add(delta);
    this.delta(call, call.input ? "custom_tool_call_input" : "function_call_arguments", delta);
  }

  callEnd(event: ToolEnd): void {
    if (!this.#call) this.callStart(event);
    const call = this.#call;
    if (!call) {
      this.#native(event);
      return;
    }
    this.#call = undefined;
    const written = call.text.toString();
    const { json = JSON.stringify(event.arguments), state = [], id } = event;
    if (event.truncated) {
      // Codex and the ai SDK run every done item, take no arguments for `{}`, and accept any text of a custom call: so a cut call is done
      // only if its JSON is visibly broken.
      if (!call.input && written.trim() !== "" && parsed(written) === undefined)
        this.done(call, { status: "incomplete", arguments: written });
      return;
    }
    const whole = call.input ? customInput(event) : json;
    if (whole.startsWith(written)) this.#write(call, whole.slice(written.length));
    const said = { [call.input ? "input" : "arguments"]: call.text.toString() };
    this.piece(call, `${call.input ? "custom_tool_call_input" : "function_call_arguments"}.done`, said);
    this.done(call, { status: "completed", ...said }, state);
    this.#carry(id, foreign(WIRE, state));
  }

  #native({ id, name, arguments: args, truncated, state = [] }: ToolEnd): void {
    if (truncated) {
      this.warnings.dropped(CUT_CALL);
      return;
    }
    const fields = { ...writeCall(name, args), status: "in_progress", call_id: id };
    this.done(this.open("ct", fields, own(state, "id")), { status: "completed" });
    this.#carry(id, foreign(WIRE, state));
  }

  // Extensions: events that only this wire knows, whose indexes are renumbered; and fields of the response

  override own(data: JsonObject): void {
    const { type, item, item_id, output_index, sequence_number: _sequence_number, ...fields } = data;
    const message = this.#message;
    if (type === NEXT_SUMMARY) this.#isNext = this.#reasoning !== undefined;
    else if (!isText(type)) {
      const { usage, incomplete_details, ...response } = data;
      grow(this.#rest, defined<Draft>({ usage, incomplete_details }));
      putState(WIRE, this.#response, opaques(WIRE, response));
    } else if (isObject(item)) {
      this.#closeMessage();
      // If nothing streams, these items come first, and the others take the places between them.
      const index = this.chunks ? this.free(Number(output_index) >>> 0) : (this.#foreign.get(item.id) ?? this.next++);
      this.#foreign.set(item.id, index);
      if (type === "response.output_item.done") {
        this.output[index] = item;
        this.#foreign.delete(undefined); // the next item without an id is another one
      }
      this.event(type, { ...fields, output_index: index, item });
    } else if (type === "response.output_text.annotation.added") {
      if (!message?.part) return; // the whole part has it, too
      message.part.annotations = [...listOf(message.part.annotations), fields.annotation];
      this.event(type, { ...fields, item_id: message.item.id, output_index: message.index, ...placeOf(message, "content") });
    } else {
      const index = this.#foreign.get(item_id);
      this.event(type, { ...fields, ...(index === undefined ? {} : { item_id, output_index: index }) });
    }
  }
}
