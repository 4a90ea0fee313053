// Whatever a server sends or a client asks, no wire throws anything but a BadRequest, and every answer has one finish, last.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BadRequest } from "../../src/core/errors.ts";
import type { Event } from "../../src/core/nouns.ts";
import { getWire, listWires } from "../../src/wires/registry.ts";
import type { Wire } from "../../src/wires/wire.ts";
import { eventFeatures, request, requestFeatures } from "./generate.ts";

const wires = listWires().map((wire) => [wire.id, wire] as const);

/** Replaces values at random places of a real body. */
function spoiled(value: unknown, numbers: Iterator<number>): unknown {
  const next = () => numbers.next().value as number;
  if (next() % 12 === 0) return [null, 0, -1.5, "", "x", [], {}, true, [null], { type: "x" }][next() % 10];
  if (Array.isArray(value)) return value.map((item) => spoiled(item, numbers));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [next() % 20 === 0 ? `${key}_` : key, spoiled(item, numbers)]));
}

function decoded(wire: Wire, text: string): Event[] {
  const decoder = wire.createStreamDecoder();
  return [...decoder.feed(text), ...decoder.flush()];
}

function expectOneFinish(events: Event[]): void {
  expect(events.filter(({ type }) => type === "finish")).toHaveLength(1);
  expect(events.at(-1)?.type).toBe("finish");
  expect(events.filter(({ type }) => type === "thinking-start")).toHaveLength(events.filter(({ type }) => type === "thinking-end").length);
}

const numbers = fc.infiniteStream(fc.nat());

describe.each(wires)("%s", (id, wire) => {
  const asked = { model: "m", messages: [], stream: id === "ollama" ? ("ndjson" as const) : ("sse" as const) };
  const streams = Object.values(eventFeatures(id)).map((events) => {
    const encoder = wire.createStreamEncoder(asked);
    return events.map((event) => encoder.encode(event)).join("") + encoder.end();
  });

  test("any request is decoded or refused", () => {
    fc.assert(
      fc.property(request, fc.subarray(Object.values(requestFeatures), { maxLength: 4 }), numbers, (given, features, numbers) => {
        const changed = features.reduce((so, change) => (so.tools ? change(so, id) : so), given);
        const { path, headers, body } = wire.encodeRequest(changed);
        try {
          wire.decodeRequest({ path: path.split("?")[0]!, query: {}, headers, body: spoiled(JSON.parse(JSON.stringify(body)), numbers) });
        } catch (error) {
          expect(error).toBeInstanceOf(BadRequest);
        }
      }),
    );
  });
  test("a text file whose data is not base64 can be written", () => {
    const file = { type: "media", mediaType: "text/plain", data: "%%%", name: "a.txt" } as const;
    const { body } = wire.encodeRequest({ model: "m", messages: [{ role: "user", content: [file] }] });
    expect(JSON.stringify(body)).toMatch(/"[^"]*%%%"|\[text\/plain a\.txt\]/);
  });
  test("any request can be encoded", () => {
    fc.assert(
      fc.property(request, numbers, fc.subarray(Object.values(requestFeatures), { maxLength: 4 }), (given, _, features) => {
        const changed = features.reduce((so, change) => (so.tools ? change(so, id) : so), given);
        for (const profile of [
          {},
          { official: true },
          { jsonSchema: false, customTools: false, systemAnywhere: false, developerRole: false },
        ]) {
          expect(wire.encodeRequest(changed, profile).body).toBeTypeOf("object");
        }
      }),
    );
  });
  test("a model whose name is not valid Unicode can be asked for", () => {
    expect(wire.encodeRequest({ model: "m\ud800", messages: [] }).path).toBeTypeOf("string");
  });
  test("any text is read as an answer, even if a failed one", () => {
    const parts = fc.constantFrom(
      "data: ",
      "event: ",
      "\n",
      "\n\n",
      "\r\n",
      "{",
      "}",
      "[",
      "]",
      '"',
      ":",
      ",",
      "null",
      "[DONE]",
      "error",
      "x",
      "\ufeff",
    );
    fc.assert(
      fc.property(
        fc.array(parts).map((list) => list.join("")),
        (text) => expectOneFinish(decoded(wire, text)),
      ),
    );
  });
  test("any corrupted stream is read as an answer", () => {
    fc.assert(
      fc.property(fc.constantFrom(...streams), numbers, (stream, numbers) => {
        const lines = stream.split("\n").map((line) => {
          const at = line.indexOf("{");
          return at < 0 ? line : line.slice(0, at) + JSON.stringify(spoiled(JSON.parse(line.slice(at)), numbers));
        });
        expectOneFinish(decoded(wire, lines.join("\n")));
      }),
      { numRuns: 300 },
    );
  });
  test("any corrupted body is read as an answer or an error", () => {
    const response = {
      content: [{ type: "text" as const, text: "x" }],
      usage: { inputTokens: 1, outputTokens: 2 },
      finish: { reason: "stop" as const },
    };
    const body = JSON.parse(JSON.stringify(getWire(id).encodeResponse(response, asked)));
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          numbers.map((numbers) => spoiled(body, numbers)),
        ),
        (body) => {
          expect(wire.decodeResponse(body).finish).toBeDefined();
          expect(wire.decodeError(500, {}, body).message).toBeTypeOf("string");
          expect(wire.decodeModels(body)).toBeInstanceOf(Array);
        },
      ),
    );
  });
  test("a stream cut anywhere never gives an incomplete call as complete", () => {
    for (const stream of streams) {
      const whole = decoded(wire, stream).flatMap((event) => (event.type === "tool-end" && !event.truncated ? [event.json] : []));
      for (let at = 0; at < stream.length; at += 3) {
        const events = decoded(wire, stream.slice(0, at));
        expectOneFinish(events);
        for (const event of events) if (event.type === "tool-end" && !event.truncated) expect(whole).toContain(event.json);
      }
    }
  });
});
