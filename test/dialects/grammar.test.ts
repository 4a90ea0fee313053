// Grammars accept the calls that a dialect renders, and nothing else: checked here by our own matcher, in llama-cpp.test.ts by llama.cpp.
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isObject } from "../../src/core/json.ts";
import type { Json, JsonObject, Tool, ToolChoice } from "../../src/core/nouns.ts";
import { keepNumbers } from "../../src/core/numbers.ts";
import type { Dialect, Grammar, GrammarOptions } from "../../src/dialects/dialect.ts";
import { ARGUMENTS, type CallFormat, grammarOf, schemaGrammar } from "../../src/dialects/grammar/calls.ts";
import { literal, Rules, until } from "../../src/dialects/grammar/gbnf.ts";
import { pythonValues, xmlValues } from "../../src/dialects/grammar/values.ts";
import { plainText } from "../../src/dialects/prompt.ts";
import { getDialect, listDialects } from "../../src/dialects/registry.ts";
import { Gbnf } from "../gbnf.ts";
import { someSchema, someValue } from "../schemas.ts";
import { describeShared, shared } from "../shared.ts";
import { tagMatcher } from "../structural-tag.ts";
import { bfclCases, type Case, falseText, isUntyped, mutations, ownCases, trueText } from "./grammar-cases.ts";
import { carried, endsOf, numbers, scanPieces, textOf } from "./scanning.ts";

type Speaker = Dialect & Required<Pick<Dialect, "grammar">>;
const speakers = listDialects().filter((dialect): dialect is Speaker => dialect.grammar !== undefined);

const accepts = ({ gbnf }: Grammar, text: string): boolean => new Gbnf(gbnf).accepts(text);

const weather: Tool = {
  name: "get_weather",
  parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } }, required: ["city"] },
};
const time: Tool = { name: "get_time", parameters: { type: "object", properties: { zone: { type: "string" } } } };
const tools = [weather, time];

/** Tools whose strings and keys may be anything. */
const hostile: Tool[] = [
  {
    name: "files.write-all",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        days: { type: "integer" },
        "odd key: {x}": { type: ["string", "null"] },
        tags: { type: "array", items: { type: "string" } },
        counts: { type: "object", additionalProperties: { type: "integer" } },
      },
      required: ["path", "counts"],
      additionalProperties: false,
    },
  },
  { name: "now", parameters: { type: "object", properties: {}, additionalProperties: false } },
];
/** What could end a string or a call too early. */
const MARKUP = [..."\"'\\{}[]()<>/:,=|`\n\t\0é漢😀", "null", "}}", "]]", '\\"', "</", "```", '{"name": "now", "arguments": {}}', "[now()]"];
/** Closers may be missing in these dialects, so a tag inside a string may end it. */
const LAX = ["glm", "hy3", "laguna", "ling3", "minicpm5", "qwen3-coder", "seed-oss"];
/** A test of undeclared keys: the grammar of MiniMax-M3 cannot make the two tags of such a key agree. */
const withAnyKeys = ({ id }: { readonly id: string }, title: string, check: () => void): void =>
  id === "minimax-m3" ? test.skip(`${title} (no grammar can make the tags of an undeclared key agree)`, check) : test(title, check);

/** An object with an object of its own kind inside it. */
const endless = (name: string): JsonObject => ({
  type: "object",
  properties: { next: { $ref: `#/$defs/${name}` } },
  required: ["next"],
});

function check(dialect: Speaker, one: Case): void {
  const grammar = new Gbnf(dialect.grammar(one.tools, "required").gbnf);
  for (const times of [1, 2]) expect(grammar.accepts(trueText(dialect, one, times)), trueText(dialect, one, times)).toBe(true);
  for (const wrong of mutations(one, isUntyped(dialect)))
    expect(grammar.accepts(falseText(dialect, wrong)), `${one.id}: ${wrong.what}`).toBe(false);
}

describe.each(speakers.map((dialect) => [dialect.id, dialect] as const))("%s", (_, dialect) => {
  const text = (...names: string[]) =>
    plainText(dialect.renderToolCalls(names.map((name) => ({ name, arguments: name === weather.name ? { city: "Oslo" } : {} }))));
  const grammar = (choice: ToolChoice, options?: GrammarOptions) => dialect.grammar(tools, choice, options);

  test.each(ownCases.map((one) => [one.id, one] as const))("accepts the true call and no false one: %s", (_, one) => check(dialect, one));

  test("required: one or more calls of any tool, and nothing else", () => {
    for (const names of [["get_weather"], ["get_time"], ["get_time", "get_weather"]])
      expect(accepts(grammar("required"), text(...names))).toBe(true);
    for (const wrong of ["", "Hi.", `Hi. ${text("get_time")}`, `${text("get_time")} Hi.`, text("get_date")])
      expect(accepts(grammar("required"), wrong), wrong).toBe(false);
    expect(grammar("required").triggers).toEqual([]);
  });

  test.each<[string, JsonObject]>([
    ["nothing", {}],
    ["a title", { title: "f" }],
    ["an object or null", { type: ["object", "null"], properties: { a: { type: "string" } } }],
    ["a nullable object", { type: "object", nullable: true, properties: {} }],
  ])("arguments are an object, even if a schema says %s", (_, parameters) => {
    const drawn = numbers(3);
    const required = new Gbnf(dialect.grammar([{ name: "f", parameters }], "required").gbnf);
    for (let i = 0; i < 40; i++) {
      const sample = required.sample((n) => drawn.next().value % n);
      const ends = endsOf(scanPieces(dialect, [sample], { tools: [{ name: "f", parameters }] }));
      expect([...new Set(ends.map(({ name }) => name))], sample).toEqual(["f"]);
    }
  });

  test("everything it allows is read by the scanner, completely, as calls of declared tools", () => {
    const drawn = numbers(7);
    const required = new Gbnf(grammar("required").gbnf);
    for (let i = 0; i < 150; i++) {
      const sample = required.sample((n) => drawn.next().value % n);
      expect(required.accepts(sample), sample).toBe(true);
      const events = scanPieces(dialect, [sample], { tools });
      expect(endsOf(events).length, sample).toBeGreaterThan(0);
      for (const { name, truncated } of endsOf(events))
        expect([tools.map((tool) => tool.name).includes(name), truncated], sample).toEqual([true, undefined]);
      expect(textOf(events).trim(), sample).toBe("");
      expect(
        events.filter((event) => event.type === "malformed"),
        sample,
      ).toEqual([]);
    }
  });

  withAnyKeys(dialect, "whatever its strings and keys contain, one call is read as one call that fits the schema", () => {
    const ajv = new Ajv2020({ strict: false, logger: false });
    const fits = new Map(hostile.map(({ name, parameters }) => [name, ajv.compile(parameters ?? {})]));
    const words = LAX.includes(dialect.id) ? [] : [...dialect.preserved, ...dialect.stops, ...MARKUP];
    const drawn = numbers(13);
    const { gbnf } = dialect.grammar(hostile, "required", { parallelCalls: false, startInThinking: false });
    const required = new Gbnf(gbnf);
    for (let i = 0; i < 60; i++) {
      const sample = required.sample((n) => drawn.next().value % n, 160, words);
      const events = scanPieces(dialect, [sample], { tools: hostile });
      expect(carried(events)).toBe(sample);
      expect(textOf(events).trim(), sample).toBe("");
      const calls = events.filter(({ type }) => type === "tool-end" || type === "malformed");
      expect(calls, sample).toMatchObject([{ type: "tool-end" }]);
      for (const { name, arguments: args, truncated } of endsOf(events))
        expect([fits.get(name)?.(args), truncated], sample).toEqual([true, undefined]);
    }
  });

  test("a named tool or an allowed subset: no other tool", () => {
    for (const choice of [{ name: "get_time" }, { allowed: ["get_time"], required: true as const }]) {
      expect(accepts(grammar(choice), text("get_time"))).toBe(true);
      expect(accepts(grammar(choice), text("get_weather"))).toBe(false);
      expect(grammar(choice).triggers).toEqual([]);
    }
    const subset = grammar({ allowed: ["get_time"] });
    expect(subset.triggers).toEqual(grammar("auto").triggers.filter(({ value }) => !value.includes("get_weather")));
    if (subset.gbnf !== "") expect(accepts(subset, text("get_weather"))).toBe(false);
  });

  test("an undeclared key may be any text, blanks included", () => {
    const counts: Tool = {
      name: "f",
      parameters: { type: "object", properties: { n: { type: "object", additionalProperties: { type: "integer" } } }, required: ["n"] },
    };
    const call = { name: "f", arguments: { n: { x: 1, "y z": 2 } } };
    expect(accepts(dialect.grammar([counts], "required"), plainText(dialect.renderToolCalls([call])))).toBe(true);
  });

  withAnyKeys(dialect, "a map that declares no keys may have any, and they read back", () => {
    const n = { type: "object", additionalProperties: { type: "integer" } };
    const tools: Tool[] = [{ name: "f", parameters: { type: "object", properties: { n }, required: ["n"] } }];
    const keys = ["", 'a"b', "c\\d", "it's", "<b>", "'q'", "😀"];
    const bare = ["gemma4", "functiongemma"].includes(dialect.id); // without quotes, the grammar wants one line
    for (const key of bare ? keys : [...keys, "e\nf", "\u0001"]) {
      const call = plainText(dialect.renderToolCalls([{ name: "f", arguments: { n: { [key]: 1 } } }]));
      expect(accepts(dialect.grammar(tools, "required"), call), call).toBe(true);
      expect(endsOf(scanPieces(dialect, [call], { tools })).map((end) => end.arguments)).toEqual([{ n: { [key]: 1 } }]);
    }
  });

  test("keys of patternProperties are allowed, even if others are forbidden; that the pattern is not enforced is reported", () => {
    const counts: JsonObject = { type: "object", patternProperties: { "^x-": { type: "integer" } }, additionalProperties: false };
    const wide: JsonObject = { ...counts, properties: { k: { type: "boolean" } }, additionalProperties: { type: "boolean" } };
    const parameters: JsonObject = { type: "object", properties: { n: counts, w: wide }, required: ["n"] };
    const made = dialect.grammar([{ name: "f", parameters }], "required");
    const call = (args: JsonObject) => plainText(dialect.renderToolCalls([{ name: "f", arguments: args }]));
    for (const args of [{ n: {} }, { n: { "x-a": 1 } }, { n: {}, w: { k: true, "x-a": 1, z: false } }])
      expect(accepts(made, call(args)), call(args)).toBe(true);
    for (const args of [{ n: { "x-a": true } }, { n: {}, w: { k: 1 } }, { n: {}, w: { z: [] } }])
      expect(accepts(made, call(args)), call(args)).toBe(false);
    const paths = made.relaxed.filter(({ keyword }) => keyword === "patternProperties").map(({ path }) => path);
    expect(paths).toEqual(["/properties/n", "/properties/w"]);
    expect(accepts(dialect.grammar([{ name: "f", parameters: counts }], "required"), call({ "x-a": 1 }))).toBe(true);
  });

  test("none without tools, or with a name that no grammar can exclude: text is free", () => {
    for (const tools of [[], [{ name: "get weather" }]]) {
      const { gbnf } = dialect.grammar(tools, "none");
      expect(gbnf === "" || new Gbnf(gbnf).accepts("Hi.")).toBe(true);
    }
  });

  test("an undeclared tool cannot be required", () => {
    expect(() => grammar({ name: "get_date" })).toThrow("get_date");
    expect(() => dialect.grammar([], "required")).toThrow("no tool");
  });

  test("none: text, but no call", () => {
    for (const choice of ["none" as const, { allowed: [] }]) {
      expect(accepts(grammar(choice), 'Use f(x) < 3, or {"a": 1}. <')).toBe(true);
      expect(accepts(grammar(choice), text("get_time"))).toBe(false);
      expect(accepts(grammar(choice), `Well. ${text("get_weather", "get_time")}`)).toBe(false);
    }
  });

  test("auto: the grammar begins at its triggers", () => {
    const { gbnf, triggers, structuralTag } = grammar("auto");
    expect(triggers.length > 0).toBe(gbnf !== "");
    expect(structuralTag !== undefined).toBe(gbnf !== "");
    if (gbnf === "") return;
    const call = text("get_time");
    const starts = triggers.map(({ type, value }) => (type === "word" ? call.indexOf(value) : startOf(new RegExp(value), call)));
    const start = Math.min(...starts.filter((at) => at >= 0));
    expect(new Gbnf(gbnf).accepts(call.slice(start))).toBe(true);
  });

  test("structural tags: each begins with one of the triggers; without triggers the grammar is the whole", () => {
    const { gbnf, structuralTag } = grammar("auto");
    if (gbnf !== "") {
      const { triggers, tags } = (structuralTag as unknown as { format: { triggers: string[]; tags: { begin: string }[] } }).format;
      expect(tags).not.toEqual([]);
      expect(new Set(tags.map((tag) => JSON.stringify(tag))).size, "each tag comes once").toBe(tags.length);
      for (const { begin } of tags) expect(triggers.filter((trigger) => begin.startsWith(trigger))).toHaveLength(1);
    }
    for (const choice of ["required", "none"] as const) {
      const { gbnf, structuralTag } = grammar(choice);
      expect(structuralTag).toEqual({ type: "structural_tag", format: { type: "grammar", grammar: gbnf } });
    }
  });

  test("structural tags contain the grammar that llama.cpp gets, and nothing that xgrammar reads differently", () => {
    const keys = ["a", "\n</p", "é", "😀", "[", "x\x7fa"];
    const parameters: JsonObject = {
      type: "object",
      properties: Object.fromEntries(keys.map((key) => [key, { type: "integer" }])),
      additionalProperties: { type: "boolean" },
    };
    for (const choice of ["auto", "required", "none"] as const)
      for (const grammar of grammarsIn(dialect.grammar([{ name: "f", parameters }], choice).structuralTag ?? null))
        expect(() => new Gbnf(grammar), grammar).not.toThrow();
  });

  test("structural tags: in auto, text is free, and calls are constrained as by the grammar", () => {
    const takes = (choice: ToolChoice, output: string, options?: GrammarOptions) =>
      tagMatcher(grammar(choice, options).structuralTag).accepts(output);
    const wrong = plainText(dialect.renderToolCalls([{ name: "get_weather", arguments: { city: "Oslo", days: "no" } }]));
    if (grammar("auto").gbnf === "") return;
    for (const output of ["", "Hi < {", text("get_time"), `Hi. ${text("get_weather")}`, text("get_time", "get_weather")])
      expect(takes("auto", output), output).toBe(true);
    for (const output of [text("get_date"), `Hi. ${wrong}`]) expect(takes("auto", output), output).toBe(false);
    expect(takes({ allowed: ["get_time"] }, text("get_time"))).toBe(true);
    expect(takes({ allowed: ["get_time"] }, text("get_weather"))).toBe(false);
    expect(takes("auto", text("get_time"), { parallelCalls: false })).toBe(true);
    expect(takes("auto", text("get_time", "get_weather"), { parallelCalls: false })).toBe(false);
  });

  test("declared keys and words as the dialect writes them, escaped or in sections", () => {
    const words = ["año", "天気 😀", "<x>", "a & b", "n\nl", "</x", 'q"q', "it's", "b\\s", "\x7f", ""];
    for (const key of ["año", "天気", "😀", 'q"q', "it's", "b\\s", "a & b", "\x7f"]) {
      const inside = { type: "object", properties: { [key]: { type: "integer" } }, required: [key] };
      const properties = { [key]: { enum: words }, o: inside, l: { type: "array", items: { enum: words } } };
      const odd: Tool = { name: "f", parameters: { type: "object", properties, required: [key, "o", "l"] } };
      const made = new Gbnf(dialect.grammar([odd], "required").gbnf);
      for (const word of words) {
        const args = { [key]: word, o: { [key]: 1 }, l: [word] };
        const text = (args: JsonObject) => plainText(dialect.renderToolCalls([{ name: "f", arguments: args }]));
        const call = text(args);
        expect(made.accepts(call), call).toBe(true);
        for (const wrong of [
          { ...args, [key]: `${word}!` },
          { ...args, o: { [`${key}!`]: 1 } },
        ])
          expect(made.accepts(text(wrong))).toBe(false);
        expect(endsOf(scanPieces(dialect, [call], { tools: [odd] }))[0]?.arguments).toEqual(args);
      }
    }
  });

  test("a tool may have hundreds of parameters", () => {
    const keys = Array.from({ length: 150 }, (_, i) => `${i} is its number`);
    const properties = Object.fromEntries(keys.map((key) => [key, { type: "integer" }]));
    for (const additionalProperties of [false, { type: "boolean" }]) {
      const many: Tool = { name: "many", parameters: { type: "object", properties, additionalProperties } };
      const { gbnf } = dialect.grammar([many, weather], "required");
      expect(() => new Gbnf(gbnf)).not.toThrow();
    }
  });

  test("what repeats in the text of a call has one rule for all tools, since engines prepare every copy", () => {
    const many: Tool[] = Array.from({ length: 20 }, (_, i) => ({ name: `tool${i}` }));
    const repeated = dialect.grammar(many, "required").gbnf.match(/\[[^\]]+\]\{[^}]+\}/g) ?? [];
    expect(repeated.length).toBeLessThan(10);
  });

  test("at most one call, if calls must not be parallel", () => {
    const single = grammar("required", { parallelCalls: false });
    expect(accepts(single, text("get_time"))).toBe(true);
    expect(accepts(single, text("get_time", "get_weather"))).toBe(false);
  });

  test("thinking may come before a required call, if the dialect has it", () => {
    const thinking = plainText(dialect.renderThinking("Hm. < 3"));
    if (thinking === "") return;
    const output = (thinking + text("get_time")).replace(/^<\|(?:(?:start|begin)\|>assistant|message_model\|>)/, "");
    expect(accepts(grammar("required"), output)).toBe(true);
    expect(accepts(grammar("required", { startInThinking: false }), output)).toBe(false);
    const open = output.slice(output.indexOf("Hm."));
    expect(accepts(grammar("required", { startInThinking: true }), open)).toBe(true);
    expect(accepts(grammar("required", { startInThinking: true }), text("get_time"))).toBe(false);
  });

  test("thinking before a call of a named tool holds no call that the scanner would read", () => {
    const quoted = plainText(dialect.renderThinking(`Hm. ${text("get_weather")}`));
    if (quoted === "") return;
    const output = (quoted + text("get_time")).replace(/^<\|(?:(?:start|begin)\|>assistant|message_model\|>)/, "");
    const names = endsOf(scanPieces(dialect, [output], { tools })).map(({ name }) => name);
    for (const given of [{ name: "get_time" }, { allowed: ["get_time"], required: true as const }])
      if (accepts(grammar(given), output)) expect(names, output).toEqual(["get_time"]);
  });

  test("an answer in a schema, beside calls or alone", () => {
    const output = { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] };
    const either = grammar("auto", { output });
    expect(either.triggers).toEqual([]);
    for (const good of ['{"sum": 3}', '{"sum":3}', text("get_time")]) expect(accepts(either, good), good).toBe(true);
    for (const bad of ["3", '{"sum": "3"}', "{}"]) expect(accepts(either, bad), bad).toBe(false);
    const alone = grammar("none", { output });
    expect(accepts(alone, '{"sum": 3}')).toBe(true);
    expect(accepts(alone, text("get_time"))).toBe(false);
  });

  test("an answer in a schema reads back as that JSON, also after thinking, and calls beside it as calls", () => {
    const output = { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] };
    const drawn = numbers(17);
    for (const choice of ["auto", "none"] as const) {
      const matcher = new Gbnf(grammar(choice, { output }).gbnf);
      for (let i = 0; i < 30; i++) {
        const sample = matcher.sample((n) => drawn.next().value % n);
        const events = scanPieces(dialect, [sample], { tools });
        if (choice === "auto" && endsOf(events).length > 0) expect(textOf(events).trim(), sample).toBe("");
        else expect(JSON.parse(textOf(events)), sample).toEqual({ sum: expect.any(Number) });
      }
    }
  });

  test("a keyword that cannot be expressed is relaxed and reported, for its path alone", () => {
    const odd: Tool = {
      name: "odd",
      parameters: {
        type: "object",
        properties: { id: { type: "string", pattern: "^a+$" }, n: { type: "integer" } },
        required: ["id", "n"],
      },
    };
    const relaxed = dialect.grammar([odd, weather], "required");
    expect(relaxed.relaxed).toEqual([{ tool: "odd", path: "/properties/id", keyword: "pattern" }]);
    const call = (args: JsonObject) => plainText(dialect.renderToolCalls([{ name: "odd", arguments: args }]));
    expect(accepts(relaxed, call({ id: "b", n: 1 }))).toBe(true);
    expect(accepts(relaxed, call({ id: "b", n: "x" }))).toBe(false);
    expect(accepts(relaxed, text("get_weather"))).toBe(true);
  });

  test("a custom tool accepts text as its `input`", () => {
    const patch: Tool = { name: "apply_patch", kind: "custom" };
    const call = plainText(dialect.renderToolCalls([{ name: "apply_patch", arguments: { input: "*** Begin" } }]));
    expect(accepts(dialect.grammar([patch], "required"), call)).toBe(true);
  });
});

/** All grammars in a structural tag. */
function grammarsIn(tag: Json): string[] {
  if (Array.isArray(tag)) return tag.flatMap(grammarsIn);
  if (!isObject(tag)) return [];
  return typeof tag.grammar === "string" ? [tag.grammar] : Object.values(tag).flatMap(grammarsIn);
}

/** Where llama.cpp starts the grammar: at the first group that matched. */
function startOf(pattern: RegExp, text: string): number {
  const match = new RegExp(pattern, "d").exec(text);
  return match?.indices?.slice(1).find(Boolean)?.[0] ?? match?.index ?? -1;
}

describe("XML parameters", () => {
  const free: Tool = {
    name: "f",
    parameters: { type: "object", properties: { a: { type: ["string", "integer"] }, b: { type: "boolean" }, c: { enum: ["x", 7, null] } } },
  };
  const speaks = (id: string, ...tools: Tool[]) => {
    const grammar = speakers.find((dialect) => dialect.id === id)!.grammar(tools, "required");
    return (text: string) => accepts(grammar, text);
  };

  test.each([
    ["deepseek-v3.2", "function_calls"],
    ["deepseek-v4", "tool_calls"],
  ])("%s: the tag states the type of the value", (id, word) => {
    const takes = speaks(id, free);
    const call = (...parameters: [key: string, string: boolean, text: string][]) => {
      const lines = parameters.map(
        ([key, string, text]) => `<｜DSML｜parameter name="${key}" string="${string}">${text}</｜DSML｜parameter>\n`,
      );
      return `<｜DSML｜${word}>\n<｜DSML｜invoke name="f">\n${lines.join("")}</｜DSML｜invoke>\n</｜DSML｜${word}>`;
    };
    expect(takes(call())).toBe(true);
    for (const text of ["x", "3", "", "a\n<b>"]) expect(takes(call(["a", true, text])), text).toBe(true);
    expect(takes(call(["a", false, "3"]))).toBe(true);
    for (const text of ["x", '"x"', "true", "[]"]) expect(takes(call(["a", false, text])), text).toBe(false);
    expect(takes(call(["b", false, "true"]))).toBe(true);
    for (const [string, text] of [
      [true, "true"],
      [false, "True"],
      [false, "1"],
    ] as const)
      expect(takes(call(["b", string, text]))).toBe(false);
    for (const [string, text] of [
      [true, "x"],
      [false, "7"],
      [false, "null"],
    ] as const)
      expect(takes(call(["c", string, text]))).toBe(true);
    for (const [string, text] of [
      [false, "x"],
      [false, '"x"'],
      [true, "7"],
      [true, "null"],
    ] as const)
      expect(takes(call(["c", string, text]))).toBe(false);
  });

  const tagged = ["deepseek-v3.2", "glm", "hy3", "kimi-k3", "laguna", "minicpm5", "minimax-m2", "minimax-m3", "qwen3-coder", "seed-oss"];
  test.each(tagged)("%s: parameters come in any order, required ones exactly once", (id) => {
    const integers = (keys: string) => Object.fromEntries([...keys].map((key) => [key, { type: "integer" }]));
    const allows = (keys: string, required: string, written: string): boolean => {
      const tool = { name: "f", parameters: { type: "object", properties: integers(keys), required: [...required] } };
      const call = { name: "f", arguments: Object.fromEntries([...written].map((key) => [key, 1])) };
      return speaks(id, tool)(plainText(getDialect(id).renderToolCalls([call])));
    };
    for (const written of ["ab", "abcd", "dcba", "cbad", "bdac", "dba"]) expect(allows("abcd", "ab", written), written).toBe(true);
    for (const written of ["", "a", "dcb", "abx"]) expect(allows("abcd", "ab", written), written).toBe(false);
    for (const written of ["", "a", "dc", "bda"]) expect(allows("abcd", "", written), written).toBe(true);
    // There would be too many orders.
    for (const [written, is] of [
      ["abcde", true],
      ["fabcdeg", true],
      ["abgcfde", true],
      ["bacde", false],
    ] as const)
      expect(allows("abcdefg", "abcde", written), written).toBe(is);
  });

  test("deepseek-v3.2: undeclared keys", () => {
    const takes = speaks("deepseek-v3.2", { name: "f", parameters: { type: "object", additionalProperties: true } });
    const call = (string: boolean, text: string) =>
      `<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="k" string="${string}">${text}</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>`;
    expect(takes(call(true, "any"))).toBe(true);
    expect(takes(call(false, '{"a": 1}'))).toBe(true);
    expect(takes(call(false, "any"))).toBe(false);
  });

  test("deepseek-v4: no parameters, with or without the template's empty line", () => {
    const takes = speaks("deepseek-v4", { name: "now" });
    const call = (body: string) => `<｜DSML｜tool_calls>\n<｜DSML｜invoke name="now">\n${body}</｜DSML｜invoke>\n</｜DSML｜tool_calls>`;
    expect(["", "\n", "\n\n"].map((body) => takes(call(body)))).toEqual([true, true, false]);
  });

  test.each(["glm", "hy3", "laguna", "ling3", "minicpm5", "minimax-m2", "qwen3-coder", "seed-oss"])(
    "%s: a union that allows anything allows a string",
    (id) => {
      const dialect = speakers.find((dialect) => dialect.id === id)!;
      const a = { anyOf: [{ type: "object" }, { description: "anything" }] };
      const takes = speaks(id, { name: "f", parameters: { type: "object", properties: { a } } });
      for (const value of ["s", { b: 1 }])
        expect(takes(plainText(dialect.renderToolCalls([{ name: "f", arguments: { a: value } }])))).toBe(true);
    },
  );

  test("qwen3-coder: Python's words as well as JSON's, and the opener may be missing", () => {
    const takes = speaks("qwen3-coder", free);
    const call = (key: string, text: string) => `<function=f>\n<parameter=${key}>\n${text}\n</parameter>\n</function>\n</tool_call>`;
    for (const text of ["True", "true", "False"]) expect(takes(`<tool_call>\n${call("b", text)}`), text).toBe(true);
    for (const text of ["x", "7", "null"]) expect(takes(call("c", text)), text).toBe(true);
    expect(takes(call("c", "None")), "if a string is allowed, only JSON's own word is null").toBe(false);
    for (const text of ["TRUE", "1"]) expect(takes(call("b", text)), text).toBe(false);
  });

  test.each(["qwen3-coder", "seed-oss"])("%s: if no string is allowed, null is the template's word or JSON's", (id) => {
    const dialect = speakers.find((dialect) => dialect.id === id)!;
    const kinds: JsonObject[] = [
      { type: ["integer", "null"] },
      { type: "boolean", nullable: true },
      { anyOf: [{ type: "array", items: { type: "string" } }, { type: "null" }] },
      { type: ["object", "null"], properties: { z: { type: "integer" } } },
      { $ref: "#/$defs/count" },
      { enum: [1, null] },
      { type: "null" },
    ];
    for (const p of kinds) {
      const parameters = { type: "object", properties: { p }, required: ["p"], $defs: { count: { type: ["integer", "null"] } } };
      const tools: Tool[] = [{ name: "f", parameters }];
      const call = plainText(dialect.renderToolCalls([{ name: "f", arguments: { p: null } }]));
      const takes = speaks(id, ...tools);
      expect(call).toContain("None");
      for (const text of [call, call.replace("None", "null")]) {
        expect(takes(text), `${JSON.stringify(p)} ${text}`).toBe(true);
        expect(endsOf(scanPieces(dialect, [text], { tools }))[0]?.arguments).toEqual({ p: null });
      }
      for (const word of ["none", "nil", '"None"']) expect(takes(call.replace("None", word)), word).toBe(false);
    }
  });

  test("glm: with newlines, as until 4.6, and without", () => {
    const takes = speaks("glm", free);
    const lines = [
      "<tool_call>f",
      "<arg_key>a</arg_key>",
      "<arg_value>x\n</arg_value>",
      "<arg_key>b</arg_key>",
      "<arg_value>true</arg_value>",
    ];
    for (const gap of ["", "\n"]) {
      const call = [...lines, "</tool_call>"].join(gap);
      expect(takes(call)).toBe(true);
      expect(takes([call, call].join(gap))).toBe(true);
      expect(takes(call.replace("f", "f "))).toBe(false);
    }
  });

  const closer = /\n?<\/(?:parameter|arg_value(?::opensource)?)>\n?/;
  test.each(["glm", "hy3", "laguna", "ling3", "qwen3-coder", "seed-oss"])(
    "%s: a model that forgets a string's closer can end its call, which is read",
    (id) => {
      const takes = speaks(id, free);
      const dialect = getDialect(id);
      const text = plainText(dialect.renderToolCalls([{ name: "f", arguments: { a: "x" } }]));
      for (const end of ["", closer.exec(text)?.[0].trim() ?? ""]) {
        const sloppy = text.replace(closer, end);
        expect(takes(sloppy), sloppy).toBe(true);
        expect(endsOf(scanPieces(dialect, [sloppy], { tools: [free] })), sloppy).toMatchObject([
          { arguments: { a: "x" }, json: '{"a":"x"}' },
        ]);
      }
      // What is no string ends by itself, so its closer can be required.
      const typed = plainText(dialect.renderToolCalls([{ name: "f", arguments: { b: true } }]));
      expect([typed, typed.replace(closer, "")].map(takes)).toEqual([true, false]);
    },
  );
});

describe("none excludes calls in every form that the scanner reads", () => {
  test.each([
    ["gemma4", ["call:get_time{}", "<call>get_time{}"]],
    ["deepseek-v3", ["<|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|>get_time\n```json\n{}\n```<|tool_call_end|>"]],
    ["glm4", ["get_time\n{}", "<|assistant|>get_time \n{}"]],
    ["harmony", ["<|channel|>commentary to=get_time <|constrain|>json<|message|>{}<|call|>"]],
    ["llama3", ["<function=get_time>{}</function>", '{"name": "get_time", "parameters": {}}']],
    ["phi4-mini", ['<|tool_call|>[{"name": "get_time", "arguments": {}}]<|/tool_call|>']],
    ["pythonic", ["[get_time()]", "```tool_code\nget_time()\n```", "<|python_start|>[get_time()]<|python_end|>"]],
    ["qwen3-coder", ["<function=get_time>\n</function>"]],
    ["xlam", ['{"name": "get_time", "arguments": {}}', '[{"name": "get_time", "arguments": {}}]']],
  ])("%s", (id, texts) => {
    const dialect = speakers.find((dialect) => dialect.id === id)!;
    for (const text of texts) {
      expect(endsOf(scanPieces(dialect, [text], { tools })), text).toHaveLength(1);
      expect(accepts(dialect.grammar(tools, "none"), text), text).toBe(false);
      expect(accepts(dialect.grammar(tools, "none"), `Hi! ${text}`), text).toBe(false);
    }
    expect(accepts(dialect.grammar(tools, "none"), "Call get_time() or [1](x), to=5: <b>{}</b>")).toBe(true);
  });

  test.each(speakers.map((dialect) => [dialect.id, dialect] as const))("%s: if it cannot, that is reported", (id, dialect) => {
    const open = { tool: "", path: "", keyword: "toolChoice" };
    expect(dialect.grammar(tools, "none").relaxed).toEqual(
      ["cogito", "functionary-v3.2", "glm4", "json", "llama3", "xlam"].includes(id) ? [open] : [],
    );
  });
});

describe("variants", () => {
  const args = { city: "Oslo", days: 2 };
  const calls = [
    { type: "tool-call" as const, id: "abcdef123", name: "get_weather", arguments: args },
    { type: "tool-call" as const, id: "abcdef124", name: "get_time", arguments: {} },
  ];
  const request = {
    model: "m",
    tools,
    messages: [
      { role: "user" as const, content: [{ type: "text" as const, text: "ASK" }] },
      { role: "assistant" as const, content: calls },
      ...calls.map(({ id, name }) => ({ role: "tool" as const, id, name, output: "DONE" })),
    ],
  };
  const all = speakers.flatMap((dialect) => dialect.variants.map((variant) => [dialect.id, variant, dialect] as const));

  /** Whether both calls occur in the text, in the form of the grammar. */
  const holds = (made: Grammar, rendered: string): boolean => {
    const matcher = new Gbnf(made.gbnf);
    const starts = Array.from({ length: rendered.indexOf("get_weather") }, (_, i) => i);
    const ends = Array.from({ length: rendered.length - rendered.lastIndexOf("get_time") }, (_, i) => rendered.length - i);
    return starts.some((start) => ends.some((end) => matcher.accepts(rendered.slice(start, end))));
  };

  test.each(all)("%s, %s: calls have the form that the variant renders, and read back", (_, variant, dialect) => {
    const prompt = plainText(dialect.render(request, { variant }));
    const rendered = prompt.slice(prompt.lastIndexOf("ASK") + 3, prompt.indexOf("DONE"));
    const made = dialect.grammar(tools, "required", { variant });
    expect(holds(made, rendered), rendered).toBe(true);
    expect(holds(dialect.grammar(tools, "required"), rendered), rendered).toBe(true);
    const drawn = numbers(9);
    const matcher = new Gbnf(made.gbnf);
    for (let i = 0; i < 30; i++) {
      const sample = matcher.sample((n) => drawn.next().value % n);
      expect(endsOf(scanPieces(dialect, [sample], { tools })).length, sample).toBeGreaterThan(0);
    }
  });

  const call = (name: string, args = "{}") => `{"name": "${name}", "arguments": ${args}}`;
  test.each<[string, string | undefined, string, string[]]>([
    ["mistral", undefined, "[TOOL_CALLS]get_time[ARGS]{}", []],
    ["mistral", "mistral-v7", `[TOOL_CALLS][${call("get_time")}]`, ["[TOOL_CALLS]get_time[ARGS]{}"]],
    [
      "deepseek-v4",
      "deepseek-v4.1-flash",
      '<｜DSML｜ calls>\n<｜DSML｜ invoke name="get_time">\n<｜DSML｜ parameter name="zone" string="true">UTC</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n</｜DSML｜ calls>',
      ['<｜DSML｜tool_calls>\n<｜DSML｜invoke name="get_time">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>'],
    ],
    ["mistral", "mistral-small-3.2-2506", "[TOOL_CALLS]get_time[CALL_ID]abcdef123[ARGS]{}", ["[TOOL_CALLS]get_time[ARGS]{}"]],
    ["mistral", "mistral-nemo-2407", `[TOOL_CALLS] [${call("get_time")}, ${call("get_time")}]`, ["[TOOL_CALLS]get_time[ARGS]{}"]],
    ["pythonic", "vllm-llama4-pythonic", "[get_time()]", ["<|tool_call_start|>[get_time()]<|tool_call_end|>"]],
    ["pythonic", "vllm-llama4-pythonic", "<|python_start|>[get_time(), get_time(zone='UTC')]<|python_end|>", []],
    ["pythonic", undefined, "<function_calls>\nget_time()\nget_time(zone='UTC')\n</function_calls>", []],
    ["granite", "granite-4.0", `<tool_call>\n${call("get_time")}\n</tool_call>`, [`<tool_call>[${call("get_time")}]`]],
    ["granite", undefined, `<tool_call>[${call("get_time")}, ${call("get_weather", '{"city": "Oslo"}')}]`, []],
    ["granite", undefined, `<|tool_call|> [${call("get_time")}]`, []],
    ["granite", undefined, `<function_call> ${call("get_time")}\n<function_call> ${call("get_time")}`, []],
  ])("%s, %s: %s", (id, variant, good, bad) => {
    const dialect = speakers.find((dialect) => dialect.id === id)!;
    const options = variant === undefined ? {} : { variant };
    const required = dialect.grammar(tools, "required", options);
    const auto = dialect.grammar(tools, "auto", options);
    expect(accepts(required, good)).toBe(true);
    expect(accepts(required, good.replaceAll("get_time", "get_date"))).toBe(false);
    for (const text of bad) expect(accepts(required, text), text).toBe(false);
    expect(auto.triggers.some(({ value }) => good.startsWith(value))).toBe(!good.startsWith("[get"));
    expect(accepts(dialect.grammar(tools, "none", options), good)).toBe(false);
    expect(endsOf(scanPieces(dialect, [good], { tools })).length).toBeGreaterThan(0);
  });
});

describe("harmony", () => {
  const { grammar } = speakers.find(({ id }) => id === "harmony")!;
  const call = (header: string, args: string) => `${header}<|message|>${args}<|call|>`;
  const headers = (name: string) => [
    `<|channel|>commentary to=functions.${name} <|constrain|>json`,
    `<|channel|>analysis to=functions.${name}`,
    ` to=functions.${name}<|channel|>commentary json`,
    `<|start|>assistant to=functions.${name}<|channel|>analysis<|constrain|>json`,
    `<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant to=functions.${name}<|channel|>commentary json`,
    `<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.${name}`,
  ];

  test("a structural tag covers every form of a call, wherever its recipient is", () => {
    const takes = (choice: ToolChoice) => {
      const matcher = tagMatcher(grammar(tools, choice).structuralTag);
      return (text: string) => matcher.accepts(text);
    };
    for (const header of headers("get_time")) {
      expect(takes("auto")(call(header, '{"zone": "UTC"}')), header).toBe(true);
      expect(takes("auto")(call(header, '{"zone": 1}')), header).toBe(false);
      expect(takes({ allowed: ["get_weather"] })(call(header, "{}")), header).toBe(false);
    }
    for (const header of headers("get_date")) expect(takes("auto")(call(header, "{}")), header).toBe(false);
  });
});

describe("pythonic", () => {
  const dialect = speakers.find(({ id }) => id === "pythonic")!;
  const tool = (p: JsonObject): Tool[] => [{ name: "f", parameters: { type: "object", properties: { p }, required: ["p"] } }];
  const takes = (p: JsonObject, value: string) =>
    accepts(dialect.grammar(tool(p), "required"), `<|tool_call_start|>[f(p=${value})]<|tool_call_end|>`);

  test("a declared key of a dict has its own type, in any quotes, and comes once", () => {
    const dict = { type: "object", properties: { c: { type: "integer" } }, additionalProperties: { type: "string" } };
    for (const value of ['{"c": 1}', "{'c': 1, 'd': 'x'}", `{"d": "x", 'cc': 'y'}`, "{'it\"s': 'x'}"])
      expect(takes(dict, value), value).toBe(true);
    for (const value of ['{"c": "x"}', "{'c': 'x'}", `{"c": 1, "c": "x"}`, `{"c": 1, 'c': "x"}`])
      expect(takes(dict, value), value).toBe(false);
  });

  test("the name of an undeclared argument is no number", () => {
    const open: Tool[] = [{ name: "f", parameters: { type: "object", additionalProperties: true } }];
    for (const [args, is] of [
      ["a0=1", true],
      ["_=1", true],
      ["'0'=1", true],
      ["0=1", false],
      ["9z=1", false],
    ] as const) {
      const text = `[f(${args})]<|python_end|>`;
      expect(accepts(dialect.grammar(open, "required", { variant: "vllm-llama4-pythonic" }), text), args).toBe(is);
      expect(endsOf(scanPieces(dialect, [text], { tools: open })), args).toHaveLength(Number(is));
    }
  });

  test("a string has its length after decoding, escapes included", () => {
    const four = { type: "string", minLength: 4, maxLength: 4 };
    const drawn = numbers(5);
    const matcher = new Gbnf(dialect.grammar(tool(four), "required", { parallelCalls: false, startInThinking: false }).gbnf);
    for (let i = 0; i < 200; i++) {
      const sample = matcher.sample((n) => drawn.next().value % n);
      const [end] = endsOf(scanPieces(dialect, [sample], { tools: tool(four) }));
      expect([...String(end?.arguments.p)], sample).toHaveLength(4);
    }
    expect(takes(four, "'\\n\\x41\\u00e9\\''")).toBe(true);
    expect(takes(four, "'\\d+x'")).toBe(false);
    expect(takes({ type: "string" }, "'\\d+'")).toBe(true);
  });
});

describe("values that read back differently are named in `relaxed`", () => {
  const properties: Record<string, JsonObject> = {
    mixed: { enum: [1, "a", null, true] },
    either: { anyOf: [{ enum: ["a", "b"] }, { type: "integer" }] },
    maybe: { type: ["string", "null"], enum: ["p", "q", null] },
    words: { enum: ["a", "b"] },
    numbers: { enum: [1, 2, null] },
    text: { type: ["string", "integer"] },
    items: { type: "array", items: { enum: ["a", 1] } },
    deep: { type: "object", properties: { x: { type: "integer" }, y: { type: "string" } }, required: ["x"] },
    list: { type: "array", items: { type: ["number", "null"] } },
  };
  const fits = (value: Json, schema: JsonObject): boolean => {
    if (Array.isArray(schema.anyOf)) return schema.anyOf.some((part) => fits(value, part as JsonObject));
    if (Array.isArray(schema.enum)) return schema.enum.includes(value);
    const types = [schema.type].flat();
    return (
      types.includes(value === null ? "null" : Array.isArray(value) ? "array" : typeof value) ||
      (types.includes("integer") && Number.isInteger(value))
    );
  };

  test.each(speakers.map((dialect) => [dialect.id, dialect] as const))("%s", (_, dialect) => {
    const tools: Tool[] = [{ name: "f", parameters: { type: "object", properties, required: Object.keys(properties) } }];
    const { gbnf, relaxed } = dialect.grammar(tools, "required", { parallelCalls: false, startInThinking: false });
    const paths = relaxed.map(({ path }) => path);
    const isRelaxed = (key: string) => paths.some((path) => path.startsWith(`/properties/${key}`));
    const untyped = isUntyped(dialect) ? ["mixed", "either"] : dialect.id === "minimax-m3" ? ["mixed", "either", "maybe", "items"] : [];
    expect(Object.keys(properties).filter(isRelaxed)).toEqual(untyped);
    const drawn = numbers(11);
    const matcher = new Gbnf(gbnf);
    for (let i = 0; i < 60; i++) {
      const sample = matcher.sample((n) => drawn.next().value % n, 400);
      const [end] = endsOf(scanPieces(dialect, [sample], { tools }));
      for (const [key, schema] of Object.entries(properties))
        if (!isRelaxed(key)) expect(fits(end?.arguments[key] ?? null, schema), `${key} in ${sample}`).toBe(true);
    }
  });
});

describeShared("a hundred tools of the Berkeley leaderboard", () => {
  const cases = bfclCases(join(shared, "bfcl.jsonl"), 100);
  test.each(speakers.map((dialect) => [dialect.id, dialect] as const))("%s", (_, dialect) => {
    expect(cases).toHaveLength(100);
    for (const one of cases) check(dialect, one);
  });
});

describe("schemas", () => {
  const person = {
    type: "object",
    properties: { name: { type: "string" }, boss: { anyOf: [{ $ref: "#/$defs/person" }, { type: "null" }] } },
    required: ["name"],
  };
  const rows: [string, JsonObject, Json[], Json[]][] = [
    ["types", { type: "integer" }, [0, -5, 12], [1.5, "1", true, null]],
    ["several types", { type: ["number", "null"] }, [1.5, null, 1e30, 1e-9], ["1", false]],
    ["nullable", { type: "string", nullable: true }, ["x", null], [1]],
    ["nullable words", { type: "string", enum: ["a", "b"], nullable: true }, ["a", null], ["c", 1]],
    ["a nullable reference", { $ref: "#/$defs/word", nullable: true, $defs: { word: { const: "a" } } }, ["a", null], ["b"]],
    ["types of other schema languages", { type: "STRING" }, ["x"], [1]],
    ["a small range", { type: "integer", minimum: 1, maximum: 12 }, [1, 9, 12], [0, 13, 123, -1]],
    ["a small range without its ends", { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 10 }, [1, 9], [0, 10, -1]],
    [
      "a small range without its ends, in older drafts",
      { type: "integer", minimum: 0, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: true },
      [1, 2],
      [0, 3],
    ],
    ["a large range", { type: "integer", minimum: -40, maximum: 65_535 }, [-40, -9, 0, 7, 65_535], [-41, -100, 65_536, 70_000, 100_000]],
    ["no integers below", { type: "integer", minimum: 17 }, [17, 20, 99, 100, 1_234_567_890], [16, 9, 0, -17, -20]],
    ["no integers above", { type: "integer", exclusiveMaximum: -300 }, [-301, -999, -1000], [-300, -299, -30, 0, 301]],
    ["the largest exact ends", { type: "integer", exclusiveMinimum: 2 ** 53 - 1 }, [2 ** 53, 2 ** 53 + 2], [2 ** 53 - 1, 0, -5]],
    ["integers between fractions", { type: "integer", minimum: -1.5, maximum: 1.5 }, [-1, 0, 1], [-2, 2]],
    ["no negative numbers", { type: "number", minimum: 0 }, [0, 3.5], [-1]],
    ["lengths", { type: "string", minLength: 2, maxLength: 3 }, ["ab", 'a"\n'], ["a", "abcd"]],
    ["words of a list", { type: "array", enum: ["a", "b"] }, [[], ["a", "b"]], ["a", ["c"], [1]]],
    ["words of a list in Gemini's spelling", { type: "ARRAY", enum: ["a", "b"] }, [[], ["a", "b"]], ["a", ["c"]]],
    ["enum and const", { enum: ["a", 1, null, [1, { b: 2 }]] }, ["a", 1, null, [1, { b: 2 }]], ["b", 2, [1], [1, { b: 3 }]]],
    ["lists", { type: "array", items: { type: "integer" }, minItems: 1, maxItems: 3 }, [[1], [1, 2, 3]], [[], [1, 2, 3, 4], ["1"], 1]],
    [
      "tuples",
      { type: "array", prefixItems: [{ type: "integer" }, { type: "string" }], items: false },
      [[], [1], [1, "a"]],
      [
        ["a", 1],
        [1, "a", 2],
      ],
    ],
    [
      "tuples of some length",
      { type: "array", prefixItems: [{ type: "integer" }, { type: "string" }], items: { type: "null" }, minItems: 2, maxItems: 3 },
      [
        [1, "a"],
        [1, "a", null],
      ],
      [[], [1], [1, "a", 2], [1, "a", null, null]],
    ],
    [
      "tuples shorter than they could be",
      { type: "array", prefixItems: [{ type: "integer" }, { type: "string" }, false], maxItems: 9, minItems: 1 },
      [[1], [1, "a"]],
      [[], [1, "a", 2]],
    ],
    [
      "tuples of older drafts",
      { type: "array", items: [{ type: "integer" }], additionalItems: { type: "string" } },
      [[], [1], [1, "a"]],
      [["a"], [1, 2]],
    ],
    [
      "an impossible value does not occur",
      {
        type: "object",
        properties: { a: { type: "integer" }, b: false, c: { anyOf: [false, { type: "null" }] } },
        additionalProperties: true,
      },
      [{}, { a: 1, c: null }, { d: 1 }],
      [{ b: 1 }, { a: 1, b: null }, { c: 1 }],
    ],
    ["anything", {}, [1, "x", null, [{ a: [] }], {}], []],
    ["any object", { type: "object" }, [{}, { a: { b: 1 } }], [[], 1]],
    ["values of other keys", { type: "object", additionalProperties: { type: "integer" } }, [{}, { a: 1, b: 2 }], [{ a: "1" }]],
    [
      "additional keys do not repeat declared ones",
      { type: "object", properties: { ab: { type: "integer" } }, additionalProperties: true },
      [{ ab: 1 }, { a: "x", abc: "y" }, { ab: 1, z: [] }],
      [{ ab: "x" }, { a: 1, ab: "x" }],
    ],
    [
      "additional keys do not repeat declared ones, in any script",
      { type: "object", properties: { é: { type: "integer" }, "😀": { type: "integer" } }, additionalProperties: true },
      [
        { é: 1, "😀": 2 },
        { è: "x", "😁": "y", "é😀": "z" },
      ],
      [{ é: "x" }, { "😀": "x" }, { "😁": 1, "😀": "x" }],
    ],
    [
      "optional keys",
      { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" }, c: { type: "integer" } } },
      [{}, { a: 1 }, { b: 1 }, { c: 1 }, { a: 1, c: 1 }, { a: 1, b: 1, c: 1 }],
      [{ d: 1 }, { a: "1" }],
    ],
    [
      "optional keys around a required one",
      { type: "object", properties: { a: {}, b: {}, c: {} }, required: ["b"] },
      [{ b: 1 }, { a: 1, b: 1 }, { b: 1, c: 1 }],
      [{}, { a: 1 }, { a: 1, c: 1 }],
    ],
    ["a required key without a schema", { type: "object", properties: {}, required: ["a"] }, [{ a: 1 }, { a: "x" }], [{}]],
    [
      "a required key that only the schema of other keys describes",
      { type: "object", required: ["a"], additionalProperties: { type: "integer" } },
      [{ a: 1 }, { a: 1, b: 2 }],
      [{}, { a: "x" }, { a: 1, b: "x" }],
    ],
    [
      "names of keys that may be any strings",
      { type: "object", propertyNames: { type: "string", description: "a word" }, additionalProperties: { type: "integer" } },
      [{}, { a: 1, b: 2 }],
      [{ a: "1" }],
    ],
    [
      "names of keys that are listed",
      {
        type: "object",
        propertyNames: { $ref: "#/$defs/name" },
        properties: { b: { type: "null" }, z: {} },
        additionalProperties: { type: "integer" },
        required: ["a"],
        $defs: { name: { type: "string", enum: ["a", "b", "c"] } },
      },
      [{ a: 1 }, { b: null, a: 1, c: 2 }],
      [{}, { b: null }, { a: 1, z: 1 }, { a: 1, d: 1 }, { a: "1" }, { b: 1, a: 1 }],
    ],
    ["null as a word of a nullable type", { type: "string", nullable: true, enum: [null] }, [null], ["", "x"]],
    [
      "recursive references",
      { $defs: { person }, $ref: "#/$defs/person" },
      [{ name: "A", boss: { name: "B", boss: null } }],
      [{ name: "A", boss: {} }],
    ],
    [
      "allOf",
      {
        allOf: [
          { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
          { properties: { b: {} }, required: ["b"] },
        ],
      },
      [{ a: 1, b: 2 }],
      [{ a: 1 }],
    ],
    [
      "anyOf beside properties",
      { type: "object", properties: { a: { type: "integer" } }, anyOf: [{ required: ["a"] }, { properties: { b: {} }, required: ["b"] }] },
      [{ a: 1 }, { b: 1 }, { a: 1, b: 1 }],
      [{}],
    ],
    [
      "allOf beside anyOf",
      { allOf: [{ type: "object", properties: { a: {}, b: {} } }], anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      [{ a: 1 }, { b: 1 }],
      [{}],
    ],
    ["two unions", { anyOf: [{ type: "integer" }, { type: "boolean" }], oneOf: [{ minimum: 3, maximum: 5 }] }, [3, 5, true], [2, 6, "x"]],
    [
      "two unions in allOf",
      { allOf: [{ anyOf: [{ enum: [1, 2] }, { const: "a" }] }, { anyOf: [{ type: ["integer", "string"] }, { nullable: true }] }] },
      [1, 2, "a", null],
      [3, "b"],
    ],
    ["words of another type", { type: ["string", "integer"], enum: ["a", 1, 1.5, null] }, ["a", 1], [1.5, null]],
    ["a union that allows anything, beside a type", { type: "integer", anyOf: [true, { title: "x" }] }, [1], ["x"]],
    [
      "alternatives that exclude each other by their type",
      { oneOf: [{ type: ["integer", "null"] }, { $ref: "#/$defs/word" }, { const: true }], $defs: { word: { enum: ["a", "b"] } } },
      [1, null, "a", true],
      ["c", false],
    ],
    [
      "alternatives that exclude each other by a word",
      {
        oneOf: ["a", "b"].map((kind) => ({ type: "object", properties: { kind: { const: kind }, [kind]: {} }, required: ["kind"] })),
      },
      [{ kind: "a", a: 1 }, { kind: "b" }],
      [{}, { kind: "c" }, { kind: "a", b: 1 }],
    ],
    [
      "alternatives of parts that exclude each other by a word",
      {
        $defs: { base: { type: "object", properties: { kind: { type: "string" } }, required: ["kind"] } },
        oneOf: ["a", "b"].map((kind) => ({ allOf: [{ $ref: "#/$defs/base" }, { properties: { kind: { const: kind }, [kind]: {} } }] })),
      },
      [{ kind: "a", a: 1 }, { kind: "b" }],
      [{}, { kind: "c" }, { kind: "a", b: 1 }],
    ],
    [
      "alternatives that exclude each other by a word that the parameters beside them declare",
      {
        ...{ type: "object", properties: { kind: { type: "string" }, n: { type: "integer" } }, required: ["kind"] },
        oneOf: [{ properties: { kind: { const: "a" } } }, { properties: { kind: { const: "b" } }, required: ["n"] }],
      },
      [{ kind: "a" }, { kind: "b", n: 1 }],
      [{ kind: "b" }, { kind: "c" }, { kind: "a", n: "x" }],
    ],
    [
      "alternatives that exclude each other by their keys",
      {
        oneOf: [
          { type: "object", properties: { a: {} }, required: ["a"] },
          { type: "object", properties: { b: {} }, required: ["b"] },
          { type: "object", properties: {}, additionalProperties: false },
        ],
      },
      [{ a: 1 }, { b: 1 }, {}],
      [{ a: 1, b: 1 }],
    ],
    ["items of no list", { items: false }, [[]], [[1]]],
    ["unevaluated items", { type: "array", prefixItems: [{ type: "integer" }], unevaluatedItems: false }, [[], [1]], [["a"], [1, 2]]],
    [
      "unevaluated items of a type",
      { type: "array", allOf: [{ prefixItems: [{}] }], unevaluatedItems: { type: "null" } },
      [["a", null]],
      [["a", 1]],
    ],
    [
      "unevaluated properties see those of all parts",
      { allOf: [{ type: "object", properties: { a: {} } }], properties: { b: {} }, unevaluatedProperties: false },
      [{ b: 1, a: 1 }, {}],
      [{ c: 1 }],
    ],
    ["no unevaluated properties", { type: "object", unevaluatedProperties: false }, [{}], [{ a: 1 }]],
    [
      "keywords that allow everything",
      {
        type: ["object", "array"],
        ...{ not: false, minProperties: 0, propertyNames: true, unevaluatedProperties: true, unevaluatedItems: true, uniqueItems: false },
      },
      [{ a: 1 }, [1, 1]],
      ["x"],
    ],
    [
      "notes beside a reference add nothing to it",
      {
        $ref: "#/$defs/node",
        $defs: {
          node: {
            type: "object",
            properties: { next: { $ref: "#/$defs/node", readOnly: true, "x-order": 1, $anchor: "n" } },
            additionalProperties: false,
          },
        },
      },
      [{ next: { next: {} } }],
      [{ next: 1 }],
    ],
    ["two lists of words", { allOf: [{ enum: [1, 2, "x"] }, { enum: [2, 3, "x"] }] }, [2, "x"], [1, 3]],
    [
      "two ranges",
      {
        type: "number",
        allOf: [
          { type: "integer", minimum: 1, maximum: 9 },
          { minimum: 3, maximum: 20 },
        ],
      },
      [3, 9],
      [1, 10, 3.5],
    ],
    [
      "one property in two parts",
      { allOf: [{ properties: { a: { type: "integer", maximum: 5 } } }, { properties: { a: { minimum: 3 }, b: {} } }] },
      [{ a: 3 }, { a: 5, b: "x" }, {}],
      [{ a: 2 }, { a: 6 }, { a: "x" }],
    ],
    [
      "two tuples",
      {
        type: "array",
        allOf: [{ prefixItems: [{ type: "integer" }, {}] }, { prefixItems: [{ maximum: 5, minimum: 3 }, true, { const: "a" }] }],
      },
      [[], [3], [5, null], [4, "x", "a"]],
      [["a"], [6], [4, "x", "b"]],
    ],
    [
      "references that lead to references in allOf",
      {
        $defs: {
          a: { $ref: "#/$defs/b" },
          b: { properties: { x: { type: "integer" } }, required: ["x"] },
          c: { $ref: "#/$defs/d" },
          d: { required: ["y"] },
        },
        allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/c" }],
      },
      [{ x: 1, y: 1 }],
      [{ x: 1 }, { y: 1 }, { x: "x", y: 1 }],
    ],
    [
      "circular references are not alternatives",
      { $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }, { type: "integer" }] }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" },
      [1],
      ["x"],
    ],
  ];
  test.each(rows)("%s", (_, schema, good, bad) => {
    const grammar = schemaGrammar(schema);
    expect(grammar.relaxed).toEqual([]);
    const matcher = new Gbnf(grammar.gbnf);
    for (const value of good)
      for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) expect(matcher.accepts(text), text).toBe(true);
    for (const value of bad) expect(matcher.accepts(JSON.stringify(value)), JSON.stringify(value)).toBe(false);
  });

  test.each([
    [{ $ref: "#/$defs/none" }, "", "$ref"],
    [{ $ref: "https://example.org/schema" }, "", "$ref"],
    [{ $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }, "", "$ref"],
    [{ type: "float" }, "", "type"],
    [{ type: "object", properties: { "a/b": { type: "number", multipleOf: 2 } } }, "/properties/a~1b", "multipleOf"],
    [{ type: "array", items: { type: "string", maxLength: 100_000 } }, "/items", "maxLength"],
    [{ type: "array", items: {}, maxItems: 5000 }, "", "maxItems"],
    [{ type: "integer", minimum: -5, maximum: 2 ** 63 }, "", "maximum"],
    [{ type: "integer", minimum: 2 ** 63 }, "", "minimum"],
    [{ type: "number", maximum: 5 }, "", "maximum"],
    [{ not: { type: "string" } }, "", "not"],
    [{ type: "object", properties: { a: {}, b: {} }, dependencies: { a: ["b"] } }, "", "dependencies"],
    [{ $dynamicRef: "#/$defs/a" }, "", "$dynamicRef"],
    [{ allOf: [{ $ref: "#/$defs/none" }] }, "", "$ref"],
    [{ type: "object", anyOf: [{ properties: { a: {} } }, { type: "null" }] }, "", "type"],
    [{ allOf: [{ enum: [1] }, { enum: [2] }] }, "", "enum"],
    [{ allOf: [{ const: 1 }, { const: 2 }] }, "", "const"],
    [{ minimum: 3 }, "", "minimum"],
    [{ required: ["a"] }, "", "required"],
    [{ additionalProperties: { type: "integer" } }, "", "additionalProperties"],
    [{ type: "object", properties: { a: false }, required: ["a"] }, "/properties/a", "false"],
    [{ type: "object", required: ["a"], additionalProperties: false }, "/properties/a", "false"],
    [{ type: "object", maxProperties: 0 }, "", "maxProperties"],
    [{ type: "object", propertyNames: false }, "", "propertyNames"],
    [{ type: "object", propertyNames: { pattern: "^a" } }, "", "propertyNames"],
    [{ propertyNames: { enum: ["a"] } }, "", "propertyNames"],
    [{ type: "array", contains: false }, "", "contains"],
    [{ type: "array", prefixItems: [{}], items: false, minItems: 2 }, "", "minItems"],
    [{ type: "array", maxItems: 0, minItems: 1 }, "", "minItems"],
    [{ unevaluatedProperties: false }, "", "unevaluatedProperties"],
    [{ enum: ["a", "b"], pattern: "^b" }, "", "pattern"],
    [{ type: "string", enum: [1] }, "", "type"],
    [{ const: 1, enum: [2] }, "", "enum"],
    [{ allOf: [{ properties: { a: {} }, additionalProperties: false }, { properties: { b: {} } }] }, "", "additionalProperties"],
    [{ allOf: [{ prefixItems: [{}] }, { items: { type: "null" } }] }, "", "items"],
    [{ allOf: [{ properties: { a: {} }, unevaluatedProperties: false }, { required: ["a"] }] }, "", "unevaluatedProperties"],
    [{ oneOf: [{ type: "integer" }, { type: "number" }] }, "", "oneOf"],
    [{ oneOf: [{ const: "a" }, { enum: ["a", "b"] }] }, "", "oneOf"],
    [{ oneOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/b" }], $defs: { a: endless("a"), b: endless("b") } }, "", "oneOf"],
    [{ type: "object", properties: { a: {}, b: {} }, oneOf: [{ required: ["a"] }, { required: ["b"] }] }, "", "oneOf"],
    [{ oneOf: [{ type: "object" }, { type: "object", properties: { a: {} }, required: ["a"] }] }, "", "oneOf"],
    [{ type: "string", enum: [] }, "", "enum"],
  ] as [JsonObject, string, string][])("%j is relaxed", (schema, path, keyword) => {
    const { gbnf, relaxed } = schemaGrammar(schema);
    expect(relaxed).toEqual([{ tool: "", path, keyword }]);
    expect(() => new Gbnf(gbnf)).not.toThrow();
  });

  test("ranges of integers have exactly their numbers", () => {
    const ends = [0, 1, 8, 9, 10, 19, 99, 100, 101, 255, 989, 1000].flatMap((n) => [-n, n]);
    for (const minimum of ends)
      for (const maximum of ends.filter((n) => n >= minimum)) {
        const made = new Gbnf(schemaGrammar({ type: "integer", minimum, maximum }).gbnf);
        for (const n of new Set([...ends, minimum - 1, minimum + 1, maximum - 1, maximum + 1]))
          expect(made.accepts(`${n}`), `${n} from ${minimum} to ${maximum}`).toBe(minimum <= n && n <= maximum);
        for (const text of ["-0", "00", "01", "-", "", "5000"]) expect(made.accepts(text), text).toBe(false);
      }
  });

  test("alternatives that refer to each other are whole wherever they are used", () => {
    const $defs = {
      a: { anyOf: [{ $ref: "#/$defs/b" }, { type: "null" }] },
      b: { anyOf: [{ $ref: "#/$defs/a" }, { type: "array", items: { $ref: "#/$defs/b" } }] },
    };
    const properties = { x: { $ref: "#/$defs/a" }, y: { $ref: "#/$defs/b" } };
    const { gbnf, relaxed } = schemaGrammar({ type: "object", properties, required: ["x", "y"], $defs });
    expect(relaxed).toEqual([]);
    const texts = ['{"x":null,"y":null}', '{"x":[null],"y":[[],null]}', '{"x":1,"y":null}', '{"x":null,"y":["a"]}'];
    expect(texts.map((text) => new Gbnf(gbnf).accepts(text))).toEqual([true, true, false, false]);
  });

  test("constants are the numbers that the client wrote, even over 2^53", () => {
    const texts = ["1234567890123456789", "1234567890123456788", "2"];
    const ids = texts.map(Number);
    keepNumbers(ids, new Map(texts.map((text, i) => [String(i), text])));
    const one = { const: 1 };
    keepNumbers(one, new Map([["const", "1.0"]]));
    const deep = [9007199254740992];
    keepNumbers(deep, new Map([["0", "9007199254740993"]]));
    const properties = { a: { enum: ids }, b: { allOf: [one, { title: "x" }] }, c: { const: deep } };
    const { gbnf } = schemaGrammar({ type: "object", properties });
    const good = ['{"a":1234567890123456789}', '{"a":1234567890123456788}', '{"a":2}', '{"b":1.0}', '{"b":1}', '{"c":[9007199254740993]}'];
    for (const text of good) expect(new Gbnf(gbnf).accepts(text), text).toBe(true);
    const bad = ['{"a":1234567890123456800}', '{"c":[9007199254740992]}'];
    for (const text of bad) expect(new Gbnf(gbnf).accepts(text), text).toBe(false);
  });

  test("a declared key with a quote does not bring quotes into other keys", () => {
    const properties = { 'a"b': { type: "integer" }, "c\\d": { type: "integer" } };
    const { gbnf } = schemaGrammar({ type: "object", properties, additionalProperties: { type: "integer" } });
    const texts = ['{"a\\"b": 1, "a": 2}', '{"c\\\\d": 1}', '{"a"": 1}', '{"a"x": 1}', '{"c\\": 1}'];
    expect(texts.map((text) => new Gbnf(gbnf).accepts(text))).toEqual([true, true, false, false, false]);
  });

  test("parts of allOf do not double with every reference", () => {
    const parts = (i: number) => ["a", "b"].map((name) => ({ $ref: `#/$defs/${name}${i}` }));
    const $defs: Record<string, Json> = { a0: { type: "object" }, b0: { minProperties: 1 } };
    for (let i = 1; i < 30; i++) Object.assign($defs, { [`a${i}`]: { allOf: parts(i - 1) }, [`b${i}`]: { allOf: [...parts(i - 1), {}] } });
    expect(schemaGrammar({ $defs, $ref: "#/$defs/a29" }).gbnf.length).toBeLessThan(10_000);
  });

  test("a limit that is too high does not lift the other one", () => {
    const { gbnf, relaxed } = schemaGrammar({ type: "array", items: { type: "integer" }, minItems: 3, maxItems: 5000 });
    expect(relaxed.map(({ keyword }) => keyword)).toEqual(["maxItems"]);
    expect(["[]", "[1, 2]", "[1, 2, 3]", "[1, 2, 3, 4]"].map((text) => new Gbnf(gbnf).accepts(text))).toEqual([false, false, true, true]);
    const both = schemaGrammar({ type: "array", items: {}, minItems: 3000, maxItems: 5000 });
    expect(both.relaxed.map(({ keyword }) => keyword)).toEqual(["minItems", "maxItems"]);
  });

  test("a length that is too high does not lift the other one", () => {
    const { gbnf, relaxed } = schemaGrammar({ type: "string", minLength: 2, maxLength: 2083 });
    expect(relaxed.map(({ keyword }) => keyword)).toEqual(["maxLength"]);
    expect(['"a"', '"ab"', `"${"x".repeat(300)}"`].map((text) => new Gbnf(gbnf).accepts(text))).toEqual([false, true, true]);
  });

  test("a pair of surrogates is one character where characters are counted, and half of one is none", () => {
    const two = { type: "string", minLength: 2, maxLength: 2 };
    const { gbnf } = schemaGrammar(two);
    const texts = ["\\ud83d\\ude00\\uD83D\\uDE00", "\\ud83d\\ude00a", "\\u00e9\\uffff", "\\ud83d\\ude00", "\\ud83d\\u0041", "\\ude00a"];
    expect(texts.map((text) => new Gbnf(gbnf).accepts(`"${text}"`))).toEqual([true, true, true, false, false, false]);
    const tools: Tool[] = [{ name: "f", parameters: { type: "object", properties: { p: two } } }];
    for (const dialect of speakers)
      for (const [p, fits] of [
        ["😀é", true],
        ["😀", false],
      ] as const) {
        const { gbnf, relaxed } = dialect.grammar(tools, "required");
        const call = plainText(dialect.renderToolCalls([{ name: "f", arguments: { p } }]));
        expect(new Gbnf(gbnf).accepts(call), call).toBe(fits || relaxed.length > 0);
      }
  });

  test("gemma4: that a string must be empty is relaxed, and reported", () => {
    const parameters = { type: "object", properties: { a: { type: "string", maxLength: 0 } } };
    const { relaxed } = speakers.find(({ id }) => id === "gemma4")!.grammar([{ name: "f", parameters }], "required");
    expect(relaxed).toEqual([{ tool: "f", path: "/properties/a", keyword: "maxLength" }]);
  });

  test("no schema is an error, however odd", () => {
    const keywords = [
      "type",
      "properties",
      "required",
      "items",
      "prefixItems",
      "enum",
      "const",
      "anyOf",
      "allOf",
      "$ref",
      "additionalProperties",
    ];
    const limits = ["minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "pattern", "nullable"];
    const words = fc.constantFrom("string", "object", "array", "integer", "#", "#/properties/a", "#/anyOf/0", "a", "", "__proto__");
    const { schema } = fc.letrec((tie) => ({
      leaf: fc.oneof(words, fc.integer({ min: -2, max: 300 }), fc.boolean(), fc.constant(null)),
      list: fc.array(tie("any"), { maxLength: 3 }),
      map: fc.dictionary(words, tie("any"), { maxKeys: 3 }),
      schema: fc.dictionary(fc.constantFrom(...keywords, ...limits), tie("any"), { maxKeys: 5 }),
      any: fc.oneof({ maxDepth: 4, depthIdentifier: "any" }, tie("leaf"), tie("schema"), tie("list"), tie("map")),
    }));
    fc.assert(
      fc.property(schema, (schema) => {
        for (const dialect of speakers.slice(2, 5))
          new Gbnf(dialect.grammar([{ name: "f", parameters: schema as JsonObject }], "required").gbnf);
      }),
      { numRuns: 300 },
    );
  });

  // Every keyword is enforced or reported.
  test.each(["json", "hermes", "gemma4", "qwen3-coder", "pythonic", "glm"])(
    "%s: if nothing is relaxed, whatever the grammar accepts is valid",
    (id) => {
      const dialect = speakers.find((dialect) => dialect.id === id)!;
      const ajv = new Ajv2020({ strict: false, logger: false, addUsedSchema: false });
      const schema = someSchema((inner) => ({
        prefixItems: fc.array(inner, { minLength: 1, maxLength: 2 }),
        unevaluatedItems: fc.oneof(fc.boolean(), inner),
        unevaluatedProperties: fc.oneof(fc.boolean(), inner),
        dependentRequired: fc.constant({ a: ["b"] }),
        dependentSchemas: fc.dictionary(fc.constant("a"), inner),
        $ref: fc.constantFrom("#/$defs/a", "#/$defs/b"),
      }));
      fc.assert(
        fc.property(schema, schema, schema, fc.array(someValue, { maxLength: 5 }), fc.nat(), (p, a, b, values, seed) => {
          if (hasListOfWords([p, a, b])) return;
          const parameters = { type: "object", properties: { p }, required: ["p"], additionalProperties: false, $defs: { a, b } };
          const tools: Tool[] = [{ name: "f", parameters }];
          const { gbnf, relaxed } = dialect.grammar(tools, "required", { parallelCalls: false, startInThinking: false });
          if (relaxed.length > 0) return;
          const matcher = new Gbnf(gbnf);
          const drawn = numbers(seed);
          const samples = Array.from({ length: 4 }, () => matcher.sample((n) => drawn.next().value % n));
          const calls = values.map((p) => plainText(dialect.renderToolCalls([{ name: "f", arguments: { p } }])));
          for (const text of [...samples, ...calls.filter((text) => matcher.accepts(text))]) {
            if (/e\+?\d{3}/i.test(text)) continue; // no double
            const [end] = endsOf(scanPieces(dialect, [text], { tools }));
            expect(ajv.validate(parameters, end?.arguments), text).toBe(true);
          }
        }),
        { numRuns: 100 },
      );
    },
  );

  test("a schema that refers to itself with keywords beside the reference has one rule for each kind of copy", () => {
    const names = Array.from({ length: 20 }, (_, i) => `p${i}`);
    const same: JsonObject = { $ref: "#", type: "object", title: "again" };
    const other: JsonObject = { $ref: "#", minProperties: 0, maxProperties: 9 };
    const alone: JsonObject = { description: "again", allOf: [{ $ref: "#" }] };
    const properties = Object.fromEntries(names.map((name, i) => [name, [same, other, alone][i % 3]!]));
    const { gbnf, relaxed } = schemaGrammar({ type: "object", properties, required: ["p0"], additionalProperties: false });
    expect(relaxed[0]).toEqual({ tool: "", path: "/properties/p0/properties/p1", keyword: "maxProperties" });
    expect(new Set(relaxed.map(({ keyword }) => keyword))).toEqual(new Set(["maxProperties"]));
    expect(relaxed.length).toBeLessThan(100);
    expect(gbnf.length).toBeLessThan(20_000);
  });

  test("what is relaxed is named at every place that refers to it, and for every tool", () => {
    const ref = { $ref: "#/$defs/code" };
    const node = { type: "object", properties: { code: ref, next: { $ref: "#/$defs/node" } } };
    const parameters: JsonObject = {
      type: "object",
      properties: { a: ref, b: { allOf: [ref], title: "b" }, c: { type: "array", items: ref }, d: { $ref: "#/$defs/node" } },
      $defs: { code: { type: "string", pattern: "^a" }, node },
    };
    const paths = ["/properties/a", "/properties/b", "/properties/c/items", "/properties/d/properties/code"];
    const all = ["f", "g"].flatMap((tool) => paths.map((path) => ({ tool, path, keyword: "pattern" })));
    for (const dialect of speakers) {
      const { relaxed } = dialect.grammar(
        ["f", "g"].map((name) => ({ name, parameters })),
        "required",
      );
      const found = relaxed.filter(({ path, keyword }) => keyword === "pattern" && !path.includes("/next/")); // endlessly many
      expect(found, dialect.id).toEqual(all);
    }
  });

  test("a schema that comes back to itself through allOf has one rule, and is not cut off", () => {
    const more = { $ref: "#/$defs/node" };
    const next: JsonObject = { nullable: true, allOf: [more] };
    const both: JsonObject = { allOf: [more, { properties: { label: { const: "x" } }, required: ["label"] }] };
    const node = { type: "object", properties: { label: { type: "string" }, next, both }, additionalProperties: false };
    const { gbnf, relaxed } = schemaGrammar({ $defs: { node }, $ref: "#/$defs/node" });
    expect(relaxed).toEqual([]);
    expect(gbnf.length).toBeLessThan(2500);
    const deep = (end: string) => `${'{"next":'.repeat(40)}${end}${"}".repeat(40)}`;
    const texts = [deep("null"), deep('{"both":{"label":"x"}}'), deep("1"), deep('{"both":{"label":"y"}}'), deep('{"both":{}}')];
    expect(texts.map((text) => new Gbnf(gbnf).accepts(text))).toEqual([true, true, false, false, false]);
  });

  test("a schema that grows endlessly is cut off", () => {
    const names = Array.from({ length: 20 }, (_, i) => `p${i}`);
    const node = (name: string, more: JsonObject): JsonObject => {
      const inner: JsonObject = { allOf: [{ $ref: `#/$defs/${name}` }, { $ref: "#/$defs/a" }] };
      return { type: "object", properties: Object.fromEntries(names.map((name) => [name, inner])), ...more };
    };
    const { gbnf, relaxed } = schemaGrammar({ $defs: { a: node("b", {}), b: node("a", { required: ["p0"] }) }, $ref: "#/$defs/a" });
    expect(new Set(relaxed.map(({ keyword }) => keyword))).toEqual(new Set(["depth"]));
    expect(gbnf.length).toBeLessThan(1_000_000);
  });
});

/** Choices of a list that list no list are meant for its items, whatever the specification says. */
const hasListOfWords = (schema: Json): boolean => {
  if (Array.isArray(schema)) return schema.some(hasListOfWords);
  if (!isObject(schema)) return false;
  return (schema.enum !== undefined && JSON.stringify(schema).includes('"array"')) || Object.values(schema).some(hasListOfWords);
};

describe("text until a mark", () => {
  const rules = new Rules();
  const grammar = new Gbnf(rules.text(`${until(rules, ["<｜end｜>", "<end>"])} ${literal("<end>")}`));
  test.each(["", "a", "<", "<<", "<e", "<en<｜end<", "<｜end｜", "end>", "</end>", "<é>", "a\nb"])("%j", (text) => {
    expect(grammar.accepts(`${text}<end>`)).toBe(true);
    expect(grammar.accepts(`${text}<end><end>`)).toBe(false);
    expect(grammar.accepts(`${text}<｜end｜><end>`)).toBe(false);
    expect(grammar.accepts(text)).toBe(false);
  });
});

test("text until a mark that begins again inside itself", () => {
  const rules = new Rules();
  const grammar = new Gbnf(rules.text(`${until(rules, ["]<]m["])} ${literal("]<]m[")}`));
  for (const text of ["", "]", "]<", "]<]", "a[i]<b", "]<]<]<]m", "]]<", "]<]m]<]m", "]<]m<"]) {
    expect(grammar.accepts(`${text}]<]m[`), text).toBe(true);
    expect(grammar.accepts(`${text}]<]m[]<]m[`), text).toBe(false);
  }
});

describe("formats for future dialects", () => {
  const file: Tool = {
    name: "write_file",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        mode: { type: "string", enum: ["a", "w"] },
        lines: { type: "integer" },
        tags: { type: "array", items: { type: "string" } },
        meta: { type: "object", properties: { x: { type: ["boolean", "null"] } }, required: ["x"] },
      },
      required: ["path", "lines"],
    },
  };
  const base = { words: ["<tool_call>"] };
  const formats: [string, CallFormat, string, (args: Record<string, string>) => string][] = [
    [
      "qwen3-coder",
      {
        ...base,
        values: xmlValues({ open: (key) => `<parameter=${key}>\n`, close: "\n</parameter>", behind: "\n" }),
        call: (name) => [`<tool_call>\n<function=${name}>\n`, ARGUMENTS, "</function>\n</tool_call>"],
        between: "\n",
      },
      "\n",
      (args) =>
        `<tool_call>\n<function=write_file>\n${Object.entries(args)
          .map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`)
          .join("")}</function>\n</tool_call>`,
    ],
    [
      "glm",
      {
        ...base,
        values: xmlValues({ open: (key) => `<arg_key>${key}</arg_key><arg_value>`, close: "</arg_value>", behind: "" }),
        call: (name) => [`<tool_call>${name}`, ARGUMENTS, "</tool_call>"],
      },
      "",
      (args) =>
        `<tool_call>write_file${Object.entries(args)
          .map(([key, value]) => `<arg_key>${key}</arg_key><arg_value>${value}</arg_value>`)
          .join("")}</tool_call>`,
    ],
    [
      "deepseek-v3.2",
      {
        ...base,
        values: xmlValues({
          open: (key, kind) => `<｜DSML｜parameter name="${key}" string="${kind === "string"}">`,
          close: "</｜DSML｜parameter>",
          behind: "\n",
          typed: "string",
        }),
        call: (name) => [`<｜DSML｜invoke name="${name}">\n`, ARGUMENTS, "</｜DSML｜invoke>"],
        between: "\n",
        section: { begin: "<｜DSML｜function_calls>\n", end: "\n</｜DSML｜function_calls>" },
      },
      "",
      (args) =>
        `<｜DSML｜function_calls>\n<｜DSML｜invoke name="write_file">\n${Object.entries(args)
          .map(
            ([key, value]) => `<｜DSML｜parameter name="${key}" string="${["path", "mode"].includes(key)}">${value}</｜DSML｜parameter>\n`,
          )
          .join("")}</｜DSML｜invoke>\n</｜DSML｜function_calls>`,
    ],
  ];
  const good = { path: "a < b\n </c>", mode: "w", lines: "3", tags: '["x", "<y>"]', meta: '{"x": null}' };

  test.each(formats)("XML parameters: %s", (_, format, between, text) => {
    const grammar = grammarOf(format, { id: "x", variants: [], preserved: [] })([file], "required");
    const { path, lines, mode } = good;
    for (const args of [good, { path, lines }, { path: "", mode, lines }]) expect(accepts(grammar, text(args)), text(args)).toBe(true);
    if (!format.section) expect(accepts(grammar, text(good) + between + text(good))).toBe(true);
    for (const args of [
      { path },
      { lines },
      { ...good, lines: "x" },
      { ...good, mode: "b" },
      { ...good, tags: "x" },
      { ...good, meta: "{}" },
      { ...good, z: "1" },
    ])
      expect(accepts(grammar, text(args)), text(args)).toBe(false);
  });

  test("XML parameters: a call without arguments, and undeclared keys", () => {
    const [, format, , text] = formats[1]!;
    expect(accepts(grammarOf(format, { id: "x", variants: [], preserved: [] })([{ name: "write_file" }], "required"), text({}))).toBe(true);
    const open = grammarOf(format, { id: "x", variants: [], preserved: [] })(
      [{ name: "write_file", parameters: { type: "object", additionalProperties: true } }],
      "required",
    );
    expect(accepts(open, text({ any: "thing", at: "all" }))).toBe(true);
  });

  test("Python literals", () => {
    const format: CallFormat = {
      values: pythonValues,
      call: (name) => [`${name}(`, ARGUMENTS, ")"],
      between: ", ",
      section: { begin: "<|tool_call_start|>[", end: "]<|tool_call_end|>" },
      words: ["<|tool_call_start|>"],
    };
    const grammar = grammarOf(format, { id: "x", variants: [], preserved: [] })([file, { name: "now" }], "required");
    const list = (...calls: string[]) => `<|tool_call_start|>[${calls.join(", ")}]<|tool_call_end|>`;
    for (const call of [
      "write_file(path='a', lines=3)",
      `write_file(path="it's", mode='w', lines=-3, tags=['x', "y"], meta={'x': None})`,
      `write_file(path='\\'\\n', mode="a", lines=0, tags=[], meta={"x": true})`,
      "now()",
    ]) {
      expect(accepts(grammar, list(call)), call).toBe(true);
      expect(accepts(grammar, list(call, "now()")), call).toBe(true);
    }
    for (const call of [
      "write_file(path='a')",
      "write_file('a', lines=3)",
      "write_file(path=3, lines=3)",
      "write_file(path='a', lines='3')",
      "write_file(path='a', mode='x', lines=3)",
      "write_file(path='a', lines=3, meta={})",
      "later()",
      "now(a=1)",
    ])
      expect(accepts(grammar, list(call)), call).toBe(false);
  });
});

describe("our matcher refuses what llama.cpp refuses, and what xgrammar reads differently", () => {
  test.each([
    'root ::= "\\x41"',
    "root ::= [^é]",
    "root ::= a",
    'root ::= root "x" | "y"',
    'a ::= "x"',
    'root ::= "x',
    'root ::= "x"{0,3000}',
    `root ::= (${Array.from({ length: 50 }, (_, i) => `a${i}`).join(" | ")}){0,40}\na0 ::= "x"`,
    'root ::= "\\q"',
    "root ::= | ",
  ])("%s", (text) => {
    expect(() => new Gbnf(text)).toThrow();
  });
});

test("minicpm5: a string in a section may contain the tag that ends it, and a section that begins also ends", () => {
  const dialect = speakers.find(({ id }) => id === "minicpm5")!;
  const tools: Tool[] = [{ name: "f", parameters: { type: "object", properties: { a: { type: "string" } }, required: ["a"] } }];
  const call = (text: string) => `<function name="f"><param name="a">${text}</param></function>`;
  for (const [text, value] of [
    ["a < b & c\n]]>", "a < b & c\n]]>"],
    ["<![CDATA[]]>", ""],
    ["<![CDATA[<p>x</p></param>]]]>", "<p>x</p></param>]"],
    ["<![CDATA[x", undefined],
    ["<![CDATA[x]] >", undefined],
    ["<![CDATA[x]]>y", undefined],
  ] as const) {
    expect(accepts(dialect.grammar(tools, "required"), call(text)), text).toBe(value !== undefined);
    if (value !== undefined) expect(endsOf(scanPieces(dialect, [call(text)], { tools }))[0]?.arguments).toEqual({ a: value });
  }
});

test("kimi-k3: a value's type word is that of its schema", () => {
  const properties = { n: { type: "integer" }, u: { type: ["boolean", "null"] }, l: { type: "array" } };
  const grammar = speakers
    .find(({ id }) => id === "kimi-k3")!
    .grammar([{ name: "f", parameters: { type: "object", properties } }], "required");
  const call = (key: string, type: string, value: string) =>
    `<|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|><|open|>argument key="${key}" type="${type}"<|sep|>${value}<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>`;
  for (const [key, type, value] of [
    ["n", "number", "172"],
    ["u", "null", "null"],
    ["u", "boolean", "true"],
    ["l", "array", "[1]"],
  ] as const)
    expect(accepts(grammar, call(key, type, value)), value).toBe(true);
  for (const [key, type, value] of [
    ["n", "null", "172"],
    ["n", "array", "7"],
    ["u", "null", "true"],
    ["u", "boolean", "null"],
  ] as const)
    expect(accepts(grammar, call(key, type, value)), `${type} ${value}`).toBe(false);
});

test("kimi-k3, minimax-m3: what the templates print before calls may come before required ones", () => {
  for (const [id, lead] of [
    ["kimi-k3", "<|open|>response<|sep|><|close|>response<|sep|>"],
    ["minimax-m3", "</mm:think>"],
  ] as const) {
    const dialect = speakers.find((dialect) => dialect.id === id)!;
    const call = plainText(dialect.renderToolCalls([{ name: "get_time", arguments: {} }]));
    const thinking = plainText(dialect.renderThinking("Hm."));
    for (const choice of ["required", { name: "get_time" }] as const) {
      const grammar = dialect.grammar(tools, choice);
      for (const before of ["", lead, thinking]) expect(accepts(grammar, before + call), before + call).toBe(true);
      for (const wrong of [lead + lead + call, lead, `${lead}Hi${call}`]) expect(accepts(grammar, wrong), wrong).toBe(false);
    }
    expect(accepts(dialect.grammar(tools, "auto"), call)).toBe(true);
    expect(accepts(dialect.grammar(tools, "auto"), lead + call)).toBe(false);
  }
});

describe("minimax-m3", () => {
  const dialect = speakers.find(({ id }) => id === "minimax-m3")!;
  const grammar = (parameters: JsonObject) => dialect.grammar([{ name: "f", parameters }], "required");
  const call = (args: JsonObject) => plainText(dialect.renderToolCalls([{ name: "f", arguments: args }]));

  test("a string may be any text except the mark, and lists and objects nest", () => {
    const file = { type: "object", properties: { path: { type: "string" }, lines: { type: "array", items: { type: "integer" } } } };
    const files = grammar({ type: "object", properties: { code: { type: "string" }, files: { type: "array", items: file } } });
    for (const args of [{ code: "a[i]<b && c[j]<]d\n</code>" }, { files: [] }, { files: [{ path: "p", lines: [1, 2] }, {}] }])
      expect(accepts(files, call(args)), call(args)).toBe(true);
    for (const args of [{ code: ["x"] }, { files: [{ path: "p", lines: ["x"] }] }, { files: [{ other: 1 }] }, { files: "x" }])
      expect(accepts(files, call(args)), call(args)).toBe(false);
  });
  test("the two tags of an undeclared key cannot be forced to match, which is reported", () => {
    const free = { type: "object", properties: { a: { type: "object", additionalProperties: { type: "integer" } }, b: {} } };
    expect(grammar(free).relaxed).toEqual([
      { tool: "f", path: "/properties/a", keyword: "additionalProperties" },
      { tool: "f", path: "/properties/b", keyword: "additionalProperties" },
    ]);
    for (const b of ["x", [1, [true, "y"]], { k: { l: "m" } }])
      expect(accepts(grammar(free), call({ a: { k: 1 }, b })), call({ b })).toBe(true);
  });
  test("null in a list is an empty item", () => {
    const parameters = { type: "object", properties: { list: { type: "array", items: { type: ["integer", "null"] } } } };
    expect(accepts(grammar(parameters), call({ list: [null, 1] }))).toBe(true);
    expect(endsOf(scanPieces(dialect, [call({ list: [null, 1] })], { tools: [{ name: "f", parameters }] }))[0]?.arguments).toEqual({
      list: [null, 1],
    });
  });
});
