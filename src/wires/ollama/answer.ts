/** Answers of Ollama's `/api/chat` and `/api/generate`, both ways: lines of JSON, or one object for all. */
import { collect } from "../../core/fold.ts";
import { isObject } from "../../core/json.ts";
import type {
  ErrorInfo,
  Event,
  Finish,
  FinishReason,
  Json,
  JsonObject,
  Opaque,
  Part,
  Request,
  Response,
  ToolEnd,
  Usage,
  WireId,
} from "../../core/nouns.ts";
import { errorStatus, readError, retryHeaders } from "../errors.ts";
import { EventWriter } from "../events.ts";
import { LineReader } from "../ndjson.ts";
import { type Draft, putState } from "../opaque.ts";
import { printBody } from "../raw.ts";
import { defined, listOf, numberOf, objectOf, parsed, restOf, textOf } from "../read.ts";
import { valuesOf } from "../spans.ts";
import { Warnings } from "../warnings.ts";
import { type EncoderOptions, NO_CONTEXT, type StreamDecoder, type StreamEncoder, type Wire, type WireContext } from "../wire.ts";
import { encodeCall, isGenerate, type SentCall, WIRE } from "./request.ts";

// ---- Tables

const REASONS: Readonly<Record<string, FinishReason>> = { stop: "stop", length: "length", load: "stop", unload: "stop" };

/** In nanoseconds; 0: nobody knows. */
const DURATIONS = { total_duration: 0, load_duration: 0, prompt_eval_duration: 0, eval_duration: 0 };

const keys = (list: string): ReadonlySet<string> => new Set(list.split(" "));
const MESSAGE_KEYS = keys("role content thinking tool_calls");
const LINE_KEYS = keys("model created_at message response thinking tool_calls done done_reason prompt_eval_count eval_count");
const CALL_KEYS = keys("id type function");
const FUNCTION_KEYS = keys("index name arguments");

// ---- Response in

/** A whole body is the end, whatever it says. */
export function decodeResponse(body: unknown, context: WireContext = NO_CONTEXT): Response {
  const reader = new AnswerReader(context);
  reader.feed(`${typeof body === "string" ? body : JSON.stringify(body)}\n`);
  return collect(reader.end(true));
}

// ---- Response out

export function encodeResponse(response: Response, request: Request, options: EncoderOptions = {}): unknown {
  const { content, refusal, finish, usage } = response;
  if (finish?.reason === "error") return errorBody(finish.error);
  const speaker = new Speaker(request, options);
  for (const part of content) if ("state" in part && part.type !== "tool-call") speaker.state(part.state);
  const join = (type: "text" | "thinking") => content.map((part) => (part.type === type ? part.text : "")).join("");
  const calls = content.flatMap((part) => speaker.call(part));
  for (const extension of response.extensions ?? []) speaker.extend(extension);
  speaker.model ??= response.model;
  return speaker.last({ content: join("text") + speaker.refused(refusal), thinking: join("thinking"), calls }, finish, usage);
}

interface Said {
  content?: string;
  thinking?: string;
  calls?: Draft[];
}

/** Words an answer, and says what cannot be said. */
class Speaker {
  model: string | undefined;
  #calls = 0;
  /** What only this wire knows, for the next line. */
  #own: Draft | undefined;
  readonly #request: Request;
  readonly #options: EncoderOptions;
  readonly #warnings = new Warnings();

  constructor(request: Request, options: EncoderOptions) {
    this.#request = request;
    this.#options = options;
  }

  /** What another wire left on a part of the answer. */
  state(state: readonly Opaque[] | undefined): Draft {
    const own = putState<Draft>(WIRE, {}, state, this.#warnings);
    this.#warn();
    return own;
  }

  /** A call that is not whole is left out: nobody may run it. */
  call(part: Part | ToolEnd): Draft[] {
    if (part.type === "malformed" || ((part.type === "tool-call" || part.type === "tool-end") && part.truncated)) {
      const what = part.type === "malformed" ? "a call that cannot be read" : `the call of ${part.name}, which was cut,`;
      this.#warnings.add(part.type === "malformed" ? "malformed-call" : "truncated-call", `${what} was left out`);
      this.#warn();
      return [];
    }
    if (part.type !== "tool-call" && part.type !== "tool-end") return [];
    const call: SentCall = { ...part, rest: this.state(part.state) };
    return [encodeCall(call, this.#calls++)];
  }

  refused(text: string | undefined): string {
    if (text) this.#warnings.converted("a refusal", "text");
    this.#warn();
    return text ?? "";
  }

  extend({ wire, data, quiet }: { wire: WireId; data: Json; quiet?: true }): void {
    if (wire === WIRE) this.#own = { ...this.#own, ...objectOf(data) };
    else if (!quiet) this.#warnings.dropped(`an extension of ${wire}`, WIRE);
    this.#warn();
  }
  get extended(): boolean {
    return this.#own !== undefined;
  }

  /** One line. `end`: the fields that only the last one has. */
  line({ content = "", thinking, calls = [] }: Said, end: Draft = { done: false }): Draft {
    const { message, ...own } = this.#own ?? {};
    this.#own = undefined;
    const rest = { ...objectOf(message), ...(thinking ? { thinking } : {}), ...(calls.length > 0 ? { tool_calls: calls } : {}) };
    const said = isGenerate(this.#request) ? { response: content, ...rest } : { message: { role: "assistant", content, ...rest } };
    const now = this.#options.now?.() ?? new Date();
    return { model: this.model ?? this.#request.model, created_at: now.toISOString(), ...said, ...end, ...own };
  }

  last(said: Said, finish: Partial<Finish> = {}, usage: Usage = {}): Draft {
    const { reason, native = "" } = finish;
    const word = reason === "length" ? reason : native === "load" || native === "unload" ? native : "stop";
    if (reason === "content-filter") this.#warnings.converted("content-filter", "stop");
    this.#warn();
    const counts = { prompt_eval_count: usage.inputTokens, eval_count: usage.outputTokens };
    return this.line(said, defined<Draft>({ done: true, done_reason: word, ...DURATIONS, ...counts }));
  }

  #warn(): void {
    for (const warning of this.#warnings.list.splice(0)) this.#options.warn?.(warning);
  }
}

// ---- Stream in

export const createStreamDecoder = (context: WireContext = NO_CONTEXT): StreamDecoder => {
  const reader = new AnswerReader(context);
  return {
    feed(text) {
      reader.feed(text);
      return reader.take();
    },
    flush: () => reader.end(false),
  };
};

class AnswerReader {
  readonly #lines = new LineReader();
  readonly #events: EventWriter;
  #calls = 0;

  constructor(context: WireContext) {
    this.#events = new EventWriter(context);
  }

  take(): Event[] {
    return this.#events.take();
  }

  feed(text: string): void {
    for (const line of this.#lines.feed(text)) this.#line(line);
  }

  /** `whole`: it needs no word to be over. */
  end(whole: boolean): Event[] {
    for (const line of this.#lines.flush()) this.#line(line);
    this.#events.finish({ ended: whole });
    return this.take();
  }

  #line(text: string): void {
    const events = this.#events;
    const line = parsed(text);
    if (!isObject(line)) events.finish({ error: { code: "upstream", message: "the server sent a line that is not JSON" } });
    else if (line.error !== undefined) events.finish({ error: readError(0, {}, line) });
    else this.#said(line, text);
  }

  #said(line: JsonObject, text: string): void {
    const events = this.#events;
    const said = isObject(line.message) ? line.message : { ...line, content: line.response ?? "" };
    events.start(undefined, textOf(line.model));
    this.#own(line);
    events.thinking(textOf(said.thinking) ?? "");
    events.text(textOf(said.content) ?? "");
    this.#callsOf(listOf(said.tool_calls), text);
    if (line.done !== true) return;
    events.usage(defined<Usage>({ inputTokens: numberOf(line.prompt_eval_count), outputTokens: numberOf(line.eval_count) }));
    const native = textOf(line.done_reason);
    events.finish({ reason: REASONS[native ?? ""], native, ended: true });
  }

  /** What only this wire knows goes ahead of what was said with it. */
  #own(line: JsonObject): void {
    const message = restOf(objectOf(line.message), MESSAGE_KEYS);
    const known = Object.entries(restOf(line, LINE_KEYS) ?? {}).filter(([key, value]) => !(key in DURATIONS && value === 0));
    if (!message && known.length === 0) return;
    const quiet = !message && known.every(([key]) => key in DURATIONS || key === "context");
    this.#events.extension(WIRE, { ...Object.fromEntries(known), ...(message ? { message } : {}) }, quiet);
  }

  /** Calls come whole. Their numbers are not believed: servers have sent 0 for all of them. */
  #callsOf(list: readonly Json[], line: string): void {
    const calls = list.map(objectOf);
    const texts = calls.length > 0 ? valuesOf(line, "arguments") : [];
    for (const [i, call] of calls.entries()) {
      const fn = objectOf(call.function);
      const state = Object.entries(restOf(call, CALL_KEYS) ?? {}).map(([kind, data]): Opaque => ({ wire: WIRE, kind, data }));
      const inner = restOf(fn, FUNCTION_KEYS);
      if (inner) state.push({ wire: WIRE, kind: "function", data: inner });
      const args = isObject(fn.arguments) ? (texts.length === calls.length ? texts[i] : fn.arguments) : textOf(fn.arguments);
      this.#events.call({ index: this.#calls++, id: textOf(call.id), name: textOf(fn.name), arguments: args, state, done: true });
    }
  }
}

// ---- Stream out

export function createStreamEncoder(request: Request, options: EncoderOptions = {}): StreamEncoder {
  return new LineWriter(new Speaker(request, options));
}

class LineWriter implements StreamEncoder {
  #usage: Usage = {};
  #ended = false;
  readonly #speaker: Speaker;

  constructor(speaker: Speaker) {
    this.#speaker = speaker;
  }

  encode(event: Event): string {
    return this.#ended ? "" : this.#write(event);
  }

  #write(event: Event): string {
    const speaker = this.#speaker;
    switch (event.type) {
      case "start":
        speaker.model = event.model;
        return "";
      case "text":
        speaker.state(event.state);
        return this.#line({ content: event.text });
      case "refusal":
        return this.#line({ content: speaker.refused(event.text) });
      case "thinking-delta":
        return this.#line({ thinking: event.text });
      case "thinking-end":
        speaker.state(event.state);
        return "";
      case "tool-end":
      case "malformed": {
        const calls = speaker.call(event);
        return calls.length > 0 ? this.#line({ calls }) : "";
      }
      case "extension": {
        const before = speaker.extended && event.wire === WIRE ? this.#line({}) : ""; // each has a line of its own
        speaker.extend(event);
        return before;
      }
      case "usage":
        this.#usage = { ...this.#usage, ...event };
        return "";
      case "finish":
        this.#ended = true;
        return print(event.reason === "error" ? errorBody(event.error) : speaker.last({}, event, this.#usage));
      default:
        return "";
    }
  }

  end(): string {
    if (this.#ended) return "";
    this.#ended = true;
    return print(errorBody(undefined));
  }

  /** A line that says nothing. */
  heartbeat(): string {
    return this.#ended ? "" : this.#line({});
  }

  #line(said: Said): string {
    return print(this.#speaker.line(said));
  }
}

const print = (body: unknown): string => `${printBody(body)}\n`;

// ---- Errors

const TOO_LONG = "the input length exceeds the context length";

function errorBody(error: ErrorInfo = { code: "upstream", message: "the answer ended before its end" }): Draft {
  const { code, message, tokens } = error;
  if (code !== "context-length") return { error: message };
  if (tokens) return { error: `${TOO_LONG}: ${tokens.used} tokens > ${tokens.limit}` };
  return { error: /context length/.test(message) ? message : `${TOO_LONG}: ${message}` };
}

export const encodeError: Wire["encodeError"] = (error) => ({
  status: errorStatus(error),
  headers: { "content-type": "application/json", ...retryHeaders(error) },
  body: errorBody(error),
});

export const decodeError = readError;
