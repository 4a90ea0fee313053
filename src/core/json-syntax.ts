/** JSON, and what models make of it: single quotes, bare keys, comments, trailing commas, raw control characters, invalid escapes. */
import { escapeJson, jsonScalar } from "./json.ts";
import type { Outcome, Reader, Syntax } from "./reader.ts";
import { charTable, charTableExcept, ESCAPED, Marks } from "./window.ts";

const QUOTES = new Marks(['"', "'"]);
const LINE_END = new Marks(["\n", "\r"]);
const BLOCK_END = new Marks(["*/"]);
const STRING_STOPS = charTable(`'${ESCAPED}`);
export const WORD_END = charTableExcept("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._$");
/** What may stand behind a string. */
const BEHIND = ",}]:";
const isBehind = (code: number | undefined): boolean => code === 44 || code === 58 || code === 93 || code === 125;
const HEX = /^[0-9a-fA-F]*$/;

export const JSON_SYNTAX: Syntax = {
  quotes: QUOTES,
  plainEnd: STRING_STOPS,
  special: (reader, code) => (reader.tail === undefined ? inString(reader, code) : closing(reader, BEHIND)),
  spaces: true,
  comments,
  keyEnd: WORD_END,
  bareEnd: WORD_END,
  wide: true,
  bare: jsonScalar,
};

export function inString(r: Reader, code: number): Outcome | undefined | true {
  if (code === 92) {
    const json = readEscape(r);
    if (json === undefined) return r.cut();
    r.say(json);
    return true;
  }
  const char = String.fromCharCode(code);
  r.pos++;
  if (char !== r.quote) r.say(escapeJson(char));
  else if (r.pos < r.stop && isBehind(r.codes[r.pos])) r.closeString();
  else r.tail = "";
  return true;
}

/** Behind a quote: it closes a key, and any other string only before one of these, a mark, or the end; elsewhere it is content. */
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
  } else r.say(escapeJson(quote + tail));
  return true;
}

/** Valid escapes stay as they are written; of an invalid one the backslash is dropped. */
function readEscape(r: Reader): string | undefined {
  const { pos, stop } = r;
  if (pos + 1 >= stop) return undefined;
  const char = r.slice(pos + 1, pos + 2);
  if (char === "u") {
    const hex = r.slice(pos + 2, Math.min(pos + 6, stop));
    if (HEX.test(hex)) {
      if (hex.length < 4) return undefined;
      r.pos += 6;
      return `\\u${hex}`;
    }
  }
  r.pos += 2;
  return '"\\/bfnrt'.includes(char) ? `\\${char}` : escapeJson(char);
}

function comments(r: Reader): number | undefined {
  for (;;) {
    if (r.comment) {
      const mark = r.until(r.comment);
      if (mark === undefined) return undefined;
      r.pos += mark.length;
      r.comment = undefined;
    }
    const code = r.blanks();
    if (r.from < r.pos) r.space(r.run);
    if (code !== 47) return code;
    if (r.pos + 1 >= r.stop) return r.last ? code : undefined;
    const next = r.codes[r.pos + 1];
    if (next !== 47 && next !== 42) return code;
    r.pos += 2;
    r.comment = next === 47 ? LINE_END : BLOCK_END;
  }
}
