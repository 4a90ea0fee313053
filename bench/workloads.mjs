// The workloads. Each is rendered by the dialect's own renderers and knows which events are right.
import { isDeepStrictEqual } from "node:util";

const KB = 1024;
const MB = 1024 * KB;

/** A small deterministic random number generator. */
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % below;
  };
}

const WORDS =
  "the a of to in is it that for was on are as with they at be this from have or by one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more her two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know".split(
    " ",
  );

/** Lines of prose, like a model's. */
function prose(length, seed = 1) {
  const next = numbers(seed);
  let text = "";
  let line = 0;
  while (text.length < length) {
    const word = WORDS[next(WORDS.length)];
    const end = next(12) === 0 ? (next(3) === 0 ? ". " : ", ") : " ";
    text += word + end;
    line += word.length + end.length;
    if (line > 70 + next(60)) {
      text += next(4) === 0 ? "\n\n" : "\n";
      line = 0;
    }
  }
  return text.slice(0, length);
}

const CITIES = ["Paris", "Oslo", "New York", "São Paulo", "Ulaanbaatar", "Rome"];

export const TOOLS = [
  {
    name: "get_weather",
    description: "Current weather",
    parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } },
  },
  {
    name: "write_file",
    description: "Writes a file",
    parameters: { type: "object", properties: { path: { type: "string" }, content: { type: "string" } } },
  },
];

const shortCall = (_, i) => ({ name: "get_weather", arguments: { city: CITIES[i % CITIES.length], days: i % 14 } });
const longCall = (length) => ({ name: "write_file", arguments: { path: "notes/today.txt", content: prose(length, 2) } });

/** Beginnings of the dialect's marks, never completed, at the beginning of lines and elsewhere. */
function partials(marks, length) {
  const beginnings = marks.flatMap((mark) => Array.from(mark, (_, i) => mark.slice(0, i)));
  const usable = ["<", ...beginnings.filter((text) => text !== "" && !marks.some((mark) => text.includes(mark)))];
  const next = numbers(3);
  const parts = [];
  let tail = "";
  for (let written = 0; written < length; ) {
    const part = usable[next(usable.length)] + ["", " ", "x", "\n"][next(4)];
    const joined = tail + part;
    if (marks.some((mark) => joined.includes(mark))) continue;
    parts.push(part);
    written += part.length;
    tail = joined.slice(-64);
  }
  return `${parts.join("")} .`;
}

/**
 * Compares a scanner's events with the expected ones as they come. It keeps none of them: once V8 has seen events survive, it allocates all
 * later ones in the old generation, and the scanner is measured at half its speed.
 */
class Check {
  #text;
  #calls;
  #at = 0;
  #count = 0;
  #wrong = false;

  constructor(text, calls) {
    this.#text = text;
    this.#calls = calls;
  }
  text(piece) {
    if (this.#text === "" && piece.trim() === "") return; // some peers emit the newline between two calls
    this.#wrong ||= !this.#text.startsWith(piece, this.#at);
    this.#at += piece.length;
  }
  call(name, args) {
    const wanted = this.#calls[this.#count++];
    this.#wrong ||= name !== wanted?.name || !isDeepStrictEqual(args, wanted.arguments);
  }
  get right() {
    return !this.#wrong && this.#at === this.#text.length && this.#count === this.#calls.length;
  }
}

const argument = (label, length) => ({
  id: `argument-${length}`,
  label,
  length,
  make: ({ render }) => ({ text: render([longCall(length)]), check: new Check("", [longCall(length)]) }),
});

/** `limit` is the highest ratio that the project allows itself. */
export const WORKLOADS = [
  {
    id: "plain",
    label: "plain 1 MB",
    limit: ({ sentinel }) => (sentinel ? 1.5 : 2.5),
    make: () => ({ text: prose(MB), check: new Check(prose(MB), []) }),
  },
  {
    id: "calls",
    label: "2,000 calls",
    limit: () => 4,
    make: ({ render }) => {
      const calls = Array.from({ length: 2000 }, shortCall);
      return { text: render(calls), check: new Check("", calls) };
    },
  },
  argument("64 KB", 64 * KB),
  argument("256 KB", 256 * KB),
  { ...argument("1 MB argument", MB), limit: () => 5 },
  {
    id: "partials",
    label: "partial marks",
    limit: () => 8,
    make: ({ marks }) => {
      const text = partials(marks, MB);
      return { text, check: new Check(text, []) };
    },
  },
];

export const GROWTH_LIMIT = 1.25;

/** The exponent e of time ~ length^e, fitted over the lengths that were measured. */
export function growth(points) {
  if (points.length < 2) return undefined;
  const logs = points.map(({ length, ms }) => [Math.log(length), Math.log(ms)]);
  const mean = (at) => logs.reduce((sum, pair) => sum + pair[at], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const above = logs.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0);
  return above / logs.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
}
