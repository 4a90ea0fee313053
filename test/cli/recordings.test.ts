// `dragoman serve --record`, `dragoman show`, `dragoman replay` and `dragoman compare` as processes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import type { Recording } from "../../src/gateway/recordings/recording.ts";
import { kill } from "../children.ts";
import { closeLater, sse, startServer, tempFolder } from "../servers.ts";
import { dragoman, envWith, folder, main } from "./run.ts";

const files = folder();

/** A line of its output that fits, and a way to end it. */
async function start(args: string[], fits: RegExp, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [main, ...args], { env: envWith(env), stdio: ["ignore", "pipe", "inherit"] });
  closeLater(() => kill(child));
  const url = await new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [, found] = fits.exec(line) ?? [];
      if (found) resolve(found);
    });
  });
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  return { url, stop };
}

const LISTENING = /"url":"([^"]+)"/;

const ask = async (url: string): Promise<string> => {
  const body = JSON.stringify({ model: "m", max_tokens: 9, stream: true, messages: [{ role: "user", content: "Hi" }] });
  const headers = { "content-type": "application/json", "x-api-key": "canary-gate-key" };
  const text = await (await fetch(`${url}/v1/messages`, { method: "POST", headers, body })).text();
  return text.replaceAll(/"id":"msg_[^"]*"/g, '"id":"ID"');
};

test("a recording can be shown, and replays to the same bytes", async () => {
  const upstream = await startServer((response, { url }) => {
    if (!url.startsWith("/v1/chat")) return void response.writeHead(404).end();
    const said = [{ content: "Look: <|im_end|> " }, { content: "hello" }].map((delta) => ({ id: "c", choices: [{ index: 0, delta }] }));
    const end = { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    response.writeHead(200, { "content-type": "text/event-stream" }).end(sse(...said, end, "[DONE]"));
  });
  const records = tempFolder();
  const flags = ["--upstream-wire", "openai-chat", "--port", "0", "--key", "env:GATE"];
  const env = { GATE: "canary-gate-key" };
  const first = await start(["serve", "--upstream", upstream.url, ...flags, "--record", records], LISTENING, env);
  const answer = await ask(first.url);
  await ask(first.url);
  await first.stop();
  const [name] = readdirSync(records);
  const file = join(records, name!);
  expect(readFileSync(file, "utf8")).not.toContain("canary-gate-key");

  const { code, stdout } = dragoman(["show", file]);
  expect(code).toBe(0);
  expect(stdout).toContain("the client got");
  expect(stdout).toContain("! markup is left in the text: <|im_end|>");

  const list = dragoman(["show", records]);
  expect(list.stdout).toContain(name);
  expect(list.stdout).toMatch(/a new prompt\n.*continues the one before/s);

  const replay = await start(["replay", file, "--fast"], /replaying at (\S+)/);
  const second = await start(["serve", "--upstream", replay.url, ...flags], LISTENING, env);
  expect(await ask(second.url)).toBe(answer);

  expect(dragoman(["compare", file, file])).toEqual({ code: 0, stdout: `same     ${file}\n`.repeat(2), stderr: "" });
  const inFolder = readdirSync(records).toSorted();
  expect(dragoman(["compare", records]).stdout).toBe(inFolder.map((one) => `same     ${join(records, one)}\n`).join(""));
  const other = files.file("other.json", readFileSync(file, "utf8").replaceAll("hello", "hallo, you"));
  expect(dragoman(["compare", other])).toMatchObject({ code: 0 }); // the upstream sent it, so the client gets it
  const wrong = JSON.parse(readFileSync(file, "utf8")) as Recording;
  const pieces = wrong.client.pieces.map(([ms]) => [ms, ""]);
  const differs = dragoman(["compare", files.file("wrong.json", { ...wrong, client: { ...wrong.client, pieces } })]);
  expect(differs).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^differs {2}.*\n {2}then, at 0: ""\n {2}now: {8}"event: message_start/),
  });
});

test("keys from a changed configuration are not recorded, either", async () => {
  const upstream = await startServer((response, { url, headers }) => {
    if (!url.startsWith("/v1/chat")) return void response.writeHead(404).end();
    const content = `Your key is ${headers.authorization?.replace("Bearer ", "")}.`;
    const chunk = { id: "c", choices: [{ index: 0, delta: { content }, finish_reason: "stop" }] };
    response.writeHead(200, { "content-type": "text/event-stream" }).end(sse(chunk, "[DONE]"));
  });
  const config = (key: string) =>
    `[server]\nport = 0\n[upstreams.up]\nurl = "${upstream.url}/v1"\nwire = "openai-chat"\nkey = "env:${key}"\n`;
  const file = files.file("keys.toml", config("FIRST"));
  const records = tempFolder();
  const env = { FIRST: "canary-first", SECOND: "canary-second" };
  const gateway = await start(["serve", "--config", file, "--record", records], LISTENING, env);
  writeFileSync(file, config("SECOND"));
  while (!(await ask(gateway.url)).includes("canary-second"));
  await gateway.stop();
  const kept = readdirSync(records).map((name) => readFileSync(join(records, name), "utf8"));
  expect(kept.filter((text) => text.includes("canary"))).toEqual([]);
  expect(kept.join()).toContain("Your key is [secret].");
});

test.each(["show", "compare"])("%s: a folder without recordings is one line", (command) => {
  const empty = tempFolder();
  const { code, stderr } = dragoman([command, empty]);
  expect([code, stderr]).toEqual([2, `dragoman: there are no recordings in ${empty}; dragoman serve --record makes them\n`]);
});

test.each(["show", "replay", "compare"])("%s: a file that is not a recording is one line", (command) => {
  const { code, stderr } = dragoman([command, files.file("a.json", { version: 2 })]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^dragoman: cannot read .*a\.json: it is not a recording of version 1\n$/);
});
