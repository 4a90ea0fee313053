/** Answers of servers: lines of JSON, or one object for all. A whole body is the end, whatever it says. */
import { isObject } from "../../core/json.ts";
import type { FinishReason, Json, JsonObject, Usage } from "../../core/nouns.ts";
import { AnswerReader } from "../answer-in.ts";
import { LineReader } from "../ndjson.ts";
import { innerState, opaques } from "../opaque.ts";
import { defined, listOf, numberOf, objectOf, restOf, textOf, words } from "../read.ts";
import { valuesOf } from "../spans.ts";
import type { WireContext } from "../wire.ts";
import { DURATIONS, WIRE } from "./common.ts";

const REASONS: Readonly<Record<string, FinishReason>> = { stop: "stop", length: "length", load: "stop", unload: "stop" };

const MESSAGE = words("role content thinking tool_calls");
const LINE = words("model created_at message response thinking tool_calls done done_reason prompt_eval_count eval_count error");
const CALL = words("id type function");
const FUNCTION = words("index name arguments");

export class OllamaReader extends AnswerReader {
  #calls = 0;

  constructor(context: WireContext) {
    super(WIRE, context, new LineReader());
  }

  chunk(line: JsonObject, text: string): void {
    const said = isObject(line.message) ? line.message : { ...line, content: line.response ?? "" };
    this.start(undefined, textOf(line.model));
    this.#own(line);
    this.thinking(textOf(said.thinking) ?? "");
    this.text(textOf(said.content) ?? "");
    this.#callsOf(listOf(said.tool_calls), text);
    if (line.done !== true) return;
    this.usage(defined<Usage>({ inputTokens: numberOf(line.prompt_eval_count), outputTokens: numberOf(line.eval_count) }));
    const native = textOf(line.done_reason);
    this.finish({ reason: REASONS[native ?? ""], native, ended: true });
  }

  end(ended: boolean): void {
    this.finish({ ended });
  }

  /** What only this wire knows goes ahead of what was said with it. */
  #own(line: JsonObject): void {
    const message = restOf(objectOf(line.message), MESSAGE);
    const known = Object.entries(restOf(line, LINE) ?? {}).filter(([key, value]) => !(key in DURATIONS && value === 0));
    if (!message && known.length === 0) return;
    const quiet = !message && known.every(([key]) => key in DURATIONS || key === "context");
    this.extend({ ...Object.fromEntries(known), ...(message ? { message } : {}) }, quiet);
  }

  /** Calls come whole. Their numbers are not believed: servers have sent 0 for all of them. */
  #callsOf(list: readonly Json[], line: string): void {
    const calls = list.map(objectOf);
    const texts = calls.length > 0 ? valuesOf(line, "arguments") : [];
    for (const [i, call] of calls.entries()) {
      const fn = objectOf(call.function);
      const state = [...(opaques(WIRE, call, CALL) ?? []), ...(innerState(WIRE, "function", fn, FUNCTION) ?? [])];
      const args = isObject(fn.arguments) ? (texts.length === calls.length ? texts[i] : fn.arguments) : textOf(fn.arguments);
      this.call({ index: this.#calls++, id: textOf(call.id), name: textOf(fn.name), arguments: args, state, done: true });
    }
  }
}
