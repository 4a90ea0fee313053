// A gateway on loopback, on a port chosen by the system, and ways to send it requests.
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { expect } from "vitest";
import type { Event, WireId } from "../../src/core/nouns.ts";
import { createRemote } from "../../src/engines/remote.ts";
import { createScripted, type Script } from "../../src/engines/scripted.ts";
import type { Exchange } from "../../src/gateway/exchange.ts";
import { createGateway } from "../../src/gateway/gateway.ts";
import type { GatewayOptions } from "../../src/gateway/options.ts";
import { closeLater } from "../servers.ts";

export interface Started {
  url: string;
  port: number;
  exchanges: Exchange[];
  /** Resolves when this many exchanges have ended; in the order in which they began. */
  ended(count: number): Promise<Exchange[]>;
  close(options?: { graceMs?: number }): Promise<void>;
}

export async function startGateway(options: GatewayOptions): Promise<Started> {
  const exchanges: Exchange[] = [];
  const waiting = new Set<() => void>();
  const gateway = createGateway({
    port: 0,
    ...options,
    onExchange: (exchange) => {
      exchanges.push(exchange);
      options.onExchange?.(exchange);
      for (const look of waiting) look();
    },
  });
  const { url, port } = await gateway.listen();
  closeLater(() => gateway.close());
  const ended = (count: number): Promise<Exchange[]> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (exchanges.length >= count) resolve(exchanges.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
      };
      waiting.add(look);
      look();
    });
  return { url, port, exchanges, ended, close: (how) => gateway.close(how) };
}

export const hello: Event[] = [
  { type: "start", id: "a1", model: "m" },
  { type: "text", text: "Hello" },
  { type: "usage", inputTokens: 3, outputTokens: 1 },
  { type: "finish", reason: "stop" },
];

/** An engine that plays a script. */
export const scripted = (script: Script | (() => Script) = hello) =>
  createScripted(() => (typeof script === "function" ? script() : script), { models: [{ id: "one" }, { id: "two" }] });

export const remote = (url: string, wire: WireId = "openai-chat", key?: string) => createRemote({ wire, url, key });

export interface Plain {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** Trailers. */
  trailers: NodeJS.Dict<string>;
}

/** Sends exactly this request, with paths and headers that `fetch` would change. */
export function ask(base: string, method: string, path: string, { headers = {}, body = "" as string | Buffer } = {}): Promise<Plain> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname: hostname.replace(/^\[|\]$/g, ""), port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
          trailers: response.trailers,
        }),
      );
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

export const json = { "content-type": "application/json" };

/** The smallest request of each wire. */
export const SMALLEST: Readonly<Record<WireId, { path: string; body: object }>> = {
  "openai-chat": { path: "/v1/chat/completions", body: { model: "m", messages: [{ role: "user", content: "Hi" }] } },
  "openai-responses": { path: "/v1/responses", body: { model: "m", input: "Hi" } },
  anthropic: { path: "/v1/messages", body: { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] } },
  gemini: { path: "/v1beta/models/m:generateContent", body: { contents: [{ role: "user", parts: [{ text: "Hi" }] }] } },
  ollama: { path: "/api/chat", body: { model: "m", stream: false, messages: [{ role: "user", content: "Hi" }] } },
};
/** The same, streamed. */
export const STREAMED: typeof SMALLEST = {
  ...SMALLEST,
  "openai-chat": { ...SMALLEST["openai-chat"], body: { ...SMALLEST["openai-chat"].body, stream: true } },
  "openai-responses": { ...SMALLEST["openai-responses"], body: { ...SMALLEST["openai-responses"].body, stream: true } },
  anthropic: { ...SMALLEST.anthropic, body: { ...SMALLEST.anthropic.body, stream: true } },
  gemini: { ...SMALLEST.gemini, path: "/v1beta/models/m:streamGenerateContent?alt=sse" },
  ollama: { ...SMALLEST.ollama, body: { ...SMALLEST.ollama.body, stream: true } },
};

export const askSmallest = (base: string, wire: WireId, table = SMALLEST, headers: Record<string, string> = {}): Promise<Plain> =>
  ask(base, "POST", table[wire].path, { headers: { ...json, ...headers }, body: JSON.stringify(table[wire].body) });

const text: unknown = expect.any(String);
const anything: unknown = expect.toSatisfy(() => true);
/** The shape of an error in each wire. */
export const ERROR: Readonly<Record<WireId, object>> = {
  "openai-chat": { error: { message: text, type: text, param: null, code: anything } },
  "openai-responses": { error: { message: text, type: text, param: null, code: anything } },
  anthropic: { type: "error", error: { type: text, message: text } },
  gemini: { error: { code: anything, message: text, status: text } },
  ollama: { error: text },
};
