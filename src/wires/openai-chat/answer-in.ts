/** A server's answer: the chunks of a stream, or the whole at once, which is a chunk with a `message` in the place of its `delta`. */
import { isObject } from "../../core/json.ts";
import type { FinishReason, Json, JsonObject } from "../../core/nouns.ts";
import type { CallFragment } from "../accumulate.ts";
import { AnswerReader } from "../answer-in.ts";
import { innerState, joined, opaques } from "../opaque.ts";
import { CHAT_USAGE, readUsage } from "../openai.ts";
import { listOf, numberOf, objectOf, restOf, textOf } from "../read.ts";
import type { WireContext } from "../wire.ts";
import { signatureOf } from "./signature.ts";
import { FINISH, WIRE } from "./tables.ts";

/** What rides along has the shape of a chunk. */
const SHAPES = {
  chunk: (rest: JsonObject): JsonObject => rest,
  choice: (rest: JsonObject): JsonObject => ({ choices: [rest] }),
  delta: (delta: JsonObject): JsonObject => ({ choices: [{ delta }] }),
  usage: (usage: JsonObject): JsonObject => ({ usage }),
  prompt_tokens_details: (prompt_tokens_details: JsonObject): JsonObject => ({ usage: { prompt_tokens_details } }),
  completion_tokens_details: (completion_tokens_details: JsonObject): JsonObject => ({ usage: { completion_tokens_details } }),
};

export class ChatReader extends AnswerReader {
  override readonly repeats = true;
  #reason: FinishReason | undefined;
  #native: string | undefined;
  #stop: string | undefined;
  /** What chunks repeat, as it was said last. */
  readonly #said = new Map<string, string>();

  constructor(context: WireContext) {
    super(WIRE, context);
  }

  override body(body: JsonObject): void {
    if (listOf(body.choices).length === 0) this.broken(body);
    else this.#read(body, true);
  }
  chunk(chunk: JsonObject): void {
    this.#read(chunk, false);
  }
  /** The reason comes before the usage does, so the end waits for what ends the stream. */
  end(ended: boolean): void {
    this.finish({ reason: this.#reason, native: this.#native, stop: this.#stop, ended });
  }

  #read(chunk: JsonObject, whole: boolean): void {
    const { id, object: _object, created: _created, model, choices, usage, error: _error, obfuscation: _obfuscation, ...rest } = chunk;
    this.start(textOf(id), textOf(model));
    this.#unknown(rest, "chunk");
    for (const item of listOf(choices)) this.#choice(objectOf(item), whole);
    if (isObject(usage)) this.#usage(usage);
  }

  #choice({ index, delta, message, finish_reason, stop_reason, ...rest }: JsonObject, whole: boolean): void {
    if ((numberOf(index) ?? 0) !== 0) return; // one answer was asked for
    this.#delta(objectOf(delta ?? message), whole);
    this.#unknown(rest, "choice");
    const native = textOf(finish_reason);
    if (native) [this.#native, this.#reason] = [native, (Object.hasOwn(FINISH, native) && FINISH[native]) || "stop"];
    this.#stop = textOf(stop_reason) ?? this.#stop;
  }

  #usage(usage: JsonObject): void {
    this.usage(readUsage(usage, CHAT_USAGE));
    const {
      prompt_tokens: _prompt_tokens,
      completion_tokens: _completion_tokens,
      total_tokens: _total_tokens,
      prompt_tokens_details,
      completion_tokens_details,
      ...rest
    } = usage;
    const { cached_tokens: _cached_tokens, cache_write_tokens: _cache_write_tokens, ...prompt } = objectOf(prompt_tokens_details);
    const { reasoning_tokens: _reasoning_tokens, ...completion } = objectOf(completion_tokens_details);
    this.#unknown(rest, "usage");
    this.#unknown(prompt, "prompt_tokens_details");
    this.#unknown(completion, "completion_tokens_details");
  }

  #delta(delta: JsonObject, whole: boolean): void {
    const { role: _role, content, reasoning_content, reasoning, refusal, tool_calls, function_call: legacy, ...rest } = delta;
    this.thinking(textOf(reasoning_content) || textOf(reasoning) || "");
    if (typeof content === "string") this.text(content);
    else for (const part of listOf(content)) this.#part(objectOf(part));
    this.refusal(textOf(refusal) ?? "");
    if (tool_calls) {
      for (const [i, item] of listOf(tool_calls).entries()) {
        const call = objectOf(item);
        const fragment = fragmentOf(call);
        fragment.index = numberOf(call.index) ?? (whole ? i : undefined);
        fragment.done = whole;
        this.call(fragment);
      }
    }
    if (isObject(legacy)) this.call({ ...functionOf(legacy), index: 0, done: whole });
    this.#unknown(rest, "delta");
  }

  /** Mistral's content is a list where it thinks. */
  #part(part: JsonObject): void {
    if (part.type !== "thinking") this.text(textOf(part.text) ?? "");
    else for (const inner of listOf(part.thinking)) this.thinking(textOf(inner) ?? textOf(objectOf(inner).text) ?? "");
  }

  /** Passes on what is not modelled. What every chunk repeats, the server's bookkeeping, is said once. */
  #unknown(rest: JsonObject, place: keyof typeof SHAPES): void {
    const isSaid = place === "choice" || place === "delta";
    const fresh = restOf(rest, (key) => isSaid || this.#isNews(`${place} ${key}`, rest[key]!));
    if (fresh) this.extend(SHAPES[place](fresh), !isSaid);
  }

  #isNews(key: string, item: Json): boolean {
    const text = typeof item === "string" ? item : JSON.stringify(item);
    const known = this.#said.get(key) === text;
    this.#said.set(key, text);
    return !known;
  }
}

function fragmentOf(call: JsonObject): CallFragment {
  const { index: _index, id, type: _type, function: fn, custom, extra_content, ...others } = call;
  const fragment: CallFragment = isObject(custom)
    ? { name: textOf(custom.name), input: textOf(custom.input) ?? "" }
    : functionOf(objectOf(fn));
  const carried = extra_content === undefined ? undefined : signatureOf(call).state;
  fragment.state = joined(carried, opaques(WIRE, others), fragment.state);
  fragment.id = textOf(id);
  return fragment;
}

function functionOf({ name, arguments: args, ...rest }: JsonObject): CallFragment {
  return {
    name: textOf(name),
    arguments: typeof args === "string" || isObject(args) ? args : undefined,
    state: innerState(WIRE, "function", rest),
  };
}
