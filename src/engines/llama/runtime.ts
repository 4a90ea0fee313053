/**
 * node-llama-cpp, loaded on first use. All that Dragoman asks of it beyond its documented interface stands in this file: that is why the
 * peer's version is exact.
 */
import type { Llama, LlamaGrammar, LlamaGrammarEvaluationState, LlamaModel, Token } from "node-llama-cpp";
import { EngineError } from "../error.ts";

type Runtime = typeof import("node-llama-cpp");

export const INSTALL = "npm install node-llama-cpp@3.21.1";

/** The runtime's package is not there: `message` says how to get it. */
export class MissingRuntime extends EngineError {
  constructor(cause: unknown) {
    super({ code: "internal", message: `models in process need node-llama-cpp, which is not installed: ${INSTALL}` }, { cause });
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

/** llama.cpp for this machine, from the binaries that are installed: nothing is downloaded and nothing compiled behind the user's back. */
export async function startLlama(gpu: Gpu, log: (line: string) => void): Promise<Llama> {
  const { getLlama, LlamaLogLevel } = await loadRuntime();
  try {
    return await getLlama({
      gpu: gpu === true ? "auto" : gpu,
      build: "never",
      skipDownload: true,
      logLevel: LlamaLogLevel.error,
      logger: (_, message) => log(message.trim()),
    });
  } catch (error) {
    const what = gpu === false || gpu === "auto" ? "this machine" : `the GPU (${gpu === true ? "any" : gpu})`;
    throw new EngineError({ code: "internal", message: `node-llama-cpp has no binary for ${what}: ${lineOf(error)}` }, { cause: error });
  }
}

export const lineOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";

// ---- Grammars: a state that has taken tokens which were sampled without it

interface SamplerBindings {
  acceptGrammarEvaluationStateToken(state: unknown, token: Token): void;
  canBeNextTokenForGrammarEvaluationState(state: unknown, token: Token): boolean;
}

/** The state of a grammar behind these tokens; undefined: it does not allow them. */
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
