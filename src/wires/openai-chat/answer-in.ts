/** A server's answer, read: the chunks of a stream, or the whole at once, which is a chunk with a `message` in the place of its `delta`. */
import { collect } from "../../core/fold.ts";
import { isObject } from "../../core/json.ts";
import type { Event, FinishReason, Json, JsonObject, Opaque, Response, Usage } from "../../core/nouns.ts";
import type { CallFragment } from "../accumulate.ts";
import { readError } from "../errors.ts";
import { EventWriter } from "../events.ts";
import { listOf, numberOf, objectOf, parsed, restOf, textOf } from "../read.ts";
import { type SseEvent, SseReader } from "../sse.ts";
import { NO_CONTEXT, type StreamDecoder, type WireContext } from "../wire.ts";
import { signatureOf } from "./request-in.ts";
import { FINISH, WIRE } from "./tables.ts";

export function decodeResponse(body: unknown, context: WireContext = NO_CONTEXT): Response {
  const answer = new Answer(context);
  answer.chunk(typeof body === "string" ? parsed(body) : body, true);
  return collect(answer.end(true));
}

export function createStreamDecoder(context: WireContext = NO_CONTEXT): StreamDecoder {
  const sse = new SseReader();
  const answer = new Answer(context);
  return {
    feed: (text) => answer.read(sse.feed(text)),
    flush: () => [...answer.read(sse.flush()), ...answer.end(false)],
  };
}

const CHUNK = new Set(["id", "object", "created", "model", "choices", "usage", "error", "obfuscation"]);
const CHOICE = new Set(["index", "delta", "message", "finish_reason", "stop_reason"]);
const DELTA = new Set(["role", "content", "reasoning_content", "reasoning", "refusal", "tool_calls", "function_call"]);
const CALL = new Set(["index", "id", "type", "function", "custom", "extra_content"]);
const FUNCTION = new Set(["name", "arguments"]);
const USAGE = new Set(["prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details"]);
const DETAILS = new Set(["cached_tokens", "cache_write_tokens", "reasoning_tokens"]);

class Answer {
  readonly #events: EventWriter;
  #reason: FinishReason | undefined;
  #native: string | undefined;
  #stop: string | undefined;
  /** What chunks repeat, as it was said last. */
  readonly #said = new Map<string, string>();

  constructor(context: WireContext) {
    this.#events = new EventWriter(context);
  }

  read(events: readonly SseEvent[]): Event[] {
    for (const { event, data } of events) {
      if (data.trim() === "[DONE]") this.#finish(true);
      else if (event === "error") this.#events.finish({ error: readError(0, {}, data) });
      else if (data !== "") this.chunk(parsed(data), false);
    }
    return this.#events.take();
  }

  /** The reason comes before the usage does, so the end waits for what ends the stream. */
  end(ended: boolean): Event[] {
    this.#finish(ended);
    return this.#events.take();
  }

  #finish(ended: boolean): void {
    this.#events.finish({ reason: this.#reason, native: this.#native, stop: this.#stop, ended });
  }

  chunk(chunk: unknown, whole: boolean): void {
    const to = this.#events;
    if (!isObject(chunk) || (chunk.error ?? undefined) !== undefined || (whole && listOf(chunk.choices).length === 0)) {
      to.finish({ error: readError(0, {}, isObject(chunk) ? chunk : `this is no answer: ${JSON.stringify(chunk)}`) });
      return;
    }
    to.start(textOf(chunk.id), textOf(chunk.model));
    this.#unknown(chunk, CHUNK, (rest) => rest);
    for (const item of listOf(chunk.choices)) {
      const choice = objectOf(item);
      if ((numberOf(choice.index) ?? 0) !== 0) continue; // one answer was asked for
      this.#delta(objectOf(choice.delta ?? choice.message), whole);
      this.#unknown(choice, CHOICE, (rest) => ({ choices: [rest] }), true);
      const native = textOf(choice.finish_reason);
      if (native) [this.#native, this.#reason] = [native, (Object.hasOwn(FINISH, native) && FINISH[native]) || "stop"];
      this.#stop = textOf(choice.stop_reason) ?? this.#stop;
    }
    if (isObject(chunk.usage)) this.#usage(chunk.usage);
  }

  #delta(delta: JsonObject, whole: boolean): void {
    const to = this.#events;
    to.thinking(textOf(delta.reasoning_content) || textOf(delta.reasoning) || "");
    if (Array.isArray(delta.content)) for (const part of delta.content) this.#part(objectOf(part));
    else to.text(textOf(delta.content) ?? "");
    to.refusal(textOf(delta.refusal) ?? "");
    for (const [i, item] of listOf(delta.tool_calls).entries()) {
      const call = objectOf(item);
      to.call({ ...fragmentOf(call), index: numberOf(call.index) ?? (whole ? i : undefined), done: whole });
    }
    const legacy = delta.function_call;
    if (isObject(legacy)) to.call({ ...functionOf(legacy), index: 0, done: whole });
    this.#unknown(delta, DELTA, (rest) => ({ choices: [{ delta: rest }] }), true);
  }

  /** Mistral's content is a list where it thinks. */
  #part(part: JsonObject): void {
    if (part.type !== "thinking") this.#events.text(textOf(part.text) ?? "");
    else for (const inner of listOf(part.thinking)) this.#events.thinking(textOf(inner) ?? textOf(objectOf(inner).text) ?? "");
  }

  #usage(usage: JsonObject): void {
    const input = objectOf(usage.prompt_tokens_details);
    const output = objectOf(usage.completion_tokens_details);
    const counts = {
      inputTokens: numberOf(usage.prompt_tokens),
      outputTokens: numberOf(usage.completion_tokens),
      thinkingTokens: numberOf(output.reasoning_tokens),
      cachedTokens: numberOf(input.cached_tokens),
      cacheWriteTokens: numberOf(input.cache_write_tokens),
    };
    this.#events.usage(counts as Usage);
    this.#unknown(usage, USAGE, (rest) => ({ usage: rest }));
    this.#unknown(input, DETAILS, (rest) => ({ usage: { prompt_tokens_details: rest } }));
    this.#unknown(output, DETAILS, (rest) => ({ usage: { completion_tokens_details: rest } }));
  }

  /** Passes on what is not modelled, in the shape of a chunk. What every chunk repeats, the server's bookkeeping, is said once. */
  #unknown(value: JsonObject, known: ReadonlySet<string>, shape: (rest: JsonObject) => JsonObject, always = false): void {
    const rest = restOf(value, known);
    if (!rest) return;
    const fresh = Object.entries(rest).filter(([key, item]) => always || this.#news(JSON.stringify(shape({ [key]: 0 })), item));
    if (fresh.length > 0) this.#events.extension(WIRE, shape(Object.fromEntries(fresh)), !always);
  }

  #news(key: string, item: Json): boolean {
    const text = JSON.stringify(item);
    if (this.#said.get(key) === text) return false;
    this.#said.set(key, text);
    return true;
  }
}

function fragmentOf(call: JsonObject): CallFragment {
  const { custom } = call;
  const state = [...(signatureOf(call).state ?? []), ...opaques(restOf(call, CALL))];
  const fragment: CallFragment = isObject(custom)
    ? { name: textOf(custom.name), input: textOf(custom.input) ?? "" }
    : functionOf(objectOf(call.function));
  return { ...fragment, id: textOf(call.id), state: [...state, ...(fragment.state ?? [])] };
}

function functionOf(fn: JsonObject): CallFragment {
  const rest = restOf(fn, FUNCTION);
  const args = fn.arguments;
  return {
    name: textOf(fn.name),
    arguments: typeof args === "string" || isObject(args) ? args : undefined,
    state: rest ? [{ wire: WIRE, kind: "function", data: rest }] : [],
  };
}

const opaques = (rest: JsonObject = {}): Opaque[] => Object.entries(rest).map(([kind, data]) => ({ wire: WIRE, kind, data }));
