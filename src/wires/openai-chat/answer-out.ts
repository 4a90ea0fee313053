/** An answer for a client, written: chunk by chunk, or as a whole. */
import { isObject } from "../../core/json.ts";
import type { Event, Finish, Json, JsonObject, Opaque, Request, Response, ToolEnd, Usage } from "../../core/nouns.ts";
import { customInput, customNames } from "../bridge.ts";
import { CustomInput } from "../custom-input.ts";
import { openaiError } from "../errors.ts";
import { type Capsule, type Draft, putState } from "../opaque.ts";
import { defined, listOf, objectOf } from "../read.ts";
import { sseComment, sseEvent } from "../sse.ts";
import { Warnings } from "../warnings.ts";
import type { EncoderOptions, StreamEncoder } from "../wire.ts";
import { extraContent } from "./request-out.ts";
import { FINISH, WIRE } from "./tables.ts";

const NO_ERROR = { code: "upstream", message: "the answer ended before its end" } as const;

/** `undefined`: the answer ended with an error, which has a form of its own. */
const wordOf = ({ reason }: Pick<Finish, "reason">): string | undefined =>
  reason === "error" ? undefined : Object.keys(FINISH).find((word) => FINISH[word] === reason);

const usageOf = ({ inputTokens = 0, outputTokens = 0, cachedTokens, cacheWriteTokens, thinkingTokens }: Usage): Draft =>
  defined<Draft>({
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: some({ cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens }),
    completion_tokens_details: some({ reasoning_tokens: thinkingTokens }),
  });

function some(fields: Draft): Draft | undefined {
  const given = defined<Draft>(fields);
  return Object.keys(given).length > 0 ? given : undefined;
}

/** Lays one object over another, objects and the first elements of lists inside included. */
function lay(target: Draft, data: JsonObject): void {
  for (const [key, value] of Object.entries(data)) {
    const [there, over] = [target[key], value].map((item: unknown) => (Array.isArray(item) ? item[0] : item));
    if (isObject(there) && isObject(over)) lay(there as Draft, over);
    else if (target[key] === undefined || target[key] === null) target[key] = value;
  }
}

/** A call's own state and what it carries for others, onto the call. */
function signed(call: Draft, carried: Capsule): Draft {
  const extra = extraContent(carried);
  return putState(WIRE, extra ? { ...call, extra_content: extra } : call, carried.state);
}

const idOf = (id: string | undefined, created: number, mintId: EncoderOptions["mintId"]): string =>
  id ?? mintId?.(0) ?? `chatcmpl-${created}`;
const secondsOf = (now: EncoderOptions["now"]): number => Math.floor((now?.() ?? new Date()).getTime() / 1000);

// ---- Stream

export function createStreamEncoder(request: Request, options: EncoderOptions = {}): StreamEncoder {
  return new Chunks(request, options);
}

class Chunks implements StreamEncoder {
  readonly #options: EncoderOptions;
  readonly #custom: ReadonlySet<string>;
  readonly #asksUsage: boolean;
  /** What all chunks share. */
  readonly #head: { id: string; object: string; created: number; model: string };
  #opened = false;
  #ended = false;
  #usage: Usage | undefined;
  readonly #usageRest: Draft = {};
  /** The call that is being written. */
  #call: { index: number; start: Draft | undefined; held: string; state: Opaque[] | undefined; input: CustomInput | undefined } | undefined;
  /** Thinking whose state goes along with the next call. */
  #thought: { thinking: string; thinkingState: Opaque[] } = { thinking: "", thinkingState: [] };

  constructor(request: Request, options: EncoderOptions) {
    this.#options = options;
    this.#custom = customNames(request);
    const asked = request.extra?.find(({ wire, kind }) => wire === WIRE && kind === "stream_options");
    this.#asksUsage = objectOf(asked?.data).include_usage === true;
    const created = secondsOf(options.now);
    this.#head = { id: "", object: "chat.completion.chunk", created, model: request.model };
  }

  encode(event: Event): string {
    if (this.#ended) return "";
    switch (event.type) {
      case "start":
        this.#head.id = idOf(event.id, this.#head.created, this.#options.mintId);
        this.#head.model = event.model ?? this.#head.model;
        return this.#delta({});
      case "text":
        return event.text === "" ? "" : this.#delta({ content: event.text });
      case "thinking-delta":
        this.#thought.thinking += event.text;
        return this.#delta({ reasoning_content: event.text });
      case "thinking-end":
        this.#thought.thinkingState.push(...(event.state ?? []));
        return "";
      case "refusal":
        return this.#delta({ refusal: event.text });
      case "tool-start":
        return this.#start(event);
      case "tool-delta":
        return this.#piece(event.json);
      case "tool-end":
        return this.#end(event);
      case "malformed":
        return event.id === undefined ? "" : this.#fail({ code: "malformed-call", message: event.reason });
      case "extension":
        return event.wire === WIRE ? this.#extension(event.data) : this.#foreign(event);
      case "usage": {
        const { type: _, ...usage } = event;
        this.#usage = { ...this.#usage, ...usage };
        return "";
      }
      case "finish":
        return this.#finish(event);
      default:
        return "";
    }
  }

  end(): string {
    return this.#ended ? "" : this.#fail(NO_ERROR);
  }

  heartbeat(): string {
    return this.#ended ? "" : sseComment();
  }

  #chunk(choices: unknown[], more: Draft = {}): string {
    this.#head.id ||= idOf(undefined, this.#head.created, this.#options.mintId);
    return sseEvent(JSON.stringify({ ...this.#head, choices, ...more }));
  }

  /** The first one says whose words these are. */
  #delta(fields: Draft, finish: string | null = null): string {
    const delta = this.#opened ? fields : { role: "assistant", content: "", ...fields };
    this.#opened = true;
    return this.#chunk([{ index: 0, delta, finish_reason: finish }]);
  }

  #start({ id, index, name, state }: Extract<Event, { type: "tool-start" }>): string {
    const custom = this.#custom.has(name);
    const start: Draft = custom
      ? { index, id, type: "custom", custom: { name, input: "" } }
      : { index, id, type: "function", function: { name, arguments: "" } };
    this.#call = { index, start, held: "", state, input: custom ? new CustomInput() : undefined };
    return "";
  }

  #signed(call: Draft, state: Opaque[] = []): Draft {
    const thought = this.#thought;
    this.#thought = { thinking: "", thinkingState: [] };
    return signed(call, { state, ...thought });
  }

  /** What closes the arguments waits until the call has ended. */
  #piece(json: string): string {
    const call = this.#call;
    if (!call || json === "") return "";
    const text = call.input ? call.input.add(json) : call.held + json;
    const end = call.input ? text.length : text.length - (/(^|\})\s*$/.exec(text)?.[0].length ?? 0);
    call.held = text.slice(end);
    return end === 0 ? "" : this.#send(text.slice(0, end));
  }

  #send(text: string): string {
    const call = this.#call;
    if (!call || (text === "" && call.start === undefined)) return "";
    const piece = call.input ? { custom: { input: text } } : { function: { arguments: text } };
    const start = call.start ? this.#delta({ tool_calls: [this.#signed(call.start, call.state)] }) : "";
    call.start = undefined;
    return text === "" ? start : start + this.#delta({ tool_calls: [{ index: call.index, ...piece }] });
  }

  /** Clients run what parses, whatever the reason says, and take nothing for `{}`: so a call that was cut is not even begun without arguments, and never closed. */
  #end(event: ToolEnd): string {
    const call = this.#call;
    const isWhole = call?.start && call.held === ""; // it came without deltas
    let rest = "";
    if (call?.start) call.state = event.state; // the ai SDK takes a signature only from the first chunk of a call
    if (!event.truncated) {
      if (isWhole) rest = this.#piece(event.json ?? JSON.stringify(event.arguments));
      rest += this.#send(call?.held ?? "");
    }
    this.#call = undefined;
    if (!call || call.state || call.start) return rest;
    const piece = call.input ? { custom: { input: "" } } : { function: { arguments: "" } }; // without one, the ai SDK fails
    const late = this.#signed({ index: event.index, ...piece }, event.state);
    return rest + (Object.keys(late).length > 2 ? this.#delta({ tool_calls: [late] }) : "");
  }

  #extension(data: Json): string {
    const { usage, choices, ...more } = objectOf(data);
    lay(this.#usageRest, objectOf(usage));
    if (choices === undefined && Object.keys(more).length === 0) return "";
    const choice: Draft = { index: 0, delta: {}, finish_reason: null };
    lay(choice, objectOf(listOf(choices)[0]));
    return this.#chunk([choice], more);
  }

  #foreign(event: Extract<Event, { type: "extension" }>): string {
    if (!event.quiet) warnOf(this.#options)(event.wire);
    return "";
  }

  #finish(event: Finish): string {
    const word = wordOf(event);
    if (word === undefined) return this.#fail(event.error ?? NO_ERROR);
    const last = this.#delta({}, word);
    const usage = this.#usage && usageOf(this.#usage);
    if (usage) lay(usage, this.#usageRest as JsonObject);
    const count = this.#asksUsage && usage ? this.#chunk([], { usage }) : "";
    this.#ended = true;
    return `${last}${count}${sseEvent("[DONE]")}`;
  }

  /** No reason, and no `[DONE]`: nobody shall take what was sent for the whole. */
  #fail(error: Parameters<typeof openaiError>[0]): string {
    this.#ended = true;
    return sseEvent(JSON.stringify(openaiError(error)));
  }
}

function warnOf({ warn }: EncoderOptions): (wire: string) => void {
  const warnings = new Warnings();
  return (wire) => {
    warnings.dropped(`what only ${wire} knows`, WIRE);
    for (const warning of warnings.list) warn?.(warning);
  };
}

// ---- Whole

export function encodeResponse(response: Response, request: Request, options: EncoderOptions = {}): unknown {
  const { finish = { reason: "stop" } } = response;
  const word = wordOf(finish);
  if (word === undefined) return openaiError(finish.error ?? NO_ERROR);
  const created = secondsOf(options.now);
  const custom = customNames(request);
  const parts = response.content;
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const thinking = parts.map((part) => (part.type === "thinking" ? part.text : "")).join("");
  const calls = parts.flatMap((part) => (part.type === "tool-call" && !part.truncated ? [part] : []));
  for (const part of parts) {
    if (part.type === "malformed" || part.type === "media" || (part.type === "tool-call" && part.truncated)) {
      const what = part.type === "media" ? "media that the model made" : "a call that is cut or cannot be read";
      options.warn?.({ code: "dropped", message: `${what} has no place in ${WIRE} and was left out` });
    }
  }
  const thinkingState = parts.flatMap((part) => (part.type === "thinking" ? (part.state ?? []) : []));
  const message = defined<Draft>({
    role: "assistant",
    content: text === "" ? null : text,
    refusal: response.refusal ?? null,
    reasoning_content: thinking || undefined,
    tool_calls:
      calls.length === 0
        ? undefined
        : calls.map((call, i) =>
            signed(
              custom.has(call.name)
                ? { id: call.id, type: "custom", custom: { name: call.name, input: customInput(call) } }
                : { id: call.id, type: "function", function: { name: call.name, arguments: call.json ?? JSON.stringify(call.arguments) } },
              { state: call.state ?? [], ...(i === 0 ? { thinking, thinkingState } : {}) },
            ),
          ),
  });
  const body: Draft = defined<Draft>({
    id: idOf(response.id, created, options.mintId),
    object: "chat.completion",
    created,
    model: response.model ?? request.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: word }],
    usage: response.usage && usageOf(response.usage),
  });
  for (const { wire, data, quiet } of response.extensions ?? []) {
    if (wire === WIRE) lay(body, wholeShape(data));
    else if (!quiet) warnOf(options)(wire);
  }
  return body;
}

/** What rides along has the shape of a chunk; here its `delta` is a `message`. */
function wholeShape(data: Json): JsonObject {
  const { choices, ...rest } = objectOf(data);
  if (choices === undefined) return rest;
  const { delta, ...choice } = objectOf(listOf(choices)[0]);
  return { ...rest, choices: [{ ...choice, ...(delta === undefined ? {} : { message: delta }) }] };
}
