// Child processes of tests: ending them, and collecting their output.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Ends one that has not ended by itself. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Its output on the pipes it has, and its exit code, once it has ended. */
export async function runOf(child: ChildProcess): Promise<Run> {
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) child[name]?.setEncoding("utf8").on("data", (text: string) => (said[name] += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...said };
}
