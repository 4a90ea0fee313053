/** Answers of servers: one `{"candidates": [{"content": {"parts": […]}, "finishReason": "STOP"}], "usageMetadata": {…}}`, or a stream of them. */
import { isObject } from "../../core/json.ts";
import type { Json, JsonObject, Usage } from "../../core/nouns.ts";
import { AnswerReader, type Framing } from "../answer-in.ts";
import { ArrayReader } from "../json-array.ts";
import { innerState, joined, opaques, openCapsule } from "../opaque.ts";
import { defined, listOf, numberOf, objectOf, restOf, textOf, words } from "../read.ts";
import { ArgumentTexts } from "../spans.ts";
import { type SseEvent, SseReader } from "../sse.ts";
import type { WireContext } from "../wire.ts";
import { FINISH, MALFORMED, PART, SIGNATURE, WIRE } from "./tables.ts";

const COUNTS = words(
  "promptTokenCount candidatesTokenCount thoughtsTokenCount cachedContentTokenCount toolUsePromptTokenCount totalTokenCount",
);

/** What others need not know of: an answer without it is as good. */
const QUIET = words("safetyRatings avgLogprobs tokenCount createTime modelStatus promptFeedback");

/** Server-sent events or one JSON array: the first character tells. */
class Frames implements Framing {
  #reader: SseReader | ArrayReader | undefined;

  feed(text: string): SseEvent[] {
    const [first] = this.#reader ? "" : text.trimStart();
    if (first !== undefined) this.#reader = first === "[" || first === "{" ? new ArrayReader() : new SseReader();
    return this.#reader?.feed(text) ?? [];
  }
  flush(): SseEvent[] {
    return this.#reader?.flush() ?? [];
  }
}

export class GeminiReader extends AnswerReader {
  override readonly repeats = true;
  #calls = 0;
  #native: string | undefined;
  #blocked = false;
  #message: string | undefined;
  /** `usageMetadata`, which every chunk repeats. */
  readonly #counts: { [key: string]: Json } = {};
  /** The last extension, as text: servers repeat themselves with every chunk. */
  #extension = "";

  constructor(context: WireContext) {
    super(WIRE, context, new Frames());
  }

  chunk(chunk: JsonObject, text: string): void {
    const { candidates, usageMetadata, responseId, modelVersion, ...outer } = chunk;
    const { content, finishReason, finishMessage, index: _index, ...inner } = objectOf(listOf(candidates)[0]);
    this.start(textOf(responseId), textOf(modelVersion));
    const parts = listOf(objectOf(content).parts).map(objectOf);
    const texts = new ArgumentTexts(text, "args");
    for (const part of parts) this.#part(part, texts);
    this.#extend(restOf(outer), restOf(inner));
    Object.assign(this.#counts, usageMetadata);
    const blocked = textOf(objectOf(outer.promptFeedback).blockReason);
    this.#blocked ||= blocked !== undefined;
    this.#native = textOf(finishReason) ?? blocked ?? this.#native;
    this.#message = textOf(finishMessage) ?? this.#message;
  }

  #part(part: JsonObject, texts: ArgumentTexts): void {
    const { text, functionCall: call } = part;
    if (isObject(call)) {
      const { id, name, args, ...inner } = call;
      const capsule = openCapsule(textOf(part[SIGNATURE]) ?? ""); // what was thought is in the answer as well
      const others = restOf(part, (key) => key !== "functionCall" && !(capsule && key === SIGNATURE)) ?? {};
      const state = joined(innerState(WIRE, "functionCall", inner), opaques(WIRE, others), capsule?.state);
      this.call({
        index: this.#calls++,
        id: textOf(id),
        name: textOf(name),
        arguments: texts.take(args ?? {}) ?? objectOf(args),
        state,
        done: true,
      });
    } else if (typeof text !== "string") this.text("", [{ wire: WIRE, kind: PART, data: part }]);
    else {
      const { text: _text, thought, ...rest } = part;
      const state = opaques(WIRE, rest);
      if (thought !== true) this.text(text, state);
      else {
        this.thinking(text);
        if (state) this.endThinking(state);
      }
    }
  }

  /** What only this wire knows, in the shape of a chunk. */
  #extend(outer: JsonObject | undefined, inner: JsonObject | undefined): void {
    if (!outer && !inner) return;
    const data: JsonObject = { ...outer, ...(inner ? { candidates: [inner] } : {}) };
    const text = JSON.stringify(data);
    if (text === this.#extension) return;
    this.#extension = text;
    this.extend(
      data,
      Object.keys({ ...outer, ...inner }).every((key) => QUIET.has(key)),
    );
  }

  /** Thoughts stand beside the candidates, and what a server's own tools read beside the prompt. */
  #usage(): void {
    const sum = (...keys: string[]): number | undefined => {
      const counts = keys.map((key) => numberOf(this.#counts[key])).filter((count) => count !== undefined);
      return counts.length > 0 ? counts.reduce((all, count) => all + count) : undefined;
    };
    const details = restOf(this.#counts, (key) => !COUNTS.has(key));
    if (details) this.extend({ usageMetadata: details }, true);
    this.usage(
      defined<Usage>({
        inputTokens: sum("promptTokenCount", "toolUsePromptTokenCount"),
        outputTokens: sum("candidatesTokenCount", "thoughtsTokenCount"),
        thinkingTokens: sum("thoughtsTokenCount"),
        cachedTokens: sum("cachedContentTokenCount"),
      }),
    );
  }

  end(_whole: boolean, cut = false): void {
    if (this.finished) return;
    const native = this.#native;
    this.#usage();
    if (native === MALFORMED) this.call({ arguments: this.#message ?? "", done: true });
    const reason = native === undefined ? undefined : this.#blocked ? "content-filter" : (FINISH[native] ?? "error");
    const { complete } = this.calls;
    const failed = reason === "error" && native !== MALFORMED && complete === 0;
    const error = failed ? ({ code: "upstream", message: this.#message ?? `the model stopped: ${native}` } as const) : undefined;
    // Some servers give no reason behind calls; these come whole, so nothing is missing.
    this.finish({ reason, native, error, ended: !cut && complete > 0 });
  }
}
