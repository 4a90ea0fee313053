// No path leads out of the sandbox, and files inside can be used.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { Sandbox } from "../../src/chat/sandbox.ts";
import { tempFolder } from "../servers.ts";

const home = tempFolder();

let sandbox: Sandbox;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(home, "box-"));
  sandbox = new Sandbox(folder);
  writeFileSync(join(home, "secret.txt"), "secret");
  mkdirSync(join(home, "private"), { recursive: true });
});

test("writes, lists and reads files, and makes missing folders", async () => {
  expect(await sandbox.write("notes/today.txt", "Grüße\n")).toEqual({ path: "notes/today.txt", bytes: 8 });
  await sandbox.write("a.txt", "");
  expect(await sandbox.list()).toEqual(["a.txt", "notes/"]);
  expect(await sandbox.list("notes")).toEqual(["today.txt"]);
  expect(await sandbox.read("notes/../notes/today.txt")).toBe("Grüße\n");
});

test("makes its folder on first use", async () => {
  const fresh = new Sandbox(join(folder, "deep", "down"));
  expect(await fresh.list()).toEqual([]);
});

test("on Windows a colon, which names a hidden stream, is refused; elsewhere it is an ordinary character", async () => {
  const windows = new Sandbox(folder, "win32");
  await windows.write("a.txt", "seen");
  for (const path of ["a.txt:b", "a.txt::$DATA", "sub:x/a.txt"]) {
    await expect(windows.write(path, "unseen")).rejects.toThrow(`${path}: on Windows, a file name cannot contain a colon`);
    await expect(windows.read(path)).rejects.toThrow("colon");
  }
  expect(await windows.list()).toEqual(["a.txt"]);
  await new Sandbox(folder, "linux").write("12:30.txt", "noon");
  expect(await windows.list()).toEqual(["12:30.txt", "a.txt"]);
});

describe("a path that leads out is refused, and nothing outside is touched", () => {
  const ways = [
    "../secret.txt",
    "..",
    "a/../../secret.txt",
    "/etc/passwd",
    "link",
    "linked/secret.txt",
    "linked/new/file.txt",
    "dangling",
    "nul\0l",
  ];
  beforeEach(() => {
    symlinkSync(join(home, "secret.txt"), join(folder, "link"));
    symlinkSync(home, join(folder, "linked"));
    symlinkSync(join(home, "not-yet.txt"), join(folder, "dangling"));
  });

  test.each(ways)("%j", async (path) => {
    await expect(sandbox.read(path)).rejects.toThrow("outside");
    await expect(sandbox.list(path)).rejects.toThrow("outside");
    await expect(sandbox.write(path, "changed")).rejects.toThrow("outside");
    expect(readFileSync(join(home, "secret.txt"), "utf8")).toBe("secret");
    expect(() => readFileSync(join(home, "not-yet.txt"))).toThrow("ENOENT");
    expect(() => readFileSync(join(home, "new", "file.txt"))).toThrow("ENOENT");
  });

  test("a link inside is a file like any other", async () => {
    await sandbox.write("real.txt", "here");
    symlinkSync(join(folder, "real.txt"), join(folder, "alias.txt"));
    expect(await sandbox.read("alias.txt")).toBe("here");
  });
});

test("a folder that cannot be made is an error without its path", async () => {
  writeFileSync(join(folder, "file"), "");
  const error = await new Sandbox(join(folder, "file", "box")).list().catch((error: Error) => error.message);
  expect(error).toMatch(/^the folder: /);
  expect(error).not.toContain(folder);
});

test("errors say what is wrong, without paths of this machine", async () => {
  await expect(sandbox.read("none.txt")).rejects.toThrow(/^none\.txt: there is no such file$/);
  mkdirSync(join(folder, "sub"));
  await expect(sandbox.read("sub")).rejects.toThrow(/^sub: it is a folder$/);
  await expect(sandbox.write("sub", "x")).rejects.toThrow(/^sub: it is a folder$/);
  await expect(sandbox.write(".", "x")).rejects.toThrow("is a folder");
  await sandbox.write("file", "x");
  await expect(sandbox.write("file/below", "x")).rejects.toThrow(/^file\/below: /);
  await expect(sandbox.list("file")).rejects.toThrow(/^file: it is a file/);
});

test.skipIf(process.platform === "win32")(
  "a pipe is neither read nor written, since opening it would block (Windows has none among its files)",
  async () => {
    execFileSync("mkfifo", [join(folder, "pipe")]);
    await expect(sandbox.read("pipe")).rejects.toThrow(/^pipe: it is not a regular file$/);
    await expect(sandbox.write("pipe", "x")).rejects.toThrow(/^pipe: it is not a regular file$/);
  },
);

test("binary data is refused; a long text is cut, and says so", async () => {
  writeFileSync(join(folder, "image.png"), Buffer.from([0x89, 0x50, 0, 0xff]));
  await expect(sandbox.read("image.png")).rejects.toThrow("not a text file");
  await sandbox.write("long.txt", "ä".repeat(150_000));
  const text = await sandbox.read("long.txt");
  expect(text).toContain("cut: the file has 300000 bytes");
  expect(text).not.toContain("\ufffd");
});
