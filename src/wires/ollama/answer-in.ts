/** Servers' answers: lines of JSON, or one object for everything. A whole body is complete even without `done`. */
import { isObject } from "../../core/json.ts";
import type { Usage } from "../../core/nouns.ts";
import type { CallFragment } from "../accumulate.ts";
import { AnswerReader } from "../answer-in.ts";
import type { Fields } from "../fields.ts";
import { LineReader } from "../ndjson.ts";
import { restOf, textOf, words } from "../read.ts";
import { ArgumentTexts } from "../spans.ts";
import { DURATIONS, WIRE } from "./common.ts";

const QUIET = words(`context ${Object.keys(DURATIONS).join(" ")}`);
const USAGE = { prompt_eval_count: "inputTokens", eval_count: "outputTokens" } as const;

export class OllamaReader extends AnswerReader {
  readonly wire = WIRE;
  override readonly quiet = QUIET;
  #calls = 0;

  override framing(): LineReader {
    return new LineReader();
  }
  chunk(line: Fields, text: string): void {
    line.ask("created_at", "error");
    this.start(undefined, line.text("model"));
    const message = line.object("message") ?? line; // `/api/generate` has no `message`
    const content = message.text(message === line ? "response" : "content");
    const thinking = message.text("thinking");
    const calls = message.peek("tool_calls") ? this.#callsOf(message, new ArgumentTexts(text, "arguments")) : [];
    message.ask("role");
    const done = line.json("done");
    const native = line.text("done_reason");
    const usage = line.read<Usage>(USAGE);
    const rest = line.rest();
    this.extend(rest && restOf(rest, (key) => !(key in DURATIONS && rest[key] === 0))); // it precedes the content of its line
    this.thinking(thinking ?? "");
    this.text(content ?? "");
    for (const call of calls) this.call(call);
    if (done !== true) return;
    this.usage(usage);
    this.finish({ reason: native === "length" ? native : "stop", native });
  }

  override body(body: Fields, text: string): void {
    const { message, response, done } = body.value;
    if (message ?? response ?? done) this.chunk(body, text);
    else this.broken(body.value);
  }

  end(ended: boolean): void {
    this.finish({ ended });
  }

  /** Calls come whole. Their indexes are ignored: some servers send 0 for all of them. */
  #callsOf(message: Fields, texts: ArgumentTexts): CallFragment[] {
    return message.each("tool_calls", (call) => {
      const fn = call.inner("function");
      call.ask("type");
      fn.ask("index");
      const given = fn.json("arguments");
      const args = isObject(given) ? (texts.take(given) ?? given) : textOf(given);
      return { index: this.#calls++, id: call.text("id"), name: fn.text("name"), arguments: args, state: call.state(), done: true };
    });
  }
}
