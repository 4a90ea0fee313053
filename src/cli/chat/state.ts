/** Where this program keeps its state. The folder may not exist: a writer must create it. */
import { join } from "node:path";
import { home } from "../../engines/home.ts";

export function stateFolder(name: string): string {
  const base = process.env.XDG_STATE_HOME || (process.platform === "win32" && process.env.LOCALAPPDATA) || join(home(), ".local", "state");
  return join(base, "dragoman", name);
}
