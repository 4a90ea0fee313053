// `npm run test:clients`: real clients, installed as users install them, through `dragoman serve`, in front of an upstream with bad
// manners.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const folder = fileURLToPath(new URL(".", import.meta.url));
const { values: flags } = parseArgs({
  options: { only: { type: "string", multiple: true, default: [] }, jobs: { type: "string", default: "2" }, list: { type: "boolean" } },
});

if (process.platform === "win32") fail("the clients are run on Linux and macOS only");
install();
const { agentRuns, missingAgents } = await import("./scenarios.mjs");
const { pageRuns } = await import("./pages.mjs");
const { sdkRuns } = await import("./sdks.mjs");
const { terminalRuns } = await import("./terminal.mjs");
const missing = missingAgents();
if (missing.length > 0) console.log(`skipped, since there is no build for ${process.platform}-${process.arch}: ${missing.join(", ")}`);
const runs = [...pageRuns(), ...terminalRuns(), ...agentRuns(), ...sdkRuns()].filter(
  ({ client, title, wire }) => !missing.includes(client) && flags.only.every((word) => `${client} | ${title} | ${wire}`.includes(word)),
);
if (runs.length === 0) fail(`no run has ${flags.only.join(" and ")} in its name; --list shows all`);
const widths = ["client", "title", "wire"].map((key) => Math.max(...runs.map((run) => run[key].length)));
const nameOf = ({ client, title, wire }) => [client, title, wire].map((text, i) => text.padEnd(widths[i])).join("  ");
if (flags.list) {
  for (const run of runs) console.log(nameOf(run));
  process.exit();
}

const began = performance.now();
const failed = [];
const waiting = [...runs];
let done = 0;
await Promise.all(Array.from({ length: Number(flags.jobs) }, work));
printTable();
const minutes = ((performance.now() - began) / 60_000).toFixed(1);
if (failed.length > 0) {
  console.error(`\ntest:clients: ${failed.length} of ${runs.length} FAILED after ${minutes} min`);
  for (const { run, difference } of failed) console.error(`  ${nameOf(run)}  ${difference}`);
  process.exit(1);
}
console.log(`\ntest:clients: all ${runs.length} passed in ${minutes} min`);

async function work() {
  for (let run = waiting.shift(); run; run = waiting.shift()) {
    const start = performance.now();
    const difference = firstLine(await run.run().catch((error) => error.message));
    const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(5);
    done++;
    console.log(
      `${String(done).padStart(3)}/${runs.length}  ${nameOf(run)}  ${seconds} s  ${difference === undefined ? "ok" : `DIFFERS: ${difference}`}`,
    );
    if (difference !== undefined) failed.push({ run, difference });
  }
}

/** Clients and scenarios, by the wire of the upstream. */
function printTable() {
  const wires = [...new Set(runs.map(({ wire }) => wire))];
  const head = ({ client, title }) => `${client.padEnd(widths[0])}  ${title.padEnd(widths[1])}`;
  const verdict = (run) => (run === undefined ? "" : failed.some((one) => one.run === run) ? "DIFFERS" : "ok");
  console.log(`\n${head({ client: "client", title: "scenario" })}  ${wires.join("  ")}`);
  for (const row of new Set(runs.map(head))) {
    const cells = wires.map((wire) => verdict(runs.find((run) => run.wire === wire && head(run) === row)).padEnd(wire.length));
    console.log(`${row}  ${cells.join("  ")}`.trimEnd());
  }
}

/** Enough to know where to look. */
function firstLine(text) {
  return text?.replaceAll(/\s+/g, " ").slice(0, 300);
}

/** Once for each lockfile. */
function install() {
  const lock = readFileSync(`${folder}package-lock.json`, "utf8");
  const stamp = `${folder}node_modules/.installed`;
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  console.log("--- installing the clients (some 1.5 GB, from npm)");
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) fail("the clients could not be installed");
  writeFileSync(stamp, lock);
}

function fail(message) {
  console.error(`test:clients: ${message}`);
  process.exit(2);
}
