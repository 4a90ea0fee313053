/** What `dragoman serve` does. In a file of its own, so that no other command loads a server. */
import { existsSync, readFileSync, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Logger } from "pino";
import { MissingRuntime } from "../engines/llama/index.ts";
import { ConfigError } from "../gateway/config.ts";
import {
  type Changes,
  createGateway,
  createMetrics,
  type Gateway,
  type GatewayOptions,
  readConfig,
  type Settings,
} from "../gateway/index.ts";
import { exposed } from "../gateway/options.ts";
import { Refusal } from "../gateway/refusal.ts";
import { Complaint } from "./complaint.ts";
import { describeModel, hasEmbedded, isModelFile, type Opened, openModel } from "./local-model.ts";
import { listen, stopOnSignals } from "./running.ts";
import { CONFIG, PORT, type ServeFlags } from "./serve-flags.ts";
import { type Local, Locals } from "./serve-local.ts";
import { createLog } from "./serve-log.ts";
import { openRecorder } from "./serve-record.ts";
import { verboseTap } from "./serve-verbose.ts";
import { visible } from "./terminal.ts";
import { connectOne, dialectLines, fromFlags, fromMachine, NOT_FOUND, secret, type Upstream, withoutPassword } from "./upstreams.ts";

export async function serve(flags: ServeFlags): Promise<void> {
  const settings = await readSettings(flags);
  const upstreams = await connect(settings);
  const configured = new Locals();
  const given = await openGiven(settings, flags);
  const locals = [...given, ...(await configured.open(settings.locals))];
  if (flags.check) return check(settings, upstreams, locals);
  const log = createLog(process.stdout);
  const recorder = flags.record === undefined ? undefined : openRecorder(flags.record, settings, log);
  const gateway = open({
    ...settings.server,
    ...enginesOf(settings, upstreams, locals),
    taps: [...(recorder ? [recorder.tap] : []), ...(flags.verbose ? [verboseTap(log)] : [])],
    metrics: createMetrics(),
    onExchange: log.exchange,
  });
  const url = await listen(gateway, settings.server.port, (line) => log.warn(line));
  const readyMs = Math.round(performance.now()); // since the process began
  for (const upstream of upstreams)
    log.info(shown(upstream), `upstream ${upstream.name}: ${upstream.urls.join(", ")} speaks ${upstream.wire} (${upstream.how})`);
  for (const line of (await Promise.all(upstreams.map(dialectLines))).flat()) log.info(line);
  for (const { name, opened } of locals) {
    log.info({ upstream: name, path: opened.engine.facts.path }, describeModel(opened.engine));
    for (const { code, message } of opened.warnings) log.warn({ warning: code }, message);
  }
  log.info({ url, readyMs }, `listening on ${url}, ready in ${(readyMs / 1000).toFixed(1)} s; OpenAI clients take ${url}/v1`);
  stopOnSignals(
    gateway,
    () => log.info("stopping; once more stops at once"),
    () => recorder?.flush() ?? Promise.resolve(),
  );
  reloadOnChange(gateway, flags, settings, async ({ locals: asked }) => [...given, ...(await configured.open(asked))], log);
}

// ---- Settings

/** The file, and what the flags say instead. */
async function readSettings(flags: ServeFlags): Promise<Settings> {
  const file = flags.config ?? (flags.upstream === undefined && existsSync(CONFIG) ? CONFIG : undefined);
  const base: Settings = file === undefined ? { server: {}, upstreams: {}, locals: {}, models: [] } : fromFile(file);
  const { host, port, insecure, key, model } = flags;
  const upstreams = flags.upstream === undefined ? base.upstreams : fromFlags(flags.upstream, flags);
  const locals = flags.upstream === undefined ? base.locals : {};
  const hasSome = Object.keys({ ...upstreams, ...locals }).length > 0 || isLocal(flags);
  const found = hasSome ? upstreams : await fromMachine();
  return {
    server: {
      ...base.server,
      ...(host === undefined ? {} : { host }),
      ...(port === undefined ? {} : { port }),
      ...(insecure === undefined ? {} : { insecure }),
      ...(key === undefined ? {} : { keys: key.map((text) => secret(text, "--key")) }),
    },
    upstreams: found,
    locals,
    models: model === undefined || isLocal(flags) ? base.models : [{ name: "*", upstream: Object.keys({ ...found, ...locals })[0], model }],
  };
}

/** Whether the model that was asked for runs in this process. */
const isLocal = ({ upstream, model }: ServeFlags): boolean => upstream === undefined && model !== undefined && isModelFile(model);

/** The model that a flag gives; or, where there is nothing else, the embedded one. */
async function openGiven({ upstreams, locals }: Settings, flags: ServeFlags): Promise<Local[]> {
  const named = (opened: Opened): Local[] => [{ name: opened.engine.facts.id, engine: opened.engine, opened }];
  if (isLocal(flags)) return openModel(flags.model!, flags).then(named, complain);
  if (Object.keys({ ...upstreams, ...locals }).length > 0) return [];
  if (!hasEmbedded()) throw new Complaint(NOT_FOUND);
  return openModel("embedded", flags).then(named, (error: unknown) => {
    throw error instanceof MissingRuntime ? new Complaint(`${NOT_FOUND}; ${error.message}`, { cause: error }) : error;
  });
}

function complain(error: unknown): never {
  throw error instanceof MissingRuntime ? new Complaint(error.message, { cause: error }) : error;
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

// ---- Upstreams

const shown = ({ name, wire, urls, hasKey }: Upstream) => ({
  upstream: name,
  wire,
  urls: urls.map(withoutPassword),
  key: hasKey ? "set" : "none",
});

const connect = (settings: Settings): Promise<Upstream[]> =>
  Promise.all(Object.entries(settings.upstreams).map(([name, upstream]) => connectOne(name, upstream)));

const enginesOf = (
  { models }: Settings,
  upstreams: readonly Upstream[],
  locals: readonly Local[],
): Pick<Changes, "upstreams" | "models"> => ({
  upstreams: Object.fromEntries([...upstreams, ...locals].map(({ name, engine }) => [name, engine])),
  models,
});

/** What would be served, without serving it. */
async function check(settings: Settings, upstreams: readonly Upstream[], locals: readonly Local[]): Promise<void> {
  const { host = "127.0.0.1", port = PORT, keys = [], insecure = false } = settings.server;
  const lines = [
    `server: ${host}:${port}, ${keys.length > 0 ? `${keys.length} ${keys.length === 1 ? "key" : "keys"}` : "no key"}${insecure ? ", insecure" : ""}`,
  ];
  const why = exposed(settings.server);
  if (why !== undefined) {
    lines.push(`  it would not start: ${why}`);
    process.exitCode = 2;
  }
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
  for (const { name, engine, opened } of locals) {
    const isNamed = name !== opened.engine.facts.id;
    lines.push(
      `${isNamed ? `upstream ${name}: ` : ""}${describeModel(opened.engine)}`,
      ...opened.warnings.map(({ message }) => `  ${message}`),
    );
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

/** What cannot change while the server runs. */
const changedForNext = (before: Settings["server"], now: Settings["server"]): string[] => [
  ...(before.host === now.host ? [] : ["host"]),
  ...(before.port === now.port ? [] : ["port"]),
  ...(before.patience?.requestMs === now.patience?.requestMs ? [] : ["request_timeout"]),
];

/** A configuration that cannot be read changes nothing. */
function reloadOnChange(
  gateway: Gateway,
  flags: ServeFlags,
  first: Settings,
  openLocals: (settings: Settings) => Promise<Local[]>,
  log: Logger,
): void {
  const file = flags.config ?? (flags.upstream === undefined && existsSync(CONFIG) ? CONFIG : undefined);
  if (file === undefined) return;
  const reload = async (): Promise<void> => {
    try {
      const settings = await readSettings(flags);
      const { host: _, port: __, ...server } = settings.server; // where it listens stays
      gateway.update({ ...server, ...enginesOf(settings, await connect(settings), await openLocals(settings)) });
      log.info("the configuration was read again");
      const fixed = changedForNext(first.server, settings.server);
      if (fixed.length > 0) log.warn(`${fixed.join(" and ")} changed: that needs a restart`);
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
