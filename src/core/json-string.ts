/** JSON strings as models write them: an unescaped quote closes one only if what follows it may follow a string; otherwise it is content. */
import { escapeJson } from "./json.ts";
import type { Outcome, Reader } from "./reader.ts";

/** The characters that may follow a string. */
export const BEHIND = ",}]:";
const isBehind = (code: number | undefined): boolean => code === 44 || code === 58 || code === 93 || code === 125;
const HEX = /^[0-9a-fA-F]*$/;

export function inString(r: Reader, code: number): Outcome | undefined | boolean {
  if (code === 92) {
    const json = readEscape(r);
    if (json === undefined) return r.cut();
    r.say(json);
    return true;
  }
  if (code !== r.quote.charCodeAt(0)) return false;
  r.pos++;
  if (r.pos < r.stop && isBehind(r.text.charCodeAt(r.pos))) return r.closeString();
  r.tail = "";
  return true;
}

/** After a quote: it closes a key always, any other string only before one of these characters, a mark or the end; otherwise it is content. */
export function closing(r: Reader, before: string, quote = r.quote): undefined | true {
  const code = r.blanks();
  if (r.from < r.pos) r.tail += r.run;
  if (code === undefined) return undefined;
  let closes = r.inKey || code === -1 || before.includes(String.fromCharCode(code));
  if (!closes && code < 128 && r.marks.leads[code] === 1) {
    const mark = r.match(r.marks);
    if (mark === undefined) return undefined;
    closes = mark !== "";
  }
  const tail = r.tail ?? "";
  r.tail = undefined;
  if (closes) {
    r.closeString();
    if (tail !== "") r.space(tail);
  } else {
    r.mended = true;
    r.say(escapeJson(quote + tail));
  }
  return true;
}

/** The next escape: a valid one as written, an invalid one without its backslash. Single quotes are Python's or JavaScript's, which know `\x1b`. */
function readEscape(r: Reader): string | undefined {
  const { pos, stop } = r;
  if (pos + 1 >= stop) return undefined;
  const char = r.slice(pos + 1, pos + 2);
  const digits = char === "u" ? 4 : char === "x" && r.quote === "'" ? 2 : 0;
  if (digits > 0) {
    const hex = r.slice(pos + 2, Math.min(pos + 2 + digits, stop));
    if (HEX.test(hex)) {
      if (hex.length < digits) return undefined;
      r.pos += 2 + digits;
      return `\\u${hex.padStart(4, "0")}`;
    }
  }
  if (char > "\x7f") {
    r.pos++; // what follows stands for itself, and half a surrogate pair must not be read alone
    return "";
  }
  r.pos += 2;
  return '"\\/bfnrt'.includes(char) ? `\\${char}` : escapeJson(char);
}
