// The measured servers, each in its own process.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const METER = new URL("meter.mjs", import.meta.url).href;
const PORTKEY = here("../portkey/node_modules/@portkey-ai/gateway/build/start-server.js");

const running = new Set();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** `ready` waits until the server listens, and returns its port. */
async function start(args, { flags = [], ready }) {
  const child = spawn(process.execPath, [...flags, "--import", METER, ...args], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const port = await Promise.race([
    ready(child),
    once(child, "exit").then(([code]) => {
      throw new Error(`${args[0]} ended with ${code}`);
    }),
  ]);
  child.stdout.resume();
  return {
    port,
    async usage() {
      child.send("usage");
      const [usage] = await once(child, "message");
      return usage;
    },
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

const sendsPort = async (child) => (await once(child, "message"))[0].port;

/** Without a terminal, `dragoman serve` logs JSON; one line has the URL. */
function logsUrl(child) {
  return new Promise((resolve) => {
    let text = "";
    child.stdout.on("data", (part) => {
      text += part;
      const [, port] = /"url":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(text) ?? [];
      if (port) resolve(Number(port));
    });
  });
}

export const startUpstream = (args) => start([here("upstream.mjs"), ...args], { ready: sendsPort });

export const startPipe = (upstream, flags) => start([here("pipe.mjs"), String(upstream)], { flags, ready: sendsPort });

export const startFloor = (upstream) => start([here("floor.mjs"), String(upstream)], { ready: sendsPort });

export const startDragoman = (upstream, flags) =>
  start(
    [
      here("../../dist/cli/main.js"),
      "serve",
      "--upstream",
      `http://127.0.0.1:${upstream}/v1`,
      "--upstream-wire",
      "openai-chat",
      "--port",
      "0",
    ],
    { flags, ready: logsUrl },
  );

/** Returns the reason if it cannot be installed. */
export function installPortkey(say) {
  if (existsSync(PORTKEY)) return undefined;
  say("installing @portkey-ai/gateway into bench/portkey (once) …");
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"];
  const { status, stderr, error } = spawnSync("npm", args, {
    cwd: here("../portkey"),
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status === 0) return undefined;
  return error?.message ?? stderr.match(/^npm error (?!code |errno |syscall ).+$/m)?.[0] ?? `npm ci ended with ${status}`;
}

export async function startPortkey() {
  const port = await freePort();
  return start([PORTKEY, `--port=${port}`, "--headless"], {
    async ready() {
      for (;;) {
        const answer = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
        if (answer) return port;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  });
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
