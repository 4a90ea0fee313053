/** Errors: a google.rpc.Status, `{"error": {"code": 429, "message": "…", "status": "RESOURCE_EXHAUSTED"}}`. */
import type { ErrorInfo, Request } from "../../core/nouns.ts";
import { ERRORS, errorMessage, errorStatus, retryHeaders } from "../errors.ts";
import type { Draft } from "../opaque.ts";
import type { WireOutput } from "../wire.ts";
import { WIRE } from "./tables.ts";

// ---- Errors

/** As an answer of its own; whoever asked for an array gets one. */
export function encodeError(error: ErrorInfo, request?: Request): WireOutput & { status: number } {
  const body = errorBody(error);
  const headers = { "content-type": "application/json", ...retryHeaders(error) };
  return { status: errorStatus(error, WIRE), headers, body: request?.stream === "array" ? [body] : body };
}

export function errorBody(error: ErrorInfo): Draft {
  const { code, retryAfterMs } = error;
  const status = { code: errorStatus(error, WIRE), message: errorMessage(error, WIRE) || code, status: ERRORS[code].gemini };
  if (retryAfterMs === undefined) return { error: status };
  const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${retryAfterMs / 1000}s` };
  return { error: { ...status, details: [retry] } };
}
