import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calculate } from "../../../src/cli/chat/calculate.ts";

test.each([
  ["17 * (3 + 4)", 119],
  ["2 + 3 * 4", 14],
  ["10 - 2 - 3", 5],
  ["2^3^2", 512],
  ["2 ** 10", 1024],
  ["-2^2", -4],
  ["2^-1", 0.5],
  ["- -3", 3],
  ["7 % 4", 3],
  ["7 % -3", 1],
  ["-7 % (4)", -3],
  ["50% - 3", -2.5],
  ["50 % - 3", -2.5],
  ["15% of 80", 12],
  ["50%", 0.5],
  ["100 + 10%", 100.1],
  ["0.1 + 0.2", 0.3],
  ["1e3 / 4", 250],
  [".5 × 4 ÷ 2 − 1", 0],
  ["sqrt(16) + abs(-2)", 6],
  ["max(1, 2, 3) - min(4, 5)", -1],
  ["2(3 + 4)", 14],
  ["2 pi", 6.28318530717959],
  ["5!", 120],
  ["12345678 * 123456789", 1524157763907942],
  ["2^53 - 1", Number.MAX_SAFE_INTEGER],
  ["12 * 12 =", 144],
  ["Round(2.5)", 3],
])("%s is %d", (expression, value) => {
  expect(calculate(expression)).toBe(value);
});

test.each([
  ["", "the end"],
  ["2 +", "the end"],
  ["(2 + 3", ") is missing"],
  ["2 3", "did not expect 3"],
  ["1 / 0", "division by zero"],
  ["sqrt(-1)", "not a real number"],
  ["sqrt(4, 9)", "sqrt takes one number, not 2"],
  ["process.exit()", 'cannot read ".exit()"'],
  ["process(1)", "process is neither"],
  ["constructor", "constructor is neither"],
  ["2 $ 3", 'cannot read "$ 3"'],
  ["(-1)!", "factorial"],
  ["1".repeat(1001), "longer than"],
])("%s is refused", (expression, why) => {
  expect(() => calculate(expression)).toThrow(why);
});

describe("for any input", () => {
  test("it agrees with JavaScript where both can read it", () => {
    const number = fc.integer({ min: 0, max: 99 }).map(String);
    const expression = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        number,
        fc.tuple(tie("value"), fc.constantFrom("+", "-", "*", "/"), tie("value")).map(([a, sign, b]) => `(${a} ${sign} ${b})`),
      ),
    })).value;
    fc.assert(
      fc.property(expression, (text) => {
        const expected = Number(new Function(`return ${text}`)());
        if (Number.isFinite(expected)) expect(calculate(text)).toBeCloseTo(expected, 6);
        else expect(() => calculate(text)).toThrow();
      }),
    );
  });

  test("it ends with a number or an error", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."0123456789.+-*/^%()!, epiofsqrt") }), (text) => {
        try {
          expect(Number.isFinite(calculate(text))).toBe(true);
        } catch (error) {
          expect((error as Error).name).toMatch(/^(Error|AssertionError)$/);
        }
      }),
    );
  });
});
