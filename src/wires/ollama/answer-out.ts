/** Answers to clients of `/api/chat` and `/api/generate`: lines of JSON, or one object for everything. Calls come whole. */
import type { ErrorInfo, Finish, JsonObject, ToolEnd } from "../../core/nouns.ts";
import { Answer } from "../answer-out.ts";
import { ownState, putState } from "../opaque.ts";
import { printBody, withoutSeparators } from "../raw.ts";
import { defined, grow, objectOf } from "../read.ts";
import type { Draft } from "../wire.ts";
import { durations, encodeCall, GENERATE, WIRE } from "./common.ts";

export class OllamaAnswer extends Answer {
  override readonly wholeCalls = true;
  override readonly sorts = true;
  readonly #isGenerate = ownState(WIRE, this.request.extra, GENERATE) === true;
  readonly errorBody = errorBody;
  #calls = 0;
  /** Fields of this wire's own for the next line. */
  #own: Draft | undefined;

  text(content: string): void {
    if (content !== "") this.#line({ content });
  }
  thinking(thinking: string): void {
    this.#line({ thinking });
  }
  callEnd(call: ToolEnd): void {
    this.warnings.foreign(call.state);
    const tool_calls = [encodeCall(call, this.#calls++, putState(WIRE, {}, call.state))];
    this.#line({ tool_calls });
  }
  override own(data: JsonObject): void {
    if (this.#own) this.#line({}); // each extension gets a line of its own
    this.#own = { ...data };
  }
  /** A line without content serves as a heartbeat. */
  beat(): void {
    this.#line({});
  }

  finish({ reason, native = "" }: Finish): void {
    const done_reason = reason === "length" ? reason : native === "load" || native === "unload" ? native : "stop";
    if (reason === "content-filter") this.warnings.converted("content-filter", "stop");
    const { inputTokens, outputTokens } = this.usage ?? {};
    this.#line(
      {},
      {
        done: true,
        done_reason,
        ...durations(this.options.spent?.() ?? { ms: 0 }),
        prompt_eval_count: inputTokens,
        eval_count: outputTokens,
      },
    );
  }

  /** `end`: `done`, and the fields that only the last line has. */
  #line(said: Draft, end: Draft = { done: false }): void {
    const { message, ...own } = this.#own ?? {};
    this.#own = undefined;
    this.send({ said: { ...objectOf(message), ...said }, end, own });
  }

  print(chunk: Draft): string {
    return `${withoutSeparators(printBody(chunk.error ? chunk : this.#shape(chunk)))}\n`;
  }

  #shape({ said, end, own }: Draft): Draft {
    const { content = "", ...rest } = said as Draft;
    const spoken = this.#isGenerate ? { response: content, ...rest } : { message: { role: "assistant", content, ...rest } };
    const head = { model: this.model, created_at: this.now().toISOString() };
    return { ...head, ...spoken, ...(end as Draft), ...(own as Draft) };
  }

  body(lines: readonly Draft[]): unknown {
    const [said, own] = ["said", "own"].map((key) => lines.reduce((all, line) => grow(all, line[key] as Draft, key === "own"), {}));
    return defined<Draft>(this.#shape({ said, own, end: lines.at(-1)?.end }));
  }
}

// ---- Errors

const TOO_LONG = "the input length exceeds the context length";

export function errorBody({ code, message, tokens }: ErrorInfo): Draft {
  if (code !== "context-length") return { error: message };
  if (tokens) return { error: `${TOO_LONG}: ${tokens.used} tokens > ${tokens.limit}` };
  return { error: /context length/.test(message) ? message : `${TOO_LONG}: ${message}` };
}
