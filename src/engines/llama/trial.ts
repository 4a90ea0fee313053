/**
 * Tests whether an available GPU really works. If its driver is older than the CUDA version of llama.cpp's binary, CUDA ends the whole
 * process, but only at the first token. So the first token is generated in a separate process.
 */
import { execFile } from "node:child_process";
import { EMBEDDED } from "./source.ts";

/** Loading the binary and a small model takes a second or two. */
const LIMIT_MS = 60_000;
const READY = "ready";

/** `untried`: the process failed before the first token. */
export type Trial = "fine" | "untried" | { readonly fault: string };

export function tryOut(gpu: "auto" | "cuda" | false): Promise<Trial> {
  // Not as a module: its flag would be passed on to the process in which node-llama-cpp tests the binary, and make it fail.
  const code = `(async () => {
    const { writeSync } = require("node:fs");
    const { getLlama } = await import(${JSON.stringify(import.meta.resolve("node-llama-cpp"))});
    const logger = (_, line) => writeSync(2, line + "\\n");
    const llama = await getLlama({ gpu: ${JSON.stringify(gpu)}, build: "never", skipDownload: true, progressLogs: false, logLevel: "error", logger });
    const model = await llama.loadModel({ modelPath: ${JSON.stringify(EMBEDDED)} });
    const context = await model.createContext({ contextSize: 64, threads: 1 });
    writeSync(1, ${JSON.stringify(READY)});
    for await (const _ of context.getSequence().evaluate(model.tokenize("Hi"))) break;
    process.exit(0);
  })()`;
  const options = { timeout: LIMIT_MS, env: { ...process.env, ELECTRON_RUN_AS_NODE: "1" } };
  return new Promise((resolve) => {
    execFile(process.execPath, ["--eval", code], options, (error, stdout, stderr) => {
      if (!error) resolve("fine");
      else if (stdout !== READY) resolve("untried");
      else resolve({ fault: /CUDA error: (.+?)\.?$/m.exec(stderr)?.[1] ?? "llama.cpp crashes at the first token" });
    });
  });
}
