/**
 * Answers to clients, whole or streamed: events become items, and every step of an item is said (added, its pieces, done). The openai SDK wants
 * each item added before its pieces come, codex and the ai SDK act on `output_item.done`, and all want the end with the whole output.
 */
import { isObject } from "../../core/json.ts";
import type { ErrorInfo, Event, Finish, FinishReason, JsonObject, Opaque, Request, Response, ToolEnd, Usage } from "../../core/nouns.ts";
import { customInput } from "../bridge.ts";
import { CustomInput } from "../custom-input.ts";
import { openaiError } from "../errors.ts";
import { type Draft, EMPTY_CAPSULE, putState, sealCapsule } from "../opaque.ts";
import { listOf, objectOf, parsed, textOf } from "../read.ts";
import { Warnings } from "../warnings.ts";
import type { EncoderOptions } from "../wire.ts";
import { defaultsOf, ENCRYPTED, instructionsOf, mintedId, OF_CALL, ownState, quietState, ToolBook, WIRE } from "./items.ts";
import { RequestWriter } from "./request-out.ts";

/** An item being written. */
interface Open {
  readonly index: number;
  readonly item: Draft & { id: string };
  /** What its pieces have said so far, in their own events and in the item. */
  text: string;
  /** A message: its text or refusal, the last of its content. */
  part?: Draft | undefined;
  /** Reads the text of a custom call. */
  input?: CustomInput | undefined;
}

/** Why an answer is not complete. */
const CUT: Readonly<Partial<Record<FinishReason, string>>> = { length: "max_output_tokens", "content-filter": "content_filter" };

export class Answer {
  /** What the last event says of the response. */
  readonly response: Draft = {};
  finished = false;
  readonly #request: Request;
  readonly #options: EncoderOptions;
  readonly #send: ((type: string, fields: Draft) => void) | undefined;
  readonly #book: ToolBook;
  readonly #warnings = new Warnings();
  readonly #output: Draft[] = [];
  #next = 0;
  #seed = "";
  #usage: Usage | undefined;
  /** At most one of these. */
  #message: Open | undefined;
  #reasoning: Open | undefined;
  #call: Open | undefined;
  /** Items that only this wire knows, by their ids. */
  readonly #foreign = new Map<unknown, number>();

  /** Without `send` the answer is not streamed. */
  constructor(request: Request, options: EncoderOptions, send?: (type: string, fields: Draft) => void) {
    this.#request = request;
    this.#options = options;
    this.#send = send;
    this.#book = new ToolBook(request);
  }

  add(event: Event): void {
    if (this.finished) return;
    if (event.type === "start") this.#begin(event.id, event.model);
    else this.#begin();
    switch (event.type) {
      case "text":
        this.#say("text", event.text, event.state ?? []);
        break;
      case "refusal":
        this.#say("refusal", event.text, []);
        break;
      case "thinking-start":
        this.#think("", event.state);
        break;
      case "thinking-delta":
        this.#think(event.text);
        break;
      case "thinking-end":
        this.#closeReasoning(event.state);
        break;
      case "tool-start":
        this.#openCall(event);
        break;
      case "tool-delta":
        if (this.#call) this.#write(this.#call, this.#call.input ? this.#call.input.add(event.json) : event.json);
        break;
      case "tool-end":
        this.#closeCall(event);
        break;
      case "malformed":
        // What has left cannot be taken back, only the answer with it.
        if (event.id !== undefined) this.fail({ code: "malformed-call", message: event.reason });
        else this.#warnings.dropped("a call that cannot be read", WIRE);
        break;
      case "extension":
        if (event.wire === WIRE) this.#extend(objectOf(event.data));
        else if (!event.quiet) this.#warnings.dropped(`an extension of ${event.wire}`, WIRE);
        break;
      case "usage":
        this.#usage = { ...this.#usage, ...event };
        break;
      case "finish":
        this.#finish(event);
        break;
    }
    for (const warning of this.#warnings.list.splice(0)) this.#options.warn?.(warning);
  }

  // The response

  #begin(id?: string, model?: string): void {
    if (this.response.id !== undefined) return;
    const { mintId, now = () => new Date() } = this.#options;
    this.#seed = id?.replace(/\W/g, "") || mintId?.(0) || Math.random().toString(36).slice(2);
    const { messages, extra, model: asked } = this.#request;
    const { include: _, ...settings } = new RequestWriter(this.#request, {}).settings();
    Object.assign(this.response, {
      id: id ?? mintedId("resp", this.#seed),
      object: "response",
      created_at: Math.floor(now().getTime() / 1000),
      status: "in_progress",
      error: null,
      incomplete_details: null,
      instructions: instructionsOf(messages[0]) ?? null,
      metadata: ownState(extra, "metadata") ?? {},
      model: model ?? asked,
      output: [],
      parallel_tool_calls: true,
      temperature: null,
      tool_choice: "auto",
      tools: [],
      top_p: null,
      ...settings,
    });
    for (const step of ["created", "in_progress"]) this.#send?.(`response.${step}`, { response: this.response });
  }

  #finish({ reason, error }: Finish): void {
    if (reason === "error") this.fail(error ?? { code: "internal", message: "the answer ended with an error" });
    else {
      const cut = CUT[reason];
      const status = cut ? "incomplete" : "completed";
      this.#closeReasoning();
      this.#closeMessage(status);
      this.#end(status, { incomplete_details: cut ? { reason: cut } : null });
    }
  }

  /** With the items that were done; what was being written is not one of them. */
  fail(info: ErrorInfo): void {
    this.#begin();
    const { code, message, ...error } = objectOf(openaiError(info).error);
    // Codex gives up when it hears that the server "is overloaded", and waits as long as the message of a limit says.
    const word = info.code === "overloaded" ? info.code : (code ?? "invalid_prompt");
    const wait = info.code === "rate-limit" && info.retryAfterMs ? ` Please try again in ${info.retryAfterMs / 1000}s.` : "";
    this.#end("failed", { error: { code: word, message: `${message}${wait}`, ...error } });
  }

  #end(status: string, fields: Draft): void {
    Object.assign(this.response, { status, output: this.#output, ...fields });
    if (this.#usage) this.response.usage = encodeUsage(this.#usage);
    this.finished = true;
    this.#send?.(`response.${status}`, { response: this.response });
  }

  // Items

  #open(prefix: string, fields: Draft, id: unknown): Open {
    const index = this.#next++;
    const item = { ...fields, id: textOf(id) ?? mintedId(prefix, `${this.#seed}_${index}`) };
    this.#send?.("response.output_item.added", { output_index: index, item });
    return { index, item, text: "" };
  }

  #done({ index, item }: Open, fields: Draft, state?: readonly Opaque[]): void {
    const whole = putState(WIRE, { ...item, ...fields }, state);
    this.#output.push(whole);
    this.#send?.("response.output_item.done", { output_index: index, item: whole });
  }

  #piece({ index, item }: Open, type: string, fields: Draft): void {
    this.#send?.(`response.${type}`, { item_id: item.id, output_index: index, ...fields });
  }

  // Messages

  #say(field: "text" | "refusal", text: string, state: readonly Opaque[]): void {
    const item = ownState(state, "message");
    const others = state.filter(({ kind }) => kind !== "message");
    const { logprobs = [], ...rest } = putState<Draft>(WIRE, {}, others, this.#warnings);
    if (item) this.#closeMessage("completed"); // the next one begins
    if (!item && text === "") return;
    const fields = { type: "message", role: "assistant", status: "in_progress", content: [], ...objectOf(item) };
    this.#message ??= this.#open("msg", fields, objectOf(item).id);
    const message = this.#message;
    if (text === "") return;
    if (message.part && !(field in message.part)) this.#closePart(message);
    const content_index = listOf(message.item.content).length;
    const isText = field === "text";
    if (!message.part) {
      message.part = { type: isText ? "output_text" : field, [field]: "", ...(isText ? { annotations: [] } : {}) };
      this.#piece(message, "content_part.added", { content_index, part: message.part });
    }
    message.text += text;
    Object.assign(message.part, rest);
    this.#piece(message, `${message.part.type}.delta`, { content_index, delta: text, ...(isText ? { logprobs } : {}) });
  }

  #closePart(message: Open): void {
    const { part, item, text } = message;
    if (!part) return;
    const content_index = listOf(item.content).length;
    const field = "text" in part ? "text" : "refusal";
    part[field] = text;
    this.#piece(message, `${part.type}.done`, { content_index, [field]: text, ...(field === "text" ? { logprobs: [] } : {}) });
    this.#piece(message, "content_part.done", { content_index, part });
    Object.assign(item, { content: [...listOf(item.content), part] });
    Object.assign(message, { part: undefined, text: "" });
  }

  #closeMessage(status: string): void {
    const message = this.#message;
    if (!message) return;
    this.#closePart(message);
    this.#message = undefined;
    this.#done(message, { status });
  }

  // Reasoning

  #think(delta: string, state?: readonly Opaque[]): void {
    this.#closeMessage("completed");
    this.#reasoning ??= this.#open("rs", { type: "reasoning", summary: [] }, ownState(state, "id"));
    const reasoning = this.#reasoning;
    if (delta === "") return;
    if (reasoning.text === "") this.#summary(reasoning, "part.added", { part: { type: "summary_text", text: "" } });
    reasoning.text += delta;
    this.#summary(reasoning, "text.delta", { delta });
  }

  #summary(reasoning: Open, type: string, fields: Draft): void {
    this.#piece(reasoning, `reasoning_summary_${type}`, { summary_index: 0, ...fields });
  }

  #closeReasoning(state: readonly Opaque[] = []): void {
    const reasoning = this.#reasoning;
    if (!reasoning) return;
    this.#reasoning = undefined;
    const { text } = reasoning;
    const part = { type: "summary_text", text };
    if (text !== "") {
      this.#summary(reasoning, "text.done", { text });
      this.#summary(reasoning, "part.done", { part });
    }
    const isOwn = state.some(({ wire }) => wire === WIRE);
    const sealed = ownState(state, "encrypted_content") === undefined ? this.#sealed(text, state) : {};
    this.#done(reasoning, { summary: text === "" ? [] : [part], ...sealed }, isOwn ? state : []);
  }

  /** What comes back to us in the field that the client does not read. The ai SDK drops a reasoning item that has none. */
  #sealed(thinking: string, state: readonly Opaque[]): Draft {
    const include = ownState(this.#request.extra, "include") ?? defaultsOf(this.#request).include;
    if (listOf(include).includes(ENCRYPTED)) return { encrypted_content: sealCapsule({ thinking, state }) ?? EMPTY_CAPSULE };
    putState(WIRE, {}, state, this.#warnings);
    return {};
  }

  // Calls

  #openCall({ id, name, state }: { id: string; name: string; state?: Opaque[] }): Open {
    this.#closeReasoning();
    this.#closeMessage("completed");
    const custom = this.#book.isCustom(name);
    const [prefix, type, field] = custom ? ["ctc", "custom_tool_call", "input"] : ["fc", "function_call", "arguments"];
    const fields = { type, status: "in_progress", call_id: id, ...this.#book.nameOf(name), [field]: "" };
    this.#call = this.#open(prefix, fields, ownState(state, "id"));
    if (custom) this.#call.input = new CustomInput();
    return this.#call;
  }

  #write(call: Open, delta: string): void {
    if (delta === "") return;
    call.text += delta;
    this.#piece(call, `${call.input ? "custom_tool_call_input" : "function_call_arguments"}.delta`, { delta });
  }

  #closeCall(event: ToolEnd): void {
    const call = this.#call ?? this.#openCall(event);
    this.#call = undefined;
    if (event.truncated) this.#cut(call);
    else this.#endCall(call, event);
  }

  #endCall(call: Open, event: ToolEnd): void {
    const { json = JSON.stringify(event.arguments), state = [] } = event;
    const whole = call.input ? customInput(event) : json;
    if (whole.startsWith(call.text)) this.#write(call, whole.slice(call.text.length));
    const said = { [call.input ? "input" : "arguments"]: call.text };
    this.#piece(call, `${call.input ? "custom_tool_call_input" : "function_call_arguments"}.done`, said);
    this.#done(call, { status: "completed", ...said }, state);
    // The item of a call has no field for another wire's state: a reasoning item behind it carries it.
    const others = state.filter(({ wire }) => wire !== WIRE);
    const sealed = others.length > 0 ? this.#sealed("", [quietState(OF_CALL, event.id), ...others]) : {};
    if (sealed.encrypted_content) this.#done(this.#open("rs", { type: "reasoning", summary: [], ...sealed }, undefined), {});
  }

  /**
   * Nobody may run a call that was cut. It is done only where its JSON is visibly broken: codex and the ai SDK run what is done, take
   * no arguments for `{}`, and the text of a custom call as it stands.
   */
  #cut(call: Open): void {
    if (!this.#send) this.#warnings.dropped("a call that was cut", WIRE);
    else if (!call.input && call.text.trim() !== "" && parsed(call.text) === undefined)
      this.#done(call, { status: "incomplete", arguments: call.text });
  }

  // What only this wire knows: events of its own, with items and places that count anew here; and fields of the response

  #extend(data: JsonObject): void {
    const { type, item, item_id, output_index, sequence_number: _, ...fields } = data;
    const message = this.#message;
    if (typeof type !== "string") Object.assign(this.response, { ...data, ...this.response });
    else if (isObject(item)) {
      this.#closeMessage("completed");
      const index = this.#foreign.get(item.id) ?? this.#next++;
      this.#foreign.set(item.id, index);
      const place = this.#send ? this.#output.length : Number(output_index);
      if (type === "response.output_item.done") this.#output.splice(place, 0, item);
      this.#send?.(type, { ...fields, output_index: index, item });
    } else if (message?.part && type === "response.output_text.annotation.added") {
      message.part.annotations = [...(message.part.annotations as unknown[]), fields.annotation];
      this.#send?.(type, {
        ...fields,
        item_id: message.item.id,
        output_index: message.index,
        content_index: listOf(message.item.content).length,
      });
    } else {
      const index = this.#foreign.get(item_id);
      this.#send?.(type, index === undefined ? fields : { ...fields, item_id, output_index: index });
    }
  }
}

function encodeUsage({ inputTokens = 0, outputTokens = 0, thinkingTokens = 0, cachedTokens = 0, cacheWriteTokens = 0 }: Usage): Draft {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: thinkingTokens },
    total_tokens: inputTokens + outputTokens,
  };
}

/** A whole answer. */
export function encodeResponse(response: Response, request: Request, options: EncoderOptions = {}): unknown {
  const { id, model, content, refusal, extensions = [], usage, finish } = response;
  const answer = new Answer(request, options);
  answer.add({ type: "start", ...(id ? { id } : {}), ...(model ? { model } : {}) });
  for (const part of content) {
    const state = "state" in part && part.state ? { state: part.state } : {};
    if (part.type === "text") answer.add(part);
    else if (part.type === "thinking") {
      answer.add({ type: "thinking-start", ...state });
      answer.add({ type: "thinking-delta", text: part.text });
      answer.add({ type: "thinking-end", ...state });
    } else if (part.type === "tool-call") answer.add({ ...part, type: "tool-end", index: 0 });
    else if (part.type === "malformed") {
      const { id: _, ...malformed } = part;
      answer.add(malformed);
    }
  }
  if (refusal) answer.add({ type: "refusal", text: refusal });
  for (const extension of extensions) answer.add({ type: "extension", ...extension });
  if (usage) answer.add({ type: "usage", ...usage });
  answer.add({ type: "finish", reason: "stop", ...finish });
  return answer.response;
}
