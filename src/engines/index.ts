/** `dragoman/engines`: send a request to a model, get events back. */
export * from "./browser.ts";
export { type Completions, type CompletionsOptions, createCompletions } from "./completions/completions.ts";
export type { Timeouts } from "./http/http.ts";
export { createRemote, type Remote, type RemoteOptions } from "./remote.ts";
