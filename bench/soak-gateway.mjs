// The second half of `npm run soak`: what the gateway keeps in memory over five rounds of a thousand streams each, of which some clients leave
// early and some upstreams break off. The gateway is a process of its own. Prints a table; asserts nothing.
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { fileURLToPath } from "node:url";

const ROUNDS = 5;
/** Rounds until all code is compiled: that is memory, too. */
const WARM_UP = 8;
const STREAMS = 1000;
const AT_ONCE = 100;
const PIECES = 200;
const WIRES = [
  ["/v1/chat/completions", { model: "m", stream: true, messages: [{ role: "user", content: "Hi" }] }],
  ["/v1/messages", { model: "m", stream: true, max_tokens: 99, messages: [{ role: "user", content: "Hi" }] }],
  ["/v1beta/models/m:streamGenerateContent?alt=sse", { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }],
  ["/v1/responses", { model: "m", stream: true, input: "Hi" }],
];

let answered = 0;

if (process.argv[2] === "gateway") await serve(process.argv[3]);
else await soak();

/** In the child: a gateway that says, when it is asked, what it holds. */
async function serve(upstream) {
  const { createRemote } = await import("../dist/engines/index.js");
  const { createGateway } = await import("../dist/gateway/index.js");
  const gateway = createGateway({ upstreams: { up: createRemote({ wire: "openai-chat", url: upstream }) }, port: 0 });
  const { url } = await gateway.listen();
  process.on("message", () => {
    globalThis.gc();
    globalThis.gc();
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
  const [{ url }] = await once(child, "message");
  console.log(
    `\nMB in the gateway's process over rounds of ${STREAMS} streams, ${AT_ONCE} at a time; every tenth client leaves, every tenth answer breaks\n`,
  );
  console.log(`${"round".padEnd(8)}${"heap".padStart(9)}${"rss".padStart(9)}${"seconds".padStart(9)}`);
  for (let n = 0; n < WARM_UP; n++) await streams(url);
  for (let round = 1; round <= ROUNDS; round++) {
    const began = performance.now();
    await streams(url);
    const seconds = (performance.now() - began) / 1000;
    child.send("measure");
    const [{ heapUsed, rss }] = await once(child, "message");
    const cells = [heapUsed / 2 ** 20, rss / 2 ** 20, seconds].map((number) => number.toFixed(1).padStart(9));
    console.log(String(round).padEnd(8) + cells.join(""));
  }
  child.disconnect();
  child.kill();
  upstream.closeAllConnections();
  upstream.close();
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
  let next = 0;
  const work = async () => {
    for (let n = next++; n < STREAMS; n = next++) await stream(url, n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

function stream(url, n) {
  const { hostname, port } = new URL(url);
  const [path, body] = WIRES[n % WIRES.length];
  return new Promise((resolve) => {
    const request = httpRequest({ hostname, port, path, method: "POST", headers: { "content-type": "application/json" } }, (response) => {
      if (n % 10 === 5) response.once("data", () => request.destroy());
      response.resume().on("close", resolve).on("error", resolve);
    });
    request.on("error", resolve);
    request.end(JSON.stringify(body));
  });
}
