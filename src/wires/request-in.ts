/** What the readers of all requests share: a client's request, what of it the nouns have no place for, and the calls that were read so far. */
import type { Malformed, Opaque, Request, Sampling, Text, Tool, ToolCall, Warning, WireId } from "../core/nouns.ts";
import { malformedRaw, parseArguments } from "./accumulate.ts";
import { Calls } from "./calls.ts";
import { innerState, stateOf, withState } from "./opaque.ts";
import { defined, type Field, someOf, words } from "./read.ts";

export class Source {
  /** What has no thing of its own to stand on goes along with the request, by the path where it stood. */
  readonly extra: Opaque[] = [];
  readonly warnings: Warning[] = [];
  calls = new Calls([]);
  readonly #wire: WireId;
  readonly #quiet: ReadonlySet<string>;

  /** `quiet`: keys that no other wire need speak of. */
  constructor(wire: WireId, quiet = words("")) {
    this.#wire = wire;
    this.#quiet = quiet;
  }

  // What nobody has read

  /** The keys of a value, as the state of what it became. */
  state(field: Field): Opaque[] {
    return stateOf(this.#wire, field, this.#quiet);
  }
  /** Those of an object inside of it. */
  inner(kind: string, field: Field): Opaque[] {
    return innerState(this.#wire, kind, field.rest());
  }
  /** Those of an object that became no thing. */
  keep(field: Field): void {
    this.extra.push(...this.inner(field.path, field));
  }
  /** A whole value, which no noun stands for. */
  take(field: Field, quiet = false): void {
    const opaque: Opaque = { wire: this.#wire, kind: field.path, data: field.value ?? null };
    this.extra.push(quiet ? { ...opaque, quiet } : opaque);
  }
  warn(field: Field, code: string, what: string): void {
    this.take(field);
    this.warnings.push({ code, message: `${field.path} ${what}` });
  }
  /** A tool, an item or a part that is none of the nouns'. */
  unknown(field: Field, what: string, kind: string | undefined): void {
    this.warn(field, `${what}-kind`, `is of the kind "${kind}", which only its own server knows`);
  }

  /** All of the request. Comes last: by now all that is modelled was read. */
  request(root: Field, request: { [K in keyof Request]: Request[K] | undefined }, extra: readonly Opaque[] = []): Request {
    // What looks like a path is none.
    const unread = this.state(root).map((opaque) =>
      /[.[\]]/.test(opaque.kind) ? { ...opaque, kind: "", data: { [opaque.kind]: opaque.data } } : opaque,
    );
    return defined<Request>({
      ...(request as Request),
      extra: someOf([...extra, ...unread, ...this.extra]),
      warnings: someOf(this.warnings),
    });
  }

  // What many requests say alike

  /** A string, or a list of parts. */
  content<T>(content: Field, part: (part: Field) => T | readonly T[]): (T | Text)[] {
    if (typeof content.value === "string") return content.value === "" ? [] : [{ type: "text", text: content.value }];
    if (content.given && !Array.isArray(content.value)) content.fail("must be a string or a list of parts");
    return content.list().flatMap(part);
  }

  /** A call of the history. One that nobody can read is no reason to refuse what comes after it. `spelled`: an object, as it was written. */
  call(named: { id: string; name: string }, args: Field, state: Opaque[], spelled?: string): ToolCall | Malformed {
    const { value = {} } = args;
    const printed = typeof value === "string" ? value : JSON.stringify(args.object() ?? {});
    const read = parseArguments(printed);
    if ("code" in read) return { type: "malformed", raw: malformedRaw(named.name, value), ...read, id: named.id };
    const text = typeof value === "string" ? value : spelled === printed ? "" : spelled;
    return withState({ type: "tool-call", ...named, ...read, ...(text?.trim() ? { json: text } : {}) }, state);
  }
}

/** The name of one of the tools. */
export const toolName = (name: Field, tools: readonly Tool[], nameOf = (tool: Tool): string => tool.name): string =>
  tools.find((tool) => nameOf(tool) === name.value)?.name ?? name.fail("must be the name of one of the tools");

export const readStream = (stream: Field): Request["stream"] | undefined =>
  stream.boolean() ? "sse" : stream.boolean() === false ? false : undefined;

/** The numbers that a table names: the API's key, then ours. Of two keys for one setting the last one given counts. */
export function readSampling(field: Field, table: Readonly<Record<string, keyof Sampling>>): Sampling | undefined {
  const sampling: Sampling = {};
  for (const [key, name] of Object.entries(table)) {
    const value = field.at(key).number();
    if (value !== undefined) sampling[name] = value;
  }
  return Object.keys(sampling).length > 0 ? sampling : undefined;
}

/** One string to stop at, or a list of them. */
export function readStop(stop: Field): string[] | undefined {
  if (typeof stop.value === "string") return someOf([stop.value].filter(Boolean));
  return someOf(stop.list().map((item) => item.name()));
}
