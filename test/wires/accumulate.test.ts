import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { Event } from "../../src/core/nouns.ts";
import { CallAccumulator, type CallFragment, malformedRaw, parseArguments, readMalformed } from "../../src/wires/accumulate.ts";
import { merged } from "../events.ts";

type Ending = Parameters<CallAccumulator["end"]>[0];

/** The events that these fragments become, with each call's deltas joined. */
function events(fragments: readonly (CallFragment | Event)[], ending?: Ending): Event[] {
  const calls = new CallAccumulator();
  return merged([...fragments.flatMap((item) => ("type" in item ? calls.pass(item) : calls.add(item))), ...calls.end(ending)]);
}

const whole = (id: string, index: number, name: string, json: string): Event[] => [
  { type: "tool-start", id, index, name },
  { type: "tool-delta", id, json },
  { type: "tool-end", id, index, name, arguments: JSON.parse(json), json },
];

const chars = (text: string, more: CallFragment = {}): CallFragment[] => [...text].map((char) => ({ ...more, arguments: char }));
const A = '{"a":[1,"}]"]}';
const B = '{"b":2}';
const two = [...whole("1", 0, "f", A), ...whole("2", 1, "g", B)];

describe("fragments become whole calls, whatever the server does wrong", () => {
  test.each<[string, CallFragment[], Event[]]>([
    ["whole", [{ index: 0, id: "1", name: "f", arguments: A }], whole("1", 0, "f", A)],
    ["one character at a time", [{ index: 0, id: "1", name: "f" }, ...chars(A, { index: 0 })], whole("1", 0, "f", A)],
    ["an object", [{ index: 0, id: "1", name: "f", arguments: { b: 2 } }], whole("1", 0, "f", B)],
    ["null", [{ index: 0, id: "1", name: "f", arguments: null }], whole("1", 0, "f", "{}")],
    ["the arguments are the text null", [{ index: 0, id: "1", name: "f", arguments: "null" }], whole("1", 0, "f", "{}")],
    ["the arguments are an empty text", [{ index: 0, id: "1", name: "f", arguments: "" }], whole("1", 0, "f", "{}")],
    [
      "an empty object, then the arguments",
      [{ index: 0, id: "1", name: "f", arguments: "{}" }, ...chars(B, { index: 0 })],
      whole("1", 0, "f", B),
    ],
    ["the index is missing", [{ id: "1", name: "f" }, ...chars(A), { id: "2", name: "g", arguments: B }], two],
    [
      "all calls have index 0",
      [
        { index: 0, id: "1", name: "f", arguments: A },
        { index: 0, id: "2", name: "g", arguments: B },
      ],
      two,
    ],
    [
      "all calls have index 0 and no id",
      [
        { index: 0, name: "f", arguments: A },
        { index: 0, name: "f", arguments: B },
      ],
      [...whole("call_0", 0, "f", A), ...whole("call_1", 1, "f", B)],
    ],
    [
      "all calls have index 0 and come in pieces",
      [
        { index: 0, id: "1", name: "f", arguments: "" },
        ...chars(A, { index: 0 }),
        { index: 0, id: "2", name: "g", arguments: "" },
        ...chars(B, { index: 0 }),
      ],
      two,
    ],
    [
      "all calls have index 0 and the same name, have no id, and come in pieces",
      [
        { index: 0, name: "f", arguments: "" },
        ...chars(A, { index: 0 }),
        { index: 0, name: "f", arguments: "" },
        ...chars(B, { index: 0 }),
      ],
      [...whole("call_0", 0, "f", A), ...whole("call_1", 1, "f", B)],
    ],
    [
      "the name is repeated after its call",
      [{ index: 0, id: "1", name: "f", arguments: "" }, ...chars(A, { index: 0 }), { index: 0, name: "f", arguments: "" }],
      whole("1", 0, "f", A),
    ],
    [
      "there is no index, and the id changes with every fragment",
      [{ id: "1", name: "f", arguments: "" }, ...chars(A).map((piece, i) => ({ ...piece, id: `id${i}` }))],
      whole("1", 0, "f", A),
    ],
    [
      "there is no index, the id changes with every fragment, and each fragment repeats the name",
      ["f", "g"].flatMap((name, n) =>
        [{ arguments: "" }, ...chars(n === 0 ? A : B)].map((piece, i) => ({ ...piece, name, id: i === 0 ? `${n + 1}` : `id${n}${i}` })),
      ),
      two,
    ],
    [
      "there is no index, and the names come late",
      [{ id: "1" }, { arguments: A }, { name: "f" }, { id: "2", arguments: "" }, { arguments: B }, { name: "g" }],
      two,
    ],
    [
      "two calls without arguments, both numbered 0",
      [
        { index: 0, id: "1", name: "f", arguments: "" },
        { index: 0, id: "2", name: "g", arguments: "" },
      ],
      [...whole("1", 0, "f", "{}"), ...whole("2", 1, "g", "{}")],
    ],
    [
      "the id changes with every fragment",
      [...chars(A).map((piece, i) => ({ ...piece, index: 0, id: `id${i}`, name: i === 0 ? "f" : "" }))],
      whole("id0", 0, "f", A),
    ],
    ["name and id are repeated with every fragment", chars(A, { index: 0, id: "1", name: "f" }), whole("1", 0, "f", A)],
    [
      "the index numbers the fragments, not the calls",
      chars(A).map((piece, index) => ({ ...piece, index, id: "1", name: index === 0 ? "f" : undefined })),
      whole("1", 0, "f", A),
    ],
    [
      "the name comes late",
      [
        { index: 0, id: "1", arguments: '{"a":[1,' },
        { index: 0, name: "f" },
        { index: 0, arguments: '"}]"]}' },
      ],
      whole("1", 0, "f", A),
    ],
    [
      "two calls have the same id",
      [
        { index: 0, id: "1", name: "f", arguments: A },
        { index: 1, id: "1", name: "g", arguments: B },
      ],
      [...whole("1", 0, "f", A), ...whole("call_1", 1, "g", B)],
    ],
    [
      "ids are blank",
      [
        { index: 0, id: "", name: "f", arguments: A },
        { index: 1, id: " ", name: "g", arguments: B },
      ],
      [...whole("call_0", 0, "f", A), ...whole("call_1", 1, "g", B)],
    ],
    [
      "the id that would be minted is already taken",
      [
        { index: 0, id: "call_1", name: "f", arguments: A },
        { index: 1, name: "g", arguments: B },
      ],
      [...whole("call_1", 0, "f", A), ...whole("call_2", 1, "g", B)],
    ],
    [
      "every piece repeats everything before it",
      ['{"', '{"a":[', '{"a":[1,"', A, A].map((args, i) => ({ index: 0, ...(i === 0 && { id: "1", name: "f" }), arguments: args })),
      whole("1", 0, "f", A),
    ],
    [
      "every piece repeats everything, with id and name, and so do two calls at one index",
      [
        ...['{"', '{"a":[1', A].map((args) => ({ index: 0, id: "1", name: "f", arguments: args })),
        ...["{", B].map((args) => ({ index: 0, id: "2", name: "g", arguments: args })),
      ],
      two,
    ],
    [
      "a nested object that begins like the object around it",
      [
        { index: 0, id: "1", name: "f", arguments: '{"a":' },
        { index: 0, arguments: '{"a":1}}' },
      ],
      whole("1", 0, "f", '{"a":{"a":1}}'),
    ],
    [
      "a whole call is sent twice, with the same id",
      [
        { index: 0, id: "1", name: "f", arguments: A },
        { index: 0, id: "1", name: "f", arguments: A },
        { index: 1, id: "2", name: "g", arguments: B },
      ],
      two,
    ],
    [
      "whole arguments are sent twice",
      [
        { index: 0, id: "1", name: "f", arguments: A },
        { index: 0, arguments: A },
      ],
      whole("1", 0, "f", A),
    ],
    [
      "arguments that are JSON inside a JSON string, in pieces",
      [{ index: 0, id: "1", name: "f" }, ...chars(JSON.stringify(A), { index: 0 })],
      whole("1", 0, "f", A),
    ],
    [
      "arguments that are JSON inside a JSON string, all with index 0",
      [
        { index: 0, id: "1", name: "f", arguments: JSON.stringify(A) },
        { index: 0, id: "2", name: "g", arguments: JSON.stringify(B) },
      ],
      two,
    ],
    [
      "indices start late and have gaps",
      [
        { index: 3, id: "1", name: "f", arguments: A },
        { index: 7, id: "2", name: "g", arguments: B },
      ],
      two,
    ],
    [
      "calls are interleaved",
      [
        { index: 0, id: "1", name: "f" },
        { index: 1, id: "2", name: "g" },
        ...[...A].flatMap((char, i) => [
          { index: 0, arguments: char },
          { index: 1, arguments: B[i] ?? "" },
        ]),
      ],
      two,
    ],
  ])("%s", (_, fragments, expected) => {
    expect(events(fragments)).toEqual(expected);
  });

  test("blanks after a complete call change nothing", () => {
    expect(
      events([
        { index: 0, id: "1", name: "f", arguments: B },
        { index: 0, arguments: " " },
      ]),
    ).toEqual(whole("1", 0, "f", `${B} `));
  });
  test("a custom call's text becomes its `input`, whatever characters it holds", () => {
    const text = 'say "hi"\n\u{1f600}';
    const [, delta, end] = events([
      { index: 0, id: "1", name: "f", input: "" },
      ...Array.from({ length: text.length }, (_, i) => ({ index: 0, input: text[i] })),
    ]);
    expect(end).toMatchObject({ arguments: { input: text } });
    expect(delta?.type === "tool-delta" && JSON.parse(delta.json)).toEqual({ input: text });
  });
  test("tool-start is emitted as soon as the name is known, deltas as they come", () => {
    const calls = new CallAccumulator();
    expect(calls.add({ index: 0, id: "1", name: "f" })).toEqual([{ type: "tool-start", id: "1", index: 0, name: "f" }]);
    expect(calls.add({ index: 0, arguments: '{"a' })).toEqual([{ type: "tool-delta", id: "1", json: '{"a' }]);
  });
  test("a call that the server marks as done ends at once", () => {
    const calls = new CallAccumulator();
    expect(calls.add({ index: 0, id: "1", name: "f", arguments: B, done: true })).toEqual(whole("1", 0, "f", B));
    expect(calls.end()).toEqual([]);
  });
  test("an event in the middle of a call waits until the call ends", () => {
    const text: Event = { type: "text", text: "x" };
    expect(events([{ index: 0, id: "1", name: "f", arguments: '{"b"' }, text, { index: 0, arguments: ":2}" }])).toEqual([
      ...whole("1", 0, "f", B),
      text,
    ]);
    const calls = new CallAccumulator();
    calls.add({ index: 0, id: "1", name: "f", arguments: B });
    expect(calls.pass(text).at(-1)).toEqual(text); // the call was complete: nothing has to wait
  });
  test("a tool that was renamed for the server comes back under its own name", () => {
    const calls = new CallAccumulator({ names: { f: "F" }, warnings: [] });
    expect([...calls.add({ name: "f" }), ...calls.end()].map((event) => "name" in event && event.name)).toEqual(["F", false, "F"]);
  });
});

describe("arguments that cannot be read", () => {
  test.each(['{"a": 1', "[1]", "nonsense", '"nonsense"', '"{\\"a\\": 1"', '{"a":1}}', `${'{"a":'.repeat(300)}1${"}".repeat(300)}`])(
    "%.12s is malformed",
    (args) => {
      const [start, ...rest] = events([{ index: 0, id: "1", name: "f", arguments: args }]);
      expect(start).toMatchObject({ type: "tool-start", id: "1" });
      expect(rest.at(-1)).toMatchObject({ type: "malformed", id: "1", raw: malformedRaw("f", args) });
      expect(readMalformed(malformedRaw("f", args))).toEqual({ name: "f", arguments: args });
    },
  );
  test("a call without a name is malformed, and its raw is kept", () => {
    expect(events([{ index: 0, id: "1", arguments: B }])).toEqual([
      { type: "malformed", raw: malformedRaw("", B), code: "no-name", reason: expect.any(String) },
    ]);
  });
  test("the good calls beside a malformed one are delivered", () => {
    const all = events([
      { index: 0, id: "1", name: "f", arguments: "{", done: true },
      { index: 1, id: "2", name: "g", arguments: B },
    ]);
    expect(all.map(({ type }) => type)).toEqual(["tool-start", "tool-delta", "malformed", "tool-start", "tool-delta", "tool-end"]);
  });
  test("fragments for a call that has ended are not lost", () => {
    expect(
      events([
        { index: 0, id: "1", name: "f", arguments: A },
        { index: 1, id: "2", name: "g", arguments: B },
        { index: 0, arguments: "}" },
      ]),
    ).toContainEqual({ type: "control", raw: "}" });
  });
});

describe("an answer that was cut off", () => {
  test("arguments that are nested too deep come out empty, so that no recursive reader overflows", () => {
    const deep = `{"a":${"[".repeat(200_000)}`;
    expect(events([{ index: 0, id: "1", name: "f", arguments: deep }], { truncated: true }).at(-1)).toMatchObject({
      arguments: {},
      truncated: true,
    });
  });
  test("the call is marked truncated, and its JSON is not closed", () => {
    expect(events([{ index: 0, id: "1", name: "f", arguments: '{"b":"x' }], { truncated: true })).toEqual([
      { type: "tool-start", id: "1", index: 0, name: "f" },
      { type: "tool-delta", id: "1", json: '{"b":"x' },
      { type: "tool-end", id: "1", index: 0, name: "f", arguments: { b: "x" }, truncated: true },
    ]);
  });
  test.each<[string, CallFragment]>([
    ["no argument yet", { arguments: "" }],
    ["done, but unreadable", { arguments: '{"a', done: true }],
    ["a custom call", { input: "abc" }],
    ["the server says that the call is incomplete", { arguments: B, truncated: true }],
  ])("%s", (_, fragment) => {
    expect(events([{ index: 0, id: "1", name: "f", ...fragment }], { truncated: true }).at(-1)).toMatchObject({ truncated: true });
  });
  test("a call that was complete before the cut stays complete", () => {
    expect(
      events(
        [
          { index: 0, id: "1", name: "f", arguments: A },
          { index: 1, id: "2", name: "g", arguments: B },
        ],
        { truncated: true },
      ),
    ).toEqual(two);
  });
});

test("any calls, cut into pieces and interleaved in any way, come out whole and in order", () => {
  const args = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })).map((value) => JSON.stringify(value));
  fc.assert(
    fc.property(fc.array(args, { minLength: 1, maxLength: 4 }), fc.infiniteStream(fc.nat()), (texts, numbers) => {
      const fragments: CallFragment[] = texts.map((_, index) => ({ index, id: `id${index}`, name: `f${index}` }));
      const left = [...texts];
      while (left.some((text) => text !== "")) {
        const [call, length] = [numbers.next().value % left.length, 1 + (numbers.next().value % 9)];
        if (left[call]) fragments.push({ index: call, arguments: left[call].slice(0, length) });
        left[call] = left[call]!.slice(length);
      }
      expect(events(fragments)).toEqual(texts.flatMap((text, index) => whole(`id${index}`, index, `f${index}`, text)));
    }),
  );
});

test("arguments are parsed from their text: blank, JSON, or JSON inside a JSON string", () => {
  expect(parseArguments(" ")).toEqual({ arguments: {} });
  expect(parseArguments(B)).toEqual({ arguments: { b: 2 } });
  expect(parseArguments(JSON.stringify(B))).toEqual({ arguments: { b: 2 } });
  expect(parseArguments("3")).toMatchObject({ code: "bad-arguments" });
});

describe("a call in very many fragments", () => {
  // Speed is measured by `npm run bench`. This checks what makes it linear: each fragment is passed on at once, and nothing is parsed
  // before the end.
  test.each([12_000, 120_000])("%i of one character each are passed on as they come, and parsed once", (count) => {
    const json = JSON.stringify({ content: "x".repeat(count - '{"content":""}'.length) });
    const parse = vi.spyOn(JSON, "parse");
    const calls = new CallAccumulator();
    const sizes = new Set<number>();
    calls.add({ index: 0, id: "1", name: "f" });
    for (const char of json)
      for (const event of calls.add({ index: 0, arguments: char })) sizes.add(event.type === "tool-delta" ? event.json.length : 0);
    expect(parse).not.toHaveBeenCalled();
    expect(calls.end().at(-1)).toMatchObject({ type: "tool-end", json });
    expect(parse).toHaveBeenCalledTimes(1);
    expect([...sizes]).toEqual([1]);
    parse.mockRestore();
  });
  test("a call that waits for another call to end is then sent in one piece", () => {
    const calls = new CallAccumulator();
    calls.add({ index: 0, id: "1", name: "f", arguments: "{" });
    for (const char of `{"a":"${"x".repeat(5000)}"}`) expect(calls.add({ index: 1, id: "2", name: "g", arguments: char })).toEqual([]);
    const all = calls.add({ index: 0, arguments: "}" });
    expect(all.filter((event) => event.type === "tool-delta" && event.id === "2")).toHaveLength(1);
  });
});
