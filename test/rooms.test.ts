// DESIGN's rooms: imports point one way, and the pure rooms import only our own files.
import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";

/** A room may import itself and any room on a line above its own. `index` is src/index.ts. */
const order = [["core"], ["dialects", "wires"], ["index"], ["template", "engines"], ["chat", "gateway", "ai-sdk"], ["cli"]];
const pure = ["core", "dialects", "wires", "index"];

const computed = "(computed)";

/** Every module that a source names: import, export from, import type, import(), require(), /// references. */
function importsOf(source: string): string[] {
  const file = ts.createSourceFile("source.ts", source, ts.ScriptTarget.Latest, true);
  const found = [...file.referencedFiles, ...file.typeReferenceDirectives].map((reference) => reference.fileName);
  const name = (node: ts.Node | undefined) => found.push(node && ts.isStringLiteralLike(node) ? node.text : computed);
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) name(node.moduleSpecifier);
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier) name(node.moduleSpecifier);
    else if (ts.isExternalModuleReference(node)) name(node.expression);
    else if (ts.isImportTypeNode(node)) name(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined);
    else if (ts.isCallExpression(node) && (node.expression.kind === ts.SyntaxKind.ImportKeyword || node.expression.getText() === "require"))
      name(node.arguments[0]);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const roomOf = (path: string) => path.split("/")[1]?.replace(/\.ts$/, "") ?? "";
const levelOf = (room: string) => order.findIndex((rooms) => rooms.includes(room));

/** What is wrong with one import of the file at `path` ("src/core/json.ts"); undefined: nothing. */
function objection(path: string, specifier: string): string | undefined {
  const from = roomOf(path);
  if (levelOf(from) < 0) return `${from} is not a room of DESIGN`;
  if (specifier === "undici") return "Bun has another one in its place; undici/index.js is the package";
  if (!specifier.startsWith("."))
    return pure.includes(from) ? `${from} imports nothing but files of its own and of rooms below` : undefined;
  const target = posix.join(posix.dirname(path), specifier);
  const to = roomOf(target);
  if (!target.startsWith("src/") || levelOf(to) < 0) return "leads out of the rooms";
  return from === to || levelOf(to) < levelOf(from) ? undefined : `${from} may not import ${to}`;
}

const objections = (path: string, source: string): string[] =>
  importsOf(source).flatMap((specifier) => {
    const why = objection(path, specifier);
    return why ? [`${path}: "${specifier}": ${why}`] : [];
  });

describe("the rooms of src", () => {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => posix.join("src", file.replaceAll("\\", "/")));

  test("imports point one way, and the pure rooms have no dependency", () => {
    expect(files).not.toEqual([]);
    expect(files.flatMap((file) => objections(file, readFileSync(file, "utf8")))).toEqual([]);
  });
});

describe("the check sees every way to import", () => {
  test.each([
    [`import "a";`, "a"],
    [`import { x } from "a";`, "a"],
    [`import type { X } from "a";`, "a"],
    [`import x = require("a");`, "a"],
    [`export * from "a";`, "a"],
    [`export { x } from 'a';`, "a"],
    ["const x = await import(`a`);", "a"],
    [`const x = require("a");`, "a"],
    [`type X = import("a").X;`, "a"],
    [`type X = typeof import("a");`, "a"],
    [`/// <reference types="a" />`, "a"],
    [`/// <reference path="a" />`, "a"],
    ["const x = await import(name);", computed],
    ["const x = await import('a' + b);", computed],
  ])("%s", (source, specifier) => {
    expect(importsOf(source)).toEqual([specifier]);
  });

  test.each([`// import "a";`, `const s = 'import "a"';`, "const s = `import('a')`;", "export const a = 1;", "import.meta.url;"])(
    "and none in %s",
    (source) => {
      expect(importsOf(source)).toEqual([]);
    },
  );
});

describe("the check allows what DESIGN allows", () => {
  test.each([
    ["src/core/fold.ts", "./json.ts"],
    ["src/dialects/scan/kernel.ts", "../../core/json.ts"],
    ["src/dialects/gemma4.ts", "./scan/kernel.ts"],
    ["src/index.ts", "./dialects/gemma4.ts"],
    ["src/engines/remote.ts", "../wires/gemini.ts"],
    ["src/engines/llama.ts", "node-llama-cpp"],
    ["src/cli/main.ts", "../index.ts"],
    ["src/cli/main.ts", "node:fs"],
  ])("%s imports %s", (path, specifier) => {
    expect(objections(path, `import "${specifier}";`)).toEqual([]);
  });
});

describe("the check forbids", () => {
  test.each([
    ["src/core/json.ts", "../dialects/gemma4.ts"],
    ["src/core/json.ts", "../index.ts"],
    ["src/dialects/gemma4.ts", "../wires/gemini.ts"],
    ["src/wires/gemini.ts", "../dialects/print.ts"],
    ["src/wires/gemini.ts", "../engines/remote.ts"],
    ["src/engines/llama.ts", "../template/jinja.ts"],
    ["src/gateway/server.ts", "../cli/main.ts"],
    ["src/core/json.ts", "node:fs"],
    ["src/dialects/gemma4.ts", "commander"],
    ["src/index.ts", "dragoman"],
    ["src/cli/main.ts", "../../package.json"],
    ["src/core/json.ts", "../../test/shared.ts"],
    ["src/core/json.ts", "../helpers.ts"],
    ["src/helpers/x.ts", "../core/json.ts"],
    ["src/engines/http/http.ts", "undici"],
  ])("%s importing %s", (path, specifier) => {
    expect(objections(path, `import "${specifier}";`)).toHaveLength(1);
  });

  test("a computed import in a pure room", () => {
    expect(objections("src/core/json.ts", "await import(name);")).toHaveLength(1);
  });
});
