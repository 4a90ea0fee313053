/**
 * `dragoman/engines/wllama`: a GGUF in a web page, by llama.cpp in WebAssembly (`@wllama/wllama`).
 *
 *     const engine = await createWllama({ wasm: "/wllama.wasm", model: "/dragoman-tiny.gguf" });
 */
import type { RawCompletionParams, Wllama } from "@wllama/wllama";
import type { JsonObject } from "../../core/nouns.ts";
import { detectDialect } from "../../dialects/detect.ts";
import { promptText } from "../../dialects/prompt.ts";
import { BACKENDS } from "../completions/backends.ts";
import type { Engine } from "../engine.ts";
import { EngineError } from "../error.ts";
import { createTextEngine, type TextRuntime } from "./text.ts";

export interface WllamaOptions {
  /** Where the page finds wllama's `wllama.wasm`. */
  wasm: string;
  /** A URL, or the file itself. */
  model: string | Blob;
  /** Absent: by the file's template and name. */
  dialect?: string | undefined;
  variant?: string | undefined;
  contextSize?: number | undefined;
  threads?: number | undefined;
  /** Layers on the GPU, where the browser has WebGPU. */
  gpuLayers?: number | undefined;
  onProgress?: ((progress: { loaded: number; total: number }) => void) | undefined;
}

export async function createWllama(options: WllamaOptions): Promise<Engine> {
  const { Wllama: Runtime, LoggerWithoutDebug } = await import("@wllama/wllama");
  const wllama = new Runtime({ default: options.wasm }, { logger: LoggerWithoutDebug, suppressNativeLog: true });
  await load(wllama, options);
  const { dialect, variant, name } = spoken(wllama, options);
  return createTextEngine(wllamaRuntime(wllama), { dialect, variant, model: name });
}

async function load(wllama: Wllama, { model, contextSize, threads, gpuLayers, onProgress }: WllamaOptions): Promise<void> {
  const params = {
    ...(contextSize !== undefined && { n_ctx: contextSize }),
    ...(threads !== undefined && { n_threads: threads }),
    ...(gpuLayers !== undefined && { n_gpu_layers: gpuLayers }),
  };
  if (typeof model !== "string") return wllama.loadModel([model], params);
  const url = new URL(model, globalThis.location?.href).href;
  return wllama.loadModelFromUrl(url, { ...params, ...(onProgress && { progressCallback: onProgress }) });
}

function spoken(wllama: Wllama, { dialect, variant, model }: WllamaOptions): { dialect: string; variant: string | undefined; name: string } {
  const { meta } = wllama.getModelMetadata();
  const name = meta["general.name"] ?? (typeof model === "string" ? model.split("/").at(-1)! : "model");
  if (dialect !== undefined) return { dialect, variant, name };
  const template = wllama.getChatTemplate() ?? undefined;
  const found = detectDialect({ model: name, ...(template !== undefined && { template }) });
  if (!found) throw new EngineError({ code: "bad-request", message: `nobody knows which dialect "${name}" speaks: set dialect` });
  return { dialect: found.id, variant: variant ?? found.variant, name };
}

/** wllama is llama-server in a worker: it takes what that takes. It cannot be given tokens, so no text may forge a control token. */
const wllamaRuntime = (wllama: Wllama): TextRuntime => ({
  holding: "gbnf",
  async *generate(prompt, { stops, maxTokens, sampling, grammar, preserved, signal, onEnd }) {
    const job = { model: "", prompt: promptText(prompt, { neutralize: true }), stops, maxTokens, sampling, preserved, grammar, format: undefined, options: {} };
    const stopped = new AbortController();
    const abortSignal = signal ? AbortSignal.any([signal, stopped.signal]) : stopped.signal;
    const params = { ...(BACKENDS["llama-server"].body(job) as JsonObject & RawCompletionParams), abortSignal, stream: true as const };
    try {
      for await (const { choices, usage } of await wllama.createCompletion(params)) {
        const [choice] = choices;
        if (choice?.text) yield choice.text;
        if (choice?.finish_reason) {
          const counted = usage && { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens };
          onEnd({ reason: choice.finish_reason === "length" ? "length" : "stop", ...(counted && { usage: counted }) });
        }
      }
    } catch (error) {
      if (!abortSignal.aborted) throw error;
    } finally {
      stopped.abort();
    }
  },
  close: () => wllama.exit(),
});
