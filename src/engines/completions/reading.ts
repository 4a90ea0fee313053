/**
 * Reads the answer of a server that completes text: splits its stream into messages, and turns these into events with the dialect's
 * scanner.
 */
import { CUT_OFF } from "../../core/errors.ts";
import { isObject } from "../../core/json.ts";
import type { ErrorInfo, Event, JsonObject, Request, Usage } from "../../core/nouns.ts";
import type { Dialect, Prompt, Scanner } from "../../dialects/dialect.ts";
import { LineReader } from "../../wires/ndjson.ts";
import { parsed } from "../../wires/read.ts";
import { type SseEvent, SseReader } from "../../wires/sse.ts";
import type { StreamDecoder } from "../../wires/wire.ts";
import { append } from "../append.ts";
import { Ending, mintIds } from "../ending.ts";
import { failed } from "../finish.ts";
import { Quotes } from "../quotes.ts";
import { type Backend, readMessage, type Said } from "./backends.ts";

/** Splits a stream into messages; an answer that is not streamed is one message. */
export class Messages {
  readonly #frames: SseReader | LineReader;

  constructor(type: string) {
    this.#frames = /event-stream/.test(type) ? new SseReader() : new LineReader();
  }

  feed(text: string): string[] {
    return this.#frames.feed(text).map(messageOf);
  }
  flush(): string[] {
    return this.#frames.flush().map(messageOf);
  }
}

/** If the event is named `error`, its data need not look like one, and is wrapped. */
function messageOf({ event, data }: SseEvent): string {
  if (event !== "error") return data;
  const said = objectIn(data);
  return JSON.stringify({ error: said?.error ?? said ?? data });
}

const GARBAGE: ErrorInfo = { code: "upstream", message: "the upstream sent something that is not JSON" };

export interface ReadingOptions {
  readonly request: Request;
  /** The client's own stop strings: the request may have more, those of the dialect's variant. */
  readonly stops: readonly string[] | undefined;
  readonly prompt: Prompt;
  /** Marks of the dialect that can only be quotations in this answer. */
  readonly quoted: readonly string[];
  /** The content type of the answer. */
  readonly type: string;
  /** Removes the API key from an error. */
  clean(error: ErrorInfo): ErrorInfo;
}

export class Reading implements StreamDecoder {
  readonly #backend: Backend;
  readonly #scanner: Scanner;
  readonly #quotes: Quotes<{ readonly text: string }>;
  readonly #messages: Messages;
  readonly #clean: (error: ErrorInfo) => ErrorInfo;
  readonly #ending = new Ending();
  readonly #stops: ReadonlySet<string>;
  #started = false;
  #usage: Usage | undefined;
  #end: Said["end"];
  #done = false;
  #error: ErrorInfo | undefined;

  constructor(backend: Backend, dialect: Dialect, { request, stops, prompt, quoted, type, clean }: ReadingOptions) {
    this.#backend = backend;
    this.#scanner = dialect.createScanner({ tools: request.tools ?? [], prompt, mintId: mintIds(request) });
    this.#quotes = new Quotes(quoted);
    this.#messages = new Messages(type);
    this.#clean = clean;
    this.#stops = new Set(stops);
  }

  feed(text: string): Event[] {
    const events = this.#read(this.#messages.feed(text));
    const over = this.#end !== undefined && (this.#done || this.#usage !== undefined);
    return over || this.#error ? [...events, ...this.#last()] : events;
  }

  flush(): Event[] {
    return [...this.#read(this.#messages.flush()), ...this.#last()];
  }

  #read(messages: readonly string[]): Event[] {
    const events: Event[] = [];
    for (const text of messages) {
      this.#done ||= text === "[DONE]";
      if (this.#error || this.#done) continue;
      const message = objectIn(text);
      this.#take(message ? readMessage(this.#backend, message) : { error: GARBAGE }, events);
    }
    return events;
  }

  #take({ id, model, text = "", usage, end, error }: Said, events: Event[]): void {
    if (!this.#started && !error) {
      this.#started = true;
      events.push({ type: "start", ...(id === undefined ? {} : { id }), ...(model === undefined ? {} : { model }) });
    }
    this.#usage = usage ?? this.#usage;
    this.#error = error;
    if (text !== "" && !this.#end) append(events, this.#ending.see(this.#scan(this.#quotes.feed({ text }))));
    this.#end ??= end;
  }

  #scan(said: readonly { readonly text: string }[]): Event[] {
    return this.#quotes.restore(said.flatMap(({ text }) => this.#scanner.feed(text)));
  }

  #last(): Event[] {
    const end = this.#end;
    const rest = [...this.#scan(this.#quotes.flush()), ...this.#quotes.restore(this.#scanner.flush())];
    const events = this.#ending.flush(rest, end?.reason ?? "error");
    if (this.#usage) events.push({ type: "usage", ...this.#usage });
    if (!end || this.#error) events.push(failed(this.#clean(this.#error ?? CUT_OFF)));
    else {
      const stop = end.stop !== undefined && this.#stops.has(end.stop) ? { stop: end.stop } : {};
      events.push(this.#ending.finish({ type: "finish", reason: end.reason, native: end.native, ...stop }));
    }
    return events;
  }
}

function objectIn(text: string): JsonObject | undefined {
  const value = parsed(text);
  return isObject(value) ? value : undefined;
}
