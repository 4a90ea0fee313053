/** What `dragoman serve` does. In a file of its own, so that no other command loads a server. */
import { existsSync, readFileSync, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Logger } from "pino";
import { DialectFinder } from "../engines/inband/dialects.ts";
import type { Engine } from "../engines/index.ts";
import { ConfigError, secretOf, usualKey } from "../gateway/config.ts";
import {
  type Changes,
  createGateway,
  createMetrics,
  createRecorder,
  createUpstream,
  discover,
  type Gateway,
  type GatewayOptions,
  probeWire,
  type Recorder,
  readConfig,
  type Settings,
  type UpstreamSettings,
} from "../gateway/index.ts";
import { KNOWN } from "../gateway/known.ts";
import { SECRET_HEADER } from "../gateway/recordings/secrets.ts";
import { Refusal } from "../gateway/refusal.ts";
import type { Speech } from "../gateway/upstreams.ts";
import { Complaint } from "./complaint.ts";
import { CONFIG, PORT, type ServeFlags } from "./serve-flags.ts";
import { createLog, logExchange } from "./serve-log.ts";
import { visible } from "./terminal.ts";

/** So many ports are tried, when nobody said which. */
const PORTS = 20;
/** For exchanges under way, when the gateway is told to stop. */
const GRACE_MS = 10_000;

export async function serve(flags: ServeFlags): Promise<void> {
  const settings = await readSettings(flags);
  const upstreams = await connect(settings);
  if (flags.check) return check(settings, upstreams);
  const log = createLog(process.stdout);
  const recorder = flags.record === undefined ? undefined : record(flags.record, settings, log);
  const gateway = open({
    ...settings.server,
    ...(recorder ? { taps: [recorder.tap] } : {}),
    ...enginesOf(settings, upstreams),
    metrics: createMetrics(),
    onExchange: (exchange) => logExchange(log, exchange),
  });
  const url = await listen(gateway, settings, log);
  for (const upstream of upstreams)
    log.info(shown(upstream), `upstream ${upstream.name}: ${upstream.urls.join(", ")} speaks ${upstream.wire} (${upstream.how})`);
  for (const line of (await Promise.all(upstreams.map(dialectLines))).flat()) log.info(line);
  log.info({ url }, `listening on ${url}; OpenAI clients take ${url}/v1`);
  stopOnSignals(gateway, log, recorder);
  reloadOnChange(gateway, flags, log);
}

/** Without the keys of this gateway and of its upstreams. */
function record(folder: string, { server, upstreams }: Settings, log: Logger): Recorder {
  const hidden = Object.values(upstreams).flatMap(({ key, headers = {} }) => [
    ...(key === undefined ? [] : [key]),
    ...Object.entries(headers).flatMap(([name, value]) => (SECRET_HEADER.test(name) ? [value] : [])),
  ]);
  log.info(`recording exchanges into ${visible(folder)}`);
  return createRecorder({
    folder,
    secrets: [...(server.keys ?? []), ...hidden],
    onProblem: (error) => log.error(`cannot record: ${error.message}`),
  });
}

// ---- Settings

/** The file, and what the flags say instead. */
async function readSettings(flags: ServeFlags): Promise<Settings> {
  const file = flags.config ?? (flags.upstream === undefined && existsSync(CONFIG) ? CONFIG : undefined);
  const base: Settings = file === undefined ? { server: {}, upstreams: {}, models: [] } : fromFile(file);
  const { host, port, insecure, key, model } = flags;
  const upstreams = flags.upstream === undefined ? base.upstreams : fromFlags(flags.upstream, flags);
  const found = Object.keys(upstreams).length > 0 ? upstreams : await fromMachine();
  return {
    server: {
      ...base.server,
      ...(host === undefined ? {} : { host }),
      ...(port === undefined ? {} : { port }),
      ...(insecure === undefined ? {} : { insecure }),
      ...(key === undefined ? {} : { keys: key.map((text) => secret(text, "--key")) }),
    },
    upstreams: found,
    models: model === undefined ? base.models : [{ name: "*", upstream: Object.keys(found)[0], model }],
  };
}

function fromFile(file: string): Settings {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new Complaint(
      `cannot read ${visible(file)}: ${(error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : String(error)}`,
      { cause: error },
    );
  }
  try {
    return readConfig(text, file);
  } catch (error) {
    throw error instanceof ConfigError ? new Complaint(error.message, { cause: error }) : error;
  }
}

const secret = (text: string, flag: string): string =>
  secretOf(text, process.env, (what) => {
    throw new Complaint(`${flag} ${what}`);
  });

function fromFlags(upstream: string, { upstreamWire: wire, upstreamKey }: ServeFlags): Settings["upstreams"] {
  const given = upstreamKey === undefined ? undefined : secret(upstreamKey, "--upstream-key");
  if (Object.hasOwn(KNOWN, upstream)) {
    const known = KNOWN[upstream]!;
    const key = given ?? usualKey(upstream);
    if (known.keyVariable !== undefined && key === undefined) throw new Complaint(`${upstream} needs a key: set ${known.keyVariable}`);
    return { [upstream]: { urls: [known.url], wire: wire ?? known.wire, key, profile: known.profile } };
  }
  const url = /^[\w.-]+:\d+(\/|$)/.test(upstream) ? `http://${upstream}` : upstream;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new Complaint(`--upstream must be a URL or one of ${Object.keys(KNOWN).join(", ")}; it is ${visible(upstream)}`);
  }
  return { [new URL(url).host]: { urls: [url], wire, key: given } };
}

async function fromMachine(): Promise<Settings["upstreams"]> {
  const found = await discover();
  if (found.length === 0) {
    throw new Complaint(
      "no upstream is given, and none runs on this machine where it usually would; give one: --upstream http://127.0.0.1:8000/v1",
    );
  }
  const nameOf = (url: string): string => Object.entries(KNOWN).find(([, known]) => known.url === url)?.[0] ?? new URL(url).host;
  return Object.fromEntries(found.map(({ url, wire }) => [nameOf(url), { urls: [url], wire }]));
}

// ---- Upstreams

interface Upstream {
  name: string;
  wire: Speech;
  urls: readonly string[];
  hasKey: boolean;
  how: string;
  engine: Engine;
}

const shown = ({ name, wire, urls, hasKey }: Upstream) => ({
  upstream: name,
  wire,
  urls: urls.map(withoutPassword),
  key: hasKey ? "set" : "none",
});

/** A URL may have a password in it. */
function withoutPassword(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

const connect = (settings: Settings): Promise<Upstream[]> =>
  Promise.all(Object.entries(settings.upstreams).map(([name, upstream]) => connectOne(name, upstream)));

async function connectOne(name: string, settings: UpstreamSettings): Promise<Upstream> {
  const { urls, key } = settings;
  const about = { name, urls: urls.map(withoutPassword), hasKey: key !== undefined };
  if (settings.wire) return { ...about, wire: settings.wire, how: "as configured", engine: createUpstream(settings.wire, settings) };
  const found = await probeWire(urls[0]!, key);
  if (!found) {
    throw new Complaint(
      `nothing answers at ${about.urls[0]}: start the upstream first, or say what it speaks with --upstream-wire (wire in ${CONFIG})`,
    );
  }
  return { ...about, wire: found.wire, how: found.how, engine: createUpstream(found.wire, settings) };
}

/** What a model that only completes text is taken to speak. */
async function dialectLines({ name, engine }: Upstream): Promise<string[]> {
  if (!engine.speaking) return [];
  try {
    const finder = new DialectFinder("auto", engine.about?.bind(engine));
    const models = (await engine.models()).slice(0, MAX_SHOWN);
    const found = await Promise.all(models.map(async ({ id }) => [id, await finder.find(id)] as const));
    return found.map(([id, dialect]) =>
      dialect
        ? `upstream ${name}: ${visible(id)} speaks ${dialect.dialect.id} (${visible(dialect.why)})`
        : `upstream ${name}: nobody knows what ${visible(id)} speaks; set dialect for this model in ${CONFIG}`,
    );
  } catch (error) {
    return [`upstream ${name}: ${(error as Error).message}`];
  }
}

const MAX_SHOWN = 5;

const enginesOf = ({ models }: Settings, upstreams: readonly Upstream[]): Pick<Changes, "upstreams" | "models"> => ({
  upstreams: Object.fromEntries(upstreams.map(({ name, engine }) => [name, engine])),
  models,
});

/** What would be served, without serving it. */
async function check(settings: Settings, upstreams: readonly Upstream[]): Promise<void> {
  const { host = "127.0.0.1", port = PORT, keys = [], insecure = false } = settings.server;
  const lines = [
    `server: ${host}:${port}, ${keys.length > 0 ? `${keys.length} ${keys.length === 1 ? "key" : "keys"}` : "no key"}${insecure ? ", insecure" : ""}`,
  ];
  for (const upstream of upstreams) {
    const { name, wire, urls, hasKey, how, engine } = upstream;
    lines.push(`upstream ${name}: ${urls.join(", ")} speaks ${wire} (${how}), ${hasKey ? "with a key" : "without a key"}`);
    try {
      const models = await engine.models();
      lines.push(`  answers: ${models.length === 1 ? "1 model" : `${models.length} models`}`);
      lines.push(...(await dialectLines(upstream)).map((line) => `  ${line}`));
    } catch (error) {
      lines.push(`  does not answer: ${(error as Error).message}`);
      process.exitCode = 2;
    }
    await engine.close();
  }
  for (const { name, alias, upstream, model } of settings.models) {
    lines.push(alias === undefined ? `model ${name}: ${upstream}${model === undefined ? "" : `, as ${model}`}` : `alias ${name}: ${alias}`);
  }
  process.stdout.write(`${lines.map(visible).join("\n")}\n`);
}

// ---- Running

function open(options: GatewayOptions): Gateway {
  try {
    return createGateway(options);
  } catch (error) {
    throw error instanceof Refusal ? new Complaint(error.message, { cause: error }) : error;
  }
}

/** A port that the user gave is the port; otherwise the next one that is free. */
async function listen(gateway: Gateway, { server }: Settings, log: Logger): Promise<string> {
  for (let port = server.port ?? PORT; ; port++) {
    try {
      return (await gateway.listen(port)).url;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE" && code !== "EACCES" && code !== "EADDRNOTAVAIL") throw error;
      if (code !== "EADDRINUSE" || server.port !== undefined || port >= PORT + PORTS) {
        throw new Complaint(`cannot listen on port ${port}: ${code === "EADDRINUSE" ? "it is taken" : code}`, { cause: error });
      }
      const there = await probeWire(`http://127.0.0.1:${port}`);
      log.warn({ port }, `port ${port} is taken${there?.certain ? ` by a server that speaks ${there.wire}` : ""}; trying ${port + 1}`);
    }
  }
}

function stopOnSignals(gateway: Gateway, log: Logger, recorder: Recorder | undefined): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(130);
    stopping = true;
    log.info("stopping; once more stops at once");
    gateway
      .close({ graceMs: GRACE_MS })
      .then(() => recorder?.flush())
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  process.on("SIGINT", stop).on("SIGTERM", stop);
}

/** A configuration that cannot be read changes nothing. */
function reloadOnChange(gateway: Gateway, flags: ServeFlags, log: Logger): void {
  const file = flags.config ?? (flags.upstream === undefined && existsSync(CONFIG) ? CONFIG : undefined);
  if (file === undefined) return;
  const reload = async (): Promise<void> => {
    try {
      const settings = await readSettings(flags);
      const { host: _, port: __, ...server } = settings.server; // where it listens stays
      gateway.update({ ...server, ...enginesOf(settings, await connect(settings)) });
      log.info("the configuration was read again");
    } catch (error) {
      log.error(`the configuration was not taken over: ${(error as Error).message}`);
    }
  };
  process.on("SIGHUP", reload);
  let timer: NodeJS.Timeout | undefined;
  // The folder, not the file: editors put a new file in its place.
  watch(dirname(resolve(file)), (_, name) => {
    if (name !== null && name !== basename(file)) return;
    clearTimeout(timer);
    timer = setTimeout(reload, 200);
  }).unref();
}
