/** Errors outside of an answer: `await engine.models()` throws an `EngineError` where the server does not answer; `generate` never does. */
import type { ErrorInfo } from "../core/nouns.ts";

/** What an engine throws where it has no events to say it with: lists of models, bytes that are passed on. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly info: ErrorInfo;

  constructor(info: ErrorInfo, options?: ErrorOptions) {
    super(info.message, options);
    this.info = info;
  }
}
