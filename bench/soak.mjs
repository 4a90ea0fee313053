// `npm run soak`: what a scanner keeps in memory while 100 MB pass through it. Prints a table; asserts nothing.
import { chunksOf } from "./measure.mjs";
import { ours } from "./scanners.mjs";
import { WORKLOADS } from "./workloads.mjs";

const MB = 2 ** 20;
const STOPS = 4;

/** Bytes of everything alive. */
function alive() {
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

/** Kilobytes that the scanner holds after each quarter of so much text. */
function soak(scanner, chunks, total) {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const before = alive();
  const running = scanner.create();
  const held = [];
  let fed = 0;
  for (let quarter = 1; quarter <= STOPS; quarter++) {
    for (; fed < (total * quarter) / STOPS; fed += length) for (const chunk of chunks) globalThis.kept = running.feed(chunk);
    globalThis.kept = undefined;
    held.push((alive() - before) / 1024);
  }
  globalThis.kept = running.flush();
  return held;
}

const SOAKS = { plain: "plain text", calls: "short calls", partials: "partial marks" };

console.log("KB on the heap while 100 MB pass through one scanner, in 4-character chunks, after\n");
console.log(`${"".padEnd(30)}${[25, 50, 75, 100].map((mb) => `${mb} MB`.padStart(9)).join("")}`);
for (const scanner of ours) {
  for (const workload of WORKLOADS.filter(({ id }) => id in SOAKS)) {
    const label = `${scanner.name}, ${SOAKS[workload.id]}`;
    if (process.stderr.isTTY) process.stderr.write(`${label} …\r`);
    const chunks = chunksOf(workload.make(scanner).text);
    soak(scanner, chunks, 4 * MB); // compiling takes memory too
    const held = soak(scanner, chunks, 100 * MB);
    console.log(`${label.padEnd(30)}${held.map((kb) => kb.toFixed(1).padStart(9)).join("")}`);
  }
}
