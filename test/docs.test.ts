// Every `ts` and `sh` block of the README and the docs runs, against the built package; a `text` block behind it is what it prints.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { transformSync } from "esbuild";
import ts from "typescript";
import { afterAll, describe, expect, test } from "vitest";

const root = process.cwd();
const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...readdirSync("docs").flatMap((file) => (file.endsWith(".md") ? `docs/${file}` : [])),
];

/** A project of somebody's who has installed `dragoman`, and what the pages use with it. */
const project = mkdtempSync(join(tmpdir(), "dragoman-docs-"));
mkdirSync(join(project, "node_modules"));
symlinkSync(root, join(project, "node_modules", "dragoman"), "dir");
symlinkSync(join(root, "node_modules", "ai"), join(project, "node_modules", "ai"), "dir");
writeFileSync(join(project, "package.json"), '{ "type": "module" }');
afterAll(() => rmSync(project, { recursive: true }));

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
  test("the README has one of no more than fifteen lines", () => {
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

  test.each(blocksOf("ts"))("$page, line $line", (block) => {
    const file = fileOf(block).replace(/ts$/, "js");
    writeFileSync(file, transformSync(block.source, { loader: "ts", format: "esm" }).code);
    const { stdout, stderr, status } = spawnSync(process.execPath, [file], { encoding: "utf8", env: { PATH: process.env.PATH } });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    if (block.prints !== undefined) expect(stdout).toBe(block.prints);
  });
});

/** `dragoman` is ours; what npm would do is not done again. */
const PREAMBLE = `set -euo pipefail; dragoman() { "${process.execPath}" dist/cli/main.js "$@"; }; npx() { "$@"; }; npm() { :; }\n`;

describe("the sh blocks", () => {
  test.each(blocksOf("sh"))("$page, line $line", ({ source, prints }) => {
    const { stdout, stderr, status } = spawnSync("bash", ["-c", PREAMBLE + source], { encoding: "utf8" });
    expect({ status, complaints: stderr.split("\n").filter((line) => line && !line.includes("--seed")) }).toEqual({
      status: 0,
      complaints: [],
    });
    if (prints !== undefined) expect(stdout).toBe(prints);
  });
});

describe("what the pages name is there", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };

  test.each(pages)("%s", (page) => {
    const text = readFileSync(page, "utf8");
    const links = [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, link = ""]) => link).filter((link) => !/^https?:/.test(link));
    expect(links.filter((link) => !existsSync(resolve(dirname(page), link)))).toEqual([]);
    const commands = [...text.matchAll(/\bnpm (?:run )?([a-z]+)/g)].map(([, name = ""]) => name);
    expect(commands.filter((name) => !["install", "will", "would"].includes(name) && scripts[name] === undefined)).toEqual([]);
  });
});
