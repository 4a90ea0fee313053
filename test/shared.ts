// The reference material beside the repository. It is not part of the project: tests that need it are skipped if it is missing.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";

export const shared = fileURLToPath(new URL("../../shared", import.meta.url));
export const hasShared = existsSync(shared);

/** `describe` for tests that read `shared`. Without it `tests` is not even called, so it may read files to make its tests. */
export function describeShared(title: string, tests: () => void): void {
  if (hasShared) describe(title, tests);
  else test.skip(`${title} (../shared is missing)`, () => {});
}
