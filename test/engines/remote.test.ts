// The engine that speaks a wire over HTTP, against real servers on loopback.
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { createBrotliCompress, createDeflate, createGzip, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { Event, Request, WireId } from "../../src/core/nouns.ts";
import type { Answer, GenerateOptions } from "../../src/engines/engine.ts";
import { EngineError } from "../../src/engines/error.ts";
import { baseOf } from "../../src/engines/http/address.ts";
import { createRemote, type Remote, type RemoteOptions } from "../../src/engines/remote.ts";
import { printBody } from "../../src/wires/raw.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import { all } from "../events.ts";
import { answering, closeLater, nobody, signalOf, sse, startServer } from "../servers.ts";

const request: Request = { model: "m", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }], stream: "sse" };

const remote = (options: Partial<RemoteOptions> & { url: RemoteOptions["url"] }): Remote => {
  const engine = createRemote({ wire: "openai-chat", ...options });
  closeLater(() => engine.close());
  return engine;
};

const eventsOf = (engine: Remote, asked = request, options: GenerateOptions = {}): Promise<Event[]> => all(engine.generate(asked, options));

const chunk = (delta: object, finish: string | null = null) => ({
  id: "c1",
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const said = [
  { type: "start", id: "a1", model: "m" },
  { type: "text", text: "Grüße 👋" },
  { type: "tool-start", id: "call_1", index: 0, name: "f" },
  { type: "tool-delta", id: "call_1", json: '{"a":1.0}' },
  { type: "tool-end", id: "call_1", index: 0, name: "f", arguments: { a: 1 }, json: '{"a":1.0}' },
  { type: "usage", inputTokens: 3, outputTokens: 5 },
  { type: "finish", reason: "tool-calls" },
] satisfies Event[];
const asked: Request = { ...request, tools: [{ name: "f", parameters: { type: "object", properties: { a: { type: "number" } } } }] };

describe.each(listWires().map((wire) => [wire.id, wire] as const))("%s", (id, wire) => {
  const streamed = () => {
    const encoder = wire.createStreamEncoder({ ...asked, stream: id === "ollama" ? "ndjson" : "sse", extra: USAGE });
    return said.map((event) => encoder.encode(event)).join("") + encoder.end();
  };
  const whole = () => printBody(wire.encodeResponse(collect(said), asked));

  const forms = ["stream", "whole", "stream of another type", "whole of another type, instead of a stream"];
  test.each(forms)("an answer, %s, gives its content and finish reason", async (form) => {
    const [own, other] = id === "ollama" ? ["application/x-ndjson", "text/plain"] : ["text/event-stream", "application/json"];
    const isWhole = form.startsWith("whole");
    const type = form === "whole" ? "application/json" : form === "stream" ? own : isWhole ? "text/plain" : other;
    const server = await startServer((response) => {
      response.writeHead(200, { "content-type": type });
      // Byte by byte, so that characters are cut, too.
      for (const byte of Buffer.from(isWhole ? whole() : streamed())) response.write(Buffer.of(byte));
      response.end();
    });
    const events = await eventsOf(remote({ wire: id, url: server.url, key: "sk-secret" }), {
      ...asked,
      stream: form !== "whole" && "sse",
    });
    expect(events.filter(({ type }) => type === "finish")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool-calls" });
    const { content, usage } = collect(events);
    expect(content).toMatchObject([
      { type: "text", text: "Grüße 👋" },
      { type: "tool-call", name: "f", arguments: { a: 1 } },
    ]);
    expect(usage).toMatchObject({ inputTokens: 3, outputTokens: 5 });
    const [seen] = server.seen;
    expect(seen?.headers).toMatchObject({ "accept-encoding": "identity", "content-type": "application/json" });
    expect([seen?.headers.authorization, seen?.headers["x-api-key"], seen?.headers["x-goog-api-key"]].filter(Boolean)).toHaveLength(1);
    expect(seen?.url).not.toContain("sk-secret");
  });

  test("the models are listed", async () => {
    const server = await startServer(answering(JSON.stringify(wire.encodeModels([{ id: "a/b:c" }, { id: "d" }]))));
    expect((await remote({ wire: id, url: server.url }).models()).map((model) => model.id)).toEqual(["a/b:c", "d"]);
    expect(server.seen[0]?.url.split("?")[0]).toBe(wire.modelsPath);
  });

  test("an error is passed on, with its retry time", async () => {
    const { status, body } = wire.encodeError({ code: "rate-limit", message: "slow down" });
    const server = await startServer(answering(JSON.stringify(body), { status, "retry-after": "7" }));
    const events = await eventsOf(remote({ wire: id, url: server.url }));
    expect(events).toEqual([
      { type: "finish", reason: "error", error: { code: "rate-limit", message: "slow down", status: 429, retryAfterMs: 7000 } },
    ]);
  });
});
/** OpenAI chat reports usage only on request. */
const USAGE: NonNullable<Request["extra"]> = [{ wire: "openai-chat", kind: "stream_options", data: { include_usage: true } }];

describe("errors", () => {
  test("a key that a server echoes is removed from every field of its error", async () => {
    const key = "sk-canary-0123456789";
    const error = { message: `no: ${key}`, type: "invalid_request_error", code: `bad ${key}`, param: key };
    const server = await startServer((response) => void response.writeHead(400).end(JSON.stringify({ error })));
    const events = await eventsOf(remote({ url: server.url, key }));
    expect(JSON.stringify(events)).not.toContain(key);
    expect(events.at(-1)).toMatchObject({ type: "finish", error: { native: "bad [secret]", param: "[secret]" } });
  });

  test("an upstream's 401 is our fault, and its echo of the key is removed", async () => {
    const server = await startServer(answering('{"error":{"message":"bad key sk-canary-1"}}', { status: 401 }));
    const [event] = await eventsOf(remote({ url: server.url, key: "sk-canary-1" }));
    expect(event).toMatchObject({
      type: "finish",
      error: { code: "upstream", message: "the upstream refused the key that it was given: bad key [secret]" },
    });
  });
  test("also in the middle of a stream", async () => {
    const server = await startServer(answering(sse({ error: { message: "key sk-canary-1" } }), { "content-type": "text/event-stream" }));
    expect((await eventsOf(remote({ url: server.url, key: "sk-canary-1" }))).at(-1)).toMatchObject({ error: { message: "key [secret]" } });
  });
  test("a server that is not running is reported as such", async () => {
    const [event] = await eventsOf(remote({ url: `${nobody}/v1` }));
    expect(event).toMatchObject({ type: "finish", error: { code: "overloaded", message: expect.stringContaining("not running") } });
  });
  test.each([false, "sse"] as const)("an HTML page is an error with its first words, stream: %s", async (stream) => {
    const server = await startServer(answering("<html>Log in", { "content-type": "text/html" }));
    const error = { code: "upstream", message: "the server sent an invalid answer: <html>Log in" };
    expect(await eventsOf(remote({ url: server.url }), { ...request, stream })).toMatchObject([{ type: "finish", error }]);
  });
  test.each([false, "sse"] as const)("an empty answer is an error, stream: %s", async (stream) => {
    const server = await startServer(answering("", { status: 204 }));
    const error = { code: "upstream", message: "the server sent no answer" };
    expect(await eventsOf(remote({ url: server.url }), { ...request, stream })).toMatchObject([{ type: "finish", error }]);
  });
  test.each([301, 302, 307, 308])("a redirect, %i, is an error that names its target", async (status) => {
    const server = await startServer(answering("<html>moved</html>", { status, location: "https://up.example/v1/chat/completions" }));
    const error = { code: "upstream", message: expect.stringContaining(`${status} and redirects to https://up.example/v1/`) as string };
    expect(await eventsOf(remote({ url: server.url }))).toMatchObject([{ type: "finish", reason: "error", error }]);
    await expect(remote({ url: server.url }).models()).rejects.toMatchObject({ info: error });
    await expect(remote({ url: server.url }).send("/v1/embeddings", { body: "{}" })).rejects.toMatchObject({ info: error });
  });

  test("https to an http server, and a server that does not speak HTTP, are named in the error", async () => {
    const server = await startServer(answering("{}"));
    const greeter = createTcpServer((socket) => socket.end("220 mail.example ready\r\n")).listen(0, "127.0.0.1");
    closeLater(() => greeter.close());
    await once(greeter, "listening");
    const { port } = greeter.address() as AddressInfo;
    const problemAt = async (url: string) => (await eventsOf(remote({ url }))).at(-1);
    expect(await problemAt(server.url.replace("http:", "https:"))).toMatchObject({
      error: {
        code: "upstream",
        message: expect.stringMatching(/^the upstream does not speak https: its URL must begin with http:/) as string,
      },
    });
    expect(await problemAt(`http://127.0.0.1:${port}`)).toMatchObject({
      error: { code: "upstream", message: expect.stringMatching(/^the server at this address does not speak HTTP/) as string },
    });
  });

  test("missing headers are a timeout", async () => {
    const server = await startServer(() => {});
    const [event] = await eventsOf(remote({ url: server.url, timeouts: { headers: 50 } }));
    expect(event).toMatchObject({ type: "finish", error: { code: "timeout", message: expect.stringContaining("did not answer in time") } });
  });
  test("an answer that falls silent: earlier text is kept, and an open call is truncated", async () => {
    const start = { index: 0, id: "x", type: "function", function: { name: "f", arguments: '{"a":' } };
    const server = await startServer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(sse(chunk({ content: "Hi" }), chunk({ tool_calls: [start] })));
    });
    const events = await eventsOf(remote({ url: server.url, timeouts: { idle: 50 } }));
    expect(events.slice(-2)).toMatchObject([
      { type: "tool-end", id: "x", truncated: true },
      { type: "finish", reason: "error", error: { code: "timeout" } },
    ]);
  });
  test("a connection that breaks is an error, and earlier text is kept", async () => {
    const server = await startServer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(sse(chunk({ content: "Hi" })), () => response.destroy());
    });
    const events = await eventsOf(remote({ url: server.url }));
    expect(events.map(({ type }) => type)).toEqual(["start", "text", "finish"]);
    expect(events.at(-1)).toMatchObject({ reason: "error", error: { code: "upstream" } });
  });
});

test.each(["is cut off", "never ends"])("a refusal whose body %s is that refusal, with its retry time", async (way) => {
  const server = await startServer((response) => {
    response.writeHead(429, { "content-length": 99, "retry-after": "7" });
    response.write("slow d", () => way === "is cut off" && response.destroy());
  });
  const [finish] = await eventsOf(remote({ url: server.url, timeouts: { idle: 50 } }));
  expect(finish).toMatchObject({ error: { code: "rate-limit", message: "slow d", status: 429, retryAfterMs: 7000 } });
});

describe("aborts", () => {
  test("before the start, before the first event, and in the middle: one finish, aborted", async () => {
    const gone = signalOf();
    const early = new AbortController();
    const server = await startServer((response, { body }) => {
      response.on("close", () => gone.resolve());
      if (body.includes("silent")) early.abort();
      else response.writeHead(200, { "content-type": "text/event-stream" }).write(sse(chunk({ content: "Hi" })));
    });
    const engine = remote({ url: server.url });
    const middle = new AbortController();
    const events: Event[] = [];
    for await (const event of engine.generate(request, { signal: middle.signal })) {
      events.push(event);
      if (event.type === "text") middle.abort();
    }
    expect(events.map(({ type }) => type)).toEqual(["start", "text", "finish"]);
    expect(events.at(-1)).toMatchObject({ reason: "error", error: { code: "aborted" } });
    await gone.promise;

    const silent = eventsOf(engine, { ...request, model: "silent" }, { signal: early.signal });
    expect(await silent).toMatchObject([{ type: "finish", error: { code: "aborted" } }]);

    expect(await eventsOf(engine, request, { signal: AbortSignal.abort() })).toMatchObject([
      { type: "finish", error: { code: "aborted" } },
    ]);
    expect(server.seen).toHaveLength(2);
  });

  test("in the middle of a refusal: aborted", async () => {
    const abort = new AbortController();
    const server = await startServer((response) => void response.writeHead(429).write("slow", () => abort.abort()));
    const finish = { type: "finish", reason: "error", error: { code: "aborted" } };
    expect(await eventsOf(remote({ url: server.url }), request, { signal: abort.signal })).toMatchObject([finish]);
  });

  test("leaving the loop stops the upstream", async () => {
    const gone = signalOf();
    const server = await startServer((response) => {
      response.on("close", () => gone.resolve());
      response.writeHead(200, { "content-type": "text/event-stream" }).write(sse(chunk({ content: "Hi" })));
    });
    for await (const { type } of remote({ url: server.url }).generate(request)) if (type === "text") break;
    await gone.promise;
  });
});

describe("connections", () => {
  test("are reused, even if the body goes on after the end of the answer", async () => {
    const server = await startServer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(sse(chunk({ content: "Hi" }, "stop"), "[DONE]"));
      response.end(":\n\n");
    });
    const engine = remote({ url: server.url });
    for (let n = 0; n < 3; n++) {
      const [socket] = [once(server.server, "request")];
      await eventsOf(engine);
      const [, response] = (await socket) as [unknown, import("node:http").ServerResponse];
      if (!response.writableFinished) await once(response, "finish");
      await new Promise(setImmediate);
    }
    expect(server.connections).toBe(1);
  });

  test("of several URLs, the next replaces one that cannot be reached", async () => {
    const server = await startServer(answering(sse(chunk({ content: "Hi" }, "stop"), "[DONE]"), { "content-type": "text/event-stream" }));
    const engine = remote({ url: [`${nobody}/v1`, `${server.url}/v1`] });
    for (let n = 0; n < 4; n++) expect((await eventsOf(engine)).at(-1)).toMatchObject({ reason: "stop" });
    expect(server.seen).toHaveLength(4);
  });
});

test("of several URLs, the next replaces one that is overloaded in Anthropic's words", async () => {
  const busy = await startServer(answering('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', { status: 529 }));
  const server = await startServer(answering(sse(chunk({ content: "Hi" }, "stop"), "[DONE]"), { "content-type": "text/event-stream" }));
  const engine = remote({ url: [`${busy.url}/v1`, `${server.url}/v1`] });
  for (let n = 0; n < 4; n++) expect((await eventsOf(engine)).at(-1)).toMatchObject({ reason: "stop" });
});

describe("if no URL serves the request", () => {
  const limited = (seconds: number): Parameters<typeof startServer>[0] =>
    answering('{"error":{"message":"slow down"}}', { status: 429, "retry-after": seconds });
  const zipped: Parameters<typeof startServer>[0] = (response) => {
    const headers = { "content-type": "application/json", "content-encoding": "gzip", "retry-after": "7" };
    response.writeHead(429, headers).end(gzipSync('{"error":{"message":"slow down"}}'));
  };
  const busy = answering('{"error":{"message":"not now"}}', { status: 503 });
  const urlOf = async (handler: Parameters<typeof startServer>[0] | undefined) => (handler ? (await startServer(handler)).url : nobody);
  const told = { code: "rate-limit", message: "slow down", status: 429, retryAfterMs: 7000 };

  test.each([
    ["it is busy, and the next cannot be reached", [limited(7), undefined]],
    ["it is busy, and the next closes the connection", [limited(7), (response: ServerResponse) => void response.destroy()]],
    ["it is busy, and the next does not say how long it will be", [limited(7), busy]],
    ["it is busy for less time than the next", [limited(7), limited(60)]],
    ["it is busy for more time than the next", [limited(60), limited(7)]],
    ["three are busy", [busy, limited(7), limited(60)]],
    ["it is busy, and says so in gzip", [zipped, undefined]],
  ])("the error is the one that says most: %s", async (_, handlers) => {
    const urls = [];
    for (const handler of handlers) urls.push(`${await urlOf(handler)}/v1`);
    const engine = remote({ url: urls });
    expect(await eventsOf(engine)).toEqual([{ type: "finish", reason: "error", error: told }]);
  });

  test("of a busy answer that is cut off, the status and the time to wait count", async () => {
    const cut = await startServer((response) => {
      response.writeHead(429, { "content-encoding": "gzip", "content-length": 99, "retry-after": "7" });
      response.write(gzipSync("{}").subarray(0, 12), () => response.destroy());
    });
    const [finish] = await eventsOf(remote({ url: [`${cut.url}/v1`, `${nobody}/v1`] }));
    expect(finish).toMatchObject({ error: { ...told, message: "the server answered with status 429" } });
  });

  test("a busy URL whose answer never ends does not hold up the next", async () => {
    const stuck = await startServer((response) => void response.writeHead(503, { "content-length": 100 }).write("not"));
    const server = await startServer(answering(sse(chunk({ content: "Hi" }, "stop"), "[DONE]"), { "content-type": "text/event-stream" }));
    const engine = remote({ url: [`${stuck.url}/v1`, `${server.url}/v1`], timeouts: { idle: 60_000 } });
    expect((await eventsOf(engine)).at(-1)).toMatchObject({ reason: "stop" });
  });
});

test("onAnswer is called before the first event, with the upstream's ids and the warnings", async () => {
  const first = signalOf();
  const server = await startServer(async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "r1", "set-cookie": "a=b" }).flushHeaders();
    await first.promise;
    response.end(sse(chunk({ content: "Hi" }, "stop"), "[DONE]"));
  });
  const heard = signalOf<Answer>();
  const thinking: Request = { ...request, thinking: { enabled: true } };
  const events = eventsOf(remote({ url: server.url }), thinking, { onAnswer: heard.resolve, headers: { traceparent: "00-1" } });
  expect(await heard.promise).toEqual({
    ok: true,
    headers: { "x-request-id": "r1" },
    warnings: [expect.objectContaining({ code: "dropped" })],
  });
  first.resolve();
  await events;
  expect(server.seen[0]?.headers.traceparent).toBe("00-1");
});

describe("counting tokens", () => {
  test.each(["anthropic", "gemini", "openai-responses"] as const)("%s: the upstream counts", async (id) => {
    const server = await startServer(answering(JSON.stringify(getWire(id).encodeTokenCount?.({ tokens: 42 }))));
    expect(await remote({ wire: id, url: server.url }).countTokens(request)).toEqual({ tokens: 42, exact: true });
  });
  test("otherwise the count is an estimate, and marked as such", async () => {
    const server = await startServer(answering("{}", { status: 404 }));
    for (const wire of ["anthropic", "openai-chat"] as const) {
      expect(await remote({ wire, url: server.url }).countTokens(request)).toEqual({ tokens: expect.any(Number), exact: false });
    }
  });
});

test("listing the models of a server that refuses throws an EngineError", async () => {
  const server = await startServer(answering("{}", { status: 500 }));
  await expect(remote({ url: server.url }).models()).rejects.toBeInstanceOf(EngineError);
});

test.each<[WireId, string, string, string]>([
  ["openai-chat", "http://h:1/v1", "/v1/chat/completions", "http://h:1/v1/chat/completions"],
  ["openai-chat", "http://h:1/v1/", "/v1/chat/completions", "http://h:1/v1/chat/completions"],
  ["openai-chat", "http://h:1", "/v1/chat/completions", "http://h:1/v1/chat/completions"],
  ["openai-chat", "https://h/api/v1", "/v1/models", "https://h/api/v1/models"],
  ["openai-chat", "https://h/v1beta/openai/", "/v1/chat/completions", "https://h/v1beta/openai/chat/completions"],
  ["anthropic", "https://h/v1", "/v1/messages", "https://h/v1/messages"],
  ["anthropic", "https://h/prefix", "/v1/messages", "https://h/prefix/v1/messages"],
  ["gemini", "https://h/v1beta", "/v1beta/models/a%2Fb:generateContent?alt=sse", "https://h/v1beta/models/a%2Fb:generateContent?alt=sse"],
  ["ollama", "http://h:1/api", "/api/chat", "http://h:1/api/chat"],
  // A whole endpoint as base URL.
  ["openai-chat", "http://h:1/v1/chat/completions", "/v1/models", "http://h:1/v1/models"],
  ["openai-chat", "https://h/v1beta/openai/chat/completions/", "/v1/chat/completions", "https://h/v1beta/openai/chat/completions"],
  ["openai-responses", "https://h/v1/responses", "/v1/responses", "https://h/v1/responses"],
  ["anthropic", "https://h/v1/messages", "/v1/messages", "https://h/v1/messages"],
  ["ollama", "http://h:1/api/chat", "/api/chat", "http://h:1/api/chat"],
  ["openai-chat", "https://h/chat", "/v1/models", "https://h/chat/models"],
])("%s: %s with %s", (wire, url, path, expected) => {
  const base = baseOf(wire, url);
  expect(base.origin + base.path(path)).toBe(expected);
});

describe("a server that compresses although asked not to", () => {
  const events = sse(chunk({ content: "Grüße" }), chunk({}, "stop"), "[DONE]");
  const whole = JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: "Grüße" }, finish_reason: "stop" }] });
  const PACKERS = { gzip: createGzip, "x-gzip": createGzip, deflate: createDeflate, br: createBrotliCompress } as const;

  test.each(Object.entries(PACKERS))("is read: %s", async (encoding, pack) => {
    const server = await startServer(async (response, { url, headers, body }) => {
      expect(headers["accept-encoding"]).toBe("identity");
      const isStream = body.includes('"stream":true');
      response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json", "content-encoding": encoding });
      const packer = pack();
      packer.pipe(response);
      packer.end(url.endsWith("/models") ? '{"data":[{"id":"m"}]}' : isStream ? events : whole);
    });
    const engine = remote({ url: server.url });
    expect(collect(await eventsOf(engine))).toMatchObject({ content: [{ text: "Grüße" }], finish: { reason: "stop" } });
    expect(collect(await eventsOf(engine, { ...request, stream: false }))).toMatchObject({ content: [{ text: "Grüße" }] });
    expect(await engine.models()).toEqual([{ id: "m" }]);
    const { headers, body } = await engine.send("/v1/embeddings", { body: "{}" });
    expect([headers["content-encoding"], await new Response(body as never).text()]).toEqual([undefined, whole]);
  });

  test("still streams: what it has sent arrives before it continues", async () => {
    const heard = signalOf();
    const server = await startServer(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      const packer = createGzip();
      packer.pipe(response);
      packer.write(sse(chunk({ content: "first" })));
      packer.flush();
      await heard.promise;
      packer.end(sse(chunk({}, "stop")));
    });
    let text = "";
    for await (const event of remote({ url: server.url }).generate(request)) {
      if (event.type === "text") heard.resolve();
      if (event.type === "text") text += event.text;
    }
    expect(text).toBe("first");
  });

  test("and breaks off: earlier text is delivered, and the end is an error", async () => {
    const server = await startServer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      const packed = gzipSync(sse(chunk({ content: "first" })));
      response.write(packed.subarray(0, -8), () => response.destroy()); // without the checksum at the end
    });
    expect(await eventsOf(remote({ url: server.url }))).toMatchObject([
      { type: "start" },
      { type: "text", text: "first" },
      { type: "finish", reason: "error", error: { code: "upstream" } },
    ]);
  });

  test.each([
    ["gzip", "this is not valid gzip, or was cut off"],
    ["compress", '"compress" is not supported'],
  ])("%s that cannot be read is named, without its bytes", async (encoding, what) => {
    const server = await startServer(answering("\u001f\bnonsense", { "content-encoding": encoding }));
    const error = { code: "upstream", message: `the upstream compresses its answers, though it was asked not to, and ${what}` };
    expect(await eventsOf(remote({ url: server.url }))).toContainEqual({ type: "finish", reason: "error", error });
  });
});

test.each(["localhost", "localhost:8000/v1", undefined as never])("an invalid URL, %s, is refused at once", (url) => {
  expect(() => createRemote({ wire: "openai-chat", url })).toThrow(`the URL of an upstream must be an http or https URL; it is ${url}`);
});

test("no header is sent twice, however the configuration and the caller write its name", async () => {
  const raw: string[] = [];
  const server = await startServer((response, _, { rawHeaders }) => {
    raw.push(...rawHeaders.map((name) => name.toLowerCase()));
    response.writeHead(200, { "content-type": "application/json" }).end('{"choices":[{"index":0,"message":{"content":"Hi"}}]}');
  });
  const headers = { Authorization: "Basic x", "Content-Type": "application/json; charset=utf-8", "Accept-Encoding": "gzip", "X-Team": "a" };
  const engine = createRemote({ wire: "openai-chat", url: server.url, key: "sk-some-key", headers });
  const messages = [{ role: "user" as const, content: [{ type: "text" as const, text: "Hi" }] }];
  await all(engine.generate({ model: "m", messages }, { headers: { "X-TEAM": "b" } }));
  const valuesOf = (name: string) => raw.flatMap((one, i) => (i % 2 === 0 && one === name ? [raw[i + 1]] : []));
  expect(["authorization", "content-type", "accept-encoding", "x-team"].map(valuesOf)).toEqual([
    ["bearer sk-some-key"],
    ["application/json; charset=utf-8"],
    ["identity"],
    ["a"],
  ]);
  await engine.close();
});
