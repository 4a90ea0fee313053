/** What the readers of all requests share: a client's request, what of it the nouns have no place for, and the calls that were read so far. */
import type { Json, JsonObject, Malformed, Opaque, Request, Sampling, Text, Tool, ToolCall, Warning, WireId } from "../core/nouns.ts";
import { malformedRaw, parseArguments } from "./accumulate.ts";
import { Calls } from "./calls.ts";
import { innerState, opaques, withState } from "./opaque.ts";
import {
  defined,
  eachOf,
  type FieldNames,
  fail,
  fields,
  flag,
  inside,
  isEmpty,
  list,
  NOT_EMPTY,
  number,
  object,
  restOf,
  someOf,
  valueAt,
  type Words,
  words,
} from "./read.ts";

export class Source {
  /** What has no thing of its own to stand on goes along with the request, by the path where it stood. */
  readonly extra: Opaque[] = [];
  readonly warnings: Warning[] = [];
  calls = new Calls(() => []);
  readonly #wire: WireId;
  readonly #quiet: Words;

  /** `quiet`: keys that no other wire need speak of. */
  constructor(wire: WireId, quiet = words("")) {
    this.#wire = wire;
    this.#quiet = quiet;
  }

  // What nobody reads

  /** The other keys of a value, as the state of what it became. */
  state(value: JsonObject, known: Words): Opaque[] | undefined {
    return opaques(this.#wire, value, known, this.#quiet);
  }
  /** Those of an object inside of it. */
  inner(kind: string, value: JsonObject, known: Words): Opaque[] | undefined {
    return innerState(this.#wire, kind, value, known);
  }
  /** Those of an object that became no thing. */
  keep(at: string, value: JsonObject | undefined, known: Words): void {
    const rest = value && restOf(value, known);
    if (rest) this.take(at, rest);
  }
  /** A whole value, which no noun stands for. */
  take(kind: string, data: Json | undefined, quiet = false): void {
    const opaque: Opaque = { wire: this.#wire, kind, data: data ?? null };
    if (quiet) opaque.quiet = quiet;
    this.extra.push(opaque);
  }
  warn(at: string, data: Json, code: string, what: string): void {
    this.take(at, data);
    this.warnings.push({ code, message: `${at} ${what}` });
  }
  /** A tool, an item or a part that is none of the nouns'. */
  unknown(at: string, data: Json, what: string, kind: string | undefined): void {
    this.warn(at, data, `${what}-kind`, `is of the kind "${kind}", which only its own server knows`);
  }

  /** All of the request. Comes last: by now all that is modelled was read. */
  request(
    root: JsonObject,
    known: Words,
    request: { [K in keyof Request]: Request[K] | undefined },
    extra: readonly Opaque[] = [],
  ): Request {
    // What looks like a path is none.
    const unread = this.state(root, known)?.map((opaque) =>
      /[.[\]]/.test(opaque.kind) ? { ...opaque, kind: "", data: { [opaque.kind]: opaque.data } } : opaque,
    );
    request.extra = someOf([...extra, ...(unread ?? []), ...this.extra]);
    request.warnings = someOf(this.warnings);
    return defined<Request>(request as Request);
  }

  // What many requests say alike

  /** A string, or a list of parts. */
  content<T>(from: JsonObject, key: string, at: string, part: (part: JsonObject, at: string) => T | readonly T[]): (T | Text)[] {
    const content = valueAt(from, key);
    if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
    if (content !== undefined && !Array.isArray(content)) fail(inside(at, key), "must be a string or a list of parts", content);
    return eachOf(list(from, key, at), inside(at, key), part).flat() as T[];
  }

  /** A call of the history. One that nobody can read is no reason to refuse what comes after it. `spelled`: an object, as it was written. */
  call(
    named: { id: string; name: string },
    fn: JsonObject,
    key: string,
    at: string,
    state?: Opaque[],
    spelled?: string,
  ): ToolCall | Malformed {
    const value = valueAt(fn, key) ?? {};
    const isText = typeof value === "string";
    const printed = isText ? value : JSON.stringify(object(fn, key, at) ?? {});
    const read = parseArguments(printed);
    if ("code" in read) return { type: "malformed", raw: malformedRaw(named.name, value), ...read, id: named.id };
    const call: ToolCall = { type: "tool-call", ...named, ...read };
    const json = isText ? value : spelled === printed ? "" : spelled;
    if (json?.trim()) call.json = json;
    return withState(call, state);
  }
}

/** Messages that are a list, and not an empty one. */
export function messagesIn(root: JsonObject, key = "messages", what = "messages"): readonly Json[] {
  const given = list(root, key);
  return given.length > 0 ? given : fail(key, `must be a list of ${what} that is not empty`, valueAt(root, key));
}

/** How many answers are wanted: the nouns have one. */
export function onlyOne(from: JsonObject, key: string, at = ""): void {
  const count = number(from, key, at) ?? 1;
  if (count !== 1) fail(inside(at, key), "must be 1: ask once more for another answer", count);
}

/** The name of one of the tools. */
export const toolName = (
  name: Json | undefined,
  at: string,
  tools: readonly Tool[],
  nameOf: (tool: Tool) => string = (tool) => tool.name,
): string => tools.find((tool) => nameOf(tool) === name)?.name ?? fail(at, "must be the name of one of the tools", name);

export function readStream(root: JsonObject): Request["stream"] | undefined {
  const stream = flag(root, "stream");
  return stream ? "sse" : stream;
}

export function readSampling(from: JsonObject, names: FieldNames, at?: string): Sampling | undefined {
  const sampling = fields<Sampling>(from, names, at);
  return isEmpty(sampling) ? undefined : sampling;
}

/** One string to stop at, or a list of them. */
export function readStop(from: JsonObject, key: string, at = ""): string[] | undefined {
  const stop = valueAt(from, key);
  if (typeof stop === "string") return stop === "" ? undefined : [stop];
  const place = inside(at, key);
  const isStop = (item: Json): item is string => typeof item === "string" && item !== "";
  return someOf(list(from, key, at).map((item, i) => (isStop(item) ? item : fail(`${place}[${i}]`, NOT_EMPTY, item))));
}
