/** A model at work: its events become the client's stream, or its whole answer. */
import { createFold } from "../core/fold.ts";
import type { Event, Request, WireId } from "../core/nouns.ts";
import type { Answer } from "../engines/engine.ts";
import { printBody } from "../wires/raw.ts";
import { getWire } from "../wires/registry.ts";
import type { Headers } from "../wires/wire.ts";
import { aimed, fitted, type Target } from "./models.ts";
import { infoOf, JSON_TYPE, type Passage } from "./passage.ts";
import type { Route } from "./routes.ts";
import { Sink } from "./sink.ts";
import { outsideSchema } from "./validate.ts";

/** What was asked, in the client's words and in the upstream's. */
interface Question {
  readonly asked: Request;
  readonly request: Request;
  readonly target: Target;
}

export async function generate(passage: Passage, route: Route & { kind: "generate" }, body: string): Promise<void> {
  const { visit, exchange, state } = passage;
  const asked = getWire(route.wire).decodeRequest({ path: route.path, query: visit.query, headers: visit.headers, body });
  const target = await passage.aim(asked.model);
  const named = aimed(asked, target);
  const { request, warnings } = fitted(named, named.maxTokens === undefined ? undefined : state.models.contextOf(target));
  exchange.warnings.push(...(asked.warnings ?? []), ...warnings);
  exchange.streamed = Boolean(asked.stream);
  const question = { asked, request, target };
  return asked.stream ? answerStreamed(passage, question) : answerWhole(passage, question);
}

/** The engine's events; they stop when the client goes. */
function ask(passage: Passage, { request, target: { engine } }: Question, onAnswer: (answer: Answer) => void): AsyncIterable<Event> {
  const events = engine.generate(request, {
    ...passage.callOptions,
    ...(engine.stopsOnReturn ? {} : { signal: passage.signal }),
    onWarning: (warning) => {
      passage.exchange.warnings.push(warning);
      if (warning.code === "rescued") passage.exchange.calls.rescued++;
    },
    onDialect: (dialect) => {
      passage.exchange.dialect = dialect;
    },
    onAnswer: (answer) => {
      if (answer.warnings.length > 0) passage.exchange.warnings.push(...answer.warnings);
      onAnswer(answer);
    },
  });
  if (!engine.stopsOnReturn) return events;
  const iterator = events[Symbol.asyncIterator]();
  passage.onAbort(() => void iterator.return?.());
  return { [Symbol.asyncIterator]: () => iterator };
}

/** Everybody who listens hears it. */
function heard(event: Event, { account, route, tap }: Passage, { asked, target }: Question): Event {
  account.see(event);
  tap?.event?.(event);
  return event.type === "start" ? renamed(event, asked, target, route.wire) : event;
}

/** Names the calls that are not what their tool's schema asks for. */
async function validate(event: Event, { exchange }: Passage, { request, target }: Question): Promise<void> {
  if (event.type !== "tool-end" || event.truncated || target.rule?.validate === "off") return;
  const tool = request.tools?.find(({ name }) => name === event.name);
  const why = tool && (await outsideSchema(tool, event.arguments));
  if (why !== undefined) exchange.outside.push({ name: event.name, why });
}

/**
 * Clients hear the name that they asked for. The id of an answer is one only in its own wire, and many servers give all answers the same:
 * Claude Code takes two answers of one id for one.
 */
function renamed({ id, ...start }: Start, asked: Request, { model, engine }: Target, wire: WireId): Start {
  return {
    ...start,
    ...(id !== undefined && engine.wire === wire ? { id } : {}),
    ...(model === asked.model ? {} : { model: asked.model }),
  };
}

type Start = Extract<Event, { type: "start" }>;

const STOPPED: Event = { type: "finish", reason: "error", error: { code: "aborted", message: "the request was aborted" } };

const TYPES: Readonly<Record<NonNullable<Exclude<Request["stream"], false>>, string>> = {
  sse: "text/event-stream; charset=utf-8",
  array: "application/json; charset=utf-8",
  ndjson: "application/x-ndjson; charset=utf-8",
};

async function answerStreamed(passage: Passage, question: Question): Promise<void> {
  const { reply, route, account, state, tap } = passage;
  const { asked } = question;
  const encoder = getWire(route.wire).createStreamEncoder(asked, passage.encoderOptions);
  let back: Headers = {};
  const sink = new Sink(reply.raw, {
    ticker: state.ticker,
    patience: state.patience,
    tap,
    heartbeat: () => encoder.heartbeat(),
    headers: () => {
      reply.hijack();
      passage.streams();
      // Nobody on the way may hold the answer back, or compress it.
      const type = { "content-type": TYPES[asked.stream || "sse"], "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" };
      return { ...passage.headers, ...back, ...passage.warningHeader(), ...type };
    },
  });
  try {
    const events = ask(passage, question, (answer) => {
      back = answer.headers;
      if (answer.ok) sink.open();
    });
    let finished = false;
    for await (const event of events) {
      finished = event.type === "finish";
      const said = heard(event, passage, question);
      if (!sink.opened && said.type === "finish" && said.error) return passage.sendError(said.error, { request: asked, headers: back });
      sink.open();
      sink.write(encoder.encode(said));
      if (sink.full) await sink.drained();
      if (event.type === "tool-end") await validate(event, passage, question);
    }
    if (!finished && sink.opened) sink.write(encoder.encode(heard(STOPPED, passage, question)));
    sink.close(encoder.end(), passage.warningHeader());
  } catch (error) {
    if (!sink.opened) throw error;
    account.fail(infoOf(error), error);
    reply.raw.destroy(); // a fault of ours: nobody shall take what was sent for the whole
  } finally {
    sink.leave();
  }
}

async function answerWhole(passage: Passage, question: Question): Promise<void> {
  const { reply, route, state, tap } = passage;
  const { asked } = question;
  const wire = getWire(route.wire);
  const fold = createFold();
  let back: Headers = {};
  // JSON may begin with blanks: that is the sign of life where nothing streams.
  const sink = new Sink(reply.raw, {
    ticker: state.ticker,
    patience: state.patience,
    tap,
    heartbeat: () => "\n",
    headers: () => {
      reply.hijack();
      return { ...passage.headers, ...back, ...passage.warningHeader(), "content-type": JSON_TYPE, "x-accel-buffering": "no" };
    },
  });
  try {
    const events = ask(passage, question, ({ headers }) => {
      back = headers;
    });
    for await (const event of events) {
      if (event.type === "tool-end") await validate(event, passage, question);
      fold.add(heard(event, passage, question));
    }
  } finally {
    sink.leave();
  }
  if (passage.aborted) return sink.opened ? sink.close("") : void reply.hijack();
  const response = fold.response();
  const error = response.finish?.error;
  // Gemini has a reason for a call that cannot be read: it is an answer there.
  const failed = error && !(route.wire === "gemini" && error.code === "malformed-call") ? error : undefined;
  if (sink.opened && failed) {
    const { body } = wire.encodeError(failed, asked);
    sink.close(typeof body === "string" ? body : printBody(body), passage.warningHeader());
  } else if (sink.opened) sink.close(printBody(wire.encodeResponse(response, asked, passage.encoderOptions)), passage.warningHeader());
  else if (failed) passage.sendError(failed, { request: asked, headers: back });
  else passage.sendJson(wire.encodeResponse(response, asked, passage.encoderOptions), { ...back, ...passage.warningHeader() });
}
