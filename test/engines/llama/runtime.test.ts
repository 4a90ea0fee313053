// What llama.cpp and node-llama-cpp would otherwise let happen: one conversation reads another's results, a faulty GPU ends the process.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { createLlama } from "../../../src/engines/llama/index.ts";
import { guardSampling } from "../../../src/engines/llama/runtime.ts";
import { tryOut } from "../../../src/engines/llama/trial.ts";
import { tempFolder } from "../../servers.ts";

afterEach(() => vi.unstubAllEnvs());

/** A context whose samples end on command. */
function fakeContext() {
  const open = new Map<number, { resolve(token: number): void; reject(error: Error): void }>();
  const sampleToken = (id: number) => new Promise<number>((resolve, reject) => open.set(id, { resolve, reject }));
  const context = { _ctx: { decodeBatch: async () => {}, sampleToken } };
  guardSampling(context);
  return { bindings: context._ctx, open };
}

test("after each batch one conversation samples first, then all others at once", async () => {
  const { bindings, open } = fakeContext();
  for (const batch of [0, 10]) {
    await bindings.decodeBatch();
    const sampled = [1, 2, 3].map((id) => bindings.sampleToken(batch + id));
    expect([...open.keys()]).toEqual([batch + 1]);
    open.get(batch + 1)!.resolve(7);
    await sampled[0];
    await vi.waitFor(() => expect([...open.keys()]).toEqual([batch + 1, batch + 2, batch + 3]), { timeout: 30_000 });
    open.get(batch + 2)!.reject(new Error("no token is allowed"));
    open.get(batch + 3)!.resolve(9);
    expect(await Promise.all(sampled)).toEqual([7, -1, 9]);
    open.clear();
  }
});

test("a working machine passes the trial", async () => {
  expect(await tryOut(false)).toBe("fine");
}, 60_000);

test("a machine that crashes at the first token fails it, with the crash's own message", async () => {
  const dying = join(tempFolder(), "dying.cjs");
  const body = `
    const fs = require("node:fs");
    const { writeSync } = fs;
    fs.writeSync = (fd, text) => {
      const written = writeSync(fd, text);
      if (text !== "ready") return written;
      writeSync(2, "CUDA error: the driver is too old.\\n");
      process.kill(process.pid, "SIGKILL");
    };
    require("node:module").syncBuiltinESMExports();`;
  writeFileSync(dying, body);
  vi.stubEnv("NODE_OPTIONS", `--require=${JSON.stringify(dying)}`);
  expect(await tryOut(false)).toEqual({ fault: "the driver is too old" });
}, 60_000);

test("a GPU that this system cannot have is refused, not replaced by another", async () => {
  const gpu = process.platform === "darwin" ? "cuda" : "metal";
  await expect(createLlama({ model: "embedded", gpu })).rejects.toThrow(`GPU for ${gpu}`);
});
