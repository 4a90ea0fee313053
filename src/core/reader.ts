/**
 * The one incremental reader of values made of brackets, pairs and strings. Where JSON and the value syntaxes of models differ, a `Syntax`
 * constant says how. It keeps an explicit stack, and passes what it reads to a `JsonWriter` as soon as it is certain.
 */
import { escapeJson, type JsonWriter, unescapeJson } from "./json.ts";
import type { SchemaNode } from "./schema.ts";
import { isBlank, isHigh, Marks, Window } from "./window.ts";

export interface Syntax {
  /** The marks that open a string. */
  readonly quotes: Marks;
  /** The characters that may end a string or must be escaped in JSON; all others pass as they are. */
  readonly plainEnd: Uint8Array;
  /** Reads on in a string at such a character. `false`: it stands for itself. */
  special(reader: Reader, code: number): Outcome | undefined | boolean;
  /** Reads on after a quote that may be the closing one: while `tail` is set. */
  closing(reader: Reader): undefined | true;
  /** Blanks between tokens are valid JSON and are written as they are. */
  readonly spaces?: boolean;
  /** Passes over blanks and comments. Answers like `blanks`. */
  comments?(reader: Reader): number | undefined;
  /** The characters that end a bare key and a bare value; with `wide`, so does anything that is not ASCII. */
  readonly keyEnd: Uint8Array;
  readonly bareEnd: Uint8Array;
  readonly wide: boolean;
  /** The JSON text of a bare value; `undefined` if it is not a value. */
  bare(text: string, schema: SchemaNode | undefined): string | undefined;
  /** Tuples and sets are lists: `(1, 2)` `{1, 2}`. */
  readonly tuples?: boolean;
  /** The schema of a property or an element, for a syntax whose bare values are typed by it. */
  inner?(schema: SchemaNode | undefined, place: string | number): SchemaNode | undefined;
}

/**
 * `cut`: the input ended before the value did. `long`: the kept word is too long. `field` and `value` pause the reading of an object whose
 * fields the caller watches: before the value of a key, and after it.
 */
export type Outcome = "done" | "bad" | "deep" | "cut" | "long" | "field" | "value";

/** The states of the reader. */
const VALUE = 0;
const KEY = 1;
const COLON = 2;
const AFTER = 3;
const STRING = 4;
const BARE = 5;
const BARE_KEY = 6;

interface Frame {
  readonly close: number;
  list: boolean;
  readonly pair: number;
  readonly schema: SchemaNode | undefined;
}

interface Key {
  readonly text: string;
  readonly isJson: boolean;
  readonly key: string;
  readonly json: string;
}

/** The longest name or id, in characters. */
export const MAX_NAME = 256;
/** Longer than any string; still a small integer, which engines handle best. */
export const NO_LIMIT = 0x3fff_ffff;
export const NO_MARKS = new Marks([]);
/** The number of blanks that may follow a stop that ends the output. */
const MAX_BLANKS = 16;

export class Reader extends Window {
  readonly maxDepth: number;
  /** Why the last outcome was `bad`. */
  reason = "";
  /** Marks that cannot be part of a value, except in a string. */
  marks = NO_MARKS;
  /** Marks that end the output. Inside a value one counts only if nothing follows but a few blanks. */
  stops = NO_MARKS;
  /** Where the value is written; `undefined`: it is only checked. */
  out: JsonWriter | undefined;
  /** The last key. */
  key = "";
  /** The depth at which the caller watches an object's fields; 0: it does not. */
  fieldDepth = 0;
  /** If not 0: strings go to `word` instead of `out`, up to this many characters. */
  keeps = 0;
  /** A string that is kept, or the bare word or key that is being read. */
  word = "";
  /** The mark that opened the current string; and whether that string is a key. */
  quote = "";
  inKey = false;
  /** An unescaped quote was taken as content, so the value may have been meant to be longer than what was read. */
  mended = false;
  /** Used by syntaxes: the blanks after a quote that may be the closing one, and what ends the open comment. */
  tail: string | undefined;
  comment: Marks | undefined;
  /** The number of open brackets. */
  depth = 0;

  #syntax: Syntax | undefined;
  /** The syntax' `plainEnd` and the first characters of `stops`. */
  #plainEnd: Uint8Array = NO_MARKS.leads;
  #depths = 0;
  #any = false;
  readonly #outer: Frame[] = [];
  #frame: Frame | undefined;
  #state = VALUE;
  #schema: SchemaNode | undefined;
  /** A brace was opened that may begin a set: what follows the first element decides. */
  #brace = false;
  /** The value of a watched field is being read. */
  #inField = false;
  /** A small cache of keys: the same ones come with every call, and engines are fastest with a string that was used as a key before. */
  readonly #keys: (Key | undefined)[] = Array(16).fill(undefined);
  /** The last key as JSON text, with its colon; and the blanks before the colon. */
  #keyJson = "";
  #keyGap = "";

  constructor(maxDepth: number) {
    super();
    this.maxDepth = maxDepth;
  }

  /** Begins to read an object. */
  begin(syntax: Syntax, out: JsonWriter | undefined, marks: Marks, schema?: SchemaNode, fieldDepth = 0): this {
    if (syntax !== this.#syntax) this.#plainEnd = this.stops.and(syntax.plainEnd);
    this.#syntax = syntax;
    this.out = out;
    this.marks = marks;
    this.#schema = schema;
    this.fieldDepth = fieldDepth;
    this.#depths = this.maxDepth + fieldDepth;
    while (this.#outer.length > 0) this.#outer.pop(); // setting a length is slow
    this.depth = 0;
    this.#frame = this.tail = this.comment = undefined;
    this.#inField = this.mended = this.#any = false;
    this.keeps = 0;
    this.#state = VALUE;
    return this;
  }

  /** Lets the value be something other than an object. */
  any(): this {
    this.#any = true;
    return this;
  }

  /** Starts inside an object whose opening bracket was already read, and maybe its first key. */
  enter(close: 125 | 41, pair: 58 | 61, key?: string): void {
    this.#push(close, pair, this.#schema);
    if (key !== undefined) this.#keyRead(key, false);
  }

  /** Watches the fields of the object that is this field's value, too. */
  descend(): void {
    this.fieldDepth++;
    this.#inField = false;
  }

  /** Reads on; `undefined` while the value is unfinished. */
  read(): Outcome | undefined {
    const syntax = this.#syntax;
    if (!syntax) return "bad";
    for (;;) {
      const state = this.#state;
      const outcome = state === STRING ? this.#inString(syntax) : state >= BARE ? this.#bare(syntax) : this.#token(syntax);
      if (this.keeps > 0 && this.word.length > this.keeps) return "long";
      if (outcome !== true) return outcome;
    }
  }

  /** Passes on what stands for itself in a string; the rest is up to the syntax. */
  #inString(syntax: Syntax): Outcome | undefined | true {
    if (this.tail !== undefined) return syntax.closing(this);
    const code = this.span(this.#plainEnd, false);
    if (this.from < this.pos) {
      this.say(this.seen < 0xd800 ? this.run : escapeJson(this.run)); // only a lone surrogate can need an escape here
      if (this.keeps > 0 && this.backTo(this.keeps)) return "long";
    }
    if (code === -1) return "cut";
    if (code === undefined) return undefined;
    const outcome = syntax.special(this, code);
    if (outcome !== false) return outcome;
    const cut = code < 128 && this.stops.leads[code] === 1 && this.isCut();
    if (cut !== false) return cut;
    this.pos++;
    this.say(escapeJson(String.fromCharCode(code)));
    return true;
  }

  /** Moves reading back to the end of a word that the last run has made longer than `max`, and says so. Never splits a surrogate pair. */
  backTo(max: number): boolean {
    const { word, pos } = this;
    if (word.length <= max) return false;
    this.pos -= word.length - max;
    if (this.from < this.pos && isHigh(this.text.charCodeAt(this.pos - 1))) this.pos--;
    this.word = word.slice(0, this.pos - pos);
    return true;
  }

  /** Whether there is a stop here that ends the output, and so cuts the value. */
  isCut(): "cut" | false | undefined {
    const mark = this.match(this.stops);
    if (mark === undefined) return undefined;
    if (mark === "") return false;
    const end = this.pos + mark.length;
    let at = end;
    while (at < this.stop && at < end + MAX_BLANKS && isBlank(this.text.charCodeAt(at))) at++;
    if (at < this.stop) return false;
    return this.last ? "cut" : undefined;
  }

  #token(syntax: Syntax): Outcome | undefined | true {
    const state = this.#state;
    const frame = this.#frame;
    if (state === AFTER) {
      if (!frame) return "done";
      if (this.#inField && this.depth === this.fieldDepth) {
        this.#inField = false;
        return "value";
      }
    }
    const code = this.#gap(syntax);
    if (code === undefined) return undefined;
    if (code === -1) return "cut";
    if (state === COLON) return this.#colon(syntax, code);
    if (frame && code === frame.close && (state !== VALUE || frame.list)) return this.#shut();
    if (state === VALUE) return this.#value(syntax, code);
    if (code !== 44) return state === KEY ? this.#open(syntax, code, BARE_KEY) : this.bad("a comma or a closing bracket was expected");
    this.pos++;
    if (state === AFTER) {
      this.out?.comma();
      this.#state = frame?.list ? VALUE : KEY;
    }
    return true;
  }

  /** Passes over blanks and comments. */
  #gap(syntax: Syntax): number | undefined {
    const { comments } = syntax;
    if (!this.comment) {
      // The usual case: no gap.
      const code = this.pos < this.stop ? this.text.charCodeAt(this.pos) : 0;
      if (code > 32 && code !== 47 && code !== 35) return code;
      const next = this.blanks();
      if (syntax.spaces && this.from < this.pos) this.space(this.run);
      if (!comments || (next !== 47 && next !== 35)) return next;
    }
    return comments?.(this);
  }

  #value(syntax: Syntax, code: number): Outcome | undefined | true {
    if (this.depth === this.fieldDepth && this.depth > 0 && !this.#inField) {
      this.#inField = true;
      return "field";
    }
    const free = this.#frame !== undefined || this.#any;
    if (code === 123 || (free && (code === 91 || (code === 40 && syntax.tuples)))) {
      const cut = this.stops.leads[code] === 1 && this.isCut(); // Kimi's `[EOS]` begins like a list
      if (cut !== false) return cut;
      this.pos++;
      if (this.depth >= this.#depths) return "deep";
      this.#push(code === 40 ? 41 : code + 2, 58, this.#inner(syntax));
      return true;
    }
    return free ? this.#open(syntax, code, BARE) : this.bad("an object was expected");
  }

  /** The schema of the next value. */
  #inner(syntax: Syntax): SchemaNode | undefined {
    const frame = this.#frame;
    return frame && syntax.inner ? syntax.inner(frame.schema, frame.list ? (this.out?.count ?? 0) : this.key) : this.#schema;
  }

  #colon(syntax: Syntax, code: number): Outcome | undefined | true {
    const frame = this.#frame;
    const set = this.#brace && (code === 44 || code === 125);
    if (!frame || (code !== frame.pair && !set)) return this.bad(`the key ${JSON.stringify(this.key)} has no value`);
    frame.list = set;
    if (this.#brace) this.#opened(set);
    if (set) return this.#scalar(this.quote === "" ? syntax.bare(this.key, undefined) : this.#keyJson.slice(0, -1));
    this.pos++;
    const json = this.#keyJson;
    this.out?.key(this.key, this.#keyGap === "" ? json : `${json.slice(0, -1)}${this.#keyGap}:`);
    this.#state = VALUE;
    return true;
  }

  /** A bare key or value. Where the syntax allows any text, it may contain the first character of a mark, but no mark. */
  #bare(syntax: Syntax): Outcome | undefined | true {
    const { wide } = syntax;
    const isKey = this.#state === BARE_KEY;
    const stops = isKey ? syntax.keyEnd : syntax.bareEnd;
    for (;;) {
      const code = this.span(stops, wide);
      if (this.from < this.pos) this.word += this.run;
      if (code === undefined) return undefined;
      if (code === -1) return "cut";
      if (wide || code >= 128 || this.marks.leads[code] === 0) break;
      const mark = this.match(this.marks);
      if (mark === undefined) return undefined;
      if (mark !== "") {
        if (isKey || !syntax.quotes.list.includes(mark)) return this.bad(`${mark} inside a value`);
        this.pos += mark.length; // the end of a string whose opening quote is missing
        return this.#scalar(`"${escapeJson(this.word)}"`);
      }
      this.word += this.slice(this.pos, ++this.pos);
    }
    const word = trimBlanks(this.word);
    if (!isKey) return this.#scalar(syntax.bare(word, this.#inner(syntax)), word);
    if (word === "" && wide) return this.bad("a key was expected");
    this.#keyRead(word, false);
    return true;
  }

  /** Writes a whole value that is no bracket. */
  #scalar(json: string | undefined, word = this.key): Outcome | undefined | true {
    if (json === undefined) return this.bad(word === "" ? "a value was expected" : `${JSON.stringify(word)} is not a value`);
    if (json.charCodeAt(0) === 34) {
      this.out?.string();
      this.out?.run(json.slice(1, -1));
      this.out?.done();
    } else this.out?.scalar(json);
    this.#state = AFTER;
    return true;
  }

  /** Begins a string at a quote, else a bare word. */
  #open(syntax: Syntax, code: number, bare: typeof BARE | typeof BARE_KEY): undefined | true {
    let mark: string | undefined = "";
    if (code < 128 && syntax.quotes.leads[code] === 1) mark = this.match(syntax.quotes);
    if (mark === undefined) return undefined;
    this.word = "";
    this.quote = mark;
    this.#state = bare;
    if (mark === "") return true;
    this.#state = STRING;
    this.pos += mark.length;
    this.inKey = bare === BARE_KEY;
    if (!this.inKey) this.out?.string();
    return true;
  }

  /** The next piece of the open string, as JSON text. */
  say(json: string): void {
    if (this.inKey) this.word += json;
    else if (this.keeps > 0) this.word += unescapeJson(json);
    else this.out?.run(json);
  }

  /** Ends the open string. */
  closeString(): true {
    if (this.inKey) this.#keyRead(this.word, true);
    else {
      this.out?.done();
      this.#state = AFTER;
    }
    return true;
  }

  /** A key is complete. `text` is the key itself or, with `isJson`, its JSON text without quotes. */
  #keyRead(text: string, isJson: boolean): void {
    const at = (text.length + (text.length > 0 ? text.charCodeAt(0) : 0)) & 15;
    let known = this.#keys[at];
    if (known === undefined || known.text !== text || known.isJson !== isJson) {
      const key = isJson ? unescapeJson(text) : text;
      const json = isJson ? text : escapeJson(text);
      known = { text, isJson, key, json: `"${json}":` };
      this.#keys[at] = known;
    }
    this.key = known.key;
    this.#keyJson = known.json;
    this.#keyGap = "";
    this.#state = COLON;
  }

  /** Blanks between tokens that are written as they are. */
  space(blanks: string): void {
    if (this.#state === COLON) this.#keyGap += blanks;
    else if (this.depth > 0) this.out?.space(blanks);
  }

  /** The input is not readable here, unless this is a stop or may still become a mark: then the input is cut. */
  bad(reason: string): Outcome | undefined {
    this.reason = reason;
    const { text, pos, stop } = this;
    if (pos < stop && this.marks.at(text, pos, stop, false) === undefined) return this.cut();
    return this.stops.at(text, pos, stop, true) ? "cut" : "bad";
  }

  /** Waits for more input; if there is none, the value is cut here. */
  cut(): Outcome | undefined {
    if (!this.last) return undefined;
    this.pos = this.stop;
    return "cut";
  }

  #push(close: number, pair: number, schema: SchemaNode | undefined): void {
    const list = close === 93 || (close === 41 && pair === 58);
    if (this.#frame) this.#outer.push(this.#frame);
    this.#frame = { close, list, pair, schema };
    this.depth++;
    if (this.#syntax?.tuples && close === 125) this.#brace = true;
    else this.#opened(list);
    this.#state = list ? VALUE : KEY;
  }

  #opened(list: boolean): void {
    this.#brace = false;
    this.out?.open(list);
  }

  #shut(): Outcome | true {
    this.pos++;
    if (this.#brace) this.#opened(false);
    this.out?.shut();
    this.#frame = this.#outer.length > 0 ? this.#outer.pop() : undefined;
    this.depth--;
    if (this.depth < this.fieldDepth) this.fieldDepth = this.depth;
    this.#state = AFTER;
    return this.#frame ? true : "done";
  }
}

/** `trim`, with a quick check first: most words have no blanks around them. */
const trimBlanks = (text: string): string => (text.charCodeAt(0) > 32 && text.charCodeAt(text.length - 1) > 32 ? text : text.trim());
