// The table of dialects, for people and for programs, and the page made from it.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { listDialects } from "../../src/dialects/registry.ts";
import { dragoman } from "./run.ts";

const ids = listDialects().map(({ id }) => id);

test("there is one line for each dialect", () => {
  const { code, stdout, stderr } = dragoman(["dialects"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [head, ...lines] = stdout.trimEnd().split("\n");
  expect(head?.split(/ {2,}/)).toEqual(["dialect", "thinking", "parallel calls", "grammar", "models"]);
  expect(lines.map((line) => line.split(" ")[0])).toEqual(ids);
  expect(lines.find((line) => line.startsWith("functiongemma"))).toMatch(/^functiongemma +no +yes +(?:yes|no) +functiongemma-270m-it$/);
  expect(lines.find((line) => line.startsWith("gemma4"))).toMatch(/^gemma4 +yes +yes +(?:yes|no) +gemma-4/);
});

test("in a narrow terminal the columns are below each other", () => {
  const narrow = "--import=data:text/javascript,Object.assign(process.stdout,{isTTY:true,columns:40})";
  const lines = dragoman(["dialects"], "", { NODE_OPTIONS: narrow, NO_COLOR: "1" }).stdout.trimEnd().split("\n");
  expect(lines.filter((line) => line.length > 40)).toEqual([]);
  expect(lines.filter((line) => !line.startsWith(" "))).toEqual(ids);
  const at = lines.indexOf("cohere");
  expect(lines.slice(at, at + 3)).toEqual(["cohere", "  North Mini Code", "  thinking, parallel calls, grammar"]);
});

test("--json has all details", () => {
  const all = JSON.parse(dragoman(["dialects", "--json"]).stdout) as Record<string, unknown>[];
  expect(all.map(({ id }) => id)).toEqual(ids);
  expect(all.find(({ id }) => id === "gemma4")).toMatchObject({
    thinking: true,
    parallelCalls: true,
    variants: ["google-gemma-4-31b-2026-07-09", "google-gemma-4-e2b-2026-07-09"],
    example: '<|channel>thought\nI need the weather.\n<channel|><|tool_call>call:get_weather{city:<|"|>Oslo<|"|>,days:2}<tool_call|>',
  });
});

test("docs/dialects.md is what `npm run docs` makes", () => {
  const { status, stderr } = spawnSync(process.execPath, ["scripts/docs.mjs", "--check"], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
