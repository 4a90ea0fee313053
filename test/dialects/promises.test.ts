// What every scanner promises (DESIGN), as properties of every registered dialect. A new dialect is covered automatically.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isObject } from "../../src/core/json.ts";
import type { Event, Json, JsonObject, Request, Tool } from "../../src/core/nouns.ts";
import { typeOf } from "../../src/core/schema.ts";
import type { Dialect, RenderableCall, ScannerOptions } from "../../src/dialects/dialect.ts";
import { promptText } from "../../src/dialects/prompt.ts";
import { listDialects } from "../../src/dialects/registry.ts";
import { carried, cutAnyhow, cutAt, endsOf, scanPieces, textOf, units } from "./scanning.ts";

const tools: Tool[] = [
  {
    name: "write_file",
    description: "Write",
    parameters: {
      type: "object",
      properties: { path: { type: "string" }, content: { type: "string" }, mode: { type: "integer" }, deep: { type: "object" } },
    },
  },
  { name: "math.gcd", parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } } },
];
const names = ["write_file", "math.gcd", "get-weather"];

/**
 * What a dialect cannot write inside a string: its own quote; between tags, a closer before a legal token; if closers may be missing, a tag
 * that would replace one; and what looks like the beginning of a quoted call, whose closers are content, although some may be missing.
 */
const UNWRITABLE: Readonly<Record<string, RegExp>> = {
  gemma4: /<\|"\|>/,
  functiongemma: /<escape>/,
  "qwen3-coder":
    /< ?\/ ?parameter ?>\s*<( ?parameter ?=| ?\/ ?function ?>|\/(write_file|function_invocation)>)|< ?\/ ?(parameter|function) ?>\s*<( ?function ?=|\/?tool_call>|\|)|< ?parameter ?=[^<]*>|<\/tool_call>\s*<(tool_call>|\|)/,
  "seed-oss":
    /<\/parameter>\s*<(parameter=|\/function>)|<\/(parameter|function)>\s*<(function=|\/?seed:)|<parameter=[^<]*>|<\/seed:tool_call>\s*<seed:(tool_call|eos)>/,
  glm: /<\/arg_value>(\s|\\n)*<(arg_key>|\/write_file>|\/?tool_call>|\|)|<tool_call>[\s\S]*<\/arg_key>\n?<arg_value>/,
  hy3: /<\/arg_value(:opensource)?>\s*<(\/?(arg_key|tool_calls?|write_file)|｜hy_eos|eos:)|<tool_calls?(:opensource)?>[\s\S]*<\/arg_key(:opensource)?>\n?<arg_value/,
  laguna: /<\/arg_value>(\s|\\n)*<(arg_key>|\/write_file>|\/?tool_call>|\/assistant>)|<tool_call>[\s\S]*<\/arg_key>\n?<arg_value>/,
  ling3: /<\/arg_value>(\s|\\n)*<(arg_key>|\/write_file>|\/?tool_call>|\|)|<tool_call>[\s\S]*<\/arg_key>\n?<arg_value>/,
  minicpm5: /<\/param>\s*<(param ?name=|\/?function|\/write_file|\|)/,
  "minimax-m2": /<\/parameter>\s*(<parameter |<\/?invoke[ >]|<\/?minimax:|\[e~\[)|<(minimax:tool_call>|invoke )[\s\S]*\n<parameter /,
  "kimi-k3":
    /<\|close\|>(argument|json)<\|sep\|>\s*<\|(open\|>(argument |json|call )|close\|>(call|tools|message)|end_of)|<\|close\|>call<\|sep\|>\s*<\||<\|open\|>(argument |json)[^<]*<\|sep|<\|(open|close)\|>tools<\|sep\|>\s*<\||<\|(close\|>message<\|sep|end_of_msg)\|>$/,
  "muse-glimmer": /<\/atem:parameter>\s*(<\/?atem:|<\|e)|<atem:(function_calls>|invoke )[\s\S]*\n<atem:parameter /,
  "minimax-m3": /\]<\]minimax\[>\[/,
  "deepseek-v3.2": /<\/｜DSML｜parameter ?>\s*<\/?｜|<｜DSML｜(function_calls|invoke)[\s\S]*\n<｜DSML｜parameter /,
  "deepseek-v4": /<\/｜DSML｜parameter ?>\s*<\/?｜|<｜DSML｜(tool_calls|invoke)[\s\S]*\n<｜DSML｜parameter /,
};
/** The same inside a key: in an attribute, both kinds of quotes, and the tags that an unfinished name would swallow. */
const UNWRITABLE_KEYS: Readonly<Record<string, RegExp>> = {
  "qwen3-coder": /"[\s\S]*'|'[\s\S]*"|<\/?(tool_call|function|parameter)|< (function|parameter)|<\|/,
  "seed-oss": /"[\s\S]*'|'[\s\S]*"|<\/?(seed:|function|parameter)/,
  glm: /<\/?(arg_|tool_call)|<\|/,
  hy3: /<\/?(arg_|tool_)|<｜|<eos:/,
  laguna: /<\/?(arg_|tool_call|assistant)/,
  ling3: /<\/?(arg_|tool_call)|<\|/,
  minicpm5: /"[\s\S]*'|'[\s\S]*"|<\/?(function|param)|<\|/,
  "minimax-m2": /"[\s\S]*'|'[\s\S]*"|<\/?(minimax:|invoke|parameter)|\[e~\[/,
  "muse-glimmer": /"[\s\S]*'|'[\s\S]*"|<\/?atem:|<\|e/,
  "minimax-m3": /^\/|>|\]<\]minimax/,
  "kimi-k3": /<\|(open|close|sep|end_of_msg)/,
  "deepseek-v3.2": /"[\s\S]*'|'[\s\S]*"|<\/?｜/,
  "deepseek-v4": /"[\s\S]*'|'[\s\S]*"|<\/?｜/,
};

/** Dialects without a mark that closes a block of calls. */
const UNCLOSED: ReadonlySet<string> = new Set([
  "cogito",
  "functionary-v3.2",
  "gigachat",
  "glm4",
  "json",
  "llama3",
  "mistral",
  "phi4-mini",
  "xlam",
]);

/** Dialects whose values have no types: the schema restores them. */
const UNTYPED: ReadonlySet<string> = new Set([
  "qwen3-coder",
  "glm",
  "hy3",
  "laguna",
  "ling3",
  "minicpm5",
  "minimax-m2",
  "minimax-m3",
  "muse-glimmer",
  "seed-oss",
]);
/** Dialects where this is also true inside values: a list holds values of one kind, and null is an absent value. */
const NESTED: ReadonlySet<string> = new Set(["minimax-m3"]);

const described = ({ name, arguments: args }: RenderableCall): Tool => ({ name, parameters: schemaOf(args) });

function schemaOf(value: Json): JsonObject {
  const type = typeOf(value);
  if (Array.isArray(value)) return value.length > 0 ? { type, items: schemaOf(value[0]) } : { type };
  if (!isObject(value)) return { type };
  return { type, properties: Object.fromEntries(Object.entries(value).map(([key, item]) => [key, schemaOf(item)])) };
}
const withTypes = (dialect: Dialect, calls: readonly RenderableCall[]): ScannerOptions =>
  UNTYPED.has(dialect.id) ? { tools: calls.map(described) } : {};

const callsText = (dialect: Dialect, calls: readonly RenderableCall[]): string => promptText(dialect.renderToolCalls(calls));

/** Fragments of the dialect's own output: whole marks, halves of them, and the text between. */
function fragments(dialect: Dialect): string[] {
  const call = { id: "call_0", name: "write_file", arguments: { path: "a", mode: 7, deep: { list: [1, "x", null, true] } } };
  const written = [
    ...dialect.renderTools(tools),
    ...dialect.renderToolCalls([call, { ...call, id: "call_1", name: "math.gcd" }]),
    ...dialect.renderToolResults([{ id: "call_0", name: "write_file", output: "ok" }]),
    ...dialect.renderThinking("hm"),
    ...dialect.stops.map((text) => ({ text })),
  ].map((piece) => piece.text);
  const halves = written.flatMap((text) => [text.slice(0, text.length >> 1), text.slice(text.length >> 1)]);
  const tokens = written.flatMap((text) => text.split(/(?=[<[{}\]",:])|(?<=[>\]}\n])/));
  return [...new Set([...written, ...halves, ...tokens])].filter((text) => text !== "");
}

/** The marks of a whole conversation and the short words between them, one by one and in their usual sequences. */
function marksOf(dialect: Dialect): string[] {
  const call = { type: "tool-call", id: "call_0", name: "f", arguments: { a: 1 } } as const;
  const messages: Request["messages"] = [
    { role: "user", content: [{ type: "text", text: "x" }] },
    { role: "assistant", content: [{ type: "thinking", text: "hm" }, { type: "text", text: "y" }, call] },
    { role: "tool", id: "call_0", name: "f", output: "z" },
    { role: "assistant", content: [{ type: "text", text: "y" }] },
  ];
  const short = dialect.variants
    .flatMap((variant) => dialect.render({ model: "", messages }, { variant }))
    .filter(({ control, text }) => control || text.length <= 16)
    .map(({ text }) => text);
  const runs = short.flatMap((text, i) => [text, short.slice(i, i + 2).join(""), short.slice(i, i + 3).join("")]);
  return [...new Set([...runs, ...dialect.stops, ...dialect.preserved])];
}

const HOSTILE = [
  '"',
  "'",
  "\\",
  "\\u12",
  "{",
  "}",
  "[",
  "]",
  "<",
  "|",
  ",",
  ":",
  "\n",
  "\u2028",
  "\ud83d",
  "\ude00",
  "😀",
  "\u0000",
  "```",
  "null",
  "1e5",
];

const anyText = (dialect: Dialect): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(fc.constantFrom(...fragments(dialect)), fc.constantFrom(...HOSTILE), fc.string({ maxLength: 6 })), { maxLength: 24 })
    .map((parts) => parts.join(""));

const hostileString = (dialect: Dialect): fc.Arbitrary<string> => anyText(dialect).filter((text) => !UNWRITABLE[dialect.id]?.test(text));
const hostileKey = (dialect: Dialect): fc.Arbitrary<string> =>
  hostileString(dialect).filter((text) => !UNWRITABLE_KEYS[dialect.id]?.test(text));

const scalar = (dialect: Dialect) =>
  fc.oneof(
    hostileString(dialect),
    fc.boolean(),
    NESTED.has(dialect.id) ? fc.boolean() : fc.constant(null),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n || 0),
  );

const value = (dialect: Dialect) =>
  fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, scalar(dialect), lists(dialect, tie("value")), object(dialect, tie("value"))),
  })).value;

const lists = (dialect: Dialect, values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown[]> =>
  NESTED.has(dialect.id)
    ? fc.oneof(
        fc.array(hostileString(dialect), { maxLength: 3 }),
        fc.array(fc.integer(), { maxLength: 3 }),
        fc.array(fc.boolean(), { maxLength: 3 }),
      )
    : fc.array(values, { maxLength: 3 });

const keys = (dialect: Dialect) =>
  fc.oneof(fc.constantFrom("path", "__proto__", "constructor", "a b", "ключ", "a:b", ""), hostileKey(dialect));

function object(dialect: Dialect, values: fc.Arbitrary<unknown>): fc.Arbitrary<JsonObject> {
  return fc.array(fc.tuple(keys(dialect), values), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs) as JsonObject);
}

const anyCall = (dialect: Dialect): fc.Arbitrary<RenderableCall> =>
  fc.record({ id: fc.constant("call_0"), name: fc.constantFrom(...names), arguments: object(dialect, value(dialect)) });

const someCalls = (dialect: Dialect): fc.Arbitrary<RenderableCall[]> =>
  UNTYPED.has(dialect.id)
    ? fc.uniqueArray(anyCall(dialect), { minLength: 1, maxLength: 3, selector: ({ name }) => name })
    : fc.array(anyCall(dialect), { minLength: 1, maxLength: 3 });

const cuts = fc.array(fc.nat(), { maxLength: 12 });

/** A text with a part of it removed, repeated, or moved to the end. */
function damaged(text: string, [position, length, fate]: readonly [number, number, string]): string {
  const at = position % (text.length + 1);
  const part = text.slice(at, at + length);
  const rest = text.slice(0, at) + (fate === "twice" ? part + part : "") + text.slice(at + length);
  return fate === "later" ? rest + part : rest;
}

/** The rules of DESIGN's "Life of the events". */
function expectOrderly(events: readonly Event[]): void {
  let thinking = false;
  let open: string | undefined;
  let index = 0;
  for (const event of events) {
    if (event.type === "thinking-start") expect(thinking).toBe(false);
    if (event.type === "thinking-delta" || event.type === "thinking-end") expect(thinking).toBe(true);
    if (event.type === "thinking-start" || event.type === "thinking-end") thinking = event.type === "thinking-start";
    if (event.type === "tool-start") {
      expect(open).toBeUndefined();
      expect(event.index).toBe(index++);
      expect(event.name.trim()).not.toBe("");
      open = event.id;
    } else if (event.type === "tool-delta") expect(event.id).toBe(open);
    else if (event.type === "tool-end" || (event.type === "malformed" && event.id !== undefined)) {
      expect(event.id).toBe(open);
      open = undefined;
    } else if (event.type !== "malformed") expect(open).toBeUndefined();
  }
  expect(thinking).toBe(false);
  expect(open).toBeUndefined();
}

/** The deltas of each complete call are the JSON text of its arguments; those of any other call are never whole. */
function expectFaithfulDeltas(events: readonly Event[]): void {
  const texts = new Map<string, string>();
  for (const event of events) {
    if (event.type === "tool-delta") texts.set(event.id, (texts.get(event.id) ?? "") + event.json);
    if (event.type !== "tool-end" && event.type !== "malformed") continue;
    const text = texts.get(event.id ?? "") ?? "";
    if (event.type === "tool-end" && !event.truncated) {
      expect(event.json).toBe(text);
      expect(JSON.parse(text)).toEqual(event.arguments);
    } else {
      expect(event).not.toHaveProperty("json");
      expect(() => JSON.parse(text)).toThrow();
    }
  }
}

function expectSound(events: readonly Event[], input: string): void {
  expect(carried(events)).toBe(input);
  expectOrderly(events);
  expectFaithfulDeltas(events);
}

for (const dialect of listDialects()) {
  describe(dialect.id, () => {
    const options = fc.record(
      {
        tools: fc.constantFrom(tools, []),
        startInThinking: fc.boolean(),
        callsInThinking: fc.constantFrom("ignore" as const, "promote" as const, "promote-if-unclosed" as const),
        maxCallChars: fc.constantFrom(8, 30, 90, 8_388_608),
        maxDepth: fc.constantFrom(1, 2, 256),
      },
      { requiredKeys: [] },
    );

    test("any split gives the same events, and nothing is lost, whatever the input", () => {
      fc.assert(
        fc.property(anyText(dialect), cuts, options, (text, positions, options) => {
          const whole = scanPieces(dialect, [text], options);
          expectSound(whole, text);
          expect(scanPieces(dialect, cutAt(text, positions), options)).toEqual(whole);
          expect(scanPieces(dialect, units(text), options)).toEqual(whole);
        }),
        { numRuns: 1500 },
      );
    });

    test("its marks in any order are read to the end, and nothing is lost", () => {
      const marks = fc.array(fc.constantFrom(...marksOf(dialect)), { minLength: 2, maxLength: 12 }).map((parts) => parts.join(""));
      fc.assert(
        fc.property(marks, cuts, options, (text, positions, options) => {
          const whole = scanPieces(dialect, [text], options);
          expectSound(whole, text);
          expect(scanPieces(dialect, cutAt(text, positions), options)).toEqual(whole);
        }),
        { numRuns: 2000 },
      );
    });

    test("a rendered call comes back equal, hostile strings and keys included", () => {
      fc.assert(
        fc.property(someCalls(dialect), cuts, (calls, positions) => {
          const text = callsText(dialect, calls);
          const events = scanPieces(dialect, cutAt(text, positions), withTypes(dialect, calls));
          expectSound(events, text);
          expect(events.filter((event) => event.type === "malformed")).toEqual([]);
          expect(endsOf(events).map(({ name, arguments: args, truncated }) => ({ name, arguments: args, truncated }))).toEqual(
            calls.map(({ name, arguments: args }) => ({ name, arguments: args, truncated: undefined })),
          );
        }),
        { numRuns: 400 },
      );
    });

    test("wherever a call is cut, its deltas are a prefix, and it is never passed off as complete", () => {
      fc.assert(
        fc.property(anyCall(dialect), fc.nat(), (call, position) => {
          const text = callsText(dialect, [call]);
          const deltas = (events: Event[]) => events.map((event) => (event.type === "tool-delta" ? event.json : "")).join("");
          const whole = scanPieces(dialect, [text], withTypes(dialect, [call]));
          // Half a surrogate pair would be different input, not less of it.
          const start = text.slice(0, position % text.length).replace(/[\ud800-\udbff]$/, "");
          const cut = scanPieces(dialect, [start], withTypes(dialect, [call]));
          expectSound(cut, start);
          expect(deltas(whole).startsWith(deltas(cut))).toBe(true);
          for (const end of endsOf(cut)) {
            if (end.truncated) expect(end.name).toBe(call.name);
            else expect(end.arguments).toEqual(call.arguments);
          }
        }),
        { numRuns: 400 },
      );
    });

    test("a call with something missing, repeated or moved is read to its end, however it is cut", () => {
      const spans = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 12 }), fc.constantFrom("", "twice", "later")), {
        minLength: 1,
        maxLength: 3,
      });
      fc.assert(
        fc.property(someCalls(dialect), spans, cuts, options, (calls, spans, positions, options) => {
          const text = spans.reduce(damaged, callsText(dialect, calls));
          const whole = scanPieces(dialect, [text], options);
          expectSound(whole, text);
          expect(scanPieces(dialect, cutAt(text, positions), options)).toEqual(whole);
        }),
        { numRuns: 600 },
      );
    });

    test("text that cannot begin a mark is emitted at once, and so are a call's name and the text of a string", () => {
      const plain = dialect.createScanner();
      expect(textOf(plain.feed("Hello, wor"))).toBe("Hello, wor");
      const scanner = dialect.createScanner({ tools });
      const said: Event[] = [];
      for (const unit of callsText(dialect, [{ id: "call_0", name: "write_file", arguments: { path: "alpha ßeta" } }])) {
        said.push(...scanner.feed(unit));
        const delta = said.map((event) => (event.type === "tool-delta" ? event.json : "")).join("");
        if (unit === "ß") {
          expect(said.some((event) => event.type === "tool-start")).toBe(true);
          expect(delta).toContain("alpha");
        }
      }
    });

    test("numbers keep their spelling in `json`, even beyond 2^53", () => {
      const json = '{"mode": 12345678901234567890, "deep": {"ratio": 1.0}}';
      const call = { id: "call_0", name: "write_file", arguments: JSON.parse(json) as JsonObject, json };
      const declared = NESTED.has(dialect.id) ? [described(call)] : tools;
      const [end] = endsOf(scanPieces(dialect, [callsText(dialect, [call])], { tools: declared }));
      expect(end?.json).toContain("12345678901234567890");
      expect(end?.json).toMatch(/1\.0\D/);
      expect(end?.arguments).toEqual(JSON.parse(json));
    });

    test("`__proto__` is an ordinary own key", () => {
      const args = JSON.parse('{"__proto__": {"polluted": true}}') as JsonObject;
      const [end] = endsOf(scanPieces(dialect, [callsText(dialect, [{ id: "call_0", name: "write_file", arguments: args }])]));
      expect(Object.keys(end?.arguments ?? {})).toEqual(["__proto__"]);
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    });

    test("an argument of five million characters arrives complete", () => {
      const content = 'line with "quotes", <marks> and \\ slashes\n'.repeat(120_000);
      const text = callsText(dialect, [{ id: "call_0", name: "write_file", arguments: { content } }]);
      const pieces = text.match(/[\s\S]{1,4096}/g) ?? [];
      const [end] = endsOf(scanPieces(dialect, pieces, { tools }));
      expect(end?.arguments.content === content).toBe(true);
    });

    test("ten thousand levels of nesting are malformed, at the same character however the text is cut", () => {
      const depth = 10_000;
      let deep: unknown = [];
      for (let i = 1; i < 600; i++) deep = [deep];
      const text = callsText(dialect, [{ id: "call_0", name: "write_file", arguments: { deep } as JsonObject }]).replace(
        "[[",
        "[".repeat(depth),
      );
      const whole = scanPieces(dialect, [text], { tools });
      expectSound(whole, text);
      expect(whole.filter((event) => event.type === "malformed").map((event) => event.code)).toEqual(["too-deep"]);
      expect(scanPieces(dialect, text.match(/[\s\S]{1,7}/g) ?? [], { tools })).toEqual(whole);
    });

    test("a call longer than `maxCallChars` is malformed at exactly that character", () => {
      const text = callsText(dialect, [{ id: "call_0", name: "write_file", arguments: { content: "x".repeat(500) } }]);
      const whole = scanPieces(dialect, [text], { tools, maxCallChars: 200 });
      const [malformed] = whole.filter((event) => event.type === "malformed");
      expect(malformed?.code).toBe("too-long");
      expect(malformed?.raw).toBe(text.slice(0, 200));
      expect(scanPieces(dialect, units(text), { tools, maxCallChars: 200 })).toEqual(whole);
      expect(endsOf(scanPieces(dialect, [text], { tools, maxCallChars: text.length }))).toHaveLength(1);
    });

    if (!UNCLOSED.has(dialect.id))
      test("the end of a call that is too long is found, wherever the limit is", () => {
        const text = callsText(dialect, [{ id: "call_0", name: "write_file", arguments: { content: "x".repeat(40) } }]);
        // A limit smaller than a mark cannot hold one.
        for (let maxCallChars = 32; maxCallChars < text.length; maxCallChars++) {
          const events = scanPieces(dialect, [`${text}TAIL`], { tools, maxCallChars });
          expect(scanPieces(dialect, units(`${text}TAIL`), { tools, maxCallChars })).toEqual(events);
          if (endsOf(events).length > 0) continue;
          const codes = events.flatMap((event) => (event.type === "malformed" ? event.code : []));
          expect(new Set(codes), String(maxCallChars)).toEqual(new Set(["too-long"]));
          expect(events.at(-1), String(maxCallChars)).toEqual({ type: "text", text: "TAIL" });
        }
      });

    test("a name of more than 256 characters is malformed, or text, at the same character however it is cut", () => {
      const name = "n".repeat(600);
      const text = callsText(dialect, [{ id: "call_0", name, arguments: { content: "x" } }]);
      const whole = scanPieces(dialect, [text]);
      expectSound(whole, text);
      const announced = !/^[{[]["{]/.test(text); // otherwise it is a call only after it has been read
      expect(whole.flatMap((event) => (event.type === "malformed" ? [event.code] : []))).toEqual(announced ? ["too-long"] : []);
      expect(endsOf(whole)).toEqual([]);
      expect(scanPieces(dialect, units(text))).toEqual(whole);
    });

    test.each([" ", "\n", "\u00a0", "\u2028"])("a name of blanks is none (%j)", (blank) => {
      const text = callsText(dialect, [{ id: "call_0", name: "NAME", arguments: { content: "x" } }]).replaceAll("NAME", blank);
      const whole = scanPieces(dialect, [text], { tools });
      expectSound(whole, text);
      expect(endsOf(whole).filter((end) => end.name.trim() === "")).toEqual([]);
      expect(scanPieces(dialect, units(text), { tools })).toEqual(whole);
    });

    test.each(["ns:tool", "dir/tool", "a.b-c_d"])("a declared tool may be named %s", (name) => {
      const call = { id: "call_0", name, arguments: { content: "x" } };
      for (const variant of dialect.variants) {
        const text = promptText(dialect.renderToolCalls([call, { ...call, id: "call_1", arguments: {} }], { variant }));
        const ends = endsOf(cutAnyhow(dialect, text, { tools: [{ name }] }));
        expect(ends.map((end) => [end.name, end.arguments, end.truncated])).toEqual([
          [name, { content: "x" }, undefined],
          [name, {}, undefined],
        ]);
      }
    });

    describe("no string ends in half a surrogate pair unless the input has a lone one", () => {
      const torn = (text: string, options: ScannerOptions): string[] => {
        const whole = dialect.createScanner(options);
        const scanner = dialect.createScanner(options);
        const events = [...whole.feed(text), ...whole.flush(), ...units(text).flatMap((unit) => scanner.feed(unit)), ...scanner.flush()];
        const strings = events.flatMap((event) => Object.values(event).filter((part) => typeof part === "string"));
        return strings.filter((string) => /\p{Surrogate}/u.test(string));
      };
      const calls = callsText(dialect, [{ id: "call_0", name: "write_file", arguments: { content: "😀👍🏽" } }]);
      test("in calls", () => {
        expect(torn(`😀 ${calls}`, { tools })).toEqual([]);
      });
      test("at any limit", () => {
        for (const text of [`${calls} 😀`, `<think>😀${calls}😀</think>`])
          for (let maxCallChars = 2; maxCallChars < text.length; maxCallChars++)
            expect(torn(text, { tools, maxCallChars, callsInThinking: "promote-if-unclosed" })).toEqual([]);
      });
      test("in names that are too long", () => {
        for (const name of ["😀".repeat(200), `x${"😀".repeat(200)}`])
          expect(torn(callsText(dialect, [{ id: "call_0", name, arguments: {} }]), {})).toEqual([]);
      });
    });
  });
}
