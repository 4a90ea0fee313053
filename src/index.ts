/** `dragoman`: the nouns, the dialects, the wires. Runs anywhere: no dependency, no Node API. */
export { BadRequest } from "./core/errors.ts";
export { collect, createFold, type Fold } from "./core/fold.ts";
export type * from "./core/nouns.ts";
export { type Clues, type Confidence, type Detection, detectDialect, dialectOfModelType } from "./dialects/detect.ts";
export type * from "./dialects/dialect.ts";
export type { ModelType, SamplingDefaults } from "./dialects/families/family.ts";
export { schemaGrammar } from "./dialects/grammar/calls.ts";
export { withGrammar } from "./dialects/grammar/formats.ts";
export { promptText } from "./dialects/prompt.ts";
export { getDialect, listDialects } from "./dialects/registry.ts";
export { scannerStream, scanStream, scanText } from "./dialects/scan/streams.ts";
export { inVariant } from "./dialects/variant.ts";
export { printBody } from "./wires/raw.ts";
export { getWire, listWires } from "./wires/registry.ts";
export type * from "./wires/wire.ts";
