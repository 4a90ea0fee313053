/**
 * Typed access to the tables of a TOML file. A mistake is reported in one line with its place:
 * `dragoman.toml:3: server.port must be a port: 0 to 65535`.
 */
import { parse, TomlError } from "smol-toml";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A mistake of the user; the message begins with its place. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** 24 days. Node's timers count to 2^31 milliseconds; with more, or with `inf`, they end at once. */
const MAX_SECONDS = 2_147_483;

interface File {
  readonly name: string;
  readonly text: string;
  /** The variables that `"env:NAME"` refers to. */
  readonly environment: Environment;
}

type Path = readonly string[];
type Values = Readonly<Record<string, unknown>>;

export function readToml(text: string, name: string, environment: Environment): Table {
  let root: unknown;
  try {
    root = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [what = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    const hint = /escape/.test(what) ? "; a path with \\ in it stands between '…', or has / in their place" : "";
    throw new ConfigError(`${name}:${error.line}: ${what}${hint}`, { cause: error });
  }
  return new Table({ name, text, environment }, [], root);
}

export class Table {
  readonly file: File;
  readonly #path: Path;
  readonly #values: Values;

  constructor(file: File, path: Path, value: unknown = {}) {
    this.file = file;
    this.#path = path;
    this.#values = isTable(value) ? value : this.fail("must be a table");
  }

  /** The table's key in its parent. */
  get name(): string {
    return this.#path.at(-1) ?? "";
  }
  get keys(): string[] {
    return Object.keys(this.#values);
  }
  has(key: string): boolean {
    return this.#values[key] !== undefined;
  }

  /** Rejects all other keys. Tables without this check have keys of the user's choice. */
  only(...known: readonly string[]): this {
    const unknown = this.keys.find((key) => !known.includes(key));
    if (unknown !== undefined) this.fail(`is not known; known here: ${known.join(", ")}`, unknown);
    return this;
  }

  fail(what: string, key?: string): never {
    const path = key === undefined ? this.#path : [...this.#path, key];
    throw new ConfigError(`${this.file.name}:${lineOf(this.file.text, path)}: ${path.map(keyText).join(".")} ${what}`);
  }

  // ---- Values; `undefined` if the key is absent

  /** Any value that `as` accepts; `what` names the expected type in the error. */
  read<T>(key: string, what: string, as: (value: unknown) => T | undefined): T | undefined {
    const value = this.#values[key];
    return value === undefined ? undefined : (as(value) ?? this.fail(`must be ${what}`, key));
  }

  string(key: string): string | undefined {
    return this.read(key, "a string that is not empty", textOf);
  }
  /** `orOne`: a single string is accepted, too. */
  strings(key: string, orOne = false): string[] | undefined {
    const list = this.read(key, "a list of strings that is not empty", (value): unknown[] | undefined =>
      Array.isArray(value) && value.length > 0 ? value : orOne && typeof value === "string" ? [value] : undefined,
    );
    return list?.map((item) => textOf(item) ?? this.fail("must be a string that is not empty", key));
  }
  boolean(key: string): boolean | undefined {
    return this.read(key, "true or false", (value) => (typeof value === "boolean" ? value : undefined));
  }
  number(key: string, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY): number | undefined {
    const range = Number.isFinite(most) ? ` from ${least} to ${most}` : Number.isFinite(least) ? `, ${least} or more` : "";
    return this.read(key, `a number${range}`, (value) =>
      typeof value === "number" && Number.isFinite(value) && value >= least && value <= most ? value : undefined,
    );
  }
  count(key: string): number | undefined {
    return this.read(key, "a whole number over 0", (value) => (isWhole(value) && value > 0 ? value : undefined));
  }
  port(key: string): number | undefined {
    return this.read(key, "a port: 0 to 65535", (value) => (isWhole(value) && value >= 0 && value < 65_536 ? value : undefined));
  }
  /** Returns milliseconds, rounded: Node refuses fractions, and 64.1 × 1000 has one. */
  seconds(key: string): number | undefined {
    return this.read(key, `a number of seconds over 0, at most ${MAX_SECONDS}`, (value) =>
      typeof value === "number" && value > 0 && value <= MAX_SECONDS ? Math.max(1, Math.round(value * 1000)) : undefined,
    );
  }
  oneOf<T extends string | boolean>(key: string, words: readonly T[]): T | undefined {
    return this.read(key, `one of ${words.join(", ")}`, (value) => words.find((word) => word === value));
  }

  // ---- Secrets

  secret(key: string): string | undefined {
    const text = this.string(key);
    return text === undefined ? undefined : this.#secretOf(text, key);
  }
  secrets(key: string): string[] | undefined {
    return this.strings(key)?.map((text) => this.#secretOf(text, key));
  }
  #secretOf(text: string, key: string): string {
    return secretOf(text, this.file.environment, (what) => this.fail(what, key));
  }

  // ---- Tables

  /** An empty table if the key is absent. */
  table(key: string): Table {
    return new Table(this.file, [...this.#path, key], this.#values[key]);
  }
  /** The tables inside the table `key`. */
  tables(key: string): Table[] {
    const outer = this.table(key);
    return outer.keys.map((name) => outer.table(name));
  }
}

/** The value of `env:NAME`. `complain` never gets the text itself: it may be the secret. */
export function secretOf(text: string, environment: Environment, complain: (what: string) => never): string {
  const [, name] = /^env:([A-Za-z_]\w*)$/.exec(text) ?? [];
  if (name === undefined) return complain('must not be the secret itself: put it into a variable and write "env:NAME"');
  return environment[name] || complain(`names the variable ${name}, which is not set`);
}

const isTable = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const isWhole = (value: unknown): value is number => Number.isInteger(value);

// ---- Line numbers

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
      value = (value as Values)[key];
    }
  } catch {
    return undefined; // the line is part of a longer value
  }
}
