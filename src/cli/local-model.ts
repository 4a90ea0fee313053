/** Models in this process: fetched and loaded with a progress bar; offers to install the runtime if it is missing. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Warning } from "../core/nouns.ts";
import { getDialect } from "../dialects/registry.ts";
import { EngineError } from "../engines/error.ts";
import { createLlama, EMBEDDED, type Gpu, type Llama, MissingRuntime, type Progress, RUNTIME } from "../engines/llama/index.ts";
import { compareTemplate, TemplateError } from "../template/index.ts";
import { Complaint } from "./complaint.ts";
import { clearLine, type Output, obeys, paletteOf, visible, widthOfScreen } from "./terminal.ts";

export interface ModelFlags {
  gpu?: boolean | string;
  dialect?: string;
  context?: number;
  parallel?: number;
}

/** Whether `--model` is a model to load, not the name of an upstream's model. */
const isModelFile = (model: string): boolean => model === "embedded" || /^(hf:|https?:\/\/)|\.gguf$/i.test(model);

/** The model of `--model`, if it is to run in this process. */
export const modelHere = ({ upstream, model }: { upstream?: string; model?: string }): string | undefined =>
  upstream === undefined && model !== undefined && isModelFile(model) ? model : undefined;

export const hasEmbedded = (): boolean => existsSync(EMBEDDED);

export interface Opened {
  engine: Llama;
  warnings: readonly Warning[];
}

/**
 * The runtime for models in this process is missing, and the user declined to install it or could not be asked. Callers may go on without.
 */
export class NoRuntime extends Complaint {}

export async function openModel(model: string, flags: ModelFlags = {}, output: NodeJS.WriteStream = process.stderr): Promise<Opened> {
  const bar = new Bar(output);
  try {
    const engine = await createLlama({
      model,
      gpu: gpuOf(flags.gpu),
      dialect: flags.dialect,
      context: flags.context,
      parallel: flags.parallel,
      onProgress: (progress) => bar.show(progress),
    });
    bar.clear();
    return { engine, warnings: [...engine.warnings, ...(await templateWarnings(engine))] };
  } catch (error) {
    bar.clear();
    if (!(error instanceof EngineError)) throw error;
    if (!(error instanceof MissingRuntime)) throw new Complaint(error.message, { cause: error });
    await offerRuntime(output);
    throw new NoRuntime(error.message, { cause: error });
  }
}

const GPUS: readonly Gpu[] = ["auto", "metal", "cuda", "vulkan"];

function gpuOf(flag: boolean | string | undefined): Gpu | undefined {
  if (typeof flag !== "string") return flag;
  const gpu = GPUS.find((name) => name === flag);
  if (gpu === undefined) throw new Complaint(`--gpu takes ${GPUS.join(", ")}, or no value; it is ${visible(flag)}`);
  return gpu;
}

/** A fine-tune's template may differ from the dialect's rendering: its prompts are then not what the model was trained on. */
async function templateWarnings({ facts: { template, dialect, variant } }: Llama): Promise<Warning[]> {
  if (template === undefined) return [];
  try {
    const { equal, equalProbes, probes, differences } = await compareTemplate(getDialect(dialect), template, { variant });
    if (equal) return [];
    const first = differences[0];
    const where =
      first?.error === undefined ? `${JSON.stringify(first?.template)} where ours has ${JSON.stringify(first?.builtIn)}` : first.error;
    const message = `its chat template differs from our rendering of ${dialect} in ${probes - equalProbes} of ${probes} probes; ${first?.probe}: ${where}`;
    return [{ code: "template", message }];
  } catch (error) {
    if (error instanceof TemplateError) return []; // the template package is missing: nothing can be compared
    throw error;
  }
}

// ---- The runtime

/**
 * The command that installs the runtime where this package finds it, and the folder to run it in: the one that holds our `node_modules`.
 * The command has no path in it, since a shell would interpret it.
 */
function installation(): { command: string; cwd: string } {
  const here = fileURLToPath(import.meta.url);
  const modules = here.lastIndexOf(`${sep}node_modules${sep}`);
  const cwd = modules < 0 ? dirname(here) : here.slice(0, modules);
  const isGlobal = modules >= 0 && !existsSync(join(cwd, "package.json"));
  return { command: `npm install ${isGlobal ? "--global " : ""}${RUNTIME}`, cwd };
}

/** In a terminal, offers to install the runtime now, and then runs this command again. */
async function offerRuntime(output: NodeJS.WriteStream): Promise<void> {
  if (!process.stdin.isTTY || !output.isTTY) return;
  const { command, cwd } = installation();
  const asking = createInterface({ input: process.stdin, output });
  const question = `To run a model in this process, node-llama-cpp is needed (about 700 MB with its GPU binaries). Run "${command}" in ${cwd} now? [y/N] `;
  const answer = await new Promise<string>((resolve) => {
    asking.on("SIGINT", () => process.exit(130)).on("close", () => resolve("")); // Ctrl-C, Ctrl-D
    asking.question(question, resolve);
  });
  asking.close();
  if (!/^y(es)?$/i.test(answer.trim())) return;
  const installed = spawnSync(command, { stdio: "inherit", shell: true, cwd }); // npm is a script, which Windows starts only through a shell
  if (installed.status !== 0) throw new Complaint(`"${command}" failed`);
  const again = spawnSync(process.execPath, process.argv.slice(1), { stdio: "inherit" });
  process.exit(again.status ?? 1);
}

// ---- The bar

const REDRAW_MS = 100;
const BAR = 24;

/** Progress of fetching and loading, on one line that is cleared at the end; without a terminal, one line per fetched file. */
class Bar {
  readonly #output: Output;
  #drawn = 0;
  #file: string | undefined;
  #began = 0;

  constructor(output: Output) {
    this.#output = output;
  }

  show(progress: Progress): void {
    const now = performance.now();
    if (progress.phase === "download" && progress.file !== this.#file) {
      this.#file = progress.file;
      this.#began = now;
      if (!obeys(this.#output)) this.#output.write(`dragoman: fetching ${visible(progress.file)} (${sizeOf(progress.total)})\n`);
    }
    if (!obeys(this.#output) || now - this.#drawn < REDRAW_MS) return;
    this.#drawn = now;
    this.#output.write(`\r${this.#line(progress).slice(0, widthOfScreen(this.#output) - 1)}\x1b[K`);
  }

  clear(): void {
    if (this.#drawn > 0) this.#output.write(clearLine(this.#output));
  }

  #line(progress: Progress): string {
    if (progress.phase === "load") return `loading  ${barOf(progress.fraction)} ${percent(progress.fraction)}`;
    const { file, loaded, total } = progress;
    const speed = loaded / Math.max(0.1, (performance.now() - this.#began) / 1000);
    if (total === undefined) return `fetching ${visible(file)}  ${sizeOf(loaded)}  ${sizeOf(speed)}/s`;
    return `fetching ${barOf(loaded / total)} ${percent(loaded / total)}  ${sizeOf(loaded)} of ${sizeOf(total)}  ${sizeOf(speed)}/s  ${visible(file)}`;
  }
}

const barOf = (fraction: number): string => "█".repeat(Math.round(fraction * BAR)).padEnd(BAR, "░");
const percent = (fraction: number): string => `${Math.floor(fraction * 100)}%`.padStart(4);

export function sizeOf(bytes: number | undefined): string {
  if (bytes === undefined) return "of unknown size";
  const [unit, size] = bytes >= 1e9 ? ["GB", 1e9] : bytes >= 1e6 ? ["MB", 1e6] : ["kB", 1e3];
  return `${(bytes / size).toFixed(bytes >= size * 100 ? 0 : 1)} ${unit}`;
}

/** One line about a loaded model. */
export function describeModel({ facts }: Llama): string {
  const { id, bytes, dialect, variant, why, context, parallel, gpu } = facts;
  const place = gpu === false ? "on the CPU" : `with ${gpu}`;
  return `model ${id}: ${sizeOf(bytes)}, ${place}, speaks ${dialect} (${variant}; ${why}), ${context} tokens, ${parallel} at once`;
}

/** A warning with the model it is about. */
export const warningLine = ({ facts }: Llama, { message }: Warning, output: Output): string =>
  `${paletteOf(output).yellow(facts.id)}: ${visible(message)}`;
