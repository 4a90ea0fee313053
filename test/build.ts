// Runs once before all tests: some of them need the built package, so it is rebuilt if a source is newer.
import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const changed = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

export default function build(): void {
  // Folders too: they change when a file is removed.
  const below = (folder: string): string[] => [
    folder,
    ...readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path)),
  ];
  const sources = ["src", "web"].flatMap(below);
  const newest = Math.max(...[...sources, "scripts/build.mjs", "package.json"].map(changed));
  if (changed("dist/cli/main.js") < newest) execFileSync(process.execPath, ["scripts/build.mjs"], { stdio: "inherit" });
}
