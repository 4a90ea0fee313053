/** `--record`: the recorder of a gateway that runs in a terminal. It knows every key that the gateway has, and writes none of them. */
import type { Logger } from "pino";
import { createRecorder, type Recorder, type Settings } from "../gateway/index.ts";
import { SECRET_HEADER } from "../gateway/recordings/secrets.ts";
import { visible } from "./terminal.ts";

export function openRecorder(folder: string, { server, upstreams }: Settings, log: Logger): Recorder {
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
