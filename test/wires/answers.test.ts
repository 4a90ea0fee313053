// Answers that are read or written in rare orders: what comes late, twice, damaged or in very many pieces.
import { expect, test } from "vitest";
import type { Event, Request, WireId } from "../../src/core/nouns.ts";
import { getWire } from "../../src/wires/registry.ts";

const request: Request = { model: "m", messages: [], stream: "sse" };

const written = (wire: WireId, events: readonly Event[]): string => {
  const encoder = getWire(wire).createStreamEncoder(request);
  return events.map((event) => encoder.encode(event)).join("") + encoder.end();
};

test("anthropic: whatever follows a call that was cut, there is one error, and nothing after it", () => {
  const stream = written("anthropic", [
    { type: "start", id: "m" },
    { type: "tool-start", id: "a", index: 0, name: "f" },
    { type: "tool-delta", id: "a", json: '{"x":"hal' },
    { type: "tool-end", id: "a", index: 0, name: "f", arguments: {}, truncated: true },
    { type: "text", text: "More" },
    { type: "text", text: " and more" },
    { type: "finish", reason: "length" },
  ]);
  expect(stream.match(/^event: error$/gm)).toHaveLength(1);
});
