/**
 * One incremental reader for objects, that is for values with brackets, pairs and strings. What differs between JSON and the value
 * syntaxes of models is a `Syntax` constant. It keeps an explicit stack, and has what it reads written as soon as it is certain.
 */
import { escapeJson, type JsonWriter, unescapeJson } from "./json.ts";
import type { SchemaNode } from "./schema.ts";
import { isBlank, isHigh, Marks, Window } from "./window.ts";

export interface Syntax {
  /** What opens a string. */
  readonly quotes: Marks;
  /** What may end a string, or stands for itself only in an escape. */
  readonly plainEnd: Uint8Array;
  /** Reads on in a string, before such a character, or where `tail` is set. */
  special(reader: Reader, code: number): Outcome | undefined | true;
  /** Blanks are JSON's own, and written as they stand. */
  readonly spaces?: boolean;
  /** Passes over blanks and comments; the code of what follows, -1 at the end. */
  comments?(reader: Reader): number | undefined;
  /** What ends a bare key and a bare value; with `wide`, so does whatever is not ASCII. */
  readonly keyEnd: Uint8Array;
  readonly bareEnd: Uint8Array;
  readonly wide: boolean;
  /** The JSON text of a bare value; `undefined`: there is no such value. */
  bare(text: string, schema: SchemaNode | undefined): string | undefined;
  /** Tuples and sets are lists: `(1, 2)` `{1, 2}`. */
  readonly tuples?: boolean;
  /** The schema of a key's value, or of an element, where bare values are typed by it. */
  inner?(schema: SchemaNode | undefined, place: string | number): SchemaNode | undefined;
}

/**
 * `cut`: the input ended first. `long`: the word that is kept is too long. Of an object whose fields somebody looks at, `field`: before
 * the value of a key, unread; `value`: behind it.
 */
export type Outcome = "done" | "bad" | "deep" | "cut" | "long" | "field" | "value";

/** Where the reader stands. */
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

/** Names, ids and the like may have so many characters. */
export const MAX_NAME = 256;
/** Farther than any string reaches; a small integer, as engines handle those best. */
export const NO_LIMIT = 0x3fff_ffff;
export const NO_MARKS = new Marks([]);
/** So many blanks may follow a stop that ends the output. */
const MAX_BLANKS = 16;

export class Reader extends Window {
  readonly maxDepth: number;
  /** Why the last outcome was `bad`. */
  reason = "";
  /** Outside a string they cannot be part of a value. */
  marks = NO_MARKS;
  /** They end the output: behind one that cuts a value nothing comes but a few blanks. */
  stops = NO_MARKS;
  /** Who writes what is read. */
  out: JsonWriter | undefined;
  /** While text, a string or a word is read: a piece without these characters is nothing else. */
  quiet: Uint8Array | undefined;
  /** It is a word of at most so many characters; 0: it is none. */
  wordMax = 0;
  /** The key that was read last. */
  key = "";
  /** The fields of objects so deep are looked at; 0: of none. */
  fieldDepth = 0;
  /** So many characters of strings are kept in `word`. */
  keeps = 0;
  /** The same, or a bare word or a key that is being read. */
  word = "";
  /** What opened the open string; and whether it is a key. */
  quote = "";
  inKey = false;
  /** A quote that nobody escaped was content: what was read may be less than was meant. */
  mended = false;
  /** For a syntax: the blanks behind a quote that may close, and what ends the comment that is open. */
  tail: string | undefined;
  comment: Marks | undefined;
  /** So many brackets are open. */
  depth = 0;

  #syntax: Syntax | undefined;
  /** What may end a string of this syntax, or the output. */
  #plainEnd: Uint8Array = NO_MARKS.leads;
  #depths = 0;
  #any = false;
  readonly #outer: Frame[] = [];
  #frame: Frame | undefined;
  #state = VALUE;
  #schema: SchemaNode | undefined;
  /** The first thing behind an open brace will tell a set. */
  #brace = false;
  /** The value of a field is being read. */
  #inField = false;
  /** Keys that were read: a tool's come again with every call, and engines know a string best that was a key before. */
  readonly #keys: (Key | undefined)[] = Array(16).fill(undefined);
  /** The key as it stands in JSON, and the blanks behind it. */
  #keyJson = "";
  #keyGap = "";

  constructor(maxDepth: number) {
    super();
    this.maxDepth = maxDepth;
  }

  /** All was read: what comes next needs no step while it has none of these characters. */
  calm(stops: Uint8Array, wordMax = 0): void {
    if (this.pos < this.end || this.keeps > 0) return;
    this.quiet = stops;
    this.wordMax = wordMax;
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
    this.#inField = this.mended = false;
    this.keeps = 0;
    this.#state = VALUE;
    return this;
  }

  /** The value need not be an object. */
  any(): this {
    this.#any = true;
    return this;
  }

  /** Begins inside an object whose bracket has been read, and maybe its first key. */
  enter(close: 125 | 41, pair: 58 | 61, key?: string): void {
    this.#push(close, pair, this.#schema);
    if (key !== undefined) this.#keyRead(key, false);
  }

  /** The value of this field is an object whose fields are looked at, too. */
  descend(): void {
    this.fieldDepth++;
    this.#inField = false;
  }

  /** Reads on; `undefined` while the value is not finished. */
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

  /** What stands for itself in a string is said here; the rest is up to the syntax. */
  #inString(syntax: Syntax): Outcome | undefined | true {
    if (this.tail !== undefined) return syntax.special(this, -1);
    const plainEnd = this.#plainEnd;
    const code = this.span(plainEnd, false);
    if (this.from < this.pos) {
      this.say(escapeJson(this.run)); // of what is plain, only half a surrogate pair is escaped
      if (this.keeps > 0 && this.backTo(this.keeps)) return "long";
    }
    if (code === -1) return "cut";
    if (code !== undefined) {
      const cut = code < 128 && this.stops.leads[code] === 1 ? this.isCut() : false;
      return cut === false ? syntax.special(this, code) : cut;
    }
    if (this.inKey) this.calm(plainEnd, NO_LIMIT);
    else if (this.out) this.calm(plainEnd);
    return undefined;
  }

  /** Whether the word is longer than that: then reading goes back to where it is not. No pair is torn apart. */
  backTo(max: number): boolean {
    const { word } = this;
    if (word.length <= max) return false;
    this.word = word.slice(0, isHigh(word.charCodeAt(max - 1)) ? max - 1 : max);
    this.pos -= word.length - this.word.length;
    return true;
  }

  /** Whether the output ends with the stop that stands here, in the open string. */
  isCut(): "cut" | false | undefined {
    const mark = this.match(this.stops);
    if (mark === undefined) return undefined;
    if (mark === "") return false;
    const end = this.pos + mark.length;
    let at = end;
    while (at < this.stop && at < end + MAX_BLANKS && isBlank(this.codes[at] as number)) at++;
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
    if (!this.comment) {
      // Mostly there is no gap.
      const code = this.pos < this.stop ? (this.codes[this.pos] as number) : 0;
      if (code > 32 && code !== 47) return code;
      const next = this.blanks();
      if (syntax.spaces && this.from < this.pos) this.space(this.run);
      if (next !== 47) return next;
    }
    return syntax.comments ? syntax.comments(this) : 47;
  }

  #value(syntax: Syntax, code: number): Outcome | undefined | true {
    if (this.depth === this.fieldDepth && this.depth > 0 && !this.#inField) {
      this.#inField = true;
      return "field";
    }
    const free = this.#frame !== undefined || this.#any;
    if (code === 123 || (free && (code === 91 || (code === 40 && syntax.tuples)))) {
      const cut = this.stops.leads[code] === 1 && this.isCut(); // Kimi's `[EOS]`
      if (cut !== false) return cut;
      this.pos++;
      if (this.depth >= this.#depths) return "deep";
      this.#push(code === 40 ? 41 : code + 2, 58, this.#inner(syntax));
      return true;
    }
    return free ? this.#open(syntax, code, BARE) : this.bad("an object was expected");
  }

  /** The schema of the value that comes next. */
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
    if (set) return this.#scalar(this.quote === "" ? syntax.bare(this.key, undefined) : this.#keyJson);
    this.pos++;
    this.out?.key(this.key, `${this.#keyJson}${this.#keyGap}:`);
    this.#state = VALUE;
    return true;
  }

  /** A bare word. A free one may hold the first character of a mark, but no mark. */
  #bare(syntax: Syntax): Outcome | undefined | true {
    const { wide } = syntax;
    const isKey = this.#state === BARE_KEY;
    const stops = isKey ? syntax.keyEnd : syntax.bareEnd;
    for (;;) {
      const code = this.span(stops, wide);
      if (this.from < this.pos) this.word += this.run;
      if (code === undefined) {
        if (!wide) this.calm(stops, NO_LIMIT);
        return undefined;
      }
      if (code === -1) return "cut";
      if (wide || code >= 128 || this.marks.leads[code] === 0) break;
      const mark = this.match(this.marks);
      if (mark === undefined) return undefined;
      if (mark !== "") {
        if (isKey || !syntax.quotes.list.includes(mark)) return this.bad(`${mark} inside a value`);
        this.pos += mark.length; // of a string, whose first quote is missing
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

  /** What was read is a value. */
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

  /** A string, if a quote stands here; else a bare word. */
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

  /** The open string ends here. */
  closeString(): true {
    if (this.inKey) this.#keyRead(this.word, true);
    else {
      this.out?.done();
      this.#state = AFTER;
    }
    return true;
  }

  /** `text`: the key as it was written, or as it stands in JSON. */
  #keyRead(text: string, isJson: boolean): void {
    const at = (text.length + (text.length > 0 ? text.charCodeAt(0) : 0)) & 15;
    let known = this.#keys[at];
    if (known === undefined || known.text !== text || known.isJson !== isJson) {
      const key = isJson ? unescapeJson(text) : text;
      const json = isJson ? text : escapeJson(text);
      known = { text, isJson, key, json: `"${json}"` };
      this.#keys[at] = known;
    }
    this.key = known.key;
    this.#keyJson = known.json;
    this.#keyGap = "";
    this.#state = COLON;
  }

  /** Blanks that are JSON's own, inside the brackets. */
  space(blanks: string): void {
    if (this.#state === COLON) this.#keyGap += blanks;
    else if (this.depth > 0) this.out?.space(blanks);
  }

  /** What stands here cannot be read, unless it is a stop, or the input was cut inside a mark. */
  bad(reason: string): Outcome | undefined {
    this.reason = reason;
    const { codes, pos, stop } = this;
    if (pos < stop && this.marks.at(codes, pos, stop, false) === undefined) return this.cut();
    return this.stops.at(codes, pos, stop, true) ? "cut" : "bad";
  }

  /** The input may end inside what stands here. */
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

/** Most words have no blanks around them. */
const trimBlanks = (text: string): string => (text.charCodeAt(0) > 32 && text.charCodeAt(text.length - 1) > 32 ? text : text.trim());
