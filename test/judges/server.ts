// All five wires on one loopback port. The model's name says what is played: a scenario, with or without heartbeats, or an error.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { BadRequest } from "../../src/core/errors.ts";
import { collect } from "../../src/core/fold.ts";
import type { ErrorInfo, Event, JsonObject, Request, WireId } from "../../src/core/nouns.ts";
import { printBody } from "../../src/wires/raw.ts";
import { getWire } from "../../src/wires/registry.ts";
import type { EncoderOptions, Wire } from "../../src/wires/wire.ts";
import { asides, done, errors, scenarios } from "./scenarios.ts";

const ROUTES: readonly (readonly [RegExp, WireId])[] = [
  [/^\/v1\/chat\/completions$/, "openai-chat"],
  [/^\/v1\/responses$/, "openai-responses"],
  [/^\/v1\/messages(\/count_tokens)?$/, "anthropic"],
  [/^\/v1beta\/models(\/|$)/, "gemini"],
  [/^\/api\/(chat|generate|tags)$/, "ollama"],
];

export const HEARTBEATS = ".heartbeats";

export interface Stub {
  readonly url: string;
  /** The requests since the last call of this function. */
  take(): Request[];
  close(): Promise<void>;
}

export async function startStub(): Promise<Stub> {
  let requests: Request[] = [];
  const kept = new Map<string, JsonObject>();
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, kept, (request) => requests.push(request)).catch((error: unknown) => {
      outgoing.writeHead(500).end(String(error)); // no scenario expects it
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take() {
      const taken = requests;
      requests = [];
      return taken;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  kept: Map<string, JsonObject>,
  seen: (request: Request) => void,
): Promise<void> {
  const { pathname, searchParams } = new URL(incoming.url ?? "", "http://stub");
  const wire = getWire(ROUTES.find(([route]) => route.test(pathname))?.[1] ?? "openai-chat");
  const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void => {
    outgoing.writeHead(status, { "content-type": "application/json", ...headers }).end(typeof body === "string" ? body : printBody(body));
  };
  const fail = (error: ErrorInfo, request?: Request): void => {
    const { status, headers, body } = wire.encodeError(error, request);
    json(status, body, headers);
  };
  let body = "";
  for await (const piece of incoming.setEncoding("utf8")) body += piece;
  if (incoming.method === "GET") return json(200, wire.encodeModels([{ id: "some-model", contextLength: 8192 }]));
  const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
  try {
    const request = wire.decodeRequest({
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers,
      body,
      recall: (id) => kept.get(id),
    });
    const options: EncoderOptions = { keep: (id, item) => void kept.set(id, item as JsonObject) };
    seen(request);
    if (/count_?tokens$/i.test(pathname)) return json(200, wire.encodeTokenCount?.({ tokens: 7 }));
    const name = request.model.replace(HEARTBEATS, "");
    if (isKey(errors, name)) return fail(errors[name], request);
    const events = playedTo(request, name);
    if (request.stream) return stream(wire, request, events, outgoing, options);
    const response = collect([...events]);
    const error = response.finish ? response.finish.error : LOST;
    const isPart = wire.id === "gemini" && error?.code === "malformed-call"; // an answer there, not an error
    return error && !isPart ? fail(error, request) : json(200, wire.encodeResponse(response, request, options));
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    fail(error.info);
  }
}

const LOST: ErrorInfo = { code: "upstream", message: "the answer was terminated" };
const isKey = <T extends object>(table: T, key: PropertyKey): key is keyof T => Object.hasOwn(table, key);

function playedTo({ messages }: Request, name: string): readonly Event[] {
  if (messages.some(({ role }) => role === "tool")) return done;
  return isKey(scenarios, name) ? scenarios[name].events : (asides[name] ?? done);
}

function stream(wire: Wire, request: Request, events: readonly Event[], outgoing: ServerResponse, options: EncoderOptions): void {
  const encoder = wire.createStreamEncoder(request, options);
  const beats = request.model.endsWith(HEARTBEATS);
  const beat = (): void => {
    if (beats) outgoing.write(encoder.heartbeat());
  };
  outgoing.writeHead(200, { "content-type": TYPES[request.stream || "sse"] });
  beat();
  for (const event of events) {
    outgoing.write(encoder.encode(event));
    beat();
  }
  outgoing.end(encoder.end());
}

const TYPES = { sse: "text/event-stream", array: "application/json", ndjson: "application/x-ndjson" } as const;
