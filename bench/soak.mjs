// `npm run soak`: what a scanner keeps in memory while it reads 100 MB of text, 10 MB of short calls and 10 MB of partial marks. Each
// dialect has its own process, as in real use: in a process that runs them all, V8 would no longer optimize for any. Prints a table, line
// by line; asserts nothing.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeHeapSnapshot } from "node:v8";
import { heldIn } from "./heap.mjs";
import { ours } from "./scanners.mjs";
import { WORKLOADS } from "./workloads.mjs";

const MB = 2 ** 20;
const CHUNK = 4;
const SOAKS = { plain: ["plain text", 100], calls: ["short calls", 10], partials: ["partial marks", 10] };

const [name, folder] = process.argv.slice(2);
if (name) soakOne(ours.find((scanner) => scanner.name === name));
else await soakAll();

async function soakAll() {
  const place = mkdtempSync(join(tmpdir(), "dragoman-soak-"));
  console.log(
    `kB alive in the process of one scanner after a quarter of the input and after all of it, in ${CHUNK}-character chunks, without V8's code\n`,
  );
  const columns = ["MB", "1/4", "all", "grown", "seconds"];
  console.log("".padEnd(30) + columns.map((title) => title.padStart(9)).join(""));
  let most = { grown: -Infinity };
  for (const scanner of ours) {
    const child = fork(fileURLToPath(import.meta.url), [scanner.name, place], { execArgv: ["--expose-gc"] });
    child.on("message", ({ label, mb, files, seconds }) => {
      const [first, last] = files.map((file) => heldIn(file).data);
      const cells = [mb.toFixed(0), ...[first, last, last - first, seconds].map((number) => number.toFixed(1))];
      console.log(label.padEnd(30) + cells.map((cell) => cell.padStart(9)).join(""));
      if (last - first > most.grown) most = { grown: last - first, label };
    });
    const [code] = await once(child, "exit");
    if (code !== 0) process.exit(1);
  }
  rmSync(place, { recursive: true });
  console.log(`\nFrom the first quarter to the last no scanner grew by more than ${most.grown.toFixed(1)} kB (${most.label}).`);
}

/** Runs in the child process. */
function soakOne(scanner) {
  for (const { id, make } of WORKLOADS) {
    if (!(id in SOAKS)) continue;
    const [title, mb] = SOAKS[id];
    const { text } = make(scanner);
    const began = performance.now();
    const running = scanner.create();
    const files = [mb / 4, (mb * 3) / 4].map((part, i) => {
      feed(running, text, part * MB);
      globalThis.gc();
      return writeHeapSnapshot(join(folder, `${scanner.name}-${id}-${i}.heapsnapshot`));
    });
    globalThis.kept = running.flush();
    process.send({ label: `${scanner.name}, ${title}`, mb, files, seconds: (performance.now() - began) / 1000 });
  }
}

/** Feeds the text again and again, until `length` characters are reached. */
function feed(running, text, length) {
  for (let fed = 0; fed < length; fed += text.length) {
    for (let at = 0; at < text.length; at += CHUNK) globalThis.kept = running.feed(text.slice(at, at + CHUNK));
  }
  globalThis.kept = undefined;
}
