/** `dragoman/engines`: requests go to a model, events come back. */
export { type Completions, type CompletionsOptions, createCompletions } from "./completions/completions.ts";
export type * from "./engine.ts";
export { EngineError } from "./error.ts";
export type { Timeouts } from "./http.ts";
export type { FoundDialect } from "./inband/dialects.ts";
export { createInband, type InbandOptions } from "./inband/inband.ts";
export { createRescue, type RescueOptions } from "./inband/rescue.ts";
export { createRemote, type Remote, type RemoteOptions } from "./remote.ts";
export { createScripted, type Script, type Scripted, type ScriptedOptions } from "./scripted.ts";
export { createTextEngine, type TextEnd, type TextEngineOptions, type TextOptions, type TextRuntime } from "./text/text.ts";
