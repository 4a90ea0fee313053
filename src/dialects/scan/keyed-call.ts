/** A call whose name is the key of its arguments: `{"f": {…}}`. A call with a `name` is read as usual. */
import { MAX_NAME } from "../../core/reader.ts";
import { CallObject } from "./call-object.ts";
import type { Scan } from "./scan.ts";

export class KeyedCall extends CallObject {
  #first = true;

  constructor(s: Scan) {
    super();
    s.key = ""; // the last key of the previous call is not this call's name
  }

  override field(s: Scan): boolean {
    const isUsual = s.key === "name" && s.codes[s.pos] === 34;
    if (isUsual) this.#first = false;
    else this.#take(s);
    return super.field(s);
  }

  override atArguments(s: Scan): boolean {
    if (s.depth === s.fieldDepth) this.#take(s);
    return super.atArguments(s);
  }

  /** The first key is the name, and its value is the arguments. */
  #take(s: Scan): void {
    if (!this.#first) return;
    this.#first = false;
    if (s.key.trim() === "") this.fault = { code: "no-name", reason: "the name is empty" };
    else if (s.key.length > MAX_NAME) this.fault = { code: "too-long", reason: "the name is too long" };
    else this.name = s.key;
    s.key = "arguments";
  }
}
