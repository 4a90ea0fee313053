// The built library where there is no Node: one script in a bare `vm` context that has the language and a browser's streams, nothing else.
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
