// Prompt caches live on stable prefixes: what the upstream got in one turn, it gets again in the next, byte for byte.
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { Event, Message, Request, WireId } from "../../src/core/nouns.ts";
import { createUpstream } from "../../src/gateway/connect.ts";
import { readUrl, routeOf } from "../../src/gateway/routes.ts";
import { printBody } from "../../src/wires/raw.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import { startServer } from "../servers.ts";
import { describeShared } from "../shared.ts";
import { captures } from "../wires/helpers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { ask, remote } from "./start.ts";

const TURNS = 10;
/** The wires whose clients send all thinking back; clients of the other two send only what their own server signed. */
const KEEPS_THINKING: ReadonlySet<string> = new Set(["openai-chat", "gemini", "ollama"]);
const args = '{"b":1.0,"a":12345678901234567890,"odd":"\\u00e9"}';

/** Thinks, talks, and calls two tools at once, with different ids in each turn. */
const turn = (n: number): Event[] => [
  { type: "start", id: `a${n}`, model: "m" },
  { type: "thinking-start" },
  { type: "thinking-delta", text: `Thought ${n}.` },
  { type: "thinking-end" },
  { type: "text", text: `Said ${n}.` },
  ...["read", "odd.name/é"].flatMap((name, index): Event[] => [
    { type: "tool-start", id: `call_${n}_${index}`, index, name },
    { type: "tool-delta", id: `call_${n}_${index}`, json: args },
    { type: "tool-end", id: `call_${n}_${index}`, index, name, arguments: JSON.parse(args), json: args },
  ]),
  { type: "finish", reason: "tool-calls" },
];

test.each(listWires().map(({ id }) => id))("ten turns of a client of %s", async (id) => {
  const bodies: string[] = [];
  const chat = getWire("openai-chat");
  const upstream = await startServer((response, { method, body }) => {
    if (method === "GET") return void response.writeHead(404).end();
    bodies.push(body);
    const request = chat.decodeRequest({ path: "/v1/chat/completions", query: {}, headers: {}, body });
    // The tool names that the upstream gets.
    const names = (request.tools ?? []).map(({ name }) => name);
    const events = turn(bodies.length).map((event) => ("index" in event ? { ...event, name: names[event.index] ?? "" } : event));
    const encoder = chat.createStreamEncoder(request);
    response
      .writeHead(200, { "content-type": "text/event-stream" })
      .end(events.map((event) => encoder.encode(event)).join("") + encoder.end());
  });
  const { url } = await startGateway({ upstreams: { up: remote(upstream.url) } });
  const wire = getWire(id);
  const tools = ["read", "odd.name/é"].map((name) => ({
    name,
    description: "Does",
    parameters: { type: "object", properties: { a: { type: "number" } } },
  }));
  const messages: Message[] = [
    { role: "system", content: [{ type: "text", text: "Be brief." }] },
    { role: "user", content: [{ type: "text", text: "Go on." }] },
  ];
  for (let n = 1; n <= TURNS; n++) {
    const request: Request = { model: "m", stream: "sse", maxTokens: 100, tools, messages: [...messages] };
    const { path, headers, body, context } = wire.encodeRequest(request);
    const answer = await ask(url, "POST", path, { headers: { ...headers, "content-type": "application/json" }, body: printBody(body) });
    expect(answer.status).toBe(200);
    const decoder = wire.createStreamDecoder(context);
    const { content } = collect([...decoder.feed(answer.body), ...decoder.flush()]);
    messages.push({ role: "assistant", content });
    for (const part of content)
      if (part.type === "tool-call") messages.push({ role: "tool", id: part.id, name: part.name, output: `result ${n}` });
  }

  const split = (body: string): [messages: string, rest: string] => {
    const { messages, ...rest } = JSON.parse(body) as { messages: unknown };
    return [JSON.stringify(messages).slice(0, -1), JSON.stringify(rest)];
  };
  for (const [n, body] of bodies.entries()) {
    if (n === 0) continue;
    const [[before, settings], [after, again]] = [split(bodies[n - 1]!), split(body)];
    expect(after.startsWith(before)).toBe(true);
    expect(again).toBe(settings);
    if (KEEPS_THINKING.has(id)) expect(body).toContain(`Thought ${n}.`);
  }
  expect(bodies).toHaveLength(TURNS);
});

describeShared("captured clients: what two consecutive requests share is sent as the same bytes", () => {
  const HISTORY = { "openai-chat": "messages", "openai-responses": "input", anthropic: "messages", gemini: "contents", ollama: "messages" };
  const said = (body: unknown, wire: WireId): unknown[] => (body as Record<string, unknown[]>)[HISTORY[wire]] ?? [];
  /** Roles and contents without their shape: a client may send a text first as a string, later as a list of parts. */
  const words = ({ messages }: Request): string[] =>
    messages.map((message) => {
      const texts = message.role === "tool" ? [message.output] : message.content.map((part) => ("text" in part ? part.text : part.type));
      return JSON.stringify([message.role, texts]);
    });
  const sent = captures<object>(({ method, body }) => method === "POST" && typeof body === "object").flatMap((capture) => {
    const visit = { method: "POST", ...readUrl(capture.path), headers: capture.headers };
    const route = routeOf(visit);
    if (route.kind !== "generate") return [];
    const input = { path: route.path, query: visit.query, headers: capture.headers, body: capture.body };
    return [{ file: capture.file, wire: route.wire, request: getWire(route.wire).decodeRequest(input) }];
  });
  const pairs = sent.flatMap((before) =>
    sent.flatMap((after) => {
      const [earlier, later] = [words(before.request), words(after.request)];
      const goesOn =
        dirname(before.file) === dirname(after.file) && later.length > earlier.length && earlier.every((said, n) => said === later[n]);
      return goesOn ? [{ before, after, title: `${before.file} and ${after.file}` }] : [];
    }),
  );

  test("there are captures of every client", () => {
    const clients = new Set(pairs.map(({ before }) => dirname(before.file)));
    for (const client of ["gemini-cli", "claude-code", "codex", "opencode-openai-compatible"]) expect(clients).toContain(client);
  });

  // A request to its own wire is sent as the client wrote it, and the client may move its cache marks.
  test.each(pairs)("$title", ({ before, after }) => {
    for (const wire of listWires().filter(({ id }) => id !== before.wire)) {
      const [earlier, later] = [before, after].map(({ request }) => said(wire.encodeRequest(request).body, wire.id));
      expect(later!.slice(0, earlier!.length).map((item) => JSON.stringify(item))).toEqual(earlier!.map((item) => JSON.stringify(item)));
    }
  });
});

test("codex's two leading developer messages are merged for templates that accept one system text", async () => {
  const upstream = await startServer((response) => void response.writeHead(400).end("{}"));
  const { url } = await startGateway({ upstreams: { up: createUpstream("openai-chat", { urls: [`${upstream.url}/v1`] }) } });
  const text = (role: string, words: string) => ({ type: "message", role, content: [{ type: "input_text", text: words }] });
  const input = [text("developer", "One."), text("developer", "Two."), text("user", "Hi")];
  await ask(url, "POST", "/v1/responses", { headers: { "content-type": "application/json" }, body: JSON.stringify({ model: "m", input }) });
  const { messages } = JSON.parse(upstream.seen.find(({ method, url }) => method === "POST" && url.includes("chat"))?.body ?? "{}");
  expect(messages).toEqual([
    { role: "system", content: "One.\n\nTwo." },
    { role: "user", content: "Hi" },
  ]);
});
