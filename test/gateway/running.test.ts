// A running gateway: it changes without interruption, and counts what it does.
import { expect, test } from "vitest";
import type { Event } from "../../src/core/nouns.ts";
import { createGateway } from "../../src/gateway/gateway.ts";
import { createMetrics } from "../../src/gateway/metrics.ts";
import { closeLater, signalOf } from "../servers.ts";
import { ask, askSmallest, hello, json, STREAMED, scripted } from "./start.ts";

const stream = (url: string) =>
  fetch(url + STREAMED["openai-chat"].path, { method: "POST", headers: json, body: JSON.stringify(STREAMED["openai-chat"].body) });

test("a change drops no stream, and the old upstream is closed when its last stream has ended", async () => {
  const [go, closed] = [signalOf(), signalOf()];
  async function* slow(): AsyncGenerator<Event> {
    yield { type: "start" };
    yield { type: "text", text: "old " };
    await go.promise;
    yield { type: "text", text: "to the end" };
    yield { type: "finish", reason: "stop" };
  }
  const old = { ...scripted(slow), close: async () => closed.resolve() };
  const gateway = createGateway({ upstreams: { up: old }, port: 0 });
  closeLater(() => gateway.close());
  const { url } = await gateway.listen();
  const answer = await stream(url);
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader.read()).value ?? "";

  let isClosed = false;
  closed.promise.then(() => {
    isClosed = true;
  });
  gateway.update({ upstreams: { up: scripted() }, keys: ["k"] });
  expect((await askSmallest(url, "openai-chat")).status).toBe(401);
  expect((await askSmallest(url, "openai-chat", STREAMED, { "x-api-key": "k" })).body).toContain("Hello");
  expect(isClosed).toBe(false);

  go.resolve();
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  expect(text).toContain("to the end");
  await closed.promise;
});

test.each<[unknown, string]>([
  [{}, "upstreams.NAME must be an engine: createRemote({ wire, url }) makes one"],
  [{ upstreams: { local: "http://127.0.0.1:8000/v1" } }, "upstreams.local must be an engine"],
])("an upstream must be an engine: %j", (options, words) => {
  expect(() => createGateway(options as never)).toThrow(words);
});

test("a change that would open the gateway to everyone is refused", async () => {
  const gateway = createGateway({ upstreams: {}, host: "0.0.0.0", keys: ["k"], port: 0 });
  closeLater(() => gateway.close());
  expect(() => gateway.update({ upstreams: {}, keys: [] })).toThrow("--insecure");
});

test.each(["/metrics", "/v1/nothing"])("an unknown endpoint is a 404 for the path, not for a model: %s", async (path) => {
  const gateway = createGateway({ upstreams: { up: scripted() }, port: 0 });
  closeLater(() => gateway.close());
  const { url } = await gateway.listen();
  const { status, body } = await ask(url, "GET", path);
  expect([status, JSON.parse(body)]).toMatchObject([404, { error: { code: "unknown_url" } }]);
});

test("a file upload gets the 404 of its path, whatever its type", async () => {
  const gateway = createGateway({ upstreams: { up: scripted() }, port: 0 });
  closeLater(() => gateway.close());
  const { url } = await gateway.listen();
  const headers = { "content-type": "multipart/form-data; boundary=x" };
  const { status, body } = await ask(url, "POST", "/v1/files", { headers, body: "--x--" });
  expect([status, body]).toEqual([404, expect.stringContaining("no files, batches")]);
});

test("an Azure client's model is read from the path", async () => {
  const gateway = createGateway({ upstreams: { up: scripted([{ type: "start" }, { type: "finish", reason: "stop" }]) }, port: 0 });
  closeLater(() => gateway.close());
  const { url } = await gateway.listen();
  const body = JSON.stringify({ messages: [{ role: "user", content: "Hi" }] });
  const answer = await ask(url, "POST", "/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21", { headers: json, body });
  expect(JSON.parse(answer.body)).toMatchObject({ object: "chat.completion", model: "gpt-4o" });
});

test("metrics count requests and calls, under labels that no client can make up", async () => {
  const called: Event[] = [
    { type: "tool-start", id: "a", index: 0, name: "f" },
    { type: "tool-delta", id: "a", json: "{" },
    { type: "tool-delta", id: "a", json: "}" },
    { type: "tool-end", id: "a", index: 0, name: "f", arguments: {}, json: "{}" },
    { type: "malformed", raw: "x", code: "empty", reason: "empty" },
  ];
  const metrics = createMetrics();
  const ended = signalOf();
  let open = 3;
  const gateway = createGateway({
    upstreams: { up: scripted([...called, ...hello.slice(2)]) },
    models: [{ name: "known-*", upstream: "up" }],
    port: 0,
    metrics,
    onExchange: () => void (--open === 0 && ended.resolve()),
  });
  closeLater(() => gateway.close());
  const { url } = await gateway.listen();
  for (const model of ["known-1", "canary"]) {
    await ask(url, "POST", "/v1/chat/completions", { headers: json, body: JSON.stringify({ ...STREAMED["openai-chat"].body, model }) });
  }
  await ask(url, "POST", "/v1/messages", { headers: json, body: "{" });
  await ended.promise;
  const { body, headers } = await ask(url, "GET", "/metrics");
  expect(headers["content-type"]).toContain("text/plain");
  const place = 'wire="openai-chat",upstream="up",rule="known-*"';
  for (const line of [
    `dragoman_requests_total{${place},kind="generate",outcome="ok"} 1`,
    `dragoman_calls_total{${place},outcome="complete"} 1`,
    `dragoman_calls_total{${place},outcome="malformed"} 1`,
    `dragoman_call_fragments_total{${place}} 2`,
    `dragoman_tokens_total{${place},direction="in"} 3`,
    `dragoman_exchange_seconds_bucket{le="600",${place}} 1`,
    `dragoman_exchange_seconds_bucket{le="+Inf",${place}} 1`,
    `dragoman_exchange_seconds_count{${place}} 1`,
    'dragoman_errors_total{wire="anthropic",upstream="",code="bad-request"} 1',
    "dragoman_streams_open 0",
  ]) {
    expect(body).toContain(line);
  }
  expect(body).not.toContain("canary");
  expect((await ask(url, "GET", "/metrics")).body).toBe(body); // reading the metrics does not change them
});
