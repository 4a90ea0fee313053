/** Answers of servers: lines of JSON, or one object for all. A whole body is the end, whatever it says. */
import { isObject } from "../../core/json.ts";
import type { FinishReason, Json, JsonObject, Usage } from "../../core/nouns.ts";
import { AnswerReader } from "../answer-in.ts";
import { LineReader } from "../ndjson.ts";
import { innerState, joined, opaques } from "../opaque.ts";
import { defined, listOf, numberOf, objectOf, restOf, textOf } from "../read.ts";
import { ArgumentTexts } from "../spans.ts";
import type { WireContext } from "../wire.ts";
import { DURATIONS, WIRE } from "./common.ts";

const REASONS: Readonly<Record<string, FinishReason>> = { stop: "stop", length: "length", load: "stop", unload: "stop" };

export class OllamaReader extends AnswerReader {
  #calls = 0;

  constructor(context: WireContext) {
    super(WIRE, context, new LineReader());
  }

  chunk(line: JsonObject, text: string): void {
    const { model, created_at: _created_at, message, done, done_reason, prompt_eval_count, eval_count, error: _error, ...others } = line;
    const { response, ...flat } = others; // `/api/generate` has no message
    const { role: _role, content, thinking, tool_calls, ...rest } = isObject(message) ? message : { content: response ?? "", ...flat };
    this.start(undefined, textOf(model));
    this.#own(isObject(message) ? others : rest, isObject(message) ? rest : {});
    this.thinking(textOf(thinking) ?? "");
    this.text(textOf(content) ?? "");
    this.#callsOf(listOf(tool_calls), text);
    if (done !== true) return;
    this.usage(defined<Usage>({ inputTokens: numberOf(prompt_eval_count), outputTokens: numberOf(eval_count) }));
    const native = textOf(done_reason);
    this.finish({ reason: REASONS[native ?? ""], native, ended: true });
  }

  end(ended: boolean): void {
    this.finish({ ended });
  }

  /** What only this wire knows goes ahead of what was said with it. */
  #own(outer: JsonObject, inner: JsonObject): void {
    const message = restOf(inner);
    const line = restOf(outer, (key) => !(key in DURATIONS && outer[key] === 0));
    if (!message && !line) return;
    const quiet = !message && Object.keys(line ?? {}).every((key) => key in DURATIONS || key === "context");
    this.extend({ ...line, ...(message ? { message } : {}) }, quiet);
  }

  /** Calls come whole. Their numbers are not believed: servers have sent 0 for all of them. */
  #callsOf(list: readonly Json[], line: string): void {
    const texts = new ArgumentTexts(line, "arguments");
    for (const call of list) {
      const { id, type: _type, function: fn, ...rest } = objectOf(call);
      const { index: _index, name, arguments: given, ...inner } = objectOf(fn);
      const state = joined(opaques(WIRE, rest), innerState(WIRE, "function", inner));
      const args = isObject(given) ? (texts.take(given) ?? given) : textOf(given);
      this.call({ index: this.#calls++, id: textOf(id), name: textOf(name), arguments: args, state, done: true });
    }
  }
}
