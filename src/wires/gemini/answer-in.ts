/** Answers of servers: one `{"candidates": [{"content": {"parts": […]}, "finishReason": "STOP"}], "usageMetadata": {…}}`, or a stream of them. */
import { collect } from "../../core/fold.ts";
import { isObject } from "../../core/json.ts";
import type { Event, JsonObject, Opaque, Response, Usage } from "../../core/nouns.ts";
import { readError } from "../errors.ts";
import { EventWriter } from "../events.ts";
import { ArrayReader } from "../json-array.ts";
import { openCapsule } from "../opaque.ts";
import { deeperThan, defined, listOf, numberOf, objectOf, parsed, restOf, textOf } from "../read.ts";
import { SseReader } from "../sse.ts";
import { NO_CONTEXT, type StreamDecoder, type WireContext } from "../wire.ts";
import { argumentsIn } from "./arguments.ts";
import { ofCall } from "./capsule.ts";
import { FINISH, MALFORMED, PART, SIGNATURE, WIRE } from "./tables.ts";

// ---- Response in

export function decodeResponse(body: unknown, context: WireContext = NO_CONTEXT): Response {
  const answer = new Answer(context);
  if (typeof body === "string") answer.read(parsed(body), body);
  else answer.read(body);
  return collect(answer.end(true));
}

/** What nests deeper is nobody's answer. */
const MAX_DEPTH = 512;

const ROOT = new Set(["candidates", "usageMetadata", "responseId", "modelVersion"]);
const CANDIDATE = new Set(["content", "finishReason", "finishMessage", "index"]);
const TEXT = new Set(["text", "thought"]);
const CALL_PART = new Set(["functionCall"]);
const CAPSULE_PART = new Set(["functionCall", SIGNATURE]);
const CALL = new Set(["id", "name", "args"]);
const COUNTS = new Set(
  "promptTokenCount candidatesTokenCount thoughtsTokenCount cachedContentTokenCount toolUsePromptTokenCount totalTokenCount".split(" "),
);

/** What others need not know of: an answer without it is as good. */
const QUIET = new Set("safetyRatings avgLogprobs tokenCount createTime modelStatus promptFeedback".split(" "));

const stateOf = (part: JsonObject, known: ReadonlySet<string>): Opaque[] =>
  Object.entries(restOf(part, known) ?? {}).map(([kind, data]) => ({ wire: WIRE, kind, data }));

class Answer {
  readonly #writer: EventWriter;
  #calls = 0;
  #native: string | undefined;
  #blocked = false;
  #message: string | undefined;
  #details: JsonObject | undefined;
  /** The last extension, as text: servers repeat themselves with every chunk. */
  #extension = "";

  constructor(context: WireContext) {
    this.#writer = new EventWriter(context);
  }

  take(): Event[] {
    return this.#writer.take();
  }

  /** One chunk, or the whole answer, and the text that it was, if it was one. */
  read(value: unknown, text = ""): void {
    const chunk: unknown = Array.isArray(value) ? value[0] : value;
    if (!isObject(chunk) || deeperThan(chunk, MAX_DEPTH)) {
      this.#writer.finish({ error: { code: "upstream", message: "the server sent what is no JSON object" } });
    } else if (isObject(chunk.error)) this.#writer.finish({ error: readError(0, {}, chunk) });
    else this.#chunk(chunk, text);
  }

  #chunk(chunk: JsonObject, text: string): void {
    this.#writer.start(textOf(chunk.responseId), textOf(chunk.modelVersion));
    const candidate = objectOf(listOf(chunk.candidates)[0]);
    const parts = listOf(objectOf(candidate.content).parts).filter(isObject);
    const isCall = (part: JsonObject) => isObject(part.functionCall);
    const spelled = argumentsIn(text, parts.filter(isCall).length);
    for (const part of parts) this.#part(part, isCall(part) ? spelled.shift() : undefined);
    this.#extend(chunk, candidate);
    if (isObject(chunk.usageMetadata)) this.#usage(chunk.usageMetadata);
    const blocked = textOf(objectOf(chunk.promptFeedback).blockReason);
    this.#blocked ||= blocked !== undefined;
    this.#native = textOf(candidate.finishReason) ?? blocked ?? this.#native;
    this.#message = textOf(candidate.finishMessage) ?? this.#message;
  }

  #part(part: JsonObject, json: string | undefined): void {
    const writer = this.#writer;
    const { text, functionCall: call } = part;
    if (isObject(call)) {
      const rest = restOf(call, CALL);
      const capsule = openCapsule(textOf(part[SIGNATURE]) ?? ""); // what was thought is in the answer as well
      const on = capsule ? [...stateOf(part, CAPSULE_PART), ...ofCall(capsule)] : stateOf(part, CALL_PART);
      const state = [...(rest ? [{ wire: WIRE, kind: "functionCall", data: rest } as const] : []), ...on];
      writer.call({
        index: this.#calls++,
        id: textOf(call.id),
        name: textOf(call.name),
        arguments: json ?? objectOf(call.args),
        state,
        done: true,
      });
    } else if (typeof text !== "string") {
      writer.text("", [{ wire: WIRE, kind: PART, data: part }]);
    } else if (part.thought === true) {
      writer.thinking(text);
      const state = stateOf(part, TEXT);
      if (state.length > 0) writer.endThinking(state);
    } else writer.text(text, stateOf(part, TEXT));
  }

  /** What only this wire knows, in the shape of a chunk. */
  #extend(chunk: JsonObject, candidate: JsonObject): void {
    const [outer, inner] = [restOf(chunk, ROOT), restOf(candidate, CANDIDATE)];
    const data: JsonObject = { ...outer, ...(inner ? { candidates: [inner] } : {}) };
    const text = JSON.stringify(data);
    if (text === "{}" || text === this.#extension) return;
    this.#extension = text;
    const isQuiet = Object.keys({ ...outer, ...inner }).every((key) => QUIET.has(key));
    this.#writer.extension(WIRE, data, isQuiet);
  }

  /** Thoughts stand beside the candidates, and what a server's own tools read beside the prompt. */
  #usage(usage: JsonObject): void {
    const sum = (...keys: string[]): number | undefined => {
      const counts = keys.map((key) => numberOf(usage[key])).filter((count) => count !== undefined);
      return counts.length > 0 ? counts.reduce((all, count) => all + count) : undefined;
    };
    this.#details = restOf(usage, COUNTS) ?? this.#details;
    this.#writer.usage(
      defined<Usage>({
        inputTokens: sum("promptTokenCount", "toolUsePromptTokenCount"),
        outputTokens: sum("candidatesTokenCount", "thoughtsTokenCount"),
        thinkingTokens: sum("thoughtsTokenCount"),
        cachedTokens: sum("cachedContentTokenCount"),
      }),
    );
  }

  /** `whole`: nothing was cut off that we know of. */
  end(whole: boolean): Event[] {
    const writer = this.#writer;
    const native = this.#native;
    if (this.#details) writer.extension(WIRE, { usageMetadata: this.#details }, true);
    if (native === MALFORMED) writer.call({ arguments: this.#message ?? "", done: true });
    const reason = native === undefined ? undefined : this.#blocked ? "content-filter" : (FINISH[native] ?? "error");
    const { complete } = writer.calls;
    const failed = reason === "error" && native !== MALFORMED && complete === 0;
    const error = failed ? ({ code: "upstream", message: this.#message ?? `the model stopped: ${native}` } as const) : undefined;
    // Some servers give no reason behind calls; these come whole, so nothing is missing.
    writer.finish({ reason, native, error, ended: whole && complete > 0 });
    return this.take();
  }
}

// ---- Stream in

/** Server-sent events or one JSON array: the first character tells. */
export function createStreamDecoder(context: WireContext = NO_CONTEXT): StreamDecoder {
  const answer = new Answer(context);
  const sse = new SseReader();
  const array = new ArrayReader();
  let isArray: boolean | undefined;
  const read = (text: string): void => {
    if (text !== "[DONE]") answer.read(parsed(text), text);
  };
  return {
    feed(text) {
      const [first] = isArray === undefined ? text.trimStart() : "";
      if (first !== undefined) isArray = first === "[" || first === "{";
      if (isArray) array.feed(text).forEach(read);
      else for (const { data } of sse.feed(text)) read(data);
      return answer.take();
    },
    flush() {
      let whole = array.flush() === "";
      for (const { data } of sse.flush()) {
        // An event without its blank line counts if it can be read; otherwise it was cut.
        if (parsed(data)) read(data);
        else whole = false;
      }
      return answer.end(whole);
    },
  };
}
