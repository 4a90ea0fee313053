// The built library without Node: one script in a bare `vm` context with the language and a browser's streams, nothing else.
import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import type { Event } from "../src/index.ts";

const output = 'Let me look. <|tool_call>call:get_weather{city:<|"|>Oslo<|"|>,days:2}<tool_call|>';

describe("the built library runs without Node", () => {
  const context = createContext({ ReadableStream, TransformStream, output });

  /** Runs the source in the context; its value comes back as JSON, so that no object of the other realm does. */
  const run = async (source: string) => JSON.parse(await runInContext(`(async () => JSON.stringify(${source}))()`, context));

  beforeAll(async () => {
    const { outputFiles } = await build({
      entryPoints: ["dist/index.js"],
      bundle: true,
      format: "iife",
      globalName: "dragoman",
      platform: "browser",
      write: false,
    });
    runInContext(outputFiles[0]!.text, context);
  });

  test("there is no Node", async () => {
    expect(await run("[typeof process, typeof require, typeof Buffer, typeof setTimeout]")).toEqual(Array(4).fill("undefined"));
  });

  test("a call is scanned", async () => {
    expectTheCall(await run(`dragoman.scanText(dragoman.getDialect("gemma4"), output)`));
  });

  test("a stream of chunks is scanned", async () => {
    const events = await run(`await (async () => {
      const chunks = new ReadableStream({
        start(controller) {
          for (const char of output) controller.enqueue(char);
          controller.close();
        },
      });
      const events = [];
      for await (const event of chunks.pipeThrough(dragoman.scannerStream(dragoman.getDialect("gemma4")))) events.push(event);
      return events;
    })()`);
    expectTheCall(events);
  });
});

test("tool arguments are checked even in a page that forbids eval", async () => {
  const { outputFiles } = await build({
    stdin: { contents: 'export { defineTool } from "./dist/chat/browser.js";', resolveDir: "." },
    bundle: true,
    external: ["@modelcontextprotocol/*"],
    format: "iife",
    globalName: "chat",
    platform: "browser",
    write: false,
  });
  const strict = createContext({}, { codeGeneration: { strings: false, wasm: false } });
  runInContext(outputFiles[0]!.text, strict);
  expect(() => runInContext("eval('1')", strict)).toThrow("Code generation from strings disallowed");
  const source = `chat.defineTool({ name: "paint", parameters: { type: "object", required: ["color"] } }).check({}).problems.join()`;
  expect(runInContext(source, strict)).toBe("color: is missing");
});

// The entries that package.json gives a bundler for a page.
const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as { exports: Record<string, string | Conditions | null> };
type Conditions = { browser?: Conditions; default?: string };
const forNode = new Set(["./gateway", "./engines/llama"]);
const forPages = Object.entries(exports).flatMap(([name, entry]) => {
  if (entry === null || typeof entry === "string" || name.includes("*") || forNode.has(name)) return [];
  return [[name.replace(".", "dragoman"), entry.browser?.default ?? entry.default!] as const];
});
const bundled = async (contents: string) => {
  const external = ["@huggingface/jinja"]; // an optional peer
  const stdin = { contents, resolveDir: "." };
  return (
    await build({
      stdin,
      bundle: true,
      format: "iife",
      globalName: "page",
      platform: "browser",
      external,
      write: false,
      logLevel: "silent",
    })
  ).outputFiles[0]!.text;
};

describe("a page bundles only its own dialect", () => {
  const engines = {
    createTextEngine: "engines/browser.js",
    createWllama: "engines/text/wllama.js",
    createMediaPipe: "engines/text/mediapipe.js",
  };

  test.each(Object.entries(engines))("with %s", async (name, file) => {
    const contents = `
      export { ${name} } from "./dist/${file}";
      export { gemma4 } from "./dist/dialects/gemma4.js";
      export { promptText } from "./dist/index.js";`;
    const stdin = { contents, resolveDir: "." };
    const { metafile } = await build({ stdin, bundle: true, format: "esm", platform: "browser", write: false, metafile: true });
    const loaded = Object.entries(Object.values(metafile.outputs)[0]!.inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? path.replace("dist/", "") : [],
    );
    expect(loaded).toEqual(expect.arrayContaining(["dialects/gemma4.js", file.replace("browser", "text/text")]));
    expect(loaded.filter((path) => /hermes|registry|detect|families|grammar/.test(path))).toEqual([]);
  });
});

describe("esbuild bundles for a page", () => {
  test.each(forPages)("%s", async (_, file) => {
    expect(await bundled(`export * from "${file}"`)).not.toMatch(/require\("node:|from "node:/);
  });

  test("every entry for pages is covered", () => {
    expect(forPages.map(([name]) => name)).toEqual(expect.arrayContaining(["dragoman", "dragoman/chat", "dragoman/engines"]));
  });
});

test("a chat over a text engine runs without Node, and so does its tool", async () => {
  const page = createContext({ AbortController, AbortSignal, performance, queueMicrotask, structuredClone });
  const source = `
    import { createChat, defineTool, mcpTools } from "./dist/chat/browser.js";
    import { gemma4 } from "./dist/dialects/gemma4.js";
    import { createTextEngine } from "./dist/engines/browser.js";
    export async function paint() {
      const answers = ['<|tool_call>call:paint{color:<|"|>red<|"|>}<tool_call|>', "Done."];
      const engine = createTextEngine({ async *generate() { yield answers.shift(); } }, { dialect: gemma4 });
      const painted = [];
      const parameters = { type: "object", properties: { color: { type: "string" } } };
      const run = ({ color }) => { painted.push(color); return "ok"; };
      const chat = createChat({ engine, tools: [defineTool({ name: "paint", parameters, run, readOnly: true })] });
      const said = [];
      for await (const event of chat.send("red!")) if (event.type === "text") said.push(event.text);
      return { painted, said: said.join("") };
    }
    export const start = () => mcpTools({ command: "npx" }).catch(({ message }) => message);
  `;
  runInContext(await bundled(source), page);
  const run = async (call: string) => JSON.parse(await runInContext(`page.${call}.then(JSON.stringify)`, page));
  expect(await run("paint()")).toEqual({ painted: ["red"], said: "Done." });
  expect(await run("start()")).toBe("a web page cannot start a command: give the url of an MCP server");
});

function expectTheCall(events: Event[]): void {
  expect([...new Set(events.map((event) => event.type))]).toEqual(["text", "tool-start", "tool-delta", "tool-end", "control"]);
  expect(events.flatMap((event) => (event.type === "text" ? event.text : [])).join("")).toBe("Let me look. ");
  expect(events.flatMap((event) => (event.type === "tool-delta" ? event.json : [])).join("")).toBe('{"city":"Oslo","days":2}');
  expect(events.find((event) => event.type === "tool-end")).toMatchObject({
    index: 0,
    name: "get_weather",
    arguments: { city: "Oslo", days: 2 },
  });
}
