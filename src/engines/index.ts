/** `dragoman/engines`: requests go to a model, events come back. */
export type * from "./engine.ts";
export { EngineError } from "./error.ts";
export { createRemote, type Remote, type RemoteOptions, type Timeouts } from "./remote.ts";
export { createScripted, type Script, type Scripted, type ScriptedOptions } from "./scripted.ts";
