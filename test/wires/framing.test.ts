import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ArrayReader } from "../../src/wires/json-array.ts";
import { LineReader } from "../../src/wires/ndjson.ts";
import { HEARTBEAT, SseReader, sseEvent } from "../../src/wires/sse.ts";

interface Reading<T> {
  feed(text: string): T[];
  flush(): T[];
}

function read<T>(reader: Reading<T>, pieces: readonly string[]): T[] {
  return [...pieces.flatMap((piece) => reader.feed(piece)), ...reader.flush()];
}

/** The text whole, character by character, and cut in two at every position. */
const cuts = (text: string): string[][] => [[text], [...text], ...Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)])];

const sse = (pieces: readonly string[]) => read(new SseReader(), pieces);

describe("server-sent events", () => {
  test.each([
    ["LF", "data: a\n\ndata: b\n\n"],
    ["CRLF", "data: a\r\n\r\ndata: b\r\n\r\n"],
    ["CR", "data: a\r\rdata: b\r\r"],
    ["all of them", "data: a\r\n\ndata: b\n\r"],
    ["comments", ": hello\n\ndata: a\n: more\n\n:\ndata: b\n\n"],
    ["no blank", "data:a\n\ndata:b\n\n"],
    ["no blank line at the end", "data: a\n\ndata: b\n"],
    ["no line end at the end", "data: a\n\ndata: b"],
    ["a byte order mark", "\ufeffdata: a\n\ndata: b\n\n"],
    ["other fields", "id: 1\nretry: 5\ndata: a\n\nwhat\ndata: b\n\n"],
  ])("%s", (_, text) => {
    for (const pieces of cuts(text)) {
      expect(sse(pieces)).toEqual([
        { event: "", data: "a" },
        { event: "", data: "b" },
      ]);
    }
  });
  test("event lines, several data lines, and an event without data", () => {
    const text = "event: x\ndata: 1\ndata:  2\n\nevent: lost\n\ndata: 3\n\n";
    for (const pieces of cuts(text)) {
      expect(sse(pieces)).toEqual([
        { event: "x", data: "1\n 2" },
        { event: "", data: "3" },
      ]);
    }
  });
  test("a bare JSON object is data, with the lines after it, and an error may be a field of its own", () => {
    const text = 'data: a\n\n{\n  "error": {\n    "code": 503\n  }\n}\n\nerror: {"code":500}\n\ndata: b\n\n';
    for (const pieces of cuts(text)) {
      expect(sse(pieces)).toEqual([
        { event: "", data: "a" },
        { event: "", data: '{\n  "error": {\n    "code": 503\n  }\n}' },
        { event: "error", data: '{"code":500}' },
        { event: "", data: "b" },
      ]);
    }
  });
  test("what is written is read back", () => {
    expect(sse([sseEvent("{}"), HEARTBEAT, sseEvent("[]", "ping")])).toEqual([
      { event: "", data: "{}" },
      { event: "ping", data: "[]" },
    ]);
  });
});

describe("lines", () => {
  test("only whole lines are read, however they are cut and however they end", () => {
    for (const pieces of cuts('\ufeff{"a":1}\r\n\n{"b":2}\n{"c":3}')) {
      expect(read(new LineReader(), pieces).map(({ data }) => data)).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
    }
  });
});

describe("a streamed array", () => {
  const elements = (pieces: readonly string[]) =>
    pieces.flatMap(
      (
        (reader) => (piece: string) =>
          reader.feed(piece)
      )(new ArrayReader()),
    );

  test("any elements are read, however they are cut", () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(fc.array(object), fc.array(fc.nat()), fc.boolean(), (objects, at, pretty) => {
        const text = JSON.stringify(objects, undefined, pretty ? 2 : undefined);
        const places = [0, ...at.map((place) => place % (text.length + 1)).toSorted((a, b) => a - b), text.length];
        const pieces = places.slice(1).map((place, i) => text.slice(places[i], place));
        expect(elements(pieces).map((element) => JSON.parse(element.data))).toEqual(JSON.parse(text));
      }),
    );
  });
  test("a single object is read, and one that was cut is not", () => {
    expect(elements(['{"error":', "{}}"])).toEqual([{ event: "", data: '{"error":{}}' }]);
    const reader = new ArrayReader();
    expect(reader.feed('[{"a":1},{"b"')).toEqual([{ event: "", data: '{"a":1}' }]);
    expect(reader.flush()).toEqual([{ event: "", data: '{"b"' }]);
  });
});
