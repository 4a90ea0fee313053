// A chat server in a process of its own that does what its model's name says: it stalls, dies, sends garbage, answers late. It prints its
// port. An argument overrides the model's name. `/release?of=x` releases what waits under that name, `/left?of=x` answers when that client
// is gone, `/asked?of=x` when it has come.
import { createServer } from "node:http";

const waiting = new Map();
const left = new Map();
const written = new Map();
const asking = new Map();
let [open, asked] = [0, 0];

const promiseIn = (map, name) => {
  if (!map.has(name)) {
    let resolve;
    const promise = new Promise((done) => {
      resolve = done;
    });
    map.set(name, { promise, resolve });
  }
  return map.get(name);
};

const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: "c", model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const text = (content) => chunk({ content });
const call = (rest, first = {}) => chunk({ tool_calls: [{ index: 0, ...first, function: rest }] });
const ended = `${chunk({}, "stop")}data: [DONE]\n\n`;

const drained = (response) =>
  new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });

const PLAYS = {
  async fine(response, name) {
    for (let n = 0; n < 20; n++) {
      response.write(text(`${name}:${n};`));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end(ended);
  },
  async stall(response, name) {
    response.write(text("before"));
    await promiseIn(waiting, name).promise;
    response.write(text("after"));
    response.end(ended);
  },
  async die(response) {
    response.write(text("before"));
    await new Promise((resolve) => response.write(call({ name: "f", arguments: '{"a":"b' }, { id: "x", type: "function" }), resolve));
    setImmediate(() => process.kill(process.pid, "SIGKILL"));
  },
  async cut(response) {
    const bytes = Buffer.from(text("before 👋"));
    const middle = bytes.indexOf(0xf0) + 2;
    await new Promise((resolve) => response.write(Buffer.concat([Buffer.from(text("said. ")), bytes.subarray(0, middle)]), resolve));
    setImmediate(() => response.destroy());
  },
  async garbage(response) {
    response.write(text("before"));
    response.end("data: }{ <html>\n\n\u0000\u0001 nonsense\n\n");
  },
  async long(response, name) {
    response.write(call({ name: "write_file", arguments: '{"text":"' }, { id: "x", type: "function" }));
    await promiseIn(waiting, name).promise;
    response.write(call({ arguments: 'done"}' }));
    response.end(`${chunk({}, "tool_calls")}data: [DONE]\n\n`);
  },
  async flood(response, name) {
    const piece = text("x".repeat(65_000));
    for (let n = 0; n < 400; n++) {
      written.set(name, n);
      if (!response.write(piece)) {
        promiseIn(waiting, `${name} full`).resolve();
        await drained(response);
      }
    }
    response.end(ended);
  },
};

/** The kinds with a status other than 200, or none. */
const REFUSALS = {
  limit: (response) =>
    response.writeHead(429, { "content-type": "application/json", "retry-after": "7" }).end('{"error":{"message":"slow down"}}'),
  "limit-late": async (response, name) => {
    await promiseIn(waiting, name).promise;
    REFUSALS.limit(response);
  },
  busy: (response) => response.writeHead(503, { "content-type": "application/json" }).end('{"error":{"message":"not now"}}'),
  reset: (response) => response.destroy(),
  late: async (response, name) => {
    await promiseIn(waiting, name).promise;
    REFUSALS.busy(response);
  },
};

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://upstream");
  const of = searchParams.get("of") ?? "";
  if (pathname === "/release") {
    promiseIn(waiting, of).resolve();
    return response.end("{}");
  }
  if (pathname === "/left") return promiseIn(left, of).promise.then(() => response.end("{}"));
  if (pathname === "/full") return promiseIn(waiting, `${of} full`).promise.then(() => response.end(String(written.get(of))));
  if (pathname === "/asked") return promiseIn(asking, of).promise.then(() => response.end("{}"));
  if (pathname === "/counts") return server.getConnections((_, connections) => response.end(JSON.stringify({ open, asked, connections })));
  if (pathname === "/v1/models") return response.writeHead(200, { "content-type": "application/json" }).end('{"object":"list","data":[]}');
  if (pathname !== "/v1/chat/completions") return response.writeHead(404).end("{}");
  let body = "";
  for await (const piece of request.setEncoding("utf8")) body += piece;
  const name = JSON.parse(body).model;
  const kind = process.argv[2] ?? name.split(" ")[0];
  asked++;
  open++;
  promiseIn(asking, name).resolve();
  response.once("close", () => {
    open--;
    promiseIn(left, name).resolve();
  });
  if (REFUSALS[kind]) return REFUSALS[kind](response, name);
  if (!PLAYS[kind]) return response.writeHead(404).end("{}");
  response.writeHead(200, { "content-type": "text/event-stream" });
  return PLAYS[kind](response, name);
});

server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));
