/**
 * Answers to clients. A stream is `data: {"candidates": […]}` and a blank line, over and over, or one JSON array; gemini-cli allows nothing
 * else: no comment, no `[DONE]`, no raw U+2028. Every chunk has a part, or genai's chats forget the whole turn; calls come whole.
 */
import type {
  ErrorInfo,
  Event,
  Finish,
  JsonObject,
  Malformed,
  Opaque,
  Request,
  Response,
  ToolCall,
  ToolEnd,
  Usage,
} from "../../core/nouns.ts";
import { readMalformed } from "../accumulate.ts";
import { type Draft, putState, sealCapsule } from "../opaque.ts";
import { printBody } from "../raw.ts";
import { defined, listOf, objectOf } from "../read.ts";
import { sseEvent } from "../sse.ts";
import { Warnings } from "../warnings.ts";
import type { EncoderOptions, StreamEncoder } from "../wire.ts";
import { callState } from "./capsule.ts";
import { errorBody } from "./errors.ts";
import { encodePart, spoken } from "./parts-out.ts";
import { FINISH, MALFORMED, REASONS, SIGNATURE, WIRE } from "./tables.ts";

// ---- Response out

export function encodeResponse(response: Response, request: Request, options: EncoderOptions = {}): unknown {
  const writer = new AnswerWriter(request, options);
  const { id, model, content, refusal = "", extensions = [], usage, finish = { reason: "stop" } } = response;
  writer.start(id, model);
  const parts = content.flatMap((part) => {
    if (part.type === "thinking") return writer.thinking(part.text, part.state);
    if (part.type === "tool-call") return writer.call(part);
    if (part.type === "malformed") return writer.malformed(part);
    return encodePart(part, writer.warnings);
  });
  if (refusal !== "") parts.push(...writer.refusal(refusal));
  let candidate: Draft = {};
  for (const extension of extensions) candidate = { ...candidate, ...writer.extension(extension) };
  const body = writer.last(parts, candidate, finish, usage);
  writer.tell();
  return body;
}

/** Makes parts and chunks, and remembers what belongs into later ones. */
class AnswerWriter {
  readonly warnings = new Warnings();
  readonly #options: EncoderOptions;
  readonly #hidden: boolean;
  #model: string;
  #id: string | undefined;
  /** What was thought since the last call: the next one brings it back, since clients drop thoughts. */
  #thought = "";
  #foreign: Opaque[] = [];
  /** What became of a call that cannot be read. */
  #unreadable: string | undefined;
  /** Keys for the last chunk. */
  #tail: JsonObject = {};
  #told = 0;

  constructor(request: Request, options: EncoderOptions) {
    this.#options = options;
    this.#hidden = request.thinking?.show === false;
    this.#model = request.model;
  }

  start(id: string | undefined, model: string | undefined): void {
    this.#id = id ?? this.#id;
    this.#model = model ?? this.#model;
  }

  thinking(text: string, state: readonly Opaque[] = []): Draft[] {
    this.#thought += text;
    this.#foreign.push(...state.filter(({ wire }) => wire !== WIRE));
    const own = state.filter(({ wire }) => wire === WIRE);
    return encodePart({ type: "thinking", text: this.#hidden ? "" : text, state: own }, this.warnings);
  }

  call({ id, name, arguments: args, json, truncated, state = [] }: ToolCall | ToolEnd): Draft[] {
    if (truncated) {
      this.warnings.dropped("a call that was cut", WIRE);
      return [];
    }
    const [own, foreign] = [state.filter(({ wire }) => wire === WIRE), state.filter(({ wire }) => wire !== WIRE)];
    const [part = {}] = encodePart(defined<ToolCall>({ type: "tool-call", id, name, arguments: args, json, state: own }), this.warnings);
    const capsule = sealCapsule({ thinking: this.#thought, state: [...this.#foreign, ...callState(foreign)] });
    if (capsule !== undefined) part[SIGNATURE] ??= capsule;
    else if (this.#thought !== "") this.warnings.dropped("thinking that is too long for a thoughtSignature", WIRE);
    this.#thought = "";
    this.#foreign = [];
    return [part];
  }

  refusal(text: string): Draft[] {
    this.warnings.converted("a refusal", "text");
    return [{ text }];
  }

  malformed({ raw, reason }: Pick<Malformed, "raw" | "reason">): Draft[] {
    const call = readMalformed(raw);
    const native = call?.name === "" && typeof call.arguments === "string" ? call.arguments : undefined; // as this API says it
    this.#unreadable ??= native ?? `${reason}: ${raw}`;
    this.warnings.converted("a call that cannot be read", MALFORMED);
    return [];
  }

  /** The keys of a candidate. */
  extension({ wire, data, quiet }: NonNullable<Response["extensions"]>[number]): JsonObject {
    if (wire !== WIRE) {
      if (!quiet) this.warnings.dropped(`what only ${wire} knows`, WIRE);
      return {};
    }
    const { candidates, ...rest } = objectOf(data);
    this.#tail = { ...this.#tail, ...rest };
    return objectOf(listOf(candidates)[0]);
  }

  chunk(parts: readonly Draft[], candidate: Draft = {}, root: Draft = {}): Draft {
    const candidates = [{ content: { role: "model", parts: spoken(parts) }, ...candidate, index: 0 }];
    return defined<Draft>({ candidates, ...root, modelVersion: this.#model || undefined, responseId: this.#id });
  }

  last(parts: readonly Draft[], candidate: Draft, finish: Omit<Finish, "type">, usage: Usage | undefined): Draft {
    putState(WIRE, {}, this.#foreign, this.warnings); // no call came to carry it
    const { usageMetadata: details, ...tail } = this.#tail;
    const usageMetadata = usage && { ...encodeUsage(usage), ...objectOf(details) };
    const finishReason = reasonOf(finish);
    const finishMessage = finish.reason === "error" ? (finishReason === MALFORMED && this.#unreadable) || finish.error?.message : undefined;
    const { candidates, ...root } = this.chunk(parts, defined<Draft>({ ...candidate, finishReason, finishMessage }), {
      ...tail,
      usageMetadata,
    });
    // A prompt that was blocked has no candidate.
    return objectOf(tail.promptFeedback).blockReason === undefined ? { candidates, ...root } : root;
  }

  /** Says what could not be said. */
  tell(): void {
    for (const warning of this.warnings.list.slice(this.#told)) this.#options.warn?.(warning);
    this.#told = this.warnings.list.length;
  }
}

/** The server's own word, where it is one of this API. */
function reasonOf({ reason, native = "", error }: Omit<Finish, "type">): string {
  if (FINISH[native] === reason) return native;
  return error?.code === "malformed-call" ? MALFORMED : REASONS[reason];
}

/** Thoughts stand beside the candidates. */
function encodeUsage({ inputTokens, outputTokens, thinkingTokens, cachedTokens }: Usage): Draft {
  return defined<Draft>({
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens === undefined ? undefined : Math.max(outputTokens - (thinkingTokens ?? 0), 0),
    thoughtsTokenCount: thinkingTokens,
    cachedContentTokenCount: cachedTokens,
    totalTokenCount: (inputTokens ?? 0) + (outputTokens ?? 0),
  });
}

// ---- Stream out

export function createStreamEncoder(request: Request, options: EncoderOptions = {}): StreamEncoder {
  return new Encoder(request, options);
}

class Encoder implements StreamEncoder {
  readonly #writer: AnswerWriter;
  readonly #isArray: boolean;
  #sent = false;
  /** The end was said: nothing may come after it. */
  #over = false;
  #usage: Usage | undefined;

  constructor(request: Request, options: EncoderOptions) {
    this.#writer = new AnswerWriter(request, options);
    this.#isArray = request.stream === "array";
  }

  encode(event: Event): string {
    if (this.#over) return "";
    const chunk = this.#chunk(event);
    this.#writer.tell();
    return chunk ? this.#print(chunk, event.type === "tool-end" ? printBody : JSON.stringify) : "";
  }

  end(): string {
    const cut = this.#over ? "" : this.encode({ type: "finish", reason: "error", error: CUT });
    return this.#isArray ? `${cut}]` : cut;
  }

  heartbeat(): string {
    return this.#over ? "" : this.#print(this.#writer.chunk([]));
  }

  #chunk(event: Event): Draft | undefined {
    const writer = this.#writer;
    switch (event.type) {
      case "start":
        writer.start(event.id, event.model);
        return undefined;
      case "text":
        return this.#parts(encodePart(event, writer.warnings));
      case "refusal":
        return this.#parts(writer.refusal(event.text));
      case "thinking-delta":
        return this.#parts(writer.thinking(event.text));
      case "thinking-end":
        return this.#parts(writer.thinking("", event.state));
      case "tool-end":
        return this.#parts(writer.call(event));
      case "malformed":
        return this.#parts(writer.malformed(event));
      case "extension": {
        const candidate = writer.extension(event);
        return Object.keys(candidate).length > 0 ? writer.chunk([], candidate) : undefined;
      }
      case "usage": {
        const { type: _, ...usage } = event;
        this.#usage = { ...this.#usage, ...usage };
        return undefined;
      }
      case "finish":
        return this.#last(event);
      default:
        return undefined; // calls come whole, and markers are no part of an answer
    }
  }

  #parts(parts: Draft[]): Draft | undefined {
    return parts.length > 0 ? this.#writer.chunk(parts) : undefined;
  }

  #last(finish: Finish): Draft {
    this.#over = true;
    const { error } = finish;
    const chunk = this.#writer.last([], {}, finish, this.#usage);
    // What this API has a reason for is an end; anything else is an error, and clients try again.
    return error && reasonOf(finish) === REASONS.error && finish.native !== REASONS.error ? errorBody(error) : chunk;
  }

  /** `print`: the slower one keeps the bytes of arguments. */
  #print(chunk: Draft, print: (chunk: Draft) => string = JSON.stringify): string {
    // Line ends can only stand between the values of arguments, as the model wrote them.
    const json = print(chunk).replace(/[\r\n\u2028\u2029]/g, (char) => (char < " " ? " " : `\\u${char.charCodeAt(0).toString(16)}`));
    const first = !this.#sent;
    this.#sent = true;
    return this.#isArray ? `${first ? "[" : ",\n"}${json}` : sseEvent(json);
  }
}

const CUT: ErrorInfo = { code: "upstream", message: "the answer ended before its end" };
