import type { Engine } from "./engine.ts";

/** An engine that does some things otherwise, and the rest as the inner one. */
export const around = (engine: Engine, other: Partial<Engine>): Engine => ({
  generate: (request, options) => engine.generate(request, options),
  countTokens: (request, options) => engine.countTokens(request, options),
  models: (options) => engine.models(options),
  close: () => engine.close(),
  ...(engine.wire ? { wire: engine.wire } : {}),
  ...(engine.send ? { send: engine.send.bind(engine) } : {}),
  ...other,
});
