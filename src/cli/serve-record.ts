/** `--record`: the recorder of a gateway started from the command line. It knows all of the gateway's keys, and writes none of them. */
import { accessSync, constants, mkdirSync } from "node:fs";
import type { Logger } from "pino";
import { SECRET_NAME } from "../gateway/edge.ts";
import { createRecorder, type Recorder, type Settings } from "../gateway/index.ts";
import { Complaint } from "./complaint.ts";
import { unwritable } from "./input.ts";
import { visible } from "./terminal.ts";

/** What must never be recorded: the keys of the gateway and of its upstreams. */
export const secretsOf = ({ server: { keys = [] }, upstreams }: Settings): string[] => [
  ...keys,
  ...Object.values(upstreams).flatMap(({ urls, key, headers = {}, secrets = [] }) => [
    ...(key === undefined ? [] : [key]),
    ...secrets,
    ...[headers, ...urls.map((url) => Object.fromEntries(new URL(url).searchParams))].flatMap(namedSecrets),
  ]),
];

const namedSecrets = (values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));

export function openRecorder(folder: string, settings: Settings, log: Logger): Recorder {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new Complaint(`--record: ${unwritable(folder, error).message}`, { cause: error });
  }
  log.info(`recording exchanges into ${visible(folder)}`);
  return createRecorder({
    folder,
    secrets: secretsOf(settings),
    onProblem: (error) => log.error(`cannot record: ${error.message}`),
  });
}
