/** The settings of `dragoman serve`: the configuration file, overridden by the flags. */
import { existsSync, readFileSync } from "node:fs";
import { readConfig, type Settings } from "../gateway/index.ts";
import type { ModelRule } from "../gateway/rules.ts";
import { ConfigError } from "../gateway/toml.ts";
import { Complaint } from "./complaint.ts";
import { unreadable } from "./input.ts";
import { modelHere } from "./local-model.ts";
import { CONFIG, type ServeFlags } from "./serve-flags.ts";
import { fromFlags, fromMachine, needUpstream, secret } from "./upstreams.ts";

/** The configuration file to read and watch. */
export const configOf = ({ config, upstream }: ServeFlags): string | undefined =>
  config ?? (upstream === undefined && existsSync(CONFIG) ? CONFIG : undefined);

/** `machine` finds servers on this machine. */
export async function readSettings(flags: ServeFlags, machine = fromMachine): Promise<Settings> {
  if (flags.upstream === undefined) needUpstream(flags);
  const file = configOf(flags);
  const base: Settings = file === undefined ? { server: {}, upstreams: {}, locals: {}, models: [] } : fromFile(file);
  const { host, port, insecure, key, model, dialect, context } = flags;
  const upstreams = flags.upstream === undefined ? base.upstreams : fromFlags(flags.upstream, flags);
  const locals = flags.upstream === undefined ? base.locals : {};
  const isHere = modelHere(flags) !== undefined;
  const hasSome = Object.keys({ ...upstreams, ...locals }).length > 0 || isHere;
  const found = hasSome ? upstreams : await machine();
  const isOfMachine = !hasSome && Object.keys(found).length > 0;
  const isRule = !isHere && (model !== undefined || ((flags.upstream !== undefined || isOfMachine) && (dialect ?? context) !== undefined));
  // Without `--model`, each server found on this machine keeps its models.
  const upstream = isOfMachine && model === undefined ? undefined : Object.keys({ ...found, ...locals })[0];
  // `--upstream` replaces the upstreams of the file; rules for these are dropped.
  const isAnswered = ({ upstream }: ModelRule): boolean =>
    flags.upstream === undefined || upstream === undefined || Object.hasOwn(found, upstream);
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
    models: isRule ? [{ name: "*", upstream, model, dialect, context }] : base.models.filter(isAnswered),
  };
}

function fromFile(file: string): Settings {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw unreadable(file, error);
  }
  try {
    return readConfig(text, file);
  } catch (error) {
    throw error instanceof ConfigError ? new Complaint(error.message, { cause: error }) : error;
  }
}
