// An upstream that follows a script, in one wire, and in any manner. It keeps the requests it got.
import { once } from "node:events";
import { createServer } from "node:http";
import * as anthropic from "./anthropic.mjs";
import { writes } from "./framing.mjs";
import * as gemini from "./gemini.mjs";
import * as ollama from "./ollama.mjs";
import * as chat from "./openai-chat.mjs";
import * as responses from "./openai-responses.mjs";
import { TEXTS } from "./text.mjs";

/** The wires of an upstream of this kind, and what the gateway is told about its models. */
export const configOf = (kind) => ({ speaks: TEXTS[kind]?.speaks ?? kind, rule: TEXTS[kind]?.rule });

export const WIRES = { "openai-chat": chat, "openai-responses": responses, anthropic, gemini, ollama };

const MODEL = "test-model";
/** Its list of models, for any client. */
const MODELS = {
  "/v1/models": { object: "list", data: [{ id: MODEL, object: "model", created: 1, owned_by: "us" }] },
  "/v1beta/models": { models: [{ name: `models/${MODEL}`, supportedGenerationMethods: ["generateContent"] }] },
  "/api/tags": { models: [{ name: MODEL, model: MODEL }] },
  "/api/version": { version: "0.13.0" },
};

/**
 * `script` gets `{ text, body, tools, streamed, n }` (the request as text and parsed, the names of its tools, how many requests came
 * before) and returns `{ thinking, text, calls, manner }`, or `{ status, error }`; `delayMs` before the answer, `pauseMs` after its first
 * piece or, with `pauseInside`, in the middle.
 */
export async function startUpstream(wireId, script) {
  const wire = WIRES[wireId] ?? TEXTS[wireId];
  const asked = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://upstream");
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const isOurs = typeof wire.path === "string" ? pathname === wire.path : wire.path.test(pathname);
    if (request.method !== "POST" || !isOurs) {
      const list = wire.lists?.[pathname] ?? listed(wireId, pathname);
      return void response.writeHead(list ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(list ?? {}));
    }
    const body = JSON.parse(text);
    const ask = { text, body, headers: request.headers, ...wire.read(body, pathname), n: asked.length };
    asked.push(ask);
    const answer = { ...script(ask), n: ask.n };
    ask.answer = answer;
    await send(response, wire, ask, answer);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = wire.url(`http://127.0.0.1:${server.address().port}`);
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, asked, close };
}

function listed(wireId, pathname) {
  if (pathname.startsWith("/api/")) return wireId === "ollama" ? MODELS[pathname] : undefined;
  if (pathname === "/v1/models" && wireId === "anthropic") return { data: [{ type: "model", id: MODEL }], has_more: false };
  return pathname.startsWith(wireId === "gemini" ? "/v1beta" : "/v1/") ? MODELS[pathname] : undefined;
}

async function send(response, wire, { streamed }, answer) {
  const { manner = {}, status = 200, delayMs = 0, pauseMs = 0, pauseInside = false } = answer;
  const json = { "content-type": "application/json" };
  if (delayMs > 0) await later(delayMs);
  if (status !== 200) return void response.writeHead(status, json).end(JSON.stringify(wire.error(answer)));
  if (!streamed || manner.streamed === false) return void response.writeHead(200, json).end(JSON.stringify(wire.whole(answer)));
  const type = wire === ollama ? "application/x-ndjson" : manner.array ? "application/json" : "text/event-stream";
  response.writeHead(200, { "content-type": type });
  response.socket.setNoDelay(true);
  const pieces = writes(wire.stream(answer, manner), manner);
  const pauseAt = pauseInside ? pieces.length >> 1 : 0;
  for (const [i, piece] of pieces.entries()) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
    if (i === pauseAt && pauseMs > 0) await later(pauseMs);
    else if (i % 8 === 0) await new Promise(setImmediate); // so that it is sent before the next is written
  }
  if (answer.cut === "gone") response.destroy();
  else response.end();
}

const drained = (response) =>
  new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.once("drain", done).once("close", done);
  });

const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
