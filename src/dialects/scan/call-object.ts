/**
 * Listens to a reader of a call written as one JSON object, `{"name": "f", "arguments": {…}}`: keeps the name and the id, has the
 * arguments written to the call, and passes over everything else. Keys come in any order.
 */
import { type JsonWriter, type Sink, unescapeJson } from "../../core/json.ts";
import { JSON_SYNTAX } from "../../core/json-syntax.ts";
import { NO_SINK, Reader } from "../../core/reader.ts";
import { Marks } from "../../core/window.ts";

export interface CallObjectOptions {
  readonly json: JsonWriter;
  readonly maxDepth: number;
  /** A fault does not end the reading: what is behind this object shall be read as well. */
  readonly sure: boolean;
  /** Asked about the first key: `false` means that this is no call. */
  accepts?(firstKey: string): boolean;
  /** Told as soon as the name is known, and again as soon as the arguments have begun; `false` means that this is no call. */
  ready(object: CallObject): boolean;
}

const ARGUMENTS: ReadonlySet<string> = new Set(["arguments", "parameters", "args"]);
const NO_MARKS = new Marks([]);
const NO_OBJECT = "the arguments are a string that holds no object";

export class CallObject implements Sink {
  name: string | undefined;
  id: string | undefined;
  /** The arguments have begun: an object, or a string that holds one. */
  hasArguments = false;
  /** Why the call cannot be read. */
  fault: string | undefined;
  /** Nothing more is to be read: this is no call. */
  halted = false;

  readonly #options: CallObjectOptions;
  #key: string | undefined;
  #text = "";
  #inner: StringArguments | undefined;

  constructor(options: CallObjectOptions) {
    this.#options = options;
  }

  open(bracket: "{" | "["): Sink | undefined {
    if (this.#key === undefined || (this.#key === "function" && bracket === "{")) return undefined;
    if (this.#key === "name") this.#spoil("the name is not a string");
    if (!this.#beginsArguments()) return NO_SINK;
    if (bracket === "[") this.#spoil("the arguments are a list");
    else this.#begin();
    if (this.fault !== undefined) return NO_SINK;
    const { json } = this.#options;
    json.open(bracket);
    return json;
  }
  shut(): void {}
  key(key: string): void {
    const first = this.#key === undefined;
    this.#key = key;
    if (first && this.#options.accepts?.(key) === false) this.halted = true;
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
    else if (!this.#inner.add(unescapeJson(json))) this.#spoil(NO_OBJECT);
  }
  done(): void {
    if (this.#inner) {
      if (!this.#inner.complete) this.#spoil(NO_OBJECT);
      this.#inner = undefined;
    } else if (this.#key === "id") this.id ??= unescapeJson(this.#text);
    else if (this.#key === "name" && this.name === undefined) {
      const name = unescapeJson(this.#text);
      if (name.trim() === "") this.#spoil("the name is empty");
      else {
        this.name = name;
        this.#decide();
      }
    }
  }
  scalar(json: string): void {
    if (this.#beginsArguments() && json !== "null") this.#spoil(`the arguments are ${json}`);
    if (this.#key === "name" && this.name === undefined) this.#spoil("the name is not a string");
  }

  #beginsArguments(): boolean {
    return !this.hasArguments && ARGUMENTS.has(this.#key ?? "");
  }

  #begin(): void {
    this.hasArguments = true;
    this.#decide();
  }

  #decide(): void {
    if (!this.#options.ready(this)) this.halted = true;
  }

  #spoil(fault: string): void {
    this.fault ??= fault;
    if (!this.#options.sure) this.halted = true;
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
