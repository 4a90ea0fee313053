// What clients see while things break. The upstream is another process, and it is really killed. All of it is recorded, and played again.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import type { Event, WireId } from "../../../src/core/nouns.ts";
import { createLimited } from "../../../src/engines/limited.ts";
import { createRemote, type RemoteOptions } from "../../../src/engines/remote.ts";
import type { GatewayOptions } from "../../../src/gateway/options.ts";
import type { ModelRule } from "../../../src/gateway/rules.ts";
import { getWire, listWires } from "../../../src/wires/registry.ts";
import { kill } from "../../children.ts";
import { answering, nobody, startServer } from "../../servers.ts";
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

/** `kind`: what it does, whatever is asked for. */
async function startUpstream(...kind: string[]): Promise<Upstream> {
  const child = spawn(process.execPath, [fileURLToPath(new URL("upstream.mjs", import.meta.url)), ...kind], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  closers.push(() => kill(child));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const url = `http://127.0.0.1:${String(line).trim()}`;
  return { url, process: child, get: async (path) => (await ask(url, "GET", path)).body };
}

/** In front of these URLs of one upstream. */
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

/** The answer while it comes. */
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

/** Reads until this has come. */
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
  test("an upstream that is killed in mid-stream: what came before was delivered, and the end is an error", async () => {
    const upstream = await startUpstream();
    const { url } = await startGateway([upstream.url]);
    const { status, body } = await post(url, wire, "die");
    const events = eventsIn(wire, body);
    expect(status).toBe(200);
    expect(textIn(events)).toBe("before");
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "error" });
    expect(events.filter((event) => event.type === "tool-end" && !event.truncated)).toEqual([]);
  });

  test("a connection that is cut inside a character", async () => {
    const { url } = await startGateway([(await startUpstream()).url]);
    const events = eventsIn(wire, (await post(url, wire, "cut")).body);
    expect(textIn(events)).toBe("said. ");
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "error" });
  });

  test("garbage in mid-stream", async () => {
    const { url } = await startGateway([(await startUpstream()).url]);
    const events = eventsIn(wire, (await post(url, wire, "garbage")).body);
    expect(textIn(events)).toBe("before");
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "error" });
  });

  test("a prompt that is too long is said in the client's way", async () => {
    const message = "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.";
    const server = await startServer(answering(JSON.stringify({ error: { message, code: "context_length_exceeded" } }), { status: 400 }));
    const { url, exchanges } = await startGateway([server.url]);
    const { body } = await post(url, wire, "m");
    expect(body).toContain("4096");
    expect(exchanges[0]?.error).toMatchObject({ code: "context-length", tokens: { used: 5000, limit: 4096 } });
  });

  test("429 with retry-after has its status and its header", async () => {
    const { url } = await startGateway([(await startUpstream()).url]);
    const { status, headers } = await post(url, wire, "limit");
    expect({ status, wait: headers["retry-after"] }).toEqual({ status: 429, wait: "7" });
  });

  test("429 with retry-after that takes a while, but less than the headers are waited for, has them too", async () => {
    const upstream = await startUpstream();
    const { url } = await startGateway([upstream.url]);
    const answer = post(url, wire, "limit-late");
    await upstream.get("/asked?of=limit-late");
    await upstream.get("/release?of=limit-late");
    const { status, headers } = await answer;
    expect({ status, wait: headers["retry-after"] }).toEqual({ status: 429, wait: "7" });
  });

  test("a long silence and then 503: headers after the patience, heartbeats, an error of the wire's own", async () => {
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

  test("a call that takes longer than a client waits: heartbeats in between, then the call", async () => {
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

describe.each(WIRES)("%s, and the gateway closes", (wire) => {
  const whole = (model: string): { path: string; body: string } => {
    const { path, body } = SMALLEST[wire];
    return { path: path.replace("/m:", `/${model}:`), body: JSON.stringify({ ...body, model }) };
  };

  test("in mid-stream: what came before was delivered, and the end is an error", async () => {
    const upstream = await startUpstream();
    const { url, close, exchanges } = await startGateway([upstream.url]);
    const { response } = await opened(url, wire, "stall");
    const before = await until(response, (text) => text.includes("before"));
    const closed = close();
    const events = eventsIn(wire, before + (await until(response, () => false)));
    await closed;
    expect(textIn(events)).toBe("before");
    expect(events.at(-1)).toMatchObject({ reason: "error", error: { message: "the gateway is closing" } });
    expect(exchanges).toMatchObject([{ outcome: "aborted", brokenOff: "gateway" }]);
    await upstream.get("/left?of=stall");
  });

  test.each(["stall", "late"])("before an answer that is not streamed is whole (%s): 503, or the wire's own", async (model) => {
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

  test("before a stream has begun: 503, or the wire's own", async () => {
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

describe("several URLs", () => {
  const chat = (url: string, model = "fine a") => post(url, "openai-chat", model);

  test("one that is dead is stood in for, and then left alone", async () => {
    const [dead, alive] = [await startUpstream(), await startUpstream()];
    const { url } = await startGateway([dead.url, alive.url]);
    dead.process.kill("SIGKILL");
    await once(dead.process, "exit");
    for (let n = 0; n < 4; n++) expect((await chat(url)).body).toContain("fine a:19;");
    expect(JSON.parse(await alive.get("/counts"))).toMatchObject({ asked: 4 });
  });

  test.each(["reset", "busy", "limit"])("one that answers with %s is stood in for, and then left alone", async (kind) => {
    const [broken, fine] = [await startUpstream(kind), await startUpstream("fine")];
    const { url } = await startGateway([broken.url, fine.url]);
    for (let n = 0; n < 4; n++) expect((await chat(url)).body).toContain("fine a:19;");
    expect(JSON.parse(await broken.get("/counts"))).toMatchObject({ asked: 1 });
    expect(JSON.parse(await fine.get("/counts"))).toMatchObject({ asked: 4 });
  });

  test("nothing is tried again once the answer has begun", async () => {
    const [one, two] = [await startUpstream(), await startUpstream()];
    const { url } = await startGateway([one.url, two.url]);
    expect(eventsIn("openai-chat", (await chat(url, "cut")).body).at(-1)).toMatchObject({ reason: "error" });
    const counts = [JSON.parse(await one.get("/counts")), JSON.parse(await two.get("/counts"))] as { asked: number }[];
    expect(counts.reduce((sum, { asked }) => sum + asked, 0)).toBe(1);
  });

  test("the least busy one is next", async () => {
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

  test("all are dead: 503, which clients try again", async () => {
    const { url } = await startGateway([nobody, nobody]);
    expect((await chat(url)).status).toBe(503);
  });
});

describe.skipIf(process.platform === "win32")("an upstream whose process is stopped (not on Windows, which has no SIGSTOP)", () => {
  const behind = (url: string, timeouts: RemoteOptions["timeouts"]) =>
    startGateway([url], { upstreams: { up: remoteAt([url], { timeouts }) } });

  test("in mid-stream: what came before was delivered, and the silence is an error", async () => {
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
    "with a full line of others before it: 504 (only on Linux, which lets who comes then wait)",
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
  test("so many at a time, so many in line, and the next one is told to come back", async () => {
    const upstream = await startUpstream();
    const engine = createLimited(remoteAt([upstream.url]), { concurrent: 1, queue: 1 });
    const { url } = await startGateway([upstream.url], { upstreams: { up: engine } });
    const first = await opened(url, "openai-chat", "stall");
    await until(first.response, (text) => text.includes("before"));
    const second = post(url, "openai-chat", "fine b");
    // The second is in line as soon as a third is turned away.
    let third = await post(url, "openai-responses", "fine c");
    while (third.status === 200) third = await post(url, "openai-responses", "fine c");
    expect({ status: third.status, wait: third.headers["retry-after"] }).toEqual({ status: 503, wait: "5" });
    await upstream.get("/release?of=stall");
    expect((await second).body).toContain("fine b:19;");
    expect(JSON.parse(await upstream.get("/counts"))).toMatchObject({ asked: 2 });
  });

  test("who waits too long is told so, and who leaves the line frees it", async () => {
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
  ["as it comes", { rescue: false }],
  ["searched for calls", { dialect: "hermes", rescue: true }],
  ["read in band", { dialect: "hermes", tools: "inband" }],
])("a client that does not read holds the upstream up (%s)", async (_, rule) => {
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

test("closing does not wait for clients that say nothing, or do not go", async () => {
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

test("a thousand streams at a time: none is lost or mixed up, and nothing is left open", async () => {
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
  await new Promise((resolve) => setImmediate(resolve));
  const after = resources();
  expect({ sockets: after.sockets! <= before.sockets!, servers: after.servers, timers: after.timers! <= before.timers! }).toEqual({
    sockets: true,
    servers: before.servers,
    timers: true,
  });
  const connections = async (): Promise<number> => (JSON.parse(await upstream.get("/counts")) as { connections: number }).connections;
  while ((await connections()) > 1); // the one that asks
});
