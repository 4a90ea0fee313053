/** The error of a request that cannot be read: `throw new BadRequest("messages must be a list")` becomes a 400 in the caller's wire. */
import type { ErrorInfo } from "./nouns.ts";

/** What `decodeRequest` throws: the caller's mistake, with an `ErrorInfo` that `encodeError` turns into the caller's own format. */
export class BadRequest extends Error {
  override readonly name = "BadRequest";
  readonly info: ErrorInfo;

  constructor(info: ErrorInfo | string) {
    const full: ErrorInfo = typeof info === "string" ? { code: "bad-request", message: info } : info;
    super(full.message);
    this.info = full;
  }
}

/** The error of an answer that ended without a `finish`. */
export const CUT_OFF: ErrorInfo = { code: "upstream", message: "the answer was terminated" };
