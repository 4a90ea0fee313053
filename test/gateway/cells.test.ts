// Clients of all wires in front of upstreams of all wires, over HTTP, streaming and not: a tool round trip in each cell.
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { Event, Request, Response, WireId } from "../../src/core/nouns.ts";
import { printBody } from "../../src/wires/raw.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import { startServer } from "../servers.ts";
import { ask, remote, startGateway } from "./start.ts";

const question: Request = {
  model: "asked/for:it",
  messages: [{ role: "user", content: [{ type: "text", text: "Write test.txt" }] }],
  tools: [
    {
      name: "write_file",
      description: "Writes",
      parameters: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } },
    },
  ],
  maxTokens: 100,
};
const args = '{"path":"test.txt","content":"Grüße 👋 \\" </tool_call> 1.0"}';
const called: Event[] = [
  { type: "start", id: "a1", model: "m" },
  { type: "thinking-start" },
  { type: "thinking-delta", text: "Hm." },
  { type: "thinking-end" },
  { type: "text", text: "I write it." },
  { type: "tool-start", id: "call_7", index: 0, name: "write_file" },
  ...[...args].map((json): Event => ({ type: "tool-delta", id: "call_7", json })),
  { type: "tool-end", id: "call_7", index: 0, name: "write_file", arguments: JSON.parse(args), json: args },
  { type: "usage", inputTokens: 30, outputTokens: 20 },
  { type: "finish", reason: "tool-calls" },
];
const said: Event[] = [
  { type: "start", id: "a2", model: "m" },
  { type: "text", text: "Done." },
  { type: "usage", inputTokens: 50, outputTokens: 2 },
  { type: "finish", reason: "stop" },
];

/** Calls a tool, then talks about its result. */
async function startUpstream(id: WireId) {
  const wire = getWire(id);
  const requests: Request[] = [];
  const server = await startServer((response, { method, url, headers, body }) => {
    if (method === "GET") return void response.end(JSON.stringify(wire.encodeModels([{ id: "a" }, { id: "b" }])));
    const [path = "", query = ""] = url.split("?");
    const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    const request = wire.decodeRequest({ path, query: Object.fromEntries(new URLSearchParams(query)), headers: given, body });
    requests.push(request);
    const events = request.messages.some(({ role }) => role === "tool") ? said : called;
    if (!request.stream)
      return void response
        .writeHead(200, { "content-type": "application/json" })
        .end(printBody(wire.encodeResponse(collect(events), request)));
    const encoder = wire.createStreamEncoder(request);
    response.writeHead(200, { "content-type": id === "ollama" ? "application/x-ndjson" : "text/event-stream" });
    for (const event of events) response.write(encoder.encode(event));
    response.end(encoder.end());
  });
  return { url: server.url, requests };
}

async function talk(base: string, id: WireId, request: Request): Promise<Response> {
  const wire = getWire(id);
  const { path, headers, body, context } = wire.encodeRequest(request);
  const answer = await ask(base, "POST", path, { headers: { ...headers, "content-type": "application/json" }, body: printBody(body) });
  expect({ status: answer.status, body: answer.status === 200 ? "" : answer.body }).toEqual({ status: 200, body: "" });
  if (!request.stream) return wire.decodeResponse(answer.body, context);
  const decoder = wire.createStreamDecoder(context);
  return collect([...decoder.feed(answer.body), ...decoder.flush()]);
}

const wires = listWires().map(({ id }) => id);

describe.each(wires)("an upstream of %s", (upstreamWire) => {
  test.each(wires.flatMap((id) => [[id, "sse"] as const, [id, false] as const]))("and a client of %s, stream: %s", async (id, stream) => {
    const upstream = await startUpstream(upstreamWire);
    const gateway = await startGateway({ upstreams: { up: remote(upstream.url, upstreamWire) } });
    const asked: Request = { ...question, stream };

    const first = await talk(gateway.url, id, asked);
    const call = first.content.find((part) => part.type === "tool-call");
    expect(call).toMatchObject({ name: "write_file", arguments: JSON.parse(args) });
    expect(first.content.find((part) => part.type === "text")).toMatchObject({ text: "I write it." });
    expect(first.finish?.reason).toBe("tool-calls");
    expect(first.usage).toMatchObject({ inputTokens: 30, outputTokens: 20 });
    if (!call) return;

    const result = { role: "tool" as const, id: call.id, name: "write_file", output: "ok" };
    const second = await talk(gateway.url, id, {
      ...asked,
      messages: [...asked.messages, { role: "assistant", content: first.content }, result],
    });
    expect(second.content).toMatchObject([{ type: "text", text: "Done." }]);
    expect(second.finish?.reason).toBe("stop");
    expect(upstream.requests.map(({ model }) => model)).toEqual(["asked/for:it", "asked/for:it"]);
    expect(upstream.requests[1]?.messages.find(({ role }) => role === "tool")).toMatchObject({ name: "write_file" });
    expect(await gateway.ended(2)).toMatchObject([
      { wire: id, upstream: "up", outcome: "ok", status: 200, calls: { complete: 1 }, usage: { inputTokens: 30 } },
      { outcome: "ok", calls: { complete: 0 } },
    ]);
  });
});
