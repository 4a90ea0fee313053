/** Where this program keeps what belongs to the user; whoever writes makes it. */
import { homedir } from "node:os";
import { join } from "node:path";

export function stateFolder(name: string): string {
  const base =
    process.env.XDG_STATE_HOME || (process.platform === "win32" && process.env.LOCALAPPDATA) || join(homedir(), ".local", "state");
  return join(base, "dragoman", name);
}
