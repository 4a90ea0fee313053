/** Errors outside of an answer: `await engine.models()` throws an `EngineError` if the server does not answer; `generate` never throws. */
import type { ErrorInfo } from "../core/nouns.ts";

/** Thrown by the methods of an engine that return no events, such as `models` and `send`. */
export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly info: ErrorInfo;

  constructor(info: ErrorInfo, options?: ErrorOptions) {
    super(info.message, options);
    this.info = info;
  }
}
