/** Collects the events of one answer while a decoder reads it: thinking is always closed, calls never interleave, and one `finish` comes last. */
import { CUT_OFF } from "../core/errors.ts";
import type { ErrorInfo, Event, Finish, FinishReason, Json, Opaque, Usage, WireId } from "../core/nouns.ts";
import { CallAccumulator, type CallFragment, NO_CONTEXT } from "./accumulate.ts";
import { added } from "./read.ts";
import { Unwrapping } from "./wrapped.ts";

export interface End {
  /** What the server's finish reason means; `undefined`: it gave none. */
  reason?: FinishReason | undefined;
  /** The finish reason in the server's own word. */
  native?: string | undefined;
  stop?: string | undefined;
  error?: ErrorInfo | undefined;
  /** There is no reason, but the server marked the end in another way. With neither, the answer was cut off. */
  ended?: boolean | undefined;
}

export class EventWriter {
  readonly calls: CallAccumulator;
  readonly #unwrapping: Unwrapping | undefined;
  /** The last fragment of a call. */
  fragment: CallFragment | undefined;
  #events: Event[] = [];
  started = false;
  isThinking = false;
  #usage: (Usage & { type: "usage" }) | undefined;
  #isCounted = false;
  finished = false;

  constructor(context = NO_CONTEXT) {
    this.calls = new CallAccumulator(context);
    if (context.wrapped) this.#unwrapping = new Unwrapping();
  }

  /** The number of events that wait to be taken, and the last of them. */
  get said(): number {
    return this.#events.length;
  }
  get last(): Event | undefined {
    return this.#events.at(-1);
  }

  /** The events since the last time. */
  take(): Event[] {
    const events = this.#events;
    this.#events = [];
    return this.#unwrapping ? [...this.#unwrapping.events(events)] : events;
  }

  /** Only the first call has an effect. */
  start(id?: string, model?: string): void {
    if (this.started || this.finished) return;
    this.started = true;
    const start: Extract<Event, { type: "start" }> = { type: "start" };
    if (id) start.id = id;
    if (model) start.model = model;
    this.#events.push(start);
  }

  text(text: string, state?: Opaque[]): void {
    if (text === "" && !state?.length) return;
    this.endThinking();
    this.#pass(state?.length ? { type: "text", text, state } : { type: "text", text });
  }

  startThinking(state?: Opaque[]): void {
    if (this.isThinking) return;
    this.isThinking = true;
    this.#pass({ type: "thinking-start", ...(state?.length ? { state } : {}) });
  }
  /** Emits `thinking-start` first if need be. */
  thinking(text: string): void {
    if (text === "") return;
    this.startThinking();
    this.#pass({ type: "thinking-delta", text });
  }
  /** Ends open thinking. With `state` there is always thinking to end, even if it is empty. */
  endThinking(state?: Opaque[]): void {
    if (state?.length) this.startThinking(state);
    if (!this.isThinking) return;
    this.isThinking = false;
    this.#pass({ type: "thinking-end", ...(state?.length ? { state } : {}) });
  }

  call(fragment: CallFragment): void {
    this.endThinking();
    this.fragment = fragment;
    if (this.finished) return;
    this.#sendAll(this.calls.add(fragment));
  }

  refusal(text: string): void {
    if (text === "") return;
    this.endThinking();
    this.#pass({ type: "refusal", text });
  }

  /** `quiet`: other wires leave it out without a warning. */
  extension(wire: WireId, data: Json, quiet = false): void {
    this.#pass({ type: "extension", wire, data, ...(quiet ? { quiet } : {}) });
  }

  /** Emits the usage so far; the end emits it again only if it has changed. */
  counted(): void {
    if (this.#usage) this.#pass({ ...this.#usage });
    this.#isCounted = true;
  }

  /** Keeps the usage for the end: servers send it early, late, or again and again. */
  usage(usage: Usage): void {
    for (const name in usage) {
      const count = usage[name as keyof Usage];
      if (count === undefined || !(count >= 0 && count < Number.POSITIVE_INFINITY)) continue; // not a count
      this.#usage ??= { type: "usage" };
      if (this.#usage[name as keyof Usage] === count) continue;
      this.#usage[name as keyof Usage] = count;
      this.#isCounted = false;
    }
  }

  /** Emits `finish`; only the first call has an effect. */
  finish(end: End): void {
    if (this.finished) return;
    this.endThinking();
    const cut = end.error !== undefined || (end.reason ? mayCut(end.reason) : !end.ended);
    this.#sendAll(this.calls.end({ truncated: cut }));
    if (this.#usage && !this.#isCounted) this.#events.push(this.#usage);
    const [reason, error] = reasonOf(end, this.calls);
    const { native, stop } = end;
    const finish: Finish = { type: "finish", reason };
    if (stop !== undefined) finish.stop = stop;
    if (native !== undefined) finish.native = native;
    if (error) finish.error = error;
    this.#events.push(finish);
    this.finished = true;
  }

  #pass(event: Event): void {
    if (this.finished) return;
    if (this.calls.idle) this.#events = added(this.#events, event);
    else this.#sendAll(this.calls.pass(event));
  }

  /** All that waited behind a call may be sent at once: too many events for the arguments of one `push`. */
  #sendAll(events: readonly Event[]): void {
    for (const event of events) this.#events.push(event);
  }
}

/** Whether an answer with this finish reason may have ended inside a call. */
export const mayCut = (reason: FinishReason | undefined): boolean => /^(length|error|content-filter)$/.test(reason ?? "");

function reasonOf({ reason, error, ended }: End, calls: CallAccumulator): [FinishReason, ErrorInfo?] {
  if (error) return ["error", error];
  if (reason === "length") return ["length"];
  if (!reason && !ended) return ["error", CUT_OFF];
  // Any other reason would let a client run the cut call with the others.
  if (calls.truncated > 0 && reason !== "error") return [reason === "content-filter" && calls.complete === 0 ? reason : "length"];
  if (calls.complete > 0) return ["tool-calls"];
  if (calls.malformed > 0) return ["error", { code: "malformed-call", message: "the model wrote a tool call that cannot be read" }];
  if (reason === "error") return ["error", { code: "upstream", message: "the server ended the answer with an error" }];
  return [reason === "tool-calls" || reason === undefined ? "stop" : reason];
}
