// Servers on loopback, on ports chosen by the system, and temporary folders; each test file closes what it opened.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

export interface Seen {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface TestServer {
  url: string;
  /** The requests, in order. */
  seen: Seen[];
  /** The number of connections so far. */
  connections: number;
  server: Server;
}

type Handler = (response: ServerResponse, seen: Seen, request: IncomingMessage) => void | Promise<void>;

const open: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** Closed after the last test of the file. */
export const closeLater = (close: () => unknown): void => void open.push(close);

/** Removed after the last test of the file, and after everything opened later is closed. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "dragoman-"));
  closeLater(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function startServer(handler: Handler): Promise<TestServer> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const seen = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body };
    started.seen.push(seen);
    await handler(response, seen, request);
  });
  const started: TestServer = { url: "", seen: [], connections: 0, server };
  server.on("connection", () => started.connections++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  started.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  closeLater(() => {
    server.closeAllConnections();
    server.close();
  });
  return started;
}

/** One answer for every request. */
export const answering =
  (body: string, { status = 200, ...headers }: { status?: number; [header: string]: string | number } = {}): Handler =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  };

/**
 * A URL where nothing listens: a port that the system assigns to no program by itself, so that no other suite can have it meanwhile, and
 * that `fetch` does not refuse beforehand.
 */
export const nobody = "http://127.0.0.1:2";

export const sse = (...events: unknown[]): string =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");

/** A promise, and what fulfils it. */
export function signalOf<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
