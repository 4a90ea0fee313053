/**
 * node-llama-cpp, loaded on first use. Everything that Dragoman uses beyond its documented interface is in this file; it is the reason why
 * the peer's version is exact.
 */
import { setTimeout } from "node:timers/promises";
import type { Llama, LlamaGrammar, LlamaGrammarEvaluationState, LlamaModel, Token, TokenBias } from "node-llama-cpp";
import type { Warning } from "../../core/nouns.ts";
import { EngineError } from "../error.ts";
import { tryOut } from "./trial.ts";

type Runtime = typeof import("node-llama-cpp");

/** For `npm install`. */
export const RUNTIME = "node-llama-cpp@3.21.1";

/** node-llama-cpp is not installed; `message` says how to install it. */
export class MissingRuntime extends EngineError {
  constructor(cause: unknown) {
    super(
      { code: "internal", message: `models in process need node-llama-cpp, which is not installed: npm install ${RUNTIME}` },
      { cause },
    );
  }
}

export type Gpu = boolean | "auto" | "metal" | "cuda" | "vulkan";

export async function loadRuntime(): Promise<Runtime> {
  try {
    return await import("node-llama-cpp");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND") throw new MissingRuntime(error);
    throw error;
  }
}

export interface Started {
  readonly llama: Llama;
  readonly warnings: readonly Warning[];
}

const started = new Map<Gpu, Promise<Started>>();
const listeners = new Set<(line: string) => void>();

/** llama.cpp's log lines arrive asynchronously, and may arrive after the error that they explain. */
const LATE_MS = 100;

/** Runs the action; meanwhile the listener receives llama.cpp's error log. */
export async function listening<T>(listener: (line: string) => void, action: () => Promise<T>): Promise<T> {
  listeners.add(listener);
  try {
    return await action();
  } catch (error) {
    await setTimeout(LATE_MS);
    throw error;
  } finally {
    listeners.delete(listener);
  }
}

/**
 * Starts llama.cpp for this machine, once for all models, from the installed binaries: nothing is downloaded or compiled behind the user's
 * back.
 */
export function startLlama(gpu: Gpu): Promise<Started> {
  const running = started.get(gpu) ?? start(gpu);
  started.set(gpu, running);
  running.catch(() => started.delete(gpu));
  return running;
}

async function start(gpu: Gpu): Promise<Started> {
  const wanted = gpu === true ? "auto" : gpu;
  const fault = await cudaFault(wanted);
  if (fault === undefined) {
    const llama = await open(wanted);
    if (gpu === "auto" || (gpu === true ? llama.gpu !== false : llama.gpu === gpu)) return { llama, warnings: [] };
    await llama.dispose();
    const what = gpu === true ? "no GPU that it can use" : `no GPU for ${gpu}`;
    throw new EngineError({ code: "internal", message: `node-llama-cpp finds ${what}; leave out --gpu to use what is available` });
  }
  const build = "npx node-llama-cpp source download --gpu cuda";
  const message = `CUDA does not work on this machine: ${fault}. Install a newer driver, or build llama.cpp on this machine: ${build}`;
  if (gpu !== "auto") throw new EngineError({ code: "internal", message });
  return { llama: await open(false), warnings: [{ code: "gpu-unused", message: `the model runs on the CPU: ${message}` }] };
}

async function cudaFault(wanted: Exclude<Gpu, true>): Promise<string | undefined> {
  if (wanted !== "auto" && wanted !== "cuda") return undefined;
  const { getLlamaGpuTypes } = await loadRuntime();
  const trial = (await getLlamaGpuTypes("supported")).includes("cuda") ? await tryOut(wanted) : undefined;
  return typeof trial === "object" ? trial.fault : undefined;
}

async function open(gpu: Exclude<Gpu, true>): Promise<Llama> {
  const { getLlama, LlamaLogLevel, NoBinaryFoundError } = await loadRuntime();
  try {
    return await getLlama({
      gpu,
      build: "never",
      skipDownload: true,
      progressLogs: false,
      logLevel: LlamaLogLevel.error,
      logger: (_, message) => listeners.forEach((listener) => void listener(message.trim())),
    });
  } catch (error) {
    const what = gpu === "auto" || gpu === false ? "this machine" : `a GPU for ${gpu}`;
    const why = error instanceof NoBinaryFoundError ? "" : `: ${lineOf(error)}`;
    throw new EngineError({ code: "internal", message: `node-llama-cpp has no binary for ${what}${why}` }, { cause: error });
  }
}

export const lineOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";

// ---- Sampling

interface ContextBindings {
  decodeBatch(): Promise<void>;
  sampleToken(...options: unknown[]): Promise<unknown>;
}

/**
 * Fixes two problems of sampling. The first sampling after a batch makes llama.cpp reorder the batch's results in place, so conversations
 * that sample at the same time could read each other's results: the others wait for the first. And if sampling fails, as with a grammar
 * that allows no token at all, node-llama-cpp does not catch the error, and the process ends: instead, it gets "no token", which fails
 * one answer only.
 */
export function guardSampling(context: object): void {
  const { _ctx: inner } = context as { _ctx: ContextBindings };
  const decode = inner.decodeBatch.bind(inner);
  const sample = inner.sampleToken.bind(inner);
  let first: Promise<unknown> | undefined;
  const decodeBatch: typeof decode = () => {
    first = undefined;
    return decode();
  };
  const sampleToken: typeof sample = (...options) => {
    const sampled = (first ? first.then(() => sample(...options)) : sample(...options)).catch(() => NO_TOKEN);
    first ??= sampled;
    return sampled;
  };
  Object.defineProperties(inner, { decodeBatch: { value: decodeBatch }, sampleToken: { value: sampleToken } });
}

const NO_TOKEN = -1;

// ---- Grammars: a state after tokens that were sampled without it

interface SamplerBindings {
  acceptGrammarEvaluationStateToken(state: unknown, token: Token): void;
  canBeNextTokenForGrammarEvaluationState(state: unknown, token: Token): boolean;
}

/** The state of a grammar after these tokens; `undefined`: it does not allow them. */
export async function stateBehind(
  model: LlamaModel,
  grammar: LlamaGrammar,
  tokens: readonly Token[],
): Promise<LlamaGrammarEvaluationState | undefined> {
  const { LlamaGrammarEvaluationState } = await loadRuntime();
  const state = new LlamaGrammarEvaluationState({ model, grammar });
  const sampler = (model.llama as unknown as { _bindings: { AddonSampler: SamplerBindings } })._bindings.AddonSampler;
  const inner = (state as unknown as { _state: unknown })._state;
  for (const token of tokens) {
    if (!sampler.canBeNextTokenForGrammarEvaluationState(inner, token)) return undefined;
    sampler.acceptGrammarEvaluationStateToken(inner, token);
  }
  return state;
}

/** A bias that keeps these tokens from being sampled, except those that end an answer, which a grammar allows only at its end. */
export async function barring(model: LlamaModel, tokens: readonly Token[]): Promise<TokenBias> {
  const { TokenBias } = await loadRuntime();
  const bias = new TokenBias(model.tokenizer);
  for (const token of tokens) bias.set(token, "never");
  return bias;
}
