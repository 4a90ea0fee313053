// `dragoman serve` as a process, in front of a server on loopback.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { kill, runOf } from "../children.ts";
import { startFake } from "../engines/completions/fakes.ts";
import { answering, closeLater, nobody, signalOf, sse, startServer, tempFolder } from "../servers.ts";
import { dragoman, envWith, folder, main } from "./run.ts";

const files = folder();

type Line = Record<string, unknown> & { msg: string };

/** A running `dragoman serve`; `line` resolves with the first line of its log that fits. */
function serve(args: string[], env: Record<string, string> = {}, stderr: "inherit" | "pipe" = "inherit", node: string[] = []) {
  const child = spawn(process.execPath, [...node, main, "serve", ...args], { env: envWith(env), stdio: ["ignore", "pipe", stderr] });
  onTestFinished(() => kill(child));
  const lines: Line[] = [];
  const waiting = new Set<() => void>();
  const reader = createInterface({ input: child.stdout! });
  reader.on("line", (line) => {
    lines.push(JSON.parse(line) as Line);
    for (const look of waiting) look();
  });
  const line = (fits: (line: Line) => boolean): Promise<Line> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = lines.find(fits);
        if (found) resolve(found);
      };
      waiting.add(look);
      child.once("exit", (code) => reject(new Error(`it ended with ${code}: ${JSON.stringify(lines)}`)));
      look();
    });
  const url = line((line) => line.url !== undefined).then((line) => String(line.url));
  url.catch(() => {}); // not every test waits for it
  return { child, lines, line, url };
}

const chunk = (content: string) => ({ id: "c", model: "qwen3", choices: [{ index: 0, delta: { content }, finish_reason: "stop" }] });
const upstream = (content = "Hello") =>
  startServer((response, { url }) => {
    if (url === "/v1/models") return void response.end('{"object":"list","data":[{"id":"qwen3","object":"model"}]}');
    if (!url.startsWith("/v1/chat")) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream" }).end(sse(chunk(content), "[DONE]"));
  });

const generate = async (url: string, headers: Record<string, string> = {}) => {
  const body = JSON.stringify({ contents: [{ role: "user", parts: [{ text: "canary-content" }] }] });
  const path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
  return fetch(url + path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
};

test("with a URL: its wire is detected, any model name means its only model, and the log has neither keys nor content", async () => {
  const server = await upstream();
  const env = { GATE: "sk-canary-gate", UP: "sk-canary-up" };
  const { url, line, lines, child } = serve(
    ["--upstream", `${server.url}/v1`, "--upstream-key", "env:UP", "--port", "0", "--key", "env:GATE"],
    env,
  );
  expect((await generate(await url)).status).toBe(401);
  const answer = await generate(await url, { "x-goog-api-key": "sk-canary-gate" });
  expect(await answer.text()).toContain("Hello");
  expect(await line((line) => line.outcome === "ok")).toMatchObject({
    wire: "gemini",
    model: "gemini-2.5-pro",
    upstream: new URL(server.url).host,
    upstreamModel: "qwen3",
    status: 200,
  });
  expect(await line((line) => line.wire === "openai-chat")).toMatchObject({
    msg: expect.stringContaining("it answers /v1/models"),
    key: "set",
  });
  const metrics = await fetch(`${await url}/metrics`, { headers: { authorization: "Bearer sk-canary-gate" } });
  expect(await metrics.text()).toContain(
    `dragoman_requests_total{wire="gemini",upstream="${new URL(server.url).host}",rule="",kind="generate",outcome="ok"} 1`,
  );
  expect(server.seen.at(-1)?.headers.authorization).toBe("Bearer sk-canary-up");
  child.kill("SIGTERM"); // on Windows this ends a process at once
  expect(await once(child, "exit")).toEqual(process.platform === "win32" ? [null, "SIGTERM"] : [0, null]);
  expect(JSON.stringify(lines)).not.toContain("canary");
});

describe.skipIf(process.platform === "win32")("a running answer is completed (not on Windows, which has no SIGHUP)", () => {
  /** A running answer, and a way to let the upstream end it. */
  const begun = async (url: string, end: Promise<() => void>) => {
    const answer = await generate(url);
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader.read()).value ?? "";
    return async () => {
      (await end)();
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value;
      return text;
    };
  };
  const slow = async () => {
    const end = signalOf<() => void>();
    const piece = (content: string, finish_reason: string | null) => ({
      id: "c",
      choices: [{ index: 0, delta: { content }, finish_reason }],
    });
    const { url } = await startServer((response, { url }) => {
      if (url === "/v1/models") return void response.end('{"object":"list","data":[{"id":"qwen3","object":"model"}]}');
      if (!url.startsWith("/v1/chat")) return void response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/event-stream" }).write(sse(piece("Once ", null)));
      end.resolve(() => response.end(sse(piece("upon a time", "stop"), "[DONE]")));
    });
    return { url: `${url}/v1`, end: end.promise };
  };

  test("if the log is no longer read", async () => {
    const server = await slow();
    const { url, child } = serve(["--upstream", server.url, "--port", "0"]);
    const rest = await begun(await url, server.end);
    child.stdout!.destroy();
    await fetch(`${await url}/v1/models`); // this writes a line to the log
    await gone(await url);
    expect(await rest()).toContain("upon a time");
    if (child.exitCode === null) await once(child, "exit");
    expect(child.exitCode).toBe(0);
  });

  test.skipIf(spawnSync("script", ["--version"]).status !== 0).each(["", "[server]\nport = 0\n"])(
    "if the terminal is closed (skipped without the command `script`); its configuration: %j",
    async (head) => {
      const server = await slow();
      const config = ["--config", files.file("closed.toml", `${head}[upstreams.up]\nurl = "${server.url}"\n`)];
      const args = head === "" ? ["--upstream", server.url, "--port", "0"] : config;
      const command = [process.execPath, main, "serve", ...args].join(" ");
      const terminal = spawn("script", ["--quiet", "--command", command, "/dev/null"], {
        stdio: ["ignore", "pipe", "inherit"],
        env: envWith(),
      });
      onTestFinished(() => kill(terminal));
      const [url] = await said(terminal, /http:\/\/127\.0\.0\.1:\d+(?=, ready)/);
      const rest = await begun(url, server.end);
      terminal.kill("SIGKILL");
      await gone(url);
      expect(await rest()).toContain("upon a time");
    },
  );
});

/** Resolves once it accepts no more connections. */
async function gone(url: string): Promise<void> {
  while (
    await fetch(`${url}/healthz`, { headers: { connection: "close" } }).then(
      () => true,
      () => false,
    )
  )
    await setTimeout(20);
}

/** Resolves once the output of the child matches. */
function said(child: ChildProcess, what: RegExp): Promise<RegExpExecArray> {
  let text = "";
  return new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error(text)));
    child.stdout!.on("data", (piece: Buffer) => {
      text += piece;
      const found = what.exec(text);
      if (found) resolve(found);
    });
  });
}

test("a changed file is read again, and a broken one changes nothing", async () => {
  const [one, two] = [await upstream("One"), await upstream("Two")];
  const config = (url: string) => `[server]\nport = 0\n[upstreams.up]\nurl = "${url}/v1"\n`;
  const file = files.file("dragoman.toml", config(one.url));
  const { url, line, child } = serve(["--config", file]);
  expect(await (await generate(await url)).text()).toContain("One");
  writeFileSync(file, config(two.url));
  if (process.platform !== "win32") child.kill("SIGHUP");
  await line(({ msg }) => msg.includes("reloaded"));
  expect(await (await generate(await url)).text()).toContain("Two");
  writeFileSync(file, "[server\n");
  expect(await line(({ msg }) => msg.includes("not applied"))).toMatchObject({ msg: expect.stringContaining("dragoman.toml:1") });
  expect(await (await generate(await url)).text()).toContain("Two");
});

test("if a file changes again while it is being read, its last version counts", async () => {
  const [one, two, silent] = [await upstream("One"), await upstream("Two"), signalOf()];
  const slow = await startServer(() => silent.resolve()); // it never answers
  const config = (url: string, more = "") =>
    `[server]\nport = 0\n[upstreams.up]\nurl = "${url}/v1"\n[models."*"]\nupstream = "up"\n${more}`;
  const file = files.file("twice.toml", config(one.url));
  const { url, line, lines } = serve(["--config", file]);
  await url;
  writeFileSync(file, config(one.url, `[upstreams.slow]\nurl = "${slow.url}/v1"\n`));
  await silent.promise;
  writeFileSync(file, config(two.url));
  await line(() => lines.filter(({ msg }) => msg.includes("reloaded")).length === 2);
  expect(await (await generate(await url)).text()).toContain("Two");
});

test.skipIf(process.platform === "win32")(
  "a file behind links is read again when a link changes, as in a ConfigMap (not on Windows, where links need rights)",
  async () => {
    const [one, two] = [await upstream("One"), await upstream("Two")];
    const folder = tempFolder();
    for (const [name, server] of Object.entries({ one, two })) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, "dragoman.toml"), `[server]\nport = 0\n[upstreams.up]\nurl = "${server.url}/v1"\n`);
    }
    symlinkSync("one", join(folder, "..data"));
    symlinkSync("..data/dragoman.toml", join(folder, "dragoman.toml"));
    const { url, line } = serve(["--config", join(folder, "dragoman.toml")]);
    expect(await (await generate(await url)).text()).toContain("One");
    symlinkSync("two", join(folder, "..next"));
    renameSync(join(folder, "..next"), join(folder, "..data"));
    await line(({ msg }) => msg.includes("reloaded"));
    expect(await (await generate(await url)).text()).toContain("Two");
  },
);

test("if files cannot be watched, the log says so, and the file is read on request", async () => {
  const server = await upstream();
  const file = files.file("unwatched.toml", `[server]\nport = 0\n[upstreams.up]\nurl = "${server.url}/v1"\n`);
  const { url, line, child } = serve(["--config", file], {}, "inherit", ["--import", "./test/cli/without-watch.mjs"]);
  expect(await line(({ msg }) => msg.includes("will not be noticed"))).toMatchObject({ msg: expect.stringContaining("ENOSPC") });
  expect(await (await generate(await url)).text()).toContain("Hello");
  if (process.platform === "win32") return;
  child.kill("SIGHUP");
  await line(({ msg }) => msg.includes("reloaded"));
});

test("settings that need a restart are named when the file is read again", async () => {
  const server = await upstream();
  const config = (lines: string) => `[server]\n${lines}\n[upstreams.up]\nurl = "${server.url}/v1"\nwire = "openai-chat"\n`;
  const file = files.file("moved.toml", config("port = 0"));
  const { url, line } = serve(["--config", file]);
  await url;
  writeFileSync(file, config("port = 0\nheartbeat = 5"));
  await line(({ msg }) => msg.includes("reloaded"));
  writeFileSync(file, config('port = 8099\nhost = "localhost"'));
  expect(await line(({ msg }) => msg.includes("restart"))).toMatchObject({ level: 40, msg: "host and port changed: restart to apply" });
});

test("a given port that is taken is a mistake, and is not changed", async () => {
  const server = await upstream();
  const taken = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(taken, "listening");
  closeLater(() => taken.close());
  const { port } = taken.address() as { port: number };
  const args = ["serve", "--upstream", `${server.url}/v1`, "--upstream-wire", "openai-chat", "--port", String(port)];
  const run = await runOf(spawn(process.execPath, [main, ...args], { env: envWith() }));
  expect(run).toEqual({ code: 2, stdout: "", stderr: `dragoman: port ${port} is in use; choose another with --port\n` });
});

test("the error for a taken port names the server that has it, if known", async () => {
  const server = await upstream();
  const { port } = new URL(server.url);
  const { child } = serve(["--upstream", `${server.url}/v1`, "--upstream-wire", "openai-chat", "--port", port], {}, "pipe");
  expect(await runOf(child)).toEqual({
    code: 2,
    stdout: "",
    stderr: `dragoman: port ${port} is in use by a server that speaks openai-chat; choose another with --port\n`,
  });
});

test("the error for a taken port says if another gateway has it", async () => {
  const server = await upstream();
  const first = serve(["--upstream", `${server.url}/v1`, "--upstream-wire", "openai-chat", "--port", "0"]);
  const { port } = new URL(await first.url);
  const { child } = serve(["--upstream", `${server.url}/v1`, "--upstream-wire", "openai-chat", "--port", port], {}, "pipe");
  expect((await runOf(child)).stderr).toBe(`dragoman: port ${port} is in use by another Dragoman gateway; choose another with --port\n`);
});

test("an upstream that does not answer yet keeps neither the others from starting nor a new configuration from loading", async () => {
  const server = await upstream();
  const config = (more: string) =>
    `[server]\nport = 0\n${more}[upstreams.up]\nurl = "${server.url}/v1"\n[upstreams.down]\nurl = "${nobody}/v1"\n`;
  const file = files.file("down.toml", config(""));
  const { url, line } = serve(["--config", file]);
  expect(await line(({ upstream }) => upstream === "down")).toMatchObject({
    level: 40,
    msg: expect.stringContaining("nothing answers there now"),
  });
  const body = JSON.stringify({ model: "qwen3", stream: true, messages: [{ role: "user", content: "Hi" }] });
  const ask = async () =>
    fetch(`${await url}/v1/chat/completions`, { method: "POST", headers: { "content-type": "application/json" }, body });
  expect(await (await ask()).text()).toContain("Hello");
  server.server.closeAllConnections();
  server.server.close();
  writeFileSync(file, config("heartbeat = 5\n"));
  await line(({ msg }) => msg.includes("reloaded"));
});

test("a model that the upstream does not list is named at the start", async () => {
  const server = await upstream();
  const { line } = serve(["--upstream", `${server.url}/v1`, "--model", "qwen4", "--port", "0"]);
  expect(await line(({ msg }) => msg.includes("does not list"))).toMatchObject({
    level: 40,
    msg: `upstream ${new URL(server.url).host} does not list the model qwen4; it has: qwen3`,
  });
});

test("the log says why the gateway itself refused a request", async () => {
  const server = await upstream();
  const { url, line } = serve(["--upstream", `${server.url}/v1`, "--port", "0"]);
  await fetch(`${await url}/v2/nowhere`);
  expect(await line(({ status }) => status === 404)).toMatchObject({
    level: 40,
    why: expect.stringMatching(/^there is nothing at GET \/v2\/nowhere: set the client's base URL/),
  });
  await fetch(`${await url}/v1/chat/completions`, { method: "POST", headers: { "content-type": "application/json" }, body: '{"canary' });
  expect(JSON.stringify(await line(({ status }) => status === 400))).not.toContain("canary"); // nothing from the client
});

test("for a model that the upstream does not have, the log lists those it has", async () => {
  const server = await startServer((response, { url }) => {
    if (url === "/v1/models") return void response.end('{"object":"list","data":[{"id":"qwen3"},{"id":"llama3"}]}');
    response.writeHead(404, { "content-type": "application/json" }).end('{"error":{"message":"no such model"}}');
  });
  const { url, line } = serve(["--upstream", `${server.url}/v1`, "--port", "0"]);
  expect((await generate(await url)).status).toBe(404);
  const up = new URL(server.url).host;
  expect(await line(({ status }) => status === 404)).toMatchObject({
    hint: `${up} has: qwen3, llama3; --model, or an alias, chooses one`,
    msg: expect.stringContaining(`404, not-found (${up} has: qwen3, llama3;`),
  });
});

test.skipIf(process.platform === "win32")("with a full disk the gateway still answers, and leaves no partial recordings", async () => {
  const server = await upstream();
  const folder = tempFolder();
  const log = join(folder, "log");
  const kept = join(folder, "kept");
  const command = `ulimit -f 2; exec "$0" "$@" > '${log}'`;
  const args = ["-c", command, process.execPath, main, "serve", "--upstream", `${server.url}/v1`, "--port", "0", "--record", kept];
  const child = spawn("sh", args, { env: envWith(), stdio: ["ignore", "inherit", "pipe"] });
  onTestFinished(() => kill(child));
  const complaints = createInterface({ input: child.stderr! })[Symbol.asyncIterator]();
  let url: string | undefined;
  while (url === undefined) {
    await setTimeout(20);
    url = /"url":"(http:[^"]+)"/.exec(existsSync(log) ? readFileSync(log, "utf8") : "")?.[1];
  }
  for (let i = 0; i < 8; i++) expect((await generate(url)).status).toBe(200);
  expect((await complaints.next()).value).toContain("cannot write to the log, lines are lost");
  expect((await generate(url)).status).toBe(200);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(readdirSync(kept)).toEqual([]);
});

test("an unwritable folder for recordings is a mistake", async () => {
  const server = await upstream();
  const file = files.file("no-folder", "");
  const args = ["serve", "--upstream", `${server.url}/v1`, "--upstream-wire", "openai-chat", "--port", "0", "--record", file];
  expect(dragoman(args)).toEqual({ code: 2, stdout: "", stderr: `dragoman: --record: cannot write ${file}: it is not a folder\n` });
});

test("for a server that only completes text, the log names its model's dialect, and why", async () => {
  const template = "{{ '<|turn>' }}{{ '<|tool_call>' }}";
  const known = await startFake("llama-server", () => ({ text: ["Hi"] }), { model: "mine", template });
  const strange = await startFake("llama-server", () => ({ text: ["Hi"] }), { model: "stranger" });
  const config = [known, strange].map(({ url }, i) => `[upstreams.up${i}]\nurl = "${url}"\nwire = "completions"\n`);
  const { line } = serve(["--config", files.file("text.toml", `[server]\nport = 0\n${config.join("")}`)]);
  expect(await line(({ msg }) => msg.includes("mine"))).toMatchObject({
    msg: expect.stringMatching(/^upstream up0: mine speaks gemma4 \(.*template/),
  });
  expect(await line(({ msg }) => msg.includes("stranger"))).toMatchObject({ msg: expect.stringContaining("set dialect for this model") });
});

test("--dialect sets the dialect of a server's models", async () => {
  const strange = await startFake("llama-server", () => ({ text: ["Hi"] }), { model: "stranger" });
  const flags = ["--upstream", strange.url, "--upstream-wire", "completions", "--port", "0"];
  const { url, line } = serve([...flags, "--dialect", "hermes/qwen2.5-7b-instruct"]);
  const body = JSON.stringify({ model: "stranger", messages: [{ role: "user", content: "Hello" }] });
  const answer = await fetch(`${await url}/v1/chat/completions`, { method: "POST", headers: { "content-type": "application/json" }, body });
  expect(await answer.text()).toContain('"content":"Hi"');
  expect(await line(({ outcome }) => outcome === "ok")).toMatchObject({ dialect: "hermes/qwen2.5-7b-instruct" });
  const { code, stderr } = dragoman(["serve", ...flags, "--dialect", "hermes/none"]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('unknown variant "none" of hermes') });
});

test("--context sets the context size of a server's model", async () => {
  const seen: { max_tokens?: number }[] = [];
  const server = await startServer((response, { method, body }) => {
    response.writeHead(method === "GET" ? 404 : 200, { "content-type": "application/json" });
    if (method === "GET") return void response.end("{}");
    seen.push(JSON.parse(body));
    response.end(JSON.stringify({ choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }] }));
  });
  const { url } = serve(["--upstream", `${server.url}/v1`, "--upstream-wire", "openai-chat", "--context", "8192", "--port", "0"]);
  const body = JSON.stringify({ model: "m", max_tokens: 32000, messages: [{ role: "user", content: "Hi" }] });
  await fetch(`${await url}/v1/messages`, { method: "POST", headers: { "content-type": "application/json" }, body });
  expect(seen).toHaveLength(1);
  expect(seen[0]!.max_tokens).toBeLessThan(8192);
});

test("a rescued call is logged", async () => {
  const server = await upstream('Let me look.\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>');
  const { url, line } = serve(["--upstream", `${server.url}/v1`, "--port", "0"]);
  const body = JSON.stringify({
    model: "qwen3",
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
  });
  const answer = await fetch(`${await url}/v1/chat/completions`, { method: "POST", headers: { "content-type": "application/json" }, body });
  expect(await answer.text()).toContain('"tool_calls"');
  const said = await line(({ outcome }) => outcome === "ok");
  expect(said).toMatchObject({ warnings: ["rescued"], dialect: "hermes/qwen3-0.6b", msg: expect.stringContaining("1 call rescued") });
});

describe("--check", () => {
  test("describes the configuration, without secrets and without listening", async () => {
    const server = await startServer(answering('{"data":[{"id":"a"},{"id":"b"}]}'));
    const text = `[server]\nkeys = ["env:GATE"]\n[upstreams.up]\nurl = "${server.url}/v1"\nwire = "openai-chat"\nkey = "env:UP"\n[models."gemini-*"]\nmodel = "a"\ntools = "inband"\ndialect = "hermes"\nthinking = false\nmax_tokens = 8192\ntop_p = 0.9\n[aliases]\nx = "a"\n`;
    const child = spawn(process.execPath, [main, "serve", "--check", "--config", files.file("check.toml", text)], {
      env: envWith({ GATE: "sk-canary-1", UP: "sk-canary-2" }),
    });
    onTestFinished(() => kill(child));
    let stdout = "";
    child.stdout.on("data", (piece) => {
      stdout += piece;
    });
    expect(await once(child, "close")).toEqual([0, null]);
    expect(stdout).toBe(
      `server: 127.0.0.1:8080, 1 key\nupstream up: ${server.url}/v1 speaks openai-chat (as configured), with a key\n  answers: 2 models\nmodel gemini-*: up, as a; max_tokens 8192, tools inband, dialect hermes, thinking false, top_p 0.9\nalias x: a\n`,
    );
  });
  test("rules for upstreams that --upstream replaces are left out, also when serving", async () => {
    const server = await startServer(answering('{"data":[{"id":"a"}]}'));
    const rules = '[models.x]\nupstream = "local"\nmodel = "m"\n[aliases]\ny = "a"\n';
    const file = files.file("replaced.toml", `[server]\nport = 0\n[upstreams.local]\nurl = "${nobody}/v1"\nwire = "openai-chat"\n${rules}`);
    const flags = ["--config", file, "--upstream", `${server.url}/v1`, "--upstream-wire", "openai-chat"];
    const child = spawn(process.execPath, [main, "serve", "--check", ...flags], { env: envWith({}) });
    onTestFinished(() => kill(child));
    let stdout = "";
    child.stdout.on("data", (piece) => {
      stdout += piece;
    });
    expect(await once(child, "close")).toEqual([0, null]);
    expect(stdout).toContain("alias y: a");
    expect(stdout).not.toContain("model x");
    const answer = await fetch(`${await serve(flags).url}/v1/models`);
    expect(await answer.json()).toMatchObject({ data: [{ id: "y" }, { id: "a" }] });
  });
  test("an upstream that does not answer is exit code 2", async () => {
    const { code, stdout } = dragoman(["serve", "--check", "--upstream", `${nobody}/v1`, "--upstream-wire", "openai-chat"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: expect.stringContaining("does not answer: the upstream is not running") });
  });
});

describe("a mistake is one line, and exit code 2", () => {
  test.each<[string[], string]>([
    [
      ["--upstream", "nonsense"],
      "--upstream must be a URL or one of ollama, llama-server, lmstudio, vllm, sglang, openai, anthropic, gemini, openrouter; it is nonsense",
    ],
    [["--upstream", "openai"], "openai needs a key: set OPENAI_API_KEY"],
    [["--upstream", "ollama", "--key", "sk-canary"], '--key must not be the secret itself: put it into a variable and write "env:NAME"'],
    [["--upstream", "ollama", "--key", "env:NOT_SET_ANYWHERE"], "--key names the variable NOT_SET_ANYWHERE, which is not set"],
    [
      ["--upstream", "ollama", "--host", "0.0.0.0", "--port", "0"],
      "listening on 0.0.0.0 would let everybody on the network in: set keys, or allow it with --insecure",
    ],
    [["--config", "nowhere.toml"], "cannot read nowhere.toml: there is no such file"],
    [["--upstream", "http://far.example"], "HTTP_PROXY must be the URL of a proxy, such as http://proxy.example:3128"],
  ])("%j", (args, message) => {
    const { code, stderr } = dragoman(["serve", ...args], "", { OPENAI_API_KEY: "", http_proxy: "", HTTP_PROXY: "http://" });
    expect({ code, stderr }).toEqual({ code: 2, stderr: `dragoman: ${message}\n` });
  });
  test("an upstream that is not running", async () => {
    expect(dragoman(["serve", "--upstream", `${nobody}/v1`])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("start the upstream first"),
    });
  });
});
