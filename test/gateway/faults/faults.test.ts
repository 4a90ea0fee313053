// What clients get when things break. The upstream is another process, and it is really killed. Everything is recorded and replayed.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import type { Event, WireId } from "../../../src/core/nouns.ts";
import { around } from "../../../src/engines/around.ts";
import { createLimited } from "../../../src/engines/limited.ts";
import { createRemote, type RemoteOptions } from "../../../src/engines/remote.ts";
import type { GatewayOptions } from "../../../src/gateway/options.ts";
import type { ModelRule } from "../../../src/gateway/rules.ts";
import { getWire, listWires } from "../../../src/wires/registry.ts";
import { kill } from "../../children.ts";
import { answering, nobody, signalOf, startServer } from "../../servers.ts";
import { CANARIES, type RecordedGateway, signed, startRecorded } from "../recorded.ts";
import { ask, SMALLEST, STREAMED } from "../start.ts";

const WIRES = listWires().map(({ id }) => id);

interface Upstream {
  url: string;
  process: ChildProcess;
  get(path: string): Promise<string>;
}

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** `kind`: what the upstream does, whatever model is asked for. */
async function startUpstream(...kind: string[]): Promise<Upstream> {
  const child = spawn(process.execPath, [fileURLToPath(new URL("upstream.mjs", import.meta.url)), ...kind], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  closers.push(() => kill(child));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const url = `http://127.0.0.1:${String(line).trim()}`;
  return { url, process: child, get: async (path) => (await ask(url, "GET", path)).body };
}

/** A gateway in front of these URLs of one upstream. */
const startGateway = (urls: readonly string[], options: Partial<GatewayOptions> = {}): Promise<RecordedGateway> =>
  startRecorded({ upstreams: { up: remoteAt(urls) }, ...options });

const remoteAt = (urls: readonly string[], more: Partial<RemoteOptions> = {}) =>
  createRemote({ wire: "openai-chat", url: urls.map((url) => `${url}/v1`), key: CANARIES.upstream, ...more });

/** The smallest streamed request of a wire, for this model. */
function asking(wire: WireId, model: string, more = {}): { path: string; body: string } {
  const { path, body } = STREAMED[wire];
  return { path: path.replace("/m:", `/${encodeURIComponent(model)}:`), body: JSON.stringify({ ...body, model, ...more }) };
}

const post = (base: string, wire: WireId, model: string) => {
  const { path, body } = asking(wire, model);
  return ask(base, "POST", path, { headers: signed, body });
};

/** The answer, readable while it comes. */
async function opened(base: string, wire: WireId, model: string, more = {}): Promise<{ response: IncomingMessage; leave: () => void }> {
  const { hostname, port } = new URL(base);
  const { path, body } = asking(wire, model, more);
  const request = httpRequest({ hostname, port, method: "POST", path, headers: signed, agent: false });
  request.on("error", () => {});
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.on("error", () => {});
  return { response, leave: () => request.destroy() };
}

/** Reads until this text has come. */
async function until(response: IncomingMessage, found: (text: string) => boolean): Promise<string> {
  let text = "";
  for await (const piece of response.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    text += String(piece);
    if (found(text)) return text;
  }
  return text;
}

const eventsIn = (wire: WireId, body: string): Event[] => {
  const decoder = getWire(wire).createStreamDecoder();
  return [...decoder.feed(body), ...decoder.flush()];
};
const textIn = (events: readonly Event[]): string => events.map((event) => (event.type === "text" ? event.text : "")).join("");

describe.each(WIRES)("%s", (wire) => {
  test("an upstream killed in the middle of a stream: everything before it is delivered, and the end is an error", async () => {
    const upstream = await startUpstream();
    const { url } = await startGateway([upstream.url]);
    const { status, body } = await post(url, wire, "die");
    const events = eventsIn(wire, body);
    expect(status).toBe(200);
    expect(textIn(events)).toBe("before");
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "error" });
    expect(events.filter((event) => event.type === "tool-end" && !event.truncated)).toEqual([]);
  });

  test("a connection cut inside a character: everything before it is delivered, and the end is an error", async () => {
    const { url } = await startGateway([(await startUpstream()).url]);
    const events = eventsIn(wire, (await post(url, wire, "cut")).body);
    expect(textIn(events)).toBe("said. ");
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "error" });
  });

  test("garbage in the middle of a stream is an error", async () => {
    const { url } = await startGateway([(await startUpstream()).url]);
    const events = eventsIn(wire, (await post(url, wire, "garbage")).body);
    expect(textIn(events)).toBe("before");
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "error" });
  });

  test("a prompt that is too long is reported in the client's own words", async () => {
    const message = "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.";
    const server = await startServer(answering(JSON.stringify({ error: { message, code: "context_length_exceeded" } }), { status: 400 }));
    const { url, exchanges } = await startGateway([server.url]);
    const { body } = await post(url, wire, "m");
    expect(body).toContain("4096");
    expect(exchanges[0]?.error).toMatchObject({ code: "context-length", tokens: { used: 5000, limit: 4096 } });
  });

  test("a 429 with retry-after keeps its status and header", async () => {
    const { url } = await startGateway([(await startUpstream()).url]);
    const { status, headers } = await post(url, wire, "limit");
    expect({ status, wait: headers["retry-after"] }).toEqual({ status: 429, wait: "7" });
  });

  test("a 429 with retry-after that comes late, but within the patience, keeps them too", async () => {
    const upstream = await startUpstream();
    const { url } = await startGateway([upstream.url]);
    const answer = post(url, wire, "limit-late");
    await upstream.get("/asked?of=limit-late");
    await upstream.get("/release?of=limit-late");
    const { status, headers } = await answer;
    expect({ status, wait: headers["retry-after"] }).toEqual({ status: 429, wait: "7" });
  });

  test("a long silence, then 503: headers after the patience, heartbeats, then an error in the wire's own form", async () => {
    const upstream = await startUpstream();
    const { url } = await startGateway([upstream.url], { patience: { headersMs: 30, heartbeatMs: 30 } });
    const { response } = await opened(url, wire, "late");
    expect(response.statusCode).toBe(200);
    const beat = await until(response, (text) => text.length > 0);
    expect(eventsIn(wire, beat).filter(({ type }) => type === "tool-end")).toEqual([]);
    await upstream.get("/release?of=late");
    const rest = await until(response, () => false);
    expect(eventsIn(wire, beat + rest).at(-1)).toMatchObject({
      type: "finish",
      reason: "error",
      error: { message: expect.stringContaining("not now") },
    });
  });

  test("a call that takes longer than a client's timeout: heartbeats in between, then the call", async () => {
    const upstream = await startUpstream();
    const { url } = await startGateway([upstream.url], { patience: { headersMs: 30, heartbeatMs: 20 } });
    const { response } = await opened(url, wire, "long");
    let beats = 0;
    response.on("data", () => beats++);
    while (beats < 4) await once(response, "data");
    let body = "";
    response.on("data", (piece) => (body += String(piece)));
    await upstream.get("/release?of=long");
    await once(response, "end");
    expect(body).toContain("done");
  });

  test("a client that leaves stops the upstream", async () => {
    const upstream = await startUpstream();
    const { url } = await startGateway([upstream.url]);
    const { response, leave } = await opened(url, wire, "stall");
    await until(response, (text) => text.includes("before"));
    leave();
    await upstream.get("/left?of=stall");
  });
});

describe.each(WIRES)("%s, when the gateway closes", (wire) => {
  const whole = (model: string): { path: string; body: string } => {
    const { path, body } = SMALLEST[wire];
    return { path: path.replace("/m:", `/${model}:`), body: JSON.stringify({ ...body, model }) };
  };

  test("in the middle of a stream: everything before it is delivered, and the end is an error", async () => {
    const upstream = await startUpstream();
    const { url, close, exchanges } = await startGateway([upstream.url]);
    const { response } = await opened(url, wire, "stall");
    const before = await until(response, (text) => text.includes("before"));
    const closed = close();
    const events = eventsIn(wire, before + (await until(response, () => false)));
    await closed;
    expect(textIn(events)).toBe("before");
    expect(events.at(-1)).toMatchObject({ reason: "error", error: { message: "service unavailable: the gateway is closing" } });
    expect(exchanges).toMatchObject([{ outcome: "aborted", brokenOff: "gateway" }]);
    await upstream.get("/left?of=stall");
  });

  test.each(["stall", "late"])("before an answer without streaming is complete (%s): 503, or the wire's own status", async (model) => {
    const upstream = await startUpstream();
    const { url, close } = await startGateway([upstream.url]);
    const { path, body } = whole(model);
    const answer = ask(url, "POST", path, { headers: signed, body });
    await upstream.get(`/asked?of=${model}`);
    await close();
    expect(await answer).toMatchObject({
      status: wire === "anthropic" ? 529 : 503,
      body: expect.stringContaining("the gateway is closing"),
    });
  });

  test("before a stream has begun: 503, or the wire's own status", async () => {
    const upstream = await startUpstream();
    const { url, close } = await startGateway([upstream.url]);
    const answer = post(url, wire, "late");
    await upstream.get("/asked?of=late");
    await close();
    expect(await answer).toMatchObject({
      status: wire === "anthropic" ? 529 : 503,
      body: expect.stringContaining("the gateway is closing"),
    });
  });
});

describe("an upstream with several URLs", () => {
  const chat = (url: string, model = "fine a") => post(url, "openai-chat", model);

  test("a dead URL is replaced by another, and then left alone for a while", async () => {
    const [dead, alive] = [await startUpstream(), await startUpstream()];
    const { url } = await startGateway([dead.url, alive.url]);
    dead.process.kill("SIGKILL");
    await once(dead.process, "exit");
    for (let n = 0; n < 4; n++) expect((await chat(url)).body).toContain("fine a:19;");
    expect(JSON.parse(await alive.get("/counts"))).toMatchObject({ asked: 4 });
  });

  test.each(["reset", "busy", "limit"])(
    "a URL that answers with %s is replaced by another, and then left alone for a while",
    async (kind) => {
      const [broken, fine] = [await startUpstream(kind), await startUpstream("fine")];
      const { url } = await startGateway([broken.url, fine.url]);
      for (let n = 0; n < 4; n++) expect((await chat(url)).body).toContain("fine a:19;");
      expect(JSON.parse(await broken.get("/counts"))).toMatchObject({ asked: 1 });
      expect(JSON.parse(await fine.get("/counts"))).toMatchObject({ asked: 4 });
    },
  );

  test("nothing is retried once the answer has begun", async () => {
    const [one, two] = [await startUpstream(), await startUpstream()];
    const { url } = await startGateway([one.url, two.url]);
    expect(eventsIn("openai-chat", (await chat(url, "cut")).body).at(-1)).toMatchObject({ reason: "error" });
    const counts = [JSON.parse(await one.get("/counts")), JSON.parse(await two.get("/counts"))] as { asked: number }[];
    expect(counts.reduce((sum, { asked }) => sum + asked, 0)).toBe(1);
  });

  test("the least busy URL is used next", async () => {
    const [one, two] = [await startUpstream(), await startUpstream()];
    const { url } = await startGateway([one.url, two.url]);
    const streams = [];
    for (const name of ["stall a", "stall b", "stall c", "stall d"]) {
      const { response, leave } = await opened(url, "openai-chat", name);
      await until(response, (text) => text.includes("before"));
      streams.push(leave);
    }
    const counts = [JSON.parse(await one.get("/counts")), JSON.parse(await two.get("/counts"))] as { open: number }[];
    expect(counts.map(({ open }) => open)).toEqual([2, 2]);
    for (const leave of streams) leave();
  });

  test("if one is busy and the others are dead, the client is told when to come back", async () => {
    const busy = await startUpstream("limit");
    const { url } = await startGateway([busy.url, nobody]);
    expect(await chat(url)).toMatchObject({ status: 429, headers: { "retry-after": "7" }, body: expect.stringContaining("slow down") });
  });

  test("if all are dead, the answer is a 503, which clients retry", async () => {
    const { url } = await startGateway([nobody, nobody]);
    expect((await chat(url)).status).toBe(503);
  });
});

describe.skipIf(process.platform === "win32")("an upstream whose process is stopped (not on Windows, which has no SIGSTOP)", () => {
  const behind = (url: string, timeouts: RemoteOptions["timeouts"]) =>
    startGateway([url], { upstreams: { up: remoteAt([url], { timeouts }) } });

  test("in the middle of a stream: everything before it is delivered, and the silence is an error", async () => {
    const upstream = await startUpstream();
    const { url } = await behind(upstream.url, { idle: 300 });
    const { response } = await opened(url, "openai-chat", "stall");
    const before = await until(response, (text) => text.includes("before"));
    upstream.process.kill("SIGSTOP");
    const events = eventsIn("openai-chat", before + (await until(response, () => false)));
    expect(textIn(events)).toBe("before");
    expect(events.at(-1)).toMatchObject({ reason: "error", error: { message: expect.stringContaining("fell silent") } });
  });

  test("before it answers: 504", async () => {
    const upstream = await startUpstream();
    const { url } = await behind(upstream.url, { headers: 100 });
    upstream.process.kill("SIGSTOP");
    expect(await post(url, "openai-chat", "fine")).toMatchObject({ status: 504, body: expect.stringContaining("did not answer in time") });
  });

  test.runIf(process.platform === "linux")(
    "with a full backlog of connections: 504 (only on Linux, where further connections wait)",
    async () => {
      const listening =
        'require("net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, function () { console.log(this.address().port); })';
      const child = spawn(process.execPath, ["-e", listening], { stdio: ["ignore", "pipe", "inherit"] });
      closers.push(() => kill(child));
      const port = Number(String((await once(child.stdout, "data"))[0]));
      child.kill("SIGSTOP");
      const line = Array.from({ length: 8 }, () => connect(port, "127.0.0.1").on("error", () => {}));
      closers.push(() => line.map((socket) => socket.destroy()));
      await once(line[0]!, "connect");
      const { url } = await behind(`http://127.0.0.1:${port}`, { connect: 100 });
      expect(await post(url, "openai-chat", "fine")).toMatchObject({ status: 504, body: expect.stringContaining("cannot be reached") });
    },
  );
});

describe("limits", () => {
  test("beyond the concurrent and the queued requests, the next is told to retry later", async () => {
    const upstream = await startUpstream();
    const limited = createLimited(remoteAt([upstream.url]), { concurrent: 1, queue: 1 });
    const inLine = signalOf();
    const engine = around(limited, {
      generate: (request, options) => {
        if (request.model === "fine b") inLine.resolve();
        return limited.generate(request, options);
      },
    });
    const { url } = await startGateway([upstream.url], { upstreams: { up: engine } });
    const first = await opened(url, "openai-chat", "stall");
    await until(first.response, (text) => text.includes("before"));
    const second = post(url, "openai-chat", "fine b");
    await inLine.promise; // a third request that overtook the second would wait in its place
    const third = await post(url, "openai-responses", "fine c");
    expect({ status: third.status, wait: third.headers["retry-after"] }).toEqual({ status: 503, wait: "5" });
    await upstream.get("/release?of=stall");
    expect((await second).body).toContain("fine b:19;");
    expect(JSON.parse(await upstream.get("/counts"))).toMatchObject({ asked: 2 });
  });

  test("a request that waits too long is told so, and a client that leaves frees its place in the queue", async () => {
    const upstream = await startUpstream();
    const engine = createLimited(remoteAt([upstream.url]), { concurrent: 1, waitMs: 30 });
    const { url } = await startGateway([upstream.url], { upstreams: { up: engine } });
    const first = await opened(url, "openai-chat", "stall");
    await until(first.response, (text) => text.includes("before"));
    expect((await post(url, "anthropic", "fine")).status).toBe(529);
    first.leave();
    await upstream.get("/left?of=stall");
    expect((await post(url, "openai-chat", "fine d")).body).toContain("fine d:19;");
  });
});

test.each<[string, Partial<ModelRule>]>([
  ["passed on unchanged", { rescue: false }],
  ["searched for calls", { dialect: "hermes", rescue: true }],
  ["read in band", { dialect: "hermes", tools: "inband" }],
])("a client that does not read slows the upstream down (%s)", async (_, rule) => {
  const upstream = await startUpstream();
  const { url } = await startGateway([upstream.url], { models: [{ name: "*", upstream: "up", ...rule }] });
  const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
  const { response } = await opened(url, "openai-chat", "flood", { tools });
  expect(Number(await upstream.get("/full?of=flood"))).toBeLessThan(399);
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) length += piece.length;
  expect(length).toBeGreaterThan(400 * 65_000);
});

test("closing lets streams end", async () => {
  const upstream = await startUpstream();
  const { url, close } = await startGateway([upstream.url]);
  const { response } = await opened(url, "openai-chat", "stall");
  const before = await until(response, (text) => text.includes("before"));
  const closed = close({ graceMs: 60_000 });
  await upstream.get("/release?of=stall");
  const rest = await until(response, () => false);
  expect(textIn(eventsIn("openai-chat", before + rest))).toBe("beforeafter");
  await closed;
});

test("closing does not wait for clients that are idle or never leave", async () => {
  const upstream = await startUpstream();
  const { url, port, close } = await startGateway([upstream.url]);
  const silent = connect(port, "127.0.0.1");
  await once(silent, "connect");
  const { response } = await opened(url, "openai-chat", "stall");
  await until(response, (text) => text.includes("before"));
  const closed = Promise.all([once(silent, "close"), close({ graceMs: 1 })]);
  expect(await until(response, () => false)).toContain("the gateway is closing");
  await closed;
});

test("a thousand concurrent streams: none is lost or mixed up, and no handle is left open", async () => {
  const upstream = await startUpstream();
  const resources = (): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
    return { sockets: counts.TCPSocketWrap ?? 0, servers: counts.TCPServerWrap ?? 0, timers: counts.Timeout ?? 0 };
  };
  const before = resources();
  const { url, recordings } = await startGateway([upstream.url]);
  const wires = Array.from({ length: 1000 }, (_, n) => WIRES[n % WIRES.length]!);
  const answers = await Promise.all(wires.map((wire, n) => post(url, wire, `fine ${n}`)));
  for (const [n, { status, body }] of answers.entries()) {
    const expected = Array.from({ length: 20 }, (_, i) => `fine ${n}:${i};`).join("");
    expect(status).toBe(200);
    expect(textIn(eventsIn(wires[n]!, body))).toBe(expected);
  }
  expect(JSON.parse(await upstream.get("/counts"))).toMatchObject({ open: 0, asked: 1000 });
  expect(await recordings()).toHaveLength(1000);
  const isLeft = ({ sockets, timers }: Record<string, number>): boolean => sockets! > before.sockets! || timers! > before.timers!;
  for (let turn = 0; turn < 1000 && isLeft(resources()); turn++) await new Promise((resolve) => setImmediate(resolve)); // they close in time
  const after = resources();
  expect({ sockets: after.sockets! <= before.sockets!, servers: after.servers, timers: after.timers! <= before.timers! }).toEqual({
    sockets: true,
    servers: before.servers,
    timers: true,
  });
  const connections = async (): Promise<number> => (JSON.parse(await upstream.get("/counts")) as { connections: number }).connections;
  while ((await connections()) > 1); // the connection of this very request
});
