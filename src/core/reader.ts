/**
 * One incremental reader for objects, that is for values with brackets, pairs and strings. What differs between JSON and the value syntaxes of models is a
 * `Syntax` constant. It reads from a `Window`, keeps an explicit stack, and says what it reads to a `Sink` as soon as it is certain.
 */
import { escapeJson, jsonNumber, type Sink, unescapeJson } from "./json.ts";
import { elementSchema, propertySchema, type SchemaNode } from "./schema.ts";
import { charTable, charTableExcept, Marks, type Window } from "./window.ts";

export interface Syntax {
  /** What opens a string. */
  readonly quotes: Marks;
  /** What closes the string that a quote opened: that quote. */
  readonly strings: ReadonlyMap<string, Marks>;
  /**
   * Reads the escape at the window's position, and answers with its JSON text; `undefined` while more input is needed.
   * Absent: everything up to the next quote is literal, and that quote closes.
   */
  readonly escape?: (window: Window) => string | undefined;
  /** A quote closes a string only before one of these, a mark, or the end; elsewhere it is content. */
  readonly closesBefore: Uint8Array;
  /** What ends a bare key and a bare value; with `wide`, so does whatever is not ASCII. */
  readonly keyEnd: Uint8Array;
  readonly bareEnd: Uint8Array;
  readonly wide: boolean;
  /** The JSON text of a bare value; `undefined`: there is no such value. */
  bare(text: string, schema: SchemaNode | undefined): string | undefined;
  /** Blanks between tokens are JSON's own, and go to the sink. */
  readonly spaced: boolean;
  readonly comments: boolean;
}

/** `halt`: the sink wants no more. `cut`: the input ended first. */
export type Outcome = "done" | "bad" | "deep" | "cut" | "halt";

/** Where the reader stands. */
const VALUE = 0;
const KEY = 1;
const BARE_KEY = 2;
const COLON = 3;
const AFTER = 4;
const STRING = 5;
const QUOTE = 6;
const BARE = 7;

const LINE_END = new Marks(["\n"]);
const BLOCK_END = new Marks(["*/"]);
const STRING_STOPS = charTable(`"'\\${String.fromCharCode(...Array.from({ length: 32 }, (_, code) => code))}`);

interface Frame {
  readonly close: number;
  readonly array: boolean;
  readonly pair: number;
  readonly schema: SchemaNode | undefined;
  /** Who listens outside. */
  readonly sink: Sink;
}

export class Reader {
  /** Why the last outcome was `bad`. */
  reason = "";
  readonly #window: Window;
  readonly #syntax: Syntax;
  #sink: Sink;
  readonly #marks: Marks;
  readonly #maxDepth: number;
  /** The containers around the one that is open. */
  readonly #outer: Frame[] = [];
  #frame: Frame | undefined;
  #depth = 0;
  #state = VALUE;
  /** The schema of the value that comes next. */
  #schema: SchemaNode | undefined;
  #inKey = false;
  #quote: Marks = LINE_END;
  /** A key or a bare value, so far. */
  #word = "";
  /** The key, as it stands in JSON. */
  #keyJson = "";
  /** The blanks behind a quote or a key, so far. */
  #tail = "";
  #comment: Marks | undefined;

  /** `marks` are the dialect's own: outside a string they cannot be part of a value. */
  constructor(window: Window, syntax: Syntax, sink: Sink, options: { marks: Marks; maxDepth: number; schema?: SchemaNode | undefined }) {
    this.#window = window;
    this.#syntax = syntax;
    this.#sink = sink;
    this.#marks = options.marks;
    this.#maxDepth = options.maxDepth;
    this.#schema = options.schema;
  }

  /** Starts inside an object whose bracket has been read. */
  enter(bracket: "{" | "(" = "{", pair = ":"): this {
    this.#push(bracket, pair);
    return this;
  }

  /** Reads on; `undefined` while the value is not finished. */
  read(): Outcome | undefined {
    for (;;) {
      const outcome = this.#step();
      if (outcome !== true) return outcome;
      if (this.#sink.halted) return "halt";
    }
  }

  #step(): Outcome | undefined | true {
    switch (this.#state) {
      case VALUE:
        return this.#value();
      case KEY:
        return this.#key();
      case BARE_KEY:
        return this.#bareKey();
      case COLON:
        return this.#colon();
      case AFTER:
        return this.#after();
      case STRING:
        return this.#syntax.escape ? this.#escapedString() : this.#literalString();
      case QUOTE:
        return this.#closing();
      default:
        return this.#bare();
    }
  }

  #value(): Outcome | undefined | true {
    const code = this.#gap();
    if (code === undefined) return undefined;
    const frame = this.#frame;
    if (frame?.array && code === frame.close) return this.#shut();
    if (code === 123 || (code === 91 && frame)) {
      this.#window.pos++;
      if (this.#depth >= this.#maxDepth) return "deep";
      this.#push(code === 123 ? "{" : "[", ":");
      return true;
    }
    if (!frame) return code === -1 ? "cut" : this.#bad("an object was expected");
    const quoted = this.#openString(code, false);
    if (quoted !== false) return quoted;
    this.#word = "";
    this.#state = BARE;
    return true;
  }

  #key(): Outcome | undefined | true {
    const code = this.#gap();
    if (code === undefined) return undefined;
    if (code === this.#frame?.close) return this.#shut();
    if (code === 44) {
      this.#window.pos++;
      return true;
    }
    const quoted = this.#openString(code, true);
    if (quoted !== false) return quoted;
    this.#word = "";
    this.#state = BARE_KEY;
    return true;
  }

  #bareKey(): Outcome | undefined | true {
    const ended = this.#gather(this.#syntax.keyEnd);
    if (ended !== true) return ended;
    const key = trimBlanks(this.#word);
    if (key === "" && this.#syntax.wide) return this.#bad("a key was expected");
    this.#keyRead(key, escapeJson(key));
    return true;
  }

  #colon(): Outcome | undefined | true {
    const code = this.#gap();
    if (code === undefined) return undefined;
    if (code === -1) return "cut";
    if (code !== this.#frame?.pair) return this.#bad(`the key ${JSON.stringify(this.#word)} has no value`);
    this.#window.pos++;
    this.#sink.key(this.#word, this.#tail === "" ? `"${this.#keyJson}":` : `"${this.#keyJson}"${this.#tail}:`);
    this.#tail = "";
    this.#schema = propertySchema(this.#frame.schema, this.#word);
    this.#state = VALUE;
    return true;
  }

  #after(): Outcome | undefined | true {
    const frame = this.#frame;
    if (!frame) return "done";
    const code = this.#gap();
    if (code === undefined) return undefined;
    if (code === -1) return "cut";
    if (code === frame.close) return this.#shut();
    if (code !== 44) return this.#bad("a comma or a closing bracket was expected");
    this.#window.pos++;
    this.#sink.comma();
    this.#next(frame);
    return true;
  }

  #literalString(): Outcome | undefined | true {
    const window = this.#window;
    const mark = window.until(this.#quote, true);
    if (window.from < window.pos) this.#say(escapeJson(window.run));
    if (mark === undefined) return undefined;
    if (mark === "") {
      window.pos = window.stop;
      return "cut";
    }
    window.pos += mark.length;
    this.#stringRead();
    return true;
  }

  #escapedString(): Outcome | undefined | true {
    const window = this.#window;
    const code = window.span(STRING_STOPS, false);
    if (window.from < window.pos) this.#say(window.run);
    if (code === undefined) return undefined;
    if (code === -1) return "cut";
    if (code === 92) {
      const json = this.#syntax.escape?.(window);
      if (json === undefined) return window.last ? "cut" : undefined;
      this.#say(json);
      return true;
    }
    const quote = code === 34 || code === 39 ? window.match(this.#quote) : "";
    if (quote === undefined) return undefined;
    if (quote === "") {
      window.pos++;
      this.#say(escapeJson(String.fromCharCode(code)));
      return true;
    }
    window.pos += quote.length;
    this.#tail = "";
    this.#state = QUOTE;
    return true;
  }

  /** Behind a quote: does the string end here? */
  #closing(): Outcome | undefined | true {
    const window = this.#window;
    const code = window.blanks();
    if (window.from < window.pos) this.#tail += window.run;
    if (code === undefined) return undefined;
    let closes = code === -1 || (code < 128 && this.#syntax.closesBefore[code] === 1);
    if (!closes && code < 128 && this.#marks.leads[code] === 1) {
      const mark = window.match(this.#marks);
      if (mark === undefined) return undefined;
      closes = mark !== "";
    }
    if (closes) {
      const blanks = this.#tail;
      this.#stringRead();
      if (blanks !== "") this.#space(blanks);
    } else {
      this.#say(escapeJson((this.#quote.list[0] ?? "") + this.#tail));
      this.#state = STRING;
    }
    return true;
  }

  #bare(): Outcome | undefined | true {
    const ended = this.#gather(this.#syntax.bareEnd);
    if (ended !== true) return ended;
    const text = trimBlanks(this.#word);
    const json = this.#syntax.bare(text, this.#schema);
    if (json === undefined) return this.#bad(text === "" ? "a value was expected" : `${JSON.stringify(text)} is not a value`);
    if (json.startsWith('"')) {
      this.#sink.string();
      this.#sink.run(json.slice(1, -1));
      this.#sink.done();
    } else this.#sink.scalar(json);
    this.#state = AFTER;
    return true;
  }

  /** Gathers a bare word. */
  #gather(end: Uint8Array): Outcome | undefined | true {
    const window = this.#window;
    for (;;) {
      const code = window.span(end, this.#syntax.wide);
      if (window.from < window.pos) this.#word = this.#word === "" ? window.run : this.#word + window.run;
      if (code === undefined) return undefined;
      if (code === -1) return "cut";
      // A free word may hold the first character of a mark, but no mark.
      if (this.#syntax.wide || code >= 128 || this.#marks.leads[code] === 0) return true;
      const mark = window.match(this.#marks);
      if (mark === undefined) return undefined;
      if (mark !== "") return this.#bad(`${mark} inside a value`);
      this.#word += window.text.charAt(window.pos++);
    }
  }

  #openString(code: number, inKey: boolean): Outcome | undefined | true | false {
    if (code === -1) return "cut";
    const { quotes } = this.#syntax;
    if (code >= 128 || quotes.leads[code] === 0) return false;
    const mark = this.#window.match(quotes);
    if (mark === undefined) return undefined;
    if (mark === "") return false;
    this.#window.pos += mark.length;
    this.#quote = this.#syntax.strings.get(mark) ?? quotes;
    this.#inKey = inKey;
    this.#word = "";
    this.#state = STRING;
    if (!inKey) this.#sink.string();
    return true;
  }

  #stringRead(): void {
    if (this.#inKey) this.#keyRead(unescapeJson(this.#word), this.#word);
    else {
      this.#sink.done();
      this.#state = AFTER;
    }
  }

  #keyRead(key: string, json: string): void {
    this.#word = key;
    this.#keyJson = json;
    this.#tail = "";
    this.#state = COLON;
  }

  #say(json: string): void {
    if (this.#inKey) this.#word += json;
    else this.#sink.run(json);
  }

  #space(blanks: string): void {
    if (!this.#syntax.spaced) return;
    if (this.#state === COLON) this.#tail += blanks;
    else this.#sink.space(blanks);
  }

  /** Passes over blanks and comments; the code of what follows, -1 at the end. */
  #gap(): number | undefined {
    const window = this.#window;
    if (window.pos < window.stop && this.#comment === undefined) {
      const code = window.text.charCodeAt(window.pos);
      if (code > 32 && code !== 47) return code;
    }
    for (;;) {
      if (this.#comment) {
        const mark = window.until(this.#comment);
        if (mark === undefined) return undefined;
        window.pos += mark.length;
        this.#comment = undefined;
      }
      const code = window.blanks();
      if (window.from < window.pos) this.#space(window.run);
      if (code !== 47 || !this.#syntax.comments) return code;
      if (window.pos + 1 >= window.stop) return window.last ? code : undefined;
      const next = window.text.charAt(window.pos + 1);
      if (next !== "/" && next !== "*") return code;
      window.pos += 2;
      this.#comment = next === "/" ? LINE_END : BLOCK_END;
    }
  }

  #push(bracket: "{" | "[" | "(", pair: string): void {
    const array = bracket === "[";
    const frame: Frame = {
      close: array ? 93 : bracket === "{" ? 125 : 41,
      array,
      pair: pair.charCodeAt(0),
      schema: this.#schema,
      sink: this.#sink,
    };
    if (this.#frame) this.#outer.push(this.#frame);
    this.#frame = frame;
    this.#depth++;
    this.#sink = this.#sink.open(array ? "[" : "{") ?? this.#sink;
    this.#next(frame);
  }

  #next(frame: Frame): void {
    this.#state = frame.array ? VALUE : KEY;
    if (frame.array) this.#schema = elementSchema(frame.schema);
  }

  #shut(): Outcome | true {
    this.#window.pos++;
    this.#sink.shut();
    if (this.#frame) this.#sink = this.#frame.sink;
    this.#frame = this.#outer.pop();
    this.#depth--;
    this.#state = AFTER;
    return this.#frame ? true : "done";
  }

  #bad(reason: string): "bad" {
    this.reason = reason;
    return "bad";
  }
}

/** Most words have no blanks around them. */
const trimBlanks = (text: string): string => (text.charCodeAt(0) > 32 && text.charCodeAt(text.length - 1) > 32 ? text : text.trim());

const LITERALS: Readonly<Record<string, string>> = {
  true: "true",
  false: "false",
  null: "null",
  True: "true",
  False: "false",
  None: "null",
};
const HEX = /^[0-9a-fA-F]*$/;
const WORD_END = charTableExcept("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._$");

/** The part of a syntax that its quotes make. */
export function quotes(list: readonly string[]): Pick<Syntax, "quotes" | "strings"> {
  return { quotes: new Marks(list), strings: new Map(list.map((quote) => [quote, new Marks([quote])])) };
}

/** JSON, and what models make of it: single quotes, bare keys, comments, trailing commas, raw control characters, invalid escapes. */
export const JSON_SYNTAX: Syntax = {
  ...quotes(['"', "'"]),
  escape: jsonEscape,
  closesBefore: charTable(",}]:"),
  keyEnd: WORD_END,
  bareEnd: WORD_END,
  wide: true,
  bare: (text) => (Object.hasOwn(LITERALS, text) ? LITERALS[text] : jsonNumber(text)),
  spaced: true,
  comments: true,
};

/** Valid escapes stay as they are written; of an invalid one the backslash is dropped. */
function jsonEscape(window: Window): string | undefined {
  const { text, pos, stop } = window;
  if (pos + 1 >= stop) return undefined;
  const char = text.charAt(pos + 1);
  if (char === "u") {
    const hex = text.slice(pos + 2, Math.min(pos + 6, stop));
    if (HEX.test(hex)) {
      if (hex.length < 4) return undefined;
      window.pos += 6;
      return `\\u${hex}`;
    }
  }
  window.pos += 2;
  return '"\\/bfnrt'.includes(char) ? `\\${char}` : escapeJson(char);
}
