/** Errors for the AI SDK: `{ code: "overloaded", message }` becomes an `APICallError` that the SDK may retry. */
import { APICallError } from "@ai-sdk/provider";
import type { ErrorCode, ErrorInfo } from "../core/nouns.ts";

/** Codes of errors that the SDK may retry. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set(["rate-limit", "overloaded", "upstream", "timeout"]);

/** An engine's error in the SDK's own class. */
export const failure = ({ code, message, status, retryAfterMs, upstream }: ErrorInfo): Error =>
  code === "aborted"
    ? new DOMException(message, "AbortError")
    : new APICallError({
        message,
        url: upstream ?? "dragoman",
        requestBodyValues: undefined,
        ...(status !== undefined && { statusCode: status }),
        ...(retryAfterMs !== undefined && { responseHeaders: { "retry-after-ms": String(retryAfterMs) } }),
        isRetryable: RETRYABLE.has(code) && status !== 401, // a refused key is refused again
        data: { code },
      });
