/** A call whose name is the key of its arguments: `{"f": {…}}`; models also write several in one object. A call with a `name` is read as usual. */
import { MAX_NAME } from "../../core/reader.ts";
import { CallObject } from "./call-object.ts";
import type { Scan } from "./scan.ts";
import { tooLong } from "./steps.ts";

export class KeyedCall extends CallObject {
  /** Whether the first key is the name; `undefined` before it. */
  #isKeyed: boolean | undefined;

  constructor(s: Scan) {
    super();
    s.key = ""; // the last key of the previous call is not this call's name
  }

  override field(s: Scan): boolean {
    const code = s.text.charCodeAt(s.pos);
    if (this.#isKeyed === undefined && s.key === "name" && code === 34) this.#isKeyed = false;
    else if (this.#isKeyed && code === 123 && this.fault === undefined) {
      s.endCall();
      s.openCall();
      s.bound(tooLong);
      this.name = undefined;
      this.hasArguments = false;
      this.#isKeyed = undefined;
    }
    this.#take(s);
    return super.field(s);
  }

  override atArguments(s: Scan): boolean {
    if (s.depth === s.fieldDepth) this.#take(s);
    return super.atArguments(s);
  }

  /** The first key is the name, and its value is the arguments. */
  #take(s: Scan): void {
    if (this.#isKeyed !== undefined) return;
    this.#isKeyed = true;
    if (s.key.trim() === "") this.fault = { code: "no-name", reason: "the name is empty" };
    else if (s.key.length > MAX_NAME) this.fault = { code: "too-long", reason: "the name is too long" };
    else this.name = s.key;
    s.key = "arguments";
  }
}
