// Every true call of the Berkeley Function Calling Leaderboard, written by every dialect and read back: whole, and cut at random.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject, Tool } from "../../src/core/nouns.ts";
import type { Dialect } from "../../src/dialects/dialect.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { listDialects } from "../../src/dialects/registry.ts";
import { describeShared, shared } from "../shared.ts";
import { carried, endsOf, randomPieces, scanPieces, textOf } from "./scanning.ts";

interface Entry {
  id: string;
  category: string;
  tools: Tool[];
  calls: { name: string; arguments: JsonObject }[];
  /** The places where the true calls contradict the tools' schemas. */
  mismatch?: string[];
}

/**
 * What a dialect cannot express, and why: true calls that contradict their schema, or whose schema has no type. A call that does come back
 * unchanged must leave the table.
 */
const inexpressible: { dialects: string[]; reason: string; ids: string[] }[] = [
  {
    dialects: [
      "functiongemma",
      "gemma4",
      "glm",
      "hy3",
      "laguna",
      "ling3",
      "minicpm5",
      "minimax-m2",
      "minimax-m3",
      "muse-glimmer",
      "qwen3-coder",
      "seed-oss",
    ],
    reason: "a number or a boolean for a parameter declared as string: bare values, and those between tags, are typed by the schema",
    ids: [
      ...["live_multiple_552-153-1", "live_multiple_595-158-1", "live_multiple_596-158-2"],
      ...["live_multiple_731-167-2", "live_multiple_733-167-4", "live_multiple_735-167-6"],
    ],
  },
  {
    dialects: [
      "deepseek-v3.2",
      "deepseek-v4",
      "glm",
      "hy3",
      "laguna",
      "ling3",
      "minicpm5",
      "minimax-m2",
      "muse-glimmer",
      "qwen3-coder",
      "seed-oss",
    ],
    reason: "null for a parameter declared as string and not nullable: between tags `null` is that string",
    ids: ["live_multiple_1038-265-0", "live_multiple_1041-268-0"],
  },
  {
    dialects: ["glm", "hy3", "laguna", "ling3", "minicpm5", "minimax-m2", "minimax-m3", "muse-glimmer", "qwen3-coder", "seed-oss"],
    reason: "a number for a parameter whose schema names no type: between tags it is a string, as nothing says otherwise",
    ids: ["simple_java_62"],
  },
  {
    dialects: ["minimax-m3"],
    reason: "the same inside objects and lists, which are elements, too",
    ids: [
      ...["simple_java_1", "simple_java_36", "simple_java_65", "multiple_9", "parallel_29", "parallel_multiple_66"],
      "live_multiple_121-46-0",
    ],
  },
  {
    dialects: ["minimax-m3"],
    reason: "null: the template leaves it out",
    ids: ["live_multiple_1038-265-0", "live_multiple_1041-268-0"],
  },
  { dialects: ["minimax-m3"], reason: "a key that begins with a slash: its tag would be a closing one", ids: ["simple_java_68"] },
];

const cannotSay = (dialect: Dialect, { id }: Entry): boolean =>
  inexpressible.some((row) => row.dialects.includes(dialect.id) && row.ids.includes(id));

/** Throws if the calls that come back differ from the calls that were written. */
function checkRoundTrip(dialect: Dialect, { tools, calls }: Entry, seed: number): void {
  const text = promptText(dialect.renderToolCalls(calls));
  const events = scanPieces(dialect, [text], { tools });
  expect(endsOf(events).map((end) => ({ name: end.name, arguments: end.arguments }))).toEqual(calls);
  expect(endsOf(events).map((end) => JSON.parse(end.json ?? ""))).toEqual(calls.map((call) => call.arguments));
  expect(textOf(events).trim()).toBe("");
  expect(carried(events)).toBe(text);
  for (const pieces of [randomPieces(text, seed), randomPieces(text, ~seed)])
    expect(scanPieces(dialect, pieces, { tools })).toEqual(events);
}

describeShared("calls of bfcl.jsonl, rendered and scanned back, are equal", () => {
  const lines = readFileSync(join(shared, "bfcl.jsonl"), "utf8").trim().split("\n");
  const entries = lines.map((line) => JSON.parse(line) as Entry);
  const categories = [...new Set(entries.map((entry) => entry.category))];

  test("there are enough calls", () => {
    expect(entries.flatMap((entry) => entry.calls).length).toBeGreaterThan(2000);
  });

  describe.each(listDialects().map((dialect) => ({ id: dialect.id, dialect })))("$id", ({ dialect }) => {
    test.each(categories)("%s", (category) => {
      for (const [seed, entry] of entries.entries()) {
        if (entry.category !== category) continue;
        const check = (): void => checkRoundTrip(dialect, entry, seed);
        if (cannotSay(dialect, entry)) expect(check, `${entry.id} is in the table`).toThrow();
        else expect(check, entry.id).not.toThrow();
      }
    });
  });
});
