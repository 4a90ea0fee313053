/** `dragoman/ai-sdk`: any engine as a model of the AI SDK, and tools for models that have none. */

export { type InBandOptions, toolsInBand } from "./middleware.ts";
export type { DragomanCallOptions } from "./prompt.ts";
export { createDragoman, type Dragoman } from "./provider.ts";
