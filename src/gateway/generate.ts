/** A model at work: its events become the client's stream, or its whole answer. */
import { createFold } from "../core/fold.ts";
import type { Event, Request, WireId } from "../core/nouns.ts";
import type { Answer } from "../engines/engine.ts";
import { getWire } from "../wires/registry.ts";
import type { Headers } from "../wires/wire.ts";
import { aimed, fitted, type Target } from "./models.ts";
import { infoOf, type Passage, plain } from "./passage.ts";
import type { Route } from "./routes.ts";
import { Sink, streamHeaders } from "./sink.ts";

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

/** The engine's events, in the client's words; everybody who listens has heard them. */
async function* events(
  passage: Passage,
  { asked, request, target }: Question,
  onAnswer: (answer: Answer) => void,
): AsyncGenerator<Event, void, undefined> {
  const { account, exchange, route, tap } = passage;
  const source = target.engine.generate(request, {
    ...passage.callOptions,
    onAnswer: (answer) => {
      exchange.warnings.push(...answer.warnings);
      onAnswer(answer);
    },
  });
  for await (const event of source) {
    account.see(event);
    tap?.event?.(event);
    yield event.type === "start" ? renamed(event, asked, target, route.wire) : event;
  }
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

async function answerStreamed(passage: Passage, question: Question): Promise<void> {
  const { reply, route, account, state, tap } = passage;
  const { asked } = question;
  const { metrics } = state.options;
  const encoder = getWire(route.wire).createStreamEncoder(asked, passage.encoderOptions);
  const sink = new Sink(reply.raw, encoder, state.patience.heartbeatMs, tap);
  let back: Headers = {};
  const open = (): void => {
    if (sink.opened) return;
    reply.hijack();
    metrics?.streams(1);
    reply.raw.once("close", () => metrics?.streams(-1));
    sink.open({ ...plain(reply.getHeaders()), ...back, ...passage.warningHeader, ...streamHeaders(asked.stream || "sse") });
  };
  const late = setTimeout(() => {
    open();
    sink.beat();
  }, state.patience.headersMs);
  try {
    const heard = events(passage, question, (answer) => {
      back = answer.headers;
      if (answer.ok) open();
    });
    for await (const event of heard) {
      clearTimeout(late);
      if (!sink.opened && event.type === "finish" && event.error) return passage.sendError(event.error, { request: asked, headers: back });
      open();
      sink.write(encoder.encode(event));
      await sink.full;
    }
    sink.close(encoder.end());
  } catch (error) {
    if (!sink.opened) throw error;
    account.fail(infoOf(error), error);
    reply.raw.destroy(); // a fault of ours: nobody shall take what was sent for the whole
  } finally {
    clearTimeout(late);
  }
}

async function answerWhole(passage: Passage, question: Question): Promise<void> {
  const { reply, route, signal } = passage;
  const { asked } = question;
  const fold = createFold();
  let back: Headers = {};
  const heard = events(passage, question, ({ headers }) => {
    back = headers;
  });
  for await (const event of heard) fold.add(event);
  if (signal.aborted) return void reply.hijack();
  const response = fold.response();
  const error = response.finish?.error;
  // Gemini has a reason for a call that cannot be read: it is an answer there.
  if (error && !(route.wire === "gemini" && error.code === "malformed-call"))
    return passage.sendError(error, { request: asked, headers: back });
  const body = getWire(route.wire).encodeResponse(response, asked, passage.encoderOptions);
  passage.sendJson(body, { ...back, ...passage.warningHeader });
}
