/** What `dragoman serve` does; a separate file, so that other commands do not load the server. */
import type { Logger } from "pino";
import type { Warning } from "../core/nouns.ts";
import { type Changes, createGateway, createMetrics, type Gateway, type GatewayOptions, type Settings } from "../gateway/index.ts";
import { Refusal } from "../gateway/refusal.ts";
import { Complaint } from "./complaint.ts";
import { describeModel, hasEmbedded, modelHere, NoRuntime, type Opened, openModel } from "./local-model.ts";
import { endWithGrace, listen } from "./running.ts";
import { check, unlisted } from "./serve-check.ts";
import type { ServeFlags } from "./serve-flags.ts";
import { type Local, Locals } from "./serve-local.ts";
import { createLog } from "./serve-log.ts";
import { openRecorder, secretsOf } from "./serve-record.ts";
import { configOf, readSettings } from "./serve-settings.ts";
import { verboseTap } from "./serve-verbose.ts";
import { visible } from "./terminal.ts";
import { connectAll, dialectLines, NOT_FOUND, type Upstream } from "./upstreams.ts";
import { watchFile } from "./watch.ts";

export async function serve(flags: ServeFlags): Promise<void> {
  const settings = await readSettings(flags);
  const upstreams = await connectAll(settings.upstreams, { here: Object.keys(settings.locals).length > 0 });
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
    recordings: flags.record,
    metrics: createMetrics(),
    onExchange: log.exchange,
  });
  const url = await listen(gateway, settings.server.port, (line) => log.warn(line));
  const readyMs = Math.round(performance.now()); // since the process began
  for (const upstream of upstreams) tellUpstream(upstream, log);
  if (flags.dialect === undefined) for (const line of (await Promise.all(upstreams.map(dialectLines))).flat()) log.info(line);
  for (const local of locals) tellLocal(local, log);
  endWithGrace(gateway, {
    tell: (line) => log.info(line),
    last: async () => recorder?.flush(),
    hasHangup: configOf(flags) !== undefined,
  });
  const takeOver = async (next: Settings, connected: readonly Upstream[]): Promise<void> => {
    const { host: _, port: __, ...server } = next.server; // the address it listens on stays
    const models = [...given, ...(await configured.open(next.locals))];
    recorder?.hide(secretsOf(next));
    gateway.update({ ...server, ...enginesOf(next, connected, models) });
  };
  reloadOnChange(flags, { settings, upstreams }, takeOver, log);
  log.info(
    { url, readyMs },
    `listening on ${url}, ready in ${(readyMs / 1000).toFixed(1)} s; base URL for OpenAI clients: ${reachable(url)}/v1`,
  );
  for (const line of await unlisted(settings, upstreams)) log.warn(line);
}

/** The model of `--model`, if it is to run here; or, if there is no upstream at all, the embedded one. */
async function openGiven({ upstreams, locals }: Settings, flags: ServeFlags): Promise<Local[]> {
  const named = (opened: Opened): Local[] => [{ name: opened.engine.facts.id, engine: opened.engine, opened }];
  const here = modelHere(flags);
  if (here !== undefined) return openModel(here, flags).then(named);
  if (Object.keys({ ...upstreams, ...locals }).length > 0) return [];
  if (flags.model !== undefined)
    throw new Complaint(`${NOT_FOUND}; --model ${visible(flags.model)} must be one of its models, or a file that ends in .gguf`);
  if (!hasEmbedded()) throw new Complaint(NOT_FOUND);
  const alone = ({ engine, warnings }: Opened): Local[] => named({ engine, warnings: [...warnings, ALONE] });
  return openModel("embedded", flags).then(alone, (error: unknown) => {
    throw error instanceof NoRuntime ? new Complaint(`${NOT_FOUND}; ${error.message}`, { cause: error }) : error;
  });
}

const ALONE: Warning = {
  code: "embedded",
  message:
    "no model server was found on this machine, so the embedded model answers: it can write tool calls, but knows nothing; choose another with --upstream or --model",
};

/** 0.0.0.0 is not an address to connect to: Windows and browsers refuse it. */
const reachable = (url: string): string => url.replace(/\/\/(?:0\.0\.0\.0|\[::\]):/, "//127.0.0.1:");

// ---- Upstreams

function tellUpstream({ name, wire, urls, hasKey, how, certain }: Upstream, log: Logger): void {
  const fields = { upstream: name, wire, urls, key: hasKey ? "set" : "none" };
  log[certain ? "info" : "warn"](fields, `upstream ${name}: ${urls.join(", ")} speaks ${wire} (${how})`);
}

function tellLocal({ name, opened: { engine, warnings } }: Local, log: Logger): void {
  log.info({ upstream: name, path: engine.facts.path }, describeModel(engine));
  for (const { code, message } of warnings) log.warn({ warning: code }, message);
}

const enginesOf = (
  { models }: Settings,
  upstreams: readonly Upstream[],
  locals: readonly Local[],
): Pick<Changes, "upstreams" | "models"> => ({
  upstreams: Object.fromEntries([...upstreams, ...locals].map(({ name, engine }) => [name, engine])),
  models,
});

// ---- Running

function open(options: GatewayOptions): Gateway {
  try {
    return createGateway(options);
  } catch (error) {
    throw error instanceof Refusal ? new Complaint(error.message, { cause: error }) : error;
  }
}

/** Settings that changed but cannot change while the server runs. */
const changedForNext = (before: Settings["server"], now: Settings["server"]): string[] => [
  ...(before.host === now.host ? [] : ["host"]),
  ...(before.port === now.port ? [] : ["port"]),
  ...(before.patience?.requestMs === now.patience?.requestMs ? [] : ["request_timeout"]),
];

/** A configuration with a mistake changes nothing. */
function reloadOnChange(
  flags: ServeFlags,
  first: { settings: Settings; upstreams: readonly Upstream[] },
  takeOver: (settings: Settings, upstreams: readonly Upstream[]) => Promise<void>,
  log: Logger,
): void {
  const file = configOf(flags);
  if (file === undefined) return;
  let { upstreams } = first;
  const readAgain = async (): Promise<void> => {
    try {
      const settings = await readSettings(flags);
      const next = await connectAll(settings.upstreams, { before: upstreams, here: true }); // it runs
      await takeOver(settings, next);
      upstreams = next;
      log.info("the configuration was reloaded");
      const fixed = changedForNext(first.settings.server, settings.server);
      if (fixed.length > 0) log.warn(`${fixed.join(" and ")} changed: restart to apply`);
    } catch (error) {
      log.error(`the new configuration was not applied: ${(error as Error).message}`);
    }
  };
  // One after the other: a reload that waits for a slow upstream would otherwise finish after the next one, and restore the old settings.
  let last = Promise.resolve();
  const reload = (): void => {
    last = last.then(readAgain);
  };
  process.on("SIGHUP", reload);
  watchFile(file, reload, ({ message }) =>
    log.warn(`changes of the configuration will not be noticed: ${message}; send SIGHUP or restart to reload it`),
  );
}
