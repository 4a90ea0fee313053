// What is remembered about models, by names that clients choose.
import { expect, test } from "vitest";
import { Remembered } from "../../src/engines/remembered.ts";

test("names that no model has are not remembered: a client could fill the memory with them", () => {
  const known = new Remembered<number>();
  const long = "m".repeat(1_000_000);
  known.set(long, 1);
  known.set("m", 2);
  expect([known.get(long), known.get("m")]).toEqual([undefined, 2]);
});

test("many names displace the earlier ones", () => {
  const known = new Remembered<number>();
  for (let i = 0; i <= 1000; i++) known.set(`m${i}`, i);
  expect([known.get("m0"), known.get("m1000")]).toEqual([undefined, 1000]);
});
