/** JSON, and what models make of it: single quotes, bare keys, comments, trailing commas, raw control characters, invalid escapes. */
import { jsonScalar } from "./json.ts";
import { BEHIND, closing, inString } from "./json-string.ts";
import type { Reader, Syntax } from "./reader.ts";
import { charTable, charTableExcept, ESCAPED, Marks } from "./window.ts";

const QUOTES = new Marks(['"', "'"]);
const LINE_END = new Marks(["\n", "\r"]);
const BLOCK_END = new Marks(["*/"]);
const STRING_STOPS = charTable(`'${ESCAPED}`);
export const WORD_END = charTableExcept("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._$");

export const JSON_SYNTAX: Syntax = {
  quotes: QUOTES,
  plainEnd: STRING_STOPS,
  special: inString,
  closing: (reader) => closing(reader, BEHIND),
  spaces: true,
  comments,
  keyEnd: WORD_END,
  bareEnd: WORD_END,
  wide: true,
  bare: jsonScalar,
};

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
    const next = r.text.charCodeAt(r.pos + 1);
    if (next !== 47 && next !== 42) return code;
    r.pos += 2;
    r.comment = next === 47 ? LINE_END : BLOCK_END;
  }
}
