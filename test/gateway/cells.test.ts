// Every SDK in front of upstreams of every wire, over HTTP, streaming and not: a tool round trip in each of the fifty cells.
import { afterAll, describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { Event, Request, WireId } from "../../src/core/nouns.ts";
import { printBody } from "../../src/wires/raw.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import { startServer } from "../servers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { SDKS } from "./sdks.ts";
import { remote } from "./start.ts";

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

const wires = listWires().map(({ id }) => id);
const passed = new Set<string>();
const cell = (sdk: string, wire: WireId, stream: boolean): string => `${sdk} ${wire} ${stream}`;

describe.each(wires)("an upstream of %s", (wire) => {
  test.each(Object.keys(SDKS).flatMap((sdk) => [[sdk, true] as const, [sdk, false] as const]))(
    "and %s, stream: %s",
    async (sdk, stream) => {
      const upstream = await startUpstream(wire);
      const gateway = await startGateway({ upstreams: { up: remote(upstream.url, wire) } });
      const conversation = SDKS[sdk]!(gateway.url, stream);

      const first = await conversation.ask();
      expect(first).toMatchObject({ text: "I write it.", call: { name: "write_file", args: JSON.parse(args) }, usage: [30, 20] });
      const second = await conversation.tell("ok");
      expect(second).toEqual({ text: "Done.", call: undefined, usage: [50, 2] });

      expect(upstream.requests.map(({ model }) => model)).toEqual(["asked/for:it", "asked/for:it"]);
      const { messages } = upstream.requests[1]!;
      expect(messages.find(({ role }) => role === "tool")).toMatchObject({ name: "write_file" });
      expect(JSON.stringify(messages.find(({ role }) => role === "tool"))).toContain("ok");
      const exchanges = (await gateway.ended(2)).toSorted((a, b) => (a.id < b.id ? -1 : 1)); // an exchange whose calls are checked ends later
      expect(exchanges).toMatchObject([
        { upstream: "up", outcome: "ok", status: 200, calls: { complete: 1 }, usage: { inputTokens: 30 } },
        { outcome: "ok", calls: { complete: 0 } },
      ]);
      passed.add(cell(sdk, wire, stream));
    },
  );
});

afterAll(() => {
  const mark = (sdk: string, wire: WireId): string =>
    [true, false].map((stream) => (passed.has(cell(sdk, wire, stream)) ? "✓" : "✗")).join(" ");
  const rows = [["SDK (streamed, whole)", ...wires], ...Object.keys(SDKS).map((sdk) => [sdk, ...wires.map((wire) => mark(sdk, wire))])];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  console.log(rows.map((row) => row.map((text, column) => text.padEnd(widths[column]!)).join("  ")).join("\n"));
});
