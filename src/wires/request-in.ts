/** What the request readers of all wires share: the body, the fields that the nouns have no place for, and the calls read so far. */
import { isObject } from "../core/json.ts";
import type { Json, Malformed, Media, Opaque, Request, Text, Tool, ToolCall, ToolResult, Warning, WireId } from "../core/nouns.ts";
import { malformedRaw, parseArguments } from "./accumulate.ts";
import { Calls } from "./calls.ts";
import { Fields, fail, type Reading, readBody } from "./fields.ts";
import { opaque, withState } from "./opaque.ts";
import { printBody } from "./raw.ts";
import { defined, isList, isText, someOf, textOf } from "./read.ts";
import { ArgumentTexts } from "./spans.ts";

/** A key that looks like a path: it is kept inside an object, since `kind` is read as a path. */
const PATH = /[.[\]]/;

export class Source implements Reading {
  readonly wire: WireId;
  readonly strict = true;
  readonly quiet: ReadonlySet<string> | undefined;
  readonly lax: boolean | undefined;
  /** The body. */
  root: Fields;
  readonly calls = new Calls();
  /** Values that belong to no noun: they are kept with the request, each with its path in the body. */
  readonly extra: Opaque[] = [];
  readonly warnings: Warning[] = [];
  readonly #texts: ArgumentTexts | undefined;

  /** `args`: the key of a call's arguments, in a wire where they are an object, so that their bytes survive. */
  constructor(wire: WireId, body: unknown, { quiet, args, lax }: Pick<Reading, "quiet" | "lax"> & { args?: string } = {}) {
    this.wire = wire;
    this.quiet = quiet;
    this.lax = lax;
    this.root = new Fields(readBody(body), this);
    this.#texts = args === undefined ? undefined : new ArgumentTexts(body, args);
  }

  /** Keeps a value that the nouns have no place for. */
  take(kind: string, data: Json | undefined, quiet = false): void {
    this.extra.push(opaque(this.wire, kind, data ?? null, quiet));
  }
  /** Keeps the rest of an object that did not become a noun of its own. */
  keep(given: Fields): void {
    for (const [key, data] of Object.entries(given.rest() ?? {})) {
      if (PATH.test(key)) this.take(`${given.at}.`, { [key]: data }, data === null);
      else this.take(given.place(key), data, data === null);
    }
  }
  warn({ at, value }: Fields, code: string, what: string): void {
    this.take(at, value);
    this.warnings.push({ code, message: `${at} ${what}` });
  }
  /** Keeps a tool, an item or a part that the nouns do not have. */
  unknown(thing: Fields, what: string): [] {
    this.warn(thing, `${what}-kind`, `is of the type "${thing.value.type}", which only its own API knows`);
    return [];
  }

  /** The finished request with everything that was kept. Must be called last, when all of the body has been read. */
  request(request: { [K in keyof Request]: Request[K] | undefined }, extra: readonly Opaque[] = []): Request {
    const unread = this.root
      .state()
      ?.map((unread) => (PATH.test(unread.kind) ? { ...unread, kind: "", data: { [unread.kind]: unread.data } } : unread));
    request.extra = someOf([...extra, ...(unread ?? []), ...this.extra]);
    request.warnings = someOf(this.warnings);
    request.from = this.wire;
    return defined<Request>(request as Request);
  }

  // What several wires have in common

  /** Reads content that is a string or a list of parts. */
  content<T>(given: Fields, key: string, part: (part: Fields) => T | readonly T[]): (T | Text)[] {
    const content = given.json(key);
    if (isText(content)) return content === "" ? [] : [{ type: "text", text: content }];
    if (content && !isList(content)) given.fail(key, "must be a string or a list of parts");
    return given.each(key, part).flat() as T[];
  }

  /** A tool result from parts. The nouns hold one text, then media; if that loses anything, the original parts are kept as state. */
  result(given: Fields, key: string, named: { id: string; name: string }, parts: readonly (Text | Media)[]): ToolResult {
    const result: ToolResult = {
      role: "tool",
      ...named,
      output: parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n"),
    };
    const media = parts.filter((part) => part.type === "media");
    if (media.length > 0) result.media = media;
    const isPlain = parts.every((part, i) => !part.state && (part.type === "media" || i === 0));
    if (isPlain) return result;
    // The state of its texts, so that other wires warn about it.
    const lost = parts.flatMap(({ type, state = [] }) =>
      type === "text" ? state.map((mark) => ({ ...mark, kind: `#${mark.kind}` })) : [],
    );
    return withState(result, [opaque(this.wire, key, given.json(key) ?? null, true)], lost);
  }

  /** A call of the history. If its arguments cannot be read it becomes `malformed`; the request is not refused. */
  call(given: Fields, key: string, named: { id: string; name: string }): ToolCall | Malformed {
    const value = given.json(key) ?? {};
    const text = textOf(value);
    if (text === undefined && !isObject(value)) given.fail(key, "must be an object");
    const printed = text ?? JSON.stringify(value);
    const spelled = text ?? (this.#texts ? this.#texts.take(given.json(key)) : printBody(value)); // some clients send an object where text belongs
    const read = parseArguments(printed);
    if ("code" in read) return { type: "malformed", raw: malformedRaw(named.name, value), ...read, id: named.id };
    const call: ToolCall = { type: "tool-call", ...named, ...read };
    if (spelled?.startsWith("{", spelled.search(/\S/)) && (text !== undefined || spelled !== printed)) call.json = spelled;
    return call;
  }
}

/** Reads a conversation, which must have at least one message. */
export function conversation<T>(root: Fields, key: string, what: string, read: (item: Fields) => T): T[] {
  const items = root.each(key, read);
  return items.length > 0 ? items : root.fail(key, `must be a list of ${what} that is not empty`);
}

/** Refuses a request for several answers: the nouns have only one. */
export function onlyOne(given: Fields, key: string): void {
  if ((given.number(key) ?? 1) !== 1) given.fail(key, "must be 1: ask again for another answer");
}

/** The name of the tool that the wire calls `name`; throws if there is none. */
export const toolName = (
  name: Json | undefined,
  at: string,
  tools: readonly Tool[],
  nameOf: (tool: Tool) => string = (tool) => tool.name,
): string => tools.find((tool) => nameOf(tool) === name)?.name ?? fail(at, "must be the name of one of the tools", name);

export const readStream = (root: Fields): Request["stream"] | undefined => root.flag("stream") && "sse";

/** A limit below 0 (in Ollama's API below 1) means no limit, as in llama.cpp; it is kept for servers that understand it. */
export function readLimit(given: Fields, from: Source, key: string, other = key): number | undefined {
  const limit = given.number(key, other);
  if (limit === undefined || limit > 0 || (limit === 0 && from.wire !== "ollama")) return limit;
  from.take(given.place(given.peek(key) === undefined ? other : key), limit, true);
  return undefined;
}

/** Reads one stop string, or a list of them. */
export function readStop(given: Fields, key: string): string[] | undefined {
  const stop = given.json(key);
  if (isText(stop)) return stop === "" ? undefined : [stop];
  return someOf(given.names(key));
}
