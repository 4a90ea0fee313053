// Every `ts` and `sh` block of the README and the docs runs, against the built package; a `text` block after it is its output. The gateway
// at port 8080 and the upstream at port 8000 of the pages are started here, on ports of their own.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { transformSync } from "esbuild";
import ts from "typescript";
import { afterAll, describe, expect, test } from "vitest";
import type { Event } from "../src/core/nouns.ts";
import { createScripted } from "../src/engines/scripted.ts";
import { readConfig } from "../src/gateway/config.ts";
import { createGateway } from "../src/gateway/gateway.ts";
import { runOf } from "./children.ts";
import { tempFolder } from "./servers.ts";

const root = process.cwd();
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" }).flatMap((file) =>
    file.endsWith(".md") ? `docs/${file.replaceAll("\\", "/")}` : [],
  ),
];

/** A project that has installed `dragoman`, and what the pages use with it. */
const project = tempFolder();
mkdirSync(join(project, "node_modules"));
symlinkSync(root, join(project, "node_modules", "dragoman"), "dir");
for (const name of ["ai", "openai", "ollama", "@ai-sdk", "@anthropic-ai", "@google"])
  symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name), "dir");
writeFileSync(join(project, "package.json"), '{ "type": "module" }');

/** Calls the tool it is offered, or says hello. */
const answer = (tool: string | undefined): Event[] =>
  tool === undefined
    ? [
        { type: "text", text: "Hello." },
        { type: "finish", reason: "stop" },
      ]
    : [
        { type: "tool-start", id: "call_0", index: 0, name: tool },
        { type: "tool-end", id: "call_0", index: 0, name: tool, arguments: { city: "Oslo" }, json: '{"city":"Oslo"}' },
        { type: "finish", reason: "tool-calls" },
      ];
const ports = await Promise.all(
  ["8080", "8000"].map(async (port) => {
    const gateway = createGateway({ upstreams: { script: createScripted(({ tools }) => answer(tools?.[0]?.name)) }, port: 0 });
    const { url } = await gateway.listen();
    afterAll(() => gateway.close());
    return [`http://127.0.0.1:${port}`, url] as const;
  }),
);
const aimed = (source: string): string => ports.reduce((text, [written, real]) => text.replaceAll(written, real), source);

/** Runs to the end, while the servers above answer. */
const run = (command: string, args: string[], env: NodeJS.ProcessEnv = process.env) =>
  runOf(spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] }));

interface Block {
  page: string;
  line: number;
  language: string;
  source: string;
  prints: string | undefined;
}

const blocks: Block[] = pages.flatMap((page) => {
  const text = readFileSync(page, "utf8");
  const found = [...text.matchAll(/^```(\w+)\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?/gms)];
  return found.map(({ index, 1: language = "", 2: source = "", 3: prints }) => {
    return { page, line: text.slice(0, index).split("\n").length, language, source, prints };
  });
});
const blocksOf = (language: string) => blocks.filter((block) => block.language === language);
const fileOf = ({ page, line }: Block) => join(project, `${page.replaceAll(/\W/g, "-")}-${line}.ts`);

describe("the ts blocks", () => {
  test("the README has one of at most fifteen lines", () => {
    const [example] = blocksOf("ts").filter(({ page }) => page === "README.md");
    expect(example?.source.split("\n").filter(Boolean).length).toBeLessThanOrEqual(15);
  });

  test("have no type errors", () => {
    for (const block of blocksOf("ts")) writeFileSync(fileOf(block), block.source);
    const program = ts.createProgram(blocksOf("ts").map(fileOf), {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.NodeNext,
      typeRoots: [join(root, "node_modules", "@types")],
      types: ["node"],
    });
    const complaints = ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
      const line = file?.getLineAndCharacterOfPosition(start).line ?? 0;
      return `${file?.fileName}:${line + 1}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    });
    expect(complaints).toEqual([]);
  });

  test.each(blocksOf("ts"))("$page, line $line", async (block) => {
    const file = fileOf(block).replace(/ts$/, "js");
    writeFileSync(file, transformSync(aimed(block.source), { loader: "ts", format: "esm" }).code);
    const { stdout, stderr, code } = await run(process.execPath, [file], { PATH: process.env.PATH });
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    if (block.prints !== undefined) expect(stdout).toBe(block.prints);
  });
});

/** `dragoman` is ours; npm commands are skipped. */
const PREAMBLE = `set -euo pipefail; dragoman() { "${process.execPath}" dist/cli/main.js "$@"; }; npx() { "$@"; }; npm() { :; }\n`;

describe.skipIf(process.platform === "win32")("the sh blocks (Windows has no sh)", () => {
  test.each(blocksOf("sh"))("$page, line $line", async ({ source, prints }) => {
    const { stdout, stderr, code } = await run("bash", ["-c", PREAMBLE + aimed(source)]);
    expect({ code, complaints: stderr.split("\n").filter((line) => line && !line.includes("--seed")) }).toEqual({
      code: 0,
      complaints: [],
    });
    if (prints !== undefined) expect(stdout).toBe(prints);
  });
});

describe("the toml blocks are valid configurations", () => {
  test.each(blocksOf("toml"))("$page, line $line", ({ page, source }) => {
    const environment = { GATE_KEY: "a", LOCAL_KEY: "b", LOCAL_TOKEN: "d", ANTHROPIC_API_KEY: "c" };
    const { upstreams, locals } = readConfig(source, page, environment);
    expect(Object.keys({ ...upstreams, ...locals })).not.toEqual([]);
  });
});

describe("links in the pages lead somewhere", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };

  /** Anchors, as GitHub makes them from headings. */
  const anchorsOf = (page: string): string[] =>
    [...readFileSync(page, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, "")
        .replaceAll(" ", "-"),
    );

  test.each(pages)("%s", (page) => {
    const text = readFileSync(page, "utf8");
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) => link).filter((link) => !/^https?:/.test(link));
    const missing = links.filter((link) => {
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? page : resolve(dirname(page), path);
      return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
    });
    expect(missing).toEqual([]);
    const commands = [...text.matchAll(/\bnpm (?:run )?([a-z:]*[a-z])/g)].map(([, name = ""]) => name);
    expect(commands.filter((name) => !["install", "will", "would"].includes(name) && scripts[name] === undefined)).toEqual([]);
  });
});
