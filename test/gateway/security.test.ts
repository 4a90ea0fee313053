// What an attacker tries: slow requests, headers inside values, paths inside names. And secrets, which must appear nowhere.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { createLog } from "../../src/cli/serve-log.ts";
import type { Event } from "../../src/core/nouns.ts";
import { createMetrics } from "../../src/gateway/metrics.ts";
import { listWires } from "../../src/wires/registry.ts";
import { answering, startServer } from "../servers.ts";
import { startUnlocked as startGateway } from "./recorded.ts";
import { ask, askSmallest, json, remote, SMALLEST, STREAMED, scripted } from "./start.ts";

const wires = listWires().map(({ id }) => id);

/** Everything received until the other side closes. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (part) => {
    text += part;
  });
  socket.on("error", () => {});
  await once(socket, "close");
  return text;
}

describe("slow loris: a client that trickles is cut off", () => {
  const start = () => startGateway({ upstreams: { up: scripted() }, patience: { requestMs: 50 } });

  test("in the headers", async () => {
    const socket = connect((await start()).port, "127.0.0.1");
    socket.write("POST /v1/messages HTTP/1.1\r\nhost: localhost\r\n");
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });
  test("in the body", async () => {
    const socket = connect((await start()).port, "127.0.0.1");
    socket.write("POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{");
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 408 /);
  });
  test("a stream that takes longer is not cut off", async () => {
    const released = { now: () => {} };
    const wait = new Promise<void>((resolve) => {
      released.now = resolve;
    });
    async function* slow(): AsyncGenerator<Event> {
      yield { type: "text", text: "Hel" };
      await wait;
      yield { type: "text", text: "lo" };
      yield { type: "finish", reason: "stop" };
    }
    const gateway = await startGateway({ upstreams: { up: scripted(slow) }, patience: { requestMs: 500, heartbeatMs: 50 } });
    const answer = await fetch(gateway.url + STREAMED["openai-chat"].path, {
      method: "POST",
      headers: json,
      body: JSON.stringify(STREAMED["openai-chat"].body),
    });
    const reader = answer.body!.getReader();
    let text = "";
    // Twenty heartbeats take longer than any limit of this server, and that limit is longer than a busy machine needs to send a request.
    while (text.split("\n:\n").length < 20) text += new TextDecoder().decode((await reader.read()).value);
    released.now();
    for (let step = await reader.read(); !step.done; step = await reader.read()) text += new TextDecoder().decode(step.value);
    expect(text).toContain("[DONE]");
  });
});

describe("headers", () => {
  test("nonsense instead of a request is a 400, and the connection is closed", async () => {
    const { port } = await startGateway({ upstreams: { up: scripted() } });
    for (const text of ["\x16\x03\x01", "GET / HTTP/9.9\r\n\r\n", "POST /v1/messages HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n"]) {
      const socket = connect(port, "127.0.0.1");
      socket.write(text);
      expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 400 /);
    }
  });
  test("two content lengths are a 400, so that no request is smuggled in after another", async () => {
    const { port } = await startGateway({ upstreams: { up: scripted() } });
    const socket = connect(port, "127.0.0.1");
    socket.write(
      "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n",
    );
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });
  test.each(wires)("%s: line ends in a model's name or a warning start no header", async (id) => {
    const evil = "m\r\nx-evil: 1\r\n\r\n<script>";
    const engine = scripted();
    const warned: typeof engine.generate = (request, options) => {
      options?.onAnswer?.({ ok: true, headers: {}, warnings: [{ code: "x", message: evil }] });
      return scripted().generate(request);
    };
    const gateway = await startGateway({ upstreams: { up: { ...engine, generate: warned } } });
    const { path, body } = SMALLEST[id];
    const at = path.replace("/m:", `/${encodeURIComponent(evil)}:`);
    const answer = await ask(gateway.url, "POST", at, { headers: json, body: JSON.stringify({ ...body, model: evil }) });
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty("x-evil");
    expect(answer.headers["x-dragoman-warnings"]).toBe("m?x-evil: 1?<script>");
  });
  test("few of a client's headers are passed on, and few of an upstream's come back", async () => {
    const upstream = await startServer(answering("{}", { status: 400, "set-cookie": "a=b", "x-evil": "1", "x-request-id": "theirs" }));
    const { url } = await startGateway({ upstreams: { up: remote(upstream.url) } });
    const sent = { "x-forwarded-for": "1.2.3.4", cookie: "c=d", "x-stainless-os": "x", traceparent: "00-1", "proxy-authorization": "x" };
    const { headers } = await askSmallest(url, "openai-chat", STREAMED, sent);
    const seen = upstream.seen.find(({ method }) => method === "POST")?.headers ?? {};
    const allowed = new Set(["accept", "accept-encoding", "connection", "content-length", "content-type", "host", "traceparent"]);
    expect(Object.keys(seen).filter((name) => !allowed.has(name))).toEqual([]);
    expect(seen).toMatchObject({ "accept-encoding": "identity", traceparent: "00-1" });
    expect(headers).not.toHaveProperty("set-cookie");
    expect(headers).not.toHaveProperty("x-evil");
    expect(headers).toMatchObject({ "x-request-id": "theirs" });
  });
});

describe("paths", () => {
  test.each(["../../v1/files", "a/../../b", "m?key=x#y", "m%2f..%2f..", "//evil.example/x", "m\\..\\x"])(
    "a model named %s reaches no other path of an upstream",
    async (name) => {
      const upstream = await startServer(answering("{}", { status: 400 }));
      const { url } = await startGateway({ upstreams: { up: remote(upstream.url, "gemini") } });
      const body = JSON.stringify({ ...SMALLEST["openai-chat"].body, model: name });
      await ask(url, "POST", "/v1/chat/completions", { headers: json, body });
      const asked = upstream.seen.filter(({ method }) => method === "POST").map(({ url }) => new URL(url, upstream.url).pathname);
      for (const path of asked) expect(path).toMatch(/^\/v1beta\/models\/[^?#]*:generateContent$/);
    },
  );
  test("a URL in a request is never opened", async () => {
    const trap = await startServer(answering("{}"));
    const engine = scripted();
    const { url } = await startGateway({ upstreams: { up: engine } });
    const content = [
      { type: "image_url", image_url: { url: `${trap.url}/image.png` } },
      { type: "file", file: { file_data: `${trap.url}/file` } },
    ];
    const body = JSON.stringify({ model: `${trap.url}/v1`, messages: [{ role: "user", content }] });
    await ask(url, "POST", "/v1/chat/completions", { headers: json, body });
    expect(engine.requests).toHaveLength(1);
    expect(trap.seen).toEqual([]);
  });
});

describe("canary secrets", () => {
  const CLIENT = "sk-canary-client-0123456789";
  const UPSTREAM = "sk-canary-upstream-0123456789";
  const SECRETS = [CLIENT, UPSTREAM, "cookie-canary", "other-canary", "header-canary"];
  const places: Record<string, [headers: Record<string, string>, query: string]> = {
    bearer: [{ authorization: `Bearer ${CLIENT}` }, ""],
    "x-api-key": [{ "x-api-key": CLIENT }, ""],
    "x-goog-api-key": [{ "x-goog-api-key": CLIENT }, ""],
    "api-key": [{ "api-key": CLIENT }, ""],
    query: [{}, `key=${CLIENT}`],
  };

  test.each(wires.flatMap((id) => Object.keys(places).map((place) => [id, place] as const)))("%s, %s", async (id, place) => {
    // The upstream echoes the key that it was given: in an error, in a header, and in a stream.
    const upstream = await startServer((response, { url, headers }) => {
      const given = JSON.stringify(headers);
      if (url.includes("stream") || url.includes("chat"))
        return void response.writeHead(401, { "x-echo": UPSTREAM }).end(JSON.stringify({ error: { message: `wrong key: ${given}` } }));
      response.writeHead(500, { "www-authenticate": UPSTREAM }).end(given);
    });
    let logged = "";
    const log = createLog({ isTTY: false, write: (line: string) => (logged += line) } as never);
    const metrics = createMetrics();
    const heard: unknown[] = [];
    const engine = remote(upstream.url, "openai-chat", UPSTREAM);
    const gateway = await startGateway({
      upstreams: { up: engine },
      keys: [CLIENT],
      metrics,
      onExchange: log.exchange,
      taps: [() => ({ asked: (request) => heard.push(request), upstream: { sent: (request) => heard.push(request) } })],
    });
    const [headers, query] = places[place]!;
    const answers: string[] = [];
    for (const table of [SMALLEST, STREAMED]) {
      const { path, body } = table[id];
      const at = query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`;
      const all = { ...json, ...headers, cookie: "c=cookie-canary", "x-portkey-api-key": "other-canary", "x-odd": "header-canary" };
      for (const text of [JSON.stringify(body), "{ broken"]) {
        const answer = await ask(gateway.url, "POST", at, { headers: all, body: text });
        answers.push(JSON.stringify(answer));
      }
    }
    await gateway.ended(4);
    log.flush();
    expect(logged).toContain('"outcome":"error"');
    const said = { answers, logged, heard: JSON.stringify(heard).replaceAll("header-canary", ""), metrics: await metrics.print() };
    for (const [where, text] of Object.entries(said))
      for (const secret of SECRETS) expect(`${where}: ${JSON.stringify(text)}`).not.toContain(secret);
    expect(upstream.seen.find(({ method }) => method === "POST")?.headers.authorization).toBe(`Bearer ${UPSTREAM}`);
  });
});

test("a log line is one line, whatever a client calls its model", async () => {
  let text = "";
  const log = createLog({ isTTY: false, write: (line: string) => (text += line) } as never);
  const { url, ended } = await startGateway({
    upstreams: { up: scripted() },
    models: [{ name: "known", upstream: "up" }],
    onExchange: log.exchange,
  });
  const model = `evil\n\x1b[31m${"x".repeat(1000)}`;
  await ask(url, "POST", "/v1/chat/completions", {
    headers: json,
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }] }),
  });
  await ended(1);
  log.flush();
  const { msg, model: named } = JSON.parse(text) as { msg: string; model: string };
  for (const said of [msg, named]) {
    expect(said).toContain("evil\\n\\x1b[31m");
    expect(said.length).toBeLessThan(1000);
  }
});
