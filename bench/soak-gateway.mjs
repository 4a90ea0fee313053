// The second half of `npm run soak`: what the gateway keeps in memory over five rounds of a thousand streams each. Some clients leave
// early, and some upstreams break off. The gateway runs in its own process and is measured after every connection is closed. Asserts
// nothing.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, createServer, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { heldIn } from "./heap.mjs";

const ROUNDS = 5;
const STREAMS = 1000;
const AT_ONCE = 100;
const PIECES = 200;
/** undici ends its timers by a clock that ticks once a second. */
const SETTLE_MS = 1500;
const WIRES = [
  ["/v1/chat/completions", { model: "m", stream: true, messages: [{ role: "user", content: "Hi" }] }],
  ["/v1/messages", { model: "m", stream: true, max_tokens: 99, messages: [{ role: "user", content: "Hi" }] }],
  ["/v1beta/models/m:streamGenerateContent?alt=sse", { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }],
  ["/v1/responses", { model: "m", stream: true, store: false, input: "Hi" }], // stored items are kept up to a limit: that would hide leaks
  ["/api/chat", { model: "m", messages: [{ role: "user", content: "Hi" }] }],
];

let answered = 0;

if (process.argv[2] === "gateway") await serve(process.argv[3]);
else await soak();

/** In the child: a gateway that writes a heap snapshot for each message with a file name. */
async function serve(upstream) {
  const { createRemote } = await import("../dist/engines/index.js");
  const { createGateway } = await import("../dist/gateway/index.js");
  const { writeHeapSnapshot } = await import("node:v8");
  const gateway = createGateway({ upstreams: { up: createRemote({ wire: "openai-chat", url: upstream }) }, port: 0 });
  const { url } = await gateway.listen();
  const isBusy = () => process.getActiveResourcesInfo().includes("TCPSocketWrap");
  process.on("message", async (file) => {
    while (isBusy()) await pause(10);
    await pause(SETTLE_MS);
    globalThis.gc(); // runs finalizers; what they release is collected by the snapshot
    await pause(10);
    writeHeapSnapshot(file);
    const { heapUsed, rss } = process.memoryUsage();
    process.send({ heapUsed, rss });
  });
  process.send({ url });
}

async function soak() {
  const upstream = createServer(answer);
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const child = fork(fileURLToPath(import.meta.url), ["gateway", `http://127.0.0.1:${upstream.address().port}/v1`], {
    execArgv: ["--expose-gc"],
  });
  const folder = mkdtempSync(join(tmpdir(), "dragoman-soak-"));
  const file = join(folder, "gateway.heapsnapshot");
  const [{ url }] = await once(child, "message");
  console.log(
    `\nThe gateway's process after rounds of ${STREAMS} streams, ${AT_ONCE} at a time; every ninth client leaves, every tenth answer breaks off.\n` +
      "Compiled: V8's code and its lists about it. Slots: undici's queues, at most 256 slots per connection. Data: everything else.\n",
  );
  const columns = ["data kB", "slots kB", "compiled kB", "heap MB", "rss MB", "seconds"];
  console.log("round".padEnd(8) + columns.map((title) => title.padStart(12)).join(""));
  const held = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const began = performance.now();
    await streams(url);
    const seconds = (performance.now() - began) / 1000;
    upstream.closeAllConnections();
    child.send(file);
    const [{ heapUsed, rss }] = await once(child, "message");
    const { data, slots, compiled } = heldIn(file);
    held.push({ data, slots, compiled });
    const cells = [data, slots, compiled, heapUsed / 2 ** 20, rss / 2 ** 20, seconds];
    console.log(String(round).padEnd(8) + cells.map((number) => number.toFixed(1).padStart(12)).join(""));
  }
  const grown = (what) => `${(held.at(-1)[what] - held[1][what]).toFixed(1)} kB`;
  console.log(
    `\nFrom round two to five, data grew by ${grown("data")}, slots by ${grown("slots")}, compiled code by ${grown("compiled")}.`,
  );
  child.disconnect();
  child.kill();
  upstream.close();
  rmSync(folder, { recursive: true });
}

async function answer(request, response) {
  for await (const _ of request);
  if (request.method !== "POST") return response.writeHead(404).end();
  const breaks = answered++ % 10 === 0;
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (let n = 0; n < PIECES && !response.destroyed; n++) {
    const chunk = { id: "c", model: "m", choices: [{ index: 0, delta: { content: `piece ${n} ` }, finish_reason: null }] };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    if (n % 20 === 0) await new Promise(setImmediate);
    if (breaks && n === PIECES / 2) return response.destroy();
  }
  response.end('data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
}

async function streams(url) {
  const agent = new Agent({ keepAlive: true });
  let next = 0;
  const work = async () => {
    for (let n = next++; n < STREAMS; n = next++) await stream(url, agent, n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  agent.destroy();
}

function stream(url, agent, n) {
  const { hostname, port } = new URL(url);
  const [path, body] = WIRES[n % WIRES.length];
  const headers = { "content-type": "application/json" };
  return new Promise((resolve) => {
    const request = httpRequest({ hostname, port, path, agent, method: "POST", headers }, (response) => {
      if (n % 9 === 5) response.once("data", () => request.destroy());
      response.resume().on("close", resolve).on("error", resolve);
    });
    request.on("error", resolve);
    request.end(JSON.stringify(body));
  });
}
