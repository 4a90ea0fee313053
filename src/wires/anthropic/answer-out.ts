/**
 * Answers to clients, whole or as events. What satisfies all of them: `event:` and `data:`, one block at a time, input only in deltas,
 * `message_delta` and `message_stop` always.
 */
import { isObject } from "../../core/json.ts";
import type { ErrorInfo, Event, Finish, JsonObject, Opaque, Part, Request, Response, ToolEnd, Usage } from "../../core/nouns.ts";
import { Pile } from "../../core/pile.ts";
import { Balance } from "../balance.ts";
import { ERRORS, errorMessage } from "../errors.ts";
import { type Draft, EMPTY_CAPSULE, putState, sealCapsule } from "../opaque.ts";
import { argumentsValue } from "../raw.ts";
import { defined, objectOf } from "../read.ts";
import { sseEvent } from "../sse.ts";
import { Warnings } from "../warnings.ts";
import type { EncoderOptions, StreamEncoder } from "../wire.ts";
import { BLOCK, citationsOf, own, REDACTED, STOP_REASONS, sealCallState, textBlocks, WIRE, withCitations } from "./common.ts";

// ---- Parts that both forms share

const REASONS: Readonly<Record<Finish["reason"], string>> = {
  stop: "end_turn",
  "tool-calls": "tool_use",
  length: "max_tokens",
  "content-filter": "refusal",
  error: "end_turn",
};

function encodeFinish({ reason, native, stop }: Partial<Finish>, refusal: string, more: JsonObject): Draft {
  const said = native !== undefined && STOP_REASONS[native] === reason ? native : undefined;
  const known = stop !== undefined && reason === "stop" ? "stop_sequence" : REASONS[reason ?? "stop"];
  const details =
    refusal === "" ? {} : { stop_details: { type: "refusal", category: null, ...objectOf(more.stop_details), explanation: refusal } };
  const isRefusal = refusal !== "" && (reason ?? "stop") === "stop";
  return { stop_reason: isRefusal ? "refusal" : (said ?? known), stop_sequence: stop ?? null, ...more, ...details };
}

/** Here the prompt is counted without what the cache had or got. */
function encodeUsage({ inputTokens, outputTokens, cachedTokens, cacheWriteTokens, thinkingTokens }: Usage, more: JsonObject = {}): Draft {
  return defined<Draft>({
    input_tokens: inputTokens === undefined ? undefined : Math.max(0, inputTokens - (cachedTokens ?? 0) - (cacheWriteTokens ?? 0)),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    output_tokens: outputTokens ?? 0,
    output_tokens_details: thinkingTokens === undefined ? undefined : { thinking_tokens: thinkingTokens },
    ...more,
  });
}

const encodeHead = (id: string | undefined, model: string | undefined, request: Request, options: EncoderOptions): Draft => ({
  // Claude Code takes messages of one id for one message.
  id: id ?? options.mintId?.(0) ?? `msg_${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`,
  type: "message",
  role: "assistant",
  model: model ?? request.model,
});

/** Anthropic's own signature, or a capsule of ours: with the thinking that the client does not want to see, and another wire's state of it. */
function signatureOf(state: readonly Opaque[] | undefined, hidden: string): string {
  const signature = own(state, "signature");
  // A server that showed what it was asked to omit has not put it into its signature; and what is not signed the ai SDK drops.
  if (signature?.data && hidden === "") return String(signature.data);
  const carried = state?.filter((opaque) => opaque.wire !== WIRE || opaque === signature) ?? [];
  return sealCapsule({ thinking: hidden, state: carried }) ?? (String(signature?.data ?? "") || EMPTY_CAPSULE);
}

const isHidden = (request: Request): boolean => request.thinking?.show === false;

export const encodeErrorBody = (error: ErrorInfo): JsonObject => ({
  type: "error",
  error: {
    type: ERRORS[error.code].anthropic,
    message: errorMessage(error, "anthropic"),
    ...(error.native === undefined ? {} : { details: { error_code: error.native } }),
  },
});

const BROKEN: ErrorInfo = { code: "upstream", message: "the answer ended before its end" };

// ---- Response out

export function encodeResponse(response: Response, request: Request, options: EncoderOptions = {}): unknown {
  const { finish = { reason: "stop" }, usage = {}, refusal = "" } = response;
  if (finish.reason === "error") return encodeErrorBody(finish.error ?? BROKEN);
  const warnings = new Warnings();
  const content: Draft[] = [];
  for (const part of withCitations(response.content)) encodePart(part, content, request, warnings);
  const more = { message_start: {}, message_delta: {} } as { [type: string]: JsonObject };
  for (const { wire, data, quiet } of response.extensions ?? []) {
    if (wire !== WIRE) quiet || warnings.dropped(`an extension of ${wire}`, WIRE);
    else if (isObject(data) && more[String(data.type)]) Object.assign(more[String(data.type)]!, data.message ?? data.delta);
  }
  const { usage: early, ...head } = more.message_start!;
  const { usage: late, ...tail } = more.message_delta!;
  for (const warning of warnings.list) options.warn?.(warning);
  return {
    ...encodeHead(response.id, response.model, request, options),
    ...head,
    content,
    ...encodeFinish(finish, refusal, tail),
    usage: { input_tokens: 0, ...encodeUsage(usage, { ...objectOf(early), ...objectOf(late) }) },
  };
}

function encodePart(part: Part, content: Draft[], request: Request, warnings: Warnings): void {
  if (part.type === "text") {
    content.push(...textBlocks(part, warnings));
  } else if (part.type === "thinking") {
    const redacted = own(part.state, REDACTED);
    const thinking = isHidden(request) ? "" : part.text;
    const signature = signatureOf(part.state, isHidden(request) ? part.text : "");
    content.push(redacted ? { type: "redacted_thinking", data: redacted.data } : { type: "thinking", thinking, signature });
  } else if (part.type === "tool-call" && !part.truncated) {
    const signature = sealCallState(part.id, part.state);
    if (signature) content.push({ type: "thinking", thinking: "", signature });
    const { id, name } = part;
    content.push(putState(WIRE, { type: "tool_use", id, name, input: argumentsValue(part) }, part.state));
  } else warnings.add("dropped", part.type === "media" ? "media of an answer was left out" : "a call that is not whole was left out");
}

// ---- Stream out

export function createStreamEncoder(request: Request, options: EncoderOptions = {}): StreamEncoder {
  return new Encoder(request, options);
}

class Encoder implements StreamEncoder {
  readonly #request: Request;
  readonly #options: EncoderOptions;
  readonly #warnings = new Warnings();
  #id: string | undefined;
  #model: string | undefined;
  /** What an extension adds to `message_start` and to `message_delta`. */
  #head: JsonObject = {};
  #tail: JsonObject = {};
  #usage: Usage = {};
  #refusal = "";
  #started = false;
  #over = false;
  #index = -1;
  #open: "text" | "thinking" | "tool_use" | undefined;
  /** Thinking that the client does not want to see. */
  #hidden = new Pile();
  /** Follows the arguments of the open call. */
  #balance = new Balance();
  #blank = true;
  #carried = false;
  /** The open call was cut, and nothing in it shows that. */
  #cut = false;

  constructor(request: Request, options: EncoderOptions) {
    this.#request = request;
    this.#options = options;
  }

  encode(event: Event): string {
    if (this.#over) return "";
    switch (event.type) {
      case "start":
        this.#id = event.id;
        this.#model = event.model;
        return ""; // leaves with what comes next, which may be part of it
      case "text":
        return this.#text(event.text, event.state);
      case "thinking-start":
        this.#hidden = new Pile();
        return this.#close();
      case "thinking-delta":
        return this.#think(event.text);
      case "thinking-end":
        return this.#endThinking(event.state);
      case "tool-start":
        return this.#callStart(event);
      case "tool-delta":
        return this.#json(event.json);
      case "tool-end":
        return this.#callEnd(event);
      case "malformed":
        return this.#malformed(event);
      case "refusal":
        this.#refusal += event.text;
        return "";
      case "extension":
        return this.#extension(event);
      case "usage": {
        const { type: _, ...usage } = event;
        this.#usage = { ...this.#usage, ...usage };
        return "";
      }
      case "finish":
        return this.#finish(event);
      case "control":
        return "";
    }
  }

  end(): string {
    return this.#over ? "" : this.#error(BROKEN);
  }

  heartbeat(): string {
    return this.#over ? "" : this.#start() + send({ type: "ping" });
  }

  #start(): string {
    if (this.#started) return "";
    this.#started = true;
    const { usage, ...more } = this.#head;
    const message = {
      ...encodeHead(this.#id, this.#model, this.#request, this.#options),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      ...more,
      usage: { input_tokens: 0, ...encodeUsage(this.#usage, objectOf(usage)) },
    };
    return send({ type: "message_start", message });
  }

  // Blocks

  #begin(content_block: Draft | JsonObject, open: "text" | "thinking" | "tool_use" | undefined): string {
    const before = this.#start() + this.#close();
    this.#open = open;
    this.#index++;
    return before + send({ type: "content_block_start", index: this.#index, content_block });
  }

  #delta(delta: Draft): string {
    return send({ type: "content_block_delta", index: this.#index, delta });
  }

  #stop(): string {
    this.#open = undefined;
    return send({ type: "content_block_stop", index: this.#index });
  }

  #close(): string {
    return this.#open === undefined ? "" : this.#stop();
  }

  #text(text: string, state: readonly Opaque[] | undefined): string {
    const block = own(state, BLOCK);
    if (block) return this.#whole(objectOf(block.data));
    putState(WIRE, {}, state, this.#warnings);
    const citations = citationsOf(state);
    if (text === "" && citations.length === 0) return "";
    const begun = this.#open === "text" ? "" : this.#begin({ type: "text", text: "" }, "text");
    const said = text === "" ? "" : this.#delta({ type: "text_delta", text });
    return begun + said + citations.map((citation) => this.#delta({ type: "citations_delta", citation })).join("");
  }

  /** A block that no noun stands for. */
  #whole(block: JsonObject): string {
    const input = isObject(block.input) ? JSON.stringify(block.input) : undefined;
    const begun = this.#begin(input === undefined ? block : { ...block, input: {} }, undefined);
    const json = input === undefined ? "" : this.#delta({ type: "input_json_delta", partial_json: input });
    return begun + json + this.#stop();
  }

  #think(text: string): string {
    const begun = this.#open === "thinking" ? "" : this.#begin({ type: "thinking", thinking: "", signature: "" }, "thinking");
    if (!isHidden(this.#request)) return text === "" ? begun : begun + this.#delta({ type: "thinking_delta", thinking: text });
    this.#hidden.add(text);
    return begun;
  }

  #endThinking(state: readonly Opaque[] | undefined): string {
    const redacted = own(state, REDACTED);
    if (redacted) return this.#begin({ type: "redacted_thinking", data: redacted.data }, undefined) + this.#stop();
    const begun = this.#think("");
    const signature = signatureOf(state, this.#hidden.toString());
    return begun + (signature === "" ? "" : this.#delta({ type: "signature_delta", signature })) + this.#stop();
  }

  // Calls

  #callStart({ id, name, state }: Extract<Event, { type: "tool-start" }>): string {
    const carrier = this.#carrier(id, state);
    this.#carried = carrier !== "";
    this.#balance = new Balance();
    this.#blank = true;
    return carrier + this.#begin(putState(WIRE, { type: "tool_use", id, name, input: {} }, state), "tool_use");
  }

  /** A block of thinking without words, whose signature brings another wire's state of a call back to us. */
  #carrier(id: string, state: readonly Opaque[] | undefined): string {
    const signature = sealCallState(id, state);
    if (signature === undefined) return "";
    return (
      this.#begin({ type: "thinking", thinking: "", signature: "" }, undefined) +
      this.#delta({ type: "signature_delta", signature }) +
      this.#stop()
    );
  }

  #json(partial_json: string): string {
    this.#blank &&= partial_json.trim() === "";
    this.#balance.read(partial_json);
    return this.#delta({ type: "input_json_delta", partial_json });
  }

  #callEnd(call: ToolEnd): string {
    // What is stopped is run: a call that was cut stays open, unless its input is visibly broken.
    this.#cut = call.truncated === true && (this.#blank || this.#balance.complete);
    if (this.#cut) return "";
    const input = this.#blank && !call.truncated ? this.#json(call.json ?? JSON.stringify(call.arguments)) : "";
    const carried = this.#carried || call.truncated; // a block behind a call says that the call is whole: the SDK's eager runner starts it
    return input + this.#stop() + (carried ? "" : this.#carrier(call.id, call.state));
  }

  /** A call whose beginning has left cannot be taken back: the answer ends here. */
  #malformed({ id, reason }: Extract<Event, { type: "malformed" }>): string {
    if (id !== undefined)
      return this.#error({ code: "malformed-call", message: `the model wrote a tool call that cannot be read: ${reason}` });
    this.#warnings.add("dropped", "a call that cannot be read was left out");
    return "";
  }

  // What else there is

  #extension({ wire, data, quiet }: Extract<Event, { type: "extension" }>): string {
    if (wire !== WIRE || !isObject(data)) {
      if (!quiet) this.#warnings.dropped(`an extension of ${wire}`, WIRE);
      return "";
    }
    if (data.type === "content_block_start") return this.#close(); // the next text is another block
    if (data.type === "message_start") this.#head = { ...this.#head, ...objectOf(data.message) };
    else if (data.type === "message_delta") this.#tail = { ...this.#tail, ...objectOf(data.delta) };
    else return this.#start() + send(data);
    return "";
  }

  #finish(finish: Finish): string {
    if (finish.reason === "error") return this.#error(finish.error ?? BROKEN);
    const { usage, ...more } = this.#tail;
    const delta = encodeFinish(finish, this.#refusal, more);
    const before = this.#start() + (this.#cut ? "" : this.#close());
    this.#settle();
    return (
      before + send({ type: "message_delta", delta, usage: encodeUsage(this.#usage, objectOf(usage)) }) + send({ type: "message_stop" })
    );
  }

  #error(error: ErrorInfo): string {
    this.#settle();
    return send(encodeErrorBody(error));
  }

  #settle(): void {
    this.#over = true;
    for (const warning of this.#warnings.list) this.#options.warn?.(warning);
  }
}

const send = (event: Draft | JsonObject): string => sseEvent(JSON.stringify(event), String(event.type));
