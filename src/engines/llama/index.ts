/** `dragoman/engines/llama`: runs models in this process. Needs the optional package node-llama-cpp. */
export { createLlama, type LlamaOptions, type Progress } from "./create.ts";
export type { Llama, LlamaFacts } from "./engine.ts";
export { type Gpu, MissingRuntime, RUNTIME } from "./runtime.ts";
export { EMBEDDED } from "./source.ts";
