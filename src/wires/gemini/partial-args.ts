/**
 * Turns arguments that come in pieces, each with its path (Vertex AI, `streamFunctionCallArguments`), into JSON text:
 * `{"jsonPath": "$.city", "stringValue": "Os", "willContinue": true}` and a second piece, `"lo"`, become `{"city":"Oslo"`.
 */
import { escapeJson } from "../../core/json.ts";
import type { Json, JsonObject } from "../../core/nouns.ts";
import { isText } from "../read.ts";

type Step = string | number;

const STEP = /\.([^.[\]]+)|\[(?:(\d+)|(['"])((?:\\.|(?!\3)[^\\])*)\3)\]|(.)/gs;

/** The steps of a path such as `$.a['b c'][0]`; `undefined`: it is not a path. */
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
  /** The path of the last piece: every object and list along it is open. */
  #path: readonly Step[] = [];
  /** The places that have been written to. */
  readonly #places = new Set<string>();
  /** The text that closes the last piece: a quote, or nothing. */
  #end = "";
  /** A piece could not be placed: it and all that follow are appended as they are, and the text is no longer valid JSON. */
  #isBroken = false;

  get isEmpty(): boolean {
    return this.#path.length === 0 && !this.#isBroken;
  }

  /** Returns the text that a piece adds. */
  add(piece: JsonObject): string {
    const { jsonPath, stringValue, numberValue, boolValue, nullValue, willContinue } = piece;
    const path = stepsOf(jsonPath);
    const value = stringValue ?? numberValue ?? boolValue ?? (nullValue === undefined ? undefined : null);
    if (value === undefined && path && willContinue) return ""; // a value will follow
    const start = this.isEmpty ? "{" : "";
    const before = this.#isBroken || !path || value === undefined ? undefined : this.#moveTo(path, isText(value));
    this.#isBroken = before === undefined;
    if (before === undefined) return start + JSON.stringify(piece);
    this.#end = isText(value) ? '"' : "";
    const text = start + before + (isText(value) ? escapeJson(value) : JSON.stringify(value));
    return willContinue ? text : text + this.#take();
  }

  /** Returns the end of the text. */
  close(): string {
    return this.#isBroken ? "" : this.#take() + closers(this.#path);
  }

  /** The text between the last piece and this place: none for a string that continues; `undefined`: the place cannot be reached. */
  #moveTo(path: readonly Step[], isString: boolean): string | undefined {
    const last = this.#path;
    let same = 0;
    while (same < path.length && path[same] === last[same]) same++;
    if (same === path.length) return same === last.length && this.#end !== "" && isString ? "" : undefined;
    // A list cannot become an object, nor an object a list.
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
