/** `dragoman/engines` in a web page: the part that needs no Node. */
export type * from "./engine.ts";
export { EngineError } from "./error.ts";
export type { DialectSetting, FoundDialect } from "./inband/dialects.ts";
export { createInband, type InbandOptions } from "./inband/inband.ts";
export { createRescue, type RescueOptions } from "./inband/rescue.ts";
export { createScripted, type Script, type Scripted, type ScriptedOptions } from "./scripted.ts";
export { createTextEngine, type TextEnd, type TextEngineOptions, type TextOptions, type TextRuntime } from "./text/text.ts";
