/**
 * The calls of Google's dialects: `call:NAME{key:QtextQ,n:7,on:true}`, where Q is the dialect's own quote token. Values are transcoded to
 * JSON while they arrive.
 */
import { escapeJson } from "../../core/json.ts";
import { closing as closeQuote, inString } from "../../core/json-string.ts";
import type { Syntax } from "../../core/reader.ts";
import { innerSchema, type SchemaNode, schemaTypes } from "../../core/schema.ts";
import { charTable, Marks } from "../../core/window.ts";
import type { Scan, Step } from "./scan.ts";
import { broken, closingThen, cut, nameTooLong, readArguments, releaseBlanks, speak, tooLong } from "./steps.ts";

export interface GemmaCalls {
  /** The quote on both sides of a string. */
  readonly quote: string;
  /** The marks that end a block: closers, openers, stops. */
  readonly ends: readonly string[];
  /** The JSON text of a bare value that is no string. */
  readonly scalar: (text: string) => string | undefined;
  /** The dialect's word for null, which is null even where a string is expected. */
  readonly none: string;
  /** What models write for `call:` by mistake. Only the name of a declared tool makes it a call. */
  readonly slip?: string;
}

export interface GemmaSteps {
  /** After the opener. */
  readonly call: Step;
  /** After a `call:` whose opener is missing: only the name of a declared tool makes it a call. */
  bare(behind: Step): Step;
}

const HEAD = "call:";
const KEY_END = charTable(":,{}[]<");
const BARE_END = charTable(",}]<");
const WORD_END = charTable(":,)]}<=");
/** What may follow a backslash in JSON, and Python's other quote. */
const ESCAPES = "\"'\\/bfnrtu";

export function gemmaSteps(calls: GemmaCalls): GemmaSteps {
  const { quote, ends, slip = HEAD } = calls;
  const marks = new Marks([...ends, quote]);
  const quotes = new Marks([quote, '"', "'"]);
  const closer = new Marks([quote]);
  const blockEnds = new Marks(ends);
  /** Between the dialect's quotes everything is literal; between ASCII quotes it is JSON, up to a mark that ends the block. */
  const strings = (behind: string): Pick<Syntax, "quotes" | "plainEnd" | "special" | "closing"> => ({
    quotes,
    plainEnd: quotes.plainEnd,
    special: (r, code) => {
      const isAscii = r.quote !== quote;
      const known = isAscii ? blockEnds : closer;
      const mark = known.leads[code] === 1 ? r.match(known, true) : "";
      if (mark === undefined) return r.cut();
      if (mark !== "") {
        if (isAscii) return r.bad(`${mark} inside a value`);
        r.pos += mark.length;
        return r.closeString();
      }
      return isAscii && (code !== 92 || r.pos + 1 >= r.stop || ESCAPES.includes(r.text.charAt(r.pos + 1))) && inString(r, code);
    },
    closing: (r) => {
      // The dialect's own quote may follow the ASCII quote that closes a string.
      const own = r.tail === "" ? r.match(closer) : "";
      if (!own) return own === undefined ? undefined : closeQuote(r, behind);
      r.tail = undefined;
      r.pos += own.length;
      return r.closeString();
    },
  });
  const syntax: Syntax = {
    ...strings(",}]:"),
    keyEnd: KEY_END,
    bareEnd: BARE_END,
    wide: false,
    bare: (text, schema) => bareValue(calls, text, schema),
    inner: innerSchema,
  };
  // The slip `f(city="Oslo", days=2)`, where every value must be a literal.
  const keywords: Syntax = { ...syntax, ...strings(",}]:)"), keyEnd: WORD_END, bareEnd: WORD_END, bare: calls.scalar };
  const head = new Marks([HEAD, slip, ...ends]);
  const headOnly = new Marks([HEAD]);
  const nameEnd = new Marks(["{", "(", ...ends]);
  const bareNameEnd = new Marks([..."{<( \t\r\n"]);

  const readHead: Step = (s) => {
    if (s.blanks() === undefined) return undefined;
    const mark = s.match(head);
    if (mark === undefined) return undefined;
    if (mark === "") return headless(s);
    if (ends.includes(mark)) return broken(s, "empty", "the block is empty");
    s.pos += mark.length;
    s.word = "";
    return mark === HEAD ? readName : readDeclared;
  };
  const headless = (s: Scan): Step => broken(s, "no-name", `"${HEAD}" was expected`);

  const readDeclared: Step = (s) => {
    const mark = s.readWord(nameEnd);
    if (mark === undefined) return undefined;
    return mark && s.declares(resolveName(s, s.word.trim())) ? readName : headless(s);
  };
  const readName: Step = (s) => {
    const mark = s.readWord(nameEnd);
    if (mark === undefined) return undefined;
    if (mark === null) return nameTooLong;
    if (mark === "") return cut;
    const name = resolveName(s, s.word.trim());
    if (name === "") return broken(s, "no-name", "the name is empty");
    if (mark === "{") return begin(s, name, inBlock);
    // A call in Python's spelling counts only if the tool is declared.
    if (mark !== "(" || !s.declares(name)) return broken(s, "no-name", `"{" was expected after the name`);
    return begin(s, name, inBlock, parentheses);
  };

  const readBareName =
    (behind: Step, isCall: (s: Scan, name: string) => boolean): Step =>
    (s) => {
      const mark = s.readWord(bareNameEnd);
      if (mark === undefined) return undefined;
      const name = resolveName(s, s.word);
      if (mark !== "{" || !isCall(s, name)) return releaseBlanks;
      s.bound(tooLong);
      return begin(s, name, behind);
    };

  /** After a call whose block is still open: some models put the next one into it. */
  const another: Step = (s) => {
    const mark = s.match(headOnly);
    if (mark === undefined) return undefined;
    if (mark === "") return releaseBlanks;
    s.pos += HEAD.length;
    s.word = "";
    return readNext;
  };
  const inBlock = closingThen(speak, another);
  const readNext = readBareName(inBlock, (_, name) => name !== "");

  const begin = (s: Scan, name: string, behind: Step, declared = braces): Step => {
    s.pos++;
    s.startCall(name);
    s.behind = behind;
    return s.declares(name) ? declared : read(s, syntax, 125, 58);
  };
  const read = (s: Scan, form: Syntax, close: 125 | 41, pair: 58 | 61): Step => {
    const step = readArguments(s, form, marks, s.behind, s.schemaOf(s.call?.name ?? ""));
    s.enter(close, pair);
    return step;
  };
  /** After the bracket of a declared call, which may have braces of their own in it: `f({city:"Oslo"})`, `f{{"city":"Oslo"}}`. */
  const opened =
    (form: Syntax, close: 125 | 41, pair: 58 | 61): Step =>
    (s) => {
      const code = s.blanks();
      if (code === undefined) return undefined;
      if (code !== 123) return read(s, form, close, pair);
      s.pos++;
      return read(s, syntax, 125, 58);
    };
  const braces = opened(syntax, 125, 58);
  const parentheses = opened(keywords, 41, 61);

  return {
    call: (s) => {
      s.openCall();
      s.bound(tooLong);
      return readHead;
    },
    bare: (behind) => {
      const read = readBareName(behind, (s, name) => s.declares(name));
      return (s) => {
        s.bound(releaseBlanks);
        s.word = "";
        return read;
      };
    },
  };
}

/** The declared tool that the model wrote with a prefix (`ns:mcp:name`, `f:f`); otherwise the name as written. */
function resolveName(s: Scan, name: string): string {
  if (s.tools.length === 0 || s.declares(name)) return name;
  for (let at = name.indexOf(":"); at >= 0; at = name.indexOf(":", at + 1)) if (s.declares(name.slice(at + 1))) return name.slice(at + 1);
  return name;
}

/** A bare value, typed by its spelling, unless the schema allows a string here and not such a value. */
function bareValue({ scalar, none }: GemmaCalls, text: string, schema: SchemaNode | undefined): string {
  if (text === "null" || text === none) return "null";
  const types = schemaTypes(schema);
  const json = scalar(text);
  if (json !== undefined) {
    const type = json === "null" ? json : json === "true" || json === "false" ? "boolean" : "number";
    const asIs = json === text || type !== "number"; // `007` is no number where it may be a string
    if (!types.includes("string") || (asIs && types.some((one) => one === type || (one === "integer" && type === "number")))) return json;
  }
  if (types.includes("boolean") && /^(true|false)$/i.test(text)) return text.toLowerCase();
  return `"${escapeJson(text)}"`;
}
