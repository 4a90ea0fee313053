// What the tests of existing implementations, and our own, expect of a scanner: each vector whole, unit by unit, in its own pieces, and cut
// at random.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Event, JsonObject, Tool } from "../../src/core/nouns.ts";
import type { Dialect, ScannerOptions } from "../../src/dialects/dialect.ts";
import { listDialects } from "../../src/dialects/registry.ts";
import { describeShared, shared } from "../shared.ts";
import exceptions from "../shared-exceptions.json" with { type: "json" };
import { carried, endsOf, randomPieces, scanPieces, textOf, thinkingOf, units } from "./scanning.ts";

interface Expectation {
  text?: string;
  thinking?: string;
  textTrim?: boolean;
  thinkingTrim?: boolean;
  calls?: { name: string; arguments: JsonObject; truncated?: true; id?: string }[];
  malformed?: boolean;
}
interface Vector {
  id: string;
  dialect: string;
  input: string;
  tools?: Tool[];
  chunks?: string[];
  options?: ScannerOptions;
  expect: Expectation;
}
interface TokenStream {
  id: string;
  dialect: string;
  pieces: string[];
  tools?: Tool[];
  options?: ScannerOptions;
  expect: Expectation;
}

const { vectors: misses } = exceptions as { vectors: { id: string; reason: string }[] };
const argued = new Set(misses.map((miss) => miss.id));

function expectEvents(events: Event[], input: string, wanted: Expectation): void {
  const trim = (text: string) => (wanted.textTrim || wanted.thinkingTrim ? text.trim() : text);
  if (wanted.text !== undefined) expect(trim(textOf(events))).toBe(trim(wanted.text));
  if (wanted.thinking !== undefined) expect(trim(thinkingOf(events))).toBe(trim(wanted.thinking));
  if (wanted.malformed !== undefined) expect(events.some((event) => event.type === "malformed")).toBe(wanted.malformed);
  if (wanted.calls !== undefined) {
    const ends = endsOf(events);
    const calls = ends.map((end, i) => ({
      name: end.name,
      arguments: end.arguments,
      ...(end.truncated ? { truncated: true } : {}),
      ...(wanted.calls?.[i]?.id === undefined ? {} : { id: end.nativeId ?? end.id }),
    }));
    expect(calls).toEqual(wanted.calls);
  }
  expect(carried(events)).toBe(input);
}

function check(dialect: Dialect, { input, tools = [], chunks, options, expect: wanted }: Vector): void {
  const all = { tools, ...options };
  const whole = scanPieces(dialect, [input], all);
  expectEvents(whole, input, wanted);
  const cuts = [units(input), ...(chunks ? [chunks] : []), ...[1, 2, 3, 4].map((seed) => randomPieces(input, seed))];
  for (const pieces of cuts) expect(scanPieces(dialect, pieces, all)).toEqual(whole);
}

/** Other models whose calls are read by a listed dialect. */
const alsoSpoken: Readonly<Record<string, readonly string[]>> = {
  apriel: ["apriel-1.5", "apriel-1.6"],
  cohere: ["cohere2-moe"],
  "command-r": ["cohere-r-plus"],
  "command-r7b": ["cohere-r7b"],
  "functionary-v3.1": ["functionary-3.1"],
  "functionary-v3.2": ["functionary-3.2"],
  gigachat: ["gigachat3", "gigachat3.1"],
  llama3: ["functionary-3.1"],
  nemotron: ["nemotron-nano-v2"],
};

describeShared("vectors", () => {
  const load = (name: string): Vector[] => {
    const file = join(shared, "vectors", `${name}.json`);
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Vector[]) : [];
  };
  const extra = load("extra");
  for (const dialect of listDialects()) {
    const spoken = [dialect.id, ...(alsoSpoken[dialect.id] ?? [])];
    const vectors = [...load(dialect.id), ...extra.filter((vector) => spoken.includes(vector.dialect))];
    if (vectors.length === 0) continue;
    describe(dialect.id, () => {
      for (const vector of vectors) {
        if (argued.has(vector.id))
          test(`${vector.id} is read differently, as argued in shared-exceptions.json`, () =>
            expect(() => check(dialect, vector)).toThrow());
        else test(vector.id, () => check(dialect, vector));
      }
    });
  }
});

describeShared("real token streams", () => {
  const streams = JSON.parse(readFileSync(join(shared, "token-streams.json"), "utf8")) as TokenStream[];
  for (const dialect of listDialects()) {
    for (const stream of streams.filter((stream) => stream.dialect === dialect.id)) {
      const { pieces, ...vector } = stream;
      test(`${dialect.id}: ${stream.id}`, () => check(dialect, { ...vector, input: pieces.join(""), chunks: pieces }));
    }
  }
});
