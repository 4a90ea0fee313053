// The spelling of numbers.
import { expect, test } from "vitest";
import { jsonNumber } from "../../src/core/json.ts";

test("a number as long as a call may be is read, and nothing overflows", () => {
  expect(jsonNumber(`1${"_1".repeat(4_000_000)}`)?.length).toBe(4_000_001);
});

test.each(["1__0", "1_", "_1", "1_.5", "1._5", "1.5_", "1e5_0", "1_e5", "._1", "."])("%s is no number", (text) => {
  expect(jsonNumber(text)).toBeUndefined();
});
