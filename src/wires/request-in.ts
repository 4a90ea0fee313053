/** What the readers of all requests share: a client's request, what of it the nouns have no place for, and the calls that were read so far. */
import type { Json, JsonObject, Malformed, Opaque, Request, Sampling, Text, Tool, ToolCall, Warning, WireId } from "../core/nouns.ts";
import { malformedRaw, parseArguments } from "./accumulate.ts";
import { Calls } from "./calls.ts";
import { innerState, opaques, withState } from "./opaque.ts";
import {
  defined,
  each,
  type FieldNames,
  fail,
  fields,
  flag,
  inside,
  isEmpty,
  list,
  listOf,
  name,
  number,
  object,
  objectOf,
  restOf,
  someOf,
  words,
} from "./read.ts";

export class Source {
  /** What has no thing of its own to stand on goes along with the request, by the path where it stood. */
  readonly extra: Opaque[] = [];
  readonly warnings: Warning[] = [];
  calls = new Calls(() => []);
  readonly #wire: WireId;
  readonly #quiet: ReadonlySet<string>;

  /** `quiet`: keys that no other wire need speak of. */
  constructor(wire: WireId, quiet = words("")) {
    this.#wire = wire;
    this.#quiet = quiet;
  }

  // What is left when all that the nouns have was taken out

  /** Of a value, as the state of what it became. */
  state(rest: JsonObject): Opaque[] | undefined {
    return opaques(this.#wire, rest, this.#quiet);
  }
  /** Of an object inside of it. */
  inner(kind: string, rest: JsonObject): Opaque[] | undefined {
    return innerState(this.#wire, kind, rest);
  }
  /** Of an object that became no thing. */
  keep(at: string, rest: JsonObject): void {
    const data = restOf(rest);
    if (data) this.take(at, data);
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

  /** All of the request, and what is left of it. Comes last: by now everything was read. */
  request(rest: JsonObject, request: { [K in keyof Request]: Request[K] | undefined }, extra: readonly Opaque[] = []): Request {
    // What looks like a path is none.
    const unread = this.state(rest)?.map((opaque) =>
      /[.[\]]/.test(opaque.kind) ? { ...opaque, kind: "", data: { [opaque.kind]: opaque.data } } : opaque,
    );
    request.extra = someOf([...extra, ...(unread ?? []), ...this.extra]);
    request.warnings = someOf(this.warnings);
    return defined<Request>(request as Request);
  }

  // What many requests say alike

  /** A string, or a list of parts. */
  content<T>(content: Json | undefined, at: string, key: string, part: (part: JsonObject, at: string) => T | readonly T[]): (T | Text)[] {
    if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
    if (content && !Array.isArray(content)) fail(inside(at, key), "must be a string or a list of parts", content);
    return each(content, at, key, part).flat() as T[];
  }

  /** A call of the history. One that nobody can read is no reason to refuse what comes after it. `spelled`: an object, as it was written. */
  call(
    named: { id: string; name: string },
    given: Json | undefined,
    at: string,
    key: string,
    state?: Opaque[],
    spelled?: string,
  ): ToolCall | Malformed {
    const value = given ?? {};
    const isText = typeof value === "string";
    const printed = isText ? value : JSON.stringify(object(value, at, key));
    const read = parseArguments(printed);
    if ("code" in read) return { type: "malformed", raw: malformedRaw(named.name, value), ...read, id: named.id };
    const call: ToolCall = { type: "tool-call", ...named, ...read };
    const json = isText ? value : spelled === printed ? "" : spelled;
    if (json?.trim()) call.json = json;
    return withState(call, state);
  }
}

/** The ids of the calls of messages that list them as chat completions do. */
export const idsOfCalls = (messages: Json | undefined) => (): (Json | undefined)[] =>
  listOf(messages).flatMap((message) => listOf(objectOf(message).tool_calls).map((call) => objectOf(call).id));

/** A conversation, which has at least one message. */
export function conversation<T>(given: Json | undefined, key: string, what: string, read: (item: JsonObject, at: string) => T): T[] {
  const items = each(given, "", key, read);
  return items.length > 0 ? items : fail(key, `must be a list of ${what} that is not empty`, given);
}

/** How many answers are wanted: the nouns have one. */
export function onlyOne(given: Json | undefined, at: string, key: string): void {
  const count = number(given, at, key) ?? 1;
  if (count !== 1) fail(inside(at, key), "must be 1: ask once more for another answer", count);
}

/** The name of one of the tools. */
export const toolName = (
  name: Json | undefined,
  at: string,
  tools: readonly Tool[],
  nameOf: (tool: Tool) => string = (tool) => tool.name,
): string => tools.find((tool) => nameOf(tool) === name)?.name ?? fail(at, "must be the name of one of the tools", name);

export function readStream(given: Json | undefined): Request["stream"] | undefined {
  const stream = flag(given, "", "stream");
  return stream ? "sse" : stream;
}

export function readSampling(from: JsonObject, names: FieldNames, at = ""): [Sampling | undefined, rest: JsonObject] {
  const [sampling, rest] = fields<Sampling>(from, names, at);
  return [isEmpty(sampling) ? undefined : sampling, rest];
}

/** One string to stop at, or a list of them. */
export function readStop(stop: Json | undefined, at: string, key: string): string[] | undefined {
  if (typeof stop === "string") return stop === "" ? undefined : [stop];
  return someOf(list(stop, at, key).map((item, i) => name(item, at, `${key}[${i}]`)));
}
