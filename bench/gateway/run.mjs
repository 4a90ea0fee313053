// `npm run bench:gateway`: what the gateway costs, as ratios to a node:http pipe that runs beside it and only passes bytes on. Prints a
// table and the figures that are over their limits; the exit code is then 1.
//
//   npm run bench:gateway                       three times eight rounds
//   npm run bench:gateway -- --rounds 1         fewer, for a first look
//   npm run bench:gateway -- --floor            also measure what Fastify, undici and JSON cost without a gateway
//   npm run bench:gateway -- --obfuscation      with an upstream whose chunks contain random characters, as OpenAI's do
//   npm run bench:gateway -- --no-portkey       without @portkey-ai/gateway
//   npm run bench:gateway -- --profile DIR      also write a CPU profile of the gateway
//
// CPU is that of the server process with all its threads. Before the first round, every server answers enough requests for V8 to compile
// most of what it will compile; the rest happens in the first rounds. Every server is measured in every round, one after the other, and its
// best round counts: load on the machine only ever adds time, and many short rounds are likelier to find it idle than a few long ones. All
// of this is done three times with new processes, because the memory layout of a process may make everything in it take a quarter longer.
//
// A request is a stream of twelve chunks without pauses: each written by itself, as servers do, and, in another column, all in one piece,
// which is cheapest for the pipe; the limit is the same. "Paced" is one chunk per stream every 4 ms, so that no two chunks arrive in one
// piece. All servers run as their users run them: ours logs and counts every exchange.
import { parseArgs } from "node:util";
import { Client, WIRES } from "./clients.mjs";
import { installPortkey, startDragoman, startFloor, startPipe, startPortkey, startUpstream } from "./servers.mjs";

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "8" },
    portkey: { type: "boolean", default: true },
    floor: { type: "boolean", default: false },
    obfuscation: { type: "boolean", default: false },
    profile: { type: "string" },
  },
  allowNegative: true,
});
const rounds = Number(options.rounds);

const SHORT = { chunks: 12, temperature: 0 };
const ONE_PIECE = { chunks: 12, temperature: 0.5 };
const PACED = { chunks: 250, temperature: 1 };
const [STARTS, REQUESTS, AT_ONCE, WARM_UP, STREAMS, LOOKS] = [3, 800, 16, 16_000, 32, 100];

const LIMITS = { request: 1.6, piece: 1.6, chunk: 1.7, first: 1.4, rss: 2.5 };
const PORTKEY_TIMES = 5;

const say = (text) => process.stderr.write(process.stderr.isTTY ? `\r\x1b[2K${text}` : text && `${text}\n`);

/** A server, a client that sends it requests in one wire, and the measurements. */
class Subject {
  /** `launch` starts the server in front of an upstream's port; `headers` are sent with each request. */
  constructor(name, launch, wire, headers) {
    Object.assign(this, { name, launch, headers, wire: WIRES[wire], best: {}, firsts: [] });
  }

  async start(upstream) {
    this.server = await this.launch(upstream);
    this.client = new Client(this.server.port, this.headers?.(upstream));
  }

  async stop() {
    this.client.close();
    await this.server.stop();
  }

  keep(figure, value) {
    this.best[figure] = Math.min(this.best[figure] ?? Number.POSITIVE_INFINITY, value);
  }

  /** Microseconds of the server's CPU time during `work`. */
  async cpu(work) {
    const before = await this.server.usage();
    await work();
    return (await this.server.usage()).cpu - before.cpu;
  }

  async requests(count, kind) {
    let left = count;
    const ask = async () => {
      while (left-- > 0) await this.client.stream(this.wire(kind));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
  }

  async measureRequests() {
    this.keep("request", (await this.cpu(() => this.requests(REQUESTS, SHORT))) / REQUESTS);
    this.keep("piece", (await this.cpu(() => this.requests(REQUESTS, ONE_PIECE))) / REQUESTS);
  }

  async measurePaced() {
    const ask = () => this.client.stream(this.wire(PACED));
    this.keep("chunk", (await this.cpu(() => Promise.all(Array.from({ length: STREAMS }, ask)))) / (STREAMS * PACED.chunks));
  }

  async measureMemory() {
    this.keep("rss", (await this.server.usage()).rss / 2 ** 20);
  }
}

/** One request to each server in turn, again and again, so that other load on the machine affects all of them. */
async function measureFirst(subjects) {
  for (let n = 0; n < LOOKS; n++)
    for (const subject of subjects) subject.firsts.push((await subject.client.stream(subject.wire(SHORT))) * 1000);
}

// ---- the servers

const profiled = options.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`];
const pipe = new Subject("raw node:http pipe", startPipe, "chat");
const ours = Object.keys(WIRES).map(
  (wire) => new Subject(`dragoman, ${wire} → chat`, (upstream) => startDragoman(upstream, profiled), wire),
);
const absent = options.portkey ? installPortkey(say) : "--no-portkey";
const portkey = new Subject("@portkey-ai/gateway", startPortkey, "chat", (upstream) => ({
  "x-portkey-provider": "openai",
  "x-portkey-custom-host": `http://127.0.0.1:${upstream}/v1`,
  authorization: "Bearer x",
}));
const subjects = [
  pipe,
  ...ours,
  ...(options.floor ? [new Subject("fastify, undici, JSON", startFloor, "chat")] : []),
  ...(absent === undefined ? [portkey] : []),
];

// ---- the rounds

for (let start = 1; start <= STARTS; start++) {
  const upstream = await startUpstream(options.obfuscation ? ["--obfuscation"] : []);
  for (const subject of subjects) {
    say(`start ${start} of ${STARTS}: warming up ${subject.name}`);
    await subject.start(upstream.port);
    for (const kind of [SHORT, ONE_PIECE]) await subject.requests(WARM_UP / 2, kind);
  }
  for (let round = 1; round <= rounds; round++) {
    for (const subject of subjects) {
      say(`start ${start} of ${STARTS}, round ${round} of ${rounds}: ${subject.name}`);
      await subject.measureRequests();
      await subject.measurePaced();
    }
  }
  say(`start ${start} of ${STARTS}: first chunks`);
  await measureFirst(subjects);
  for (const subject of subjects) {
    await subject.measureMemory();
    await subject.stop();
  }
  await upstream.stop();
}
for (const { best, firsts } of subjects) best.first = firsts.sort((a, b) => a - b)[firsts.length >> 1];
say("");

// ---- the table

const FIGURES = [
  ["request", "CPU per request", "µs"],
  ["piece", "in one piece", "µs"],
  ["chunk", "CPU per paced chunk", "µs"],
  ["first", "first chunk p50", "µs"],
  ["rss", "resident", "MB"],
];
const cell = (subject, figure, unit) =>
  `${(subject.best[figure] / pipe.best[figure]).toFixed(2)}× (${subject.best[figure].toFixed(figure === "chunk" ? 1 : 0)} ${unit})`;
const rows = [
  ["", ...FIGURES.map(([, title]) => title)],
  ...subjects.map((subject) => [subject.name, ...FIGURES.map(([figure, , unit]) => cell(subject, figure, unit))]),
  ["limit", ...FIGURES.map(([figure]) => `${LIMITS[figure]}×`)],
];
const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
for (const row of rows)
  console.log(
    row
      .map((text, column) => text.padEnd(widths[column]))
      .join("  ")
      .trimEnd(),
  );

const over = ours.flatMap((subject) =>
  FIGURES.filter(([figure]) => subject.best[figure] / pipe.best[figure] > LIMITS[figure]).map(([, title]) => `${subject.name}: ${title}`),
);
if (absent === undefined) {
  const times = ours.map((subject) => portkey.best.request / subject.best.request);
  console.log(
    `\n@portkey-ai/gateway takes ${times.map((n) => n.toFixed(1)).join(" and ")} times the CPU per request; the limit is ${PORTKEY_TIMES}`,
  );
  if (Math.min(...times) < PORTKEY_TIMES) over.push(`less than ${PORTKEY_TIMES} times cheaper than @portkey-ai/gateway`);
} else console.log(`\n@portkey-ai/gateway is left out: ${absent}`);
for (const text of over) console.log(`over the limit: ${text}`);
process.exit(over.length > 0 ? 1 : 0);
