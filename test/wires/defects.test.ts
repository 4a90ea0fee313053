// Every combination of what servers do wrong with calls: how they number them, which ids they give, when the name comes, and how the
// arguments come. If a stream can be read in two ways, the test says which reading is taken.
import { describe, expect, test } from "vitest";
import { CallAccumulator, type CallFragment } from "../../src/wires/accumulate.ts";

/** The calls that a model made, each with name and arguments. */
const answers: readonly (readonly [name: string, json: string])[][] = [
  [
    ["f", '{"a":[1,"}]"]}'],
    ["g", '{"b":2}'],
  ],
  [
    ["f", '{"a":1}'],
    ["f", '{"a":2}'],
  ],
  [
    ["f", "{}"],
    ["g", '{"b":2}'],
  ],
  [
    ["f", '{"a":1}'],
    ["g", "{}"],
  ],
  [
    ["f", "{}"],
    ["f", "{}"],
  ],
  [
    ["f", '{"a":1}'],
    ["g", '{"b":2}'],
    ["h", "{}"],
  ],
];

/** A fragment's position: which call, the position inside that call, and among all fragments. */
interface Place {
  call: number;
  piece: number;
  last: number;
  all: number;
}

const numbers = {
  right: ({ call }: Place) => call,
  "always 0": () => 0,
  missing: () => undefined,
  "of the fragment": ({ all }: Place) => all,
};
const ids = {
  once: ({ call, piece }: Place) => (piece === 0 ? `id${call}` : undefined),
  repeated: ({ call }: Place) => `id${call}`,
  changing: ({ all }: Place) => `id${all}`,
  missing: () => undefined,
  blank: () => "",
  doubled: ({ piece }: Place) => (piece === 0 ? "id" : undefined),
};
const names = {
  first: ({ piece }: Place) => piece === 0,
  repeated: () => true,
  last: ({ piece, last }: Place) => piece === last,
};
const pieces = (json: string): string[] => json.match(/.{1,3}/g) ?? [];
const texts = {
  whole: (json: string) => [json],
  "an object": (json: string) => [JSON.parse(json)],
  characters: (json: string) => [...json],
  'behind ""': (json: string) => ["", ...pieces(json)],
  "behind null": (json: string) => [null, ...pieces(json)],
  "behind {}": (json: string) => (json === "{}" ? [json] : ["{}", ...pieces(json)]),
  "whole behind {}": (json: string) => (json === "{}" ? [{}] : [{}, json]),
  'whole behind "", none: ""': (json: string) => (json === "{}" ? [""] : ["", json]),
  'whole before ""': (json: string) => [json, ""],
} satisfies Record<string, (json: string) => CallFragment["arguments"][]>;
const orders = ["in order", "interleaved", "heads first"] as const;

interface Case {
  number: keyof typeof numbers;
  id: keyof typeof ids;
  name: keyof typeof names;
  text: keyof typeof texts;
  order: (typeof orders)[number];
  answer: (typeof answers)[number];
}

function fragments({ number, id, name, text, order, answer }: Case): CallFragment[] {
  const calls = answer.map(([called, json], call) =>
    texts[text](json).map((args, piece, list) => ({ call, piece, last: list.length - 1, called, args: args as CallFragment["arguments"] })),
  );
  const rounds = Math.max(...calls.map((list) => list.length));
  const sorted =
    order === "in order"
      ? calls.flat()
      : order === "heads first"
        ? [...calls.map((list) => list[0]!), ...calls.flatMap((list) => list.slice(1))]
        : Array.from({ length: rounds }, (_, i) => calls.flatMap((list) => list[i] ?? [])).flat();
  return sorted.map(({ called, args, ...rest }, all) => {
    const place = { ...rest, all };
    return { index: numbers[number](place), id: ids[id](place), name: names[name](place) ? called : undefined, arguments: args };
  });
}

/** Ambiguous streams, and how they are read. */
const ambiguous: Record<string, (one: Case) => boolean> = {
  "the same call twice, without arguments and with nothing to tell them apart: one call, repeated": ({ number, id, answer, text }) =>
    answer === answers[4] &&
    (number === "always 0" || number === "missing") &&
    (id === "doubled" || (text === 'whole behind "", none: ""' && (id === "missing" || id === "blank"))),
  "a name with every fragment, and a whole object behind {}: two calls": ({ name, text, id }) =>
    name === "repeated" && text === "whole behind {}" && id !== "repeated",
  "a name and a new id with every fragment, some of which could be a call of their own: each is a call": ({ name, id, text, number }) =>
    name === "repeated" &&
    id === "changing" &&
    (/\{\}|before/.test(text) || (number === "missing" && text === 'whole behind "", none: ""')),
  "a new number and a name with every fragment: each is a call": ({ name, number }) => name === "repeated" && number === "of the fragment",
  "the same id for all, and the names last: a new number belongs to the call of that id": ({ name, id }) =>
    name === "last" && id === "doubled",
  "a call that is {}, the name behind it, the next call without a head: {} was yet to be filled": ({ name, text, number, answer }) =>
    name === "last" && text === 'whole before ""' && number !== "right" && answer.some(([, json]) => json === "{}"),
};

const cases: Case[] = [];
for (const number of Object.keys(numbers) as Case["number"][])
  for (const id of Object.keys(ids) as Case["id"][])
    for (const name of Object.keys(names) as Case["name"][])
      for (const text of Object.keys(texts) as Case["text"][])
        for (const order of orders)
          for (const answer of answers) {
            const isSane = (order === "in order" || number === "right") && (number !== "of the fragment" || id === "repeated");
            if (isSane) cases.push({ number, id, name, text, order, answer });
          }

/** What the accumulator makes of it: names and arguments, in order. */
function read(one: Case): string[] {
  const calls = new CallAccumulator();
  const events = [...fragments(one).flatMap((fragment) => calls.add(fragment)), ...calls.end()];
  const started = events.filter((event) => event.type === "tool-start");
  expect(started.map(({ index }) => index)).toEqual(started.map((_, i) => i));
  expect(new Set(started.map(({ id }) => id)).size).toBe(started.length);
  return events.flatMap((event) =>
    event.type === "tool-end" ? [`${event.name} ${JSON.stringify(event.arguments)}`] : event.type === "malformed" ? ["unreadable"] : [],
  );
}

describe("calls stay apart, complete, and with the right name", () => {
  const isAmbiguous = (one: Case) => Object.values(ambiguous).some((is) => is(one));
  const clear = cases.filter((one) => !isAmbiguous(one));

  test.each(Object.keys(numbers) as Case["number"][])("whatever else is wrong, if the number is: %s", (number) => {
    const wanted = clear.filter((one) => one.number === number);
    expect(wanted.length).toBeGreaterThan(50);
    for (const one of wanted) {
      const { answer, ...how } = one;
      expect(read(one), JSON.stringify(how)).toEqual(answer.map(([name, json]) => `${name} ${JSON.stringify(JSON.parse(json))}`));
    }
  });
  test.each(Object.entries(ambiguous))("an ambiguous stream: %s", (_, is) => {
    const taken = cases.filter(is);
    expect(taken.length).toBeGreaterThan(0);
    for (const one of taken) expect(read(one).length).toBeGreaterThan(0);
  });
});
