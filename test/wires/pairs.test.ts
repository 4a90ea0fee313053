// All wires against each other: what is expressed in one comes out of any other, or is listed in losses.json.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { collect } from "../../src/core/fold.ts";
import type { Event, Json, JsonObject, Opaque, Part, Request, WireId } from "../../src/core/nouns.ts";
import { printBody } from "../../src/wires/raw.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import type { Wire } from "../../src/wires/wire.ts";
import { merged } from "../events.ts";
import { eventFeatures, events, request, requestFeatures } from "./generate.ts";
import { echoes, PATHS } from "./helpers.ts";
import { validateRequest, validateStream } from "./validators.ts";

/** What a wire cannot express. `warning`: a part of the warning; `null`: there is none, because it is bookkeeping or cannot be reported. */
interface Loss {
  wire: WireId;
  field?: string;
  event?: string;
  why: string;
  warning: string | null;
}
const losses = JSON.parse(readFileSync(new URL("../losses.json", import.meta.url), "utf8")) as Loss[];
const wires = listWires();
const pairs = wires.flatMap((from) => wires.map((to) => [from, to] as const));
const named = wires.map((wire) => [wire.id, wire] as const);

// ---- Requests

/** Encodes and decodes as text. */
function roundTrip(wire: Wire, request: Request) {
  const { path, headers, body, context } = wire.encodeRequest(request);
  const [route = "", query = ""] = path.split("?");
  const input = { path: route, query: Object.fromEntries(new URLSearchParams(query)), headers, body: printBody(body) };
  return { again: wire.decodeRequest(input), body, warnings: context.warnings };
}

const loud = (state: readonly Opaque[] | undefined): Opaque[] => (state ?? []).filter(({ quiet }) => !quiet);

/** Without bookkeeping and warnings. `stream: false` equals no `stream`, and a call's JSON text is filled in from its object. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
    if (key === "warnings" || key === "from" || item === undefined || (key === "stream" && item === false)) return [];
    if (key !== "state" && key !== "extra") return [[key, key === "data" ? item : plain(item)]];
    const kept = loud(item as Opaque[]);
    return kept.length > 0 ? [[key, kept]] : [];
  });
  const object = Object.fromEntries(entries);
  return object.type === "tool-call" ? { json: JSON.stringify(object.arguments), ...object } : object;
}

const listed = (wire: Wire, field: string): Loss | undefined => losses.find((loss) => loss.wire === wire.id && loss.field === field);

describe("a request comes back unchanged", () => {
  test.each(named)("%s: everything that every wire can express", (_, wire) => {
    fc.assert(
      fc.property(request, (given) => {
        const { again, body, warnings } = roundTrip(wire, given);
        expect(plain(again)).toEqual(plain(given));
        expect(warnings).toEqual([]);
        expect(validateRequest(wire.id, body)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  const features = Object.entries(requestFeatures);
  const samples = fc.sample(request, { numRuns: 12, seed: 7 });

  describe.each(named)("%s", (_, wire) => {
    test.each(features)("%s", (field, change) => {
      const loss = listed(wire, field);
      for (const sample of samples) {
        const given = change(sample, wire.id);
        const { again, warnings } = roundTrip(wire, given);
        if (loss) expect(plain(again), "nothing is lost: remove it from losses.json").not.toEqual(plain(given));
        else expect(plain(again)).toEqual(plain(given));
        const said = warnings.map(({ message }) => message);
        if (loss?.warning) expect(said).toEqual(expect.arrayContaining([expect.stringContaining(loss.warning)]));
        else expect(said).toEqual([]);
        const official = wire.encodeRequest(given, { official: true }).body;
        if (!field.startsWith("its own")) expect(validateRequest(wire.id, official)).toEqual([]); // what is unusual here is unusual to the validator, too
      }
    });
    test("any combination of features that the wire can express", () => {
      const own = features.filter(([field]) => !listed(wire, field) && field !== "tools: none");
      fc.assert(
        fc.property(request, fc.subarray(own, { maxLength: 5 }), (given, chosen) => {
          const changed = chosen.reduce((so, [, change]) => change(so, wire.id), given);
          const ids = changed.messages.flatMap((message) => (message.role === "tool" ? [message.id] : []));
          fc.pre(new Set(ids).size === ids.length);
          const { again, warnings } = roundTrip(wire, changed);
          if (warnings.length === 0) expect(plain(again)).toEqual(plain(changed)); // two features together may be too much, but not silently
          expect(plain(roundTrip(wire, again).again)).toEqual(plain(again)); // messages already sent stay the same
        }),
        { numRuns: 150 },
      );
    });
  });
});

/** Objects under these keys are the user's own, or not objects of the API. */
const FREE = /^(parameters|parametersJsonSchema|responseJsonSchema|input_schema|schema|format|args|arguments|input|response|output)$/;

/** Adds an odd field to every object of a body, null in every other one; and lists the paths of all odd fields in a body. */
function withOdd(body: Json, key = "", odd = { count: 0, nulls: true }): Json {
  if (Array.isArray(body)) return body.map((item: Json) => withOdd(item, "", odd));
  if (typeof body !== "object" || body === null || FREE.test(key)) return body;
  const fields = Object.entries(body).map(([name, item]) => [name, withOdd(item, Array.isArray(item) ? "" : name, odd)]);
  return { ...Object.fromEntries(fields), x_odd: odd.count++ % 2 === 0 && odd.nulls ? null : odd.count };
}
function oddPaths(body: Json, at = ""): string[] {
  if (typeof body !== "object" || body === null) return [];
  return Object.entries(body).flatMap(([key, item]) => (key === "x_odd" ? [`${at}: ${item}`] : oddPaths(item, `${at}.${key}`)));
}

describe("unknown fields at every level of a request come back to the same wire, null included", () => {
  const samples = fc.sample(request, { numRuns: 5, seed: 9 });

  describe.each(named)("%s", (_, wire) => {
    test.each(Object.entries(requestFeatures))("beside %s", (_, change) => {
      for (const sample of samples) {
        const { path, headers, body } = wire.encodeRequest(change(sample, wire.id));
        const odd = withOdd(JSON.parse(printBody(body)));
        const [route = "", query = ""] = path.split("?");
        const given = wire.decodeRequest({ path: route, query: Object.fromEntries(new URLSearchParams(query)), headers, body: odd });
        expect(oddPaths(JSON.parse(printBody(wire.encodeRequest(given).body))).sort()).toEqual(oddPaths(odd).sort());
      }
    });
  });
});

describe("unknown fields at every level of a whole answer come back to the same wire", () => {
  describe.each(named)("%s", (_, wire) => {
    // An error has its own body, a refusal has no state, and a server never sends another wire's state.
    const isPlain = ([name, given]: [string, Event[]]) =>
      !/refusal|of (gemini|anthropic) on|another wire's state/.test(name) && !given.some((event) => event.type === "finish" && event.error);
    test.each(Object.entries(eventFeatures(wire.id)).filter(isPlain))("beside %s", (_, given) => {
      const response = collect(given);
      const asked: Request = { model: "m", messages: [] };
      const odd = withOdd(JSON.parse(printBody(wire.encodeResponse(response, asked))), "", { count: 0, nulls: false });
      expect(oddPaths(JSON.parse(printBody(wire.encodeResponse(wire.decodeResponse(odd), asked)))).sort()).toEqual(oddPaths(odd).sort());
    });
  });
});

// ---- Events

/** The bytes in pieces, decoded as they come. */
function* cutBytes(text: string, cuts: readonly number[]): Generator<string> {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  for (const [i, place] of places.slice(1).entries()) yield decoder.decode(bytes.slice(places[i], place), { stream: true });
  yield decoder.decode();
}

const asked = (wire: Wire): Request => ({
  model: "some-model",
  messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
  stream: wire.id === "ollama" ? "ndjson" : "sse",
  extra: [
    { wire: "openai-chat", kind: "stream_options", data: { include_usage: true } },
    { wire: "openai-responses", kind: "include", data: ["reasoning.encrypted_content"] },
  ],
  thinking: { enabled: true, show: true },
});

function encode(wire: Wire, events: readonly Event[], request = asked(wire), warn: (message: string) => void = () => {}): string {
  const options = { now: () => new Date(1_760_000_000_000), warn: ({ message }: { message: string }) => warn(message) };
  const encoder = wire.createStreamEncoder(request, options);
  return events.map((event) => encoder.encode(event)).join("") + encoder.end();
}

function decode(wire: Wire, pieces: Iterable<string>): Event[] {
  const decoder = wire.createStreamDecoder();
  const events: Event[] = [];
  for (const piece of pieces) events.push(...decoder.feed(piece));
  return [...events, ...decoder.flush()];
}

/** Deltas joined, without a wire's own bookkeeping and without generated ids. */
const compared = (events: readonly Event[]): Event[] =>
  merged(events.filter((event) => event.type !== "extension" || JSON.stringify(event.data).includes("odd_field")).map(bare));

function bare(event: Event): Event {
  if (event.type === "start" && event.id !== "answer-1") return { type: "start", ...(event.model ? { model: event.model } : {}) };
  const { native: _, quiet: __, state, ...rest } = event as Event & { native?: string; quiet?: true; state?: Opaque[] };
  const kept = event.type === "tool-start" || event.type === "thinking-start" ? [] : loud(state);
  return (kept.length > 0 ? { ...rest, state: kept } : rest) as Event;
}

const cuts = fc.array(fc.nat(), { maxLength: 12 });

describe("events come back unchanged", () => {
  test.each(named)("%s: any events, with the bytes cut anywhere", (_, wire) => {
    fc.assert(
      fc.property(events, cuts, (given, places) => {
        const text = encode(wire, given);
        expect(compared(decode(wire, cutBytes(text, places)))).toEqual(compared(given));
        expect(validateStream(wire.id, text)).toEqual([]);
      }),
    );
  });
  test.each(pairs.map(([from, to]) => [from.id, to.id] as const))("%s to %s", (from, to) => {
    fc.assert(
      fc.property(events, cuts, cuts, (given, first, second) => {
        const heard = decode(getWire(from), cutBytes(encode(getWire(from), given), first));
        const again = decode(getWire(to), cutBytes(encode(getWire(to), heard), second));
        expect(compared(again)).toEqual(compared(given));
      }),
      { numRuns: 30 },
    );
  });
  test.each(named)("%s: a frame that repeats the one before it is read like any other", (_, wire) => {
    // With a blank added to every other frame, no two neighbouring frames are equal.
    let frames = 0;
    const unlike = (text: string): string =>
      text
        .split("\n")
        .map((line) => (/^(data: )?\{/.test(line) && frames++ % 2 === 0 ? line.replace("{", "{ ") : line))
        .join("\n");
    const word = fc.oneof(
      fc.constantFrom("m", "text", "content", "null", '"', "\\", "a\nb", "\u2028", "é", "😀", "}}", "answer-1"),
      fc.string({ minLength: 1 }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), word), { maxLength: 20 }), (spoken) => {
        const given: Event[] = [
          { type: "start", id: "answer-1", model: "m" },
          ...spoken.flatMap(([thinks, text]): Event[] =>
            thinks ? [{ type: "thinking-start" }, { type: "thinking-delta", text }, { type: "thinking-end" }] : [{ type: "text", text }],
          ),
          { type: "finish", reason: "stop" },
        ];
        const text = encode(wire, given);
        const [alike, alone] = [decode(wire, [text]), decode(wire, [unlike(text)])];
        expect(alike).toEqual(alone);
        const said = (events: Event[]) => events.map((event) => (event.type === "text" ? event.text : "")).join("");
        expect(said(alike)).toBe(said(given));
      }),
    );
  });
  test("a call fragment that repeats the one before it is read like any other, however the server numbers calls", () => {
    const fragment = fc.record(
      {
        index: fc.constantFrom(0, 1),
        id: fc.constantFrom("", "c1", "c2"),
        function: fc.record(
          {
            name: fc.constantFrom("", "f", "g"),
            arguments: fc.constantFrom("{", "}", "{}", " ", '"a":', "1", "2", ",", '"b":"', '"', "null"),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: ["function"] },
    );
    const wire = getWire("openai-chat");
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 30 }), (fragments) => {
        const frame = (call: object, blank: string) =>
          `data: {${blank}"choices":[{"index":0,"delta":{"tool_calls":[${JSON.stringify(call)}]}}]}\n\n`;
        const end = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n';
        const alike = fragments.map((call) => frame(call, "")).join("") + end;
        const alone = fragments.map((call, i) => frame(call, " ".repeat(i % 2))).join("") + end;
        expect(decode(wire, [alike])).toEqual(decode(wire, [alone]));
      }),
      { numRuns: 1000 },
    );
  });
  test.each(named)("%s: cut at every byte", (_, wire) => {
    const [given] = fc.sample(events, { numRuns: 1, seed: 3 });
    const text = encode(wire, given!);
    const whole = compared(decode(wire, [text]));
    const length = new TextEncoder().encode(text).length;
    for (let at = 0; at < length; at++) expect(compared(decode(wire, cutBytes(text, [at])))).toEqual(whole);
  });

  describe.each(named)("%s", (_, wire) => {
    test.each(Object.entries(eventFeatures(wire.id)))("%s", (event, given) => {
      const said: string[] = [];
      const again = compared(decode(wire, [encode(wire, given, asked(wire), (message) => said.push(message))]));
      const loss = losses.find((loss) => loss.wire === wire.id && loss.event === event);
      if (loss) expect(again, "nothing is lost: remove it from losses.json").not.toEqual(compared(given));
      else expect(again).toEqual(compared(given));
      if (loss?.warning) expect(said).toEqual(expect.arrayContaining([expect.stringContaining(loss.warning)]));
      else expect(said.filter((message) => !/ cut/.test(message))).toEqual([]); // a truncated call may always be reported
    });
  });

  test.each(named)("%s: a call whose arguments span several lines comes whole", (_, wire) => {
    const json = '{\r\n  "path": "a.txt",\n  "text": "one\\ntwo \u2028 three"\n}';
    const call = { id: "call_y0", index: 0, name: "lookup" };
    const given: Event[] = [
      { type: "start", id: "answer-1", model: "m" },
      { type: "tool-start", ...call },
      { type: "tool-delta", id: call.id, json },
      { type: "tool-end", ...call, arguments: JSON.parse(json) as JsonObject, json },
      { type: "finish", reason: "tool-calls" },
    ];
    const text = encode(wire, given);
    expect(validateStream(wire.id, text)).toEqual([]);
    expect(decode(wire, [text]).find(({ type }) => type === "tool-end")).toMatchObject({ ...call, arguments: JSON.parse(json) });
  });

  test("no wire passes off a truncated call as complete", () => {
    for (const { id } of wires) {
      for (const name of ["call: cut", "call: cut before its arguments"]) {
        const again = decode(getWire(id), [encode(getWire(id), eventFeatures(id)[name]!)]);
        expect(again.filter((event) => event.type === "tool-end" && !event.truncated)).toEqual([]);
        expect(again.at(-1)).toMatchObject({ type: "finish", reason: "length" });
      }
    }
  });
});

// ---- What a client sends back

describe("another provider's state goes to the client and comes back", () => {
  const states: Opaque[] = [
    { wire: "gemini", kind: "thoughtSignature", data: "c2ln" },
    { wire: "anthropic", kind: "signature", data: "c2ln" },
    { wire: "openai-responses", kind: "encrypted_content", data: "c2ln" },
  ];
  const cases = wires
    .filter(({ id }) => id !== "ollama") // clients change every field of it
    .flatMap((wire) => states.filter((state) => state.wire !== wire.id).map((state) => [wire.id, state.wire, state] as const));

  test.each(cases)("%s carries the state of %s", (id, _, state) => {
    const wire = getWire(id);
    const { stream: __, ...request } = asked(wire);
    const thinking = { type: "thinking", text: "Hm.", ...(state.wire === "gemini" ? {} : { state: [state] }) } as const;
    const call = {
      type: "tool-call",
      id: "call_y0",
      name: "lookup",
      arguments: { a: 1 },
      json: '{"a":1}',
      ...(state.wire === "gemini" ? { state: [state] } : {}),
    } as const;
    const answer = wire.encodeResponse({ content: [thinking, call], finish: { reason: "tool-calls" } }, request);
    const body = { model: "m", ...echoes[id](JSON.parse(printBody(answer)) as never) };
    const [, last] = wire.decodeRequest({ path: PATHS[id] ?? "", query: {}, headers: {}, body }).messages;
    const parts = plain(
      last?.role === "assistant"
        ? last.content.filter((part) => part.type !== "thinking" || part.text !== "" || loud(part.state).length > 0)
        : [],
    );
    expect(parts).toEqual([plain(thinking), plain(call)]);
  });
});

describe("several thoughts of one turn come back unchanged, each with its own state", () => {
  const state = (wire: WireId, kind: string, data: Json, quiet?: true): Opaque => ({ wire, kind, data, ...(quiet ? { quiet } : {}) });
  const thinking = (text: string, ...states: Opaque[]): Part => ({
    type: "thinking",
    text,
    ...(states.length > 0 ? { state: states } : {}),
  });
  const text: Part = { type: "text", text: "Looking." };
  const call = (id: string): Part => ({ type: "tool-call", id, name: "lookup", arguments: {}, json: "{}" });
  const reasoning = (id: string, summary: string): Part =>
    thinking(
      summary,
      state("openai-responses", "id", id, true),
      state("openai-responses", "encrypted_content", `sealed ${id}`),
      state("openai-responses", "summary", [{ type: "summary_text", text: summary }], true),
    );
  const answers: Record<string, Part[]> = {
    "two that were signed": [
      thinking("One.", state("anthropic", "signature", "s1")),
      thinking("Two.", state("anthropic", "signature", "s2")),
    ],
    "one signed, one redacted": [thinking("One.", state("anthropic", "signature", "s1")), thinking("", state("anthropic", "data", "r1"))],
    "one behind words": [
      thinking("One.", state("anthropic", "signature", "s1")),
      text,
      thinking("Two.", state("anthropic", "signature", "s2")),
    ],
    "items of Responses": [reasoning("rs_1", "One."), text, reasoning("rs_2", "Two.")],
  };
  const cases = wires
    .filter(({ id }) => id !== "ollama") // clients change every field of it
    .flatMap((wire) => Object.keys(answers).map((what) => [wire.id, what] as const));

  test.each(cases)("%s: %s", (id, what) => {
    const wire = getWire(id);
    const content = [...answers[what]!, call("call_y0"), call("call_y1")];
    const answer = wire.encodeResponse({ content, finish: { reason: "tool-calls" } }, asked(wire));
    const body = { model: "m", ...echoes[id](JSON.parse(printBody(answer)) as never) };
    const messages = wire.decodeRequest({ path: PATHS[id] ?? "", query: {}, headers: {}, body }).messages.slice(1);
    const parts = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
    const bare = (list: readonly Part[]) =>
      list.map((part) => ({ ...part, ...(part.type === "text" ? { state: undefined } : { json: undefined }) }));
    expect(bare(parts)).toEqual(bare(content));
  });
});

test("losses.json lists nothing that is not checked", () => {
  const known = new Set([...Object.keys(requestFeatures), ...Object.keys(eventFeatures("gemini"))]);
  expect(losses.filter(({ field, event }) => !known.has(field ?? event ?? ""))).toEqual([]);
});

describe("a new call never gets the id of an earlier one", () => {
  test.each(named)("%s", (_, wire) => {
    const called = { type: "tool-call", name: "f", arguments: {} } as const;
    const messages: Request["messages"] = ["call_0", "call_1"].flatMap((id): Request["messages"] => [
      { role: "assistant", content: [{ ...called, id }] },
      { role: "tool", id, name: "f", output: "ok" },
    ]);
    const { context } = wire.encodeRequest({ model: "m", stream: "sse", messages: [{ role: "user", content: [] }, ...messages] });
    const said: Event[] = ["call_1", "call_5", ""].flatMap((id, index): Event[] => [
      { type: "tool-start", id, index, name: "f" },
      { type: "tool-end", id, index, name: "f", arguments: {}, json: "{}" },
    ]);
    const encoder = wire.createStreamEncoder({ model: "m", stream: "sse", messages: [] });
    const stream =
      said.map((event) => encoder.encode(event)).join("") + encoder.encode({ type: "finish", reason: "tool-calls" }) + encoder.end();
    const decoder = wire.createStreamDecoder(context);
    const ids = [...decoder.feed(stream), ...decoder.flush()].flatMap((event) => (event.type === "tool-end" ? [event.id] : []));
    expect(ids).toHaveLength(3);
    expect(new Set([...ids, "call_0", "call_1"]).size).toBe(5);
  });
});
