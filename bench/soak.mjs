// `npm run soak`: what a scanner keeps in memory while 100 MB of text pass through it, and 10 MB each of short calls and of partial marks. Each
// dialect has a process of its own, as in real life: in one that ran them all the engine would no longer compile for any. Prints a table, line
// by line; asserts nothing.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { chunksOf } from "./measure.mjs";
import { ours } from "./scanners.mjs";
import { WORKLOADS } from "./workloads.mjs";

const MB = 2 ** 20;
const QUARTERS = [1, 2, 3, 4];
const SOAKS = { plain: ["plain text", 100], calls: ["short calls", 10], partials: ["partial marks", 10] };

const [name] = process.argv.slice(2);
if (name) soakOne(ours.find((scanner) => scanner.name === name));
else await soakAll();

async function soakAll() {
  console.log("kB on the heap while so much passes through one scanner, in 4-character chunks, after each quarter\n");
  console.log(`${"".padEnd(30)}${"MB".padStart(6)}${QUARTERS.map((n) => `${n}/4`.padStart(9)).join("")}${"seconds".padStart(9)}`);
  let most = { grown: -Infinity };
  for (const scanner of ours) {
    const child = fork(fileURLToPath(import.meta.url), [scanner.name], { execArgv: ["--expose-gc"] });
    child.on("message", ({ label, mb, held, seconds }) => {
      const cells = [...held, seconds].map((number) => number.toFixed(1).padStart(9));
      console.log(label.padEnd(30) + String(mb).padStart(6) + cells.join(""));
      const grown = held.at(-1) - held[0];
      if (grown > most.grown) most = { grown, label };
    });
    const [code] = await once(child, "exit");
    if (code !== 0) process.exit(1);
  }
  console.log(`\nFrom the first quarter to the last no scanner grew by more than ${most.grown.toFixed(1)} kB (${most.label}).`);
}

/** In the child. */
function soakOne(scanner) {
  for (const { id, make } of WORKLOADS) {
    if (!(id in SOAKS)) continue;
    const [title, mb] = SOAKS[id];
    const chunks = chunksOf(make(scanner).text);
    soak(scanner, chunks, 4); // compiling takes memory too
    const began = performance.now();
    const held = soak(scanner, chunks, mb);
    process.send({ label: `${scanner.name}, ${title}`, mb, held, seconds: (performance.now() - began) / 1000 });
  }
}

/** Bytes of everything alive. */
function alive() {
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

/** Kilobytes that the scanner holds after each quarter of so many megabytes. */
function soak(scanner, chunks, mb) {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const before = alive();
  const running = scanner.create();
  const held = [];
  let fed = 0;
  for (const quarter of QUARTERS) {
    for (; fed < (mb * MB * quarter) / QUARTERS.length; fed += length) for (const chunk of chunks) globalThis.kept = running.feed(chunk);
    globalThis.kept = undefined;
    held.push((alive() - before) / 1024);
  }
  globalThis.kept = running.flush();
  return held;
}
