/**
 * The HTTP server: admits requests and dispatches them. Fastify gets a single route: paths are read by routes.ts, because model names may
 * contain anything, and limits are checked here, so that every error is sent in the client's own format.
 */
import { randomBytes } from "node:crypto";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Headers } from "../wires/wire.ts";
import { count, look, passOn } from "./beside.ts";
import { readBody } from "./body.ts";
import { GREETING } from "./connect.ts";
import { corsHeaders, hostAllowed, hostName, originAllowed, preflightHeaders, withoutSecrets } from "./edge.ts";
import { generate } from "./generate.ts";
import type { State } from "./options.ts";
import { pageHeaders, pageText } from "./page.ts";
import { Passage } from "./passage.ts";
import { Refusal } from "./refusal.ts";
import { type Route, readUrl, routeOf, type Visit } from "./routes.ts";

export interface Watch {
  /** The state that the next request belongs to. */
  readonly state: State;
  came(passage: Passage): void;
  /** The answer is complete, or the client has left. */
  left(passage: Passage): void;
}

export function createServer(watch: Watch): FastifyInstance {
  const { requestMs } = watch.state.patience;
  const app = fastify({
    rewriteUrl: () => "/",
    bodyLimit: Number.MAX_SAFE_INTEGER, // body.ts has its own limit, which also counts decompressed bytes
    requestTimeout: requestMs,
    // Cuts clients that send too slowly. By default Node looks for such connections only every 30 s.
    http: { headersTimeout: Math.min(60_000, requestMs), connectionsCheckingInterval: Math.min(30_000, Math.ceil(requestMs / 4)) },
    keepAliveTimeout: 72_000,
    forceCloseConnections: "idle",
    exposeHeadRoutes: false,
    return503OnClosing: true,
    clientErrorHandler: ({ code }, socket) => {
      const status = code === "ERR_HTTP_REQUEST_TIMEOUT" ? "408 Request Timeout" : "400 Bad Request";
      if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      else socket.destroy();
    },
  });
  // This hook does all the work and never signals completion: nothing that Fastify would do next (parsers, validation, handler) is needed.
  app.addHook("onRequest", (request, reply) => {
    // A request sent before the last one on its connection is answered waits: until its turn, nothing would tell that its client left.
    if (reply.raw.socket) receive(watch, request, reply);
    else reply.raw.once("socket", () => receive(watch, request, reply));
  });
  app.setNotFoundHandler(() => {});
  app.route({ method: ["GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"], url: "/", handler: () => {} });
  return app;
}

function receive(watch: Watch, request: FastifyRequest, reply: FastifyReply): void {
  const { state } = watch;
  const { path, query } = readUrl(request.originalUrl);
  const visit: Visit = { method: request.method, path, query, headers: headersOf(request) };
  const passage = new Passage(nextId(), visit, routeOf(visit), state, reply);
  watch.came(passage);
  reply.raw.once("close", () => watch.left(passage)).on("error", () => {}); // a client that left cannot be answered
  try {
    admit(passage, request.socket.localAddress); // before the body is read
    if (visit.method === "POST" && passage.route.kind !== "unknown") readBody(request.raw, passage, (body) => dispatch(passage, body));
    else dispatch(passage, "");
  } catch (error) {
    passage.refuse(error);
  }
}

function admit({ visit, route, state, headers }: Passage, local: string | undefined): void {
  const { names = [], host: own, origins = [] } = state.options;
  const { host, origin } = visit.headers;
  if (!hostAllowed(host, local, names, own)) {
    throw new Refusal(403, `this server does not go by the name "${hostName(host ?? "")}"; its names are set with server.names`);
  }
  if (!originAllowed(origin, host, origins)) {
    throw new Refusal(403, "a web page of another origin may not ask this server, unless it is listed in cors.origins");
  }
  if (origin !== undefined) Object.assign(headers, corsHeaders(origin));
  if (visit.method !== "OPTIONS" && !OPEN.has(route.kind) && !state.keys.admit(visit)) {
    throw new Refusal(401, "no key, or a wrong one: send the gateway's key as the client sends its API key");
  }
}

/** Routes that need no key. */
const OPEN: ReadonlySet<Route["kind"]> = new Set(["root", "page", "health", "ready"]);

function dispatch(passage: Passage, body: string): void {
  const { visit, route, tap } = passage;
  try {
    if (tap?.asked) tap.asked({ ...withoutSecrets(visit), body });
    const answering = route.kind === "generate" && visit.method === "POST" ? generate(passage, route, body) : beside(passage, body);
    answering?.catch((error: unknown) => passage.refuse(error));
  } catch (error) {
    passage.refuse(error);
  }
}

/** All requests that do not make a model generate. */
async function beside(passage: Passage, body: string): Promise<void> {
  const { visit, route, state } = passage;
  if (visit.method === "OPTIONS") return passage.send(204, preflightHeaders(visit));
  if (visit.method === "HEAD" && route.kind !== "unknown" && route.kind !== "ready") return passage.send(200, {});
  switch (route.kind) {
    case "count":
      return count(passage, route, body);
    case "pass":
      return passOn(passage, route, body);
    case "wrong-method":
      throw new Refusal(405, `this path takes ${route.allow}, not ${visit.method}`, { headers: { allow: route.allow } });
    case "upgrade":
      throw new Refusal(426, "there are no WebSockets here: send the request over HTTP", { headers: { connection: "close" } });
    case "unknown":
      throw new Refusal(404, `there is nothing at ${visit.method} ${visit.path}: ${route.hint}`, NOWHERE);
    case "root":
      return passage.send(200, { "content-type": "text/plain; charset=utf-8" }, GREETING);
    case "page":
      return passage.send(200, pageHeaders(route.file), await pageText(route.file));
    case "exchanges": {
      const { exchanges } = state;
      if (!exchanges) throw new Refusal(404, "exchanges are shown only if the gateway records them: dragoman serve --record FOLDER");
      return passage.sendJson(route.name === undefined ? await exchanges.list() : await exchanges.show(route.name));
    }
    case "metrics": {
      const { metrics } = state.options;
      if (!metrics) throw new Refusal(404, "there are no metrics: they are turned off", NOWHERE);
      return passage.send(200, { "content-type": metrics.contentType }, await metrics.print());
    }
    default:
      return passage.sendJson(await look(route, state.models, body));
  }
}

/** Marks the 404 of an unknown path, as opposed to an unknown model. */
const NOWHERE = { native: "unknown_url" } as const;

/** Node gives one string per header name except for `set-cookie`, which no client sends. */
function headersOf({ headers }: FastifyRequest): Headers {
  if (headers["set-cookie"] === undefined) return headers as Headers;
  const { "set-cookie": _, ...rest } = headers;
  return rest as Headers;
}

/** Ids are ordered, and differ from those of any other run. */
const RUN = randomBytes(8).toString("hex");
let ids = 0;
const nextId = (): string => `req_${RUN}${(ids++).toString(16).padStart(8, "0")}`;
