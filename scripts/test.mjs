// Runs everything that `npm test` checks. Each step is an npm script; the first failure ends the run.
import { spawnSync } from "node:child_process";

const steps = ["build", "types", "lint", "unused", "package", "size", "unit"];

for (const step of steps) {
  console.log(`--- ${step}`);
  const began = performance.now();
  const { status } = spawnSync("npm", ["run", "--silent", step], { stdio: "inherit", shell: process.platform === "win32" });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  if (status !== 0) {
    console.error(`\nnpm test: FAILED in "${step}" after ${seconds} s; to run it alone: npm run ${step}`);
    process.exit(1);
  }
  console.log(`    ${seconds} s`);
}
console.log(
  "\nnpm test: all passed; the real clients (gemini-cli, Claude Code, Codex, opencode, SDKs) are skipped here: npm run test:clients",
);
