/**
 * Arguments that come in pieces, each with the place where it belongs (Vertex AI, `streamFunctionCallArguments`), as the JSON text that they
 * come to: `{"jsonPath": "$.city", "stringValue": "Os", "willContinue": true}` and a second piece, `"lo"`, are `{"city":"Oslo"`.
 */
import { escapeJson } from "../../core/json.ts";
import type { Json, JsonObject } from "../../core/nouns.ts";
import { isText } from "../read.ts";

type Step = string | number;

const STEP = /\.([^.[\]]+)|\[(?:(\d+)|(['"])((?:\\.|(?!\3)[^\\])*)\3)\]|(.)/gs;

/** `$.a['b c'][0]`, step by step; `undefined`: it is no such path. */
function stepsOf(path: Json | undefined): Step[] | undefined {
  if (!isText(path) || path[0] !== "$") return undefined;
  const steps: Step[] = [];
  for (const [, name, index, , quoted, other] of path.slice(1).matchAll(STEP)) {
    if (other !== undefined) return undefined;
    steps.push(index === undefined ? (name ?? quoted!.replaceAll(/\\(.)/g, "$1")) : Number(index));
  }
  return steps;
}

const closers = (steps: readonly Step[]): string =>
  steps.map((step) => (typeof step === "number" ? "]" : "}")).reduceRight((all, one) => all + one, "");

export class PartialArguments {
  /** Where the last piece stands: all that it is in is open. */
  #path: readonly Step[] = [];
  /** Where something has been written. */
  readonly #places = new Set<string>();
  /** What ends the last piece. */
  #end = "";
  /** A piece belonged where nothing can be written any more: what follows is kept, but is the JSON text of nothing. */
  #isBroken = false;

  /** Nothing was said yet. */
  get isEmpty(): boolean {
    return this.#path.length === 0 && !this.#isBroken;
  }

  /** The text that a piece adds. */
  add(piece: JsonObject): string {
    const { jsonPath, stringValue, numberValue, boolValue, nullValue, willContinue } = piece;
    const path = stepsOf(jsonPath);
    const value = stringValue ?? numberValue ?? boolValue ?? (nullValue === undefined ? undefined : null);
    if (value === undefined && path && willContinue) return ""; // only said to come
    const start = this.isEmpty ? "{" : "";
    const before = this.#isBroken || !path || value === undefined ? undefined : this.#moveTo(path, isText(value));
    this.#isBroken = before === undefined;
    if (before === undefined) return start + JSON.stringify(piece);
    this.#end = isText(value) ? '"' : "";
    const text = start + before + (isText(value) ? escapeJson(value) : JSON.stringify(value));
    return willContinue ? text : text + this.#take();
  }

  /** The end of the text. */
  close(): string {
    return this.#isBroken ? "" : this.#take() + closers(this.#path);
  }

  /** What stands between the last piece and this place; a string that goes on stands there already. */
  #moveTo(path: readonly Step[], isString: boolean): string | undefined {
    const last = this.#path;
    let same = 0;
    while (same < path.length && path[same] === last[same]) same++;
    if (same === path.length) return same === last.length && this.#end !== "" && isString ? "" : undefined;
    // What was no object is none now, nor a list an object.
    if (typeof path[same] !== typeof (last.length === 0 ? "" : last[same])) return undefined;
    let text = last.length === 0 ? "" : `${this.#take()}${closers(last.slice(same + 1))},`;
    for (let depth = same; depth < path.length; depth++) {
      const step = path[depth]!;
      const place = JSON.stringify(path.slice(0, depth + 1));
      const next = depth === same && last.length > 0 ? Number(last[same]) + 1 : 0;
      if (this.#places.has(place) || (typeof step === "number" && step !== next)) return undefined;
      this.#places.add(place);
      if (depth > same) text += typeof step === "number" ? "[" : "{";
      if (isText(step)) text += `"${escapeJson(step)}":`;
    }
    this.#path = path;
    return isString ? `${text}"` : text;
  }

  #take(): string {
    const end = this.#end;
    this.#end = "";
    return end;
  }
}
