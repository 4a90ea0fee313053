// Which of an upstream's URLs is used next.
import { expect, test } from "vitest";
import { Places } from "../../../src/engines/http/places.ts";

const at = (names: readonly string[]) => {
  const clock = { now: 0 };
  const places = new Places(names, () => clock.now);
  const place = (name: string) => places.list.find(({ base }) => base === name)!;
  return { clock, places, place, order: () => places.inOrder().map(({ base }) => base) };
};

test("URLs take turns", () => {
  const { order } = at(["a", "b", "c"]);
  expect([order()[0], order()[0], order()[0], order()[0]]).toEqual(["a", "b", "c", "a"]);
});

test("the least busy URL is first", () => {
  const { place, order } = at(["a", "b", "c"]);
  place("a").busy = 2;
  place("b").busy = 1;
  expect(order()).toEqual(["c", "b", "a"]);
});

test("a URL that failed is skipped, longer with each failure, and returns once it works", () => {
  const { clock, place, order } = at(["a", "b"]);
  place("a").failed(clock.now);
  expect(order()).toEqual(["b", "a"]);
  clock.now = 1001;
  expect(order()).toContain("a");
  expect(place("a").rests(clock.now)).toBe(false);
  place("a").failed(clock.now);
  clock.now += 1500;
  expect(place("a").rests(clock.now)).toBe(true);
  clock.now += 1000;
  expect(place("a").rests(clock.now)).toBe(false);
  place("a").worked();
  place("a").failed(clock.now);
  expect(place("a").rests(clock.now + 1001)).toBe(false);
});

test("it is skipped as long as the server asks, up to a limit", () => {
  const { clock, place } = at(["a"]);
  place("a").failed(clock.now, 7000);
  expect([place("a").rests(6999), place("a").rests(7001)]).toEqual([true, false]);
  place("a").failed(clock.now, 86_400_000);
  expect(place("a").rests(30_001)).toBe(false);
});

test("if all are skipped, the one whose time ends first is tried", () => {
  const { clock, place, order } = at(["a", "b"]);
  place("a").failed(clock.now, 9000);
  place("b").failed(clock.now, 3000);
  expect(order()).toEqual(["b", "a"]);
});
