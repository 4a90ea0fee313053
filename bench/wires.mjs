// The wires' streams: what it costs to decode and to encode one fragment of a call. A call arrives in 12,000 and in 120,000 fragments of
// one character; the cost per fragment must not grow. Gemini and Ollama send calls whole, so their bytes are cut into single characters
// instead.
import { getWire, listWires } from "../dist/wires/registry.js";
import { timed } from "./measure.mjs";

const [FEW, MANY] = [12_000, 120_000];
const ROUNDS = 7;
export const FRAGMENT_LIMIT = 1.3;

/** The events of a call whose arguments have `count` characters, one event each. */
function eventsOf(count) {
  const json = `{"content":"${"some text. ".repeat(count).slice(0, count - 14)}"}`;
  const call = { id: "call_1", index: 0, name: "write_file" };
  return [
    { type: "start", id: "answer_1", model: "m" },
    { type: "tool-start", ...call },
    ...Array.from(json, (char) => ({ type: "tool-delta", id: call.id, json: char })),
    { type: "tool-end", ...call, arguments: JSON.parse(json), json },
    { type: "finish", reason: "tool-calls" },
  ];
}

const request = (wire) => ({ model: "m", messages: [], stream: wire === "ollama" ? "ndjson" : "sse" });

/** Keeps nothing, as in a gateway: otherwise the list of 120,000 texts would be what is measured. */
function encode(wire, events, say) {
  const encoder = getWire(wire).createStreamEncoder(request(wire));
  for (const event of events) say(encoder.encode(event));
}

function encoded(wire, events) {
  const pieces = [];
  encode(wire, events, (text) => pieces.push(text));
  return pieces.filter(Boolean);
}

const forget = (text) => {
  globalThis.kept = text; // a global, so that V8 cannot optimize the work away
};

function decode(wire, pieces) {
  const decoder = getWire(wire).createStreamDecoder();
  let last = [];
  for (const piece of pieces) {
    const events = decoder.feed(piece);
    if (events.length > 0) last = events;
  }
  return [...last, ...decoder.flush()];
}

/** The stream in pieces: as the server sends it, or cut into characters. */
const piecesOf = (wire, events) => (wire === "gemini" || wire === "ollama" ? [...encoded(wire, events).join("")] : encoded(wire, events));

/** Nanoseconds per fragment for each input, measured in turns; the best round counts. */
function cost(work, inputs) {
  const best = inputs.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS + 2; round++) {
    for (const [i, { input, count }] of inputs.entries()) {
      const times = MANY / count;
      const ms = timed(() => {
        for (let n = 0; n < times; n++) globalThis.kept = work(input);
      });
      if (round > 1) best[i] = Math.min(best[i], (ms * 1e6) / (count * times));
    }
  }
  return best;
}

/** Returns the table, and what is over the limit. */
export function measureWires(progress) {
  const rows = [["", `decoded, ${FEW}`, MANY.toLocaleString("en"), "growth", `encoded, ${FEW}`, MANY.toLocaleString("en"), "growth"]];
  const over = [];
  for (const { id } of listWires()) {
    progress(`${id} …`);
    const given = [FEW, MANY].map((count) => ({ count, events: eventsOf(count) }));
    const cells = [];
    for (const [what, work, inputs] of [
      ["decoded", (pieces) => decode(id, pieces), given.map(({ count, events }) => ({ count, input: piecesOf(id, events) }))],
      ["encoded", (events) => encode(id, events, forget), given.map(({ count, events }) => ({ count, input: events }))],
    ]) {
      const [few, many] = cost(work, inputs);
      const growth = many / few;
      if (growth > FRAGMENT_LIMIT) over.push(`${id}, ${what}: ${growth.toFixed(2)}×, limit ${FRAGMENT_LIMIT}×`);
      cells.push(`${few.toFixed()} ns`, `${many.toFixed()} ns`, `${growth.toFixed(2)}×${growth > FRAGMENT_LIMIT ? " !" : ""}`);
    }
    const end = decode(id, piecesOf(id, given[0].events)).at(-1);
    if (end?.reason !== "tool-calls") over.push(`${id}: the call did not arrive`);
    rows.push([id, ...cells]);
  }
  return { rows, over };
}
