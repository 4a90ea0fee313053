// Streams to clients: no silence, no false end, nothing held back, nothing left running.
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/nouns.ts";
import { listWires } from "../../src/wires/registry.ts";
import { answering, nobody, signalOf, sse, startServer } from "../servers.ts";
import { CANARIES, startUnlocked as startGateway } from "./recorded.ts";
import { askSmallest, ERROR, hello, json, remote, SMALLEST, STREAMED, scripted } from "./start.ts";

const wires = listWires().map(({ id }) => id);
const chunk = (delta: object, finish: string | null = null) => ({
  id: "c",
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
});

const post = (url: string, id: (typeof wires)[number], signal?: AbortSignal) =>
  fetch(url + STREAMED[id].path, { method: "POST", headers: json, body: JSON.stringify(STREAMED[id].body), ...(signal ? { signal } : {}) });

test.each(wires)("%s: the headers keep proxies from buffering the stream", async (id) => {
  const { url } = await startGateway({ upstreams: { up: scripted() } });
  const { status, headers } = await askSmallest(url, id, STREAMED, { "accept-encoding": "gzip" });
  expect({ status, ...headers }).toMatchObject({ status: 200, "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" });
  expect(headers["content-type"]).toContain(id === "ollama" ? "application/x-ndjson" : "text/event-stream");
  expect(headers).not.toHaveProperty("content-encoding");
  expect(headers["x-request-id"]).toMatch(/^req_/);
});

test("anthropic: message_start estimates the prompt's size until it is counted, and message_delta has the count", async () => {
  const content = "word ".repeat(400);
  const ask = async (events: Event[]) => {
    const { url } = await startGateway({ upstreams: { up: scripted(events) } });
    const body = JSON.stringify({ ...STREAMED.anthropic.body, messages: [{ role: "user", content }] });
    const text = await (await fetch(`${url}/v1/messages`, { method: "POST", headers: json, body })).text();
    return [...text.matchAll(/"input_tokens":(\d+)/g)].map(([, count]) => Number(count));
  };
  expect(await ask(hello)).toEqual([504, 3]);
  const [start, counted] = [hello[0]!, { type: "usage", inputTokens: 450 } as Event];
  expect(await ask([start, counted, ...hello.slice(1, 2), hello.at(-1)!])).toEqual([450, 450]);
});

test.each(wires)("%s: an HTML page instead of a stream is a 502 with its first words, with and without streaming", async (id) => {
  const upstream = await startServer(answering("<html>Log in</html>", { "content-type": "text/html" }));
  const { url } = await startGateway({ upstreams: { up: remote(upstream.url) } });
  for (const table of [STREAMED, SMALLEST]) {
    const { status, body } = await askSmallest(url, id, table);
    expect([status, body]).toEqual([502, expect.stringContaining("the server sent an invalid answer: <html>Log in")]);
  }
});

test("gemini without alt=sse is one JSON array", async () => {
  const { url } = await startGateway({ upstreams: { up: scripted() } });
  const answer = await fetch(`${url}/v1beta/models/m:streamGenerateContent`, {
    method: "POST",
    headers: json,
    body: JSON.stringify(SMALLEST.gemini.body),
  });
  expect(answer.headers.get("content-type")).toContain("application/json");
  expect(await answer.json()).toMatchObject([{ candidates: [{ content: { parts: [{ text: "Hello" }] } }] }, {}]);
});

describe("no silence", () => {
  test.each(wires)("%s: status and headers are sent together with the upstream's", async (id) => {
    const [go, upstream] = [
      signalOf(),
      await startServer(async (response, { method }) => {
        if (method === "GET") return void response.writeHead(404).end();
        response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "up-1" }).flushHeaders();
        await go.promise;
        response.end(sse(chunk({ content: "Hello" }, "stop"), "[DONE]"));
      }),
    ];
    const { url } = await startGateway({ upstreams: { up: remote(upstream.url) } });
    const answer = await post(url, id); // resolves with the headers, before the body begins
    expect(answer.headers.get("x-request-id")).toBe("up-1");
    go.resolve();
    expect(await answer.text()).toContain("Hello");
  });

  test.each(wires)("%s: if an upstream does not answer, headers and heartbeats are sent all the same", async (id) => {
    const go = signalOf();
    const upstream = await startServer(async (response) => {
      await go.promise;
      response.writeHead(200, { "content-type": "text/event-stream" }).end(sse(chunk({ content: "Hello" }, "stop"), "[DONE]"));
    });
    const { url } = await startGateway({
      upstreams: { up: remote(upstream.url) },
      models: [{ name: "m", upstream: "up" }],
      patience: { headersMs: 20, heartbeatMs: 20 },
    });
    const answer = await post(url, id);
    expect(answer.status).toBe(200);
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let beats = 0; beats < 3; beats++) text += (await reader.read()).value;
    expect(text).not.toContain("Hello");
    go.resolve();
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    expect(text).toContain("Hello");
  });

  test.each(wires)("%s: an error after the headers has the wire's own form", async (id) => {
    const go = signalOf();
    const upstream = await startServer(async (response) => {
      await go.promise;
      response.writeHead(500).end('{"error":{"message":"it broke"}}');
    });
    const { url } = await startGateway({
      upstreams: { up: remote(upstream.url) },
      models: [{ name: "m", upstream: "up" }],
      patience: { headersMs: 10 },
    });
    const answer = await post(url, id);
    go.resolve();
    expect(await answer.text()).toContain("it broke");
  });
});

describe("errors before the stream begins have a status", () => {
  test.each(wires)("%s", async (id) => {
    const upstream = await startServer(
      answering('{"error":{"message":"slow down"}}', {
        status: 429,
        "retry-after": "7",
        "x-request-id": "up-1",
        "x-should-retry": "false",
      }),
    );
    const gateway = await startGateway({ upstreams: { up: remote(upstream.url) } });
    for (const table of [SMALLEST, STREAMED]) {
      const { status, headers, body } = await askSmallest(gateway.url, id, table);
      expect({ status, ...headers }).toMatchObject({
        status: 429,
        "retry-after": "7",
        "x-request-id": "up-1",
        "x-should-retry": "false",
      });
      expect(JSON.parse(body)).toMatchObject(ERROR[id]);
    }
    expect(await gateway.ended(2)).toMatchObject([{ outcome: "error", status: 429, error: { code: "rate-limit" } }, {}]);
  });
  test("an upstream's 401 becomes a 502: the client's key was right, and a retry does not help", async () => {
    const upstream = await startServer(answering(`{"error":{"message":"bad key ${CANARIES.upstream}"}}`, { status: 401 }));
    const { url } = await startGateway({ upstreams: { up: remote(upstream.url, "openai-chat", CANARIES.upstream) } });
    for (const table of [SMALLEST, STREAMED]) {
      const { status, headers, body } = await askSmallest(url, "anthropic", table);
      expect(status).toBe(502);
      expect(headers["x-should-retry"]).toBe("false");
      expect(body).not.toContain("canary");
    }
  });
  test("an upstream that cannot be reached is a 503, or the wire's own status for it", async () => {
    const { url } = await startGateway({ upstreams: { up: remote(nobody) } });
    expect((await askSmallest(url, "gemini", STREAMED)).status).toBe(503);
    expect((await askSmallest(url, "anthropic", STREAMED)).status).toBe(529);
  });
  test("a prompt that is too long is reported to codex in the stream, and to others with a 400", async () => {
    const message = "This model's maximum context length is 1000 tokens. However, your messages resulted in 2000 tokens.";
    const upstream = await startServer(answering(JSON.stringify({ error: { message, code: "context_length_exceeded" } }), { status: 400 }));
    const { url } = await startGateway({ upstreams: { up: remote(upstream.url) } });
    const codex = await askSmallest(url, "openai-responses", STREAMED);
    expect(codex).toMatchObject({ status: 200, headers: { "content-type": expect.stringContaining("text/event-stream") } });
    expect(codex.body).toMatch(/^event: response.*"context_length_exceeded"/s);
    const claude = await askSmallest(url, "anthropic", STREAMED);
    expect(claude.status).toBe(400);
    expect(claude.body).toContain("prompt is too long: 2000 tokens > 1000 maximum");
  });
});

describe("if the client leaves", () => {
  test.each(["while it streams", "before the upstream answers"])("%s: the upstream stops", async (when) => {
    const [gone, arrived] = [signalOf(), signalOf()];
    const upstream = await startServer((response, { method }) => {
      if (method === "GET") return void response.writeHead(404).end();
      response.on("close", () => gone.resolve());
      arrived.resolve();
      if (when === "while it streams")
        response.writeHead(200, { "content-type": "text/event-stream" }).write(sse(chunk({ content: "Hello" })));
    });
    const gateway = await startGateway({ upstreams: { up: remote(upstream.url) } });
    const controller = new AbortController();
    const answer = post(gateway.url, "openai-chat", controller.signal);
    if (when === "while it streams") await (await answer).body!.getReader().read();
    await arrived.promise;
    controller.abort();
    await answer.catch(() => {});
    await gone.promise;
    expect((await gateway.ended(1))[0]).toMatchObject({ outcome: "aborted" });
  });

  test("without streaming, too", async () => {
    const [gone, arrived] = [signalOf(), signalOf()];
    const upstream = await startServer((response, { method }) => {
      if (method === "GET") return void response.writeHead(404).end();
      response.on("close", () => gone.resolve());
      arrived.resolve();
    });
    const gateway = await startGateway({ upstreams: { up: remote(upstream.url) } });
    const controller = new AbortController();
    const { path, body } = SMALLEST["openai-chat"];
    const answer = fetch(gateway.url + path, { method: "POST", headers: json, body: JSON.stringify(body), signal: controller.signal });
    await arrived.promise;
    controller.abort();
    await expect(answer).rejects.toThrow();
    await gone.promise;
    expect((await gateway.ended(1))[0]).toMatchObject({ outcome: "aborted", status: expect.any(Number) });
  });
});

test("a client that does not read slows the upstream down, and gets everything in the end", async () => {
  const text = "x".repeat(64 * 1024);
  const pieces = 800; // 50 MiB: more than all buffers on the way hold
  let made = 0;
  async function* long(): AsyncGenerator<Event> {
    yield { type: "start" };
    for (; made < pieces; made++) yield { type: "text", text };
    yield { type: "finish", reason: "stop" };
  }
  const gateway = await startGateway({ upstreams: { up: scripted(long) } });
  const socket = connect(gateway.port, "127.0.0.1");
  const body = JSON.stringify(STREAMED["openai-chat"].body);
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await once(socket, "readable");
  // Until nothing moves any more, turn by turn of the event loop.
  for (let [before, same] = [-1, 0]; same < 200; before = made) {
    await new Promise(setImmediate);
    same = before === made ? same + 1 : 0;
  }
  expect(made).toBeLessThan(pieces);
  let length = 0;
  for await (const part of socket as AsyncIterable<Buffer>) length += part.length;
  expect(made).toBe(pieces);
  expect(length).toBeGreaterThan(pieces * text.length);
});

test("a client that takes nothing of its answer is disconnected, and the model is free again", async () => {
  const freed = signalOf();
  async function* endless(): AsyncGenerator<Event> {
    try {
      yield { type: "start" };
      for (;;) yield { type: "text", text: "x".repeat(64 * 1024) };
    } finally {
      freed.resolve();
    }
  }
  const gateway = await startGateway({ upstreams: { up: scripted(endless) }, patience: { readMs: 50 } });
  const socket = connect(gateway.port, "127.0.0.1");
  const body = JSON.stringify(STREAMED["openai-chat"].body);
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await once(socket, "readable"); // it is never read
  await freed.promise;
  expect((await gateway.ended(1))[0]).toMatchObject({ outcome: "aborted", status: 200 });
  socket.destroy();
});

test("a client that reads too slowly puts the source on hold once, and an answer that ends meanwhile lets its source end, too", async () => {
  const asked: string[] = [];
  const engine = scripted();
  engine.tell = (_request, _options, hear) => {
    const texts: Event[] = Array.from({ length: 20 }, () => ({ type: "text", text: "x".repeat(1 << 17) })); // each more than is buffered
    setImmediate(() => hear([{ type: "start" }, ...texts, { type: "finish", reason: "stop" }]));
    return { pause: () => asked.push("pause"), resume: () => asked.push("resume"), stop: () => asked.push("stop") };
  };
  const { url } = await startGateway({ upstreams: { up: engine } });
  await (await post(url, "openai-chat")).text();
  expect(asked).toEqual(["pause", "resume"]);
});

describe("requests sent before the last one is answered", () => {
  const body = JSON.stringify(STREAMED["openai-chat"].body);
  const request = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

  test("are answered in turn", async () => {
    const { port, ended } = await startGateway({ upstreams: { up: scripted() } });
    const socket = connect(port, "127.0.0.1");
    socket.write(request.repeat(3));
    await ended(3);
    let heard = "";
    for await (const part of socket as AsyncIterable<Buffer>) {
      heard += part;
      if (heard.split("[DONE]").length === 4) break;
    }
    expect(heard.match(/HTTP\/1.1 200|"Hello"|\[DONE\]/g)).toEqual(Array(3).fill(["HTTP/1.1 200", '"Hello"', "[DONE]"]).flat());
  });

  test("reach no model once their client has left", async () => {
    async function* endless(): AsyncGenerator<Event> {
      yield* hello.slice(0, 2);
      await new Promise(() => {});
    }
    const engine = scripted(endless);
    const gateway = await startGateway({ upstreams: { up: engine } });
    const socket = connect(gateway.port, "127.0.0.1");
    socket.write(request.repeat(3));
    await once(socket, "data");
    socket.destroy();
    await gateway.ended(1);
    await gateway.close({ graceMs: 60_000 }); // none is left to wait for
    expect(engine.requests).toHaveLength(1);
    expect(gateway.exchanges).toMatchObject([{ outcome: "aborted" }]);
  });
});

test("a truncated call is never closed, and length wins over tool-calls", async () => {
  const cut: Event[] = [
    { type: "start" },
    { type: "tool-start", id: "a", index: 0, name: "f" },
    { type: "tool-delta", id: "a", json: '{"a":"b' },
    { type: "tool-end", id: "a", index: 0, name: "f", arguments: { a: "b" }, truncated: true },
    { type: "finish", reason: "length" },
  ];
  const gateway = await startGateway({ upstreams: { up: scripted(() => cut) } });
  expect((await askSmallest(gateway.url, "openai-chat", STREAMED)).body).toContain('"finish_reason":"length"');
  expect((await askSmallest(gateway.url, "anthropic", STREAMED)).body).toContain('"stop_reason":"max_tokens"');
  expect(await gateway.ended(2)).toMatchObject([{ calls: { complete: 0, truncated: 1, malformed: 0 } }, {}]);
});

test("closing waits for streams as long as it is told to, then ends them", async () => {
  const begun = signalOf();
  async function* endless(): AsyncGenerator<Event> {
    yield* hello.slice(0, 2);
    begun.resolve();
    await new Promise(() => {});
  }
  const gateway = await startGateway({ upstreams: { up: scripted(endless) } });
  const answer = await post(gateway.url, "openai-chat");
  await begun.promise;
  const rest = answer.text();
  await gateway.close();
  expect(await rest).toContain('"error"');
});
