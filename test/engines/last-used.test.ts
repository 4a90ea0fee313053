import { expect, test } from "vitest";
import { LastUsed } from "../../src/engines/last-used.ts";

test("the least recently used values are dropped first", () => {
  const cache = new LastUsed<string>(4);
  cache.set("a", "1", 2);
  cache.set("b", "2", 2);
  cache.get("a");
  cache.set("c", "3", 2);
  expect(["a", "b", "c"].map((key) => cache.get(key))).toEqual(["1", undefined, "3"]);
});

test("a value that is too large drops the one it replaces, and no other", () => {
  const cache = new LastUsed<string>(4);
  cache.set("a", "old", 1);
  cache.set("b", "2", 1);
  cache.set("a", "new", 5);
  expect(["a", "b"].map((key) => cache.get(key))).toEqual([undefined, "2"]);
});
