// `npm run bench`: the time that our scanners and the peers' need, as ratios to a loop that only keeps each chunk. Prints a table; asserts
// nothing.
//
//   npm run bench                      all dialects and all peers
//   npm run bench -- --no-peers        ours only
//   npm run bench -- --only gemma      scanners whose name contains the word; `wires`: the streams of the wires
//   npm run bench -- --limit 60        stop a scanner that reports nothing for 60 s instead of 10
//   npm run bench -- --publish         write the tables into docs/speed.md
import { fork } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { installPeers, peerNames } from "./peers/peers.mjs";
import { ours } from "./scanners.mjs";
import { FRAGMENT_LIMIT, measureWires } from "./wires.mjs";
import { GROWTH_LIMIT, growth, WORKLOADS } from "./workloads.mjs";

const { values: options } = parseArgs({
  options: {
    peers: { type: "boolean", default: true },
    only: { type: "string", default: "" },
    limit: { type: "string", default: "10" },
    publish: { type: "boolean", default: false },
  },
  allowNegative: true,
});
const limitSeconds = Number(options.limit);
if (!(limitSeconds > 0)) {
  console.error(`bench: --limit takes a number of seconds, not "${options.limit}"`);
  process.exit(2);
}
if (options.publish && (options.only || !options.peers)) {
  console.error("bench: --publish is for the whole table: leave out --only and --no-peers");
  process.exit(2);
}

/** On a terminal, one line that is overwritten. */
const progress = (text) => process.stderr.write(process.stderr.isTTY ? `\r\x1b[2K${text}` : text && `${text}\n`);

// ---- measuring

/** A worker process, started on first use and killed when it reports nothing for too long. */
class Worker {
  #child;

  measure(job) {
    this.#child ??= fork(fileURLToPath(new URL("worker.mjs", import.meta.url)));
    const child = this.#child;
    return new Promise((resolve) => {
      let timer;
      const finish = (result) => {
        clearTimeout(timer);
        child.removeAllListeners();
        resolve(result);
      };
      const watch = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          this.stop();
          finish({ over: true });
        }, limitSeconds * 1000);
      };
      child.on("message", (message) => (message.alive ? watch() : finish(message)));
      child.on("exit", () => {
        this.#child = undefined;
        finish({ failed: "the process ended" });
      });
      watch();
      child.send(job);
    });
  }

  stop() {
    this.#child?.removeAllListeners();
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }
}

/** The loop's nanoseconds per chunk, over all runs. */
let [fastest, slowest] = [Infinity, 0];

/** All results of a scanner by workload. Once an argument takes too long, longer ones are not tried. */
async function results(worker, name) {
  const found = {};
  let tooLong = false;
  for (const workload of WORKLOADS) {
    progress(`${name}: ${workload.label} …`);
    found[workload.id] = tooLong && workload.length ? { over: true } : await worker.measure({ name, workload: workload.id });
    const { over, loopMs, chunks } = found[workload.id];
    if (workload.length) tooLong ||= over === true;
    if (loopMs === undefined) continue;
    fastest = Math.min(fastest, (loopMs * 1e6) / chunks);
    slowest = Math.max(slowest, (loopMs * 1e6) / chunks);
  }
  return found;
}

// ---- the table

const overLimit = [];
const failures = new Set();

function ratioCell(name, workload, result, limit) {
  if (result.failed !== undefined) {
    failures.add(`${name}: ${result.failed}`);
    return "failed";
  }
  if (result.over) {
    if (limit !== undefined) overLimit.push(`${name}, ${workload.label}: over ${limitSeconds} s, limit ${limit}×`);
    return `over ${limitSeconds} s`;
  }
  if (!result.correct) failures.add(`${name}, ${workload.label}: the result is wrong`);
  const ratio = result.ms / result.loopMs;
  const shown = `${ratio < 100 ? ratio.toFixed(ratio < 10 ? 2 : 1) : Math.round(ratio).toLocaleString("en")}×`;
  const over = limit !== undefined && ratio > limit;
  if (over) overLimit.push(`${name}, ${workload.label}: ${shown}, limit ${limit}×`);
  return `${shown}${over ? " !" : ""}${result.correct ? "" : " ✗"}`;
}

function growthCell(name, found, limit) {
  const measured = WORKLOADS.filter(({ id, length }) => length && found[id].ms !== undefined);
  const exponent = growth(measured.map(({ id, length }) => ({ length, ms: found[id].ms })));
  if (exponent === undefined) return "–";
  const over = limit !== undefined && exponent > limit;
  if (over) overLimit.push(`${name}, growth: ${exponent.toFixed(2)}, limit ${limit}`);
  return `${exponent.toFixed(2)}${over ? " !" : ""}`;
}

function row(name, found, scanner) {
  const cells = WORKLOADS.map((workload) => ratioCell(name, workload, found[workload.id], scanner && workload.limit?.(scanner)));
  const partials = cells.pop();
  return [name, ...cells, growthCell(name, found, scanner && GROWTH_LIMIT), partials];
}

function limits(name, scanner) {
  const cells = WORKLOADS.map((workload) => (workload.limit ? `≤ ${workload.limit(scanner)}×` : ""));
  const partials = cells.pop();
  return [name, ...cells, `≤ ${GROWTH_LIMIT}`, partials];
}

function printTable(rows) {
  const widths = rows[0].map((_, at) => Math.max(...rows.map((cells) => (cells[at] ?? "").length)));
  for (const cells of rows) {
    const line = cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join("  ");
    console.log(line.trimEnd());
  }
}

// ---- the page

const PAGE = "docs/speed.md";

/** Replaces the tables of the page and leaves its text. */
function publish(tables) {
  const machine = `${cpus()[0]?.model.trim() || "an unknown CPU"}, ${availableParallelism()} cores, Node ${process.version}`;
  const table = ([head, ...rows]) =>
    [head, head.map((_, at) => (at === 0 ? "---" : "---:")), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  let page = readFileSync(PAGE, "utf8");
  for (const [name, text] of [["machine", machine], ...Object.entries(tables).map(([name, rows]) => [name, table(rows)])]) {
    const [from, to] = [`<!-- ${name} -->\n`, `\n<!-- end of ${name} -->`].map((mark) => page.indexOf(mark));
    if (from < 0 || to < 0) throw new Error(`${PAGE} has no place for ${name}`);
    page = `${page.slice(0, from)}<!-- ${name} -->\n${text}${page.slice(to)}`;
  }
  writeFileSync(PAGE, page);
}

// ---- the run

const wanted = (name) => name.includes(options.only);
const mine = ours.filter((scanner) => wanted(scanner.name));
const theirs = options.peers ? peerNames.filter(wanted) : [];
const wires = options.only === "" || "wires".includes(options.only);
if (mine.length + theirs.length === 0 && !wires) {
  console.error(
    `bench: no scanner's name contains "${options.only}"; there are ${[...ours.map(({ name }) => name), ...peerNames].join(", ")}`,
  );
  process.exit(2);
}
const why = theirs.length > 0 ? await installPeers(progress) : undefined;

const head = [...WORKLOADS.map((workload) => workload.label)];
const rows = [["", ...head.slice(0, -1), "growth", ...head.slice(-1)]];
if (mine.some((scanner) => scanner.sentinel)) rows.push(limits("limit", { sentinel: true }));
if (mine.some((scanner) => !scanner.sentinel)) rows.push(limits("limit without a sentinel", { sentinel: false }));

// Our scanners share one process, as in a gateway, where no scanner has V8's caches for itself.
const worker = new Worker();
for (const scanner of mine) {
  const found = await results(worker, scanner.name);
  rows.push(row(scanner.name, found, scanner));
}
worker.stop();

for (const name of why === undefined ? theirs : []) {
  const peer = new Worker();
  const found = await results(peer, name);
  peer.stop();
  rows.push(row(name, found));
}
progress("");

if (slowest > 0) {
  const cost = `${fastest.toFixed()} to ${slowest.toFixed()} ns a chunk here`;
  console.log(`Node ${process.version}, 4-character chunks, best of 7 runs. 1× is a loop that keeps each chunk and looks for "<" in it`);
  console.log(`(${cost}). growth: the exponent from 64 KB to 1 MB. ! over the limit. ✗ wrong result.\n`);
  printTable(rows);
}
if (wires) {
  const measured = measureWires(progress);
  progress("");
  console.log(`\nThe wires: one call in fragments of one character, the cost of each. growth: ≤ ${FRAGMENT_LIMIT}×.\n`);
  printTable(measured.rows);
  overLimit.push(...measured.over);
  if (options.publish && why === undefined) publish({ scanners: rows, wires: measured.rows });
}
if (why !== undefined) console.log(`\nThe peers are left out: they could not be installed (${why}).`);
const list = (title, lines) => console.log(`\n${title}:\n${[...lines].map((line) => `  ${line}`).join("\n")}`);
if (failures.size > 0) list("Failures", failures);
if (overLimit.length > 0) list("Over the limits", overLimit);
else if (mine.length > 0 || wires) console.log("\nAll within the limits.");
