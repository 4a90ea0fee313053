/**
 * The integers of a range, digit by digit:
 *
 *     0 to 255: [0-9]{1} | [1-9] [0-9]{1,1} | ([1] [0-9]{2} | [2] ([0-4] [0-9]{1} | [5] [0-5]))
 */
import { row } from "./gbnf.ts";

/** Limited, because a weak model may write digits forever. */
const MAX_DIGITS = 32;

/** Alternatives, by the number of digits; either end may be infinite. */
export function integers(first: number, last: number): string[] {
  if (first < 0) {
    const below = integers(Math.max(1, -last), -first).map((digits) => row('"-"', digits));
    return last < 0 ? below : [...integers(0, last), ...below];
  }
  const low = String(first);
  const high = last === Infinity ? "" : String(last);
  if (low.length === high.length) return [between(low, high)];
  const [least, most] = [low.length, (high.length || MAX_DIGITS + 1) - 2];
  return [
    between(low, "9".repeat(least)),
    ...(least <= most ? [`[1-9] [0-9]{${least},${most}}`] : []),
    ...(high ? [between(`1${"0".repeat(most + 1)}`, high)] : []),
  ];
}

/** The numbers from one to another of as many digits: the first digits with what may follow them; an atom. */
function between(low: string, high: string): string {
  if (/^0*-9*$/.test(`${low}-${high}`)) return low && `[0-9]{${low.length}}`;
  const [from, to] = [low.slice(1), high.slice(1)];
  const digits = new Map<string, string>();
  for (const digit of "0123456789".slice(Number(low[0]), Number(high[0]) + 1)) {
    const rest = between(digit === low[0] ? from : from.replace(/./g, "0"), digit === high[0] ? to : to.replace(/./g, "9"));
    digits.set(rest, (digits.get(rest) ?? "") + digit);
  }
  const ways = Array.from(digits, ([rest, some]) => row(`[${some.replace(/(?<=^.).*(?=.$)/, "-")}]`, rest));
  return ways.length > 1 ? `(${ways.join(" | ")})` : ways.join("");
}
