/** Makes an engine from a model's name: finds the file, checks it before llama.cpp reads it, and loads it. */

import { basename, resolve } from "node:path";
import type { LlamaContext, Llama as LlamaCpp, LlamaModel } from "node-llama-cpp";
import type { Sampling, Warning } from "../../core/nouns.ts";
import { detectDialect } from "../../dialects/detect.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { getDialect } from "../../dialects/registry.ts";
import { inVariant } from "../../dialects/variant.ts";
import { type Disposing, disposing } from "../disposing.ts";
import { EngineError } from "../error.ts";
import { cluesIn, type Gguf, templateOf, textIn } from "../gguf.ts";
import type { DialectSetting } from "../inband/dialects.ts";
import { checkGguf } from "./check.ts";
import { withObjects } from "./embedded.ts";
import { inOneVariant, type Llama, LlamaEngine } from "./engine.ts";
import { type Gpu, guardSampling, lineOf, listening, loadRuntime, startLlama } from "./runtime.ts";
import { merged, SAMPLING } from "./sampling.ts";
import { EMBEDDED, findModel } from "./source.ts";

export interface LlamaOptions {
  /** A file, an https URL, `hf:owner/repo[:quant]`, or `embedded`: the model that comes with Dragoman. */
  model: string;
  /** The model's dialect. Default: `auto`, detected from its file. */
  dialect?: DialectSetting | undefined;
  /** Default: `auto`, a GPU if the installed node-llama-cpp can use one. `true`: the same, but an error if it cannot. */
  gpu?: Gpu | undefined;
  /** The context size of one conversation, in tokens. */
  context?: number | undefined;
  /** How many conversations run at once, each with its own memory; others wait. */
  parallel?: number | undefined;
  threads?: number | undefined;
  /** Used for what a request does not set. */
  sampling?: Sampling | undefined;
  /** Where downloads are kept. Default: `DRAGOMAN_CACHE`, or the system's folder for caches. */
  cacheDir?: string | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export type Progress =
  | { phase: "download"; file: string; loaded: number; total: number | undefined }
  /** 0 to 1. */
  | { phase: "load"; fraction: number };

/** The default limit: a conversation rarely needs more, and the memory for it is allocated at once. */
const MAX_CONTEXT = 32_768;
const PARALLEL = 2;
/**
 * The embedded model is so small that more threads only wait for each other, and conversations cost little. It is trained for temperature
 * 0.
 */
const EMBEDDED_DEFAULTS = { gpu: false, threads: 1, parallel: 4, sampling: { temperature: 0 } } as const;

/** Throws `EngineError` if the model cannot be found, downloaded or loaded. */
export async function createLlama(options: LlamaOptions): Promise<Llama & Disposing> {
  await loadRuntime(); // fails before gigabytes are downloaded in vain
  const { onProgress, signal, cacheDir } = options;
  const given =
    options.model === "embedded" || options.model === EMBEDDED ? { ...EMBEDDED_DEFAULTS, ...withoutUndefined(options) } : options;
  const starting = startLlama(given.gpu ?? "auto"); // tests its binary in another process while the file is checked
  starting.catch(() => {}); // handled where it is awaited
  const path = await findModel(options.model, {
    cacheDir,
    signal,
    onDownload: (file, loaded, total) => onProgress?.({ phase: "download", file, loaded, total }),
  });
  const file = await checkGguf(path);
  const spoken = dialectOf(path, file, given);
  const { llama, warnings } = await starting;
  const { model, context } = await load(llama, path, given);
  const name = textIn(file.metadata, "general.name");
  const template = templateOf(file);
  const facts = {
    id: basename(path).replace(/(-\d{5}-of-\d{5})?\.gguf$/i, ""),
    ...(name === undefined ? {} : { name }),
    path,
    bytes: file.size,
    architecture: model.architecture,
    ...(template === undefined ? {} : { template }),
    dialect: spoken.dialect.id,
    variant: spoken.dialect.variant ?? "",
    why: spoken.why,
    context: context.contextSize,
    parallel: context.totalSequences,
    gpu: llama.gpu,
  };
  const sampling = merged({ ...SAMPLING, ...spoken.sampling }, given.sampling);
  const prepare = resolve(path) === EMBEDDED ? withObjects : undefined;
  return disposing(
    new LlamaEngine({ model, context, dialect: spoken.dialect, facts, warnings: [...warnings, ...spoken.warnings], sampling, prepare }),
  );
}

const withoutUndefined = <T extends object>(options: T): T =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;

async function load(llama: LlamaCpp, path: string, options: LlamaOptions): Promise<{ model: LlamaModel; context: LlamaContext }> {
  const { onProgress, signal, context: tokens, parallel = PARALLEL, threads } = options;
  let why: string | undefined;
  const listener = (line: string): void => {
    why ??= /error loading model: (.+)/.exec(line)?.[1];
  };
  let model: LlamaModel | undefined;
  try {
    return await listening(listener, async () => {
      model = await llama.loadModel({
        modelPath: path,
        onLoadProgress: (fraction) => onProgress?.({ phase: "load", fraction }),
        ...(signal ? { loadSignal: signal } : {}),
      });
      const context = await model.createContext({
        contextSize: tokens ?? { max: Math.min(model.trainContextSize, MAX_CONTEXT) },
        sequences: parallel,
        threads: threads ?? llama.cpuMathCores, // more threads than cores wait for each other
      });
      guardSampling(context);
      return { model, context };
    });
  } catch (error) {
    await model?.dispose();
    if (signal?.aborted) throw error;
    throw new EngineError({ code: "internal", message: `cannot load ${basename(path)}: ${why ?? lineOf(error)}` }, { cause: error });
  }
}

interface Spoken {
  dialect: Dialect;
  why: string;
  /** What the model's vendor recommends. */
  sampling: Sampling | undefined;
  warnings: Warning[];
}

function dialectOf(path: string, file: Gguf, { dialect: setting }: LlamaOptions): Spoken {
  const found = detectDialect(cluesIn(path, file));
  if (setting === undefined || setting === "auto") {
    if (found) return { dialect: inOneVariant(getDialect(found)), why: found.why, sampling: found.sampling?.values, warnings: [] };
    const message =
      "neither the model's name nor its template tells its dialect: it is asked for JSON, as models without tools are; set it with --dialect";
    const warnings = [{ code: "dialect-unknown", message }];
    return { dialect: inOneVariant(getDialect("json")), why: "its dialect is unknown", sampling: undefined, warnings };
  }
  const said = typeof setting === "string" ? named(setting) : setting;
  const fits = found?.id === said.id ? found : undefined;
  const dialect = said.variant === undefined && fits?.variant !== undefined ? inVariant(said, fits.variant) : said;
  return { dialect: inOneVariant(dialect), why: "it is configured", sampling: fits?.sampling?.values, warnings: [] };
}

function named(setting: string): Dialect {
  try {
    return getDialect(setting);
  } catch (error) {
    throw new EngineError({ code: "bad-request", message: lineOf(error) }, { cause: error });
  }
}
