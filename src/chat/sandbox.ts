/**
 * File access within one folder: neither `..` nor an absolute path nor a symbolic link leads out of it. Paths come from a model and are not
 * trusted: each is resolved on the disk before it is used.
 */
import { lstat, mkdir, open, readdir, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** More would fill a model's context. */
const MAX_READ = 200_000;
const MAX_ENTRIES = 500;

export class Sandbox {
  readonly folder: string;
  readonly #platform: string;

  constructor(folder: string, platform: string = process.platform) {
    this.folder = resolve(folder);
    this.#platform = platform;
  }

  async list(path = "."): Promise<string[]> {
    const full = await this.#inside(path);
    const entries = await reworded(path, readdir(full, { withFileTypes: true }));
    const names = entries.map((entry) => entry.name + (entry.isDirectory() ? "/" : "")).sort();
    return names.length > MAX_ENTRIES ? [...names.slice(0, MAX_ENTRIES), `… and ${names.length - MAX_ENTRIES} more`] : names;
  }

  async read(path: string): Promise<string> {
    const full = await this.#file(path);
    const file = await reworded(path, open(full, "r"));
    try {
      const { size } = await file.stat();
      const bytes = Buffer.alloc(Math.min(size, MAX_READ));
      const { bytesRead } = await reworded(path, file.read(bytes, 0, bytes.length, 0));
      const text = textOf(bytes.subarray(0, bytesRead), size > MAX_READ);
      if (text === undefined) throw new Error(`${path} is not a text file`);
      return size > MAX_READ ? `${text}\n… cut: the file has ${size} bytes` : text;
    } finally {
      await file.close();
    }
  }

  /** Creates missing folders. */
  async write(path: string, content: string): Promise<{ path: string; bytes: number }> {
    const full = await this.#inside(path);
    if (full === (await this.#root())) throw new Error(`${path} is a folder`);
    await reworded(path, mkdir(dirname(full), { recursive: true }));
    await reworded(path, writeFile(await this.#file(path), content)); // checked again, now that its folder exists
    return {
      path: relative(await this.#root(), full)
        .split(sep)
        .join("/"),
      bytes: Buffer.byteLength(content),
    };
  }

  async #root(): Promise<string> {
    await reworded("the folder", mkdir(this.folder, { recursive: true }));
    return reworded("the folder", realpath(this.folder));
  }

  /**
   * The real path of a file that exists or will be created. Throws for a folder, which Windows reads as an empty file, and for a pipe, socket
   * or device, since opening one may block for ever.
   */
  async #file(path: string): Promise<string> {
    const full = await this.#inside(path);
    const there = await stat(full).catch(() => undefined);
    if (there && !there.isFile()) throw new Error(`${path}: ${there.isDirectory() ? REASONS.EISDIR : "it is not a regular file"}`);
    return full;
  }

  /** Resolves a path with its links; throws if it leads outside the folder, or to a dead link. */
  async #inside(path: string): Promise<string> {
    const root = await this.#root();
    const wanted = resolve(root, path);
    // On Windows `a.txt:b` is an alternate data stream of `a.txt`, which no listing shows.
    if (this.#platform === "win32" && path.includes(":")) throw new Error(`${path}: on Windows, a file name cannot contain a colon`);
    if (path.includes("\0") || isAbsolute(path) || !isWithin(root, wanted)) throw outside(path);
    // Only the part that exists can contain links.
    let existing = wanted;
    const missing: string[] = [];
    while (!(await exists(existing))) {
      missing.unshift(relative(dirname(existing), existing));
      existing = dirname(existing);
    }
    const real = await realpath(existing).catch(() => undefined); // writing to a dead link would create its target
    if (real === undefined || !isWithin(root, real)) throw outside(path);
    return join(real, ...missing);
  }
}

const outside = (path: string): Error => new Error(`${path} is outside the folder that you may use`);

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** A dead link exists, too. */
const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  ENOTDIR: "it is a file, not a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EEXIST: "there is a file where a folder is needed",
};

/** Rewords errors without the real paths of this machine, since the model reads them. */
async function reworded<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new Error(`${path}: ${REASONS[code] ?? (code || "cannot be used")}`, { cause: error });
  }
}

/** `undefined`: the bytes are not text. `cut`: the last character may be incomplete. */
function textOf(bytes: Uint8Array, cut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: cut });
  } catch {
    return undefined;
  }
}
