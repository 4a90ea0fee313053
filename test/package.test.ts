// What a user gets by installing the package.
import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { VERSION } from "../src/chat/version.ts";
import { listDialects, listWires } from "../src/index.ts";

interface Locked {
  version: string;
  dev?: true;
  peer?: true;
  optional?: true;
  engines?: { node?: string };
}

const read = <T>(file: string): T => JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), "utf8")) as T;

/** Whether an alternative of the range begins at the major version, or before it and is open, as `engines` ranges are written. */
const takes = (range: string, major: number): boolean =>
  range.split("||").some((part) => {
    const first = Number(/\d+/.exec(part)?.[0] ?? 0);
    return first === major || (first < major && !/^\s*[\^~\d]/.test(part));
  });

test("every dependency runs on the oldest supported Node", () => {
  const { engines } = read<{ engines: { node: string } }>("package.json");
  const oldest = Number(/\d+/.exec(engines.node)?.[0]);
  const { packages } = read<{ packages: Record<string, Locked> }>("package-lock.json");
  const installed = Object.entries(packages).filter(([path, { dev, peer, optional }]) => path !== "" && !dev && !peer && !optional);
  const refusing = installed.filter(([, { engines }]) => engines?.node !== undefined && !takes(engines.node, oldest));
  expect(refusing.map(([path, { version }]) => `${path} ${version}`)).toEqual([]);
  expect(installed.length).toBeGreaterThan(50);
});

test("Fastify gets the pinned light-my-request, which runs on that Node", () => {
  const { dependencies } = read<{ dependencies: Record<string, string> }>("package.json");
  const { packages } = read<{ packages: Record<string, Locked & { dependencies?: Record<string, string> }> }>("package-lock.json");
  expect(packages["node_modules/light-my-request"]?.version).toBe(dependencies["light-my-request"]);
  expect(Object.keys(packages).filter((path) => path.endsWith("/light-my-request"))).toHaveLength(1);
  expect(packages["node_modules/fastify"]?.dependencies).toHaveProperty("light-my-request");
});

test("VERSION is the package's version", () => {
  expect(VERSION).toBe(read<{ version: string }>("package.json").version);
});

test("each wire and each dialect can be imported alone, and no internal file can", () => {
  const { exports } = read<{ exports: Record<string, unknown> }>("package.json");
  const open = Object.keys(exports).filter((name) => name.startsWith("./wires/"));
  expect(open.sort()).toEqual(
    listWires()
      .map(({ id }) => `./wires/${id}`)
      .sort(),
  );
  const files = readdirSync(new URL("../src/dialects", import.meta.url), { withFileTypes: true });
  const paths = files.map((file) => (file.isDirectory() ? `${file.name}/*` : file.name.replace(/\.ts$/, "")));
  expect(paths.filter((path) => exports[`./dialects/${path}`] !== null).sort()).toEqual(
    listDialects()
      .map(({ id }) => id)
      .sort(),
  );
});

test("every value that its types declare exists", async () => {
  const { exports } = read<{ exports: Record<string, { types?: string; default?: string } | null> }>("package.json");
  const entries = Object.values(exports).flatMap((entry) =>
    entry?.types && entry.default ? [{ types: entry.types, code: entry.default }] : [],
  );
  const files = entries.flatMap(({ types, code }) =>
    types.includes("*")
      ? listDialects().map(({ id }) => [types.replace("*", id), code.replace("*", id)] as const)
      : [[types, code] as const],
  );
  const program = ts.createProgram(
    files.map(([types]) => types),
    { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16, skipLibCheck: true },
  );
  const checker = program.getTypeChecker();
  for (const [types, code] of files) {
    const symbol = checker.getSymbolAtLocation(program.getSourceFile(types)!)!;
    const isValue = (one: ts.Symbol): boolean => {
      const isType = one.declarations?.some((node) => ts.isExportSpecifier(node) && node.isTypeOnly);
      const behind = one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one;
      return !isType && (behind.flags & ts.SymbolFlags.Value) !== 0;
    };
    const declared = checker
      .getExportsOfModule(symbol)
      .filter(isValue)
      .map(({ name }) => name);
    const there: unknown = await import(new URL(`../${code}`, import.meta.url).href);
    expect([types, declared.sort()]).toEqual([types, Object.keys(there as object).sort()]);
  }
});

test("its types for a page need no newer library than ES2022", () => {
  const program = ts.createProgram(["dist/index.d.ts", "dist/chat/browser.d.ts", "dist/engines/browser.d.ts"], {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
  });
  const ours = program.getSourceFiles().filter(({ fileName }) => fileName.includes("dist/") && !fileName.includes("node_modules/"));
  expect(ours.length).toBeGreaterThan(20);
  const faults = ours.flatMap((file) => program.getSemanticDiagnostics(file));
  expect(faults.map(({ messageText }) => messageText)).toEqual([]);
});

test("its pages link only to pages and examples in the package", () => {
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const options: ExecFileSyncOptionsWithStringEncoding = {
    encoding: "utf8",
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "ignore"],
  };
  const [packed] = JSON.parse(execFileSync(npm, ["pack", "--dry-run", "--json", "--ignore-scripts"], options)) as {
    files: { path: string }[];
  }[];
  const files = packed?.files.map(({ path }) => path) ?? [];
  const pages = files.filter((file) => file.endsWith(".md"));
  expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/chat.md"]));
  const missing = pages.flatMap((page) => {
    const links = [...readFileSync(page, "utf8").matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, link = ""]) => link);
    const paths = links.filter((link) => !/^https?:/.test(link)).map((link) => posix.join(posix.dirname(page), link));
    return paths.filter((path) => !files.some((file) => file === path || file.startsWith(`${path}/`))).map((path) => `${page}: ${path}`);
  });
  expect(missing).toEqual([]);
});
