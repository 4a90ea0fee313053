// Child processes: a client with its own home and nothing of the user's environment, and the gateway as `dragoman serve` starts it.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** A home with a project in it; `drop` removes both. */
export function createHome() {
  const home = mkdtempSync(join(tmpdir(), "dragoman-client-"));
  const cwd = join(home, "project");
  mkdirSync(join(home, "tmp"));
  mkdirSync(cwd);
  const put = (name, content) => {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), typeof content === "string" ? content : JSON.stringify(content));
  };
  return { home, cwd, put, drop: () => rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }) };
}

/** Nothing of the user's environment. */
export const environment = (home) => ({ PATH: process.env.PATH, HOME: home, TMPDIR: join(home, "tmp"), LANG: "C.UTF-8" });

/** Runs to its end, or until the timeout. */
export function runChild(command, args, { home, cwd, env = {}, timeoutMs = 60_000, input }) {
  const child = spawn(command, args, {
    cwd,
    env: { ...environment(home), ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    detached: process.platform !== "win32", // a process group of its own, so that its children end with it
  });
  const run = { code: null, stdout: "", stderr: "", timedOut: false, ms: 0 };
  const began = performance.now();
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => {
      run[name] += text;
    });
  }
  child.stdin?.end(input);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      run.timedOut = true;
      stop(child);
    }, timeoutMs);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ ...run, code, ms: performance.now() - began });
    });
  });
}

export function stop(child) {
  try {
    process.kill(process.platform === "win32" ? child.pid : -child.pid, "SIGKILL");
  } catch {
    // already gone
  }
}

/**
 * `dragoman serve`, and the lines of its log. `config` is the text of a dragoman.toml; without it there are flags. Everything is recorded,
 * and `recordings` returns what is wrong with the recordings, or nothing.
 */
export async function startGateway({ home, args = [], config, env = {} }) {
  const flags = config === undefined ? args : ["--config", join(home, "dragoman.toml"), ...args];
  if (config !== undefined) writeFileSync(join(home, "dragoman.toml"), config);
  const records = join(home, "recordings");
  const child = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--record", records, ...flags], {
    cwd: home,
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = [];
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const entry = JSON.parse(line);
      log.push(entry);
      if (entry.url) resolve(entry.url);
    });
    gone.then((code) => reject(new Error(`the gateway ended with ${code}: ${stderr}`)));
  });
  const close = async () => {
    child.kill("SIGKILL");
    await gone;
  };
  const recordings = async () => {
    child.kill("SIGTERM");
    await gone;
    return compared(records, home, Object.values(env));
  };
  return { url, log, close, recordings };
}

/** No secret is in a recording, and a replay gives the client the same bytes. */
async function compared(folder, home, secrets) {
  const files = readdirSync(folder).map((name) => join(folder, name));
  const told = files.find((file) => secrets.some((secret) => readFileSync(file, "utf8").includes(secret)));
  if (told) return `a secret is in ${basename(told)}`;
  const { code, stdout, stderr } = await runChild(process.execPath, [MAIN, "compare", ...files], { home, cwd: home, timeoutMs: 300_000 });
  if (code !== 0) return `played again, it is not the same: ${stdout.slice(Math.max(0, stdout.indexOf("differs")))}${stderr}`;
}
