/**
 * Calls written as in Python, `[get_weather(city='Paris', days=2), get_time()]`, announced by marks or bare. Values are literals and are
 * transcoded to JSON while they arrive. A bare list may well be prose: its bytes wait until there are a name, a bracket, and a keyword or the
 * closing bracket; if something else comes they leave as text.
 */
import type { MalformedCode } from "../../core/nouns.ts";
import { MAX_NAME, type Syntax } from "../../core/reader.ts";
import { charTable, charTableExcept, isBlank, Marks } from "../../core/window.ts";
import { jsonCalls, release } from "./json-calls.ts";
import { elementOf } from "./json-places.ts";
import { FIELD, PYTHON } from "./python-syntax.ts";
import type { Scan, Step } from "./scan.ts";
import { broken, closing, cut, nameTooLong, readThen, speak, tooLong } from "./steps.ts";

const EXPRESSION = "the call is part of an expression";

export interface PythonSteps {
  /** After a mark that announces calls. */
  readonly announced: Step;
  /** The same for a mark that is plain text, as its closer is. */
  readonly tagged: Step;
  /** Like `tagged`, and `print(f())` stands for `f()`. */
  readonly printed: Step;
  /** The strings that may begin a bare list in text. */
  readonly bare: Readonly<Record<string, Step>>;
  /** At the beginning of the output. */
  readonly start: Step;
}

// What surrounds a call is a set of flags; the steps for each set are made once.

const BARE = 1;
/** The marks before and after the calls are plain text. */
const TAGGED = 2;
/** `print(f())` stands for `f()`; and the bracket of a `print` is open. */
const PRINTS = 4;
const IN_PRINT = 8;
/** This is meant as a call: if it cannot be read it is malformed. Otherwise it is text. */
const SURE = 16;
/** Only the name of a declared tool makes it a call. */
const STRICT = 32;
const LIST = 64;
/** A call came before. */
const CALLED = 128;

/** Begins a comment, up to the end of the line. */
const HASH = 35;
const NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
const NAME_START = charTable(NAME);
/** Names of tools may have a namespace, or be paths. */
const NAME_END = charTableExcept(`${NAME}.-:/`);
/** The last digit. Without a mark only a declared name may begin with one. */
const NINE = 57;

/** A call is complete if this many blanks follow it. */
const ALONE = 64;

/** `marks`: the dialect's own. In a call none of them can appear outside a string. */
export function pythonCalls(marks: readonly string[]): PythonSteps {
  const json = jsonCalls({ marks });
  const element = elementOf(json);
  const ends = new Marks(marks);
  const lineEnd = new Marks(["\n", "\r", ...marks]);
  const syntax: Syntax = {
    ...PYTHON,
    comments(r) {
      for (;;) {
        if (r.comment && r.until(r.comment) === undefined) return undefined;
        const code = r.blanks();
        r.comment = code === HASH ? lineEnd : undefined;
        if (code !== HASH) return code;
      }
    },
  };
  const brackets = new Marks([..."([{)]},\n'\"", ...marks]);
  const inQuotes = new Map([..."'\""].map((quote) => [quote, new Marks([quote, `\\${quote}`, "\\\\", "\n", ...marks])]));

  const made: Step[] = [];
  const next = (flags: number): Step => {
    made[flags] ??= steps(flags);
    return made[flags];
  };

  /** The steps for a set of flags. Answers with the first, which is taken before a call and after the last one. */
  function steps(flags: number): Step {
    const is = (flag: number): boolean => (flags & flag) !== 0;
    const sure = is(SURE);
    const flagsAfter = ((is(BARE) ? flags & ~SURE : flags | SURE) & ~STRICT) | CALLED;
    const onLimit = sure ? tooLong : release;
    const separators = `\n,]#${is(IN_PRINT) ? ")" : ""}`;

    const start: Step = (s) => {
      const code = s.blanks();
      if (code === undefined) return undefined;
      if (begins(code, sure) && (sure || code > NINE || s.tools.length > 0)) {
        s.word = "";
        s.bound(onLimit);
        return name;
      }
      if (code === 44 && is(CALLED)) {
        s.pos++;
        return next(flags | SURE);
      }
      if (code === 93 && (is(CALLED) || (is(LIST) && sure))) {
        s.pos++;
        s.unbound();
        s.control();
        return is(BARE) ? textStart : behindList;
      }
      if (code === HASH && is(SURE | CALLED)) return comment;
      if (code === 41 && is(IN_PRINT)) {
        s.pos++;
        return next(flags & ~IN_PRINT);
      }
      if (!sure && code !== -1) return release;
      if (code === 91 && !is(LIST)) {
        s.pos++;
        return next(flags | LIST);
      }
      if (code === 123 && !is(BARE)) return is(LIST) ? element : json.marked;
      const mark = markAt(s, s.pos);
      if (mark === undefined) return undefined;
      if (code === -1 ? is(CALLED) : mark) {
        s.unbound();
        s.control();
        return closing;
      }
      if (code === -1) return sure ? cut : release;
      return unreadable(s, "no-name", "a call was expected");
    };

    const comment: Step = (s) => (s.until(lineEnd) === undefined ? undefined : start);

    const name: Step = (s) => {
      const code = s.span(NAME_END, !sure);
      s.word += s.run;
      if (s.backTo(MAX_NAME)) return sure ? nameTooLong : release;
      if (code === undefined) return undefined;
      if (code === -1) return sure ? cut : release;
      if (code !== 40 || s.word.endsWith(".") || s.word.trim() === "") return unreadable(s, "no-name", "a call was expected");
      s.pos++;
      if (is(PRINTS) && s.word === "print" && !s.declares(s.word)) return next(flags | IN_PRINT);
      if ((is(STRICT) || (!sure && s.word.charCodeAt(0) <= NINE)) && !s.declares(s.word)) return release;
      s.openCall().name = s.word;
      if (sure) return begin(s);
      s.word = "";
      return keyAhead;
    };

    /** After the opening bracket of what may be prose: a keyword or the closing bracket. */
    const keyAhead: Step = (s) => {
      const code = s.blanks();
      if (code === undefined) return undefined;
      if (code === 41) return begin(s);
      const quoted = s.declares(s.call?.name ?? "") ? quotedKeys.get(s.slice(s.pos, s.pos + 1)) : undefined;
      if (quoted) s.pos++;
      return quoted ?? (begins(code, true) && code > NINE ? firstKey : release);
    };
    /** A key that is no Python name is written in quotes: `'max-results'=5`. */
    const quotedKeys = new Map(
      [...inQuotes].map(([quote, ends]): [string, Step] => [
        quote,
        (s) => {
          const mark = s.readWord(ends);
          if (mark === undefined) return undefined;
          if (mark !== quote) return release;
          s.pos++;
          return behindKey;
        },
      ]),
    );
    const firstKey: Step = (s) => {
      const code = s.span(NAME_END, false);
      s.word += s.run;
      return code === undefined ? undefined : behindKey;
    };
    const behindKey: Step = (s) => {
      const code = s.blanks();
      const isLast = s.pos + 1 >= s.stop;
      if (code === undefined || (code === 61 && isLast && !s.last)) return undefined;
      return code === 61 && (isLast || s.text.charCodeAt(s.pos + 1) !== 61) ? begin(s, s.word) : release;
    };

    const begin = (s: Scan, key?: string): Step => {
      s.startCall(s.call?.name ?? "");
      s.bound(tooLong);
      s.begin(syntax, s.json, ends).enter(41, 61, key);
      return inArguments;
    };
    const inArguments = readThen(
      (s) => {
        s.bound(ended);
        return behind;
      },
      (s) => unreadable(s, "bad-arguments", s.reason),
    );

    /** After the closing bracket of a call. What follows tells whether the call is complete or part of an expression. */
    const behind: Step = (s) => {
      const unsure = s.mended;
      const at = behindBlanks(s, s.pos, unsure);
      if (at === s.stop) return s.last ? ended : undefined;
      const char = s.slice(at, at + 1);
      if (char === "]" && unsure && !is(BARE)) return listEnds(s, at + 1);
      const many = at - s.pos === ALONE;
      if (many ? !unsure : separators.includes(char)) return ended;
      const mark = markAt(s, at);
      if (mark === undefined) return undefined;
      return mark ? ended : unreadable(s, "bad-arguments", EXPRESSION);
    };
    /** A string with unescaped quotes may only seem to end here: between marks, only another list can follow a list. */
    const listEnds = (s: Scan, from: number): Step | undefined => {
      const at = behindBlanks(s, from, true);
      if (at === s.stop) return s.last ? ended : undefined;
      if (s.text.charCodeAt(at) === 91) return ended;
      const mark = markAt(s, at);
      if (mark === undefined) return undefined;
      return mark ? ended : broken(s, "bad-arguments", EXPRESSION);
    };
    const ended: Step = (s) => {
      s.endCall();
      return after;
    };
    const after: Step = (s) => {
      s.unclosed = is(TAGGED);
      s.bound(release);
      return next(flagsAfter);
    };

    /** Another list may follow between the same marks. */
    const behindList: Step = (s) => {
      s.bound(release);
      return listAhead;
    };
    const listAhead: Step = (s) => {
      const code = s.blanks();
      if (code === undefined) return undefined;
      if (code !== 91) return closing;
      s.pos++;
      return next(flags & ~(SURE | CALLED));
    };

    /** At something that was meant as a call but cannot be read; the calls after it still can. */
    const unreadable = (s: Scan, code: MalformedCode, reason: string): Step => {
      if (!sure && s.call?.id === undefined) return release;
      const skip = broken(s, code, reason);
      s.quote = reason === FIELD ? s.quote.slice(-1) : "";
      return code === "no-name" && !is(BARE | CALLED) ? skip : over;
    };
    const over: Step = (s) => {
      const { quote } = s;
      const mark = s.until(inQuotes.get(quote) ?? brackets);
      if (mark === undefined) return undefined;
      const separates = mark === "," || (mark === ")" && is(IN_PRINT)) || mark === (is(LIST) ? "]" : "\n");
      if (mark === "" || marks.includes(mark) || (separates && quote === "" && s.depth === 0)) {
        const { code, reason } = s.fault ?? { code: "bad-arguments", reason: "" };
        s.malformed(code, reason);
        s.depth = 0;
        return after;
      }
      s.pos += mark.length;
      if (quote !== "") s.quote = mark === quote || mark === "\n" ? "" : quote;
      else if (inQuotes.has(mark)) s.quote = mark;
      else if ("([{".includes(mark)) s.depth++;
      else if (s.depth > 0 && ")]}".includes(mark)) s.depth--;
      return over;
    };

    return start;
  }

  /** The index after the blanks, or after `ALONE` of them. */
  const behindBlanks = ({ text, stop }: Scan, from: number, lines: boolean): number => {
    let at = from;
    while (at < stop && at - from < ALONE && isBlank(text.charCodeAt(at)) && (lines || text.charCodeAt(at) !== 10)) at++;
    return at;
  };

  const begins = (code: number, wide: boolean): boolean => (code < 128 ? NAME_START[code] === 1 : wide);

  /** Whether there is a mark at this index, or an incomplete one at the end of the input. */
  const markAt = (s: Scan, at: number): boolean | undefined => {
    const mark = ends.at(s.text, at, s.stop, false);
    return mark === undefined && !s.last ? undefined : mark !== "";
  };

  // ---- where calls begin

  const announced =
    (flags: number): Step =>
    (s) => {
      s.marked = true;
      s.bound(tooLong);
      return next(flags | SURE);
    };

  /** After a `[` that may begin a list. */
  const bare =
    (strict: number): Step =>
    (s) => {
      s.pos--;
      s.sayRaw();
      s.pos++;
      if (s.marked) return release;
      s.bound(release);
      return next(BARE | LIST | (s.tools.length > 0 ? strict : 0));
    };
  const lineStart = bare(0);

  const textStart: Step = (s) => {
    const code = s.blanks();
    s.sayRun();
    if (code === undefined) return undefined;
    if (code !== 91) return speak;
    s.pos++;
    return lineStart;
  };

  return {
    announced: announced(0),
    tagged: announced(TAGGED),
    printed: announced(TAGGED | PRINTS),
    bare: { "[": bare(STRICT), "\n[": lineStart },
    start: textStart,
  };
}
