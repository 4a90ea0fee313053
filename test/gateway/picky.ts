// A gateway in front of a server that refuses some requests.
import type { Json, WireId } from "../../src/core/nouns.ts";
import { startServer } from "../servers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { ask, json, remote } from "./start.ts";

export type Body = Record<string, Json>;

const message = {
  id: "m1",
  type: "message",
  role: "assistant",
  model: "m",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
};
const ANSWERS: Readonly<Record<WireId, object>> = {
  "openai-chat": { choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }] },
  "openai-responses": { id: "r", status: "completed", output: [] },
  anthropic: { ...message, usage: { input_tokens: 1, output_tokens: 1 } },
  gemini: { candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP", index: 0 }] },
  ollama: {
    model: "m",
    created_at: "2026-01-01T00:00:00Z",
    message: { role: "assistant", content: "Hi" },
    done: true,
    done_reason: "stop",
  },
};

/** `refuses`: the error for a body that the server does not accept. */
export async function picky(wire: WireId, refuses: (body: Body) => object | undefined, status = 400) {
  const bodies: Body[] = [];
  const upstream = await startServer((response, { method, body }) => {
    if (method === "GET") return void response.writeHead(404).end("{}");
    const said = JSON.parse(body) as Body;
    bodies.push(said);
    const error = refuses(said);
    response.writeHead(error ? status : 200, json).end(JSON.stringify(error ?? ANSWERS[wire]));
  });
  const { url } = await startGateway({ upstreams: { up: remote(upstream.url, wire) }, models: [{ name: "m", upstream: "up" }] });
  return { bodies, post: (path: string, body: object) => ask(url, "POST", path, { headers: json, body: JSON.stringify(body) }) };
}
