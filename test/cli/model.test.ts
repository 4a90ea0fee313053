// Models in process, from the command line: `dragoman serve --model` and `dragoman start`. The model is a small one of ours that makes one
// call.
import { execFile, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Started, startPage } from "../../src/cli/start-page.ts";
import { widthOf } from "../../src/cli/terminal.ts";
import { fileOf, POSIX, POWERSHELL, QUESTION, TRYOUTS } from "../../src/cli/tryout.ts";
import type { WireId } from "../../src/core/nouns.ts";
import { EMBEDDED } from "../../src/engines/llama/index.ts";
import { getWire } from "../../src/wires/registry.ts";
import { kill } from "../children.ts";
import { speaker, writeGguf } from "../engines/llama/gguf.ts";
import { closeLater, tempFolder } from "../servers.ts";
import { dragoman, envWith, main } from "./run.ts";

const folder = tempFolder();
const model = join(folder, "speaker.gguf");
beforeAll(() => {
  writeFileSync(model, writeGguf(speaker()));
});

type Line = Record<string, unknown>;

/** Its lines of JSON. */
async function* run(args: string[]): AsyncGenerator<Line, void, undefined> {
  const child = spawn(process.execPath, [main, ...args], { env: envWith(), stdio: ["ignore", "pipe", "inherit"] });
  closeLater(() => kill(child));
  for await (const line of createInterface({ input: child.stdout! })) yield JSON.parse(line) as Line;
}

/** The next line that fits; more may follow. */
async function first(lines: AsyncIterator<Line>, fits: (line: Line) => boolean): Promise<Line> {
  for (let step = await lines.next(); !step.done; step = await lines.next()) if (fits(step.value)) return step.value;
  throw new Error("it ended without that line");
}

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

const wires = TRYOUTS.map(({ wire }) => wire);

/** As a newcomer: start it, and follow its instructions. */
function newcomer(id: string, args: string[]): void {
  let started: Line & { url: string; try: Record<WireId, string>; call: Record<string, unknown> };
  beforeAll(async () => {
    started = (await first(run(["start", "--port", "0", ...args]), () => true)) as typeof started;
  }, 60_000);

  test("prints one line of JSON in a pipe, with one call that went through", () => {
    expect(started).toMatchObject({ model: { id }, wires });
    expect(started.call).toMatchObject({
      asked: QUESTION,
      model: expect.stringContaining("call:get_weather{city:"),
      client: expect.stringContaining('"functionCall":{"id":"call_0","name":"get_weather","args":{"city":"Paris"}}'),
    });
  });

  test.skipIf(!hasCurl).each(wires)(
    `the command for %s answers with a call${hasCurl ? "" : " (skipped: there is no curl)"}`,
    async (wire) => {
      const [shell, ...flags] =
        process.platform === "win32" ? (["powershell", "-NoProfile", "-Command"] as const) : (["sh", "-c"] as const);
      const answer = await new Promise<string>((resolve, reject) =>
        execFile(shell, [...flags, started.try[wire]], (error, stdout) => (error ? reject(error) : resolve(stdout))),
      );
      expect(getWire(wire).decodeResponse(answer)).toMatchObject({
        content: [{ type: "tool-call", name: "get_weather", arguments: { city: "Paris" } }],
        finish: { reason: "tool-calls" },
      });
    },
  );

  test.each(wires)("and %s streams it", async (wire) => {
    const path = TRYOUTS.find((tryout) => tryout.wire === wire)!.path(id);
    const body = { ...(JSON.parse(readFileSync(fileOf({ wire }), "utf8")) as object), ...(wire === "gemini" ? {} : { stream: true }) };
    const url = started.url + path.replace(":generateContent", ":streamGenerateContent?alt=sse");
    const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    const decoder = getWire(wire).createStreamDecoder();
    const events = [...decoder.feed(await answer.text()), ...decoder.flush()];
    expect(events.filter(({ type }) => type === "tool-end")).toMatchObject([{ name: "get_weather", arguments: { city: "Paris" } }]);
    expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool-calls" });
  });
}

describe("dragoman start with a small model", () => newcomer("speaker", ["--model", model]));

const embedded = "dragoman start with the embedded model";
if (existsSync(EMBEDDED)) describe(embedded, () => newcomer("dragoman-tiny", []));
else test.skip(`${embedded} (models/tiny/dragoman-tiny.gguf is missing)`, () => {});

describe("the page that dragoman start prints", () => {
  beforeAll(() => void vi.stubEnv("NO_COLOR", "1"));
  afterAll(() => void vi.unstubAllEnvs());

  const facts = { id: "dragoman-tiny", bytes: 7_300_000, path: EMBEDDED } as Started["engine"]["facts"];
  const call = { model: "<|tool_call>call:f{}<tool_call|>", client: `data: ${'{"x":"y"},'.repeat(50)}\n\n`, ms: 12 };
  const started: Started = {
    url: "http://127.0.0.1:8080",
    engine: { facts },
    call,
    readyMs: 1234,
    found: [{ url: "http://127.0.0.1:11434", wire: "ollama" }],
  };
  const page = (columns: number, shell = POSIX) =>
    stripVTControlCharacters(startPage(started, { isTTY: true, columns, write: () => true }, shell));

  test.each([80, 100, 120, 200])("fits into %i columns", (columns) => {
    const lines = [POSIX, POWERSHELL].flatMap((shell) => page(columns, shell).split("\n"));
    expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
  });

  test("on Windows its commands are for PowerShell", () => {
    const text = page(120, POWERSHELL);
    expect(text).toContain("    curl.exe http://127.0.0.1:8080/v1/messages `\n");
    for (const { wire } of TRYOUTS) expect(text).toContain(`-d "@${join("docs", "examples", `${wire}.json`)}"`);
    expect(text).toContain('    $env:ANTHROPIC_BASE_URL="http://127.0.0.1:8080"\n    claude\n');
    expect(text).not.toMatch(/\\$|^\s*\w+=\S+ \w/m);
  });

  test("paths with blanks are quoted for the shell", () => {
    expect(POSIX.file("docs/a.json")).toBe("@docs/a.json");
    expect(POSIX.file("/Users/Anna O'Berg/a.json")).toBe(`'@/Users/Anna O'\\''Berg/a.json'`);
    expect(POWERSHELL.file("C:\\Users\\Anna Berg\\a.json")).toBe('"@C:\\Users\\Anna Berg\\a.json"');
  });

  test("shows the model, the servers that were found, and what to do", () => {
    const text = page(120);
    for (const word of [
      "ready in 1.2 s",
      "knows nothing",
      "http://127.0.0.1:11434 speaks ollama",
      "npx dragoman chat",
      "gemini-cli",
      "Claude Code",
      "Codex",
    ])
      expect(text).toContain(word);
    for (const { wire } of TRYOUTS) expect(text).toContain(`-d ${POSIX.file(join("docs", "examples", `${wire}.json`))}`);
  });

  test("the example files of all wires ask the same", () => {
    for (const tryout of TRYOUTS) {
      const body: unknown = JSON.parse(readFileSync(fileOf(tryout), "utf8"));
      const { messages, tools } = getWire(tryout.wire).decodeRequest({ path: tryout.path("m"), query: {}, headers: {}, body });
      expect(messages).toMatchObject([{ role: "user", content: [{ type: "text", text: QUESTION }] }]);
      expect(tools).toMatchObject([{ name: "get_weather", parameters: { required: ["city"] } }]);
    }
  });
});

describe("dragoman serve --model", () => {
  test("serves a GGUF over all wires", async () => {
    const lines = run(["serve", "--model", model, "--port", "0"]);
    const { url } = await first(lines, (line) => line.url !== undefined);
    const answer = await fetch(`${String(url)}/v1/models`);
    expect(await answer.json()).toMatchObject({ data: [{ id: "speaker" }] });
  });

  test("a model is an upstream like others in dragoman.toml, relative to that file, and stays loaded when the file is read again", async () => {
    const config = join(folder, "dragoman.toml");
    const text = '[upstreams.here]\nmodel = "speaker.gguf"\nparallel = 1\n[models."gemini-*"]\nupstream = "here"\n';
    writeFileSync(config, text);
    const lines = run(["serve", "--config", config, "--port", "0"]);
    const { url } = await first(lines, (line) => line.url !== undefined);
    const body = readFileSync(fileOf(TRYOUTS.find(({ wire }) => wire === "gemini")!), "utf8");
    const ask = async (name: string): Promise<string> => {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${String(url)}/v1beta/models/${name}:generateContent`, { method: "POST", headers, body });
      return answer.text();
    };
    expect(await ask("gemini-2.5-pro")).toContain('"functionCall"');
    writeFileSync(config, `${text}[aliases]\nmine = "gemini-x"\n`);
    await first(lines, ({ msg }) => msg === "the configuration was reloaded");
    expect(await ask("mine")).toContain('"functionCall"');
  });

  test("--check of dragoman.toml describes the model, or says that it cannot be loaded", () => {
    const config = join(folder, "check.toml");
    writeFileSync(config, '[upstreams.here]\nmodel = "speaker.gguf"\ncontext = 256\nparallel = 3\n');
    const { code, stdout } = dragoman(["serve", "--config", config, "--check"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/upstream here: model speaker: 2\.\d MB, .*, 256 tokens, 3 at once/);
    const bad = join(folder, "torn.gguf");
    writeFileSync(bad, readFileSync(model).subarray(0, 5000));
    writeFileSync(config, '[upstreams.here]\nmodel = "torn.gguf"\n');
    const torn = dragoman(["serve", "--config", config, "--check"]);
    expect(torn).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^dragoman: upstream here: cannot load torn.gguf: it is cut off/),
    });
  });

  test("--check describes the model", () => {
    const { code, stdout } = dragoman(["serve", "--model", model, "--check", "--context", "512", "--parallel", "3", "--no-gpu"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/model speaker: 2\.\d MB, on the CPU, speaks functiongemma .*, 512 tokens, 3 at once/);
  });

  test.each([
    [["--model", join(folder, "none.gguf")], /there is no file .*none\.gguf/],
    [["--model", "README.gguf.md/../package.json.gguf"], /there is no file/],
    [["--model", model, "--dialect", "klingon"], /unknown dialect "klingon"/],
    [["--model", model, "--gpu", "abacus"], /--gpu takes auto, metal, cuda, vulkan/],
    [["--model", "hf:nonsense"], /hf:owner\/repo/],
  ])("%j is one line, and exit code 2", (args, message) => {
    const { code, stderr } = dragoman(["serve", ...args, "--check"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  test("a file that is not a model is one line, and exit code 2", () => {
    const bad = join(folder, "bad.gguf");
    writeFileSync(bad, readFileSync(model).subarray(0, 5000));
    expect(dragoman(["serve", "--model", bad, "--check"])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^dragoman: cannot load bad.gguf: it is cut off/),
    });
  });

  test("without the runtime one line says how to install it", () => {
    const { status, stderr } = spawnSync(process.execPath, ["--import", "./test/cli/without-llama.mjs", main, "serve", "--model", model], {
      encoding: "utf8",
      env: envWith(),
    });
    expect(status).toBe(2);
    expect(stderr).toBe("dragoman: models in process need node-llama-cpp, which is not installed: npm install node-llama-cpp@3.21.1\n");
  });
});
