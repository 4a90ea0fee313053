/**
 * `dragoman.toml`: everything that flags are too short for.
 *
 *     [upstreams.local]
 *     url = "http://127.0.0.1:8000/v1"
 *
 *     [models."gemini-*"]
 *     upstream = "local"
 *     model = "qwen3"
 *
 * A mistake is one line that says where it stands. Secrets are not in the file: `"env:NAME"` says which variable has one.
 */
import { existsSync } from "node:fs";
import { isIP } from "node:net";
import { homedir } from "node:os";
import { dirname, resolve } from "node:path";
import { parse, TomlError } from "smol-toml";
import type { Sampling, ThinkingSettings } from "../core/nouns.ts";
import { listDialects } from "../dialects/registry.ts";
import { BACKENDS } from "../engines/completions/backends.ts";
import type { ServerId } from "../engines/engine.ts";
import { KNOWN } from "../engines/known.ts";
import type { Limits } from "../engines/limited.ts";
import type { Gpu } from "../engines/llama/runtime.ts";
import { urlProblem } from "../engines/remote.ts";
import { listWires } from "../wires/registry.ts";
import { circleOf, type ModelRule } from "./models.ts";
import type { GatewayOptions } from "./options.ts";
import type { Speech, UpstreamSettings } from "./upstreams.ts";

export interface Settings {
  readonly server: Pick<GatewayOptions, "host" | "port" | "names" | "keys" | "insecure" | "origins" | "bodyLimit" | "patience">;
  readonly upstreams: Readonly<Record<string, UpstreamSettings>>;
  /** Upstreams that are models in this process. */
  readonly locals: Readonly<Record<string, LocalSettings>>;
  readonly models: readonly ModelRule[];
}

export interface LocalSettings {
  /** A file, an https URL, `hf:owner/repo[:quant]`, or `embedded`. */
  readonly model: string;
  readonly gpu?: Gpu | undefined;
  /** How many tokens one conversation may have. */
  readonly context?: number | undefined;
  /** How many conversations run at once. */
  readonly parallel?: number | undefined;
  readonly limits?: Limits | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The user's mistake, with the place where it stands. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

export function readConfig(text: string, file: string, environment: Environment = process.env): Settings {
  let root: unknown;
  try {
    root = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [what = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    throw new ConfigError(`${file}:${error.line}: ${what}`, { cause: error });
  }
  return new Reader(text, file, environment).settings(root);
}

/** The key of an upstream that has a usual variable for it. */
export const usualKey = (name: string, environment: Environment = process.env): string | undefined => {
  const variable = Object.hasOwn(KNOWN, name) ? KNOWN[name]?.keyVariable : undefined;
  return variable === undefined ? undefined : environment[variable] || undefined;
};

/** What `env:NAME` stands for. `complain` never gets the text itself: it may be the secret. */
export function secretOf(text: string, environment: Environment, complain: (what: string) => never): string {
  const [, name] = /^env:([A-Za-z_]\w*)$/.exec(text) ?? [];
  if (name === undefined) return complain('must not be the secret itself: put it into a variable and write "env:NAME"');
  return environment[name] || complain(`names the variable ${name}, which is not set`);
}

type Path = readonly string[];
type Table = Readonly<Record<string, unknown>>;

const WIRES: readonly Speech[] = [...listWires().map(({ id }) => id), "completions"];
const SERVERS = Object.keys(BACKENDS) as ServerId[];
const DIALECTS = ["auto", ...listDialects().map(({ id }) => id)];
const SERVER_KEYS = [
  "host",
  "port",
  "names",
  "keys",
  "insecure",
  "body_limit",
  "headers_after",
  "whole_after",
  "heartbeat",
  "request_timeout",
];
const GPUS = [true, false, "auto", "metal", "cuda", "vulkan"] as const satisfies readonly Gpu[];
const TOOLS = ["native", "inband", "off"] as const;
const VALIDATE = ["off", "report"] as const;
const RESCUE = ["auto", true, false] as const;
const EFFORTS = ["minimal", "low", "medium", "high", "max"] as const;
/** What each is called in a request, and what no server takes: less, or more. */
const SAMPLING: Readonly<Record<string, readonly [name: keyof Sampling, least?: number, most?: number]>> = {
  temperature: ["temperature", 0],
  top_p: ["topP", 0, 1],
  top_k: ["topK", -1],
  min_p: ["minP", 0, 1],
  seed: ["seed"],
  presence_penalty: ["presencePenalty", -2, 2],
  frequency_penalty: ["frequencyPenalty", -2, 2],
  repeat_penalty: ["repeatPenalty", 0],
};

class Reader {
  readonly #text: string;
  readonly #file: string;
  readonly #environment: Environment;

  constructor(text: string, file: string, environment: Environment) {
    this.#text = text;
    this.#file = file;
    this.#environment = environment;
  }

  settings(value: unknown): Settings {
    const root = this.#table(value, [], ["server", "cors", "upstreams", "models", "aliases"]);
    const [locals, upstreams]: [Record<string, LocalSettings>, Record<string, UpstreamSettings>] = [{}, {}];
    this.#each(root.upstreams, ["upstreams"], (table, path) => {
      const name = path.at(-1) ?? "";
      if (this.#table(table, path).model === undefined) upstreams[name] = this.#upstream(table, path);
      else locals[name] = this.#local(table, path);
    });
    const names = Object.keys({ ...upstreams, ...locals });
    const models = Object.values(this.#each(root.models, ["models"], (table, path) => this.#model(table, path, names)));
    const aliases = Object.entries(this.#table(root.aliases, ["aliases"])).map(([name, alias]) => ({
      name,
      alias: this.#string(alias, ["aliases", name]),
    }));
    const twice = aliases.find(({ name }) => models.some((model) => model.name === name));
    if (twice) this.#fail(["aliases", twice.name], "is a model, too: it can be only one of them");
    const rules = [...models, ...aliases];
    const circle = circleOf(rules);
    if (circle) this.#fail(["aliases", circle[0]!], `leads in a circle: ${circle.join(" → ")}`);
    return { server: this.#server(root), upstreams, locals, models: rules };
  }

  #server({ server, cors }: Table): Settings["server"] {
    const path = ["server"];
    const table = this.#table(server, path, SERVER_KEYS);
    const origins = this.#table(cors, ["cors"], ["origins"]).origins;
    const heartbeat = this.#optional(table.heartbeat, [...path, "heartbeat"], this.#seconds);
    const headers = this.#optional(table.headers_after, [...path, "headers_after"], this.#seconds);
    const whole = this.#optional(table.whole_after, [...path, "whole_after"], this.#seconds);
    const request = this.#optional(table.request_timeout, [...path, "request_timeout"], this.#seconds);
    return {
      host: this.#optional(table.host, [...path, "host"], this.#string),
      port: this.#optional(table.port, [...path, "port"], this.#port),
      names: this.#optional(table.names, [...path, "names"], this.#names),
      keys: this.#optional(table.keys, [...path, "keys"], (value, at) => this.#strings(value, at).map((text) => this.#secret(text, at))),
      insecure: this.#optional(table.insecure, [...path, "insecure"], this.#boolean),
      origins: this.#optional(origins, ["cors", "origins"], this.#origins),
      bodyLimit: this.#optional(table.body_limit, [...path, "body_limit"], this.#count),
      patience: { headersMs: headers, wholeMs: whole, heartbeatMs: heartbeat, requestMs: request },
    };
  }

  #upstream(value: unknown, path: Path): UpstreamSettings {
    const table = this.#table(value, path, ["url", "wire", "server", "key", "headers", "timeouts", "concurrent", "queue", "wait"]);
    const name = path.at(-1) ?? "";
    const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
    const given =
      table.url ??
      known?.url ??
      this.#fail(path, `needs a url, or a model to run here (without one, the name must be one of ${Object.keys(KNOWN).join(", ")})`);
    const urls = this.#strings(typeof given === "string" ? [given] : given, [...path, "url"]);
    const [problem] = urls.flatMap((url) => urlProblem(url) ?? []);
    if (problem) this.#fail([...path, "url"], problem);
    const timeouts = this.#table(table.timeouts, [...path, "timeouts"], ["connect", "headers", "idle"]);
    const timeout = (key: string) => this.#optional(timeouts[key], [...path, "timeouts", key], this.#seconds);
    const isKnown = known !== undefined && table.url === undefined;
    return {
      urls,
      wire: this.#optional(table.wire, [...path, "wire"], this.#wire) ?? (isKnown ? known.wire : undefined),
      server: this.#optional(table.server, [...path, "server"], (text, at) => this.#oneOf(SERVERS, text, at)),
      ...this.#limits(table, path),
      key:
        this.#optional(table.key, [...path, "key"], (text, at) => this.#secret(this.#string(text, at), at)) ??
        usualKey(name, this.#environment),
      headers: this.#headers(table.headers, [...path, "headers"]),
      timeouts: { connect: timeout("connect"), headers: timeout("headers"), idle: timeout("idle") },
      ...(isKnown ? { profile: known.profile } : {}),
    };
  }

  /** A model in this process. */
  #local(value: unknown, path: Path): LocalSettings {
    if (this.#table(value, path).url !== undefined)
      this.#fail([...path, "url"], "has no place beside model: a model runs here, or elsewhere");
    const table = this.#table(value, path, ["model", "gpu", "context", "parallel", "concurrent", "queue", "wait"]);
    return {
      model: this.#modelFile(table.model, [...path, "model"]),
      gpu: this.#optional(table.gpu, [...path, "gpu"], (word, at) => this.#oneOf(GPUS, word, at)),
      context: this.#optional(table.context, [...path, "context"], this.#count),
      parallel: this.#optional(table.parallel, [...path, "parallel"], this.#count),
      ...this.#limits(table, path),
    };
  }

  /** Paths begin where the file is, or at home. */
  #modelFile(value: unknown, path: Path): string {
    const text = this.#string(value, path);
    if (text === "embedded" || /^(hf:|https:\/\/)/.test(text)) return text;
    if (!/\.gguf$/i.test(text)) return this.#fail(path, 'must be a GGUF: a file, its https URL, "hf:owner/repo" or "embedded"');
    const file = resolve(dirname(this.#file), text.replace(/^~(?=[/\\])/, homedir()));
    return existsSync(file) ? file : this.#fail(path, `names a file that is not there: ${file}`);
  }

  #limits({ concurrent, queue, wait }: Table, path: Path): Pick<UpstreamSettings, "limits"> {
    if (concurrent === undefined) {
      if (queue !== undefined || wait !== undefined) this.#fail(path, "needs concurrent, if it has a queue: how many answers at a time");
      return {};
    }
    return {
      limits: {
        concurrent: this.#count(concurrent, [...path, "concurrent"]),
        queue: this.#optional(queue, [...path, "queue"], this.#count),
        waitMs: this.#optional(wait, [...path, "wait"], this.#seconds),
      },
    };
  }

  #headers(value: unknown, path: Path): Record<string, string> {
    const entries = Object.entries(this.#table(value, path)).map(([name, item]) => {
      const text = this.#string(item, [...path, name]);
      const value = text.startsWith("env:") ? this.#secret(text, [...path, name]) : text;
      if (!HEADER_NAME.test(name)) this.#fail([...path, name], "is no name of a header");
      if (!HEADER_VALUE.test(value))
        this.#fail([...path, name], "cannot be sent as a header: it must be one line, without letters beyond Latin-1");
      return [name, value] as const;
    });
    return Object.fromEntries(entries);
  }

  #model(value: unknown, path: Path, upstreams: readonly string[]): ModelRule {
    const table = this.#table(value, path, [
      "upstream",
      "model",
      "max_tokens",
      "context",
      "thinking",
      "tools",
      "dialect",
      "rescue",
      "validate",
      ...Object.keys(SAMPLING),
    ]);
    const upstream = this.#optional(table.upstream, [...path, "upstream"], this.#string);
    if (upstream !== undefined && !upstreams.includes(upstream)) {
      this.#fail([...path, "upstream"], `is no upstream; there are: ${upstreams.join(", ") || "none"}`);
    }
    if (upstreams.length === 0) this.#fail(path, "needs an upstream, and there is none: add one, [upstreams.NAME]");
    if (upstream === undefined && upstreams.length !== 1) this.#fail(path, `needs an upstream: one of ${upstreams.join(", ")}`);
    const sampling = Object.entries(SAMPLING).flatMap(([key, [name, least, most]]) =>
      table[key] === undefined ? [] : [[name, this.#number(table[key], [...path, key], least, most)]],
    );
    return {
      name: path.at(-1) ?? "",
      upstream: upstream ?? upstreams[0],
      model: this.#optional(table.model, [...path, "model"], this.#string),
      maxTokens: this.#optional(table.max_tokens, [...path, "max_tokens"], this.#count),
      context: this.#optional(table.context, [...path, "context"], this.#count),
      thinking: this.#optional(table.thinking, [...path, "thinking"], this.#thinking),
      tools: this.#optional(table.tools, [...path, "tools"], (text, at) => this.#oneOf(TOOLS, text, at)),
      dialect: this.#optional(table.dialect, [...path, "dialect"], this.#dialect),
      validate: this.#optional(table.validate, [...path, "validate"], (word, at) => this.#oneOf(VALIDATE, word, at)),
      rescue: this.#optional(table.rescue, [...path, "rescue"], (word, at) => this.#oneOf(RESCUE, word, at)),
      ...(sampling.length > 0 ? { sampling: Object.fromEntries(sampling) as Sampling } : {}),
    };
  }

  // ---- Values

  #optional<T>(value: unknown, path: Path, read: (value: unknown, path: Path) => T): T | undefined {
    return value === undefined ? undefined : read.call(this, value, path);
  }

  /** `keys`: all that are known; without them, the keys are the user's. */
  #table(value: unknown, path: Path, keys?: readonly string[]): Table {
    if (value === undefined) return {};
    if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Date)
      return this.#fail(path, "must be a table");
    const unknown = keys && Object.keys(value).find((key) => !keys.includes(key));
    if (unknown !== undefined) this.#fail([...path, unknown], `is not known; known here: ${keys?.join(", ")}`);
    return value as Table;
  }

  #each<T>(value: unknown, path: Path, read: (value: unknown, path: Path) => T): Record<string, T> {
    return Object.fromEntries(Object.entries(this.#table(value, path)).map(([name, item]) => [name, read(item, [...path, name])]));
  }

  #string(value: unknown, path: Path): string {
    return typeof value === "string" && value !== "" ? value : this.#fail(path, "must be a string that is not empty");
  }
  #strings(value: unknown, path: Path): string[] {
    return Array.isArray(value) && value.length > 0
      ? value.map((item) => this.#string(item, path))
      : this.#fail(path, "must be a list of strings");
  }
  #boolean(value: unknown, path: Path): boolean {
    return typeof value === "boolean" ? value : this.#fail(path, "must be true or false");
  }
  #number(value: unknown, path: Path, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY): number {
    if (typeof value === "number" && value >= least && value <= most) return value;
    return this.#fail(
      path,
      `must be a number${Number.isFinite(most) ? ` from ${least} to ${most}` : Number.isFinite(least) ? `, ${least} or more` : ""}`,
    );
  }
  /** As they stand in a Host, without the port. */
  #names(value: unknown, path: Path): string[] {
    const names = this.#strings(value, path);
    const wrong = names.find((text) => isIP(text) === 0 && !HOST_NAME.test(text));
    if (wrong === undefined) return names;
    return this.#fail(path, `must be names, such as "gate.example", without scheme and port; ${JSON.stringify(wrong)} is none`);
  }
  /** As browsers send them, which is how they are compared. */
  #origins(value: unknown, path: Path): string[] {
    const origins = this.#strings(value, path);
    const wrong = origins.find((text) => text !== "*" && text !== "null" && !isOrigin(text));
    if (wrong === undefined) return origins;
    return this.#fail(path, `must be origins, such as "https://app.example" or "http://localhost:3000"; ${JSON.stringify(wrong)} is none`);
  }
  #count(value: unknown, path: Path): number {
    return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : this.#fail(path, "must be a whole number over 0");
  }
  #port(value: unknown, path: Path): number {
    return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 65_536
      ? value
      : this.#fail(path, "must be a port: 0 to 65535");
  }
  /** In milliseconds. */
  #seconds(value: unknown, path: Path): number {
    return typeof value === "number" && value > 0 ? value * 1000 : this.#fail(path, "must be a number of seconds over 0");
  }
  #wire(value: unknown, path: Path): Speech {
    return this.#oneOf(WIRES, value, path);
  }
  /** An id, alone or with one of its variants. */
  #dialect(value: unknown, path: Path): string {
    const [id, ...variant] = this.#string(value, path).split("/");
    const known = listDialects().find((dialect) => dialect.id === id);
    if (!known || variant.length === 0) return this.#oneOf(DIALECTS, value, path);
    const variants = known.variants.map((name) => `${known.id}/${name}`);
    return this.#oneOf(variants, value, path);
  }
  #oneOf<T extends string | boolean>(words: readonly T[], value: unknown, path: Path): T {
    const found = words.find((word) => word === value);
    return found === undefined ? this.#fail(path, `must be one of ${words.join(", ")}`) : found;
  }
  #thinking(value: unknown, path: Path): ThinkingSettings {
    const effort = EFFORTS.find((word) => word === value);
    if (effort) return { effort };
    return typeof value === "boolean" ? { enabled: value } : this.#fail(path, `must be true, false or one of ${EFFORTS.join(", ")}`);
  }
  #secret(text: string, path: Path): string {
    return secretOf(text, this.#environment, (what) => this.#fail(path, what));
  }

  #fail(path: Path, what: string): never {
    throw new ConfigError(`${this.#file}:${lineOf(this.#text, path)}: ${path.map(keyText).join(".")} ${what}`);
  }
}

/** A scheme and a name, with the port if it is not the usual one. Browsers have schemes of their own for extensions. */
const isOrigin = (text: string): boolean =>
  /^https?:/.test(text) ? URL.canParse(text) && new URL(text).origin === text : /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/.test(text);

const HOST_NAME = /^[^\s/:@?#]+$/;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const keyText = (key: string): string => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key));

/** The line of a key, or of the nearest table around it. */
function lineOf(text: string, path: Path): number {
  let table: string[] = [];
  let best = { depth: -1, line: 1 };
  for (const [i, line] of text.split("\n").entries()) {
    const isHeader = /^\s*\[/.test(line);
    const keys = isHeader ? keysOf(line) : keysOf(`${line.split("=")[0]} = 0`);
    if (!keys) continue;
    if (isHeader) table = keys;
    const here = isHeader ? keys : [...table, ...keys];
    const depth = here.every((key, at) => key === path[at]) ? here.length : -1;
    if (depth > best.depth) best = { depth, line: i + 1 };
  }
  return best.line;
}

/** The keys that a line names: `[a."b.c"]` or `a.b = 0`. */
function keysOf(line: string): string[] | undefined {
  const keys: string[] = [];
  try {
    let value: unknown = parse(line);
    for (;;) {
      if (Array.isArray(value)) [value] = value as unknown[];
      const key = typeof value === "object" && value !== null ? Object.keys(value)[0] : undefined;
      if (key === undefined) return keys.length > 0 ? keys : undefined;
      keys.push(key);
      value = (value as Table)[key];
    }
  } catch {
    return undefined; // a piece of a longer value
  }
}
