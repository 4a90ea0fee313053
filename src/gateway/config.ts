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
 * A mistake is reported in one line with its place. Secrets are not in the file: `"env:NAME"` names the variable that holds one.
 */
import { existsSync } from "node:fs";
import { isIP } from "node:net";
import { dirname, resolve } from "node:path";
import { setOwn } from "../core/json.ts";
import type { Sampling, ThinkingSettings } from "../core/nouns.ts";
import { listDialects } from "../dialects/registry.ts";
import { BACKENDS } from "../engines/completions/backends.ts";
import type { ServerId } from "../engines/engine.ts";
import { home } from "../engines/home.ts";
import { urlProblem } from "../engines/http/address.ts";
import { KNOWN } from "../engines/known.ts";
import type { Limits } from "../engines/limited.ts";
import type { Gpu } from "../engines/llama/runtime.ts";
import { listWires } from "../wires/registry.ts";
import type { Speech, UpstreamSettings } from "./connect.ts";
import { SECRET_NAME } from "./edge.ts";
import type { GatewayOptions } from "./options.ts";
import { circleOf, type ModelRule } from "./rules.ts";
import { type Environment, readToml, type Table } from "./toml.ts";

export interface Settings {
  readonly server: Pick<GatewayOptions, "host" | "port" | "names" | "keys" | "insecure" | "origins" | "bodyLimit" | "patience">;
  readonly upstreams: Readonly<Record<string, UpstreamSettings>>;
  /** Upstreams that are models running in this process. */
  readonly locals: Readonly<Record<string, LocalSettings>>;
  readonly models: readonly ModelRule[];
}

export interface LocalSettings {
  /** A file, an https URL, `hf:owner/repo[:quant]`, or `embedded`. */
  readonly model: string;
  readonly gpu?: Gpu | undefined;
  /** The most tokens of one conversation. */
  readonly context?: number | undefined;
  /** How many conversations run at once. */
  readonly parallel?: number | undefined;
  readonly limits?: Limits | undefined;
}

/** Reads the text of the gateway's configuration file (TOML). Throws `ConfigError`. */
export function readConfig(text: string, file: string, environment: Environment = process.env): Settings {
  const root = readToml(text, file, environment).only("server", "cors", "upstreams", "models", "aliases");
  const [locals, upstreams]: [Record<string, LocalSettings>, Record<string, UpstreamSettings>] = [{}, {}];
  for (const table of root.tables("upstreams")) {
    if (table.has("model")) setOwn(locals, table.name, readLocal(table));
    else setOwn(upstreams, table.name, readUpstream(table));
  }
  const names = Object.keys({ ...upstreams, ...locals });
  const models = root.tables("models").map((table) => readModel(table, names));
  const aliases = root.table("aliases");
  const rules = [...models, ...aliases.keys.map((name) => ({ name, alias: aliases.string(name) }))];
  const twice = aliases.keys.find((name) => models.some((model) => model.name === name));
  if (twice !== undefined) aliases.fail("is a model, too: it can be only one of them", twice);
  const circle = circleOf(rules);
  if (circle) aliases.fail(`leads in a circle: ${circle.join(" → ")}`, circle[0]);
  return { server: readServer(root), upstreams, locals, models: rules };
}

/** The key of a known provider, from its usual environment variable. */
export const usualKey = (name: string, environment: Environment = process.env): string | undefined => {
  const variable = Object.hasOwn(KNOWN, name) ? KNOWN[name]?.keyVariable : undefined;
  return variable === undefined ? undefined : environment[variable] || undefined;
};

// ---- The server

const SERVER_KEYS = [
  "host",
  "port",
  "names",
  "keys",
  "insecure",
  "body_limit",
  "headers_after",
  "whole_after",
  "read_timeout",
  "heartbeat",
  "request_timeout",
];

function readServer(root: Table): Settings["server"] {
  const table = root.table("server").only(...SERVER_KEYS);
  return {
    host: table.string("host"),
    port: table.port("port"),
    names: readNames(table),
    keys: table.secrets("keys"),
    insecure: table.boolean("insecure"),
    origins: readOrigins(root.table("cors").only("origins")),
    bodyLimit: table.count("body_limit"),
    patience: {
      headersMs: table.seconds("headers_after"),
      wholeMs: table.seconds("whole_after"),
      heartbeatMs: table.seconds("heartbeat"),
      requestMs: table.seconds("request_timeout"),
      readMs: table.seconds("read_timeout"),
    },
  };
}

const HOST_NAME = /^[^\s/:@?#]+$/;

/** As in a `Host` header, without the port. */
function readNames(server: Table): string[] | undefined {
  const names = server.strings("names");
  const wrong = names?.find((text) => isIP(text) === 0 && !HOST_NAME.test(text));
  if (wrong === undefined) return names;
  return server.fail(`must be names, such as "gate.example", without scheme and port; ${JSON.stringify(wrong)} is none`, "names");
}

/** Origins are compared literally, so they must be written as browsers send them. */
function readOrigins(cors: Table): string[] | undefined {
  const origins = cors.strings("origins");
  const wrong = origins?.find((text) => text !== "*" && text !== "null" && !isOrigin(text));
  if (wrong === undefined) return origins;
  return cors.fail(
    `must be origins, such as "https://app.example" or "http://localhost:3000"; ${JSON.stringify(wrong)} is none`,
    "origins",
  );
}

/** A scheme and a host, with the port if it is not the default. Browser extensions have schemes of their own. */
const isOrigin = (text: string): boolean =>
  /^https?:/.test(text) ? URL.canParse(text) && new URL(text).origin === text : /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/.test(text);

// ---- Upstreams

const WIRES: readonly Speech[] = [...listWires().map(({ id }) => id), "completions"];
const SERVERS = Object.keys(BACKENDS) as ServerId[];
const GPUS = [true, false, "auto", "metal", "cuda", "vulkan"] as const satisfies readonly Gpu[];
const LIMITS = ["concurrent", "queue", "wait"];

function readUpstream(table: Table): UpstreamSettings {
  table.only("url", "wire", "server", "key", "headers", "timeouts", ...LIMITS);
  const known = Object.hasOwn(KNOWN, table.name) ? KNOWN[table.name] : undefined;
  const isKnown = known !== undefined && !table.has("url");
  const timeouts = table.table("timeouts").only("connect", "headers", "idle");
  const headers = readHeaders(table.table("headers"));
  const secrets = Object.keys(headers).flatMap((name) => (isSecret(table.table("headers"), name) ? [headers[name]!] : []));
  return {
    urls: isKnown ? [known.url] : readUrls(table),
    wire: table.oneOf("wire", WIRES) ?? (isKnown ? known.wire : undefined),
    server: table.oneOf("server", SERVERS),
    ...readLimits(table),
    key: table.secret("key") ?? usualKey(table.name, table.file.environment),
    headers,
    ...(secrets.length > 0 ? { secrets } : {}),
    timeouts: { connect: timeouts.seconds("connect"), headers: timeouts.seconds("headers"), idle: timeouts.seconds("idle") },
    ...(isKnown ? { profile: known.profile } : {}),
  };
}

/** People write `127.0.0.1:8000`, which is not a URL. */
export const urlOf = (text: string): string => (/^[\w.-]+:\d+(\/|$)/.test(text) ? `http://${text}` : text);

/** One URL, or several that take turns. */
function readUrls(table: Table): string[] {
  const urls =
    table.strings("url", true)?.map(urlOf) ??
    table.fail(`needs a url, or a model to run here (without one, the name must be one of ${Object.keys(KNOWN).join(", ")})`);
  const [problem] = urls.flatMap((url) => urlProblem(url) ?? []);
  return problem === undefined ? urls : table.fail(problem, "url");
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** By the header's name, or because its value is in a variable. */
const isSecret = (headers: Table, name: string): boolean => SECRET_NAME.test(name) || headers.string(name)?.startsWith("env:") === true;

function readHeaders(table: Table): Record<string, string> {
  const said = (name: string): string => {
    const text = (isSecret(table, name) ? table.secret(name) : table.string(name)) ?? "";
    if (!HEADER_NAME.test(name)) table.fail("is no name of a header", name);
    return HEADER_VALUE.test(text)
      ? text
      : table.fail("cannot be sent as a header: it must be one line, without letters beyond Latin-1", name);
  };
  return Object.fromEntries(table.keys.map((name) => [name, said(name)]));
}

function readLimits(table: Table): Pick<UpstreamSettings, "limits"> {
  const [concurrent, queue, waitMs] = [table.count("concurrent"), table.count("queue"), table.seconds("wait")];
  if (concurrent !== undefined) return { limits: { concurrent, queue, waitMs } };
  if (queue !== undefined || waitMs !== undefined) table.fail("needs concurrent, if it has a queue: how many answers at a time");
  return {};
}

/** A model that runs in this process. */
function readLocal(table: Table): LocalSettings {
  if (table.has("url")) table.fail("has no place beside model: a model runs here, or elsewhere", "url");
  table.only("model", "gpu", "context", "parallel", ...LIMITS);
  return {
    model: readModelFile(table),
    gpu: table.oneOf("gpu", GPUS),
    context: table.count("context"),
    parallel: table.count("parallel"),
    ...readLimits(table),
  };
}

/** Paths are relative to the configuration file, or begin with `~`. */
function readModelFile(table: Table): string {
  const text = table.string("model") ?? "";
  if (text === "embedded" || /^(hf:|https:\/\/)/.test(text)) return text;
  if (!/\.gguf$/i.test(text)) return table.fail('must be a GGUF: a file, its https URL, "hf:owner/repo" or "embedded"', "model");
  const file = resolve(dirname(table.file.name), text.replace(/^~(?=[/\\])/, home()));
  return existsSync(file) ? file : table.fail(`names a file that is not there: ${file}`, "model");
}

// ---- Models

const TOOLS = ["native", "inband", "off"] as const;
const VALIDATE = ["off", "report"] as const;
const RESCUE = ["auto", true, false] as const;
const EFFORTS = ["minimal", "low", "medium", "high", "xhigh", "max"] as const;
/** The name of each setting in a `Request`, and the least and the most that any server accepts. */
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
const MODEL_KEYS = ["upstream", "model", "max_tokens", "context", "thinking", "tools", "dialect", "rescue", "validate"];

function readModel(table: Table, upstreams: readonly string[]): ModelRule {
  table.only(...MODEL_KEYS, ...Object.keys(SAMPLING));
  const upstream = table.string("upstream");
  const list = upstreams.join(", ") || "none";
  if (upstream !== undefined && !upstreams.includes(upstream)) table.fail(`is no upstream; there are: ${list}`, "upstream");
  if (upstreams.length === 0) table.fail("needs an upstream, and there is none: add one, [upstreams.NAME]");
  if (upstream === undefined && upstreams.length !== 1) table.fail(`needs an upstream: one of ${list}`);
  const sampling = Object.entries(SAMPLING).flatMap(([key, [name, least, most]]) => {
    const number = table.number(key, least, most);
    return number === undefined ? [] : [[name, number] as const];
  });
  return {
    name: table.name,
    upstream: upstream ?? upstreams[0],
    model: table.string("model"),
    maxTokens: table.count("max_tokens"),
    context: table.count("context"),
    thinking: table.read("thinking", `true, false or one of ${EFFORTS.join(", ")}`, thinkingOf),
    tools: table.oneOf("tools", TOOLS),
    dialect: readDialect(table),
    validate: table.oneOf("validate", VALIDATE),
    rescue: table.oneOf("rescue", RESCUE),
    ...(sampling.length > 0 ? { sampling: Object.fromEntries(sampling) as Sampling } : {}),
  };
}

function thinkingOf(value: unknown): ThinkingSettings | undefined {
  const effort = EFFORTS.find((word) => word === value);
  return effort ? { effort } : typeof value === "boolean" ? { enabled: value } : undefined;
}

/** A dialect's id, alone or followed by one of its variants. */
function readDialect(table: Table): string | undefined {
  const [id, ...variant] = table.string("dialect")?.split("/") ?? [];
  const known = listDialects().find((dialect) => dialect.id === id);
  if (known && variant.length > 0)
    return table.oneOf(
      "dialect",
      known.variants.map((name) => `${known.id}/${name}`),
    );
  return table.oneOf("dialect", ["auto", ...listDialects().map(({ id }) => id)]);
}
