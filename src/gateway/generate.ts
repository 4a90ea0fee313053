/** Requests that make a model generate: the engine's events become the client's stream, or one whole answer. */
import { createFold } from "../core/fold.ts";
import type { ErrorInfo, Event, Request, ToolEnd, WireId } from "../core/nouns.ts";
import type { Answer, GenerateOptions, Hear, Telling } from "../engines/engine.ts";
import { estimateTokens } from "../engines/estimate.ts";
import { ABORTED, failed } from "../engines/finish.ts";
import { ownState } from "../wires/opaque.ts";
import { printBody } from "../wires/raw.ts";
import { getWire } from "../wires/registry.ts";
import { readWarnings } from "../wires/warnings.ts";
import type { Headers, StreamEncoder } from "../wires/wire.ts";
import { aimed, fitted } from "./aim.ts";
import type { Exchange } from "./exchange.ts";
import type { Target } from "./models.ts";
import { CLOSING, infoOf, JSON_TYPE, type Passage } from "./passage.ts";
import { Pump } from "./pump.ts";
import type { Route } from "./routes.ts";
import { Sink, type Speaker } from "./sink.ts";
import { outsideSchema } from "./validate.ts";

export function generate(passage: Passage, route: Route & { kind: "generate" }, body: string): Promise<void> | undefined {
  const asked = passage.decode(route, body);
  const target = passage.aim(asked.model);
  if (target instanceof Promise) return target.then((found) => begin(passage, asked, found));
  begin(passage, asked, target);
  return undefined;
}

function begin(passage: Passage, asked: Request, target: Target): void {
  const { exchange, state } = passage;
  if (passage.route.wire === "ollama" && target.engine.wire !== "ollama" && asksNothing(asked)) {
    load(passage, asked);
    return;
  }
  const named = aimed(asked, target);
  const { request, warnings } = fitted(named, named.maxTokens === undefined ? undefined : state.models.contextOf(target));
  if (asked.warnings) exchange.warnings.push(...readWarnings(asked));
  exchange.warnings.push(...warnings);
  exchange.streamed = Boolean(asked.stream);
  const question = { asked, request, target };
  const answering = asked.stream ? new Streamed(passage, question) : new Whole(passage, question);
  answering.begin();
}

/** No message at all; or, at `/api/generate`, no prompt beside the system text. */
const asksNothing = ({ messages, extra }: Request): boolean =>
  messages.length === 0 || (ownState("ollama", extra, "/api/generate") === true && messages.every(({ role }) => role === "system"));

/** Ollama's clients load or unload a model with an empty request. For other upstreams it is only confirmed: the gateway has nothing to load. */
function load(passage: Passage, asked: Request): void {
  const native = ownState("ollama", asked.extra, "keep_alive") === 0 ? "unload" : "load";
  const response = { model: asked.model, content: [], finish: { reason: "stop" as const, native } };
  passage.sendJson(getWire("ollama").encodeResponse(response, asked, passage.encoderOptions));
}

/** The request as the client sent it (`asked`) and as the upstream gets it (`request`). */
interface Question {
  readonly asked: Request;
  readonly request: Request;
  readonly target: Target;
}

const STOPPED: Readonly<Record<NonNullable<Exchange["brokenOff"]>, Event>> = {
  client: failed(ABORTED),
  gateway: failed(CLOSING),
};

/** An answer in progress. The engine pushes its events as they arrive, so no consumer has to be woken for each event. */
abstract class Answering implements Speaker {
  readonly passage: Passage;
  readonly question: Question;
  readonly sink: Sink;
  /** Headers of the upstream's answer that are forwarded to the client. */
  back: Headers = {};
  #telling: Telling | undefined;
  #over = false;

  constructor(passage: Passage, question: Question) {
    this.passage = passage;
    this.question = question;
    this.sink = new Sink(passage.reply.raw, this, passage.state, passage.tap);
  }

  /** The upstream accepted the request, or refused it. */
  abstract answered(ok: boolean): void;
  abstract say(event: Event): void;
  /** Called after the last event. */
  abstract end(): void;
  abstract headers(): Headers;
  abstract heartbeat(): string;
  abstract get headersMs(): number;

  begin(): void {
    const { passage } = this;
    const { request, target } = this.question;
    const { engine } = target;
    const options: GenerateOptions = {
      from: passage.route.wire,
      headers: passage.travelling,
      tap: passage.tap?.upstream,
      onAnswer: (answer) => this.#answered(answer),
      onWarning: (warning) => {
        passage.exchange.warnings.push(warning);
        if (warning.code === "rescued") passage.exchange.calls.rescued++;
      },
      onDialect: (dialect) => {
        passage.exchange.dialect = dialect;
      },
    };
    const hear: Hear = (events) => this.#hear(events);
    try {
      this.#telling =
        engine.tell?.(request, options, hear) ??
        new Pump(
          (signal) => engine.generate(request, { ...options, signal }),
          hear,
          (error) => this.#fail(error),
        );
      passage.onAbort(this);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Called when the client has left or the gateway closes. */
  stop(): void {
    if (this.#over) return;
    this.#telling?.stop();
    this.#hear([STOPPED[this.passage.exchange.brokenOff ?? "client"]]);
  }

  hold(): void {
    this.#telling?.pause();
  }
  goOn(): void {
    this.#telling?.resume();
  }

  #answered({ ok, headers, warnings }: Answer): void {
    const known = this.passage.exchange.warnings;
    for (const warning of warnings) if (!known.some(({ message }) => message === warning.message)) known.push(warning); // retries repeat them
    this.back = headers;
    this.answered(ok);
  }

  #hear(events: readonly Event[]): void {
    if (this.#over) return;
    const { passage } = this;
    const { account, tap } = passage;
    try {
      for (const event of events) {
        account.see(event);
        tap?.event?.(event);
        this.say(event.type === "start" ? renamed(event, this.question, passage.route.wire) : event);
        if (event.type === "tool-end") this.#check(event);
        if (event.type === "finish" && event.error?.code === "not-found") this.#hint();
      }
      if (events.at(-1)?.type === "finish") this.#finish();
    } catch (error) {
      this.#fail(error);
    }
  }

  #hint(): void {
    const { passage, question } = this;
    const hint = passage.state.models.instead(question.target);
    if (hint !== undefined) passage.exchange.hint = hint;
  }

  #finish(): void {
    this.#over = true;
    this.#telling?.resume(); // no `goOn` follows the last bytes, and a source on hold would keep its connection forever
    this.end();
  }

  /** Notes a call whose arguments violate its tool's schema. */
  #check({ name, arguments: args, truncated }: ToolEnd): void {
    const { request, target } = this.question;
    const tool = truncated || target.rule?.validate === "off" ? undefined : request.tools?.find((known) => known.name === name);
    if (!tool) return;
    const { exchange, checks } = this.passage;
    checks.push(outsideSchema(tool, args).then((why) => void (why !== undefined && exchange.outside.push({ name, why }))));
  }

  /** A fault in the gateway itself: the client must not take what was sent so far for a complete answer. */
  #fail(error: unknown): void {
    const { passage, sink } = this;
    this.#over = true;
    this.#telling?.stop();
    sink.leave();
    if (!sink.opened) passage.refuse(error);
    else {
      passage.account.fail(infoOf(error), error);
      this.breakOff("");
    }
  }

  /** Cuts the connection: after status and headers have been sent, nothing else can signal the failure. */
  breakOff(text: string): void {
    this.passage.broken = true;
    this.sink.breakOff(text);
  }
}

type Start = Extract<Event, { type: "start" }>;

/**
 * Clients see the model name that they asked for. The upstream's answer id is kept only within the same wire: many servers give every
 * answer the same id, and Claude Code takes two answers with one id for a single answer.
 */
function renamed(start: Start, { asked, target: { model, engine } }: Question, wire: WireId): Start {
  const own = engine.wire === wire;
  if (own && model === asked.model) return start;
  const said: Start = { type: "start" };
  if (own && start.id !== undefined) said.id = start.id;
  const name = model === asked.model ? start.model : asked.model;
  if (name !== undefined) said.model = name;
  return said;
}

const TYPES: Readonly<Record<NonNullable<Exclude<Request["stream"], false>>, string>> = {
  sse: "text/event-stream; charset=utf-8",
  array: "application/json; charset=utf-8",
  ndjson: "application/x-ndjson; charset=utf-8",
};

class Streamed extends Answering {
  readonly #encoder: StreamEncoder;
  /** The failure came before anything was sent, so the client gets an error status. */
  #refused: ErrorInfo | undefined;

  constructor(passage: Passage, question: Question) {
    super(passage, question);
    this.#encoder = getWire(passage.route.wire).createStreamEncoder(question.asked, {
      ...passage.encoderOptions,
      estimate: () => estimateTokens(question.asked),
    });
  }

  answered(ok: boolean): void {
    if (ok) this.sink.open();
  }

  say(event: Event): void {
    const { sink } = this;
    if (!sink.opened && event.type === "finish" && event.error) {
      this.#refused = event.error;
      return;
    }
    sink.open();
    sink.write(this.#encoder.encode(event));
  }

  end(): void {
    const { passage, sink, back } = this;
    if (!this.#refused) sink.close(this.#encoder.end(), passage.warningHeader());
    else {
      sink.leave();
      passage.sendError(this.#refused, { request: this.question.asked, headers: back });
    }
  }

  headers(): Headers {
    const { passage, back } = this;
    passage.streams();
    const headers = passage.allHeaders(back);
    headers["content-type"] = TYPES[this.question.asked.stream || "sse"];
    // Proxies must neither buffer nor compress the stream.
    headers["cache-control"] = "no-cache, no-transform";
    headers["x-accel-buffering"] = "no";
    return headers;
  }

  heartbeat(): string {
    return this.#encoder.heartbeat();
  }

  get headersMs(): number {
    return this.passage.state.patience.headersMs;
  }
}

class Whole extends Answering {
  readonly #fold = createFold();

  answered(): void {}

  say(event: Event): void {
    this.#fold.add(event);
  }

  end(): void {
    const { passage, sink, back } = this;
    const { asked } = this.question;
    const wire = getWire(passage.route.wire);
    const response = this.#fold.response();
    const { finish } = response;
    const failed = finish && !wire.hasReason?.({ type: "finish", ...finish }) ? finish.error : undefined;
    const body = (): unknown =>
      failed ? wire.encodeError(failed, asked, passage.encoderOptions).body : wire.encodeResponse(response, asked, passage.encoderOptions);
    sink.leave();
    if (passage.gone) passage.drop();
    else if (sink.opened && failed) this.breakOff(printBody(body()));
    else if (sink.opened) sink.close(printBody(body()), passage.warningHeader());
    else if (failed) passage.sendError(failed, { request: asked, headers: back });
    else passage.sendJson(body(), { ...back, ...passage.warningHeader() });
  }

  headers(): Headers {
    const { passage, back } = this;
    passage.reply.hijack();
    const headers = passage.allHeaders(back);
    headers["content-type"] = JSON_TYPE;
    headers["x-accel-buffering"] = "no";
    return headers;
  }

  /** JSON may begin with white space, so a newline serves as the heartbeat of an answer that does not stream. */
  heartbeat(): string {
    return "\n";
  }

  get headersMs(): number {
    return this.passage.state.patience.wholeMs;
  }
}
