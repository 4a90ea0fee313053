/** A server's answer: the chunks of a stream, or the whole at once, which is a chunk with a `message` in the place of its `delta`. */
import { isObject } from "../../core/json.ts";
import type { FinishReason, Json, JsonObject } from "../../core/nouns.ts";
import type { CallFragment } from "../accumulate.ts";
import { AnswerReader } from "../answer-in.ts";
import type { Fields } from "../fields.ts";
import { joined } from "../opaque.ts";
import { CHAT_USAGE, readUsage } from "../openai.ts";
import { isEmpty, listOf, objectOf, restOf, textOf } from "../read.ts";
import type { WireContext } from "../wire.ts";
import { readSignature } from "./signature.ts";
import { FINISH, WIRE } from "./tables.ts";

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

  override body(body: Fields): void {
    if (listOf(body.value.choices).length === 0) this.broken(body.value);
    else this.#read(body, true);
  }
  chunk(chunk: Fields): void {
    this.#read(chunk, false);
  }
  /** The reason comes before the usage does, so the end waits for what ends the stream. */
  end(ended: boolean): void {
    this.finish({ reason: this.#reason, native: this.#native, stop: this.#stop, ended });
  }

  #read(chunk: Fields, whole: boolean): void {
    chunk.ask("object", "created", "error", "obfuscation");
    this.start(chunk.text("id"), chunk.text("model"));
    chunk.each("choices", (choice) => this.#choice(choice, whole));
    const usage = chunk.object("usage");
    if (usage) this.usage(readUsage(usage, CHAT_USAGE));
    const rest = chunk.rest();
    if (rest) this.#unknown(rest);
  }

  #choice(choice: Fields, whole: boolean): void {
    if ((choice.number("index") ?? 0) !== 0) return; // one answer was asked for
    const delta = choice.object("delta") ?? choice.object("message");
    if (delta) this.#delta(delta, whole);
    const native = choice.text("finish_reason");
    if (native) [this.#native, this.#reason] = [native, (Object.hasOwn(FINISH, native) && FINISH[native]) || "stop"];
    this.#stop = choice.text("stop_reason") ?? this.#stop;
    const rest = choice.rest();
    if (!rest) return;
    const { message, ...said } = rest; // what rides along has the shape of a chunk
    this.extend({ choices: [message ? { ...said, delta: message } : said] });
  }

  #delta(delta: Fields, whole: boolean): void {
    delta.ask("role");
    this.thinking(delta.text("reasoning_content", "reasoning") ?? "");
    const content = delta.json("content");
    if (typeof content === "string") this.text(content);
    else if (content) delta.each("content", (part) => this.#part(part));
    this.refusal(delta.text("refusal") ?? "");
    delta.each("tool_calls", (call, i) => {
      call.ask("type");
      const custom = call.object("custom");
      const fn = custom ?? call.inner("function");
      const index = call.number("index") ?? (whole ? i : undefined);
      const signed = readSignature(call).state;
      const [id, name, args] = [call.text("id"), fn.text("name"), argumentsOf(fn)];
      const input = custom && (custom.text("input") ?? "");
      // One shape for all of them: it is the hottest object of a stream.
      this.call({ index, id, name, arguments: args, input, state: joined(signed, call.state()), done: whole, truncated: undefined });
    });
    const { state } = readSignature(delta);
    if (state) this.text("", [...state]);
    const legacy = delta.thing("function_call");
    if (legacy) this.call({ index: 0, name: legacy.text("name"), arguments: argumentsOf(legacy), done: whole });
  }

  /** Mistral's content is a list where it thinks. */
  #part({ value: part }: Fields): void {
    if (part.type !== "thinking") this.text(textOf(part.text) ?? "");
    else for (const inner of listOf(part.thinking)) this.thinking(textOf(inner) ?? textOf(objectOf(inner).text) ?? "");
  }

  /** What every chunk repeats, the server's bookkeeping, is said once. */
  #unknown(rest: JsonObject): void {
    const fresh = restOf(rest, (key) => this.#isNews(key, rest[key]!));
    if (!fresh) return;
    const { usage, ...others } = fresh;
    if (!isEmpty(others)) this.extend(others, true);
    if (usage) this.extend({ usage }, true);
  }

  #isNews(key: string, item: Json): boolean {
    const text = typeof item === "string" ? item : JSON.stringify(item);
    const known = this.#said.get(key) === text;
    this.#said.set(key, text);
    return !known;
  }
}

function argumentsOf(fn: Fields): CallFragment["arguments"] {
  const args = fn.json("arguments");
  return typeof args === "string" || isObject(args) ? args : undefined;
}
