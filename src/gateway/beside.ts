/** All answers other than generation: lists of models, probes, token counts, and bytes passed on unread. */
import { once } from "node:events";
import { Readable } from "node:stream";
import { CUT_OFF } from "../core/errors.ts";
import { isObject } from "../core/json.ts";
import type { Json, JsonObject } from "../core/nouns.ts";
import { EngineError } from "../engines/error.ts";
import { ASIDE_MS, bodyText } from "../engines/http/http.ts";
import { codeOf, PROBLEMS } from "../engines/http/problems.ts";
import { readBody } from "../wires/fields.ts";
import { printBody, withNumbersOf } from "../wires/raw.ts";
import { parsed } from "../wires/read.ts";
import { getWire } from "../wires/registry.ts";
import type { ModelInfo } from "../wires/wire.ts";
import { aimed } from "./aim.ts";
import { encodeModel, encodeModelList, encodeShow, OLLAMA_VERSION } from "./lists.ts";
import type { Models, Target } from "./models.ts";
import type { Passage } from "./passage.ts";
import { Refusal } from "./refusal.ts";
import type { Route } from "./routes.ts";

/** The body of an answer that needs no model to run. */
export async function look(route: Route, models: Models, body: string): Promise<unknown> {
  switch (route.kind) {
    case "models":
      return encodeModelList(route.wire, await models.list());
    case "catalogue":
      return { models: [] }; // Codex describes models in a form of its own, and adds these to those that it knows
    case "model":
      return encodeModel(route.wire, await known(models, route.id));
    case "show": {
      const { model, name } = readBody(body);
      const found = await known(models, String(model ?? name ?? ""));
      const target = await models.resolve(found.id);
      const theirs = await shownBy(target);
      const about = theirs ? undefined : await target.engine.about?.(target.model);
      return encodeShow(found, { tools: target.rule?.tools, vision: about?.vision }, theirs);
    }
    case "running":
      return { models: [] };
    case "version":
      return { version: OLLAMA_VERSION };
    case "ready":
      if (!(await models.ready())) throw new Refusal(503, "none of the upstreams answers");
      return { status: "ready" };
    default:
      return { status: "ok" };
  }
}

async function known(models: Models, id: string): Promise<ModelInfo> {
  const found = await models.find(id);
  if (!found) throw new Refusal(404, `there is no model "${id}"`);
  return found;
}

/** What an Ollama upstream itself answers for the model; other servers that speak its API may lack this path. */
async function shownBy({ engine, model }: Target): Promise<Record<string, unknown> | undefined> {
  if (engine.wire !== "ollama" || !engine.send) return undefined;
  const answer = await engine.send("/api/show", { body: JSON.stringify({ model }), signal: AbortSignal.timeout(ASIDE_MS) });
  const shown = parsed(await bodyText(answer));
  return answer.status === 200 && isObject(shown) ? shown : undefined;
}

export async function count(passage: Passage, route: Route & { kind: "count" }, body: string): Promise<void> {
  const wire = getWire(route.wire);
  const asked = passage.decode(route, body);
  const target = await passage.aim(asked.model);
  const { tokens, exact } = await target.engine.countTokens(aimed(asked, target), {
    ...passage.callOptions,
    signal: passage.signal,
  });
  passage.sendJson(wire.encodeTokenCount?.({ tokens }) ?? { tokens }, { "x-dragoman-count": exact ? "exact" : "estimate" });
}

/** Passes the body on to an upstream of the same wire, unchanged except for the model's name where the upstream has another one. */
export async function passOn(passage: Passage, route: Route & { kind: "pass" }, body: string): Promise<void> {
  const { visit } = passage;
  const asked = readBody(body);
  const model = route.model ?? (typeof asked.model === "string" ? asked.model : "");
  const { engine, upstream, model: name } = await passage.aim(model);
  if (!engine.send || familyOf(engine.wire) !== familyOf(route.wire)) {
    throw new Refusal(404, `${visit.path} can only be passed on to an upstream that speaks ${route.wire}, and "${upstream}" does not`);
  }
  const path = route.behind === undefined ? route.path : `${route.path}${encodeURIComponent(name)}${route.behind}`;
  const isInBody = route.behind === undefined;
  const renamed = (): JsonObject => (isInBody ? withNumbersOf(asked, { ...asked, model: name }) : named(asked, name));
  const text = name === (isInBody ? asked.model : model) ? body : printBody(renamed()); // seeds over 2^53 keep their digits
  const answer = await engine.send(path, { ...passage.callOptions, signal: passage.signal, body: text });
  const stream = Readable.from(watched(answer.body, passage), { objectMode: false });
  await once(stream, "readable"); // if there is nothing to read, the client gets an error in its own format
  const reply = passage.head(answer.status, answer.headers);
  reply.send(stream);
  await reply;
}

/** Gemini's bodies repeat the model of the path, in a batch in each request; another name there is refused. */
function named(asked: JsonObject, name: string): JsonObject {
  const { model, requests } = asked;
  const inner = Array.isArray(requests) && { requests: requests.map((one: Json) => (isObject(one) ? named(one, name) : one)) };
  return withNumbersOf(asked, { ...asked, ...(model !== undefined && { model: `models/${name}` }), ...inner });
}

const familyOf = (wire: string | undefined): string | undefined => wire?.replace(/^openai-.*/, "openai");

/** If the body breaks off after its beginning, Fastify cuts the connection; that is noted here, or the log would say that the client left. */
async function* watched(body: AsyncIterable<Uint8Array>, passage: Passage): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of body) {
      passage.tap?.wrote?.(chunk);
      yield chunk;
    }
  } catch (error) {
    const info = error instanceof EngineError ? error.info : (PROBLEMS[codeOf(error)] ?? CUT_OFF);
    if (!passage.exchange.brokenOff) {
      passage.broken = passage.reply.raw.headersSent;
      passage.account.fail(info);
    }
    throw new EngineError(info, { cause: error });
  }
}
