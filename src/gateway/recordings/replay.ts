/**
 * A recording as an upstream: it answers what the real one answered, piece by piece, in its time or at once. What a server says of itself
 * is answered as the one that was recorded would.
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
      // The last one is the one that the client heard; others stood before it at other URLs.
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

/** What stands before the end of a path is a base URL, and may be another one by now. */
const isSame = (a: string, b: string): boolean => a === b || (speechOf(a) !== undefined && speechOf(a)?.end === speechOf(b)?.end);

/** What belongs to the connection, not to the answer; and the length of a body that may be another by now. */
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
    request.destroy(); // as the real one did
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
    await new Promise((resolve) => response.write("", resolve)); // what was said arrives before the end
    response.destroy();
  }
}

/** Lists of models, and the marks by which a server is known. */
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
  else json(404, { error: { message: "this was not recorded" } });
}

/** `/api` for Ollama's paths, `/v1beta` for Gemini's. */
const rootOf = (path: string): string => /^\/[^/]+/.exec(path)?.[0] ?? "";

/** By the path of the completion: what only that server has. */
const MARKS: Readonly<Record<string, Readonly<Record<string, (model: ModelInfo) => object>>>> = {
  "/completion": { "/props": () => ({ default_generation_settings: { params: {} } }) },
  "/v1/completions": { "/v1/models": ({ id }) => ({ object: "list", data: [{ id, object: "model", owned_by: "vllm" }] }) },
  "/api/generate": { "/api/version": () => ({ version: "recorded" }) },
};
