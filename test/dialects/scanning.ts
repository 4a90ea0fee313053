// Helpers of the scanner tests: cutting texts, and printing events.
import { expect } from "vitest";
import type { Event } from "../../src/core/nouns.ts";
import type { Dialect, ScannerOptions } from "../../src/dialects/dialect.ts";
import { merged } from "../events.ts";

export function scanPieces(dialect: Dialect, pieces: Iterable<string>, options: ScannerOptions = {}): Event[] {
  const scanner = dialect.createScanner(options);
  const events = [...pieces].flatMap((piece) => scanner.feed(piece));
  return merged([...events, ...scanner.flush()]);
}

/** All input that the events carry. */
export const carried = (events: readonly Event[]): string =>
  events.map((event) => ("text" in event ? event.text : "raw" in event ? (event.raw ?? "") : "")).join("");

export const textOf = (events: readonly Event[]): string => events.map((event) => (event.type === "text" ? event.text : "")).join("");

export const thinkingOf = (events: readonly Event[]): string =>
  events.map((event) => (event.type === "thinking-delta" ? event.text : "")).join("");

export const endsOf = (events: readonly Event[]) => events.filter((event) => event.type === "tool-end");

/** The text cut at these positions, taken modulo its length. */
export function cutAt(text: string, positions: readonly number[]): string[] {
  const cuts = [...new Set(positions.map((position) => position % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...cuts].map((from, i) => text.slice(from, cuts[i] ?? text.length));
}

/** UTF-16 unit by unit. */
export const units = (text: string): string[] => text.split("");

/** A small deterministic source of numbers, for cuts in tests that read data. */
export function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state >>> 8;
  }
}

/** Pieces of one to seven units, another cut for each seed. */
export function randomPieces(text: string, seed: number): string[] {
  const pieces: string[] = [];
  let at = 0;
  for (const number of numbers(seed)) {
    if (at >= text.length) break;
    const length = 1 + (number % 7);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

/** `text Hello`, `call f{"a":1}`, `cut f{}`, `malformed bad-arguments`, `control ;`: one line per event, the same however the input is cut. */
export function lines(dialect: Dialect, input: string, options?: ScannerOptions): string[] {
  return cutAnyhow(dialect, input, options).flatMap(lineOf);
}

/** The events of an input; checks that they are the same for the input whole, unit by unit and in random pieces, and carry all of it. */
export function cutAnyhow(dialect: Dialect, input: string, options?: ScannerOptions): Event[] {
  const events = scanPieces(dialect, [input], options);
  for (const pieces of [units(input), randomPieces(input, 1), randomPieces(input, 2)])
    expect(scanPieces(dialect, pieces, options)).toEqual(events);
  expect(carried(events)).toBe(input);
  return events;
}

function lineOf(event: Event): string | [] {
  if (event.type === "text") return `text ${event.text}`;
  if (event.type === "thinking-delta") return `thinking ${event.text}`;
  if (event.type === "tool-end") return `${event.truncated ? "cut" : "call"} ${event.name}${JSON.stringify(event.arguments)}`;
  if (event.type === "malformed") return `malformed ${event.code}`;
  return event.type === "control" ? `control ${event.raw}` : [];
}
