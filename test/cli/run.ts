// The built command line as a child process.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../../src/core/nouns.ts";
import type { Run } from "../children.ts";
import { tempFolder } from "../servers.ts";

export const main = "dist/cli/main.js";

/** The children ignore the colour settings of whoever runs the tests. */
const { NO_COLOR: _, FORCE_COLOR: __, ...quiet } = process.env;
export const envWith = (env: Record<string, string> = {}): NodeJS.ProcessEnv => ({ ...quiet, ...env });

export function dragoman(args: readonly string[], input: string | Uint8Array = "", env: Record<string, string> = {}): Run {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    input,
    encoding: "utf8",
    env: envWith(env),
    maxBuffer: 1 << 28,
  });
  return { code: status, stdout, stderr };
}

/** The events that a run printed as JSON lines; the run must have succeeded. */
export function eventsOf({ code, stdout, stderr }: Run): Event[] {
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Event);
}

/** A folder for the files of a test file. */
export function folder(): { file(name: string, content: unknown): string } {
  const path = tempFolder();
  return {
    file(name, content) {
      const file = join(path, name);
      writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
      return file;
    },
  };
}
