/** Errors as the AI SDK has them: `{ code: "overloaded", message }` becomes an `APICallError` that it may try again. */
import { APICallError } from "@ai-sdk/provider";
import type { ErrorCode, ErrorInfo } from "../core/nouns.ts";

/** Worth another try: the SDK does that by itself. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set(["rate-limit", "overloaded", "upstream", "timeout"]);

/** An engine's error in the SDK's own class, which its callers know how to read. */
export const failure = ({ code, message, status, retryAfterMs, upstream }: ErrorInfo): Error =>
  code === "aborted"
    ? new DOMException(message, "AbortError")
    : new APICallError({
        message,
        url: upstream ?? "dragoman",
        requestBodyValues: undefined,
        ...(status !== undefined && { statusCode: status }),
        ...(retryAfterMs !== undefined && { responseHeaders: { "retry-after-ms": String(retryAfterMs) } }),
        isRetryable: RETRYABLE.has(code) && status !== 401, // a key does not get better
        data: { code },
      });
