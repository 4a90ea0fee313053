/**
 * Answers to clients. A stream is a sequence of `data: {"candidates": […]}` and blank lines, or one JSON array; gemini-cli accepts nothing
 * else: no comment, no `[DONE]`, no raw U+2028. Every chunk has a part, or genai's chats forget the whole turn; calls come whole.
 */
import type { ErrorInfo, Event, Finish, Json, JsonObject, Opaque, ToolEnd, Usage } from "../../core/nouns.ts";
import { readMalformed } from "../accumulate.ts";
import { Answer } from "../answer-out.ts";
import { isPhase, sealCapsule } from "../capsule.ts";
import { ERRORS, errorMessage, errorStatus } from "../errors.ts";
import { foreign, opaque } from "../opaque.ts";
import { printBody, withoutSeparators } from "../raw.ts";
import { defined, isEmpty, isText, listOf, objectOf } from "../read.ts";
import { sseEvent } from "../sse.ts";
import type { Draft } from "../wire.ts";
import { encodePart, spoken } from "./parts-out.ts";
import { MALFORMED, meaningOf, REASONS, SIGNATURE, WIRE } from "./tables.ts";

export class GeminiAnswer extends Answer {
  override readonly wholeCalls = true;
  override readonly keepsThoughts = true;
  readonly #isArray = this.request.stream === "array";
  readonly errorBody = errorBody;
  /** What comes before the next element of the array. */
  #head = "[";
  /** The `finishMessage` for a call that cannot be read. */
  #unreadable: string | undefined;
  /** The server's own. */
  #message: Json | undefined;
  /** Keys for the last chunk. */
  #last: JsonObject | undefined;

  text(text: string, state?: readonly Opaque[]): void {
    const sealed = state && sealCapsule({ state: state.filter(isPhase) });
    this.#say("text", text, sealed ? [...state, opaque(WIRE, SIGNATURE, sealed)] : state);
  }
  thinking(text: string, state?: readonly Opaque[]): void {
    this.#say("thinking", this.hidden ? "" : text, state);
  }
  #say(type: "text" | "thinking", text: string, state?: readonly Opaque[]): void {
    if (text === "" || state || this.#isArray) this.#parts(encodePart({ type, text, state: [...(state ?? [])] }));
    else this.word(type, text, (text) => this.#chunkOf(encodePart({ type, text })));
  }
  override thinkingEnd(state: readonly Opaque[]): void {
    super.thinkingEnd(state);
    this.thinking("", state);
  }

  /** The thoughts since the last call are sealed into the call's signature: clients drop thoughts, but return signatures. */
  callEnd({ id, name, arguments: args, json, state = [] }: ToolEnd): void {
    const [part = {}] = encodePart({ type: "tool-call", id, name, arguments: args, ...(json === undefined ? {} : { json }), state });
    const thoughts = this.takeThoughts();
    const capsule = sealCapsule({ thoughts, state: foreign(WIRE, state) });
    if (capsule !== undefined) part[SIGNATURE] ??= capsule;
    else if (thoughts.some(({ thinking }) => thinking)) this.warnings.dropped("thinking that is too long for a thoughtSignature");
    this.#parts([part]);
  }

  override malformed({ raw, reason }: Extract<Event, { type: "malformed" }>): void {
    const call = readMalformed(raw);
    const native = call?.name === "" && isText(call.arguments) ? call.arguments : undefined; // it came from this API: its `finishMessage`
    this.#unreadable ??= native ?? `${reason}: ${raw}`;
    this.warnings.converted("a call that cannot be read", MALFORMED);
  }

  override own({ candidates, ...rest }: JsonObject): void {
    this.#last = { ...this.#last, ...rest };
    const { finishMessage, ...candidate } = objectOf(listOf(candidates)[0]);
    this.#message ??= finishMessage;
    if (!isEmpty(candidate)) this.#chunk([], candidate);
  }

  finish(finish: Finish): void {
    const finishReason = reasonOf(finish);
    const usage = this.usage && encodeUsage(this.usage);
    const { usageMetadata: details, ...tail } = this.#last ?? {};
    const usageMetadata = (usage ?? details) && { ...usage, ...objectOf(details) };
    const finishMessage = (finishReason === MALFORMED && this.#unreadable) || (finish.error?.message ?? this.#message);
    this.#chunk([], defined<Draft>({ finishReason, finishMessage }), { ...tail, usageMetadata });
  }

  /**
   * A failure that this API has a finish reason for ends the answer; any other is sent as an error, and clients retry. genai's older versions
   * (1.x) see no error in an event and end the answer as if all were well, but they fail if the stream ends inside an event.
   */
  override fail(error: ErrorInfo, finish: Finish = { type: "finish", reason: "error", error }): void {
    if (hasReason(finish)) this.finish(finish);
    else {
      super.fail(error);
      if (!this.#isArray) this.say("data:");
    }
  }

  beat(): void {
    this.#chunk([]);
  }
  override end(): string {
    return super.end() + (this.#isArray ? "]" : "");
  }

  #parts(parts: Draft[]): void {
    if (parts.length > 0) this.#chunk(parts);
  }

  #chunk(parts: readonly Draft[], candidate?: Draft, root?: Draft): void {
    this.send(this.#chunkOf(parts, candidate, root));
  }
  #chunkOf(parts: readonly Draft[], candidate?: Draft, root?: Draft): Draft {
    // Assignments, since each key after a spread in a literal would cost a runtime call.
    const content: Draft = { ...objectOf(candidate?.content) };
    content.role = "model";
    content.parts = spoken(parts);
    const whole: Draft = { content, ...candidate };
    whole.content = content;
    whole.index = 0;
    const blocked = objectOf(root?.promptFeedback).blockReason !== undefined; // then there are no candidates
    const chunk: Draft = blocked ? { ...root } : { candidates: [whole], ...root };
    chunk.modelVersion = this.model || undefined;
    chunk.responseId = this.id;
    return chunk;
  }

  override quoted(word: string): string {
    return withoutSeparators(super.quoted(word));
  }
  print(chunk: Draft): string {
    const json = withoutSeparators(printBody(chunk));
    if (!this.#isArray) return sseEvent(json);
    const head = this.#head;
    this.#head = ",\n";
    return head + json;
  }

  body(chunks: readonly Draft[]): unknown {
    const said = chunks.map(({ candidates }) => objectOf(listOf(candidates)[0]) as Draft);
    const parts: Draft[] = [];
    for (const part of said.flatMap(({ content }) => listOf(objectOf(content).parts)).map(objectOf)) {
      const last = parts.at(-1);
      if (part.thought && part.text === "" && last?.thought)
        Object.assign(last, { ...part, text: last.text }); // its signature
      else if (JSON.stringify(part) !== '{"text":""}') parts.push({ ...part });
    }
    const last = chunks.at(-1);
    if (!last?.candidates) return defined<Draft>(last ?? {});
    const content = Object.assign({}, ...said.map((candidate) => candidate.content), { parts: spoken(parts) });
    const candidate = Object.assign({}, ...said, { content });
    return defined<Draft>({ ...last, candidates: [defined<Draft>(candidate)] });
  }
}

export const hasReason = (finish: Finish): boolean => reasonOf(finish) !== REASONS.error || finish.native === REASONS.error;

/** The server's own finish reason, if it is one of this API. What stopped the model is said beside complete calls, too. */
function reasonOf({ reason, native = "", error }: Finish): string {
  const meaning = meaningOf(native);
  if (meaning === reason || (reason !== "stop" && (meaning === "error" || meaning === "content-filter"))) return native;
  return error?.code === "malformed-call" ? MALFORMED : REASONS[reason];
}

/** `candidatesTokenCount` does not include thoughts. */
function encodeUsage({ inputTokens = 0, outputTokens, thinkingTokens, cachedTokens }: Usage): Draft {
  return defined<Draft>({
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens === undefined ? undefined : Math.max(outputTokens - (thinkingTokens ?? 0), 0),
    thoughtsTokenCount: thinkingTokens,
    cachedContentTokenCount: cachedTokens,
    totalTokenCount: inputTokens + (outputTokens ?? 0),
  });
}

/** A google.rpc.Status. */
export function errorBody(error: ErrorInfo, sent = errorStatus(error, WIRE)): Draft {
  const { code, retryAfterMs } = error;
  const status = { code: sent, message: errorMessage(error, WIRE) || code, status: ERRORS[code][3] };
  if (retryAfterMs === undefined) return { error: status };
  const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${retryAfterMs / 1000}s` };
  return { error: { ...status, details: [retry] } };
}
