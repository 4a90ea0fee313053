/** A server's answer: the chunks of a stream, or the whole at once, which is a chunk with a `message` in the place of its `delta`. */
import { isObject } from "../../core/json.ts";
import type { FinishReason, Json, JsonObject } from "../../core/nouns.ts";
import type { CallFragment } from "../accumulate.ts";
import { AnswerReader } from "../answer-in.ts";
import { innerState, opaques } from "../opaque.ts";
import { CHAT_USAGE, readUsage } from "../openai.ts";
import { listOf, numberOf, objectOf, restOf, textOf, type Words, words } from "../read.ts";
import type { WireContext } from "../wire.ts";
import { signatureOf } from "./signature.ts";
import { FINISH, WIRE } from "./tables.ts";

const CHUNK = words("id object created model choices usage error obfuscation");
const CHOICE = words("index delta message finish_reason stop_reason");
const DELTA = words("role content reasoning_content reasoning refusal tool_calls function_call");
const CALL = words("index id type function custom extra_content");
const FUNCTION = words("name arguments");
const USAGE = words("prompt_tokens completion_tokens total_tokens prompt_tokens_details completion_tokens_details");
const DETAILS = words("cached_tokens cache_write_tokens reasoning_tokens");

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
    this.start(textOf(chunk.id), textOf(chunk.model));
    this.#unknown(chunk, CHUNK, "chunk");
    for (const item of listOf(chunk.choices)) {
      const choice = objectOf(item);
      if ((numberOf(choice.index) ?? 0) !== 0) continue; // one answer was asked for
      this.#delta(objectOf(choice.delta ?? choice.message), whole);
      this.#unknown(choice, CHOICE, "choice");
      const native = textOf(choice.finish_reason);
      if (native) [this.#native, this.#reason] = [native, (Object.hasOwn(FINISH, native) && FINISH[native]) || "stop"];
      this.#stop = textOf(choice.stop_reason) ?? this.#stop;
    }
    const { usage } = chunk;
    if (!isObject(usage)) return;
    this.usage(readUsage(usage, CHAT_USAGE));
    this.#unknown(usage, USAGE, "usage");
    for (const key of ["prompt_tokens_details", "completion_tokens_details"] as const) this.#unknown(objectOf(usage[key]), DETAILS, key);
  }

  #delta(delta: JsonObject, whole: boolean): void {
    const { content, tool_calls, function_call: legacy } = delta;
    this.thinking(textOf(delta.reasoning_content) || textOf(delta.reasoning) || "");
    if (typeof content === "string") this.text(content);
    else for (const part of listOf(content)) this.#part(objectOf(part));
    this.refusal(textOf(delta.refusal) ?? "");
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
    this.#unknown(delta, DELTA, "delta");
  }

  /** Mistral's content is a list where it thinks. */
  #part(part: JsonObject): void {
    if (part.type !== "thinking") this.text(textOf(part.text) ?? "");
    else for (const inner of listOf(part.thinking)) this.thinking(textOf(inner) ?? textOf(objectOf(inner).text) ?? "");
  }

  /** Passes on what is not modelled. What every chunk repeats, the server's bookkeeping, is said once. */
  #unknown(value: JsonObject, known: Words, place: keyof typeof SHAPES): void {
    const rest = restOf(value, known);
    if (!rest) return;
    const isSaid = place === "choice" || place === "delta";
    const fresh = isSaid ? rest : Object.fromEntries(Object.entries(rest).filter(([key, item]) => this.#isNews(`${place} ${key}`, item)));
    if (Object.keys(fresh).length > 0) this.extend(SHAPES[place](fresh), !isSaid);
  }

  #isNews(key: string, item: Json): boolean {
    const text = typeof item === "string" ? item : JSON.stringify(item);
    const known = this.#said.get(key) === text;
    this.#said.set(key, text);
    return !known;
  }
}

function fragmentOf(call: JsonObject): CallFragment {
  const { custom } = call;
  const fragment: CallFragment = isObject(custom)
    ? { name: textOf(custom.name), input: textOf(custom.input) ?? "" }
    : functionOf(objectOf(call.function));
  const carried = call.extra_content === undefined ? undefined : signatureOf(call).state;
  const rest = opaques(WIRE, call, CALL);
  if (rest || carried) fragment.state = [...(carried ?? []), ...(rest ?? []), ...(fragment.state ?? [])];
  fragment.id = textOf(call.id);
  return fragment;
}

function functionOf(fn: JsonObject): CallFragment {
  const { name, arguments: args } = fn;
  return {
    name: textOf(name),
    arguments: typeof args === "string" || isObject(args) ? args : undefined,
    state: innerState(WIRE, "function", fn, FUNCTION),
  };
}
