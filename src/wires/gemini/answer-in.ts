/** Servers' answers: `{"candidates": [{"content": {"parts": […]}, "finishReason": "STOP"}], "usageMetadata": {…}}`, one or a stream. */
import type { Json, JsonObject, Opaque, Usage } from "../../core/nouns.ts";
import { AnswerReader, type Framing } from "../answer-in.ts";
import { openCapsule } from "../capsule.ts";
import type { Fields } from "../fields.ts";
import { ArrayReader } from "../json-array.ts";
import { joined } from "../opaque.ts";
import { defined, isEmpty, numberOf, objectOf, restOf, textOf, wholeUsage, words } from "../read.ts";
import { ArgumentTexts } from "../spans.ts";
import { type SseEvent, SseReader } from "../sse.ts";
import { PartialArguments } from "./partial-args.ts";
import { GIVEN_UP, MALFORMED, meaningOf, PART, SIGNATURE, WIRE } from "./tables.ts";

const COUNTS = words(
  "promptTokenCount candidatesTokenCount thoughtsTokenCount cachedContentTokenCount toolUsePromptTokenCount totalTokenCount",
);
/** The prompt and what the server's own tools read are counted separately; the nouns have the sum. */
const TOOL_USE = "toolUsePromptTokenCount";
const SUMMED = ["promptTokenCount", TOOL_USE];
const THOUGHTS = "thoughtsTokenCount";

/** Fields that other wires drop without a warning: the answer is as good without them. */
const QUIET = words("safetyRatings avgLogprobs tokenCount createTime modelStatus promptFeedback finishMessage");

/** Reads server-sent events or one JSON array: the first character tells which. */
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
  readonly wire = WIRE;
  override readonly quiet = QUIET;
  override readonly framed = /^\s*(\[|(data|event|id|retry)?:)/;
  override readonly repeats = true;
  #calls = 0;
  /** The call that is being received in pieces. */
  #partial: { index: number; id: string | undefined; name: string | undefined; pieces: PartialArguments } | undefined;
  /** The last call, if it has no arguments: some servers send them in the next chunk, without the name. */
  #bare: number | undefined;
  #native: string | undefined;
  #blocked = false;
  /** The answer has text. */
  #spoke = false;
  #message: string | undefined;
  /** The latest `usageMetadata`: every chunk repeats it. */
  readonly #counts: { [key: string]: Json } = {};
  /** The JSON text of the last extension: servers repeat it with every chunk. */
  #extension = "";

  override framing(): Framing {
    return new Frames();
  }
  chunk(chunk: Fields, text: string): void {
    this.start(chunk.text("responseId"), chunk.text("modelVersion"));
    const [candidate] = chunk.each("candidates", (item) => item);
    if (candidate) this.#candidate(candidate, text);
    Object.assign(this.#counts, objectOf(chunk.json("usageMetadata")));
    const blocked = textOf(objectOf(chunk.value.promptFeedback).blockReason);
    this.#blocked ||= blocked !== undefined;
    this.#native ??= blocked;
    this.#extend(chunk.rest(), candidate?.rest());
  }

  #candidate(candidate: Fields, text: string): void {
    candidate.ask("index");
    const content = candidate.object("content");
    content?.ask("role");
    const texts = new ArgumentTexts(text, "args");
    content?.each("parts", (part) => this.#part(part, texts));
    const reason = candidate.text("finishReason");
    if (!reason) return;
    this.#native = reason;
    this.#message = candidate.text("finishMessage");
  }

  #part(part: Fields, texts: ArgumentTexts): void {
    const call = part.object("functionCall");
    const text = call ? undefined : part.text("text");
    if (!call && text !== "") this.#bare = undefined; // its arguments cannot follow any more
    if (call) this.#functionCall(part, call, texts);
    else if (text === undefined) this.#other(part.value);
    else if (part.json("thought") !== true) {
      this.#spoke ||= text !== "";
      this.text(text, part.state());
    } else {
      const state = part.state();
      this.thinking(text);
      if (state) this.endThinking(state);
    }
  }

  #functionCall(part: Fields, call: Fields, texts: ArgumentTexts): void {
    const capsule = openCapsule(textOf(part.value[SIGNATURE]) ?? ""); // its thoughts are in this answer anyway
    if (capsule) part.ask(SIGNATURE);
    const [id, name, args] = [call.text("id"), call.text("name"), call.json("args")];
    const [pieces, goesOn] = [call.list("partialArgs"), call.flag("willContinue") === true];
    const state = joined(part.state(), capsule?.state);
    if (this.#isOther(id, name, args)) this.#cutPartial();
    const bare = name ? undefined : this.#bare;
    const { index, pieces: writer } = this.#partial ?? { index: bare ?? this.#calls++, pieces: new PartialArguments() };
    const text = pieces.map((piece) => writer.add(objectOf(piece))).join("");
    const whole = writer.isEmpty && !goesOn ? (texts.take(args) ?? objectOf(args)) : undefined;
    this.#bare = whole && isEmpty(objectOf(args)) ? index : undefined;
    const done = !goesOn && this.#bare === undefined;
    this.call({ index, id, name, arguments: whole ?? (goesOn ? text : text + writer.close()), state, done });
    if (this.#partial || goesOn) this.fragment = undefined; // a frame like this one may belong to another call
    this.#partial = goesOn ? (this.#partial ?? { index, id, name, pieces: writer }) : undefined;
  }

  /** Whether a `functionCall` does not continue the open call: it has another name or id, or is whole. */
  #isOther(id: string | undefined, name: string | undefined, args: Json | undefined): boolean {
    const partial = this.#partial;
    if (!partial) return false;
    const isWhole = !partial.pieces.isEmpty && Object.keys(objectOf(args)).length > 0;
    return isWhole || (!!name && name !== partial.name) || (!!id && !!partial.id && id !== partial.id);
  }

  /** Ends a call that was to continue, but did not. */
  #cutPartial(): void {
    if (this.#partial) this.call({ index: this.#partial.index, done: true, truncated: true });
    this.#partial = undefined;
  }

  /** Keeps a part that the nouns have no place for as a text: the label of an image, otherwise empty. */
  #other(data: JsonObject): void {
    const label = textOf(objectOf(data.inlineData).mimeType);
    const state: Opaque[] = [{ wire: WIRE, kind: PART, data, part: true }];
    if (label === undefined) this.text("", state);
    else {
      this.extend({}, true); // keeps neighbouring texts apart
      this.text(`[${label}]`, state);
      this.extend({}, true);
    }
  }

  /** Passes on what the nouns have no place for, in the form of a chunk. */
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

  /** Thoughts are not in `candidatesTokenCount`, and what the server's own tools read is not in `promptTokenCount`. */
  #usage(): void {
    const sum = (...keys: string[]): number | undefined => {
      const counts = keys.map((key) => numberOf(this.#counts[key])).filter((count) => count !== undefined);
      return counts.length > 0 ? counts.reduce((all, count) => all + count) : undefined;
    };
    const [inputTokens, outputTokens, total] = [sum(...SUMMED), sum("candidatesTokenCount", THOUGHTS), sum("totalTokenCount")];
    const isSum = this.#counts[TOOL_USE] !== undefined;
    const isOdd = total !== undefined && total !== (inputTokens ?? 0) + (outputTokens ?? 0); // then our counts would not give this total
    const details = restOf(this.#counts, (key) => !COUNTS.has(key) || isOdd || (isSum && SUMMED.includes(key)));
    if (details) this.extend({ usageMetadata: details }, true);
    const [thinkingTokens, cachedTokens] = [sum(THOUGHTS), sum("cachedContentTokenCount")];
    this.usage(wholeUsage(defined<Usage>({ inputTokens, outputTokens, thinkingTokens, cachedTokens }), total));
  }

  end(_whole: boolean, cut = false): void {
    const native = this.#native;
    this.#usage();
    if (native === MALFORMED) this.call({ index: this.#calls, arguments: this.#message ?? "", done: true });
    const isWhole = !cut && !this.#partial;
    this.#cutPartial();
    if (this.#bare !== undefined) this.call({ index: this.#bare, done: true });
    const { complete } = this.calls;
    const given = native === undefined ? undefined : this.#blocked ? "content-filter" : (meaningOf(native) ?? "error");
    const failed = given === "error" && native !== MALFORMED && complete === 0 && !this.#spoke;
    const reason = given === "error" && this.#spoke && native !== MALFORMED ? GIVEN_UP : given;
    if (this.#message && !failed && native !== MALFORMED) this.extend({ candidates: [{ finishMessage: this.#message }] }, true);
    const error = failed ? ({ code: "upstream", message: this.#message ?? `the model stopped: ${native}` } as const) : undefined;
    // Some servers send no finish reason after calls; calls come whole, so nothing is missing.
    this.finish({ reason, native, error, ended: isWhole && complete > 0 });
  }
}
