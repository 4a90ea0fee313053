// Every dialect's grammars in the real llama.cpp: each compiles, accepts the true calls and refuses the false ones.
import { join } from "node:path";
import type { LlamaGrammar } from "node-llama-cpp";
import { describe, expect, test } from "vitest";
import type { ToolChoice } from "../../src/core/nouns.ts";
import type { Dialect } from "../../src/dialects/dialect.ts";
import { schemaGrammar } from "../../src/dialects/grammar/calls.ts";
import { plainText } from "../../src/dialects/prompt.ts";
import { getDialect, listDialects } from "../../src/dialects/registry.ts";
import { startLlama } from "../../src/engines/llama/runtime.ts";
import { describeShared, shared } from "../shared.ts";
import { bfclCases, type Case, falseText, isUntyped, mutations, ownCases, trueText } from "./grammar-cases.ts";

/** Whether llama.cpp accepts a text by the grammar. */
async function compiled(gbnf: string): Promise<(text: string) => boolean> {
  const { llama } = await startLlama(false);
  const grammar = (await llama.createGrammar({ grammar: gbnf })) as LlamaGrammar & { _testText(text: string): boolean };
  return (text) => grammar._testText(text);
}

async function objections(dialect: Dialect, one: Case, choice: ToolChoice): Promise<string[]> {
  const gbnf = dialect.grammar?.(one.tools, choice).gbnf ?? "";
  if (gbnf === "") return []; // nothing marks the beginning of a call
  const allows = await compiled(gbnf);
  const about = (what: string): string => `${one.id}, ${JSON.stringify(choice)}: ${what}`;
  if (choice === "none") return allows(trueText(dialect, one)) || !allows("Hi < there {") ? [about("a call, or no text")] : [];
  return [
    ...[1, 2].filter((times) => !allows(trueText(dialect, one, times))).map((times) => about(`refuses the true call, ${times} times`)),
    ...mutations(one, isUntyped(dialect))
      .filter((wrong) => allows(falseText(dialect, wrong)))
      .map((wrong) => about(`accepts a wrong one: ${wrong.what}`)),
  ];
}

async function allObjections(dialect: Dialect, cases: readonly Case[]): Promise<string[]> {
  const found: string[] = [];
  for (const one of cases)
    for (const choice of ["auto", "required", { name: one.name }, "none"] as const) found.push(...(await objections(dialect, one, choice)));
  return found;
}

const dialects = listDialects().map((dialect) => [dialect.id, dialect] as const);

describe("llama.cpp accepts our grammars", () => {
  test.each(dialects)("%s: tools of our own", async (_, dialect) => {
    expect(await allObjections(dialect, ownCases)).toEqual([]);
  });

  test.each(["deepseek-v3.1", "gemma4", "kimi-k2", "mistral"])("%s: a thought before a required call, with no call in it", async (id) => {
    const dialect = getDialect(id);
    const tools = [{ name: "now" }, { name: "later" }];
    const allows = await compiled(dialect.grammar!(tools, { name: "now" }, { startInThinking: true }).gbnf);
    const [now, later] = tools.map(({ name }) => plainText(dialect.renderToolCalls([{ name, arguments: {} }])));
    const after = (thought: string) => plainText(dialect.renderThinking(thought)).replace(/^.*?(?=Hm\.)/s, "") + now;
    expect(["Hm. 1 < 2", `Hm. ${later}`].map((thought) => allows(after(thought)))).toEqual([true, false]);
  });

  test("structured output", async () => {
    const allows = await compiled(schemaGrammar({ type: "object", properties: { a: { type: "integer" } }, required: ["a"] }).gbnf);
    expect(['{"a": 1}', '{"a": "1"}', "{}"].map(allows)).toEqual([true, false, false]);
  });
});

describeShared("llama.cpp takes our grammars: 100 tools of the Berkeley leaderboard", () => {
  const cases = bfclCases(join(shared, "bfcl.jsonl"), 100);
  test.each(dialects)("%s", async (_, dialect) => {
    expect(await allObjections(dialect, cases)).toEqual([]);
  });
});
