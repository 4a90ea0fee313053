/**
 * Listens to a reader of a call written as one JSON object, `{"name": "f", "arguments": {…}}`: keeps the name and the id, has the
 * arguments written to the call, and passes over everything else. Keys come in any order.
 */
import { type JsonWriter, type Sink, unescapeJson } from "../../core/json.ts";
import { JSON_SYNTAX } from "../../core/json-syntax.ts";
import { Reader } from "../../core/reader.ts";
import { Marks } from "../../core/window.ts";

export interface CallObjectOptions {
  readonly json: JsonWriter;
  readonly maxDepth: number;
  /** Asked about the first key: `false` means that this is no call. */
  accepts?(firstKey: string): boolean;
  /** Told as soon as the name is known, and again as soon as the arguments have begun; `false` means that this is no call. */
  ready(object: CallObject): boolean;
}

const ARGUMENTS: ReadonlySet<string> = new Set(["arguments", "parameters", "args"]);
const NO_MARKS = new Marks([]);

/** Listens to what does not matter. */
const NOBODY: Sink = {
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

export class CallObject implements Sink {
  name: string | undefined;
  id: string | undefined;
  /** The arguments have begun: an object, or a string that holds one. */
  hasArguments = false;
  /** Nothing more is to be read. Without a `fault` that means: this is no call. */
  halted = false;
  fault: string | undefined;

  readonly #options: CallObjectOptions;
  #key: string | undefined;
  #text = "";
  #inner: StringArguments | undefined;

  constructor(options: CallObjectOptions) {
    this.#options = options;
  }

  open(bracket: "{" | "["): Sink | undefined {
    if (this.#key === undefined || (this.#key === "function" && bracket === "{")) return undefined;
    if (this.#key === "name") this.#halt("the name is not a string");
    if (!this.#beginsArguments()) return NOBODY;
    const { json } = this.#options;
    if (bracket === "[") this.#halt("the arguments are a list");
    else this.#begin();
    json.open(bracket);
    return json;
  }
  shut(): void {}
  key(key: string): void {
    const first = this.#key === undefined;
    this.#key = key;
    if (first && this.#options.accepts?.(key) === false) this.#halt(undefined);
  }
  comma(): void {}
  space(): void {}
  string(): void {
    this.#text = "";
    if (!this.#beginsArguments()) return;
    this.#inner = new StringArguments(this.#options);
    this.#begin();
  }
  run(json: string): void {
    if (!this.#inner) this.#text += json;
    else if (!this.#inner.add(unescapeJson(json))) this.#halt("the arguments are a string that holds no object");
  }
  done(): void {
    if (this.#inner) {
      if (!this.#inner.complete) this.#halt("the arguments are a string that holds no object");
      this.#inner = undefined;
    } else if (this.#key === "id") this.id ??= unescapeJson(this.#text);
    else if (this.#key === "name" && this.name === undefined) {
      this.name = unescapeJson(this.#text);
      if (this.name.trim() === "") this.#halt("the name is empty");
      else this.#decide();
    }
  }
  scalar(json: string): void {
    if (this.#beginsArguments() && json !== "null") this.#halt(`the arguments are ${json}`);
    if (this.#key === "name" && this.name === undefined) this.#halt("the name is not a string");
  }

  #beginsArguments(): boolean {
    return !this.hasArguments && ARGUMENTS.has(this.#key ?? "");
  }

  #begin(): void {
    this.hasArguments = true;
    this.#decide();
  }

  #decide(): void {
    if (!this.#options.ready(this)) this.#halt(undefined);
  }

  #halt(fault: string | undefined): void {
    this.halted = true;
    this.fault = fault;
  }
}

/** Arguments given as a string are decoded once. An empty string holds no arguments. */
class StringArguments {
  complete = true;
  readonly #reader: Reader;

  constructor({ json, maxDepth }: CallObjectOptions) {
    this.#reader = new Reader().begin(JSON_SYNTAX, json, { marks: NO_MARKS, maxDepth });
  }

  /** Whether this can be an object. */
  add(text: string): boolean {
    const reader = this.#reader;
    reader.add(text);
    const outcome = reader.read();
    if (outcome !== "done") {
      this.complete &&= text.trim() === "";
      return outcome === undefined;
    }
    this.complete = true;
    const rest = reader.text.slice(reader.pos);
    reader.pos = reader.stop;
    return rest.trim() === "";
  }
}
