// A dialect is named in one word, with its variant or without, and it is the same dialect however it was come by.
import { describe, expect, test } from "vitest";
import type { Request, Tool } from "../../src/core/nouns.ts";
import { detectDialect } from "../../src/dialects/detect.ts";
import { gemma4 } from "../../src/dialects/gemma4.ts";
import { withGrammar } from "../../src/dialects/grammar/formats.ts";
import { mistral } from "../../src/dialects/mistral.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { getDialect, listDialects } from "../../src/dialects/registry.ts";
import { inVariant, settingOf } from "../../src/dialects/variant.ts";
import { endsOf, scanPieces } from "./scanning.ts";

const tools: Tool[] = [{ name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } }];
const request: Request = { model: "", messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }], tools };
const call = { id: "call00000", name: "get_weather", arguments: { city: "Oslo" } };
const result = { id: "call00000", name: "get_weather", output: "4 °C" };
const cases = listDialects().flatMap((dialect) => dialect.variants.map((variant) => ({ id: dialect.id, dialect, variant })));

describe("a variant behind the id is the variant of prompt and grammar", () => {
  test.each(cases)("$id/$variant", ({ id, dialect, variant }) => {
    const now = new Date(0);
    for (const one of [getDialect(`${id}/${variant}`), getDialect({ id: id as "hermes", variant }), inVariant(dialect, variant)]) {
      expect(settingOf(one)).toBe(`${id}/${variant}`);
      expect(one.render(request, { now })).toEqual(dialect.render(request, { now, variant }));
      expect(one.renderTools(tools)).toEqual(dialect.renderTools(tools, { variant }));
      expect(one.renderToolCall(call)).toEqual(dialect.renderToolCall(call, { variant }));
      expect(one.renderToolResults([result])).toEqual(dialect.renderToolResults([result], { variant }));
      expect(one.instructions(tools)).toBe(dialect.instructions(tools, { variant }));
      expect(one.grammar?.(tools, "required")).toEqual(dialect.grammar?.(tools, "required", { variant }));
    }
  });

  test.each(cases)("$id reads the calls of $variant, whatever they are cut into", ({ dialect, variant }) => {
    const text = promptText(dialect.renderToolCalls([call, { ...call, id: "call00001", arguments: {} }], { variant }));
    for (const pieces of [[text], [...text]])
      expect(endsOf(scanPieces(dialect, pieces, { tools })).map((end) => [end.name, end.arguments, end.truncated])).toEqual([
        [call.name, call.arguments, undefined],
        [call.name, {}, undefined],
      ]);
  });

  test("calls are written and explained as the revision has them", () => {
    const nemo = getDialect("mistral/mistral-nemo-2407");
    const text = promptText(nemo.renderToolCall(call));
    expect(text).toMatch(/^\[TOOL_CALLS\] ?\[\{/);
    expect(nemo.instructions(tools)).toContain('[{"name"');
    expect(text).not.toBe(promptText(mistral.renderToolCall(call)));
  });

  test("what stops the revision stops it", () => {
    expect(getDialect("json/plain").stops).toContain("\nUser:");
    expect(getDialect("json/gemma").stops).not.toContain("\nUser:");
  });

  test("whoever says another gets another", () => {
    const [reference, small] = gemma4.variants as [string, string];
    expect(inVariant(gemma4, small).render(request, { variant: reference })).toEqual(gemma4.render(request));
    expect(inVariant(inVariant(gemma4, small), reference).render(request)).toEqual(gemma4.render(request));
  });

  test("no variant is the reference", () => {
    expect(getDialect("gemma4").variant).toBeUndefined();
    expect(settingOf(getDialect("gemma4"))).toBe("gemma4");
  });

  test.each(["hermes/none", "hermes/", "hermes/qwen3-0.6b/none", "none", "none/qwen3-0.6b", ""])("nothing is called %j", (setting) => {
    expect(() => getDialect(setting)).toThrow(/unknown (dialect|variant)/);
  });

  test("what was detected is a dialect", () => {
    const found = detectDialect({ model: "gemma-4-E2B-it" });
    expect(found && settingOf(getDialect(found))).toBe("gemma4/google-gemma-4-e2b-2026-07-09");
  });
});

describe("a dialect that was imported alone", () => {
  test("has no grammar, and gets the registry's", () => {
    expect(gemma4.grammar).toBeUndefined();
    expect(withGrammar(gemma4).grammar?.(tools, "auto")).toEqual(getDialect("gemma4").grammar?.(tools, "auto"));
  });

  test("a variant and a grammar come in any order", () => {
    const variant = "mistral-nemo-2407";
    const wanted = getDialect("mistral").grammar?.(tools, "auto", { variant });
    expect(withGrammar(inVariant(mistral, variant)).grammar?.(tools, "auto")).toEqual(wanted);
    expect(inVariant(withGrammar(mistral), variant).grammar?.(tools, "auto")).toEqual(wanted);
  });

  test("one of somebody's own has none of ours", () => {
    expect(() => withGrammar({ ...gemma4, id: "mine" })).toThrow('no grammar is known for "mine"');
  });
});

describe("the tokens in which calls and thinking are written stay in the output", () => {
  test.each(listDialects().map((dialect) => [dialect.id, dialect] as const))("%s", (_, dialect) => {
    const other = { id: "call_1", name: "get_weather", arguments: { city: "Oslo", days: [1, true, null] } };
    const written = [...dialect.renderToolCalls([call, other]), ...dialect.renderThinking("Well.")];
    const marks = written.flatMap(({ text, control }) => (control ? text : []));
    expect([...dialect.preserved, ...dialect.stops]).toEqual(expect.arrayContaining(marks));
    expect(dialect.grammar?.(tools, "auto").preserved).toEqual(dialect.preserved);
  });
});
