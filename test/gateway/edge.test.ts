// The gateway's edge: keys, host names, web pages, bodies. Every refusal is in the caller's own format.
import { once } from "node:events";
import { connect } from "node:net";
import * as zlib from "node:zlib";
import { describe, expect, test } from "vitest";
import { createGateway } from "../../src/gateway/gateway.ts";
import { listWires } from "../../src/wires/registry.ts";
import { answering, startServer } from "../servers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { ask, askSmallest, ERROR, hello, json, remote, SMALLEST, STREAMED, scripted } from "./start.ts";

const { brotliCompressSync, deflateSync, gzipSync } = zlib;
const { zstdCompressSync } = zlib as { zstdCompressSync?: (text: string) => Buffer }; // not available in Node 20

const wires = listWires().map(({ id }) => id);
const KEY = "sk-canary-client";

describe("keys", () => {
  test.each(wires)("%s: a missing or wrong key is a 401 in its format", async (id) => {
    const gateway = await startGateway({ upstreams: { up: scripted() }, keys: [KEY] });
    for (const headers of [{}, { authorization: "Bearer wrong" }, { "x-api-key": "" }]) {
      const { status, body } = await askSmallest(gateway.url, id, SMALLEST, headers);
      expect(status).toBe(401);
      expect(JSON.parse(body)).toEqual(ERROR[id]);
    }
  });
  test.each([
    ["bearer", { authorization: `Bearer ${KEY}` }, ""],
    ["x-api-key", { "x-api-key": KEY }, ""],
    ["x-goog-api-key", { "x-goog-api-key": KEY }, ""],
    ["both of gemini-cli's headers", { authorization: `Bearer ${KEY}`, "x-goog-api-key": "other" }, ""],
    ["the query", {}, `?key=${KEY}`],
  ])("a key is accepted in %s", async (_, headers, query) => {
    const upstream = await startServer(answering("{}", { status: 500 }));
    const gateway = await startGateway({ upstreams: { up: remote(upstream.url, "openai-chat", "sk-upstream") }, keys: ["another", KEY] });
    const path = `${SMALLEST["openai-chat"].path}${query}`;
    const answer = await ask(gateway.url, "POST", path, {
      headers: { ...json, ...headers, cookie: "c=canary" },
      body: JSON.stringify(SMALLEST["openai-chat"].body),
    });
    expect(answer.status).toBe(502);
    // Nothing of the client's key is passed on or recorded.
    expect(JSON.stringify(upstream.seen)).not.toMatch(/canary/);
    expect(upstream.seen.at(-1)?.headers.authorization).toBe("Bearer sk-upstream");
    expect(JSON.stringify(await gateway.ended(1))).not.toMatch(/canary|sk-upstream/);
  });
  test("health checks need no key", async () => {
    const gateway = await startGateway({ upstreams: { up: scripted() }, keys: [KEY] });
    for (const [method, path] of [
      ["HEAD", "/"],
      ["HEAD", "/api/hello"],
      ["GET", "/healthz"],
      ["GET", "/readyz"],
      ["GET", "/"],
    ] as const) {
      expect((await ask(gateway.url, method, path)).status).toBe(200);
    }
    expect((await ask(gateway.url, "GET", "/v1/models")).status).toBe(401);
  });
  test("a key is required to listen beyond loopback", async () => {
    expect(() => createGateway({ upstreams: {}, host: "0.0.0.0", port: 0 })).toThrow("--insecure");
    for (const options of [{ keys: [KEY] }, { insecure: true }]) {
      const gateway = createGateway({ upstreams: {}, host: "0.0.0.0", port: 0, ...options });
      expect((await gateway.listen()).port).toBeGreaterThan(0);
      await gateway.close();
    }
  });
});

describe("a web page", () => {
  const start = () => startGateway({ upstreams: { up: scripted() }, names: ["gate.example"], origins: ["https://app.example"] });

  test.each(wires)("%s: a host name that points here is refused with 403 (DNS rebinding)", async (id) => {
    const { status, body } = await askSmallest((await start()).url, id, SMALLEST, { host: "evil.example" });
    expect(status).toBe(403);
    expect(JSON.parse(body)).toEqual(ERROR[id]);
  });
  test.each([
    "localhost",
    "localhost:1234",
    "127.0.0.1",
    "127.9.9.9:80",
    "[::1]:8080",
    "gate.example",
    "GATE.example:443",
    "app.localhost",
  ])("host %s is accepted", async (host) => {
    expect((await ask((await start()).url, "GET", "/v1/models", { headers: { host } })).status).toBe(200);
  });
  test.each(["localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8080", "10.0.0.1", "xlocalhost", "127.0.0.1@evil.example"])(
    "host %s is refused",
    async (host) => {
      expect((await ask((await start()).url, "GET", "/v1/models", { headers: { host } })).status).toBe(403);
    },
  );
  test("from another origin gets 403, even with a simple POST; a listed origin and our own do not", async () => {
    const { url } = await start();
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1", "https://app.example.evil.example"]) {
      expect((await askSmallest(url, "openai-chat", SMALLEST, { origin, "content-type": "text/plain" })).status).toBe(403);
      expect((await ask(url, "OPTIONS", "/v1/chat/completions", { headers: { origin } })).status).toBe(403);
    }
    const listed = await askSmallest(url, "openai-chat", SMALLEST, { origin: "https://app.example" });
    expect(listed).toMatchObject({ status: 200, headers: { "access-control-allow-origin": "https://app.example", vary: "origin" } });
    expect(listed.headers["access-control-expose-headers"]).toContain("x-dragoman-warnings, x-dragoman-count");
    expect((await askSmallest(url, "openai-chat", SMALLEST, { origin: url })).status).toBe(200);
    const streamed = await askSmallest(url, "openai-chat", STREAMED, { origin: "https://app.example" });
    expect(streamed.headers).toMatchObject({ "access-control-allow-origin": "https://app.example" });
  });
  test("a listed origin's preflight is answered without a key", async () => {
    const { url } = await startGateway({ upstreams: { up: scripted() }, keys: [KEY], origins: ["https://app.example"] });
    const headers = {
      origin: "https://app.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-api-key",
    };
    const { status, headers: answer } = await ask(url, "OPTIONS", "/v1/messages", { headers });
    expect({ status, allowed: answer["access-control-allow-headers"] }).toEqual({ status: 204, allowed: "x-api-key" });
  });
});

describe("bodies", () => {
  test.each(wires)("%s: an unreadable body is a 400 in its format", async (id) => {
    const { url } = await startGateway({ upstreams: { up: scripted() } });
    const deep = `{"model":"m","messages":${"[".repeat(5000)}${"]".repeat(5000)}}`;
    for (const body of ["{", "[]", "", '"x"', "\u0000", deep]) {
      const answer = await ask(url, "POST", SMALLEST[id].path, { headers: json, body });
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body)).toEqual(ERROR[id]);
    }
  });
  test.each(wires)("%s: a body that is too large is a 413 in its format, and two megabytes are not too large", async (id) => {
    const { url } = await startGateway({ upstreams: { up: scripted() }, bodyLimit: 3_000_000 });
    const large = (length: number) => JSON.stringify({ ...SMALLEST[id].body, padding: "x".repeat(length) });
    expect((await ask(url, "POST", SMALLEST[id].path, { headers: json, body: large(2_000_000) })).status).toBe(200);
    const refused = await ask(url, "POST", SMALLEST[id].path, { headers: json, body: large(3_000_000) });
    expect(refused.status).toBe(413);
    expect(JSON.parse(refused.body)).toEqual(ERROR[id]);
  });
  test("a client still sending a body that is too large gets the 413 all the same", async () => {
    const { port } = await startGateway({ upstreams: { up: scripted() }, bodyLimit: 1000 });
    const client = connect(port, "127.0.0.1");
    const length = 20_000_000;
    client.write(`POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`);
    await new Promise<void>((resolve, reject) => client.write("x".repeat(length), (error) => (error ? reject(error) : resolve())));
    const [answer] = (await once(client, "data")) as [Buffer];
    expect(answer.toString("latin1")).toMatch(/^HTTP\/1\.1 413 /);
    client.destroy();
  });
  test("a body of unknown length is cut off at the limit, too", async () => {
    const { url } = await startGateway({ upstreams: { up: scripted() }, bodyLimit: 1000 });
    const body = "x".repeat(2000);
    expect((await ask(url, "POST", "/v1/messages", { headers: { ...json, "transfer-encoding": "chunked" }, body })).status).toBe(413);
  });
  test.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ...(zstdCompressSync ? [["zstd", zstdCompressSync] as const] : []),
  ] as const)("a body in %s is read, within the limit", async (encoding, compress) => {
    const { url } = await startGateway({ upstreams: { up: scripted() }, bodyLimit: 10_000 });
    const headers = { ...json, "content-encoding": encoding };
    const { path, body } = SMALLEST.anthropic;
    expect((await ask(url, "POST", path, { headers, body: compress(JSON.stringify(body)) })).status).toBe(200);
    const bomb = compress(JSON.stringify({ ...body, padding: "x".repeat(1_000_000) }));
    expect(bomb.length).toBeLessThan(10_000);
    expect((await ask(url, "POST", path, { headers, body: bomb })).status).toBe(413);
    expect((await ask(url, "POST", path, { headers, body: "not compressed" })).status).toBe(400);
  });
  test("a body in another encoding, or of another type, is a 415 that says what to send", async () => {
    const { url } = await startGateway({ upstreams: { up: scripted() } });
    for (const headers of [
      { "content-encoding": "compress" },
      { "content-type": "text/plain", "sec-fetch-site": "same-origin" },
      { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
    ]) {
      const answer = await askSmallest(url, "openai-chat", SMALLEST, headers as unknown as Record<string, string>);
      expect(answer.status).toBe(415);
      expect(JSON.parse(answer.body)).toEqual(ERROR["openai-chat"]);
    }
  });
  test.each([
    ["curl", "application/x-www-form-urlencoded"],
    ["LiteLLM", "application/octet-stream"],
    ["a script", "text/plain;charset=UTF-8"],
  ])("the content type that %s sends is accepted, unless a browser sent it", async (_, type) => {
    const { url } = await startGateway({ upstreams: { up: scripted() } });
    const headers = { "content-type": type };
    expect((await askSmallest(url, "ollama", SMALLEST, headers)).status).toBe(200);
    expect((await askSmallest(url, "ollama", SMALLEST, { ...headers, origin: url })).status).toBe(415);
  });
  test("__proto__ and constructor are ordinary keys", async () => {
    const engine = scripted();
    const { url } = await startGateway({ upstreams: { up: engine } });
    const body =
      '{"model":"m","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"messages":[{"role":"user","content":"Hi"}]}';
    expect((await ask(url, "POST", "/v1/chat/completions", { headers: json, body })).status).toBe(200);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe("paths", () => {
  test.each(["/v1/nothing", "/%zz", "/v1beta/x", "/api/x", `/${"x".repeat(3000)}`, "/..%2f..%2fetc/passwd", "//evil.example/v1"])(
    "%s is a 404 with a hint",
    async (path) => {
      const { url } = await startGateway({ upstreams: { up: scripted() } });
      const { status, body } = await ask(url, "POST", path, { headers: json, body: "{}" });
      expect(status).toBe(404);
      expect(body).toContain("base URL");
    },
  );
  test("a wrong method is a 405 that names the right one", async () => {
    const { url } = await startGateway({ upstreams: { up: scripted() } });
    expect(await ask(url, "GET", "/v1/messages")).toMatchObject({ status: 405, headers: { allow: "POST" } });
    expect((await ask(url, "DELETE", "/v1/models/m")).status).toBe(405);
    expect((await ask(url, "PROPFIND", "/v1/models")).status).toBe(405);
    const { body } = await ask(url, "GET", "/v1beta/models/m:generateContent");
    expect(JSON.parse(body)).toMatchObject({ error: { code: 405, status: "INVALID_ARGUMENT" } });
  });
  test("a WebSocket is refused with 426, at once", async () => {
    const { url } = await startGateway({ upstreams: { up: scripted() } });
    const headers = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    };
    expect((await ask(url, "GET", "/v1/responses", { headers })).status).toBe(426);
  });
});

test("an engine that throws is a 500 in the caller's format, without its message", async () => {
  const engine = scripted(hello);
  engine.generate = () => {
    throw new Error("secret details");
  };
  const gateway = await startGateway({ upstreams: { up: engine } });
  for (const id of wires) {
    const { status, body } = await askSmallest(gateway.url, id);
    expect(status).toBe(500);
    expect(JSON.parse(body)).toEqual(ERROR[id]);
    expect(body).not.toContain("secret details");
  }
});
