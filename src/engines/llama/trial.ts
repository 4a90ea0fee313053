/**
 * Whether a GPU that is there computes, too. Where its driver is older than what llama.cpp's binary was built with, CUDA ends the whole process,
 * but only at the first token: so the first token is asked for in a process of its own.
 */
import { execFile } from "node:child_process";
import { EMBEDDED } from "./source.ts";

/** Loading the binary and a small model takes a second or two. */
const LIMIT_MS = 60_000;
const READY = "ready";

/** `untried`: it was not ready for it. */
export type Trial = "fine" | "untried" | { readonly fault: string };

export function tryOut(gpu: "auto" | "cuda" | false): Promise<Trial> {
  // No module: its flag would go on to the process in which node-llama-cpp tries the binary, and end it.
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
      else resolve({ fault: /CUDA error: (.+?)\.?$/m.exec(stderr)?.[1] ?? "llama.cpp ends at the first token" });
    });
  });
}
