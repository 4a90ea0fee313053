/** When a file changes: by what is written into it, by another that an editor puts in its place, or because a link on its way leads elsewhere. */
import { realpathSync, statSync, watch } from "node:fs";
import { dirname, resolve } from "node:path";

/** Editors write a file in several steps. */
const SETTLE_MS = 200;

/** `blind`: nobody will notice, and why. */
export function watchFile(file: string, changed: () => void, blind: (error: Error) => void): void {
  const stampOf = (): string => {
    const { ino, mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? {};
    return `${ino} ${mtimeMs} ${size}`;
  };
  let stamp = stampOf();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const now = stampOf();
    if (now === stamp) return;
    stamp = now;
    clearTimeout(timer);
    timer = setTimeout(changed, SETTLE_MS);
  };
  for (const folder of new Set([file, realpathSync(file)].map((path) => dirname(resolve(path))))) {
    try {
      watch(folder, look).on("error", blind).unref(); // Windows says EPERM when the folder goes
    } catch (error) {
      blind(error as Error); // Linux says ENOSPC where programs watch too much already
    }
  }
}
