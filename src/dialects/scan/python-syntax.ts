/** Python's literals as a `Syntax`: prefixes and kinds of quotes, escapes, tuples, sets, numbers in other bases. */
import { escapeJson, jsonScalar } from "../../core/json.ts";
import { closing as closingQuote } from "../../core/json-string.ts";
import { WORD_END } from "../../core/json-syntax.ts";
import type { Outcome, Reader, Syntax } from "../../core/reader.ts";
import { charTable, ESCAPED, Marks } from "../../core/window.ts";

const QUOTES = ["'", '"', "'''", '"""'];
const STRING_STOPS = charTable(`'{}${ESCAPED}`);

export const PYTHON = {
  quotes: new Marks(["", "f", "r"].flatMap((prefix) => QUOTES.map((quote) => prefix + quote))),
  plainEnd: STRING_STOPS,
  special,
  closing: (r) => closingQuote(r, r.inKey ? ",}]:)=" : ",}]:)", quoteOf(r)),
  keyEnd: WORD_END,
  bareEnd: WORD_END,
  wide: false,
  bare: (text) => jsonScalar(text) ?? (text.length <= MAX_DIGITS && OTHER_BASE.test(text) ? String(BigInt(text)) : undefined),
  tuples: true,
} satisfies Syntax;
/** The longest number in another base: to print one in decimal takes more than linear time, seconds for millions of digits. */
const MAX_DIGITS = 4096;
const OTHER_BASE = /^0(?:x[\da-f]+|o[0-7]+|b[01]+)$/i;

export const FIELD = "an f-string has a field";

/** The quote that closes the string: a prefix such as `r` is no part of it. */
const quoteOf = ({ quote }: Reader): string => (quote.charCodeAt(0) > 96 ? quote.slice(1) : quote);

function special(r: Reader, code: number): Outcome | undefined | boolean {
  const kind = r.quote.charCodeAt(0);
  const quote = quoteOf(r);
  if (code === 92) return readEscape(r, kind === 114);
  const { pos, stop } = r;
  if (code === quote.charCodeAt(0)) {
    const ahead = r.slice(pos, Math.min(pos + quote.length, stop));
    if (ahead.length < quote.length && quote.startsWith(ahead) && !r.last) return undefined;
    if (ahead === quote) {
      r.pos += quote.length;
      r.tail = "";
      return true;
    }
  }
  if (code > 122 && kind === 102) {
    // A brace in an f-string: two stand for one, a single one begins a field.
    if (pos + 1 >= stop) return r.cut();
    if (r.text.charCodeAt(pos + 1) !== code) return r.bad(FIELD);
    r.pos++;
  }
  return false;
}

const LETTERS = "abfnrtv\\'\"\n";
const LETTERS_MEAN = "\x07\b\f\n\r\t\v\\'\"";
const X = "[0-9a-fA-F]";
const NUMBER = new RegExp(`^\\\\(?:x${X}{2}|u${X}{4}|U${X}{8}|[0-7]{1,3})`);
const HALF_NUMBER = new RegExp(`^\\\\(?:x${X}?|u${X}{0,3}|U${X}{0,7}|[0-7]{0,2})$`);

/** An escape that Python does not know keeps its backslash, as all do in a raw string. */
function readEscape(r: Reader, raw: boolean): Outcome | undefined | true {
  const { pos, stop } = r;
  const ahead = r.slice(pos, Math.min(pos + 10, stop));
  const number = raw ? "" : (NUMBER.exec(ahead)?.[0] ?? "");
  if (raw ? ahead.length < 2 : HALF_NUMBER.test(ahead) && !(r.last && number)) return r.cut();
  const letter = LETTERS.indexOf(ahead.charAt(1));
  const digits = number.replace(/^\\[xuU]?/, "");
  const code = Number.parseInt(digits, number.length - digits.length > 1 ? 16 : 8);
  if (code < 0x110000) {
    r.pos += number.length;
    r.say(escapeJson(String.fromCodePoint(code)));
  } else {
    r.pos += letter < 0 ? 1 : 2;
    r.say(escapeJson(letter < 0 ? "\\" : raw ? ahead.slice(0, 2) : LETTERS_MEAN.charAt(letter)));
  }
  return true;
}
