/**
 * `dragoman/engines/wllama`: runs a GGUF in a web page, with llama.cpp in WebAssembly (`@wllama/wllama`).
 *
 *     const wllama = new Wllama({ default: "/wllama.wasm" });
 *     await wllama.loadModelFromUrl("/dragoman-tiny.gguf");
 *     const engine = createWllama(wllama, { dialect: withGrammar(gemma4) });
 */

import { promptText } from "../../dialects/prompt.ts";
import { BACKENDS } from "../completions/backends.ts";
import type { Disposing } from "../disposing.ts";
import type { Engine } from "../engine.ts";
import { createTextEngine, type TextEngineOptions, type TextRuntime } from "./text.ts";

/** The part of `Wllama` that is used; its model must be loaded. */
export interface LoadedWllama {
  getModelMetadata(): { meta: Record<string, string> };
  createCompletion(params: { prompt: string; stream: true; abortSignal: AbortSignal }): Promise<AsyncIterable<WllamaChunk>>;
  exit(): Promise<void>;
}

export interface WllamaChunk {
  choices: { text: string; finish_reason: string | null }[];
  usage?: { prompt_tokens: number; completion_tokens: number } | null;
}

/** The model's name is that in its file, unless the options have another. */
export const createWllama = (wllama: LoadedWllama, options: TextEngineOptions): Engine & Disposing =>
  createTextEngine(wllamaRuntime(wllama), { model: wllama.getModelMetadata().meta["general.name"] ?? "model", ...options });

/** wllama is llama-server in a worker and takes the same fields, but no tokens: so forged control tokens in the text are neutralized. */
const wllamaRuntime = (wllama: LoadedWllama): TextRuntime => ({
  holding: "gbnf",
  async *generate(prompt, { signal, onEnd, ...job }) {
    const text = promptText(prompt, { neutralize: true });
    const body = BACKENDS["llama-server"].body({ ...job, model: "", prompt: text, stopIds: [], format: undefined, options: {} });
    const stopped = new AbortController();
    const abortSignal = signal ? AbortSignal.any([signal, stopped.signal]) : stopped.signal;
    try {
      for await (const { choices, usage } of await wllama.createCompletion({ ...body, prompt: text, stream: true, abortSignal })) {
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
