/** From a model's name to an engine: find the file, look at it before llama.cpp does, and load it. */

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
import { SAMPLING } from "./sampling.ts";
import { EMBEDDED, findModel } from "./source.ts";

export interface LlamaOptions {
  /** A file, an https URL, `hf:owner/repo[:quant]`, or `embedded`: the model that comes with Dragoman. */
  model: string;
  /** What the model speaks: `auto`, the default, is what its file says. */
  dialect?: DialectSetting | undefined;
  /** `auto`, the default: if there is one that the installed node-llama-cpp can use. `true`: the same, but it must be. */
  gpu?: Gpu | undefined;
  /** How many tokens one conversation may have. */
  context?: number | undefined;
  /** How many conversations run at once, each with its own memory; others wait their turn. */
  parallel?: number | undefined;
  threads?: number | undefined;
  /** Where a request says nothing. */
  sampling?: Sampling | undefined;
  /** Where downloads are kept: by default in `DRAGOMAN_CACHE`, or where the system keeps caches. */
  cacheDir?: string | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export type Progress =
  | { phase: "download"; file: string; loaded: number; total: number | undefined }
  /** 0 to 1. */
  | { phase: "load"; fraction: number };

/** A conversation rarely needs more, and the memory for it is taken at once. */
const MAX_CONTEXT = 32_768;
const PARALLEL = 2;
/** The embedded model is so small that threads only wait for each other, and conversations cost nothing. It was trained to be sure. */
const EMBEDDED_DEFAULTS = { gpu: false, threads: 1, parallel: 4, sampling: { temperature: 0 } } as const;

/** Throws `EngineError` where the model cannot be had or loaded. */
export async function createLlama(options: LlamaOptions): Promise<Llama & Disposing> {
  await loadRuntime(); // before gigabytes are fetched for nothing
  const { onProgress, signal, cacheDir } = options;
  const given =
    options.model === "embedded" || options.model === EMBEDDED ? { ...EMBEDDED_DEFAULTS, ...withoutUndefined(options) } : options;
  const starting = startLlama(given.gpu ?? "auto"); // it tries its binary in a process of its own: meanwhile the file is looked at
  starting.catch(() => {}); // whoever awaits it hears of it
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
  const sampling = { ...SAMPLING, ...spoken.sampling, ...given.sampling };
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
        threads: threads ?? llama.cpuMathCores, // more than there are wait for each other
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
  /** What its vendor advises. */
  sampling: Sampling | undefined;
  warnings: Warning[];
}

function dialectOf(path: string, file: Gguf, { dialect: setting }: LlamaOptions): Spoken {
  const found = detectDialect(cluesIn(path, file));
  if (setting === undefined || setting === "auto") {
    if (found) return { dialect: inOneVariant(getDialect(found)), why: found.why, sampling: found.sampling?.values, warnings: [] };
    const message =
      "neither its name nor its template says what it speaks: it is asked for JSON, as models without tools are; --dialect says otherwise";
    const warnings = [{ code: "dialect-unknown", message }];
    return { dialect: inOneVariant(getDialect("json")), why: "nothing is known of it", sampling: undefined, warnings };
  }
  const said = typeof setting === "string" ? named(setting) : setting;
  const fits = found?.id === said.id ? found : undefined;
  const dialect = said.variant === undefined && fits?.variant !== undefined ? inVariant(said, fits.variant) : said;
  return { dialect: inOneVariant(dialect), why: "as it was said", sampling: fits?.sampling?.values, warnings: [] };
}

function named(setting: string): Dialect {
  try {
    return getDialect(setting);
  } catch (error) {
    throw new EngineError({ code: "bad-request", message: lineOf(error) }, { cause: error });
  }
}
