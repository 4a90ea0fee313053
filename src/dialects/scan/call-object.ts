/**
 * A call written as one JSON object, `{"name": "f", "arguments": {…}}`, its keys in any order. Keeps the name and the id, lets the reader
 * write the arguments, and ignores the other fields.
 */
import { JSON_SYNTAX } from "../../core/json-syntax.ts";
import type { MalformedCode } from "../../core/nouns.ts";
import { MAX_NAME, NO_LIMIT, NO_MARKS, type Outcome, Reader } from "../../core/reader.ts";
import type { Scan } from "./scan.ts";

const NAMES: ReadonlySet<string> = new Set(["name", "tool_name"]);
const IDS: ReadonlySet<string> = new Set(["id", "tool_call_id"]);
const ARGUMENTS: ReadonlySet<string> = new Set(["arguments", "parameters", "args"]);
const NO_OBJECT = { code: "bad-arguments", reason: "the arguments are a string that holds no object" } as const;
const TOO_DEEP = { code: "too-deep", reason: "the string of arguments is nested deeper than `maxDepth` allows" } as const;

export class CallObject {
  name: string | undefined;
  id: string | undefined;
  /** The arguments have begun: an object, or a string that holds one. */
  hasArguments = false;
  /** It has keys that calls do not have, and no key for arguments, not even with `null`. */
  strange: boolean | undefined;
  /** Why the call cannot be read. */
  fault: { readonly code: MalformedCode; readonly reason: string } | undefined;
  /** Where the arguments are a string: the reader of what it contains, and the outcome. An empty string means no arguments. */
  #inner: Reader | undefined;
  #outcome: Outcome | undefined;
  #empty = true;
  #first = true;

  /** Called before the value of a field. Answers whether it is the first one. */
  field(s: Scan): boolean {
    const { key } = s;
    const first = this.#first;
    this.#first = false;
    const code = s.text.charCodeAt(s.pos);
    const quoted = code === 34 || code === 39;
    s.out = undefined;
    s.word = "";
    s.keeps = 0;
    if (key === "function" && code === 123) s.descend();
    else if (IDS.has(key) || NAMES.has(key)) {
      if (quoted) s.keeps = MAX_NAME;
      else if (NAMES.has(key) && this.name === undefined) this.fault ??= { code: "no-name", reason: "the name is not a string" };
    } else if (!this.hasArguments && ARGUMENTS.has(key)) {
      this.strange = false;
      this.hasArguments = quoted || code === 123;
      if (quoted) this.openString(s);
      else if (this.hasArguments) s.out = this.fault === undefined ? s.json : undefined;
      else if (code !== 110 && code !== 78) this.fault ??= { code: "bad-arguments", reason: "the arguments are not an object" }; // `null`, `None`: there are none
    } else if (key !== "type" && key !== "function") this.strange ??= true;
    return first;
  }

  /** Before a string that holds the arguments. */
  openString(s: Scan): void {
    this.#inner = new Reader(s.maxDepth).begin(JSON_SYNTAX, s.json, NO_MARKS);
    s.keeps = NO_LIMIT;
  }

  /** Whether the last thing that was read is the key of the arguments. */
  atArguments(s: Scan): boolean {
    return this.fault?.code !== "too-deep" && s.depth === s.fieldDepth && ARGUMENTS.has(s.key);
  }

  /** Called after each piece of a value. */
  piece(s: Scan): void {
    const inner = this.#inner;
    let rest = s.word;
    if (!inner || rest === "") return;
    s.word = "";
    this.#empty &&= rest.trim() === "";
    if (this.#outcome === undefined) {
      inner.add(rest);
      this.#outcome = inner.read();
      rest = inner.ahead;
    }
    // Once something is unreadable the rest is not looked at: what is reported must not depend on where a piece ended.
    if (this.#outcome === "deep") this.fault ??= TOO_DEEP;
    else if (this.#outcome !== undefined && (this.#outcome !== "done" || rest.trim() !== "")) this.fault ??= NO_OBJECT;
  }

  /** Called after the value of a field. */
  value(s: Scan): void {
    const { keeps, key, word } = s;
    s.out = undefined;
    s.keeps = 0;
    if (this.#inner) {
      if (this.#outcome !== "done" && !this.#empty) this.fault ??= NO_OBJECT;
      this.#inner = undefined;
    } else if (keeps > 0 && IDS.has(key)) this.id ??= word;
    else if (keeps > 0 && this.name === undefined) {
      if (word.trim() === "") this.fault ??= { code: "no-name", reason: "the name is empty" };
      else this.name = word;
    }
  }
}
