/** Engines around engines. */
import type { Warning } from "../core/nouns.ts";
import { type Disposing, disposing } from "./disposing.ts";
import type { Engine, GenerateOptions } from "./engine.ts";

/** Wraps an engine: `other` overrides some members, the rest are the inner engine's. */
export const around = (engine: Engine, other: Partial<Engine>): Engine & Disposing =>
  disposing({
    generate: (request, options) => engine.generate(request, options),
    countTokens: (request, options) => engine.countTokens(request, options),
    models: (options) => engine.models(options),
    close: () => engine.close(),
    ...(engine.wire ? { wire: engine.wire } : {}),
    ...(engine.send ? { send: engine.send.bind(engine) } : {}),
    ...(engine.preview ? { preview: engine.preview.bind(engine) } : {}),
    ...(engine.about ? { about: engine.about.bind(engine) } : {}),
    ...(engine.speaking ? { speaking: engine.speaking.bind(engine) } : {}),
    ...other,
  } as Engine);

/** The options, with `more` added to the warnings of the answer. */
export const warning = (options: GenerateOptions = {}, more: readonly Warning[]): GenerateOptions => ({
  ...options,
  onAnswer: (answer) => options.onAnswer?.({ ...answer, warnings: [...answer.warnings, ...more] }),
});
