/** `dragoman/engines`: requests go to a model, events come back. */
export type * from "./engine.ts";
export { EngineError } from "./error.ts";
export type { Timeouts } from "./http.ts";
export { createRemote, type Remote, type RemoteOptions } from "./remote.ts";
export { createScripted, type Script, type Scripted, type ScriptedOptions } from "./scripted.ts";
