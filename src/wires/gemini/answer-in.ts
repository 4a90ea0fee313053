/** Answers of servers: one `{"candidates": [{"content": {"parts": […]}, "finishReason": "STOP"}], "usageMetadata": {…}}`, or a stream of them. */
import { isObject } from "../../core/json.ts";
import type { Json, JsonObject, Usage } from "../../core/nouns.ts";
import { AnswerReader, type Framing } from "../answer-in.ts";
import { ArrayReader } from "../json-array.ts";
import { innerState, opaques, openCapsule } from "../opaque.ts";
import { defined, listOf, numberOf, objectOf, restOf, textOf, words } from "../read.ts";
import { type SseEvent, SseReader } from "../sse.ts";
import type { WireContext } from "../wire.ts";
import { argumentsIn } from "./arguments.ts";
import { FINISH, MALFORMED, PART, SIGNATURE, WIRE } from "./tables.ts";

const ROOT = words("candidates usageMetadata responseId modelVersion");
const CANDIDATE = words("content finishReason finishMessage index");
const TEXT = words("text thought");
const CALL_PART = words("functionCall");
const CAPSULE_PART = words(`functionCall ${SIGNATURE}`);
const CALL = words("id name args");
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
    this.start(textOf(chunk.responseId), textOf(chunk.modelVersion));
    const candidate = objectOf(listOf(chunk.candidates)[0]);
    const parts = listOf(objectOf(candidate.content).parts).map(objectOf);
    const spelled = argumentsIn(text, parts.filter((part) => isObject(part.functionCall)).length);
    for (const part of parts) this.#part(part, isObject(part.functionCall) ? spelled.shift() : undefined);
    this.#extend(restOf(chunk, ROOT), restOf(candidate, CANDIDATE));
    Object.assign(this.#counts, chunk.usageMetadata);
    const blocked = textOf(objectOf(chunk.promptFeedback).blockReason);
    this.#blocked ||= blocked !== undefined;
    this.#native = textOf(candidate.finishReason) ?? blocked ?? this.#native;
    this.#message = textOf(candidate.finishMessage) ?? this.#message;
  }

  #part(part: JsonObject, json: string | undefined): void {
    const { text, functionCall: call } = part;
    if (isObject(call)) {
      const capsule = openCapsule(textOf(part[SIGNATURE]) ?? ""); // what was thought is in the answer as well
      const on = opaques(WIRE, part, capsule ? CAPSULE_PART : CALL_PART);
      const state = [...(innerState(WIRE, "functionCall", call, CALL) ?? []), ...(on ?? []), ...(capsule?.state ?? [])];
      const args = json ?? objectOf(call.args);
      this.call({ index: this.#calls++, id: textOf(call.id), name: textOf(call.name), arguments: args, state, done: true });
    } else if (typeof text !== "string") this.text("", [{ wire: WIRE, kind: PART, data: part }]);
    else {
      const state = opaques(WIRE, part, TEXT);
      if (part.thought !== true) this.text(text, state);
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
      Object.keys({ ...outer, ...inner }).every((key) => key in QUIET),
    );
  }

  /** Thoughts stand beside the candidates, and what a server's own tools read beside the prompt. */
  #usage(): void {
    const sum = (...keys: string[]): number | undefined => {
      const counts = keys.map((key) => numberOf(this.#counts[key])).filter((count) => count !== undefined);
      return counts.length > 0 ? counts.reduce((all, count) => all + count) : undefined;
    };
    const details = restOf(this.#counts, COUNTS);
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
