// A dialect is named in one word, with or without a variant, and is the same dialect however it was obtained.
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

describe("a variant after the id applies to prompt and grammar", () => {
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

  test.each(cases)("$id reads the calls of $variant, however they are cut", ({ dialect, variant }) => {
    const text = promptText(dialect.renderToolCalls([call, { ...call, id: "call00001", arguments: {} }], { variant }));
    for (const pieces of [[text], [...text]])
      expect(endsOf(scanPieces(dialect, pieces, { tools })).map((end) => [end.name, end.arguments, end.truncated])).toEqual([
        [call.name, call.arguments, undefined],
        [call.name, {}, undefined],
      ]);
  });

  test("calls are written and explained in the form of the variant", () => {
    const nemo = getDialect("mistral/mistral-nemo-2407");
    const text = promptText(nemo.renderToolCall(call));
    expect(text).toMatch(/^\[TOOL_CALLS\] ?\[\{/);
    expect(nemo.instructions(tools)).toContain('[{"name"');
    expect(text).not.toBe(promptText(mistral.renderToolCall(call)));
  });

  test("the stop strings are those of the variant", () => {
    expect(getDialect("json/plain").stops).toContain("\nUser:");
    expect(getDialect("json/gemma").stops).not.toContain("\nUser:");
  });

  test("an explicit variant takes precedence", () => {
    const [reference, small] = gemma4.variants as [string, string];
    expect(inVariant(gemma4, small).render(request, { variant: reference })).toEqual(gemma4.render(request));
    expect(inVariant(inVariant(gemma4, small), reference).render(request)).toEqual(gemma4.render(request));
  });

  test("without a variant it is the reference", () => {
    expect(getDialect("gemma4").variant).toBeUndefined();
    expect(settingOf(getDialect("gemma4"))).toBe("gemma4");
  });

  test.each(["hermes/none", "hermes/", "hermes/qwen3-0.6b/none", "none", "none/qwen3-0.6b", ""])(
    "an unknown setting is an error: %j",
    (setting) => {
      expect(() => getDialect(setting)).toThrow(/unknown (dialect|variant)/);
    },
  );

  test("a detection result can be passed on as a dialect", () => {
    const found = detectDialect({ model: "gemma-4-E2B-it" });
    expect(found && settingOf(getDialect(found))).toBe("gemma4/google-gemma-4-e2b-2026-07-09");
  });
});

describe("a dialect imported alone", () => {
  test("has no grammar, and can get the registry's", () => {
    expect(gemma4.grammar).toBeUndefined();
    expect(withGrammar(gemma4).grammar?.(tools, "auto")).toEqual(getDialect("gemma4").grammar?.(tools, "auto"));
  });

  test("a variant and a grammar can be added in any order", () => {
    const variant = "mistral-nemo-2407";
    const wanted = getDialect("mistral").grammar?.(tools, "auto", { variant });
    expect(withGrammar(inVariant(mistral, variant)).grammar?.(tools, "auto")).toEqual(wanted);
    expect(inVariant(withGrammar(mistral), variant).grammar?.(tools, "auto")).toEqual(wanted);
  });

  test("a custom dialect has no grammar of ours", () => {
    expect(() => withGrammar({ ...gemma4, id: "mine" })).toThrow('no grammar is known for "mine"');
  });
});

describe("the tokens of calls and thinking are preserved in the output", () => {
  test.each(listDialects().map((dialect) => [dialect.id, dialect] as const))("%s", (_, dialect) => {
    const other = { id: "call_1", name: "get_weather", arguments: { city: "Oslo", days: [1, true, null] } };
    const written = [...dialect.renderToolCalls([call, other]), ...dialect.renderThinking("Well.")];
    const marks = written.flatMap(({ text, control }) => (control ? text : []));
    expect([...dialect.preserved, ...dialect.stops]).toEqual(expect.arrayContaining(marks));
    expect(dialect.grammar?.(tools, "auto").preserved).toEqual(dialect.preserved);
  });
});
