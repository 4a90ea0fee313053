/**
 * Serves a recording as an upstream: it repeats the recorded answer piece by piece, at the recorded pace or at once. Requests by which a
 * server is recognized are answered as the recorded server would.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { listWires } from "../../wires/registry.ts";
import type { ModelInfo } from "../../wires/wire.ts";
import { bytesOfPiece, type Edge, fellSilent, type Recording, wasClosed } from "./recording.ts";
import { pathOf, speechOf } from "./speech.ts";

export interface ReplayOptions {
  /** Without waiting. */
  fast?: boolean | undefined;
  /** Awaited before the headers of the answer are sent, and before its body. */
  before?: ((what: "answer" | "body") => Promise<void>) | undefined;
}

/** The server is not listening yet. */
export function createReplay(recording: Recording, { fast = false, before }: ReplayOptions = {}): Server {
  const gone = new AbortController();
  const server = createServer((request, response) => {
    request.resume();
    request.once("end", () => {
      const path = (request.url ?? "").split("?")[0]!;
      // The last request is the one whose answer reached the client; earlier ones were tries.
      const edge = recording.upstream.findLast((one) => one.request.method === request.method && isSame(pathOf(one), path));
      if (edge) {
        const end = !edge.broken ? "whole" : fellSilent(recording) || wasClosed(recording) ? "silent" : "broken";
        play({ edge, end, fast, before }, response, request, gone.signal).catch(() => response.destroy());
      } else aside(recording, path, response);
    });
  });
  server.once("close", () => gone.abort());
  return server;
}

/** Paths are compared by their ends: what precedes the end belongs to the base URL, which may be another one now. */
const isSame = (a: string, b: string): boolean => a === b || (speechOf(a) !== undefined && speechOf(a)?.end === speechOf(b)?.end);

/** Headers of the connection, not of the answer; and the length of the body, which may differ now that secrets are removed. */
const CONNECTION = /^(?:connection|keep-alive|transfer-encoding|content-length|date|server)$/i;

interface Playing {
  readonly edge: Edge;
  readonly end: "whole" | "broken" | "silent";
  readonly fast: boolean;
  readonly before: ReplayOptions["before"];
}

async function play(
  { edge: { response: given, ms, pieces }, end, fast, before }: Playing,
  response: ServerResponse,
  request: IncomingMessage,
  gone: AbortSignal,
): Promise<void> {
  const left = new AbortController();
  response.once("close", () => left.abort());
  const signal = AbortSignal.any([gone, left.signal]);
  let now = ms;
  const at = async (then: number): Promise<void> => {
    if (!fast && then > now) await pause(then - now, undefined, { signal });
    now = then;
  };
  if (!given) {
    request.destroy(); // as the recorded upstream did
    return;
  }
  await at(given.ms);
  await before?.("answer");
  response.writeHead(given.status, Object.fromEntries(Object.entries(given.headers).filter(([name]) => !CONNECTION.test(name))));
  response.flushHeaders();
  await before?.("body");
  for (const piece of pieces) {
    await at(piece[0]);
    response.write(bytesOfPiece(piece));
  }
  if (end === "whole") response.end();
  else if (end === "broken") {
    await new Promise((resolve) => response.write("", resolve)); // what was written must arrive before the end
    response.destroy();
  }
}

/** Answers lists of models, and the requests by which a server is recognized. */
function aside({ exchange, upstream }: Recording, path: string, response: ServerResponse): void {
  const json = (status: number, body: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const model = { id: exchange.upstreamModel ?? exchange.model ?? "recorded" };
  const played = upstream.at(-1);
  const own = played && MARKS[pathOf(played)]?.[path];
  const wire = listWires().find(({ modelsPath }) => modelsPath === path && modelsPath.startsWith(played ? rootOf(pathOf(played)) : ""));
  if (own) json(200, own(model));
  else if (wire) json(200, wire.encodeModels([model]));
  else json(404, { error: { message: "the recording has no answer for this path" } });
}

/** `/api` for Ollama's paths, `/v1beta` for Gemini's. */
const rootOf = (path: string): string => /^\/[^/]+/.exec(path)?.[0] ?? "";

/** What only this server answers, keyed by the path of its completions. */
const MARKS: Readonly<Record<string, Readonly<Record<string, (model: ModelInfo) => object>>>> = {
  "/completion": { "/props": () => ({ default_generation_settings: { params: {} } }) },
  "/v1/completions": { "/v1/models": ({ id }) => ({ object: "list", data: [{ id, object: "model", owned_by: "vllm" }] }) },
  "/api/generate": { "/api/version": () => ({ version: "recorded" }) },
};
