/**
 * One incremental reader for objects, that is for values with brackets, pairs and strings. What differs between JSON and the value
 * syntaxes of models is a `Syntax` constant. It keeps an explicit stack, and says what it reads to a `Sink` as soon as it is certain.
 */
import { escapeJson, type Sink, unescapeJson } from "./json.ts";
import type { SchemaNode } from "./schema.ts";
import { Marks, Window } from "./window.ts";

export interface Syntax {
  /** What opens a string. */
  readonly quotes: Marks;
  /** Reads on in a string. */
  readString(reader: Reader): Outcome | undefined | true;
  /** Passes over blanks, and what counts as such; the code of what follows, -1 at the end. */
  gap(reader: Reader): number | undefined;
  /** What ends a bare key and a bare value; with `wide`, so does whatever is not ASCII. */
  readonly keyEnd: Uint8Array;
  readonly bareEnd: Uint8Array;
  readonly wide: boolean;
  /** The JSON text of a bare value; `undefined`: there is no such value. */
  bare(text: string, schema: SchemaNode | undefined): string | undefined;
  /** The schema of a key's value, or of an element, where bare values are typed by it. */
  inner?(schema: SchemaNode | undefined, key: string | undefined): SchemaNode | undefined;
}

/** `halt`: the sink wants no more. `cut`: the input ended first. */
export type Outcome = "done" | "bad" | "deep" | "cut" | "halt";

export interface ReaderOptions {
  /** Outside a string they cannot be part of a value. */
  readonly marks: Marks;
  readonly maxDepth: number;
  readonly schema?: SchemaNode | undefined;
  /** The value need not be an object. */
  readonly any?: boolean;
}

/** Where the reader stands. */
const VALUE = 0;
const KEY = 1;
const BARE_KEY = 2;
const COLON = 3;
const AFTER = 4;
const STRING = 5;
const BARE = 6;

interface Frame {
  readonly close: number;
  readonly array: boolean;
  readonly pair: number;
  readonly schema: SchemaNode | undefined;
  /** Who listens outside. */
  readonly sink: Sink;
}

const NO_MARKS = new Marks([]);
/** Listens to what does not matter. */
export const NO_SINK: Sink = {
  open: () => undefined,
  shut() {},
  key() {},
  comma() {},
  space() {},
  string() {},
  run() {},
  done() {},
  scalar() {},
};

export class Reader extends Window {
  /** Why the last outcome was `bad`. */
  reason = "";
  marks = NO_MARKS;
  /** What closes the open string. */
  quote = "";
  /** For a syntax: the blanks behind a quote that may close, and what ends the comment that is open. */
  tail: string | undefined;
  comment: Marks | undefined;

  #syntax: Syntax | undefined;
  #sink = NO_SINK;
  #maxDepth = 0;
  #any = false;
  #outer: Frame[] = [];
  #frame: Frame | undefined;
  #depth = 0;
  #state = VALUE;
  /** The schema of the value that comes next. */
  #schema: SchemaNode | undefined;
  #inKey = false;
  /** A key or a bare value, so far; the key as it stands in JSON, and the blanks behind it. */
  #text = "";
  #keyJson = "";
  #keyGap = "";

  /** Begins to read a value. */
  begin(syntax: Syntax, sink: Sink, { marks, maxDepth, schema, any = false }: ReaderOptions): this {
    this.#syntax = syntax;
    this.#sink = sink;
    this.marks = marks;
    this.#maxDepth = maxDepth;
    this.#any = any;
    this.#schema = schema;
    this.#outer = [];
    this.#frame = this.tail = this.comment = undefined;
    this.#depth = 0;
    this.#state = VALUE;
    return this;
  }

  /** Begins inside an object whose bracket has been read. */
  enter(close: "}" | ")", pair: ":" | "="): this {
    if (this.#syntax) this.#push(this.#syntax, false, close, pair);
    return this;
  }

  /** Reads on; `undefined` while the value is not finished. */
  read(): Outcome | undefined {
    const syntax = this.#syntax;
    if (!syntax) return "bad";
    for (;;) {
      const outcome = this.#step(syntax);
      if (outcome !== true) return outcome;
      if (this.#sink.halted) return "halt";
    }
  }

  #step(syntax: Syntax): Outcome | undefined | true {
    if (this.#state === STRING) return syntax.readString(this);
    if (this.#state === BARE_KEY) return this.#bareKey(syntax);
    if (this.#state === BARE) return this.#bare(syntax);
    if (this.#state === AFTER && !this.#frame) return "done";
    // Mostly there is no gap: neither a blank nor, where those count, a comment.
    let code: number | undefined = this.pos < this.stop && this.comment === undefined ? this.text.charCodeAt(this.pos) : 0;
    if (code <= 32 || code === 47) code = syntax.gap(this);
    if (code === undefined) return undefined;
    if (code === -1) return "cut";
    if (this.#state === VALUE) return this.#value(syntax, code);
    if (this.#state === KEY) return this.#key(syntax, code);
    return this.#state === COLON ? this.#colon(syntax, code) : this.#after(syntax, code);
  }

  #value(syntax: Syntax, code: number): Outcome | undefined | true {
    const frame = this.#frame;
    const free = frame !== undefined || this.#any;
    if (frame?.array && code === frame.close) return this.#shut();
    if (code === 123 || (code === 91 && free)) {
      this.pos++;
      if (this.#depth >= this.#maxDepth) return "deep";
      this.#push(syntax, code === 91, code === 91 ? "]" : "}", ":");
      return true;
    }
    return free ? this.#openString(syntax, code, BARE) : this.bad("an object was expected");
  }

  #key(syntax: Syntax, code: number): Outcome | undefined | true {
    if (code === this.#frame?.close) return this.#shut();
    if (code !== 44) return this.#openString(syntax, code, BARE_KEY);
    this.pos++;
    return true;
  }

  #bareKey(syntax: Syntax): Outcome | undefined | true {
    const ended = this.#gather(syntax.keyEnd, syntax.wide);
    if (ended !== true) return ended;
    const key = trimBlanks(this.#text);
    if (key === "" && syntax.wide) return this.bad("a key was expected");
    this.#keyRead(key, escapeJson(key));
    return true;
  }

  #colon(syntax: Syntax, code: number): Outcome | undefined | true {
    const frame = this.#frame;
    if (code !== frame?.pair) return this.bad(`the key ${JSON.stringify(this.#text)} has no value`);
    this.pos++;
    this.#sink.key(this.#text, this.#keyGap === "" ? `"${this.#keyJson}":` : `"${this.#keyJson}"${this.#keyGap}:`);
    if (syntax.inner) this.#schema = syntax.inner(frame.schema, this.#text);
    this.#state = VALUE;
    return true;
  }

  #after(syntax: Syntax, code: number): Outcome | undefined | true {
    const frame = this.#frame;
    if (!frame || code === frame.close) return this.#shut();
    if (code !== 44) return this.bad("a comma or a closing bracket was expected");
    this.pos++;
    this.#sink.comma();
    this.#next(syntax, frame);
    return true;
  }

  #bare(syntax: Syntax): Outcome | undefined | true {
    const ended = this.#gather(syntax.bareEnd, syntax.wide);
    if (ended !== true) return ended;
    const text = trimBlanks(this.#text);
    const json = syntax.bare(text, this.#schema);
    if (json === undefined) return this.bad(text === "" ? "a value was expected" : `${JSON.stringify(text)} is not a value`);
    if (json.startsWith('"')) {
      this.#sink.string();
      this.#sink.run(json.slice(1, -1));
      this.#sink.done();
    } else this.#sink.scalar(json);
    this.#state = AFTER;
    return true;
  }

  /** Gathers a bare word. A free one may hold the first character of a mark, but no mark. */
  #gather(end: Uint8Array, wide: boolean): Outcome | undefined | true {
    for (;;) {
      const code = this.span(end, wide);
      if (this.from < this.pos) this.#text = this.#text === "" ? this.run : this.#text + this.run;
      if (code === undefined) return undefined;
      if (code === -1) return "cut";
      if (wide || code >= 128 || this.marks.leads[code] === 0) return true;
      const mark = this.match(this.marks);
      if (mark === undefined) return undefined;
      if (mark !== "") return this.bad(`${mark} inside a value`);
      this.#text += this.text.charAt(this.pos++);
    }
  }

  /** A string, if a quote stands here; else a bare word. */
  #openString(syntax: Syntax, code: number, bare: typeof BARE | typeof BARE_KEY): undefined | true {
    let mark: string | undefined = "";
    if (code < 128 && syntax.quotes.leads[code] === 1) mark = this.match(syntax.quotes);
    if (mark === undefined) return undefined;
    this.#text = "";
    this.#state = mark === "" ? bare : STRING;
    if (mark === "") return true;
    this.pos += mark.length;
    this.quote = mark;
    this.#inKey = bare === BARE_KEY;
    if (!this.#inKey) this.#sink.string();
    return true;
  }

  /** The next piece of the open string, as JSON text. */
  say(json: string): void {
    if (this.#inKey) this.#text += json;
    else this.#sink.run(json);
  }

  /** The open string ends here. */
  closeString(): true {
    if (this.#inKey) this.#keyRead(unescapeJson(this.#text), this.#text);
    else {
      this.#sink.done();
      this.#state = AFTER;
    }
    return true;
  }

  #keyRead(key: string, json: string): void {
    this.#text = key;
    this.#keyJson = json;
    this.#keyGap = "";
    this.#state = COLON;
  }

  /** Blanks that are JSON's own. */
  space(blanks: string): void {
    if (this.#state === COLON) this.#keyGap += blanks;
    else this.#sink.space(blanks);
  }

  /** What stands here cannot be read, unless the input was cut inside a mark. */
  bad(reason: string): Outcome | undefined {
    this.reason = reason;
    if (this.pos === this.stop || this.marks.at(this.text, this.pos, this.stop, false) !== undefined) return "bad";
    if (!this.last) return undefined;
    this.pos = this.stop;
    return "cut";
  }

  #push(syntax: Syntax, array: boolean, close: string, pair: string): void {
    const frame = { close: close.charCodeAt(0), array, pair: pair.charCodeAt(0), schema: this.#schema, sink: this.#sink };
    if (this.#frame) this.#outer.push(this.#frame);
    this.#frame = frame;
    this.#depth++;
    this.#sink = this.#sink.open(array ? "[" : "{") ?? this.#sink;
    this.#next(syntax, frame);
  }

  #next(syntax: Syntax, frame: Frame): void {
    this.#state = frame.array ? VALUE : KEY;
    if (frame.array && syntax.inner) this.#schema = syntax.inner(frame.schema, undefined);
  }

  #shut(): Outcome | true {
    this.pos++;
    this.#sink.shut();
    if (this.#frame) this.#sink = this.#frame.sink;
    this.#frame = this.#outer.pop();
    this.#depth--;
    this.#state = AFTER;
    return this.#frame ? true : "done";
  }
}

/** Most words have no blanks around them. */
const trimBlanks = (text: string): string => (text.charCodeAt(0) > 32 && text.charCodeAt(text.length - 1) > 32 ? text : text.trim());
