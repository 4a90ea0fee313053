/** Watches a file: it may be written to, replaced by an editor, or reached through a link that changes. */
import { realpathSync, statSync, watch } from "node:fs";
import { dirname, resolve } from "node:path";

/** Editors write a file in several steps. */
const SETTLE_MS = 200;

/** `blind` is called with the reason if changes cannot be noticed. */
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
      watch(folder, look).on("error", blind).unref(); // Windows: EPERM when the folder is deleted
    } catch (error) {
      blind(error as Error); // Linux: ENOSPC when there are too many watches
    }
  }
}
